// Integer indices as kernels meet them: checked once against a limit, with TensorFlow's words when one is out of it.
#pragma once
#include <cstring>
#include <string>

#include "kernel.h"

namespace tapeflow {

// The parts of the indexing family, one file each; register_indexing() calls them all.
void register_band_part();
void register_partition();
void register_scatter();
void register_segment();
void register_selection();
void register_sparse_matmul();
void register_sparse_segment();
void register_unique();
void register_resource_scatter();
void register_resource_state();

extern PyMethodDef fold_methods[];  // fold_rows for Python kernels

TAPEFLOW_ATTRS(BadIndicesAttrs, bad_indices_policy);
inline bool ignores_bad_indices(const Attr& policy) { return !std::strcmp(policy.str(), "IGNORE"); }

inline bool is_index_dtype(DType d) { return d == DType::kInt32 || d == DType::kInt64; }

// Calls f(const int32_t* or const int64_t*) for a tensor of int32 or int64.
template <typename F>
decltype(auto) with_indices(const Tensor* t, F&& f) {
  return t->dtype == DType::kInt64 ? f(t->as<int64_t>()) : f(t->as<int32_t>());
}

// The first of n indices that is not in [0, limit), or -1.
template <typename I>
int64_t first_outside(const I* index, int64_t n, int64_t limit) {
  constexpr int64_t kBlock = 1024;  // so that the common case is a loop without exits
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t end = at + kBlock < n ? at + kBlock : n;
    bool bad = false;
    for (int64_t i = at; i < end; ++i) bad |= index[i] < 0 || static_cast<int64_t>(index[i]) >= limit;
    if (!bad) continue;
    for (int64_t i = at; i < end; ++i) if (index[i] < 0 || static_cast<int64_t>(index[i]) >= limit) return i;
  }
  return -1;
}

// "[1,0]" for element `at` of an array of this shape; "" for a scalar.
std::string position(const Shape* shape, int rank, int64_t at);

// Throws "indices[1,0] = 7 is not in [0, 3)" unless all are.
void check_indices(const Tensor* indices, int64_t limit);

// Copies row index[i] of params to row i of out. The indices were checked.
void gather_rows(char* out, const char* params, const Tensor* indices, int64_t first, int64_t n, int64_t row_bytes);

// The rows of an array of this shape that [..., depth] indices name. Messages of bad ones are the caller's.
struct NdIndex {
  int64_t depth;          // how many leading axes the indices fix
  int64_t rows, row_size; // number of index tuples; elements of what each names
};

// Offset in elements of the slice that tuple `at` names, or -1 when it is out of range.
template <typename I>
int64_t nd_offset(const I* index, const NdIndex& nd, const Shape* shape, int64_t at) {
  int64_t offset = 0;
  for (int64_t k = 0; k < nd.depth; ++k) {
    const int64_t i = index[at * nd.depth + k];
    if (i < 0 || i >= shape->dims[k]) return -1;
    offset = offset * shape->dims[k] + i;
  }
  return offset * nd.row_size;
}

// "[3, 0]": tuple `at`.
std::string tuple_text(const Tensor* indices, int64_t depth, int64_t at);

enum class Update { kAssign, kAdd, kSub, kMul, kDiv, kMin, kMax };

// x[offset of each tuple] op= updates, row by row and in order, after all tuples were checked. False: no such update
// for this dtype. With `one_update`, updates is a single element for all.
bool scatter_nd(Update op, Tensor* x, const Tensor* indices, const NdIndex& nd, const Tensor* updates,
                bool one_update = false);

}  // namespace tapeflow
