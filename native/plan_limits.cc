#include "plan_limits.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION  // which has handlers of memory
#include <numpy/arrayobject.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "buffer.h"
#include "error.h"
#include "ref.h"
#include "tensor_type.h"

namespace tapeflow {

thread_local Usage usage __attribute__((tls_model("initial-exec")));

namespace {

std::atomic<int64_t> numpy_bytes{0};
PyObject* handler_capsule = nullptr;

bool fits(size_t bytes) {
  if (!usage.limited) return true;  // another thread's resize of an array that was made under limits
  const auto more = static_cast<int64_t>(bytes > size_t{1} << 62 ? size_t{1} << 62 : bytes);
  return allocator_stats().live + numpy_bytes.load(std::memory_order_relaxed) <= usage.memory_end - more;
}

void* counted(void* p, size_t bytes) {
  if (p) numpy_bytes.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  return p;
}

void* take(void*, size_t bytes) { return fits(bytes) ? counted(std::malloc(bytes), bytes) : nullptr; }

void* take_zeros(void*, size_t n, size_t size) {
  if (size && n > (size_t{1} << 62) / size) return nullptr;
  return fits(n * size) ? counted(std::calloc(n, size), n * size) : nullptr;
}

// What it had is not known here, so that the sum is only too high afterwards.
void* resize(void*, void* p, size_t bytes) { return fits(bytes) ? counted(std::realloc(p, bytes), bytes) : nullptr; }

void give_back(void*, void* p, size_t bytes) {
  if (p) numpy_bytes.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  std::free(p);
}

PyDataMem_Handler handler = {"tapeflow_limited", 1, {nullptr, take, take_zeros, resize, give_back}};

// call_limited(steps, memory, function): function() under limits.
PyObject* call_limited(PyObject*, PyObject* args) {
  long long steps, memory;
  PyObject* function;
  if (!PyArg_ParseTuple(args, "LLO", &steps, &memory, &function)) return nullptr;
  return guarded([&] {
    UnderLimits under({steps, memory});
    spend(1);
    PyObject* result = PyObject_CallNoArgs(function);
    if (!result) throw PythonError();
    return result;
  });
}

PyObject* steps_left(PyObject*, PyObject*) {
  if (!usage.limited) Py_RETURN_NONE;
  return PyLong_FromLongLong(usage.steps_left);
}

PyMethodDef module_methods[] = {
    {"call_limited", entry<call_limited>, METH_VARARGS,
     "call_limited(steps, memory, function): function() in a thread that may run so many instructions and let its tensors take "
     "so many bytes; one step is spent on the call. Where the thread is limited already, its limits stay."},
    {"steps_left", entry<steps_left>, METH_NOARGS, "steps_left(): how many instructions this thread may run; None: any number."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void spend_strings(PyObject* array) {
  const Ref owned(PyArray_IterNew(array));
  auto* it = reinterpret_cast<PyArrayIterObject*>(owned.get());
  int64_t bytes = 0;
  while (PyArray_ITER_NOTDONE(it)) {
    PyObject* item = *reinterpret_cast<PyObject**>(PyArray_ITER_DATA(it));
    if (item && PyBytes_Check(item)) bytes += PyBytes_GET_SIZE(item);
    PyArray_ITER_NEXT(it);
  }
  spend(bytes / 64);
}

int64_t limited_numpy_bytes() { return numpy_bytes.load(std::memory_order_relaxed); }

void spend(int64_t steps) {
  if (!usage.limited || (usage.steps_left -= steps) >= 0) return;
  throw exhausted("The graph is not trusted, and has run as many instructions as it may. Load it with larger limits "
                  "(tf.saved_model.Limits(steps=...)), or with trusted=True.");
}

void refuse_memory(int64_t bytes) {
  throw exhausted("OOM when allocating ", bytes, " bytes: the graph is not trusted, and its tensors would take more memory than "
                  "they may. Load it with larger limits (tf.saved_model.Limits(memory=...)), or with trusted=True.");
}

void UnderLimits::enter(const Limits& limits) {
  handler_ = PyDataMem_SetHandler(handler_capsule);
  if (!handler_) throw PythonError();
  usage = {true, limits.steps, allocator_stats().live + limited_numpy_bytes() + limits.memory};
  entered_ = true;
}

void UnderLimits::leave() {
  usage = {};
  Raised raised;
  const Ref handler(handler_);
  if (!Ref::or_null(PyDataMem_SetHandler(handler_))) PyErr_Clear();
  raised.restore();
}

bool init_limits(PyObject* module) {
  if (PyArray_ImportNumPyAPI() < 0) return false;
  handler_capsule = PyCapsule_New(&handler, "mem_handler", nullptr);
  return handler_capsule && PyModule_AddFunctions(module, module_methods) == 0;
}

}  // namespace tapeflow
