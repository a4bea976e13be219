// The places of many integer keys at once, for lookup tables (ops/lookup/table_object.py).
#include "kernels/key_index.h"

#include <memory>

#include "guard.h"
#include "kernels/place_table.h"
#include "ref.h"
#include "threads.h"

namespace tapeflow {
namespace {

constexpr char kName[] = "tapeflow.key_index";
using KeyIndex = PlaceTable<int64_t>;

// A contiguous array of integers of one size, given back at the end.
struct Integers {
  Py_buffer buffer{};
  Integers(PyObject* object, Py_ssize_t size, int flags) {
    if (PyObject_GetBuffer(object, &buffer, flags | PyBUF_C_CONTIGUOUS) < 0) throw PythonError();
    if (size == 0 ? buffer.itemsize == 8 || buffer.itemsize == 4 : buffer.itemsize == size) return;
    PyBuffer_Release(&buffer);
    PyErr_SetString(PyExc_TypeError, "an array of integers is needed");
    throw PythonError();
  }
  ~Integers() { PyBuffer_Release(&buffer); }
  Integers(const Integers&) = delete;
  Integers& operator=(const Integers&) = delete;
  template <typename T> T* as() const { return static_cast<T*>(buffer.buf); }
  Py_ssize_t size() const { return buffer.len / buffer.itemsize; }
};

PyObject* py_index(PyObject*, PyObject* given) {
  const Integers keys(given, 8, PyBUF_SIMPLE);
  auto index = std::make_unique<KeyIndex>(keys.size());
  for (Py_ssize_t i = 0; i < keys.size(); ++i) index->add(keys.as<const int64_t>()[i]);
  PyObject* capsule = PyCapsule_New(index.get(), kName, [](PyObject* o) {
    delete static_cast<KeyIndex*>(PyCapsule_GetPointer(o, kName));
  });
  if (capsule) index.release();
  return capsule;
}

template <typename T>
void find_all(const KeyIndex& index, const T* keys, int64_t* places, int64_t n) {
  for (int64_t i = 0; i < n; ++i) places[i] = index.find(keys[i]);
}

PyObject* py_places(PyObject*, PyObject* args) {
  PyObject *capsule, *given, *out;
  if (!PyArg_ParseTuple(args, "OOO", &capsule, &given, &out)) return nullptr;
  const auto* index = static_cast<const KeyIndex*>(PyCapsule_GetPointer(capsule, kName));
  if (!index) return nullptr;
  const Integers keys(given, 0, PyBUF_SIMPLE), places(out, 8, PyBUF_WRITABLE);
  if (keys.size() != places.size()) {
    PyErr_SetString(PyExc_ValueError, "key_places: the arrays do not fit each other");
    return nullptr;
  }
  {
    ReleaseGil unlock(keys.size() * 5);  // the arguments keep what is read and written
    if (keys.buffer.itemsize == 8) find_all(*index, keys.as<const int64_t>(), places.as<int64_t>(), keys.size());
    else find_all(*index, keys.as<const int32_t>(), places.as<int64_t>(), keys.size());
  }
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef key_index_methods[] = {
    {"key_index", entry<py_index>, METH_O, "key_index(keys): an index of distinct int64 keys, for key_places."},
    {"key_places", entry<py_places>, METH_VARARGS,
     "key_places(index, keys, places): fills the int64 `places` with those of int32 or int64 keys in what the index "
     "was made of, -1 for keys that it lacks."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace tapeflow
