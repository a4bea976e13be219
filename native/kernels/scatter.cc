// Kernels that write slices by index: ScatterNd and TensorScatter*.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/indexing.h"
#include "kernels/strided.h"
#include "threads.h"

namespace tapeflow {
namespace {

// `step` is 1, or 0 where one update serves all.
template <Update op, int step, typename T>
void update_row(T* __restrict x, const T* __restrict u, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const T v = u[i * step];
    if constexpr (op == Update::kAssign) x[i] = v;
    if constexpr (std::is_arithmetic_v<T>) {
      if constexpr (op == Update::kAdd) x[i] = static_cast<T>(x[i] + v);
      if constexpr (op == Update::kSub) x[i] = static_cast<T>(x[i] - v);
      if constexpr (op == Update::kMul) x[i] = static_cast<T>(x[i] * v);
      if constexpr (op == Update::kDiv) x[i] = static_cast<T>(x[i] / v);
      if constexpr (op == Update::kMin) x[i] = v < x[i] ? v : x[i];
      if constexpr (op == Update::kMax) x[i] = x[i] < v ? v : x[i];
    }
  }
}

template <Update op, typename T, typename I>
void update_rows(T* x, const I* index, const NdIndex& nd, const Shape* shape, const T* u, bool one_update) {
  const int64_t row = nd.row_size;
  if (row == 1 && nd.depth == 1 && !one_update) {  // elements of a vector
    for (int64_t i = 0; i < nd.rows; ++i) update_row<op, 1>(x + index[i], u + i, 1);
    return;
  }
  const double ns = static_cast<double>(nd.rows) * (row < 8 ? 2 : 0.3);
  // Rows may repeat, so threads split the columns, each doing all rows in order.
  parallel_for(row, ns, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < nd.rows; ++i) {
      T* to = x + nd_offset(index, nd, shape, i) + begin;
      if (one_update) update_row<op, 0>(to, u, end - begin);
      else update_row<op, 1>(to, u + i * row + begin, end - begin);
    }
  });
}

template <typename T, typename I>
bool update_as(Update op, T* x, const I* index, const NdIndex& nd, const Shape* shape, const T* u, bool one) {
  if constexpr (std::is_integral_v<T>) {
    if (op == Update::kDiv) return false;  // by zero, and the most negative by -1: the Python kernel's business
  }
  switch (op) {
    case Update::kAssign: update_rows<Update::kAssign>(x, index, nd, shape, u, one); return true;
    case Update::kAdd: update_rows<Update::kAdd>(x, index, nd, shape, u, one); return true;
    case Update::kSub: update_rows<Update::kSub>(x, index, nd, shape, u, one); return true;
    case Update::kMul: update_rows<Update::kMul>(x, index, nd, shape, u, one); return true;
    case Update::kDiv: update_rows<Update::kDiv>(x, index, nd, shape, u, one); return true;
    case Update::kMin: update_rows<Update::kMin>(x, index, nd, shape, u, one); return true;
    case Update::kMax: update_rows<Update::kMax>(x, index, nd, shape, u, one); return true;
  }
  return false;
}

bool has_arithmetic(DType d) {
  return d == DType::kFloat32 || d == DType::kFloat64 || d == DType::kInt32 || d == DType::kInt64;
}

}  // namespace

bool scatter_nd(Update op, Tensor* x, const Tensor* indices, const NdIndex& nd, const Tensor* updates, bool one) {
  if (op != Update::kAssign && !has_arithmetic(x->dtype)) return false;
  if (op == Update::kDiv && is_integer(x->dtype)) return false;
  ReleaseGil unlock(nd.rows * (2 + nd.row_size));
  bool done = false;
  const bool compares = op == Update::kMin || op == Update::kMax;
  with_indices(indices, [&](const auto* index) {
    auto run = [&](auto t) {
      using T = decltype(t);
      done = update_as(op, x->as<T>(), index, nd, x->shape, updates->as<T>(), one);
    };
    switch (op == Update::kAssign ? DType::kInvalid : x->dtype) {
      case DType::kFloat32: run(float{}); break;
      case DType::kFloat64: run(double{}); break;
      case DType::kInt32: compares ? run(int32_t{}) : run(uint32_t{}); break;  // sums wrap around
      case DType::kInt64: compares ? run(int64_t{}) : run(uint64_t{}); break;
      default:
        with_item_type(item_size(x->dtype), [&](auto t) {
          using T = decltype(t);
          update_rows<Update::kAssign>(x->as<T>(), index, nd, x->shape, updates->as<T>(), one);
          done = true;
        });
    }
  });
  return done;
}

namespace {

template <typename Fail>
void check_tuples(const Tensor* indices, const NdIndex& nd, const Shape* shape, Fail&& fail) {
  with_indices(indices, [&](const auto* index) {
    if (nd.depth == 1) {
      const int64_t bad = first_outside(index, nd.rows, shape->dims[0]);
      if (bad >= 0) fail(bad);
      return;
    }
    for (int64_t i = 0; i < nd.rows; ++i) if (nd_offset(index, nd, shape, i) < 0) fail(i);
  });
}

std::string range_text(int64_t from, int64_t to) { return text("[", from, ",", to, ")"); }

// Indices [outer..., depth] and updates [outer..., inner...] that fit a tensor of shape [depth axes..., inner...].
NdIndex check_scatter_nd(const Tensor* indices, const Tensor* updates, const Shape* shape) {
  if (indices->rank() < 1) throw invalid("Indices shape must have rank at least one. Found:", indices->shape->str());
  if (updates->rank() < 1) throw invalid("Updates shape must have rank at least one. Found:", updates->shape->str());
  if (shape->size == 0 && (indices->size() > 0 || updates->size() > 0)) {
    throw invalid("Indices and updates specified for empty output.  indices shape: ", indices->shape->str());
  }
  const int outer = indices->rank() - 1;
  NdIndex nd;
  nd.depth = indices->dim(outer);
  nd.rows = nd.row_size = 1;
  for (int i = 0; i < outer; ++i) {
    nd.rows *= indices->dim(i);
    if (i >= updates->rank() || updates->dim(i) != indices->dim(i)) {
      throw invalid("Dimensions ", range_text(0, outer), " of indices[shape=", indices->shape->str(),
                    "] must match dimensions ", range_text(0, outer), " of updates[shape=", updates->shape->str(), "]");
    }
  }
  bool fits = nd.depth <= shape->rank && shape->rank - nd.depth == updates->rank() - outer;
  for (int i = outer; fits && i < updates->rank(); ++i) {
    const int64_t d = shape->dims[nd.depth + i - outer];
    fits = d == updates->dim(i);
    nd.row_size *= d;
  }
  if (!fits) {
    throw invalid("Dimensions ", range_text(nd.depth, shape->rank), " of input[shape=", shape->str(),
                  "] must match dimensions ", range_text(outer, updates->rank()), " of updates[shape=",
                  updates->shape->str(), "]");
  }
  check_tuples(indices, nd, shape, [&](int64_t i) {
    throw invalid("indices", position(indices->shape, outer, i), " = ", tuple_text(indices, nd.depth, i),
                  " does not index into shape ", shape->str());
  });
  return nd;
}

TAPEFLOW_INPUTS(ScatterNdInputs, indices, updates, shape);

bool scatter_nd_kernel(KernelCall& c, const BadIndicesAttrs& attrs, const ScatterNdInputs& in) {
  const Tensor *indices = in.indices, *updates = in.updates, *sizes = in.shape;
  if (ignores_bad_indices(attrs.bad_indices_policy) || !has_arithmetic(updates->dtype)) return false;
  if (sizes->rank() != 1) throw invalid("Shape must be a vector");
  IntVector dims;
  vector_ints(sizes, "shape", &dims);
  ShapeRef shape(dims.n, dims.v);
  const NdIndex nd = check_scatter_nd(indices, updates, shape.get());
  Tensor* out = c.out[0] = new_tensor(updates->dtype, shape.get());
  const char zero[16] = {};
  fill_items(out->data, shape->size, zero, item_size(out->dtype));
  return scatter_nd(Update::kAdd, out, indices, nd, updates);
}

TAPEFLOW_INPUTS(TensorScatterInputs, tensor, indices, updates);

template <Update op>
bool tensor_scatter(KernelCall& c, const BadIndicesAttrs& attrs, const TensorScatterInputs& in) {
  const Tensor *x = in.tensor, *indices = in.indices, *updates = in.updates;
  if (ignores_bad_indices(attrs.bad_indices_policy) || !is_index_dtype(indices->dtype)) return false;
  if (op != Update::kAssign && !has_arithmetic(x->dtype)) return false;
  if (indices->rank() < 1) throw invalid("Indices shape must have rank at least one. Found:", indices->shape->str());
  if (updates->rank() < 1) throw invalid("Updates shape must have rank at least one. Found:", updates->shape->str());
  if (x->size() == 0 && (indices->size() > 0 || updates->size() > 0)) {
    throw invalid("Indices and updates specified for empty output shape");
  }
  const int outer = indices->rank() - 1, rank = x->rank();
  NdIndex nd;
  nd.depth = indices->dim(outer);
  nd.rows = nd.row_size = 1;
  for (int i = 0; i < outer; ++i) {
    nd.rows *= indices->dim(i);
    if (i >= updates->rank() || updates->dim(i) != indices->dim(i)) {
      throw invalid("Outer dimensions of indices and update must match. Indices shape: ", indices->shape->str(),
                    ", updates shape:", updates->shape->str());
    }
  }
  const int inner = updates->rank() - outer;
  if (nd.depth > rank || rank - nd.depth != inner) {
    throw invalid("Inner dimensions of output shape must match inner dimensions of updates shape. Output: ",
                  x->shape->str(), " updates: ", updates->shape->str());
  }
  for (int i = 0; i < inner; ++i) {
    const int64_t d = x->dim(static_cast<int>(nd.depth) + i);
    if (d != updates->dim(outer + i)) {
      throw invalid("The inner ", inner, " dimensions of output.shape=", x->shape->str(), " must match the inner ",
                    inner, " dimensions of updates.shape=", updates->shape->str());
    }
    nd.row_size *= d;
  }
  check_tuples(indices, nd, x->shape, [&](int64_t i) {
    throw invalid("indices", position(indices->shape, outer, i), " = ", tuple_text(indices, nd.depth, i),
                  " does not index into shape ", x->shape->str());
  });
  Tensor* out = c.out[0] = new_tensor(x->dtype, x->shape);
  {
    const int64_t bytes = x->bytes();
    ReleaseGil unlock(bytes / 10);
    parallel_for(bytes, 0.05, [&](int64_t b, int64_t e) { std::memcpy(out->data + b, x->data + b, e - b); });
  }
  return scatter_nd(op, out, indices, nd, updates);
}

}  // namespace

void register_scatter() {
  register_kernel("ScatterNd", {DType::kInt32, DType::kInt64}, named<scatter_nd_kernel>);
  register_kernel("TensorScatterUpdate", kPlainDTypes, named<tensor_scatter<Update::kAssign>>);
  register_kernel("TensorScatterAdd", kPlainDTypes, named<tensor_scatter<Update::kAdd>>);
  register_kernel("TensorScatterSub", kPlainDTypes, named<tensor_scatter<Update::kSub>>);
  register_kernel("TensorScatterMin", kPlainDTypes, named<tensor_scatter<Update::kMin>>);
  register_kernel("TensorScatterMax", kPlainDTypes, named<tensor_scatter<Update::kMax>>);
}

}  // namespace tapeflow
