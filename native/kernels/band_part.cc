// MatrixBandPart: matrices whose elements far from the diagonal are zero.
#include <algorithm>
#include <cstring>

#include "kernels/indexing.h"
#include "kernels/strided.h"
#include "threads.h"

namespace tapeflow {
namespace {

TAPEFLOW_INPUTS(BandInputs, input, num_lower, num_upper);

bool band_part(KernelCall& c, const BandInputs& in) {
  const Tensor *input = in.input, *lower = in.num_lower, *upper = in.num_upper;
  const int rank = input->rank();
  if (rank < 2 || lower->size() != 1 || upper->size() != 1) return false;
  if (!is_index_dtype(lower->dtype) || !is_index_dtype(upper->dtype)) return false;
  const int64_t rows = input->dim(rank - 2), columns = input->dim(rank - 1);
  int64_t below = with_indices(lower, [](const auto* v) { return int64_t{*v}; });
  int64_t above = with_indices(upper, [](const auto* v) { return int64_t{*v}; });
  if (below > rows || above > columns) return false;  // the Python kernel says what is wrong
  if (below < 0) below = rows;
  if (above < 0) above = columns;
  Tensor* out = c.out[0] = new_tensor(input->dtype, input->shape);
  if (out->size() == 0) return true;
  const int64_t item = item_size(input->dtype), lines = out->size() / columns;
  ReleaseGil unlock(out->bytes() / 8);
  parallel_for(lines, static_cast<double>(columns * item) / 8, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t row = line % rows;
      const int64_t first = std::clamp<int64_t>(row - below, 0, columns), last = std::min(row + above + 1, columns);
      const char* from = input->data + line * columns * item;
      char* to = out->data + line * columns * item;
      const int64_t end_of_band = std::max(first, last);
      std::memset(to, 0, static_cast<size_t>(first * item));
      std::memcpy(to + first * item, from + first * item, static_cast<size_t>((end_of_band - first) * item));
      std::memset(to + end_of_band * item, 0, static_cast<size_t>((columns - end_of_band) * item));
    }
  });
  return true;
}

}  // namespace

void register_band_part() { register_kernel("MatrixBandPart", kPlainDTypes, named<band_part>); }

}  // namespace tapeflow
