// The memory of arrays that Python kernels hand to native helpers.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace tapeflow {

// The bytes of a contiguous array, given back at the end.
struct Bytes {
  Py_buffer buffer{};
  bool ok;
  Bytes(PyObject* object, int flags) : ok(PyObject_GetBuffer(object, &buffer, flags) == 0) {}
  ~Bytes() {
    if (ok) PyBuffer_Release(&buffer);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  template <typename T> T* as() const { return static_cast<T*>(buffer.buf); }
  template <typename T> int64_t count() const { return buffer.len / static_cast<int64_t>(sizeof(T)); }
};

}  // namespace tapeflow
