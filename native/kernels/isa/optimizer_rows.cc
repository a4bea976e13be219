// Optimizer updates by a gradient that has values for some rows and is zero for all others, whose slots decay all the
// same. A row whose slots are zero stays as it is, and is not visited again.
#include "kernels/optimizer_rows.h"

#include "kernels/isa/optimizer_update.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

constexpr int kWord = RowSet::kWord;

template <typename T>
bool is_zero(const T* x, int64_t n) {
  bool other = false;
  for (int64_t i = 0; i < n; ++i) other |= x[i] != 0;
  return !other;
}

// Which rows of a word's have slots that are not all zero.
template <int kSlots, typename T>
uint64_t active_rows(T* const* x, int64_t first, int64_t n, int64_t columns) {
  uint64_t active = 0;
  for (int64_t row = 0; row < n; ++row) {
    bool zero = true;
    for (int k = 1; zero && k <= kSlots; ++k) zero = is_zero(x[k] + (first + row) * columns, columns);
    if (!zero) active |= uint64_t{1} << row;
  }
  return active;
}

// The inputs are the dense op's with indices after grad.
template <typename T, template <typename> class Rule>
bool rows(KernelCall& c, const typename Rule<T>::Attrs& attrs, const InputsOf<Rule<T>, kRows>&) {
  using R = Rule<T>;
  const Tensor *grad = c.in[R::kGrad], *indices = c.in[R::kGrad + 1];
  WritableValues values(c.in, R::kSlots + 1);
  const Tensor* var = values.now(0);
  check_slots<R>(values);
  if (var->rank() < 1) throw invalid("var must be at least 1 dimensional");
  const R rule = R::read(Scalars<T, typename R::Attrs>{c, attrs, R::In::names, R::kGrad, 0, 1});
  check_rows(var, grad, indices);
  if (!is_target<T>(values, R::kSlots + 1)) return false;
  const int64_t n = var->dim(0), columns = n == 0 ? 0 : var->size() / n, n_given = indices->size();
  if (columns == 0) return true;

  KnownRows known(values, R::kSlots, n);
  const bool is_known = known.recall(rule.idle()), skips = rule.idle();
  RowSet named_rows(n);
  const RowGradients<T> gradients(grad, indices, &named_rows);
  Scratch<T> nothing(columns);
  for (int64_t i = 0; i < columns; ++i) nothing[i] = 0;

  const Elements<T, R::kSlots> to(values);
  T* const* x = to.x;
  {
    uint64_t *active = known.rows.words(), *named = named_rows.words();
    const int64_t n_words = known.rows.n_words();
    const double row_ns = 5 + static_cast<double>(columns) * R::kNs * sizeof(T) / 4;
    const double word_ns = is_known ? 2 + row_ns : kWord * row_ns;
    ReleaseGil unlock(static_cast<int64_t>(static_cast<double>(n_words) * word_ns + static_cast<double>(n_given) * row_ns));
    parallel_for(n_words, word_ns, [&](int64_t begin, int64_t end) {
      for (int64_t w = begin; w < end; ++w) {
        const int64_t first = w * kWord, left = n - first < kWord ? n - first : kWord;
        if (!is_known) {
          active[w] = skips ? active_rows<R::kSlots>(x, first, left, columns) : ~uint64_t{0} >> (kWord - left);
        }
        for (uint64_t todo = active[w] & ~named[w]; todo; todo &= todo - 1) {
          sweep_at(rule, x, (first + __builtin_ctzll(todo)) * columns, &nothing[0], columns);
        }
        active[w] |= named[w];
      }
    });
    parallel_for(n_given, row_ns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (const T* g = gradients.at(i)) sweep_at(rule, x, gradients.row(i) * columns, g, columns);
      }
    });
  }
  known.remember();
  return true;
}

template <template <typename> class Rule>
void by_rows(const char* op) {
  register_kernel(op, {DType::kFloat32}, named<rows<float, Rule>>);
  register_kernel(op, {DType::kFloat64}, named<rows<double, Rule>>);
}

}  // namespace

void register_optimizer_rows() {
  by_rows<Adam>("ResourceRowsApplyAdam");
  by_rows<AdamWithAmsgrad>("ResourceRowsApplyAdamWithAmsgrad");
  by_rows<AdaMax>("ResourceRowsApplyAdaMax");
  by_rows<Nadam>("ResourceRowsApplyNadam");
  by_rows<Lion>("ResourceRowsApplyLion");
  by_rows<RMSProp>("ResourceRowsApplyRMSProp");
  by_rows<CenteredRMSProp>("ResourceRowsApplyCenteredRMSProp");
  by_rows<KerasRMSProp>("ResourceRowsApplyKerasRMSProp");
  by_rows<KerasCenteredRMSProp>("ResourceRowsApplyKerasCenteredRMSProp");
}

}  // namespace tapeflow::TAPEFLOW_ISA
