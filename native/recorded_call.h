// What a gradient function sees of a recorded call: its attrs and shapes, and the tensors that the tape kept.
#pragma once
#include "tape.h"

namespace tapeflow {

// `wanted`: the inputs that lead to a source, by flat position (bit 63: all from there).
PyObject* recorded_call(Tape* tape, const Entry& entry, uint64_t wanted);
bool init_recorded_call();

}  // namespace tapeflow
