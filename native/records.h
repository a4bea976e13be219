// CRC-32C and the frames of TFRecord files.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace tapeflow {

// crc32c, frame_record and split_records for Python.
extern PyMethodDef record_methods[];

}  // namespace tapeflow
