#include "python_kernel.h"

#include <string>
#include <vector>

#include "attrs.h"
#include "convert.h"
#include "variable.h"

namespace tapeflow {

namespace {

PyObject* numpy_module = nullptr;
PyObject* errstate_type = nullptr;
PyObject* errstate_kwnames = nullptr;   // ("all",)
PyObject* ignore = nullptr;

class PythonKernel {
 public:
  explicit PythonKernel(const PythonCall& c) : c_(c) {}

  void run() {
    if (!c_.op->kernel) throw unimplemented(*c_.op->name, " has no kernel for these inputs");
    std::vector<PyObject*> args{numpy_module};
    struct Release {
      std::vector<PyObject*>& a;
      size_t n = 0;
      PyObject* names = nullptr;
      ~Release() { for (size_t i = 1; i < 1 + n; ++i) Py_DECREF(a[i]); Py_XDECREF(names); }
    } release{args};
    size_t at = 0, list = 0;
    for (const Arg& spec : *c_.op->inputs) {
      if (!spec.list) {
        args.push_back(argument(c_.in[at++]));
        ++release.n;
        continue;
      }
      const int n = c_.list_sizes[list++];
      PyObject* l = PyList_New(n);
      if (!l) throw PythonError();
      args.push_back(l);
      ++release.n;
      for (int k = 0; k < n; ++k) PyList_SET_ITEM(l, k, argument(c_.in[at++]));
    }
    const size_t n_attrs = c_.op->attrs->size();
    release.names = PyTuple_New(static_cast<Py_ssize_t>(n_attrs));
    for (size_t i = 0; i < n_attrs; ++i) {
      PyTuple_SET_ITEM(release.names, i, Py_NewRef((*c_.op->attrs)[i].name));
      args.push_back(attr_value(i));
    }
    PyObject* quiet = PyObject_Vectorcall(errstate_type, &ignore, 0, errstate_kwnames);
    PyObject* entered = quiet ? PyObject_CallMethod(quiet, "__enter__", nullptr) : nullptr;
    if (!entered && quiet) { Py_DECREF(quiet); throw PythonError(); }
    if (!quiet) throw PythonError();
    Py_DECREF(entered);
    PyObject* r = PyObject_Vectorcall(c_.op->kernel, args.data(), args.size() - n_attrs, n_attrs ? release.names : nullptr);
    bool taken = false;
    if (r) {  // NumPy's casts of the results are as quiet as its arithmetic
      try {
        take_results(r);
        taken = true;
      } catch (const PythonError&) {
      } catch (const Error& e) {
        set_python_error(e, c_.op);
      }
      Py_DECREF(r);
    }
    if (!taken) rename_error();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject* left = PyObject_CallMethod(quiet, "__exit__", "OOO", Py_None, Py_None, Py_None);
    Py_XDECREF(left);
    Py_DECREF(quiet);
    PyErr_Restore(type, value, trace);
    if (!taken) throw PythonError();
  }

 private:
  // New reference: what the Python kernel sees of input i.
  PyObject* argument(Tensor* t) {
    if (t->dtype != DType::kResource) return to_array(t, false);
    if (!t->payload) return Py_NewRef(reinterpret_cast<PyObject*>(t));
    Variable* v = variable_behind(t);
    return v ? Py_NewRef(reinterpret_cast<PyObject*>(v)) : to_array(t, false);
  }

  DType output_dtype(const Arg& o) const {
    return o.type_var >= 0 ? c_.types[o.type_var] : o.type_attr >= 0 ? c_.attrs[o.type_attr].type() : o.fixed;
  }

  PyObject* attr_value(size_t i) {
    if ((*c_.op->attrs)[i].kind == AttrKind::kType) return dtype_object(c_.attrs[i].type());
    return c_.attr_objects[i] ? c_.attr_objects[i] : (*c_.op->attrs)[i].object;
  }

  // Errors of NumPy and of the kernel become tf.errors.*, naming the op.
  void rename_error() {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return;  // KeyboardInterrupt and the like
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject* code = PyObject_GetAttrString(value, "error_code");
    PyErr_Clear();
    int number = -1;
    std::string text;
    if (code && PyLong_Check(code)) {
      number = static_cast<int>(PyLong_AsLong(code));
      PyObject* m = PyObject_GetAttrString(value, "message");
      text = m ? py_str(m) : py_str(value);
      Py_XDECREF(m);
      PyErr_Clear();
      if (text.find("[Op:") != std::string::npos) number = -1;
    } else if (PyErr_GivenExceptionMatches(value, PyExc_ValueError) || PyErr_GivenExceptionMatches(value, PyExc_LookupError) ||
               PyErr_GivenExceptionMatches(value, PyExc_ArithmeticError)) {
      number = static_cast<int>(Code::kInvalidArgument);
      text = py_str(value);
    } else if (PyErr_GivenExceptionMatches(value, PyExc_MemoryError)) {
      number = static_cast<int>(Code::kResourceExhausted);
      text = py_str(value);
    }
    Py_XDECREF(code);
    if (number < 0) { PyErr_Restore(type, value, trace); return; }
    set_python_error(Error(static_cast<Code>(number), text), c_.op);
    if (code == nullptr || !PyLong_Check(code)) {
      PyObject *t2, *v2, *tb2;
      PyErr_Fetch(&t2, &v2, &tb2);
      PyErr_NormalizeException(&t2, &v2, &tb2);
      if (trace) PyException_SetTraceback(value, trace);
      PyException_SetCause(v2, Py_NewRef(value));
      PyErr_Restore(t2, v2, tb2);
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  }

  void take_results(PyObject* r) {
    const auto& specs = *c_.op->outputs;
    if (specs.empty()) return;
    if (specs.size() == 1) { take_one(specs[0], r, 0, 0); return; }
    PyObject* fast = PySequence_Fast(r, "a kernel of several outputs returns a tuple");
    if (!fast) throw PythonError();
    if (PySequence_Fast_GET_SIZE(fast) != static_cast<Py_ssize_t>(specs.size())) {
      Py_DECREF(fast);
      throw Error(Code::kInternal, text("the kernel returned ", PySequence_Size(r), " results for ", specs.size(), " outputs"));
    }
    try {
      size_t at = 0;
      for (size_t i = 0; i < specs.size(); ++i) {
        take_one(specs[i], PySequence_Fast_GET_ITEM(fast, i), i, at);
        at += static_cast<size_t>(c_.out_sizes[i]);
      }
    } catch (...) { Py_DECREF(fast); throw; }
    Py_DECREF(fast);
  }

  void take_one(const Arg& spec, PyObject* r, size_t i, size_t at) {
    const DType d = output_dtype(spec);
    if (!spec.list) { c_.out[at] = from_array(r, d); return; }
    PyObject* fast = PySequence_Fast(r, "a list output is a list");
    if (!fast) throw PythonError();
    try {
      if (PySequence_Fast_GET_SIZE(fast) != c_.out_sizes[i]) {
        throw Error(Code::kInternal, text("the kernel returned ", PySequence_Fast_GET_SIZE(fast), " elements for an output list of ", c_.out_sizes[i]));
      }
      for (int k = 0; k < c_.out_sizes[i]; ++k) c_.out[at + static_cast<size_t>(k)] = from_array(PySequence_Fast_GET_ITEM(fast, k), d);
    } catch (...) { Py_DECREF(fast); throw; }
    Py_DECREF(fast);
  }

  const PythonCall& c_;
};

}  // namespace

void run_python_kernel(const PythonCall& call) { PythonKernel(call).run(); }

bool init_python_kernel() {
  numpy_module = PyImport_ImportModule("numpy");
  if (!numpy_module) return false;
  errstate_type = PyObject_GetAttrString(numpy_module, "errstate");
  errstate_kwnames = Py_BuildValue("(s)", "all");
  ignore = PyUnicode_InternFromString("ignore");
  return errstate_type && errstate_kwnames && ignore;
}

}  // namespace tapeflow
