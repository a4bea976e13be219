// What Python sets in the core and asks of it: hooks, modes, threads, memory.
#include <algorithm>
#include <cstring>
#include <utility>

#include "arrays.h"
#include "convert.h"
#include "op.h"
#include "tensor_type.h"
#include "threads.h"

namespace tapeflow {

Hooks hooks = {};
Promotion promotion = {};
thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

namespace {

PyObject* set_hook(PyObject*, PyObject* args) {
  const char* name;
  PyObject* f;
  if (!PyArg_ParseTuple(args, "sO", &name, &f)) return nullptr;
  const std::pair<const char*, Shared<PyObject*>*> all[] = {
      {"error_from_code", &hooks.error_from_code}, {"build_graph", &hooks.build_graph}, {"graph_convert", &hooks.graph_convert},
      {"graph_read", &hooks.graph_read}, {"graph_named", &hooks.graph_named}, {"graph_scoped", &hooks.graph_scoped},
      {"graph_operator", &hooks.graph_operator},
      {"graph_tape", &hooks.graph_tape}, {"dispatch", &hooks.dispatch}, {"device_call", &hooks.device_call},
      {"convert", &hooks.convert}, {"sum_to", &hooks.sum_to}, {"accumulate", &hooks.accumulate},
      {"tensor_shape", &hooks.tensor_shape}, {"to_str", &hooks.to_str}, {"to_repr", &hooks.to_repr},
      {"to_format", &hooks.to_format}, {"getitem", &hooks.getitem}, {"setup", &hooks.setup}, {"node_error", &hooks.node_error}};
  for (const auto& [n, at] : all) {
    if (std::strcmp(n, name) == 0) {
      *at = Py_NewRef(f);  // the one before stays: it may be running
      Py_RETURN_NONE;
    }
  }
  return PyErr_Format(PyExc_ValueError, "no such hook: %s", name);
}

PyObject* py_convert(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n < 1 || n > 2) return PyErr_Format(PyExc_TypeError, "convert(value, dtype=None)");
  if (thread_state.graph_scope > 0 && hooks.graph_convert) {
    PyObject* both[] = {args[0], n == 2 ? args[1] : Py_None};
    return PyObject_Vectorcall(hooks.graph_convert, both, 2, nullptr);
  }
  return guarded([&] {
    const DType want = n == 2 && args[1] != Py_None ? parse_dtype(args[1]) : DType::kInvalid;
    return reinterpret_cast<PyObject*>(to_tensor(args[0], want, true));
  });
}

PyObject* tensor_of(PyObject*, PyObject* args) {
  PyObject *array, *dtype;
  if (!PyArg_ParseTuple(args, "OO", &array, &dtype)) return nullptr;
  return guarded([&] { return reinterpret_cast<PyObject*>(from_array(array, parse_dtype(dtype))); });
}

PyObject* set_promotion(PyObject*, PyObject* args) {
  PyObject *operators, *ops;
  if (!PyArg_ParseTuple(args, "OO", &operators, &ops)) return nullptr;
  // Those before stay: they may be running.
  promotion.operators = operators == Py_None ? nullptr : Py_NewRef(operators);
  promotion.ops = ops == Py_None ? nullptr : Py_NewRef(ops);
  Py_RETURN_NONE;
}

PyObject* set_int(int* at, PyObject* v) {
  const long n = PyLong_AsLong(v);
  if (n == -1 && PyErr_Occurred()) return nullptr;
  *at = static_cast<int>(n);
  Py_RETURN_NONE;
}
PyObject* set_graph_scope(PyObject*, PyObject* v) { return set_int(&thread_state.graph_scope, v); }
// Returns what it was.
PyObject* set_device_scope(PyObject*, PyObject* v) {
  const int before = thread_state.device;
  const Ref done(set_int(&thread_state.device, v));
  return PyLong_FromLong(before);
}
PyObject* set_replica_scope(PyObject*, PyObject* v) { return set_int(&thread_state.replica_scope, v); }
PyObject* set_threads(PyObject*, PyObject* v) {
  int n;
  PyObject* r = set_int(&n, v);
  if (r) set_intra_op_threads(n);
  return r;
}
PyObject* set_work_thresholds(PyObject*, PyObject* args) {
  long long gil, parallel;
  if (!PyArg_ParseTuple(args, "LL", &gil, &parallel)) return nullptr;
  PyObject* before = Py_BuildValue("LL", static_cast<long long>(release_gil_ns), static_cast<long long>(parallel_ns));
  release_gil_ns = std::max(gil, 1LL);
  parallel_ns = std::max(parallel, 1LL);
  return before;
}
PyObject* get_threads(PyObject*, PyObject*) { return PyLong_FromLong(intra_op_threads()); }
PyObject* py_stats(PyObject*, PyObject*) {
  const AllocatorStats s = allocator_stats();
  return Py_BuildValue("{s:L,s:L,s:L,s:L}", "live", s.live, "peak", s.peak, "cached", s.cached, "limit", s.limit);
}
PyObject* reset_peak(PyObject*, PyObject*) { allocator_reset_peak(); Py_RETURN_NONE; }
PyObject* trim(PyObject*, PyObject*) { allocator_trim(); Py_RETURN_NONE; }

PyMethodDef module_methods[] = {
    {"set_hook", entry<set_hook>, METH_VARARGS, nullptr},
    {"convert", method(entry<py_convert>), METH_FASTCALL, nullptr},
    {"tensor_of", entry<tensor_of>, METH_VARARGS, nullptr},
    {"set_graph_scope", entry<set_graph_scope>, METH_O, nullptr},
    {"set_device_scope", entry<set_device_scope>, METH_O, nullptr},
    {"set_replica_scope", entry<set_replica_scope>, METH_O, nullptr},
    {"set_promotion", entry<set_promotion>, METH_VARARGS, "set_promotion(operators, ops): callables or None"},
    {"set_threads", entry<set_threads>, METH_O, nullptr},
    {"get_threads", entry<get_threads>, METH_NOARGS, nullptr},
    {"set_work_thresholds", entry<set_work_thresholds>, METH_VARARGS, "ns of work from which a kernel releases the GIL, and splits"},
    {"allocator_stats", entry<py_stats>, METH_NOARGS, nullptr},
    {"allocator_reset_peak", entry<reset_peak>, METH_NOARGS, nullptr},
    {"allocator_trim", entry<trim>, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool init_settings(PyObject* module) { return PyModule_AddFunctions(module, module_methods) == 0; }

}  // namespace tapeflow
