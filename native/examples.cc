// The features of Example messages, as core/files/examples.py reads them. What is not sound, or odd, is left to it.
#define PY_SSIZE_T_CLEAN
#include "examples.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "guard.h"
#include "ref.h"

namespace tapeflow {
namespace {

enum Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

bool read_varint(std::string_view* data, uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; shift <= 63; shift += 7) {
    if (data->empty()) return false;
    const auto byte = static_cast<unsigned char>(data->front());
    data->remove_prefix(1);
    *value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Goes through the fields of a message.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  bool next() {
    if (rest_.empty()) return false;
    uint64_t key, size;
    if (!read_varint(&rest_, &key) || key >> 3 == 0) return fail();
    number = key >> 3;
    wire = static_cast<Wire>(key & 7);
    if (wire == kVarint) return read_varint(&rest_, &value) || fail();
    if (wire == kBytes ? !read_varint(&rest_, &size) : wire != kFixed64 && wire != kFixed32) return fail();
    if (wire != kBytes) size = wire == kFixed64 ? 8 : 4;
    if (size > rest_.size()) return fail();
    bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool is(uint64_t n, Wire w) const { return number == n && wire == w; }
  bool sound() const { return sound_; }

  uint64_t number = 0, value = 0;
  Wire wire = kVarint;
  std::string_view bytes;

 private:
  bool fail() { return sound_ = false; }
  std::string_view rest_;
  bool sound_ = true;
};

PyObject* bytes_of(std::string_view text) {
  return PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

template <typename T>
Ref array_of(const std::vector<T>& values, int type) {
  npy_intp n = static_cast<npy_intp>(values.size());
  Ref array(PyArray_SimpleNew(1, &n, type));
  if (n > 0) std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.get())), values.data(), values.size() * sizeof(T));
  return array;
}

// The elements of a list; null where they are not sound.
Ref texts(std::string_view message) {
  Ref list(PyList_New(0));
  Fields f(message);
  while (f.next()) {
    if (f.number != 1) continue;
    if (f.wire != kBytes) return Ref();
    const Ref text(bytes_of(f.bytes));
    if (PyList_Append(list.get(), text.get()) < 0) throw PythonError();
  }
  return f.sound() ? std::move(list) : Ref();
}

Ref floats(std::string_view message) {
  std::vector<float> values;
  Fields f(message);
  while (f.next()) {
    if (f.number != 1) continue;
    if ((f.wire != kBytes && f.wire != kFixed32) || f.bytes.size() % 4 != 0) return Ref();
    const size_t at = values.size();
    values.resize(at + f.bytes.size() / 4);
    if (!f.bytes.empty()) std::memcpy(values.data() + at, f.bytes.data(), f.bytes.size());
  }
  return f.sound() ? array_of(values, NPY_FLOAT32) : Ref();
}

Ref integers(std::string_view message) {
  std::vector<int64_t> values;
  Fields f(message);
  while (f.next()) {
    if (f.number != 1) continue;
    if (f.wire == kVarint) {
      values.push_back(static_cast<int64_t>(f.value));
      continue;
    }
    if (f.wire != kBytes) return Ref();
    for (std::string_view rest = f.bytes; !rest.empty();) {
      uint64_t value;
      if (!read_varint(&rest, &value)) return Ref();
      values.push_back(static_cast<int64_t>(value));
    }
  }
  return f.sound() ? array_of(values, NPY_INT64) : Ref();
}

// (kind, elements) of a Feature; null where it is not sound.
Ref feature(std::string_view message) {
  const char* kind = "";
  Ref values;
  Fields f(message);
  while (f.next()) {
    if (f.number > 3) continue;
    if (f.wire != kBytes) return Ref();
    kind = f.number == 1 ? "bytes" : f.number == 2 ? "float" : "int64";
    values = f.number == 1 ? texts(f.bytes) : f.number == 2 ? floats(f.bytes) : integers(f.bytes);
    if (!values) return Ref();
  }
  if (!f.sound()) return Ref();
  if (!values) values = Ref(PyList_New(0));
  return Ref(Py_BuildValue("(sO)", kind, values.get()));
}

// Adds an entry of a map from strings to features. False: it is not sound.
bool add_entry(PyObject* features, std::string_view entry) {
  std::string_view key, value;
  Fields f(entry);
  while (f.next()) {
    if (f.number > 2) continue;
    if (f.wire != kBytes) return false;
    (f.number == 1 ? key : value) = f.bytes;
  }
  if (!f.sound()) return false;
  const Ref made = feature(value);
  if (!made) return false;
  if (PyDict_SetItem(features, Ref(bytes_of(key)).get(), made.get()) < 0) throw PythonError();
  return true;
}

std::string_view text_of(PyObject* bytes) {
  if (!PyBytes_Check(bytes)) {
    PyErr_SetString(PyExc_TypeError, "a message is bytes");
    throw PythonError();
  }
  return {PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes))};
}

PyObject* py_features(PyObject*, PyObject* message) {
  Ref features(PyDict_New());
  Fields f(text_of(message));
  while (f.next()) {
    if (f.number == 1 && (f.wire != kBytes || !add_entry(features.get(), f.bytes))) Py_RETURN_NONE;
  }
  return f.sound() ? features.release() : Py_NewRef(Py_None);
}

PyObject* py_feature(PyObject*, PyObject* message) {
  Ref made = feature(text_of(message));
  return made ? made.release() : Py_NewRef(Py_None);
}

PyMethodDef methods[] = {
    {"read_features", entry<py_features>, METH_O,
     "read_features(message): {key: (kind, elements)} of a Features message; None if it is not sound, or odd."},
    {"read_feature", entry<py_feature>, METH_O,
     "read_feature(message): (kind, elements) of a Feature message; None if it is not sound, or odd."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool init_examples(PyObject* module) { return _import_array() >= 0 && PyModule_AddFunctions(module, methods) >= 0; }

}  // namespace tapeflow
