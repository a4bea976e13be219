// Kernels that choose: shuffles and categorical samples.
#include <algorithm>
#include <cmath>
#include <limits>
#include <cstring>

#include "kernels/indexing.h"
#include "kernels/layout.h"
#include "kernels/random.h"
#include "kernels/strided.h"
#include "threads.h"

namespace tapeflow {
namespace {

// Fisher and Yates: position i takes one of those from i on.
template <typename T>
void shuffle_items(T* items, int64_t n, PhiloxWords& words) {
  for (int64_t i = 0; i + 1 < n; ++i) {
    std::swap(items[i], items[i + static_cast<int64_t>(words() % static_cast<uint32_t>(n - i))]);
  }
}

bool random_shuffle(KernelCall& c, const SeedAttrs& attrs) {
  Tensor* x = c.in[0];
  if (x->rank() == 0 || x->dim(0) <= 1 || x->size() == 0) {
    c.out[0] = view_tensor(x, x->shape);
    return true;
  }
  const int64_t n = x->dim(0);
  if (n > INT32_MAX) throw invalid("RandomShuffle takes at most 2**31 - 1 rows, got ", n);
  const Philox g = reserve_stream("RandomShuffle", x->dtype, DType::kInvalid, attrs.seed.i, attrs.seed2.i,
                                  static_cast<uint64_t>(n - 1 + 3) / 4);
  Tensor* out = c.out[0] = new_tensor(x->dtype, x->shape);
  const int item = item_size(x->dtype);
  PhiloxWords words(g);
  if (x->rank() == 1) {
    ReleaseGil unlock(n * 10);
    std::memcpy(out->data, x->data, x->bytes());
    with_item_type(item, [&](auto t) { shuffle_items(out->as<decltype(t)>(), n, words); });
    return true;
  }
  Scratch scratch(n * sizeof(int32_t));
  int32_t* order = scratch.as<int32_t>();
  const int64_t row = x->bytes() / n;
  ReleaseGil unlock(n * (10 + row / 10));
  for (int64_t i = 0; i < n; ++i) order[i] = static_cast<int32_t>(i);
  shuffle_items(order, n, words);
  for (int64_t i = 0; i < n; ++i) std::memcpy(out->data + i * row, x->data + order[i] * row, row);
  return true;
}

// Samples of the classes of each row of logits, by their cumulative distribution.
template <typename T>
void sample_rows(const Philox& start, const T* logits, int64_t rows, int64_t classes, int64_t samples, Tensor* out) {
  const double ns = static_cast<double>(classes) * 10 + static_cast<double>(samples) * 20;
  ReleaseGil unlock(static_cast<int64_t>(static_cast<double>(rows) * ns));
  Scratch scratch(sizeof(double) * static_cast<size_t>(classes) * intra_op_threads());
  double* all = scratch.as<double>();
  parallel_for(rows, ns, [&](int64_t begin, int64_t end) {
    double* cdf = all;
#ifdef _OPENMP
    cdf += omp_get_thread_num() * classes;
#endif
    // A sample takes half a block.
    const uint64_t first = static_cast<uint64_t>(begin) * static_cast<uint64_t>(samples);
    Philox g = start;
    g.skip(first / 2);
    PhiloxWords words(g);
    if (first % 2) { words(); words(); }
    for (int64_t b = begin; b < end; ++b) {
      const T* row = logits + b * classes;
      T largest = std::numeric_limits<T>::lowest();
      for (int64_t j = 0; j < classes; ++j) if (std::isfinite(static_cast<double>(row[j]))) largest = std::max(largest, row[j]);
      double total = 0;
      for (int64_t j = 0; j < classes; ++j) {
        if (std::isfinite(static_cast<double>(row[j]))) {
          total += std::exp(static_cast<double>(row[j]) - static_cast<double>(largest));
        }
        cdf[j] = total;
      }
      for (int64_t j = 0; j < samples; ++j) {
        const uint32_t x0 = words(), x1 = words();
        const double at = unit_double(x0, x1) * total;
        const int64_t found = std::upper_bound(cdf, cdf + classes, at) - cdf;
        if (out->dtype == DType::kInt64) out->as<int64_t>()[b * samples + j] = found;
        else out->as<int32_t>()[b * samples + j] = static_cast<int32_t>(found);
      }
    }
  });
}

template <typename T, typename Start>
bool multinomial(KernelCall& c, DType type, Start&& start) {
  const Tensor *logits = c.in[0], *count = c.in[1];
  if (!is_index_dtype(type)) return false;
  if (logits->rank() != 2) throw invalid("logits should be a matrix, got shape ", logits->shape->str());
  if (count->rank() != 0) throw invalid("num_samples should be a scalar, got shape ", count->shape->str());
  const int64_t samples = single_int(count), rows = logits->dim(0), classes = logits->dim(1);
  if (samples < 0) throw invalid("num_samples should be non-negative, got ", samples);
  if (classes <= 0) throw invalid("num_classes should be positive, got ", classes);
  const int64_t dims[] = {rows, samples};
  Tensor* out = c.out[0] = new_tensor(type, 2, dims);
  if (out->size() == 0) return true;
  sample_rows(start(rows, samples), logits->as<T>(), rows, classes, samples, out);
  return true;
}

TAPEFLOW_ATTRS(MultinomialAttrs, seed, seed2, output_dtype);

template <typename T>
bool stateful_multinomial(KernelCall& c, const MultinomialAttrs& attrs) {
  return multinomial<T>(c, attrs.output_dtype.type(), [&](int64_t rows, int64_t samples) {
    const uint64_t rounded = static_cast<uint64_t>(samples + 3) / 4 * 4 * 2;
    return reserve_stream("Multinomial", c.in[0]->dtype, attrs.output_dtype.type(), attrs.seed.i, attrs.seed2.i,
                          static_cast<uint64_t>(rows) * rounded * 256);
  });
}

TAPEFLOW_ATTRS(StatelessMultinomialAttrs, output_dtype);
TAPEFLOW_INPUTS(StatelessMultinomialInputs, logits, num_samples, seed);

template <typename T>
bool stateless_multinomial(KernelCall& c, const StatelessMultinomialAttrs& attrs, const StatelessMultinomialInputs& in) {
  const Philox g = stateless_generator(in.seed);
  return multinomial<T>(c, attrs.output_dtype.type(), [&](int64_t, int64_t) { return g; });
}

template <typename T>
void register_for() {
  register_kernel("Multinomial", {DTypeOf<T>::value}, named<stateful_multinomial<T>>);
  register_kernel("StatelessMultinomial", {DTypeOf<T>::value}, named<stateless_multinomial<T>>);
}

}  // namespace

void register_random_choice() {
  register_kernel("RandomShuffle", kPlainDTypes, named<random_shuffle>);
  register_for<float>();
  register_for<double>();
  register_for<int32_t>();
  register_for<int64_t>();
}

}  // namespace tapeflow
