// Kernels that pick slices by index: the gathers and one-hot.
#include "kernels/indexing.h"

#include <algorithm>
#include <cstring>

#include "kernels/layout.h"
#include "kernels/registry.h"
#include "kernels/strided.h"
#include "threads.h"
#include "variable.h"

namespace tapeflow {

std::string position(const Shape* shape, int rank, int64_t at) {
  if (rank == 0) return "";
  int64_t index[kMaxRank];
  for (int k = rank - 1; k >= 0; --k) {
    index[k] = at % shape->dims[k];
    at /= shape->dims[k];
  }
  std::ostringstream s;
  for (int k = 0; k < rank; ++k) s << (k ? "," : "[") << index[k];
  s << "]";
  return s.str();
}

void check_indices(const Tensor* indices, int64_t limit) {
  with_indices(indices, [&](const auto* index) {
    const int64_t bad = first_outside(index, indices->size(), limit);
    if (bad >= 0) {
      throw invalid("indices", position(indices->shape, indices->rank(), bad), " = ",
                    static_cast<int64_t>(index[bad]), " is not in [0, ", limit, ")");
    }
  });
}

std::string tuple_text(const Tensor* indices, int64_t depth, int64_t at) {
  std::ostringstream s;
  with_indices(indices, [&](const auto* index) {
    for (int64_t k = 0; k < depth; ++k) s << (k ? ", " : "") << index[at * depth + k];
  });
  return text("[", s.str(), "]");
}

namespace {

template <typename I, typename Row>
void pick(Row* out, const Row* params, const I* index, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) out[i] = params[index[i]];
}

template <typename I>
void pick_rows(char* out, const char* params, const I* index, int64_t begin, int64_t end, int64_t bytes) {
  switch (bytes) {  // single elements: no call to memcpy
    case 1: return pick(out, params, index, begin, end);
    case 2: return pick(reinterpret_cast<uint16_t*>(out), reinterpret_cast<const uint16_t*>(params), index, begin, end);
    case 4: return pick(reinterpret_cast<uint32_t*>(out), reinterpret_cast<const uint32_t*>(params), index, begin, end);
    case 8: return pick(reinterpret_cast<uint64_t*>(out), reinterpret_cast<const uint64_t*>(params), index, begin, end);
  }
  for (int64_t i = begin; i < end; ++i) std::memcpy(out + i * bytes, params + index[i] * bytes, bytes);
}

}  // namespace

void gather_rows(char* out, const char* params, const Tensor* indices, int64_t first, int64_t n, int64_t row_bytes) {
  if (row_bytes == 0) return;
  parallel_for(n, 4 + static_cast<double>(row_bytes) * 0.1, [&](int64_t begin, int64_t end) {
    with_indices(indices, [&](const auto* index) { pick_rows(out, params, index + first, begin, end, row_bytes); });
  });
}

namespace {

int64_t product(const Shape* s, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= s->dims[i];
  return n;
}

// params[b..., o..., indices[b..., :], inner...], with the axis after o.
Tensor* gather_axis(const Tensor* params, const Tensor* indices, int axis, int batch) {
  const Shape *ps = params->shape, *is = indices->shape;
  const int64_t limit = ps->dims[axis];
  check_indices(indices, limit);
  int64_t dims[3 * kMaxRank];
  int rank = 0;
  for (int i = 0; i < axis; ++i) dims[rank++] = ps->dims[i];
  for (int i = batch; i < is->rank; ++i) dims[rank++] = is->dims[i];
  for (int i = axis + 1; i < ps->rank; ++i) dims[rank++] = ps->dims[i];
  ShapeRef shape(rank, dims);
  Tensor* out = new_tensor(params->dtype, shape.get());
  if (shape->size == 0) return out;
  const int64_t batches = product(ps, 0, batch), outer = product(ps, batch, axis);
  const int64_t row = product(ps, axis + 1, ps->rank) * item_size(params->dtype);
  const int64_t picks = product(is, batch, is->rank);
  ReleaseGil unlock(batches * outer * picks * (2 + row / 10));
  const char* from = params->data;
  char* to = out->data;
  if (batches * outer == 1) {
    gather_rows(to, from, indices, 0, picks, row);
    return out;
  }
  const double ns = static_cast<double>(picks) * (4 + static_cast<double>(row) * 0.1);
  parallel_for(batches * outer, ns, [=](int64_t begin, int64_t end) {
    with_indices(indices, [&](const auto* index) {
      for (int64_t i = begin; i < end; ++i) {
        pick_rows(to + i * picks * row, from + i * limit * row, index + i / outer * picks, 0, picks, row);
      }
    });
  });
  return out;
}

TAPEFLOW_ATTRS(GatherAttrs, validate_indices);

bool gather(KernelCall& c, const GatherAttrs&) {
  const Tensor *params = c.in[0], *indices = c.in[1];
  if (!is_index_dtype(indices->dtype)) return false;
  if (params->rank() < 1) throw invalid("params must be at least 1 dimensional");
  c.out[0] = gather_axis(params, indices, 0, 0);
  return true;
}

TAPEFLOW_ATTRS(GatherV2Attrs, batch_dims);
TAPEFLOW_INPUTS(GatherV2Inputs, params, indices, axis);

bool gather_v2(KernelCall& c, const GatherV2Attrs& attrs, const GatherV2Inputs& in) {
  const Tensor *params = in.params, *indices = in.indices;
  if (!is_index_dtype(indices->dtype)) return false;
  const int rank = params->rank(), index_rank = indices->rank();
  if (rank < 1) throw invalid("params must be at least 1 dimensional");
  if (in.axis->rank() != 0) throw invalid("axis must be scalar");
  const int64_t given = single_int(in.axis);
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) {
    // Counted unsigned: the least axis has no positive of its own size.
    const uint64_t need = given < 0 ? 0 - static_cast<uint64_t>(given) : static_cast<uint64_t>(given) + 1;
    throw invalid("Shape must be at least rank ", need, " but is rank ", rank);
  }
  int64_t batch = attrs.batch_dims.i;
  if (batch != 0) {
    if (batch < -index_rank || batch > index_rank) {
      throw invalid("Expected batch_dims in the range [", -index_rank, ", ", index_rank, "], but got ", batch);
    }
    if (batch < 0) batch += index_rank;
    if (batch >= rank) throw invalid("batch_dims (", batch, ") must be less than rank(params) (", rank, ").");
    if (axis < batch) throw invalid("batch_dims (", batch, ") must be less than or equal to axis (", axis, ").");
    for (int i = 0; i < batch; ++i) {
      if (params->dim(i) != indices->dim(i)) {
        throw invalid("params.shape[", i, "]: ", params->dim(i), " should be equal to indices.shape[", i, "]: ",
                      indices->dim(i));
      }
    }
  }
  c.out[0] = gather_axis(params, indices, static_cast<int>(axis), static_cast<int>(batch));
  return true;
}

Tensor* gather_nd_of(const Tensor* params, const Tensor* indices) {
  const int rank = params->rank(), index_rank = indices->rank();
  if (rank < 1) throw invalid("params must be at least a vector");
  if (index_rank < 1) throw invalid("indices must be at least a vector");
  NdIndex nd;
  nd.depth = indices->dim(index_rank - 1);
  if (nd.depth > rank) {
    throw invalid("index innermost dimension length must be <= params rank; saw: ", nd.depth, " vs. ", rank);
  }
  const int depth = static_cast<int>(nd.depth);
  nd.rows = product(indices->shape, 0, index_rank - 1);
  nd.row_size = product(params->shape, depth, rank);
  int64_t dims[2 * kMaxRank];
  int n = 0;
  for (int i = 0; i + 1 < index_rank; ++i) dims[n++] = indices->dim(i);
  for (int i = depth; i < rank; ++i) dims[n++] = params->dim(i);
  ShapeRef shape(n, dims);
  if (params->size() == 0 && shape->size > 0) {
    throw invalid("Requested more than 0 entries, but params is empty.  Params shape: ", params->shape->str());
  }
  Scratch scratch(nd.rows * sizeof(int64_t) + 1);
  int64_t* offsets = scratch.as<int64_t>();
  with_indices(indices, [&](const auto* index) {
    for (int64_t i = 0; i < nd.rows; ++i) {
      offsets[i] = nd_offset(index, nd, params->shape, i);
      if (offsets[i] < 0) {
        throw invalid("indices", position(indices->shape, index_rank - 1, i), " = ", tuple_text(indices, nd.depth, i),
                      " does not index into param shape ", params->shape->str(), ", node name: GatherNd");
      }
    }
  });
  Tensor* out = new_tensor(params->dtype, shape.get());
  const int item = item_size(params->dtype);
  const int64_t row = nd.row_size * item;
  if (row == 0) return out;
  ReleaseGil unlock(nd.rows * (2 + row / 10));
  char* to = out->data;
  const char* from = params->data;
  parallel_for(nd.rows, 4 + static_cast<double>(row) * 0.1, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::memcpy(to + i * row, from + offsets[i] * item, row);
  });
  return out;
}

bool gather_nd(KernelCall& c, const BadIndicesAttrs& attrs) {
  if (ignores_bad_indices(attrs.bad_indices_policy) || !is_index_dtype(c.in[1]->dtype)) return false;
  c.out[0] = gather_nd_of(c.in[0], c.in[1]);
  return true;
}

TAPEFLOW_ATTRS(ResourceGatherAttrs, batch_dims, validate_indices, dtype);

bool resource_gather(KernelCall& c, const ResourceGatherAttrs& attrs) {
  const OwnedTensor params = value_of(c.in[0]);
  if (is_object(params->dtype) || !params->on_host() || attrs.batch_dims.i != 0) return false;
  if (params->dtype != attrs.dtype.type()) return false;  // the Python kernel says so
  if (params->rank() < 1) throw invalid("params must be at least 1 dimensional");
  c.out[0] = gather_axis(params.get(), c.in[1], 0, 0);
  return true;
}

TAPEFLOW_ATTRS(ResourceGatherNdAttrs, dtype);

bool resource_gather_nd(KernelCall& c, const ResourceGatherNdAttrs& attrs) {
  const OwnedTensor params = value_of(c.in[0]);
  if (is_object(params->dtype) || !params->on_host() || params->dtype != attrs.dtype.type()) return false;
  c.out[0] = gather_nd_of(params.get(), c.in[1]);
  return true;
}

TAPEFLOW_ATTRS(OneHotAttrs, axis);
TAPEFLOW_INPUTS(OneHotInputs, indices, depth, on_value, off_value);

template <typename I>
bool one_hot(KernelCall& c, const OneHotAttrs& attrs, const OneHotInputs& in) {
  const Tensor *indices = in.indices, *depth_t = in.depth, *on = in.on_value, *off = in.off_value;
  if (is_object(on->dtype)) return false;
  const int rank = indices->rank();
  const int64_t axis = attrs.axis.i < 0 ? attrs.axis.i + 1 + rank : attrs.axis.i;
  if (attrs.axis.i < -1 || axis > rank || rank == kMaxRank) {
    throw invalid("Expected axis to be -1 or between [0, ", rank + 1, ").  But received: ", attrs.axis.i);
  }
  if (depth_t->rank() != 0) throw invalid("depth must be a scalar, but got: ", depth_t->shape->str());
  if (on->rank() != 0) throw invalid("on_value must be a scalar, but got: ", on->shape->str());
  if (off->rank() != 0) throw invalid("off_value must be a scalar, but got: ", off->shape->str());
  const int64_t depth = single_int(depth_t);
  if (depth < 0) throw invalid("depth must be non-negative, got: ", depth);
  int64_t dims[kMaxRank];
  const Shape* s = indices->shape;
  std::copy(s->dims, s->dims + axis, dims);
  dims[axis] = depth;
  std::copy(s->dims + axis, s->dims + rank, dims + axis + 1);
  ShapeRef shape(rank + 1, dims);
  const int item = item_size(on->dtype);
  Tensor* out = c.out[0] = new_tensor(on->dtype, shape.get());
  if (shape->size == 0) return true;
  fill_items(out->data, shape->size, off->data, item);
  const int64_t inner = product(s, static_cast<int>(axis), rank);
  const I* index = indices->as<I>();
  ReleaseGil unlock(s->size * 2);
  with_item_type(item, [&](auto t) {
    using T = decltype(t);
    T* y = out->as<T>();
    const T value = *on->as<T>();
    parallel_for(s->size, 2, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t hot = static_cast<int64_t>(index[i]);
        if (hot >= 0 && hot < depth) y[(i / inner * depth + hot) * inner + i % inner] = value;
      }
    });
  });
  return true;
}

}  // namespace

void register_indexing() {
  register_kernel("Gather", kPlainDTypes, named<gather>);
  register_kernel("GatherV2", kPlainDTypes, named<gather_v2>);
  register_kernel("GatherNd", kPlainDTypes, named<gather_nd>);
  register_kernel("ResourceGather", {DType::kInt32, DType::kInt64}, named<resource_gather>);
  register_kernel("ResourceGatherNd", {DType::kInt32, DType::kInt64}, named<resource_gather_nd>);
  register_kernel("OneHot", {DType::kInt32}, named<one_hot<int32_t>>);
  register_kernel("OneHot", {DType::kInt64}, named<one_hot<int64_t>>);
  register_kernel("OneHot", {DType::kUInt8}, named<one_hot<uint8_t>>);
  register_band_part();
  register_partition();
  register_scatter();
  register_segment();
  register_selection();
  register_sparse_matmul();
  register_sparse_segment();
  register_unique();
  register_resource_scatter();
  register_resource_state();
}

}  // namespace tapeflow
