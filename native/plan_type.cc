// The Python type of plans.
#include <Python.h>
#include <structmember.h>

#include <cstddef>

#include "plan.h"
#include "ref.h"
#include "tensor_type.h"

namespace tapeflow {

PyTypeObject* PlanType = nullptr;

namespace {

Plan* self_of(PyObject* o) { return reinterpret_cast<Plan*>(o); }

// The arguments are tensors, as many as the plan takes; else null with a TypeError.
bool check_arguments(const Plan* plan, PyObject* const* args, Py_ssize_t n) {
  if (n != plan->n_in) {
    PyErr_Format(PyExc_TypeError, "Plan %U takes %d arguments, %zd were given", plan->name, plan->n_in, n);
    return false;
  }
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (is_tensor(args[i])) continue;
    PyErr_Format(PyExc_TypeError, "Plan %U: argument %zd is a %.100s, not an eager tensor", plan->name, i,
                 Py_TYPE(args[i])->tp_name);
    return false;
  }
  return true;
}

PyObject* results_of(Plan* plan, PyObject* const* args, Timeline* timeline) {
  return guarded([&] {
    Ref results = unfinished_tuple(plan->n_out);
    // A fresh tuple's items lie in a row, and nobody sees them before they are filled.
    auto** to = reinterpret_cast<Tensor**>(&PyTuple_GET_ITEM(results.get(), 0));
    run_plan(plan, reinterpret_cast<Tensor* const*>(args), to, timeline);
    return whole(std::move(results));
  });
}

PyObject* vectorcall(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
  if (kwnames && PyTuple_GET_SIZE(kwnames) > 0) return PyErr_Format(PyExc_TypeError, "a Plan takes no keyword arguments");
  if (!check_arguments(self_of(o), args, n)) return nullptr;
  return results_of(self_of(o), args, nullptr);
}

PyObject* timed(PyObject* o, PyObject* const* args, Py_ssize_t n) {
  if (!check_arguments(self_of(o), args, n)) return nullptr;
  Timeline timeline;
  const Ref results(results_of(self_of(o), args, &timeline)), events(PyList_New(0));
  for (const auto& e : timeline.events) {
    const Ref event(Py_BuildValue("(sOLLi)", instruction_name(*e.instruction), e.instruction->label,
                                  static_cast<long long>(e.start_ns), static_cast<long long>(e.duration_ns), e.depth));
    if (PyList_Append(events.get(), event.get()) < 0) return nullptr;
  }
  return Py_BuildValue("(OO)", results.get(), events.get());
}

template <typename F>
PyObject* list_of(int n, F&& f) {
  Ref l = unfinished_list(n);
  for (int i = 0; i < n; ++i) PyList_SET_ITEM(l.get(), i, Ref(f(i)).release());
  return whole(std::move(l));
}

PyObject* instructions(PyObject* o, void*) {
  Plan* plan = self_of(o);
  const std::vector<int>& numbers = *plan->numbers;
  auto number = [&](int r) { return PyLong_FromLong(numbers[static_cast<size_t>(r)]); };
  return list_of(static_cast<int>(plan->instructions->size()), [&](int i) {
    const Instruction& at = (*plan->instructions)[static_cast<size_t>(i)];
    return Py_BuildValue("(ssNNN)", kind_name(at.kind), instruction_name(at),
                         list_of(at.n_in, [&](int k) { return number(at.in[k]); }),
                         list_of(at.n_out, [&](int k) { return number(at.first_out + k); }),
                         list_of(at.n_freed, [&](int k) { return number(at.freed[k]); }));
  });
}

PyObject* create(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* keywords[] = {"name", "n_registers", "inputs", "constants", "instructions", "outputs", "steps", "memory", nullptr};
  long long steps = 0, memory = 0;
  PyObject *name, *registers, *inputs, *constants, *instructions, *outputs;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "UOOO!O!O|LL:Plan", const_cast<char**>(keywords), &name, &registers, &inputs,
                                   &PyList_Type, &constants, &PyList_Type, &instructions, &outputs, &steps, &memory)) return nullptr;
  Ref made(type->tp_alloc(type, 0));
  PyObject* o = made.get();
  PyObject_GC_UnTrack(o);  // building it may run code, which must not find it before it is whole
  Plan* plan = self_of(o);
  plan->vectorcall = entry<vectorcall>;
  plan->name = Py_NewRef(name);
  plan->limits = {steps, memory};
  plan->instructions = new std::vector<Instruction>;
  plan->numbers = new std::vector<int>;
  plan->unused = new std::vector<int>;
  plan->results = new std::vector<Plan::Result>;
  plan->lists = new std::deque<std::vector<int>>;
  plan->flags = new std::deque<std::unique_ptr<bool[]>>;
  plan->dtypes = new std::deque<std::vector<DType>>;
  build_plan(plan, registers, inputs, constants, instructions, outputs);
  return whole(std::move(made));
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  Plan* plan = self_of(o);
  Py_VISIT(Py_TYPE(o));
  for (int i = 0; i < plan->n_constants; ++i) Py_VISIT(plan->constants[i]);
  if (!plan->instructions) return 0;
  for (const Instruction& at : *plan->instructions) {
    Py_VISIT(at.op);
    Py_VISIT(at.callable);
    Py_VISIT(at.label);
    if (at.plans) {
      for (Plan* p : *at.plans) Py_VISIT(p);
    }
    if (at.payload) {
      for (PyObject* value : at.payload->attr_objects) Py_VISIT(value);
    }
    if (at.fused) {
      if (const int r = traverse_fused(at.fused, visit, arg)) return r;
    }
  }
  return 0;
}

// Cycles run through labels (operations of a graph), callables and attrs; the rest stays, for a plan that still runs.
int clear(PyObject* o) {
  Plan* plan = self_of(o);
  if (!plan->instructions) return 0;
  for (Instruction& at : *plan->instructions) Py_XSETREF(at.label, Py_NewRef(Py_None));
  return 0;
}

void destroy(PyObject* o) {
  PyObject_GC_UnTrack(o);
  Py_TRASHCAN_BEGIN(o, destroy)  // plans hold plans, as deep as a program likes
  Plan* plan = self_of(o);
  if (plan->weakrefs) PyObject_ClearWeakRefs(o);
  if (plan->instructions) {
    for (Instruction& at : *plan->instructions) {
      if (at.plans) {
        for (Plan* p : *at.plans) Py_DECREF(p);
      }
      if (at.payload) {
        for (PyObject* value : at.payload->attr_objects) Py_XDECREF(value);
      }
      Py_XDECREF(at.op);
      Py_XDECREF(at.callable);
      Py_XDECREF(at.label);
      delete at.plans;
      delete at.payload;
      free_fused(at.fused);
      free_scalar_loop(at.scalars);
    }
  }
  for (int i = 0; i < plan->n_constants; ++i) Py_DECREF(plan->constants[i]);
  delete[] plan->constants;
  delete plan->instructions;
  delete plan->numbers;
  delete plan->unused;
  delete plan->results;
  delete plan->lists;
  delete plan->flags;
  delete plan->dtypes;
  Py_XDECREF(plan->name);
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

PyObject* repr(PyObject* o) {
  Plan* plan = self_of(o);
  return PyUnicode_FromFormat("<Plan %U: %zd instructions, %d inputs, %d outputs>", plan->name,
                              static_cast<Py_ssize_t>(plan->instructions->size()), plan->n_in, plan->n_out);
}

PyMethodDef methods[] = {
    {"timeline", method(entry<timed>), METH_FASTCALL,
     "timeline(*tensors) -> (results, [(name, label, start in ns, duration in ns, depth), ...] in the order of the ends)"},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef getset[] = {
    {"instructions", entry<instructions>, nullptr, "List of (kind, name, inputs, outputs, freed), registers as they were given.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Plan, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Plan, weakrefs), READONLY, nullptr},
    {"name", T_OBJECT, offsetof(Plan, name), READONLY, nullptr},
    {"n_inputs", T_INT, offsetof(Plan, n_in), READONLY, nullptr},
    {"n_outputs", T_INT, offsetof(Plan, n_out), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_new, slot(entry<create>)},
    {Py_tp_dealloc, slot(destroy)},
    {Py_tp_traverse, slot(traverse)},
    {Py_tp_clear, slot(clear)},
    {Py_tp_repr, slot(entry<repr>)},
    {Py_tp_call, slot(PyVectorcall_Call)},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char*>("Plan(name, n_registers, inputs, constants, instructions, outputs): a graph, ready to run.")},
    {0, nullptr}};
PyType_Spec spec = {"tapeflow._native.Plan", sizeof(Plan), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

PyObject* py_set_deadline(PyObject*, PyObject* ms) {
  const long long value = PyLong_AsLongLong(ms);
  if (value == -1 && PyErr_Occurred()) return nullptr;
  return PyLong_FromLongLong(set_deadline(value));
}

PyMethodDef module_methods[] = {
    {"set_deadline", entry<py_set_deadline>, METH_O,
     "set_deadline(ms): loops of plans in this thread raise DeadlineExceededError after that time; 0: never. Returns what was left."},
    {"fusable", entry<py_fusable>, METH_VARARGS, "fusable(row name, dtype number, whether its second operand is a step's): whether a fused instruction may contain it."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool init_plan(PyObject* module) {
  PlanType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return PlanType && PyModule_AddObjectRef(module, "Plan", reinterpret_cast<PyObject*>(PlanType)) == 0 &&
         PyModule_AddFunctions(module, module_methods) == 0;
}

}  // namespace tapeflow
