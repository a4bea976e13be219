// The order that a shuffle buffer gives to numbers: see data/transform/shuffling.py.
#include "shuffle.h"

#include <cstdint>
#include <utility>

#include "guard.h"

namespace tapeflow {
namespace {

// A contiguous array of 64-bit integers, given back at the end.
struct Numbers {
  Py_buffer buffer{};
  bool ok;
  Numbers(PyObject* object, int flags) : ok(PyObject_GetBuffer(object, &buffer, flags | PyBUF_C_CONTIGUOUS) == 0) {
    if (ok && buffer.itemsize != 8) {
      PyErr_SetString(PyExc_TypeError, "an array of 64-bit integers is needed");
      PyBuffer_Release(&buffer);
      ok = false;
    }
  }
  ~Numbers() {
    if (ok) PyBuffer_Release(&buffer);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  int64_t* data() const { return static_cast<int64_t*>(buffer.buf); }
  const uint64_t* random() const { return static_cast<const uint64_t*>(buffer.buf); }
  Py_ssize_t size() const { return buffer.len / 8; }
};

// For each number a random one leaves the full buffer; the buffer's first one takes its place, and the number the
// first one's. What leaves is written over the numbers. Returns where the buffer begins now.
PyObject* py_through(PyObject*, PyObject* args) {
  PyObject *full, *given, *drawn;
  Py_ssize_t start;
  if (!PyArg_ParseTuple(args, "OnOO", &full, &start, &given, &drawn)) return nullptr;
  Numbers buffer(full, PyBUF_WRITABLE);
  if (!buffer.ok) return nullptr;
  Numbers numbers(given, PyBUF_WRITABLE);
  if (!numbers.ok) return nullptr;
  Numbers random(drawn, PyBUF_SIMPLE);
  if (!random.ok) return nullptr;
  const Py_ssize_t size = buffer.size();
  if (start < 0 || start >= size || random.size() < numbers.size()) {
    PyErr_SetString(PyExc_ValueError, "shuffle_through: the start is not in the buffer, or random numbers are missing");
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < numbers.size(); ++i) {
    Py_ssize_t at = start + static_cast<Py_ssize_t>(random.random()[i] % static_cast<uint64_t>(size));
    if (at >= size) at -= size;
    const int64_t leaving = buffer.data()[at];
    buffer.data()[at] = buffer.data()[start];
    buffer.data()[start] = numbers.data()[i];
    numbers.data()[i] = leaving;
    if (++start == size) start = 0;
  }
  return PyLong_FromSsize_t(start);
}

// The first numbers, as many as there are random ones, in turn change places with a random one of those from it on.
PyObject* py_rest(PyObject*, PyObject* args) {
  PyObject *given, *drawn;
  if (!PyArg_ParseTuple(args, "OO", &given, &drawn)) return nullptr;
  Numbers numbers(given, PyBUF_WRITABLE);
  if (!numbers.ok) return nullptr;
  Numbers random(drawn, PyBUF_SIMPLE);
  if (!random.ok) return nullptr;
  const Py_ssize_t size = numbers.size();
  if (random.size() > size) {
    PyErr_SetString(PyExc_ValueError, "shuffle_rest: there are more random numbers than numbers");
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < random.size(); ++i) {
    std::swap(numbers.data()[i],
              numbers.data()[i + static_cast<Py_ssize_t>(random.random()[i] % static_cast<uint64_t>(size - i))]);
  }
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef shuffle_methods[] = {
    {"shuffle_through", entry<py_through>, METH_VARARGS,
     "shuffle_through(buffer, start, numbers, random) -> start: `numbers` replaced by what leaves a shuffle buffer."},
    {"shuffle_rest", entry<py_rest>, METH_VARARGS,
     "shuffle_rest(numbers, random): the numbers left in a shuffle buffer; the first len(random) in their final order."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace tapeflow
