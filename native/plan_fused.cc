#include "plan_fused.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "attrs.h"
#include "kernels/loops.h"
#include "plan.h"
#include "ref.h"
#include "stack.h"
#include "threads.h"

namespace tapeflow {

namespace {

constexpr int kTileBytes = 4096;   // of one value; a program has a dozen of them
constexpr int kMaxTiles = 32;      // values at a time: 128 KB of stack
constexpr int kMaxInputs = 64;
constexpr int kMaxSteps = 128;

enum class Reduction : uint8_t { kNone, kSum, kMean, kMax, kMin };

struct Step {
  const Loops* loops;
  OpPayload* payload;          // owned
  int n_in;
  int operands[kMaxLoopInputs];
  int tile;                    // where the result lies, unless it is an output
  int output;                  // the output that it is, or -1
  bool live = true;            // whether anything is made of its result
};

struct Output {
  int value;
  Reduction reduction;
  Fold fold;                   // null: none
  DType dtype;
};

}  // namespace

struct FusedProgram {
  std::vector<DType> inputs;
  std::vector<Step> steps;
  std::vector<Output> outputs;
  int n_tiles = 0, n_folds = 0;
  int largest_item = 1;
  double ns = 0;               // of one element
  Plan* fallback = nullptr;    // owned
  std::vector<PyObject*> rows; // owned

  int n_in() const { return static_cast<int>(inputs.size()); }
  DType dtype(int value) const {
    return value < n_in() ? inputs[static_cast<size_t>(value)] : steps[static_cast<size_t>(value - n_in())].loops->out;
  }
  ~FusedProgram() {
    for (Step& s : steps) {
      if (!s.payload) continue;
      for (PyObject* o : s.payload->attr_objects) Py_XDECREF(o);
      delete s.payload;
    }
    for (PyObject* row : rows) Py_DECREF(row);
    Py_XDECREF(reinterpret_cast<PyObject*>(fallback));
  }
};

namespace {

// -- parsing ---------------------------------------------------------------------------------------

template <typename... Parts> [[noreturn]] void wrong(const Parts&... parts) {
  PyErr_SetString(PyExc_ValueError, text("fused: ", parts...).c_str());
  throw PythonError();
}

int number(PyObject* o, int low, int high, const char* what) {
  const long v = PyLong_AsLong(o);
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  if (v < low || v >= high) wrong(what, " ", v, " is not in [", low, ", ", high, ")");
  return static_cast<int>(v);
}

// The operand whose dtype selects the loops.
int key_operand(const OpDef* op) {
  for (size_t i = 0; i < op->inputs->size(); ++i) {
    if ((*op->inputs)[i].type_var >= 0) return static_cast<int>(i);
  }
  return 0;
}

void parse_step_attrs(const OpDef* op, PyObject* given, Step* step) {
  step->payload = new OpPayload;
  OpPayload& p = *step->payload;
  Py_ssize_t used = 0;
  for (size_t i = 0; i < op->attrs->size(); ++i) {
    const AttrSpec& spec = (*op->attrs)[i];
    PyObject* value = PyDict_GetItemWithError(given, spec.name);
    if (!value && PyErr_Occurred()) throw PythonError();
    used += value != nullptr;
    if (!value) {
      if (spec.required) wrong(*op->name, " misses attr '", py_str(spec.name), "'");
      p.attrs[i] = op->defaults[i];
      continue;
    }
    p.attr_objects[i] = Py_NewRef(value);
    try {
      parse_attr(value, op, spec, &p.attrs[i], &p.arena);
    } catch (const Error& e) {
      set_python_error(e, op);
      throw PythonError();
    }
  }
  if (used != PyDict_GET_SIZE(given)) wrong(*op->name, " does not have all of the attrs ", py_repr(given));
}

void parse_step(PyObject* given, FusedProgram* f) {
  PyObject *row, *attrs, *list;
  if (!PyArg_ParseTuple(given, "OOO", &row, &attrs, &list)) throw PythonError();
  if (!is_op(row) || !PyDict_Check(attrs) || !(PyTuple_Check(list) || PyList_Check(list))) {
    wrong(py_repr(given), " is not (row, attrs, operands)");
  }
  const Ref operands(PySequence_Tuple(list));
  const auto* op = reinterpret_cast<OpDef*>(row);
  f->rows.push_back(Py_NewRef(row));
  const int known = f->n_in() + static_cast<int>(f->steps.size());
  f->steps.push_back(Step{nullptr, nullptr, static_cast<int>(PyTuple_GET_SIZE(operands.get())), {}, -1, -1});
  Step& s = f->steps.back();
  if (s.n_in < 1 || s.n_in > kMaxLoopInputs || s.n_in != static_cast<int>(op->inputs->size())) {
    wrong(*op->name, " was given ", s.n_in, " operands");
  }
  for (int i = 0; i < s.n_in; ++i) s.operands[i] = number(PyTuple_GET_ITEM(operands.get(), i), 0, known, "operand");
  parse_step_attrs(op, attrs, &s);
  DType operand_dtypes[kMaxLoopInputs];
  for (int i = 0; i < s.n_in; ++i) operand_dtypes[i] = f->dtype(s.operands[i]);
  s.loops = loops_for(op, s.payload->attrs, operand_dtypes, s.n_in);
  if (!s.loops) wrong(*op->name, " has no loops for operands of these dtypes");
  if (s.loops->refuses && s.operands[1] >= f->n_in()) wrong("the second operand of ", *op->name, " is no input");
  f->ns += s.loops->ns;
}

// A sum of truth values that were made numbers counts them as they are.
void count_truths(const FusedProgram& f, Output* o) {
  if (o->value < f.n_in()) return;
  const Step& s = f.steps[static_cast<size_t>(o->value - f.n_in())];
  if (s.loops != loops_of(text("Cast ", dtype_name(o->dtype)), DType::kBool)) return;
  o->value = s.operands[0];
  o->fold = fold_of("Count", DType::kBool);
}

void parse_output(PyObject* given, FusedProgram* f) {
  PyObject *value, *reduction;
  if (!PyArg_ParseTuple(given, "OO", &value, &reduction)) throw PythonError();
  Output o{number(value, 0, f->n_in() + static_cast<int>(f->steps.size()), "output"), Reduction::kNone, nullptr, DType::kInvalid};
  o.dtype = f->dtype(o.value);
  if (reduction == Py_None) {
    if (o.value < f->n_in()) wrong("input ", o.value, " is an output");
    Step& s = f->steps[static_cast<size_t>(o.value - f->n_in())];
    if (s.output >= 0) wrong("value ", o.value, " is an output twice");
    s.output = static_cast<int>(f->outputs.size());
  } else {
    const std::string name = py_str(reduction);
    o.reduction = name == "Sum" ? Reduction::kSum : name == "Mean" ? Reduction::kMean : name == "Max" ? Reduction::kMax
                  : name == "Min" ? Reduction::kMin : Reduction::kNone;
    if (o.reduction == Reduction::kNone) wrong("no such reduction: ", name);
    const bool integer = o.dtype == DType::kInt32 || o.dtype == DType::kInt64;
    if (integer && o.reduction == Reduction::kMean) wrong("a Mean of integers");
    o.fold = fold_of(o.reduction == Reduction::kMean ? "Sum" : name, o.dtype);
    if (!o.fold) wrong(name, " of ", dtype_name(o.dtype));
    if (integer && o.reduction == Reduction::kSum) count_truths(*f, &o);
    ++f->n_folds;
    f->ns += 0.1;
  }
  f->outputs.push_back(o);
}

void find_live(FusedProgram* f) {
  const int n_in = f->n_in(), n = static_cast<int>(f->steps.size());
  std::vector<bool> used(static_cast<size_t>(n_in + n), false);
  for (const Output& o : f->outputs) used[static_cast<size_t>(o.value)] = true;
  for (int j = n - 1; j >= 0; --j) {
    Step& s = f->steps[static_cast<size_t>(j)];
    s.live = used[static_cast<size_t>(n_in + j)];
    for (int i = 0; s.live && i < s.n_in; ++i) used[static_cast<size_t>(s.operands[i])] = true;
  }
}

// Tiles are used again after a value's last use; in place where the sizes are the same.
void assign_tiles(FusedProgram* f) {
  const int n_in = f->n_in(), n = static_cast<int>(f->steps.size());
  std::vector<int> last(static_cast<size_t>(n_in + n), -1);
  for (int j = 0; j < n; ++j) {
    const Step& s = f->steps[static_cast<size_t>(j)];
    if (!s.live) continue;
    for (int i = 0; i < s.n_in; ++i) last[static_cast<size_t>(s.operands[i])] = j;
  }
  for (const Output& o : f->outputs) last[static_cast<size_t>(o.value)] = n;
  std::vector<int> free_tiles;
  for (int j = 0; j < n; ++j) {
    Step& s = f->steps[static_cast<size_t>(j)];
    if (!s.live) continue;
    std::vector<int> after;
    for (int i = 0; i < s.n_in; ++i) {
      const int v = s.operands[i];
      if (v < n_in || last[static_cast<size_t>(v)] != j) continue;
      last[static_cast<size_t>(v)] = -1;
      const int tile = f->steps[static_cast<size_t>(v - n_in)].tile;
      if (tile < 0) continue;
      (item_size(f->dtype(v)) == item_size(s.loops->out) ? free_tiles : after).push_back(tile);
    }
    if (s.output < 0) {
      if (free_tiles.empty()) free_tiles.push_back(f->n_tiles++);
      s.tile = free_tiles.back();
      free_tiles.pop_back();
    }
    free_tiles.insert(free_tiles.end(), after.begin(), after.end());
    if (s.output < 0 && last[static_cast<size_t>(n_in + j)] < 0) free_tiles.push_back(s.tile);
  }
}

// -- running ---------------------------------------------------------------------------------------

enum class Extent : uint8_t { kScalar, kPart, kFull };

// How an input lies under the whole.
struct Layout {
  Extent extent;
  int64_t period;   // kPart: element i is that of i % period
  int64_t inner;    // kPart, when period is 0: that of i / inner
};

bool lay_under(const Shape* part, const Shape* full, Layout* out) {
  if (part->same(full)) { *out = {Extent::kFull, 0, 0}; return true; }
  if (part->rank > full->rank) return false;
  if (part->size == 1) { *out = {Extent::kScalar, 0, 0}; return true; }
  int first = 0;
  while (first < part->rank && part->dims[first] == 1) ++first;
  const int shift = full->rank - part->rank;
  bool trailing = true;
  for (int i = first; i < part->rank; ++i) trailing = trailing && part->dims[i] == full->dims[i + shift];
  if (trailing) { *out = {Extent::kPart, part->size, 0}; return true; }
  if (shift > 0) return false;
  int end = part->rank;
  int64_t inner = 1;
  while (end > 0 && part->dims[end - 1] == 1) inner *= full->dims[--end];
  for (int i = 0; i < end; ++i) {
    if (part->dims[i] != full->dims[i]) return false;
  }
  *out = {Extent::kPart, 0, inner};
  return true;
}

template <typename T>
void lay_out_part(const Layout& l, const char* from, int64_t begin, int64_t n, char* to) {
  const T* x = reinterpret_cast<const T*>(from);
  T* y = reinterpret_cast<T*>(to);
  if (l.period > 0) {
    for (int64_t i = 0, at = begin % l.period; i < n; at = 0) {
      const int64_t run = std::min(l.period - at, n - i);
      std::memcpy(y + i, x + at, static_cast<size_t>(run) * sizeof(T));
      i += run;
    }
    return;
  }
  int64_t row = begin / l.inner, rest = l.inner - begin % l.inner;
  for (int64_t i = 0; i < n; ++row, rest = l.inner) {
    const int64_t end = std::min(n, i + rest);
    const T v = x[row];
    for (; i < end; ++i) y[i] = v;
  }
}

void lay_out_part(const Layout& l, const char* from, int item, int64_t begin, int64_t n, char* to) {
  switch (item) {
    case 1: return lay_out_part<uint8_t>(l, from, begin, n, to);
    case 4: return lay_out_part<uint32_t>(l, from, begin, n, to);
    default: return lay_out_part<uint64_t>(l, from, begin, n, to);
  }
}

class Run {
 public:
  Run(const FusedProgram& f, Tensor* const* in) : f_(f), in_(in), n_in_(f.n_in()) {}

  // Whether the inputs are such as the program serves.
  bool fits() {
    for (int i = 0; i < n_in_; ++i) {
      const Tensor* t = in_[i];
      if (t->dtype != f_.inputs[static_cast<size_t>(i)] || !t->data) return false;
      if (!whole_ || t->size() > whole_->size || (t->size() == whole_->size && t->rank() > whole_->rank)) whole_ = t->shape;
    }
    if (whole_->size == 0) return false;
    int tiles = f_.n_tiles;
    for (int i = 0; i < n_in_; ++i) {
      if (!lay_under(in_[i]->shape, whole_, &layouts_[i])) return false;
      extents_[i] = layouts_[i].extent;
      part_tiles_[i] = extents_[i] == Extent::kPart ? tiles++ : -1;
    }
    if (tiles > kMaxTiles) return false;
    int v = n_in_;
    for (const Step& s : f_.steps) {
      Extent e = Extent::kScalar;
      int single = 0;
      bool all_full = true;
      for (int i = 0; i < s.n_in; ++i) {
        const Extent o = extents_[s.operands[i]];
        e = std::max(e, o);
        single |= (o == Extent::kScalar) << i;
        all_full = all_full && o == Extent::kFull;
      }
      // An op that wants one shape gets the whole one; it has no rows for other patterns.
      const bool one_shape = s.n_in > 1 && !s.loops->rows[1];
      if (one_shape && !all_full) return false;
      if (s.loops->refuses && s.loops->refuses(in_[s.operands[1]]->data, in_[s.operands[1]]->size())) return false;
      patterns_[v - n_in_] = static_cast<uint8_t>(e == Extent::kScalar ? 0 : single);
      extents_[v++] = e;
    }
    for (const Output& o : f_.outputs) {
      if (extents_[o.value] != Extent::kFull) return false;
    }
    return true;
  }

  void run(uint64_t dying, Tensor** out) {
    for (size_t k = 0; k < f_.outputs.size(); ++k) {
      out[k] = make_output(f_.outputs[k], dying);
      results_[k] = out[k]->data;
    }
    run_scalars();
    tile_ = kTileBytes / f_.largest_item;
    for (int i = 0; i < n_in_; ++i) {  // whole periods in a tile need laying out but once
      const int64_t p = layouts_[i].period;
      if (extents_[i] == Extent::kPart && p > 0 && p <= tile_) { tile_ = tile_ / p * p; break; }
    }
    const int64_t n = whole_->size, n_tiles = (n + tile_ - 1) / tile_;
    std::unique_ptr<Folded[]> folds;
    Folded few[8];
    folds_ = few;
    const auto n_folds = static_cast<size_t>(n_tiles) * static_cast<size_t>(f_.n_folds);
    if (n_folds > 8) {
      folds.reset(new Folded[n_folds]);
      folds_ = folds.get();
    }
    const double work = static_cast<double>(n) * f_.ns;
    if (work < static_cast<double>(release_gil_ns)) {
      run_tiles(0, n_tiles);
    } else {
      ReleaseGil gil(static_cast<int64_t>(work));
      parallel_for(n_tiles, f_.ns * static_cast<double>(tile_), [this](int64_t begin, int64_t end) { run_tiles(begin, end); });
    }
    finish_folds(n_tiles, out);
  }

 private:
  Tensor* make_output(const Output& o, uint64_t dying) {
    if (o.reduction != Reduction::kNone) {
      ShapeRef scalar(Shape::scalar());
      return new_tensor(o.dtype, scalar.get());
    }
    // In the memory of an input: where nothing is read after the output is written.
    const bool last = f_.outputs.size() == 1 && o.value == n_in_ + static_cast<int>(f_.steps.size()) - 1;
    for (int i = 0; last && i < n_in_; ++i) {
      Tensor* t = in_[i];
      if ((dying >> i & 1) && t->unshared() && extents_[i] == Extent::kFull && item_size(t->dtype) == item_size(o.dtype) &&
          reuse_tensor(t, o.dtype)) {
        return t;
      }
    }
    return new_tensor(o.dtype, whole_);
  }

  // Steps on single elements only.
  void run_scalars() {
    const void* p[kMaxLoopInputs];
    for (size_t j = 0; j < f_.steps.size(); ++j) {
      const int v = n_in_ + static_cast<int>(j);
      if (extents_[v] != Extent::kScalar) continue;
      const Step& s = f_.steps[j];
      for (int i = 0; i < s.n_in; ++i) p[i] = scalar(s.operands[i]);
      s.loops->rows[0](p, scalars_[j], 1, s.payload->attrs);
    }
  }

  const void* scalar(int v) const { return v < n_in_ ? static_cast<const void*>(in_[v]->data) : scalars_[v - n_in_]; }

  void run_tiles(int64_t first, int64_t end) const {
    alignas(64) char space[kMaxTiles * kTileBytes];
    const void* values[kMaxInputs + kMaxSteps];
    int64_t phase[kMaxInputs];
    for (int i = 0; i < n_in_; ++i) {
      phase[i] = -1;
      values[i] = extents_[i] == Extent::kPart ? space + part_tiles_[i] * kTileBytes : in_[i]->data;
    }
    for (size_t j = 0; j < f_.steps.size(); ++j) {
      const Step& s = f_.steps[j];
      const int v = n_in_ + static_cast<int>(j);
      if (extents_[v] == Extent::kScalar) values[v] = scalars_[j];
      else if (s.live && s.output < 0) values[v] = space + s.tile * kTileBytes;
    }
    for (int64_t t = first; t < end; ++t) {
      const int64_t begin = t * tile_, n = std::min(tile_, whole_->size - begin);
      for (int i = 0; i < n_in_; ++i) place_input(i, begin, n, &values[i], &phase[i]);
      run_steps(begin, n, values);
      Folded* folds = folds_ + t * f_.n_folds;
      for (const Output& o : f_.outputs) {
        if (o.fold) *folds++ = o.fold(values[o.value], n);
      }
    }
  }

  void place_input(int i, int64_t begin, int64_t n, const void** value, int64_t* phase) const {
    if (extents_[i] == Extent::kScalar) return;
    const int item = item_size(in_[i]->dtype);
    const char* data = in_[i]->data;
    const Layout& l = layouts_[i];
    if (l.extent == Extent::kFull) {
      *value = data + begin * item;
      return;
    }
    const int64_t at = l.period > 0 ? begin % l.period : -1;
    if (at >= 0 && at == *phase) return;
    *phase = at;
    lay_out_part(l, data, item, begin, n, static_cast<char*>(const_cast<void*>(*value)));
  }

  void run_steps(int64_t begin, int64_t n, const void** values) const {
    const void* p[kMaxLoopInputs];
    for (size_t j = 0; j < f_.steps.size(); ++j) {
      const int v = n_in_ + static_cast<int>(j);
      const Step& s = f_.steps[j];
      if (!s.live || extents_[v] == Extent::kScalar) continue;
      for (int i = 0; i < s.n_in; ++i) p[i] = values[s.operands[i]];
      if (s.output >= 0) values[v] = results_[s.output] + begin * item_size(s.loops->out);
      s.loops->rows[patterns_[j]](p, const_cast<void*>(values[v]), n, s.payload->attrs);
    }
  }

  void finish_folds(int64_t n_tiles, Tensor** out) const {
    int column = 0;
    for (size_t k = 0; k < f_.outputs.size(); ++k) {
      const Output& o = f_.outputs[k];
      if (!o.fold) continue;
      Folded total = folds_[column];
      for (int64_t t = 1; t < n_tiles; ++t) total = join(o, total, folds_[t * f_.n_folds + column]);
      ++column;
      if (o.dtype == DType::kFloat32) {
        float result = static_cast<float>(total.real);
        if (o.reduction == Reduction::kMean) result /= static_cast<float>(whole_->size);
        *out[k]->as<float>() = result;
      } else if (o.dtype == DType::kFloat64) {
        *out[k]->as<double>() = o.reduction == Reduction::kMean ? total.real / static_cast<double>(whole_->size) : total.real;
      } else if (o.dtype == DType::kInt32) {
        *out[k]->as<int32_t>() = static_cast<int32_t>(total.integer);
      } else {
        *out[k]->as<int64_t>() = total.integer;
      }
    }
  }

  static Folded join(const Output& o, Folded a, Folded b) {
    const bool largest = o.reduction == Reduction::kMax, smallest = o.reduction == Reduction::kMin;
    if (o.dtype == DType::kInt32 || o.dtype == DType::kInt64) {
      const int64_t x = a.integer, y = b.integer;
      if (largest || smallest) return {.integer = largest ? std::max(x, y) : std::min(x, y)};
      return {.integer = static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y))};
    }
    const double x = a.real, y = b.real;
    if (!largest && !smallest) return {.real = x + y};
    return (largest ? y > x : y < x) || y != y ? b : a;
  }

  const FusedProgram& f_;
  Tensor* const* in_;
  const int n_in_;
  Shape* whole_ = nullptr;
  int64_t tile_ = 0;
  Folded* folds_ = nullptr;
  Layout layouts_[kMaxInputs];
  int part_tiles_[kMaxInputs];
  Extent extents_[kMaxInputs + kMaxSteps];
  uint8_t patterns_[kMaxSteps];
  alignas(16) char scalars_[kMaxSteps][16];
  char* results_[kMaxSteps];
};

}  // namespace

const Loops* loops_for(const OpDef* op, const Attr* attrs, const DType* operands, int n) {
  std::string name = *op->name;
  if (name == "Cast") {
    const auto& cast = CastAttrs::of(attrs);
    if (cast.Truncate.b()) return nullptr;
    name += text(" ", dtype_name(cast.DstT.type()));
  }
  const Loops* loops = loops_of(name, operands[key_operand(op)]);
  return loops && loops->n_in == n && std::equal(operands, operands + n, loops->in) ? loops : nullptr;
}

FusedProgram* parse_fused(PyObject* payload, int n_in, int n_out) {
  PyObject *steps, *outputs, *dtypes, *fallback;
  if (!PyTuple_Check(payload) || !PyArg_ParseTuple(payload, "O!O!OO", &PyList_Type, &steps, &PyList_Type, &outputs, &dtypes, &fallback)) {
    PyErr_Clear();
    wrong("the payload is not (steps, outputs, dtypes, fallback)");
  }
  if (!is_plan(fallback)) wrong(py_repr(fallback), " is not a Plan");
  auto f = std::make_unique<FusedProgram>();
  f->fallback = reinterpret_cast<Plan*>(Py_NewRef(fallback));
  if (f->fallback->n_in != n_in || f->fallback->n_out != n_out) {
    wrong("the fallback has ", f->fallback->n_in, " inputs and ", f->fallback->n_out, " outputs");
  }
  const Ref numbers(PySequence_Tuple(dtypes)), all_steps(PyList_AsTuple(steps)), all_outputs(PyList_AsTuple(outputs));
  if (PyTuple_GET_SIZE(numbers.get()) != n_in || n_in < 1 || n_in > kMaxInputs) wrong(n_in, " inputs");
  for (int i = 0; i < n_in; ++i) {
    f->inputs.push_back(static_cast<DType>(number(PyTuple_GET_ITEM(numbers.get(), i), 1, kDTypeCount, "dtype")));
    const int item = item_size(f->inputs.back());
    if (item != 1 && item != 4 && item != 8) wrong("inputs of ", dtype_name(f->inputs.back()));
  }
  if (PyTuple_GET_SIZE(all_steps.get()) > kMaxSteps || PyTuple_GET_SIZE(all_outputs.get()) > kMaxSteps) {
    wrong("more than ", kMaxSteps, " steps or outputs");
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all_steps.get()); ++i) parse_step(PyTuple_GET_ITEM(all_steps.get(), i), f.get());
  if (PyTuple_GET_SIZE(all_outputs.get()) != n_out) wrong(PyTuple_GET_SIZE(all_outputs.get()), " outputs instead of ", n_out);
  for (Py_ssize_t i = 0; i < n_out; ++i) parse_output(PyTuple_GET_ITEM(all_outputs.get(), i), f.get());
  for (int v = 0; v < n_in + static_cast<int>(f->steps.size()); ++v) f->largest_item = std::max(f->largest_item, item_size(f->dtype(v)));
  find_live(f.get());
  assign_tiles(f.get());
  return f.release();
}

void free_fused(FusedProgram* program) { delete program; }

int traverse_fused(const FusedProgram* f, visitproc visit, void* arg) {
  for (PyObject* row : f->rows) Py_VISIT(row);
  for (const Step& s : f->steps) {
    if (!s.payload) continue;
    for (PyObject* o : s.payload->attr_objects) Py_VISIT(o);
  }
  Py_VISIT(reinterpret_cast<PyObject*>(f->fallback));
  return 0;
}

Plan* fallback_of(const FusedProgram* program) { return program->fallback; }

bool run_fused(const FusedProgram* program, Tensor* const* in, uint64_t dying, Tensor** out) {
  if (!stack_holds(kMaxTiles * kTileBytes + sizeof(Run))) return false;
  Run run(*program, in);
  if (!run.fits()) return false;
  run.run(dying, out);
  return true;
}

PyObject* py_fusable(PyObject*, PyObject* args) {
  const char* name;
  int dtype, computed = 0;
  if (!PyArg_ParseTuple(args, "si|p:fusable", &name, &dtype, &computed)) return nullptr;
  if (dtype <= 0 || dtype >= kDTypeCount) Py_RETURN_FALSE;
  const Loops* loops = loops_of(name, static_cast<DType>(dtype));
  return PyBool_FromLong(loops && !(computed && loops->refuses));
}

}  // namespace tapeflow
