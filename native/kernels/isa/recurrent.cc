// RecurrentSequence and its gradient: a recurrent cell run over all steps of a sequence, for float32 and float64.
//
// Rows of a batch do not depend on each other, so that each thread takes some of them through all steps. The weights are
// packed once. On the way back the gradient of the weights is one product over all steps.
#include "kernels/registry.h"
#include "product.h"
#include "recurrent_cells.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

Cell cell_named(const char* name) {
  constexpr std::pair<const char*, Cell> kCells[] = {{"LSTM", Cell::kLstm},
                                                     {"GRU", Cell::kGru},
                                                     {"GRUResetBefore", Cell::kGruBefore},
                                                     {"tanh", Cell::kTanh},
                                                     {"relu", Cell::kRelu}};
  for (const auto& [known, cell] : kCells)
    if (!std::strcmp(name, known)) return cell;
  throw invalid("cell = ", name, " is not known");
}

TAPEFLOW_ATTRS(RecurrentAttrs, cell, time_major);
TAPEFLOW_INPUTS(RecurrentInputs, x, recurrent, bias, initial_h, initial_c, mask);
TAPEFLOW_INPUTS(RecurrentGradInputs, x, recurrent, bias, initial_h, initial_c, mask, h, c, reserve, dh, dlast_h,
                dlast_c);

// The inputs that both kernels have.
template <typename T> struct Sequence {
  template <typename Inputs>
  Sequence(bool time_major, const Inputs& in, Cell cell) {
    check_rank(in.x, "x", 3);
    check_rank(in.recurrent, "recurrent", 2);
    check_rank(in.bias, "bias", 1);
    check_rank(in.initial_h, "initial_h", 2);
    check_rank(in.initial_c, "initial_c", 2);
    check_rank(in.mask, "mask", 2);
    steps = in.x->dim(time_major ? 0 : 1);
    batch = in.x->dim(time_major ? 1 : 0);
    units = in.recurrent->dim(0);
    width = in.x->dim(2);
    batch_rows = time_major ? 1 : steps;
    step_rows = time_major ? batch : 1;
    const int64_t gates = gates_of(cell);
    if (width % gates || width / gates != units || in.recurrent->dim(1) != width)
      throw invalid("recurrent must have shape [", width / gates, ",", width, "] for x of shape ",
                    in.x->shape->str(), ", but got shape ", in.recurrent->shape->str());
    biases = cell == Cell::kGru ? 2 * width : width;
    has_bias = in.bias->size() != 0;
    if (has_bias && in.bias->size() != biases)
      throw invalid("bias must have ", biases, " elements, but got shape ", in.bias->shape->str());
    check(in.initial_h, "initial_h", batch, units);
    if (cell == Cell::kLstm) check(in.initial_c, "initial_c", batch, units);
    if (in.mask->size()) check(in.mask, "mask", in.x->dim(0), in.x->dim(1));
    x = in.x->template as<T>();
    recurrent = in.recurrent->template as<T>();
    h = in.initial_h->template as<T>();
    c = in.initial_c->template as<T>();
    mask = in.mask->size() ? in.mask->template as<bool>() : nullptr;
  }

  static void check_rank(const Tensor* t, const char* name, int rank) {
    if (t->rank() != rank)
      throw invalid(name, " must have rank ", rank, ", but got shape ", t->shape->str());
  }

  static void check(const Tensor* t, const char* name, int64_t rows, int64_t columns) {
    if (t->dim(0) != rows || t->dim(1) != columns)
      throw invalid(name, " must have shape [", rows, ",", columns, "], but got shape ",
                    t->shape->str());
  }

  int64_t row(int64_t b, int64_t t) const { return b * batch_rows + t * step_rows; }
  bool masked(int64_t row) const { return mask && !mask[row]; }
  // Rough ns of one row of the batch through all steps.
  double ns() const {
    return static_cast<double>(steps) * static_cast<double>(width) *
           (static_cast<double>(units) * kNs<T> + 0.5 * sizeof(T));
  }

  int64_t steps, batch, units, width, biases;
  int64_t batch_rows, step_rows;  // rows of x from one row of the batch, or one step, to the next
  bool has_bias;
  const T *x, *recurrent, *h, *c;
  const bool* mask;  // null: every step counts
};

// A matrix b[k, n] that many matrices are multiplied by: packed, but for a batch of one.
template <typename T> class Factor {
 public:
  Factor(int64_t k, int64_t n, Matrix<T> b, bool pack)
      : k_(k), n_(n), b_(b), packed_(pack), scratch_(pack ? bytes(k, n) : sizeof(T)) {
    if (!pack) return;
    for (int64_t j = 0; j < n; j += kPanel<T>)
      pack_b(k, width(j), b.at(0, j), scratch_.template as<T>() + j * k);
  }

  // c[m, n] += a[m, k] b, rows of a contiguous; m is at most 1 unless b is packed.
  void add(int64_t m, const T* a, int64_t a_stride, T* c, int64_t c_stride) {
    if (m == 0) return;
    const Matrix<T> rows = {a, a_stride, 1};
    if (packed_)
      for (int64_t j = 0; j < n_; j += kPanel<T>)
        add_panel(m, width(j), rows, scratch_.template as<T>() + j * k_, kPanel<T>, c + j, c_stride);
    else if (b_.cols == 1) add_row(rows, c);
    else add_dots(a, c);
  }

 private:
  static size_t bytes(int64_t k, int64_t n) {
    return static_cast<size_t>(k) * static_cast<size_t>((n + kPanel<T> - 1) / kPanel<T>) * kPanel<T> *
               sizeof(T) +
           sizeof(T);
  }
  int width(int64_t j) const { return static_cast<int>(std::min<int64_t>(kPanel<T>, n_ - j)); }

  void add_panel(int64_t m, int width, Matrix<T> a, const T* b, int64_t b_stride, T* c,
                 int64_t c_stride) const {
    const int vectors = width > kLanes<T> ? 2 : 1;
    int64_t tiles = (m + kTileRows<T> - 1) / kTileRows<T>;
    for (int64_t i = 0; tiles > 0; --tiles) {
      const int rows = static_cast<int>((m - i + tiles - 1) / tiles);
      choose_tile<T>(rows, vectors, false)(k_, a.at(i, 0), b, b_stride, c + i * c_stride, c_stride,
                                           width - (vectors - 1) * kLanes<T>, true);
      i += rows;
    }
  }
  void add_row(Matrix<T> a, T* c) const {
    constexpr int wide = 8 * kLanes<T>;
    int64_t j = 0;
    for (; j + wide <= n_; j += wide)
      tile<T, 1, 8, true>(k_, a, b_.data + j, b_.rows, c + j, n_, kLanes<T>, true);
    for (; j < n_; j += kPanel<T>) add_panel(1, width(j), a, b_.data + j, b_.rows, c + j, n_);
  }
  void add_dots(const T* a, T* c) const {
    T some[64];
    for (int64_t j = 0; j < n_; j += 64) {
      const int64_t count = std::min<int64_t>(64, n_ - j);
      multiply_dots<T>(1, count, k_, {a, k_, 1}, b_.at(0, j), some, count);
      for (int64_t i = 0; i < count; ++i) c[j + i] += some[i];
    }
  }

  int64_t k_, n_;
  Matrix<T> b_;
  bool packed_;
  Scratch scratch_;
};

template <typename T> void copy(const T* from, T* to, int64_t n) {
  if (from != to && n > 0) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
}
template <typename T> void clear(T* to, int64_t n) {
  if (n > 0) std::memset(to, 0, static_cast<size_t>(n) * sizeof(T));
}

// The columns of the recurrent weights in the parts that a step multiplies by.
constexpr int first_gates(Cell cell) { return is_gru(cell) ? 2 : gates_of(cell); }

template <typename T, Cell cell> bool forward(KernelCall& call, bool time_major, const RecurrentInputs& in) {
  const Sequence<T> s(time_major, in, cell);
  const int64_t n = s.units, kept = kept_of(cell) * n;
  Tensor* x = in.x;
  const auto shaped = [&](int64_t last) {
    const int64_t dims[3] = {x->dim(0), x->dim(1), last};
    return new_tensor(x->dtype, 3, dims);
  };
  const int64_t state[2] = {s.batch, n}, none[2] = {0, 0};
  constexpr bool lstm = cell == Cell::kLstm;
  // Sums are built where x is, if nobody needs it any more.
  constexpr int over_x = lstm ? 2 : is_gru(cell) ? -1 : 0;
  for (int i = 0; i < 3; ++i)
    if (i == over_x && call.may_reuse(0) && reuse_tensor(x, x->dtype)) call.out[i] = x;
    else call.out[i] = shaped(i == 2 ? kept : i == 0 || lstm ? n : 0);
  call.out[3] = new_tensor(x->dtype, 2, state);
  call.out[4] = new_tensor(x->dtype, 2, lstm ? state : none);
  T *const h = call.out[0]->as<T>(), *const c = call.out[1]->as<T>(), *const keep = call.out[2]->as<T>();
  T *const last_h = call.out[3]->as<T>(), *const last_c = call.out[4]->as<T>();

  const bool pack = s.batch > 1;
  const int64_t first = first_gates(cell) * n;
  Factor<T> weights(n, first, {s.recurrent, s.width, 1}, pack);
  Factor<T> candidate(n, s.width - first, {s.recurrent + first, s.width, 1}, pack);
  Scratch no_bias(static_cast<size_t>(s.biases + 1) * sizeof(T));
  if (!s.has_bias) clear(no_bias.as<T>(), s.biases);
  const T* bias = s.has_bias ? in.bias->as<T>() : no_bias.as<T>();

  const auto rows = [&](int64_t from, int64_t to) {
    const int64_t m = to - from;
    for (int64_t t = 0; t < s.steps; ++t) {
      const T* before = t ? h + s.row(from, t - 1) * n : s.h + from * n;
      const int64_t before_stride = t ? s.batch_rows * n : n;
      const int64_t at = s.row(from, t);
      // A row of sums is where it is kept, or for a simple cell, the output.
      T* sums = kept ? keep + at * kept : h + at * n;
      const int64_t wide = kept ? kept : n, stride = s.batch_rows * wide;
      for (int64_t b = 0; b < m; ++b)
        if constexpr (is_gru(cell)) clear(sums + b * stride, wide);
        else copy(s.x + s.row(from + b, t) * s.width, sums + b * stride, wide);
      weights.add(m, before, before_stride, sums, stride);
      if constexpr (cell == Cell::kGru) candidate.add(m, before, before_stride, sums + 3 * n, stride);
      if constexpr (cell == Cell::kGruBefore) {
        for (int64_t b = 0; b < m; ++b)
          gru_before_gates(n, s.x + s.row(from + b, t) * s.width, bias, sums + b * stride,
                           before + b * before_stride);
        candidate.add(m, sums + 3 * n, stride, sums + 2 * n, stride);
      }
      for (int64_t b = 0; b < m; ++b) {
        const int64_t r = s.row(from + b, t);
        T *g = sums + b * stride, *to_h = h + r * n;
        const T *old = before + b * before_stride, *xs = s.x + r * s.width;
        const T* old_c = !lstm ? nullptr : t ? c + s.row(from + b, t - 1) * n : s.c + (from + b) * n;
        if constexpr (lstm) lstm_step(n, bias, g, old_c, c + r * n, to_h);
        else if constexpr (cell == Cell::kGru) gru_step(n, xs, bias, g, old, to_h);
        else if constexpr (cell == Cell::kGruBefore) gru_before_state(n, xs, bias, g, old, to_h);
        else simple_step<T, cell>(n, bias, to_h);
        if (s.masked(r)) {
          copy(old, to_h, n);
          if constexpr (lstm) copy(old_c, c + r * n, n);
        }
      }
    }
    for (int64_t b = from; b < to; ++b) {
      const int64_t r = s.row(b, s.steps - 1);
      copy(s.steps ? h + r * n : s.h + b * n, last_h + b * n, n);
      if constexpr (lstm) copy(s.steps ? c + r * n : s.c + b * n, last_c + b * n, n);
    }
  };
  ReleaseGil release(static_cast<int64_t>(std::min(s.ns() * static_cast<double>(s.batch), 1e18)));
  parallel_for(s.batch, s.ns(), rows);
  return true;
}

// A gradient that may be left out, as a tensor without elements.
template <typename T>
const T* given(const Tensor* t, const char* name, std::initializer_list<int64_t> dims) {
  if (!t->size()) return nullptr;
  int i = 0;
  bool right = t->rank() == static_cast<int>(dims.size());
  for (int64_t d : dims) right = right && t->dim(i++) == d;
  if (!right) throw invalid(name, " has a shape that is not that of its output: ", t->shape->str());
  return t->as<T>();
}

// The state before each step, in rows like those of x.
template <typename T> void states_before(const Sequence<T>& s, const T* h, T* to) {
  const int64_t n = s.units;
  if (!s.steps) return;
  if (s.batch_rows == 1) {
    copy(s.h, to, s.batch * n);
    copy(h, to + s.batch * n, (s.steps - 1) * s.batch * n);
    return;
  }
  for (int64_t b = 0; b < s.batch; ++b) {
    copy(s.h + b * n, to + s.row(b, 0) * n, n);
    copy(h + s.row(b, 0) * n, to + s.row(b, 1) * n, (s.steps - 1) * n);
  }
}

template <typename T, Cell cell> bool backward(KernelCall& call, bool time_major, const RecurrentGradInputs& in) {
  const Sequence<T> s(time_major, in, cell);
  constexpr bool lstm = cell == Cell::kLstm;
  const int64_t n = s.units, w = s.width, kept = kept_of(cell) * n, count = s.steps * s.batch;
  const int64_t d0 = in.x->dim(0), d1 = in.x->dim(1);
  const T* h = given<T>(in.h, "h", {d0, d1, n});
  const T* c = given<T>(in.c, "c", {d0, d1, lstm ? n : 0});
  const T* keep = given<T>(in.reserve, "reserve", {d0, d1, kept});
  const bool any = count && n;
  if (any && (!h || (lstm && !c) || (kept && !keep)))
    throw invalid("h, c and reserve must be the outputs of RecurrentSequence");
  const T* dh = given<T>(in.dh, "dh", {d0, d1, n});
  const T* dlast_h = given<T>(in.dlast_h, "dlast_h", {s.batch, n});
  const T* dlast_c = given<T>(in.dlast_c, "dlast_c", {s.batch, lstm ? n : 0});
  for (int i = 0; i < 5; ++i) call.out[i] = new_tensor(call.in[i]->dtype, call.in[i]->shape);
  T *const dx = call.out[0]->as<T>(), *const dweights = call.out[1]->as<T>();
  T *const dbias = call.out[2]->as<T>(), *const dinitial_h = call.out[3]->as<T>();
  T* const dinitial_c = call.out[4]->as<T>();

  const bool pack = s.batch > 1;
  const int64_t first = first_gates(cell) * n;
  Factor<T> weights(cell == Cell::kGru ? w : first, n, {s.recurrent, 1, w}, pack);
  Factor<T> candidate(w - first, n, {s.recurrent + first, 1, w}, pack);
  const auto scratch_for = [](int64_t items) { return static_cast<size_t>(items + 1) * sizeof(T); };
  // Gradients of the states' part, where that is not dx; those on their way back; of each row's biases.
  Scratch of_states(scratch_for(cell == Cell::kGru ? count * w : 0));
  Scratch next(scratch_for(s.batch * n)), of_reset(scratch_for(cell == Cell::kGruBefore ? s.batch * n : 0));
  const int64_t sums = s.has_bias ? (cell == Cell::kGru ? w + n : w) : 0;
  Scratch of_biases(scratch_for(s.batch * sums));
  Scratch before_all(scratch_for(count * n));
  T* const ds_all = cell == Cell::kGru ? of_states.as<T>() : dx;

  const auto rows = [&](int64_t from, int64_t to) {
    const int64_t m = to - from;
    T *now = dinitial_h + from * n, *then = next.as<T>() + from * n;
    T* const d_reset = of_reset.as<T>() + (cell == Cell::kGruBefore ? from * n : 0);
    if (dlast_h) copy(dlast_h + from * n, now, m * n);
    else clear(now, m * n);
    if constexpr (lstm) {
      if (dlast_c) copy(dlast_c + from * n, dinitial_c + from * n, m * n);
      else clear(dinitial_c + from * n, m * n);
    }
    clear(of_biases.as<T>() + from * sums, m * sums);
    for (int64_t t = s.steps - 1; t >= 0; --t) {
      const T* before = t ? h + s.row(from, t - 1) * n : s.h + from * n;
      const int64_t before_stride = t ? s.batch_rows * n : n;
      const int64_t at = s.row(from, t), stride = s.batch_rows * w;
      for (int64_t b = 0; b < m; ++b) {
        const int64_t r = s.row(from + b, t);
        T *d = now + b * n, *to_d = then + b * n, *dz = dx + r * w, *ds = ds_all + r * w;
        if (dh) {
          const T* more = dh + r * n;
#pragma omp simd
          for (int64_t j = 0; j < n; ++j) d[j] += more[j];
        }
        if (s.masked(r)) {
          copy(d, to_d, n);
          clear(dz, w);
          if (ds != dz) clear(ds, w);
          continue;
        }
        const T *old = before + b * before_stride, *g = keep + r * kept;
        if constexpr (lstm) {
          const T* old_c = t ? c + s.row(from + b, t - 1) * n : s.c + (from + b) * n;
          lstm_step_back(n, g, old_c, c + r * n, d, dinitial_c + (from + b) * n, dz);
          clear(to_d, n);
        } else if constexpr (cell == Cell::kGru) {
          gru_step_back(n, g, old, d, dz, ds, to_d);
        } else if constexpr (cell == Cell::kGruBefore) {
          gru_before_state_back(n, g, old, d, dz, to_d);
        } else {
          simple_step_back<T, cell>(n, h + r * n, d, dz);
          clear(to_d, n);
        }
      }
      if constexpr (cell == Cell::kGruBefore) {
        clear(d_reset, m * n);
        candidate.add(m, dx + at * w + 2 * n, stride, d_reset, n);
        for (int64_t b = 0; b < m; ++b) {
          const int64_t r = s.row(from + b, t);
          if (!s.masked(r))
            gru_before_gates_back(n, keep + r * kept, before + b * before_stride, d_reset + b * n,
                                  dx + r * w, then + b * n);
        }
      }
      weights.add(m, ds_all + at * w, stride, then, n);
      for (int64_t b = 0; b < m && sums; ++b) {
        const int64_t r = s.row(from + b, t);
        T* total = of_biases.as<T>() + (from + b) * sums;
        const T* dz = dx + r * w;
#pragma omp simd
        for (int64_t j = 0; j < w; ++j) total[j] += dz[j];
        if constexpr (cell == Cell::kGru) {
          const T* ds = ds_all + r * w + 2 * n;
#pragma omp simd
          for (int64_t j = 0; j < n; ++j) total[w + j] += ds[j];
        }
      }
      std::swap(now, then);
    }
    copy(now, dinitial_h + from * n, m * n);
  };
  // oneDNN is looked for while Python may be asked.
  const double madds = static_cast<double>(count) * static_cast<double>(n) * static_cast<double>(w);
  const OneDnn* library = library_for<T>(madds);
  ReleaseGil release(static_cast<int64_t>(std::min(3 * s.ns() * static_cast<double>(s.batch), 1e18)));
  parallel_for(s.batch, 2 * s.ns(), rows);

  clear(dbias, s.has_bias ? s.biases : 0);
  for (int64_t b = 0; b < s.batch && sums; ++b) {
    const T* total = of_biases.as<T>() + b * sums;
    for (int64_t j = 0; j < w; ++j) dbias[j] += total[j];
    if constexpr (cell == Cell::kGru) {
      for (int64_t j = 0; j < 2 * n; ++j) dbias[w + j] += total[j];
      for (int64_t j = 0; j < n; ++j) dbias[w + 2 * n + j] += total[w + j];
    }
  }
  states_before(s, h, before_all.as<T>());
  const Matrix<T> states = {before_all.as<T>(), 1, n};
  if constexpr (cell != Cell::kGruBefore) {
    multiply<T>(n, w, count, states, {ds_all, w, 1}, dweights, library);
  } else {
    // The reset states, which the candidate was multiplied by, are kept last in their rows.
    Scratch part(scratch_for(n * first));
    const auto columns = [&](int64_t at, int64_t wide, Matrix<T> a) {
      multiply<T>(n, wide, count, a, {dx + at, w, 1}, part.as<T>(), library);
      for (int64_t i = 0; i < n; ++i) copy(part.as<T>() + i * wide, dweights + i * w + at, wide);
    };
    columns(0, first, states);
    columns(first, n, {keep + 3 * n, 1, kept});
  }
  return true;
}

template <typename T, Cell cell>
bool run_cell(KernelCall& call, bool time_major, const RecurrentInputs& in) {
  return forward<T, cell>(call, time_major, in);
}
template <typename T, Cell cell>
bool run_cell(KernelCall& call, bool time_major, const RecurrentGradInputs& in) {
  return backward<T, cell>(call, time_major, in);
}

template <typename T, typename Inputs>
bool run(KernelCall& call, const RecurrentAttrs& attrs, const Inputs& in) {
  const bool time_major = attrs.time_major.b();
  switch (cell_named(attrs.cell.str())) {
    case Cell::kLstm: return run_cell<T, Cell::kLstm>(call, time_major, in);
    case Cell::kGru: return run_cell<T, Cell::kGru>(call, time_major, in);
    case Cell::kGruBefore: return run_cell<T, Cell::kGruBefore>(call, time_major, in);
    case Cell::kTanh: return run_cell<T, Cell::kTanh>(call, time_major, in);
    case Cell::kRelu: return run_cell<T, Cell::kRelu>(call, time_major, in);
  }
  return false;
}

template <typename T> void register_for() {
  register_kernel("RecurrentSequence", {DTypeOf<T>::value}, named<run<T, RecurrentInputs>>);
  register_kernel("RecurrentSequenceGrad", {DTypeOf<T>::value}, named<run<T, RecurrentGradInputs>>);
}

}  // namespace

void register_recurrent() {
  register_for<float>();
  register_for<double>();
}

}  // namespace tapeflow::TAPEFLOW_ISA
