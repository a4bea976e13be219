// From the Python description of a plan to the plan: parses, checks, and finds every register's last use.
#include <algorithm>

#include "plan.h"
#include "ref.h"

namespace tapeflow {

namespace {

constexpr int kMaxRegisters = 1 << 26;

template <typename... Parts> [[noreturn]] void wrong(const Plan* plan, const Parts&... parts) {
  PyErr_SetString(PyExc_ValueError, text("Plan ", py_str(plan->name), ": ", parts...).c_str());
  throw PythonError();
}

class Builder {
 public:
  Builder(Plan* plan, PyObject* count) : plan_(plan) {
    const long n = PyLong_AsLong(count);
    if (n == -1 && PyErr_Occurred()) throw PythonError();
    if (n < 0 || n > kMaxRegisters) wrong(plan_, n, " registers are not in [0, ", kMaxRegisters, "]");
    slot_of_.assign(static_cast<size_t>(n), -1);
  }

  void build(PyObject* inputs, PyObject* constants, PyObject* instructions, PyObject* outputs) {
    add_constants(constants);
    for (const int r : integers(inputs, "inputs", false)) write(r, "the inputs");
    plan_->n_in = next_ - plan_->n_constants;
    const Ref all(PyList_AsTuple(instructions));  // a copy: reading the numbers in them may run code
    plan_->instructions->reserve(static_cast<size_t>(PyTuple_GET_SIZE(all.get())));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all.get()); ++i) {
      plan_->instructions->push_back(Instruction{});  // owned by the plan from the first moment
      add_instruction(plan_->instructions->back(), static_cast<int>(i), PyTuple_GET_ITEM(all.get(), i));
    }
    for (const int r : integers(outputs, "outputs", false)) {
      plan_->results->push_back({read(r, "the outputs"), false});
    }
    plan_->n_out = static_cast<int>(plan_->results->size());
    plan_->n_registers = next_;
    find_last_uses();
  }

 private:
  // -- registers --

  std::vector<int> integers(PyObject* sequence, const char* what, bool discards) {
    const Ref all(PySequence_Tuple(sequence));
    std::vector<int> out;
    out.reserve(static_cast<size_t>(PyTuple_GET_SIZE(all.get())));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all.get()); ++i) {
      const long r = PyLong_AsLong(PyTuple_GET_ITEM(all.get(), i));
      if (r == -1 && PyErr_Occurred()) throw PythonError();
      if (r < (discards ? -1 : 0) || r >= static_cast<long>(slot_of_.size())) {
        wrong(plan_, "register ", r, " of ", what, " is not in [0, ", slot_of_.size(), ")");
      }
      out.push_back(static_cast<int>(r));
    }
    return out;
  }

  int write(int r, const char* what) {
    if (r >= 0) {
      if (slot_of_[static_cast<size_t>(r)] >= 0) wrong(plan_, "register ", r, " is written a second time, by ", what);
      slot_of_[static_cast<size_t>(r)] = next_;
    }
    plan_->numbers->push_back(r);
    return next_++;
  }

  int read(int r, const char* what) {
    const int slot = slot_of_[static_cast<size_t>(r)];
    if (slot < 0) wrong(plan_, "register ", r, " is read by ", what, " before anything is written to it");
    return slot;
  }

  void add_constants(PyObject* constants) {
    const Ref all(PyList_AsTuple(constants));
    const auto n = static_cast<int>(PyTuple_GET_SIZE(all.get()));
    plan_->constants = new Tensor*[static_cast<size_t>(n)];
    for (int i = 0; i < n; ++i) {
      PyObject *r, *t;
      if (!PyArg_ParseTuple(PyTuple_GET_ITEM(all.get(), i), "OO", &r, &t)) throw PythonError();
      if (!is_tensor(t)) {
        PyErr_Format(PyExc_TypeError, "Plan %U: constant %d is a %.100s, not a tensor", plan_->name, i, Py_TYPE(t)->tp_name);
        throw PythonError();
      }
      write(integers(Ref(PyTuple_Pack(1, r)).get(), "the constants", false)[0], "the constants");
      plan_->constants[i] = reinterpret_cast<Tensor*>(Py_NewRef(t));
      plan_->n_constants = i + 1;
    }
  }

  // -- instructions --

  const int* keep(std::vector<int> list) {
    plan_->lists->push_back(std::move(list));
    return plan_->lists->back().data();
  }

  void add_instruction(Instruction& at, int index, PyObject* given) {
    const char* kind;
    PyObject *payload, *inputs, *outputs, *label;
    if (!PyTuple_Check(given) || !PyArg_ParseTuple(given, "sOOOO", &kind, &payload, &inputs, &outputs, &label)) {
      PyErr_Clear();
      wrong(plan_, "instruction ", index, " is not (kind, payload, inputs, outputs, label)");
    }
    at.label = Py_NewRef(label);
    const std::string what = text("instruction ", index, " (", kind, ")");
    std::vector<int> in = integers(inputs, what.c_str(), false);
    for (int& r : in) r = read(r, what.c_str());
    const std::vector<int> out = integers(outputs, what.c_str(), true);
    at.n_in = static_cast<int>(in.size());
    at.n_out = static_cast<int>(out.size());
    at.in = keep(std::move(in));
    at.first_out = next_;
    for (const int r : out) write(r, what.c_str());
    plan_->n_arguments = std::max(plan_->n_arguments, at.n_in);

    const std::string k = kind;
    if (k == "op") add_op(at, what, payload);
    else if (k == "call") add_plans(at, what, InstructionKind::kCall, payload, 0);
    else if (k == "if") add_plans(at, what, InstructionKind::kIf, payload, 1);
    else if (k == "case") add_plans(at, what, InstructionKind::kCase, payload, 1);
    else if (k == "while") add_while(at, what, payload);
    else if (k == "python") add_python(at, what, payload);
    else if (k == "fused") add_fused(at, payload);
    else wrong(plan_, what, ": no such kind of instruction");
  }

  void add_op(Instruction& at, const std::string& what, PyObject* payload) {
    PyObject *row, *attrs, *sizes;
    if (!PyTuple_Check(payload) || !PyArg_ParseTuple(payload, "OOO", &row, &attrs, &sizes) || !is_op(row) ||
        !PyDict_Check(attrs)) {
      PyErr_Clear();
      wrong(plan_, what, ": the payload is not (row, attrs, list sizes)");
    }
    at.kind = InstructionKind::kOp;
    at.op = reinterpret_cast<OpDef*>(Py_NewRef(row));
    auto& p = *(at.payload = new OpPayload);
    add_attrs(at, what, attrs);
    if (sizes != Py_None) p.list_sizes = sizes_of(what, sizes);
    int64_t lists = 0, n_in = 0, n_out = 0;
    for (const Arg& a : *at.op->inputs) {
      if (!a.list) ++n_in;
      else if (lists < static_cast<int64_t>(p.list_sizes.size())) n_in += p.list_sizes[static_cast<size_t>(lists++)];
      else wrong(plan_, what, ": ", *at.op->name, " has no size for list '", py_str(a.name), "'");
    }
    for (const Arg& o : *at.op->outputs) {
      const int64_t n = !o.list ? 1 : o.count_attr >= 0 ? p.attrs[o.count_attr].i : p.list_sizes.empty() ? 0 : p.list_sizes[0];
      if (n < 0 || n > kMaxRegisters) wrong(plan_, what, ": a list of ", n, " outputs");
      p.out_sizes.push_back(static_cast<int>(n));
      n_out += n;
    }
    if (n_in != at.n_in || lists != static_cast<int64_t>(p.list_sizes.size())) {
      wrong(plan_, what, ": ", *at.op->name, " takes ", n_in, " inputs, ", at.n_in, " were given");
    }
    if (n_out != at.n_out) wrong(plan_, what, ": ", *at.op->name, " has ", n_out, " outputs, ", at.n_out, " were given");
    plan_->dtypes->emplace_back(static_cast<size_t>(at.n_in), DType::kInvalid);
    at.seen = plan_->dtypes->back().data();
  }

  std::vector<int> sizes_of(const std::string& what, PyObject* sizes) {
    const Ref all(PySequence_Tuple(sizes));
    std::vector<int> out;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all.get()); ++i) {
      const long n = PyLong_AsLong(PyTuple_GET_ITEM(all.get(), i));
      if (n < 0 && PyErr_Occurred()) throw PythonError();
      if (n < 0 || n > kMaxRegisters) wrong(plan_, what, ": a list of ", n, " inputs");
      out.push_back(static_cast<int>(n));
    }
    return out;
  }

  void add_attrs(Instruction& at, const std::string& what, PyObject* given) {
    OpPayload& p = *at.payload;
    const auto& specs = *at.op->attrs;
    Py_ssize_t used = 0;
    for (size_t i = 0; i < specs.size(); ++i) {
      const AttrSpec& spec = specs[i];
      PyObject* value = PyDict_GetItemWithError(given, spec.name);
      if (!value && PyErr_Occurred()) throw PythonError();
      used += value != nullptr;
      if (value == Py_None && !spec.required && spec.object != Py_None) value = nullptr;
      if (!value) {
        if (spec.required) wrong(plan_, what, ": ", *at.op->name, " misses attr '", py_str(spec.name), "'");
        p.attrs[i] = at.op->defaults[i];
        continue;
      }
      p.attr_objects[i] = Py_NewRef(value);
      try {
        parse_attr(value, at.op, spec, &p.attrs[i], &p.arena);
      } catch (const Error& e) {
        set_python_error(e, at.op);
        throw PythonError();
      }
    }
    if (used != PyDict_GET_SIZE(given)) {
      wrong(plan_, what, ": ", *at.op->name, " does not have all of the attrs ", py_repr(given));
    }
    at.attrs = p.attrs;
  }

  void add_plan(Instruction& at, const std::string& what, PyObject* o, int n_in) {
    if (!is_plan(o)) wrong(plan_, what, ": ", py_repr(o), " is not a Plan");
    at.plans->push_back(reinterpret_cast<Plan*>(Py_NewRef(o)));
    const Plan* p = at.plans->back();
    if (p->n_in != n_in) wrong(plan_, what, ": ", py_str(p->name), " takes ", p->n_in, " arguments, ", n_in, " were given");
  }

  void check_results(const std::string& what, const Plan* p, int n) {
    if (p->n_out != n) wrong(plan_, what, ": ", py_str(p->name), " returns ", p->n_out, " values instead of ", n);
  }

  void add_plans(Instruction& at, const std::string& what, InstructionKind kind, PyObject* payload, int control) {
    at.kind = kind;
    at.plans = new std::vector<Plan*>;
    if (at.n_in < control) wrong(plan_, what, ": an input that selects the branch is missing");
    if (kind == InstructionKind::kCall) {
      add_plan(at, what, payload, at.n_in);
    } else {
      if (!PyTuple_Check(payload) && !PyList_Check(payload)) wrong(plan_, what, ": the payload is not a list of plans");
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(payload); ++i) {
        add_plan(at, what, PySequence_Fast_GET_ITEM(payload, i), at.n_in - control);
      }
    }
    if (at.plans->empty() || (kind == InstructionKind::kIf && at.plans->size() != 2)) {
      wrong(plan_, what, ": ", at.plans->size(), " branches");
    }
    for (const Plan* p : *at.plans) check_results(what, p, at.n_out);
  }

  void add_while(Instruction& at, const std::string& what, PyObject* payload) {
    PyObject *cond, *body;
    if (!PyTuple_Check(payload) || !PyArg_ParseTuple(payload, "OOi", &cond, &body, &at.n_vars)) {
      PyErr_Clear();
      wrong(plan_, what, ": the payload is not (cond plan, body plan, number of variables)");
    }
    at.kind = InstructionKind::kWhile;
    at.plans = new std::vector<Plan*>;
    if (at.n_vars < 0 || at.n_vars > at.n_in || at.n_vars != at.n_out) {
      wrong(plan_, what, ": ", at.n_vars, " loop variables, with ", at.n_in, " inputs and ", at.n_out, " outputs");
    }
    add_plan(at, what, cond, at.n_in);
    add_plan(at, what, body, at.n_in);
    check_results(what, (*at.plans)[0], 1);
    check_results(what, (*at.plans)[1], at.n_vars);
    at.scalars = new_scalar_loop();
  }

  void add_python(Instruction& at, const std::string& what, PyObject* payload) {
    at.kind = InstructionKind::kPython;
    if (!PyCallable_Check(payload)) wrong(plan_, what, ": ", py_repr(payload), " is not callable");
    at.callable = Py_NewRef(payload);
  }

  void add_fused(Instruction& at, PyObject* payload) {
    at.kind = InstructionKind::kFused;
    at.fused = parse_fused(payload, at.n_in, at.n_out);
  }

  // -- lifetimes --

  void find_last_uses() {
    const auto n = static_cast<int>(plan_->instructions->size());
    std::vector<int> last(static_cast<size_t>(next_), -1);
    for (int i = 0; i < n; ++i) {
      const Instruction& at = (*plan_->instructions)[static_cast<size_t>(i)];
      for (int k = 0; k < at.n_in; ++k) last[static_cast<size_t>(at.in[k])] = i;
    }
    for (const auto& r : *plan_->results) last[static_cast<size_t>(r.from)] = n;
    for (int r = 0; r < plan_->n_constants; ++r) last[static_cast<size_t>(r)] = n;
    for (int r = plan_->n_constants; r < plan_->n_constants + plan_->n_in; ++r) {
      if (last[static_cast<size_t>(r)] < 0) plan_->unused->push_back(r);
    }
    for (int i = 0; i < n; ++i) set_lifetimes((*plan_->instructions)[static_cast<size_t>(i)], i, last);
    std::vector<bool> moved(static_cast<size_t>(next_));
    for (size_t k = plan_->results->size(); k-- > 0;) {  // the last mention takes the reference
      auto& r = (*plan_->results)[k];
      r.move = r.from >= plan_->n_constants && !moved[static_cast<size_t>(r.from)];
      moved[static_cast<size_t>(r.from)] = true;
    }
  }

  void set_lifetimes(Instruction& at, int index, const std::vector<int>& last) {
    std::vector<int> freed;
    bool* dies = new bool[static_cast<size_t>(at.n_in) + 1]();
    plan_->flags->emplace_back(dies);
    at.dies = dies;
    uses_.resize(last.size());
    for (int k = 0; k < at.n_in; ++k) ++uses_[static_cast<size_t>(at.in[k])];
    for (int k = 0; k < at.n_in; ++k) {
      const auto r = static_cast<size_t>(at.in[k]);
      if (last[r] != index || uses_[r] == 0) continue;
      freed.push_back(at.in[k]);
      if (uses_[r] == 1) {
        dies[k] = true;
        if (k < 64) at.dying |= uint64_t{1} << k;
      }
      uses_[r] = 0;
    }
    for (int k = 0; k < at.n_in; ++k) uses_[static_cast<size_t>(at.in[k])] = 0;
    for (int r = at.first_out; r < at.first_out + at.n_out; ++r) {
      if (last[static_cast<size_t>(r)] < 0) freed.push_back(r);
    }
    at.n_freed = static_cast<int>(freed.size());
    at.freed = keep(std::move(freed));
  }

  Plan* plan_;
  int next_ = 0;
  std::vector<int> slot_of_;  // of each register as given; -1: not written yet
  std::vector<int> uses_;
};

}  // namespace

void build_plan(Plan* plan, PyObject* registers, PyObject* inputs, PyObject* constants, PyObject* instructions,
                PyObject* outputs) {
  Builder(plan, registers).build(inputs, constants, instructions, outputs);
}

}  // namespace tapeflow
