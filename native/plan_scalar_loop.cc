#include "plan_scalar_loop.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/loops.h"
#include "owned_tensor.h"
#include "plan.h"

namespace tapeflow {

namespace {

constexpr int kMaxCells = 256, kMaxSteps = 512, kMaxDepth = 16;
constexpr size_t kFewSteps = 32;  // lie on the stack while they run

struct alignas(8) Cell { char bytes[8]; };

enum class StepKind : uint8_t { kRow, kCheckedRow, kCopy4, kCopy, kUnless, kJump, kBack, kEnd };

struct Step {
  StepKind kind;
  uint8_t n_in = 0;
  uint16_t in[kMaxLoopInputs] = {};
  uint16_t out = 0;
  int target = 0;             // of a jump
  Row row = nullptr;
  const Attr* attrs = nullptr;
  bool (*refuses)(const void*, int64_t) = nullptr;
};

}  // namespace

namespace {

struct ScalarProgram {
  std::vector<Step> steps;
  std::vector<Cell> cells;    // at the start: constants
  std::vector<DType> dtypes;  // of the cells; inputs come first
};

}  // namespace

struct ScalarLoop {
  std::once_flag compiled;
  bool usable = false;
  ScalarProgram program;
};

namespace {

struct NotScalar {};  // thrown by the compiler

bool fits_cell(DType d) { return item_size(d) > 0 && item_size(d) <= static_cast<int>(sizeof(Cell)); }
bool is_scalar(const Tensor* t) { return t->rank() == 0 && t->data && fits_cell(t->dtype); }

// Values of plans are named by their cells. A cell but for a loop's variable, or the result of a branch, is written by
// one step.
class Compiler {
 public:
  explicit Compiler(ScalarProgram* to) : to_(*to) {}

  void compile(const Instruction& at, const DType* inputs) {
    std::vector<int> all;
    for (int i = 0; i < at.n_in; ++i) all.push_back(new_cell(inputs[i]));
    loop(at, all, 0);
    emit({StepKind::kEnd});
  }

 private:
  using Cells = std::vector<int>;

  int new_cell(DType d) {
    if (!fits_cell(d) || to_.cells.size() >= kMaxCells) throw NotScalar();
    to_.cells.push_back({});
    to_.dtypes.push_back(d);
    return static_cast<int>(to_.cells.size()) - 1;
  }
  DType dtype(int cell) const { return to_.dtypes[static_cast<size_t>(cell)]; }
  int here() const { return static_cast<int>(to_.steps.size()); }

  int emit(const Step& s) {
    if (here() >= kMaxSteps) throw NotScalar();
    to_.steps.push_back(s);
    return here() - 1;
  }
  int emit_unless(int condition) {
    if (dtype(condition) != DType::kBool) throw NotScalar();
    return emit({StepKind::kUnless, 1, {static_cast<uint16_t>(condition)}});
  }
  void jump_here(int step) { to_.steps[static_cast<size_t>(step)].target = here(); }

  // All at once: what is written may be what is read.
  void copy(const Cells& from, const Cells& to) {
    Cells source = from;
    for (size_t i = 0; i < to.size(); ++i) {
      if (dtype(from[i]) != dtype(to[i])) throw NotScalar();
      bool overwritten = false;
      for (size_t k = 0; k < i; ++k) overwritten = overwritten || (to[k] == from[i] && from[k] != to[k]);
      if (!overwritten) continue;
      source[i] = new_cell(dtype(from[i]));
      copy_one(from[i], source[i]);
    }
    for (size_t i = 0; i < to.size(); ++i) copy_one(source[i], to[i]);
  }
  void copy_one(int from, int to) {
    if (from != to) emit(copying(from, to));
  }
  Step copying(int from, int to) const {
    // Of as many bytes as were written: a longer load would wait for the store to reach the cache.
    const StepKind kind = item_size(dtype(from)) == 4 ? StepKind::kCopy4 : StepKind::kCopy;
    return {kind, 1, {static_cast<uint16_t>(from)}, static_cast<uint16_t>(to)};
  }

  // The cells of the results.
  Cells plan(const Plan* p, const Cells& args, int depth) {
    if (depth > kMaxDepth) throw NotScalar();
    Cells at(static_cast<size_t>(p->n_registers), -1);
    for (int i = 0; i < p->n_constants; ++i) {
      const Tensor* t = p->constants[i];
      if (!is_scalar(t)) throw NotScalar();
      const int cell = at[static_cast<size_t>(i)] = new_cell(t->dtype);
      std::memcpy(to_.cells[static_cast<size_t>(cell)].bytes, t->data, static_cast<size_t>(t->bytes()));
    }
    std::copy(args.begin(), args.end(), at.begin() + p->n_constants);
    for (const Instruction& each : *p->instructions) {
      Cells in;
      for (int i = 0; i < each.n_in; ++i) in.push_back(at[static_cast<size_t>(each.in[i])]);
      const Cells out = instruction(each, in, depth);
      std::copy(out.begin(), out.end(), at.begin() + each.first_out);
    }
    Cells results;
    for (const Plan::Result& r : *p->results) results.push_back(at[static_cast<size_t>(r.from)]);
    return results;
  }

  Cells instruction(const Instruction& at, const Cells& in, int depth) {
    switch (at.kind) {
      case InstructionKind::kOp: return op(at, in);
      case InstructionKind::kCall: return plan((*at.plans)[0], in, depth + 1);
      case InstructionKind::kFused: return plan(fallback_of(at.fused), in, depth + 1);
      case InstructionKind::kIf: return branches(at, in, depth + 1);
      case InstructionKind::kWhile: return loop(at, in, depth + 1);
      default: throw NotScalar();
    }
  }

  Cells op(const Instruction& at, const Cells& in) {
    DType dtypes[kMaxLoopInputs];
    if (at.n_in < 1 || at.n_in > kMaxLoopInputs || at.n_out != 1) throw NotScalar();
    Step s{StepKind::kRow, static_cast<uint8_t>(at.n_in)};
    for (int i = 0; i < at.n_in; ++i) {
      s.in[i] = static_cast<uint16_t>(in[static_cast<size_t>(i)]);
      dtypes[i] = dtype(s.in[i]);
    }
    const Loops* loops = loops_for(at.op, at.attrs, dtypes, at.n_in);
    if (!loops) throw NotScalar();
    s.row = loops->single ? loops->single : loops->rows[0];
    s.attrs = at.attrs;
    s.refuses = loops->refuses;
    if (s.refuses) s.kind = StepKind::kCheckedRow;
    s.out = static_cast<uint16_t>(new_cell(loops->out));
    emit(s);
    return {s.out};
  }

  Cells branches(const Instruction& at, const Cells& in, int depth) {
    const Cells args(in.begin() + 1, in.end());
    const int unless = emit_unless(in[0]);
    const Cells then = plan((*at.plans)[0], args, depth);
    Cells out;
    for (const int cell : then) out.push_back(new_cell(dtype(cell)));
    copy(then, out);
    const int jump = emit({StepKind::kJump});
    jump_here(unless);
    copy(plan((*at.plans)[1], args, depth), out);
    jump_here(jump);
    return out;
  }

  Cells loop(const Instruction& at, const Cells& in, int depth) {
    const Cells first(in.begin(), in.begin() + at.n_vars);
    Cells args = in;
    for (int i = 0; i < at.n_vars && depth > 0; ++i) args[static_cast<size_t>(i)] = new_cell(dtype(first[static_cast<size_t>(i)]));
    const Cells variables(args.begin(), args.begin() + at.n_vars);
    copy(first, variables);
    const int top = here();
    const int unless = emit_unless(plan((*at.plans)[0], args, depth + 1)[0]);
    const int body = here();
    Cells results = plan((*at.plans)[1], args, depth + 1);
    copy_early(body, depth == 0, variables, &results);
    write_directly(body, depth == 0, variables, &results);
    copy(results, variables);
    Step back{StepKind::kBack};
    back.target = top;
    emit(back);
    jump_here(unless);
    return variables;
  }

  // The results of a loop's body become its variables when the turn ends, by copies. Two kinds of copies are saved below.
  // Where a step refuses, the variables of the outermost loop must be those of the turn before: there nothing may be
  // written before the last step that can refuse.

  static bool reads(const Step& s, int cell) { return std::find(s.in, s.in + s.n_in, cell) != s.in + s.n_in; }
  static bool writes(const Step& s, int cell) {
    return s.out == cell && (is_row(s) || s.kind == StepKind::kCopy4 || s.kind == StepKind::kCopy);
  }
  static bool is_row(const Step& s) { return s.kind == StepKind::kRow || s.kind == StepKind::kCheckedRow; }
  bool read_from(int step, int cell) const {
    return std::any_of(to_.steps.begin() + step, to_.steps.end(), [=](const Step& s) { return reads(s, cell); });
  }
  bool may_refuse_from(int step) const {
    return std::any_of(to_.steps.begin() + step, to_.steps.end(), [](const Step& s) { return s.kind == StepKind::kCheckedRow; });
  }

  // A variable that nothing in the body reads becomes what another one was as the turn begins, so that the other one may be
  // written before the turn ends.
  void copy_early(int body, bool outermost, const Cells& variables, Cells* results) {
    if (outermost && may_refuse_from(body)) return;
    for (size_t i = 0; i < variables.size(); ++i) {
      const int from = (*results)[i], to = variables[i];
      const bool of_variable = from != to && std::count(variables.begin(), variables.end(), from) > 0;
      if (!of_variable || std::count(results->begin(), results->end(), to) > 0 || read_from(body, to)) continue;
      for (Step& s : to_.steps) s.target += s.target >= body;
      to_.steps.insert(to_.steps.begin() + body, copying(from, to));
      (*results)[i] = to;
    }
  }

  // A step whose result becomes a variable writes it, where no later step needs what the variable was.
  void write_directly(int body, bool outermost, const Cells& variables, Cells* results) {
    for (size_t i = 0; i < variables.size(); ++i) {
      const int from = (*results)[i], to = variables[i];
      if (from == to || std::count(results->begin(), results->end(), from) > 1) continue;
      if (std::count(results->begin(), results->end(), to) > 0) continue;
      const auto writer = [=](const Step& s) { return writes(s, from); };
      const auto end = to_.steps.end(), at = std::find_if(to_.steps.begin(), end, writer);
      if (at == end || at - to_.steps.begin() < body || !is_row(*at) || std::find_if(at + 1, end, writer) != end) continue;
      const int next = static_cast<int>(at - to_.steps.begin()) + 1;
      if (read_from(next, to) || (outermost && may_refuse_from(next))) continue;
      at->out = static_cast<uint16_t>(to);
      for (auto s = at + 1; s != end; ++s) std::replace(s->in, s->in + s->n_in, static_cast<uint16_t>(from), static_cast<uint16_t>(to));
      (*results)[i] = to;
    }
  }

  ScalarProgram& to_;
};

// A step of one run: where its cells are.
struct BoundStep {
  const void* code;  // what computes its kind, in run_steps
  const void* in[kMaxLoopInputs];
  Cell* out;
  const BoundStep* target;
  Row row;
  const Attr* attrs;
  bool (*refuses)(const void*, int64_t);
};

// Whether the loop came to its end. Not where a step refused: the outermost variables are then those of the turn before,
// as a turn writes them last. Each kind of step jumps to the next one's by itself, which processors predict better than
// one jump for all. Without steps: the codes of the kinds.
bool run_steps(const BoundStep* at, void (*tick)(), const void* const** codes = nullptr) {
  static const void* const all[] = {&&row, &&checked_row, &&copy4, &&copy, &&unless, &&jump, &&back, &&end};  // as StepKind
  if (codes) {
    *codes = all;
    return true;
  }
  goto *at->code;
checked_row:
  if (at->refuses(at->in[1], 1)) return false;
row:
  at->row(at->in, at->out, 1, at->attrs);
  ++at;
  goto *at->code;
copy4:
  std::memcpy(at->out, at->in[0], 4);
  ++at;
  goto *at->code;
copy:
  std::memcpy(at->out, at->in[0], sizeof(Cell));
  ++at;
  goto *at->code;
unless:
  at = *static_cast<const bool*>(at->in[0]) ? at + 1 : at->target;
  goto *at->code;
back:
  tick();
jump:
  at = at->target;
  goto *at->code;
end:
  return true;
}

void bind(const std::vector<Step>& steps, Cell* cells, BoundStep* to) {
  const void* const* codes;
  run_steps(nullptr, nullptr, &codes);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    to[i] = {codes[static_cast<int>(s.kind)], {cells + s.in[0], cells + s.in[1], cells + s.in[2]}, cells + s.out, to + s.target, s.row,
             s.attrs, s.refuses};
  }
}

}  // namespace

ScalarLoop* new_scalar_loop() { return new ScalarLoop; }
void free_scalar_loop(ScalarLoop* loop) { delete loop; }

bool run_scalar_loop(ScalarLoop* loop, const Instruction& at, Tensor** variables, Tensor* const* registers, void (*tick)()) {
  const auto n_in = static_cast<size_t>(at.n_in), n_vars = static_cast<size_t>(at.n_vars);
  if (n_in > kMaxCells) return false;
  const auto input = [&](size_t i) { return i < n_vars ? variables[i] : registers[at.in[i]]; };
  DType dtypes[kMaxCells];
  for (size_t i = 0; i < n_in; ++i) {
    if (!is_scalar(input(i))) return false;
    dtypes[i] = input(i)->dtype;
  }
  std::call_once(loop->compiled, [&] {
    ScalarProgram program;  // where memory runs out on the way, the next run begins anew
    try {
      Compiler(&program).compile(at, dtypes);
    } catch (const NotScalar&) {
      return;
    }
    loop->program = std::move(program);
    loop->usable = true;
  });
  const ScalarProgram& program = loop->program;
  if (!loop->usable || !std::equal(dtypes, dtypes + n_in, program.dtypes.begin())) return false;
  Cell cells[kMaxCells];
  std::memcpy(cells, program.cells.data(), program.cells.size() * sizeof(Cell));
  for (size_t i = 0; i < n_in; ++i) std::memcpy(cells[i].bytes, input(i)->data, static_cast<size_t>(input(i)->bytes()));
  BoundStep few[kFewSteps];
  std::unique_ptr<BoundStep[]> many;
  if (program.steps.size() > kFewSteps) many.reset(new BoundStep[program.steps.size()]);
  BoundStep* const steps = many ? many.get() : few;
  bind(program.steps, cells, steps);
  const bool ended = run_steps(steps, tick);
  for (size_t i = 0; i < n_vars; ++i) {
    ShapeRef scalar(Shape::scalar());
    Tensor* t = new_tensor(dtypes[i], scalar.get());
    std::memcpy(t->data, cells[i].bytes, static_cast<size_t>(t->bytes()));
    Py_SETREF(variables[i], t);
  }
  return ended;
}

}  // namespace tapeflow
