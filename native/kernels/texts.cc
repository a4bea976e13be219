#include "kernels/texts.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "arrays.h"
#include "kernels/registry.h"
#include "plan_limits.h"

namespace tapeflow {
namespace {

PyArrayObject* array_of(PyObject* o) { return reinterpret_cast<PyArrayObject*>(o); }

}  // namespace

Texts::Texts(const Tensor* t) : size_(t->size()) {
  if (t->dtype != DType::kString || !t->payload || !PyArray_IS_C_CONTIGUOUS(array_of(t->payload))) return;
  auto* const* items = static_cast<PyObject* const*>(PyArray_DATA(array_of(t->payload)));
  for (int64_t i = 0; i < size_; ++i) if (!items[i] || !PyBytes_Check(items[i])) return;
  items_ = items;
}

NewTexts::NewTexts(Shape* shape) : shape_(ShapeRef::share(shape)), array_(object_array(shape->rank, shape->dims)) {
  items_ = static_cast<PyObject**>(PyArray_DATA(array_of(array_.get())));
}

void NewTexts::put(int64_t i, PyObject* bytes) {
  if (!bytes) throw PythonError();
  Py_XSETREF(items_[i], bytes);
}

char* NewTexts::make(int64_t i, size_t size) {
  put(i, PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  return PyBytes_AS_STRING(items_[i]);
}

Tensor* NewTexts::finish() {
  if (usage.limited) spend_strings(array_.get());
  return object_tensor(DType::kString, shape_.get(), array_.release());
}

AttrText::AttrText(const Attr& attr) {
  Py_ssize_t size = 0;
  const char* text = nullptr;
  if (PyBytes_Check(attr.object)) {
    text = PyBytes_AS_STRING(attr.object);
    size = PyBytes_GET_SIZE(attr.object);
  } else if (PyUnicode_Check(attr.object)) {
    text = PyUnicode_AsUTF8AndSize(attr.object, &size);
    if (!text) PyErr_Clear();  // a surrogate
  }
  ok = text != nullptr;
  bytes = {text ? text : "", static_cast<size_t>(size)};
}

void register_texts() {
  register_text_parts();
  register_text_splits();
  register_text_hashes();
  register_text_numbers();
  register_unicode();
  register_base64();
  register_csv();
}

}  // namespace tapeflow
