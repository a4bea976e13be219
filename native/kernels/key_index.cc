// The places of many keys, integers or texts, at once, for lookup tables (ops/lookup/table_object.py).
#include "kernels/key_index.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "guard.h"
#include "kernels/place_table.h"
#include "kernels/text_hash.h"
#include "ref.h"
#include "threads.h"

namespace tapeflow {
namespace {

constexpr char kName[] = "tapeflow.key_index";

struct KeyIndex {
  PlaceTable<int64_t> numbers;
  PlaceTable<TextKey> texts;
  bool of_texts = false;
};

// A contiguous array, given back at the end.
struct Array {
  Py_buffer buffer{};
  Array(PyObject* object, int flags) {
    if (PyObject_GetBuffer(object, &buffer, flags | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) throw PythonError();
  }
  ~Array() { PyBuffer_Release(&buffer); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  bool is_of(const char* codes, Py_ssize_t size) const {
    return buffer.itemsize == size && buffer.format && std::strlen(buffer.format) == 1 && std::strchr(codes, *buffer.format);
  }
  template <typename T> T* as() const { return static_cast<T*>(buffer.buf); }
  Py_ssize_t size() const { return buffer.itemsize ? buffer.len / buffer.itemsize : 0; }
};

constexpr char kIntegers[] = "ilq";

bool is_of_bytes(const Array& keys) {
  if (!keys.is_of("O", sizeof(PyObject*))) return false;
  const auto* items = keys.as<PyObject* const>();
  return std::all_of(items, items + keys.size(), [](PyObject* o) { return o && PyBytes_Check(o); });
}

[[noreturn]] void other_keys() {
  PyErr_SetString(PyExc_TypeError, "keys are an array of int32, int64 or bytes; those of one index are of one kind");
  throw PythonError();
}

PyObject* py_index(PyObject*, PyObject* given) {
  const Array keys(given, PyBUF_SIMPLE);
  auto index = std::make_unique<KeyIndex>();
  index->of_texts = is_of_bytes(keys);
  if (index->of_texts) {
    for (Py_ssize_t i = 0; i < keys.size(); ++i) index->texts.add(TextKey(keys.as<PyObject*>()[i]));
  } else if (keys.is_of(kIntegers, 8)) {
    for (Py_ssize_t i = 0; i < keys.size(); ++i) index->numbers.add(keys.as<const int64_t>()[i]);
  } else {
    other_keys();
  }
  PyObject* capsule = PyCapsule_New(index.get(), kName, [](PyObject* o) {
    Py_XDECREF(static_cast<PyObject*>(PyCapsule_GetContext(o)));
    delete static_cast<KeyIndex*>(PyCapsule_GetPointer(o, kName));
  });
  if (!capsule) return nullptr;
  index.release();
  PyCapsule_SetContext(capsule, Py_NewRef(given));  // which owns the texts
  return capsule;
}

PyObject* py_places(PyObject*, PyObject* args) {
  PyObject *capsule, *given, *out;
  if (!PyArg_ParseTuple(args, "OOO", &capsule, &given, &out)) return nullptr;
  const auto* index = static_cast<const KeyIndex*>(PyCapsule_GetPointer(capsule, kName));
  if (!index) return nullptr;
  const Array keys(given, PyBUF_SIMPLE), places(out, PyBUF_WRITABLE);
  if (!places.is_of(kIntegers, 8) || keys.size() != places.size()) {
    PyErr_SetString(PyExc_ValueError, "key_places: the arrays do not fit each other");
    return nullptr;
  }
  auto* to = places.as<int64_t>();
  const auto find_all = [&](const auto& table, const auto* from) {
    ReleaseGil unlock(keys.size() * 5);  // the arguments keep what is read and written
    for (Py_ssize_t i = 0; i < keys.size(); ++i) to[i] = table.find(from[i]);
  };
  if (index->of_texts) {
    if (!is_of_bytes(keys)) other_keys();
    for (Py_ssize_t i = 0; i < keys.size(); ++i) to[i] = index->texts.find(TextKey(keys.as<PyObject*>()[i]));
  } else if (keys.is_of(kIntegers, 8)) {
    find_all(index->numbers, keys.as<const int64_t>());
  } else if (keys.is_of(kIntegers, 4)) {
    find_all(index->numbers, keys.as<const int32_t>());
  } else {
    other_keys();
  }
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef key_index_methods[] = {
    {"key_index", entry<py_index>, METH_O, "key_index(keys): an index of distinct keys, int64 or bytes, for key_places. The array is not to change."},
    {"key_places", entry<py_places>, METH_VARARGS,
     "key_places(index, keys, places): fills the int64 `places` with those of keys (int32 or int64, or bytes) in what "
     "the index was made of, -1 for keys that it lacks."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace tapeflow
