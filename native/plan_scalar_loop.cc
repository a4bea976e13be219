#include "plan_scalar_loop.h"

#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/loops.h"
#include "owned_tensor.h"
#include "plan.h"

namespace tapeflow {

namespace {

constexpr int kMaxCells = 256, kMaxSteps = 512, kMaxDepth = 16;

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
    // Of as many bytes as were written: a longer load would wait for the store to reach the cache.
    const StepKind kind = item_size(dtype(from)) == 4 ? StepKind::kCopy4 : StepKind::kCopy;
    if (from != to) emit({kind, 1, {static_cast<uint16_t>(from)}, static_cast<uint16_t>(to)});
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
    s.row = loops->rows[0];
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
    copy(plan((*at.plans)[1], args, depth + 1), variables);
    Step back{StepKind::kBack};
    back.target = top;
    emit(back);
    jump_here(unless);
    return variables;
  }

  ScalarProgram& to_;
};

// Whether the loop came to its end. Not where a step refused: the outermost variables are then those of the turn before,
// as a turn writes them last.
bool run_steps(const Step* steps, Cell* cells, void (*tick)()) {
  for (const Step* at = steps;;) {
    const void* in[kMaxLoopInputs] = {cells + at->in[0], cells + at->in[1], cells + at->in[2]};
    switch (at->kind) {
      case StepKind::kCheckedRow:
        if (at->refuses(in[1], 1)) return false;
        [[fallthrough]];
      case StepKind::kRow:
        at->row(in, cells + at->out, 1, at->attrs);
        ++at;
        break;
      case StepKind::kCopy4:
        std::memcpy(cells + at->out, in[0], 4);
        ++at;
        break;
      case StepKind::kCopy:
        cells[at->out] = cells[at->in[0]];
        ++at;
        break;
      case StepKind::kUnless:
        at = *static_cast<const bool*>(in[0]) ? at + 1 : steps + at->target;
        break;
      case StepKind::kBack:
        tick();
        [[fallthrough]];
      case StepKind::kJump:
        at = steps + at->target;
        break;
      case StepKind::kEnd:
        return true;
    }
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
  const bool ended = run_steps(program.steps.data(), cells, tick);
  for (size_t i = 0; i < n_vars; ++i) {
    ShapeRef scalar(Shape::scalar());
    Tensor* t = new_tensor(dtypes[i], scalar.get());
    std::memcpy(t->data, cells[i].bytes, static_cast<size_t>(t->bytes()));
    Py_SETREF(variables[i], t);
  }
  return ended;
}

}  // namespace tapeflow
