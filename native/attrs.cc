#include "attrs.h"

#include <cstring>

#include "arrays.h"
#include "ref.h"

namespace tapeflow {

namespace {

// Takes over what str() or repr() returned.
std::string written(PyObject* text) {
  const Ref s = Ref::or_null(text);
  const char* c = s ? PyUnicode_AsUTF8(text) : nullptr;
  if (!c) PyErr_Clear();
  return c ? c : "?";
}

}  // namespace

std::string py_str(PyObject* o) {
  return written(PyObject_Str(o));
}

std::string py_repr(PyObject* o) {
  return written(PyObject_Repr(o));
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

// A value that cannot be asked is of the wrong type; that the user wants to stop is not for us to forget.
void forget_error() {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw PythonError();
  PyErr_Clear();
}

int64_t int_of(PyObject* o, const OpDef* op, const AttrSpec& spec) {
  if (PyLong_Check(o) || PyIndex_Check(o)) {
    if (PyObject* i = PyNumber_Index(o)) {
      const Ref number(i);
      const int64_t v = PyLong_AsLongLong(i);
      if (v != -1 || !PyErr_Occurred()) return v;
      PyErr_Clear();
      throw invalid("Value for attr '", py_str(spec.name), "' of ", py_str(o), " does not fit in 64 bits");
    }
    forget_error();
  }
  type_error("Expected int for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
}

void parse_list(PyObject* o, const OpDef* op, const AttrSpec& spec, bool unknown_ok, Attr* out, Arena* arena) {
  // A copy: __index__ of an element may run code that changes the list.
  PyObject* copy = PyUnicode_Check(o) || PyBytes_Check(o) ? nullptr : PySequence_Tuple(o);
  if (!copy) {
    if (PyErr_Occurred()) forget_error();
    type_error("Expected list for attr '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
  }
  const Ref elements(copy);
  const auto n = PyTuple_GET_SIZE(copy);
  if (n > 100000) throw invalid("attr '", py_str(spec.name), "' has ", n, " elements");
  int64_t* at = arena->take(static_cast<int>(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* e = PyTuple_GET_ITEM(copy, i);
    at[i] = unknown_ok && e == Py_None ? -1 : int_of(e, op, spec);
  }
  out->ints = at;
  out->n = static_cast<int>(n);
}

}  // namespace

bool is_whole(PyObject* o, AttrKind kind) {
  if (kind == AttrKind::kInt) return PyLong_Check(o);
  if (kind != AttrKind::kInts || (!PyList_Check(o) && !PyTuple_Check(o))) return true;
  const Critical alone(o);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
    if (!PyLong_Check(PySequence_Fast_GET_ITEM(o, i))) return false;
  }
  return true;
}

Ref truncated(PyObject* o) {
  const PyNumberMethods* number = Py_TYPE(o)->tp_as_number;
  const bool index = PyIndex_Check(o);
  if (PyLong_Check(o) || (!index && (!number || !number->nb_int || PyObject_TypeCheck(o, TensorBaseType)))) {
    return Ref();
  }
  PyObject* whole = index ? PyNumber_Index(o) : PyNumber_Long(o);
  if (!whole) forget_error();  // what cannot be one, as infinity, is refused where it is parsed
  return whole ? Ref(whole) : Ref();
}

Ref truncated_list(PyObject* o) {
  Ref copy(PySequence_List(o));  // the conversion of an element may run code that changes the list
  PyObject_GC_UnTrack(copy.get());  // ... also this one, if gc.get_objects() listed it
  bool changed = false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(copy.get()); ++i) {
    Ref integer = truncated(PyList_GET_ITEM(copy.get(), i));
    if (!integer.get()) continue;
    changed = true;
    PyList_SetItem(copy.get(), i, integer.release());
  }
  return changed ? Ref(whole(std::move(copy))) : Ref();
}

void parse_attr(PyObject* o, const OpDef* op, const AttrSpec& spec, Attr* out, Arena* arena) {
  out->object = o;
  switch (spec.kind) {
    case AttrKind::kBool:
      if (PyBool_Check(o)) { out->i = o == Py_True; return; }
      if (std::strncmp(Py_TYPE(o)->tp_name, "numpy.bool", 10) == 0) {
        out->i = PyObject_IsTrue(o);
        if (out->i < 0) throw PythonError();
        out->object = out->i ? Py_True : Py_False;  // what kernels in Python are given
        return;
      }
      type_error("Expected bool for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + ".");
    case AttrKind::kInt:
      out->i = int_of(o, op, spec);
      return;
    case AttrKind::kFloat: {
      // TensorFlow keeps float attrs in single precision, which shows in ops on doubles.
      out->f = static_cast<float>(PyFloat_AsDouble(o));
      if (out->f == -1.0 && PyErr_Occurred()) {
        forget_error();
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
      const std::string given = out->str();  // what kernels read: not what a subclass says of itself
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
      if (!rank) { forget_error(); type_error("Expected a shape for argument '" + py_str(spec.name) + "' of " + *op->name + ", not " + py_repr(o) + "."); }
      const Ref known(rank);
      if (rank == Py_None) { out->n = -1; return; }
      parse_list(Ref(PyObject_CallMethod(o, "as_list", nullptr)).get(), op, spec, true, out, arena);
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
