// The number protocol and comparisons of tensors and variables.
#include "tensor_type.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include <cstring>

#include "arrays.h"
#include "convert.h"
#include "ref.h"
#include "variable.h"

namespace tapeflow {

namespace {

enum Name { kAdd, kSub, kMul, kTrueDiv, kFloorDiv, kMod, kPow, kMatMul, kAnd, kOr, kXor, kInvert, kNeg, kAbs,
            kLt, kLe, kGt, kGe, kEq, kNe, kGetItem, kNames };
constexpr const char* names[kNames] = {"add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and",
                                       "or", "xor", "invert", "neg", "abs", "lt", "le", "gt", "ge", "eq", "ne",
                                       "getitem"};

struct Operator {
  OpDef* op;           // null: the fallback does it all
  PyObject* fallback;  // null: the op does it all
  uint64_t dtypes;
};
Operator operators[kNames];
bool equality = true;

bool is_ours(PyObject* o) {
  return is_tensor(o) || PyObject_TypeCheck(o, TensorBaseType) || (VariableType && is_variable(o));
}

// Values that convert.cc takes, so that they need no say in the matter.
bool is_known(PyObject* o) {
  return is_ours(o) || PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || PyList_Check(o) ||
         PyTuple_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o) || PyArray_Check(o) || PyArray_CheckScalar(o);
}

// Where only the native types have a number at hand, symbolic ones are asked.
DType dtype_of(PyObject* o) {
  const DType d = declared_dtype(o);
  if (d != DType::kInvalid) return d;
  return parse_dtype(Ref(PyObject_GetAttrString(o, "dtype")).get());
}

bool native(const Operator& f, PyObject* x, PyObject* y) {
  if (!f.op) return false;
  if (!f.fallback || f.dtypes == ~uint64_t{0}) return true;
  const auto takes = [&](PyObject* o) { return !is_ours(o) || (f.dtypes & bit(dtype_of(o))) != 0; };
  return takes(x) && (x == y || takes(y));
}

PyObject* unset(Name name) {
  return PyErr_Format(PyExc_RuntimeError, "the operator '%s' of tensors is not set up", names[name]);
}

// Both operands as promotion wants them, where a program has switched it on.
class Promoted {
 public:
  Promoted(Name name, PyObject** x, PyObject** y) {
    if (!promotion.operators) return;
    answer_ = PyObject_CallFunction(promotion.operators, "sOO", names[name], *x, *y);
    if (!answer_) {
      failed_ = true;
    } else if (PyTuple_Check(answer_)) {
      failed_ = !PyArg_ParseTuple(answer_, "OOp", x, y, &weak_);
    } else {
      done_ = answer_ != Py_None;
    }
  }
  ~Promoted() { Py_XDECREF(answer_); }
  Promoted(const Promoted&) = delete;
  Promoted& operator=(const Promoted&) = delete;
  bool over() const { return failed_ || done_; }  // with a result or an exception
  PyObject* result() const { return failed_ ? nullptr : Py_NewRef(answer_); }
  PyObject* mark(PyObject* result) const { return weak_ ? mark_weak(result) : result; }

 private:
  PyObject* answer_ = nullptr;
  int weak_ = 0;
  bool failed_ = false, done_ = false;
};

PyObject* dispatch(Name name, PyObject* x, PyObject* y) {
  const Operator& f = operators[name];
  return guarded([&]() -> PyObject* {
    const Promoted p(name, &x, &y);
    if (p.over()) return p.result();
    const bool by_op = native(f, x, y);
    if (!by_op && !f.fallback) return unset(name);
    if (thread_state.graph_scope > 0 && hooks.graph_operator && name < kInvert) {
      PyObject* what = by_op ? reinterpret_cast<PyObject*>(f.op) : f.fallback;
      return p.mark(PyObject_CallFunction(hooks.graph_operator, "sOOO", names[name], what, x, y));
    }
    if (by_op) return p.mark(call_binary(f.op, x, y));
    PyObject* args[] = {x, y};
    return p.mark(PyObject_Vectorcall(f.fallback, args, 2, nullptr));
  });
}

inline bool quick(const Operator& f, PyObject* x, PyObject* y) {
  return is_tensor(x) && is_tensor(y) && tensor(x)->dtype == tensor(y)->dtype && thread_state.graph_scope == 0 &&
         f.op && (f.dtypes & bit(tensor(x)->dtype)) &&
         !(promotion.operators && (tensor(x)->dict || tensor(y)->dict));  // weak ones are marked there
}

// Whether == and != are the op's alone: a tensor or a variable beside one of the same dtype, or beside a Python number.
inline bool comparable(const Operator& f, PyObject* x, PyObject* y) {
  if (thread_state.graph_scope > 0 || !f.op || promotion.operators) return false;
  const DType d = dtype_at_hand(x);
  return d != DType::kInvalid && (PyFloat_CheckExact(y) || PyLong_CheckExact(y) || dtype_at_hand(y) == d);
}

template <typename F>
bool has_slot(PyObject* o, F PyNumberMethods::*slot) {
  PyNumberMethods* n = Py_TYPE(o)->tp_as_number;
  return n && n->*slot;
}

template <Name name, auto slot>
PyObject* binary(PyObject* x, PyObject* y) {
  const Operator& f = operators[name];
  if (quick(f, x, y)) return guarded([&] { return call_binary(f.op, x, y); });
  if ((!is_known(x) && has_slot(x, slot)) || (!is_known(y) && has_slot(y, slot))) Py_RETURN_NOTIMPLEMENTED;
  return dispatch(name, x, y);
}

PyObject* power(PyObject* x, PyObject* y, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  const Operator& f = operators[kPow];
  if (quick(f, x, y)) return guarded([&] { return call_binary(f.op, x, y); });
  constexpr auto slot = &PyNumberMethods::nb_power;
  if ((!is_known(x) && has_slot(x, slot)) || (!is_known(y) && has_slot(y, slot))) Py_RETURN_NOTIMPLEMENTED;
  return dispatch(kPow, x, y);
}

template <Name name>
PyObject* unary(PyObject* x) {
  const Operator& f = operators[name];
  return guarded([&]() -> PyObject* {
    if (native(f, x, x)) return call_op(f.op, &x, 1, nullptr);
    return f.fallback ? PyObject_CallOneArg(f.fallback, x) : unset(name);
  });
}

PyObject* positive(PyObject* x) { return Py_NewRef(x); }

// set_operator(name, op, fallback=None, dtypes=-1)
PyObject* set_operator(PyObject*, PyObject* args, PyObject* kwargs) {
  const char* keywords[] = {"name", "op", "fallback", "dtypes", nullptr};
  const char* name;
  PyObject *op, *fallback = Py_None, *dtypes = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|OO", const_cast<char**>(keywords), &name, &op, &fallback,
                                   &dtypes)) return nullptr;
  int i = 0;
  while (i < kNames && std::strcmp(names[i], name)) ++i;
  if (i == kNames) return PyErr_Format(PyExc_ValueError, "no such operator: %s", name);
  if (op != Py_None && !is_op(op)) return PyErr_Format(PyExc_TypeError, "op must be an Op or None, got %R", op);
  if (fallback != Py_None && !PyCallable_Check(fallback)) {
    return PyErr_Format(PyExc_TypeError, "fallback must be callable or None, got %R", fallback);
  }
  uint64_t mask = ~uint64_t{0};
  if (dtypes) {
    mask = PyLong_AsUnsignedLongLongMask(dtypes);
    if (mask == ~uint64_t{0} && PyErr_Occurred()) return nullptr;
  }
  Operator& f = operators[i];  // what it was before stays: it may be running
  f.op = op == Py_None ? nullptr : reinterpret_cast<OpDef*>(Py_NewRef(op));
  f.fallback = fallback == Py_None ? nullptr : Py_NewRef(fallback);
  f.dtypes = mask;
  Py_RETURN_NONE;
}

PyObject* set_tensor_equality(PyObject*, PyObject* value) {
  const int on = PyObject_IsTrue(value);
  if (on < 0) return nullptr;
  equality = on != 0;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_operator", method(entry<set_operator>),
     METH_VARARGS | METH_KEYWORDS, "set_operator(name, op, fallback=None, dtypes=-1)"},
    {"set_tensor_equality", entry<set_tensor_equality>, METH_O, "set_tensor_equality(enabled)"},
    {nullptr, nullptr, 0, nullptr}};

// Classes of Python code that compare in their own way get their turn.
bool defers(PyObject* o) {
  PyTypeObject* t = Py_TYPE(o);
  return !is_known(o) && (t->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
         t->tp_richcompare != PyBaseObject_Type.tp_richcompare;
}

PyNumberMethods number_methods() {
  using N = PyNumberMethods;
  N n{};
  n.nb_add = entry<binary<kAdd, &N::nb_add>>;
  n.nb_subtract = entry<binary<kSub, &N::nb_subtract>>;
  n.nb_multiply = entry<binary<kMul, &N::nb_multiply>>;
  n.nb_true_divide = entry<binary<kTrueDiv, &N::nb_true_divide>>;
  n.nb_floor_divide = entry<binary<kFloorDiv, &N::nb_floor_divide>>;
  n.nb_remainder = entry<binary<kMod, &N::nb_remainder>>;
  n.nb_power = entry<power>;
  n.nb_matrix_multiply = entry<binary<kMatMul, &N::nb_matrix_multiply>>;
  n.nb_and = entry<binary<kAnd, &N::nb_and>>;
  n.nb_or = entry<binary<kOr, &N::nb_or>>;
  n.nb_xor = entry<binary<kXor, &N::nb_xor>>;
  n.nb_invert = entry<unary<kInvert>>;
  n.nb_negative = entry<unary<kNeg>>;
  n.nb_absolute = entry<unary<kAbs>>;
  n.nb_positive = entry<positive>;
  return n;
}

}  // namespace

PyNumberMethods tensor_number_methods = number_methods();

PyObject* tensor_richcompare(PyObject* x, PyObject* y, int how) {
  static constexpr Name of[] = {kLt, kLe, kEq, kNe, kGt, kGe};  // in the order of Py_LT ... Py_GE
  const Name name = of[how];
  const Operator& f = operators[name];
  if (how != Py_EQ && how != Py_NE) {
    if (quick(f, x, y)) return guarded([&] { return call_binary(f.op, x, y); });
    if (defers(y)) Py_RETURN_NOTIMPLEMENTED;
    return dispatch(name, x, y);
  }
  if (!equality) return PyBool_FromLong((x == y) == (how == Py_EQ));
  if (y == Py_None) return PyBool_FromLong(how == Py_NE);
  if (quick(f, x, y) && tensor(x)->shape->same(tensor(y)->shape)) {
    return guarded([&] { return call_binary(f.op, x, y); });
  }
  if (comparable(f, x, y)) {
    PyObject* args[] = {x, y, Py_False};  // incompatible_shape_error
    return guarded([&] { return call_op(f.op, args, 3, nullptr); });
  }
  if (defers(y)) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject* {
    const Promoted p(name, &x, &y);
    if (p.over()) return p.result();
    PyObject* args[] = {x, y, Py_False};  // incompatible_shape_error=False
    if (f.fallback) return PyObject_Vectorcall(f.fallback, args, 2, nullptr);
    return f.op ? call_op(f.op, args, 3, nullptr) : unset(name);
  });
}

Py_hash_t tensor_hash(PyObject* o) {
  if (equality) {
    PyErr_Format(PyExc_TypeError, "%s is unhashable. Instead, use tensor.ref() as the key.",
                 VariableType && is_variable(o) ? "Variable" : "Tensor");
    return -1;
  }
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(o) >> 4);
}

OpDef* getitem_op() { return operators[kGetItem].op; }

bool init_tensor_operators(PyObject* module) {
  if (_import_array() < 0) return false;
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace tapeflow
