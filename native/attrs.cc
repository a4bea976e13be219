#include "attrs.h"

#include <cstring>

#include "convert.h"

namespace tapeflow {

std::string py_str(PyObject* o) {
  PyObject* s = PyObject_Str(o);
  const char* c = s ? PyUnicode_AsUTF8(s) : nullptr;
  std::string out = c ? c : "?";
  if (!c) PyErr_Clear();
  Py_XDECREF(s);
  return out;
}

std::string py_repr(PyObject* o) {
  PyObject* s = PyObject_Repr(o);
  const char* c = s ? PyUnicode_AsUTF8(s) : nullptr;
  std::string out = c ? c : "?";
  if (!c) PyErr_Clear();
  Py_XDECREF(s);
  return out;
}

[[noreturn]] void type_error(const std::string& m) {
  PyErr_SetString(PyExc_TypeError, m.c_str());
  throw PythonError();
}

std::string allowed_names(const TypeVar& var) {
  std::string out;
  for (int i = 1; i < kDTypeCount; ++i) {
    if (var.allowed >> i & 1) out += (out.empty() ? "" : ", ") + std::string(dtype_short_name(static_cast<DType>(i)));
  }
  return out;
}

namespace {

int64_t int_of(PyObject* o, const OpDef* op, const AttrSpec& spec) {
  if (PyLong_Check(o) || PyIndex_Check(o)) {
    PyObject* i = PyNumber_Index(o);
    if (i) {
      const int64_t v = PyLong_AsLongLong(i);
      Py_DECREF(i);
      if (v != -1 || !PyErr_Occurred()) return v;
      PyErr_Clear();
      throw invalid("Value for attr '", py_str(spec.name), "' of ", py_str(o), " does not fit in 64 bits");
    }
    PyErr_Clear();
  }
  type_error("Expected int for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
}

void parse_list(PyObject* o, const OpDef* op, const AttrSpec& spec, bool unknown_ok, Attr* out, Arena* arena) {
  // A copy: __index__ of an element may run code that changes the list.
  PyObject* fast = PyUnicode_Check(o) || PyBytes_Check(o) ? nullptr : PySequence_Tuple(o);
  if (!fast) {
    PyErr_Clear();
    type_error("Expected list for attr '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
  }
  const auto n = PySequence_Fast_GET_SIZE(fast);
  if (n > 100000) {
    Py_DECREF(fast);
    throw invalid("attr '", py_str(spec.name), "' has ", n, " elements");
  }
  int64_t* at = arena->take(static_cast<int>(n));
  try {
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* e = PySequence_Fast_GET_ITEM(fast, i);
      if (unknown_ok && e == Py_None) { at[i] = -1; continue; }
      at[i] = int_of(e, op, spec);
    }
  } catch (...) {
    Py_DECREF(fast);
    throw;
  }
  Py_DECREF(fast);
  out->ints = at;
  out->n = static_cast<int>(n);
}

}  // namespace

void parse_attr(PyObject* o, const OpDef* op, const AttrSpec& spec, Attr* out, Arena* arena) {
  out->object = o;
  switch (spec.kind) {
    case AttrKind::kBool:
      if (PyBool_Check(o)) { out->i = o == Py_True; return; }
      if (std::strncmp(Py_TYPE(o)->tp_name, "numpy.bool", 10) == 0) { out->i = PyObject_IsTrue(o); return; }
      type_error("Expected bool for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
    case AttrKind::kInt:
      out->i = int_of(o, op, spec);
      return;
    case AttrKind::kFloat: {
      // TensorFlow keeps float attrs in single precision, which shows in ops on doubles.
      out->f = static_cast<float>(PyFloat_AsDouble(o));
      if (out->f == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        type_error("Expected float for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
      }
      return;
    }
    case AttrKind::kType:
      out->i = static_cast<int64_t>(parse_dtype(o));
      return;
    case AttrKind::kString: {
      if (!PyUnicode_Check(o) && !PyBytes_Check(o)) {
        type_error("Expected string for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
      }
      if (!spec.choices) return;
      const std::string given = PyBytes_Check(o) ? PyBytes_AS_STRING(o) : py_str(o);
      std::string all;
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(spec.choices); ++i) {
        const std::string choice = py_str(PyTuple_GET_ITEM(spec.choices, i));
        if (choice == given) return;
        all += (all.empty() ? "\"" : ", \"") + choice + "\"";
      }
      throw invalid("Value for attr '", py_str(spec.name), "' of \"", given, "\" is not in the list of allowed values: ", all);
    }
    case AttrKind::kShape: {
      if (o == Py_None) { out->n = -1; return; }
      if (PyLong_Check(o)) {
        int64_t* at = arena->take(1);
        at[0] = int_of(o, op, spec);
        out->ints = at;
        out->n = 1;
        return;
      }
      if (PyList_Check(o) || PyTuple_Check(o)) { parse_list(o, op, spec, true, out, arena); return; }
      PyObject* rank = PyObject_GetAttrString(o, "rank");
      if (!rank) { PyErr_Clear(); type_error("Expected a shape for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + "."); }
      Py_DECREF(rank);
      if (rank == Py_None) { out->n = -1; return; }
      PyObject* list = PyObject_CallMethod(o, "as_list", nullptr);
      if (!list) throw PythonError();
      try { parse_list(list, op, spec, true, out, arena); } catch (...) { Py_DECREF(list); throw; }
      Py_DECREF(list);
      return;
    }
    case AttrKind::kInts:
      parse_list(o, op, spec, false, out, arena);
      return;
    case AttrKind::kObject:
      return;
  }
}

const char* Attr::str() const {
  if (object && PyUnicode_Check(object)) {
    const char* s = PyUnicode_AsUTF8(object);
    if (s) return s;
    PyErr_Clear();
  } else if (object && PyBytes_Check(object)) {
    return PyBytes_AS_STRING(object);
  }
  throw invalid("expected a string attr");
}

}  // namespace tapeflow
