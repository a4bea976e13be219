// Kernels that make a larger tensor out of a smaller one, or out of numbers: padding, tiling, broadcasting, filling.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/layout.h"
#include "kernels/strided.h"
#include "threads.h"

namespace tapeflow {
namespace {

constexpr char kZero[16] = {};

struct Paddings { int64_t before[kMaxRank], after[kMaxRank], out[kMaxRank]; };

// Reads [rank, 2] paddings and computes the padded shape. Messages differ a little between Pad and MirrorPad.
void read_paddings(const Tensor* x, const Tensor* t, bool mirror, Paddings* p) {
  const int rank = x->rank();
  if (t->rank() != 2 || t->dim(1) != 2) {
    throw invalid("paddings must be a matrix with 2 columns: ", t->shape->str());
  }
  if (t->dim(0) != rank) {
    throw invalid("The first dimension of paddings must be the rank of inputs", t->shape->str(),
                  mirror ? ", " : " ", x->shape->str());
  }
  for (int i = 0; i < rank; ++i) {
    auto at = [&](int k) { return t->dtype == DType::kInt64 ? t->as<int64_t>()[k] : t->as<int32_t>()[k]; };
    const int64_t a = p->before[i] = at(2 * i), b = p->after[i] = at(2 * i + 1);
    if (a < 0 || b < 0) {
      throw invalid(mirror ? "paddings" : "Paddings", " must be non-negative: ", a, " ", b);
    }
    int64_t both;
    if (__builtin_add_overflow(a, b, &both) || __builtin_add_overflow(both, x->dim(i), &p->out[i])) {
      throw invalid("Padded dimension ", i, " would exceed 2**63 - 1: ", x->dim(i), " + ", a, " + ", b);
    }
  }
}

// Copies x into out where the padding leaves room.
void copy_interior(const Tensor* x, Tensor* out, const Paddings& p) {
  if (x->size() == 0) return;
  int64_t from[kMaxRank], to[kMaxRank];
  const int rank = x->rank(), item = item_size(x->dtype);
  row_major(rank, x->shape->dims, from);
  row_major(rank, p.out, to);
  int64_t first = 0;
  for (int i = 0; i < rank; ++i) first += p.before[i] * to[i];
  strided_copy(out->data + first * item, to, x->data, from, rank, x->shape->dims, item);
}

void pad_with(KernelCall& c, const void* value) {
  Tensor* x = c.in[0];
  Paddings p;
  read_paddings(x, c.in[1], false, &p);
  ShapeRef shape(x->rank(), p.out);
  Tensor* out = c.out[0] = new_tensor(x->dtype, shape.get());
  if (shape->size != x->size()) fill_items(out->data, shape->size, value, item_size(x->dtype));
  copy_interior(x, out, p);
}

bool pad(KernelCall& c) {
  pad_with(c, kZero);
  return true;
}

TAPEFLOW_INPUTS(PadV2Inputs, input, paddings, constant_values);

bool pad_v2(KernelCall& c, const PadV2Inputs& in) {
  const Tensor* value = in.constant_values;
  if (value->rank() != 0) throw invalid("constant_values must be a scalar. Found: ", value->shape->str());
  pad_with(c, value->data);
  return true;
}

TAPEFLOW_ATTRS(MirrorPadAttrs, mode);

bool mirror_pad(KernelCall& c, const MirrorPadAttrs& attrs) {
  Tensor* x = c.in[0];
  const int rank = x->rank();
  const bool reflect = !std::strcmp(attrs.mode.str(), "REFLECT");
  Paddings p;
  read_paddings(x, c.in[1], true, &p);
  for (int i = 0; i < rank; ++i) {
    const int64_t limit = x->dim(i) - (reflect ? 1 : 0);
    if (p.before[i] > limit || p.after[i] > limit) {
      throw invalid("paddings must be ", reflect ? "less" : "no greater", " than the dimension size: ",
                    p.before[i], ", ", p.after[i], reflect ? " not less than " : " greater than ", x->dim(i));
    }
  }
  ShapeRef shape(rank, p.out);
  Tensor* out = c.out[0] = new_tensor(x->dtype, shape.get());
  if (shape->size == 0) return true;
  copy_interior(x, out, p);
  // The innermost axis first: each axis then mirrors slabs whose inner axes are complete.
  const int item = item_size(x->dtype);
  int64_t to[kMaxRank], index[kMaxRank] = {};
  row_major(rank, p.out, to);
  for (int k = rank - 1; k >= 0; --k) {
    if (p.before[k] == 0 && p.after[k] == 0) continue;
    const int64_t slab = to[k] * item, n = x->dim(k);
    const int64_t skip = reflect ? 1 : 0;
    for (;;) {
      int64_t base = p.before[k] * to[k];
      for (int i = 0; i < k; ++i) base += (p.before[i] + index[i]) * to[i];
      char* first = out->data + base * item;
      char* last = first + (n - 1) * slab;
      for (int64_t j = 0; j < p.before[k]; ++j) std::memcpy(first - (j + 1) * slab, first + (j + skip) * slab, slab);
      for (int64_t j = 0; j < p.after[k]; ++j) std::memcpy(last + (j + 1) * slab, last - (j + skip) * slab, slab);
      int i = k - 1;
      while (i >= 0 && ++index[i] == x->dim(i)) index[i--] = 0;
      if (i < 0) break;
    }
  }
  return true;
}

bool tile(KernelCall& c) {
  Tensor* x = c.in[0];
  const int rank = x->rank();
  if (c.in[1]->rank() != 1) {
    throw invalid("Expected multiples to be 1-D, but got shape ", c.in[1]->shape->str());
  }
  if (c.in[1]->size() != rank) {
    throw invalid("Expected multiples argument to be a vector of length ", rank, " but got length ",
                  c.in[1]->size());
  }
  IntVector times;
  vector_ints(c.in[1], "multiples", &times);
  int64_t dims[kMaxRank], strides[kMaxRank], to[kMaxRank];
  for (int i = 0; i < rank; ++i) {
    if (times.v[i] < 0) throw invalid("Expected multiples[", i, "] >= 0, but got ", times.v[i]);
    if (__builtin_mul_overflow(times.v[i], x->dim(i), &dims[i])) {
      throw invalid("Tiled dimension ", i, " would exceed 2**63 - 1: ", x->dim(i), " * ", times.v[i]);
    }
  }
  ShapeRef shape(rank, dims);
  Tensor* out = c.out[0] = new_tensor(x->dtype, shape.get());
  if (shape->size == 0) return true;
  // Each axis becomes two: over the copies, which stays in place in x, and within one.
  row_major(rank, x->shape->dims, strides);
  row_major(rank, dims, to);
  int64_t n[2 * kMaxRank], from2[2 * kMaxRank], to2[2 * kMaxRank];
  for (int i = 0; i < rank; ++i) {
    n[2 * i] = times.v[i];
    from2[2 * i] = 0;
    to2[2 * i] = x->dim(i) * to[i];
    n[2 * i + 1] = x->dim(i);
    from2[2 * i + 1] = strides[i];
    to2[2 * i + 1] = to[i];
  }
  strided_copy(out->data, to2, x->data, from2, 2 * rank, n, item_size(x->dtype));
  return true;
}

bool broadcast_to(KernelCall& c) {
  Tensor* x = c.in[0];
  if (c.in[1]->rank() != 1) {
    throw invalid("shape must be a vector of {int32,int64}, got shape ", c.in[1]->shape->str());
  }
  IntVector dims;
  vector_ints(c.in[1], "shape", &dims);
  ShapeRef shape(dims.n, dims.v);
  const int rank = x->rank(), shift = dims.n - rank;
  if (shift < 0) {
    throw invalid("Rank of input (", rank, ") must be no greater than rank of output shape (", dims.n, ").");
  }
  int64_t strides[kMaxRank], from[kMaxRank], to[kMaxRank];
  row_major(rank, x->shape->dims, strides);
  for (int i = 0; i < dims.n; ++i) {
    const int64_t d = i < shift ? 1 : x->dim(i - shift);
    if (d != 1 && d != dims.v[i]) {
      throw invalid("Unable to broadcast tensor of shape ", x->shape->str(), " to tensor of shape ", shape->str());
    }
    from[i] = d == 1 ? 0 : strides[i - shift];
  }
  if (shape->size == x->size()) {
    c.out[0] = view_tensor(x, shape.get());
    return true;
  }
  Tensor* out = c.out[0] = new_tensor(x->dtype, shape.get());
  if (shape->size == 0) return true;
  row_major(dims.n, dims.v, to);
  strided_copy(out->data, to, x->data, from, dims.n, dims.v, item_size(x->dtype));
  return true;
}

bool fill(KernelCall& c) {
  const Tensor* value = c.in[1];
  if (is_object(value->dtype)) return false;
  IntVector dims;
  if (c.in[0]->rank() == 0) {  // accepted for the sake of old programs
    dims.n = 1;
    dims.v[0] = single_int(c.in[0]);
  } else if (c.in[0]->rank() != 1) {
    throw invalid("dims must represent a vector, got shape ", c.in[0]->shape->str());
  } else {
    vector_ints(c.in[0], "dims", &dims);
  }
  if (value->size() != 1) throw invalid("value must represent a scalar, got shape ", value->shape->str());
  ShapeRef shape(dims.n, dims.v);
  c.out[0] = new_tensor(value->dtype, shape.get());
  fill_items(c.out[0]->data, shape->size, value->data, item_size(value->dtype));
  return true;
}

bool zeros_like(KernelCall& c) {
  c.out[0] = new_tensor(c.in[0]->dtype, c.in[0]->shape);
  fill_items(c.out[0]->data, c.in[0]->size(), kZero, item_size(c.in[0]->dtype));
  return true;
}

bool ones_like(KernelCall& c) {
  const DType type = c.in[0]->dtype;
  char one[16] = {};
  auto put = [&](auto v) { std::memcpy(one, &v, sizeof v); };
  switch (type) {
    case DType::kFloat32: case DType::kComplex64: put(1.0f); break;
    case DType::kFloat64: case DType::kComplex128: put(1.0); break;
    case DType::kFloat16: put(uint16_t{0x3C00}); break;
    case DType::kBFloat16: put(uint16_t{0x3F80}); break;
    case DType::kFloat8E5M2: put(uint8_t{0x3C}); break;
    case DType::kFloat8E4M3FN: put(uint8_t{0x38}); break;
    case DType::kInt64: case DType::kUInt64: put(int64_t{1}); break;
    case DType::kInt32: case DType::kUInt32: put(int32_t{1}); break;
    case DType::kInt16: case DType::kUInt16: put(int16_t{1}); break;
    case DType::kInt8: case DType::kUInt8: case DType::kBool: put(int8_t{1}); break;
    default: return false;
  }
  c.out[0] = new_tensor(type, c.in[0]->shape);
  fill_items(c.out[0]->data, c.in[0]->size(), one, item_size(type));
  return true;
}

TAPEFLOW_INPUTS(RangeInputs, start, limit, delta);

template <typename T>
bool range(KernelCall& c, const RangeInputs& in) {
  static const char* const names[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; ++i) {
    if (c.in[i]->size() != 1) throw invalid(names[i], " must be a scalar, not shape ", c.in[i]->shape->str());
  }
  const T start = *in.start->as<T>(), limit = *in.limit->as<T>(), delta = *in.delta->as<T>();
  if (delta == 0) throw invalid("Requires delta != 0: ", delta);
  if (delta > 0 ? !(start <= limit) : !(start >= limit)) {
    throw invalid(delta > 0 ? "Requires start <= limit when delta > 0: "
                            : "Requires start >= limit when delta < 0: ", start, "/", limit);
  }
  int64_t n;
  if constexpr (std::is_integral_v<T>) {
    // Unsigned, since the whole range of T may lie between the two.
    const uint64_t span = delta > 0 ? uint64_t(limit) - uint64_t(start) : uint64_t(start) - uint64_t(limit);
    const uint64_t step = delta > 0 ? uint64_t(delta) : uint64_t{0} - uint64_t(delta);
    const uint64_t steps = span / step + (span % step != 0);
    if (steps > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      throw invalid("Requires ((limit - start) / delta) <= ", std::numeric_limits<int64_t>::max());
    }
    n = static_cast<int64_t>(steps);
  } else {
    const double steps = std::ceil(std::abs((limit - start) / delta));
    if (!(steps < 9223372036854775808.0)) {
      throw invalid("Requires ((limit - start) / delta) <= ", std::numeric_limits<int64_t>::max());
    }
    n = static_cast<int64_t>(steps);
  }
  Tensor* out = c.out[0] = new_tensor(DTypeOf<T>::value, 1, &n);
  T* y = out->as<T>();
  ReleaseGil unlock(n / 2);
  parallel_for(n, 0.5, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if constexpr (std::is_integral_v<T>) {
        y[i] = static_cast<T>(static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
      } else {
        y[i] = start + static_cast<T>(i) * delta;
      }
    }
  });
  return true;
}

}  // namespace

void register_fill() {
  register_kernel("Pad", kPlainDTypes, pad);
  register_kernel("PadV2", kPlainDTypes, named<pad_v2>);
  register_kernel("MirrorPad", kPlainDTypes, named<mirror_pad>);
  register_kernel("Tile", kPlainDTypes, tile);
  register_kernel("BroadcastTo", kPlainDTypes, broadcast_to);
  register_kernel("Fill", {DType::kInt32, DType::kInt64}, fill);
  register_kernel("ZerosLike", kPlainDTypes, zeros_like);
  register_kernel("OnesLike", kPlainDTypes, ones_like);
  register_kernel("Range", {DType::kFloat32}, named<range<float>>);
  register_kernel("Range", {DType::kFloat64}, named<range<double>>);
  register_kernel("Range", {DType::kInt32}, named<range<int32_t>>);
  register_kernel("Range", {DType::kInt64}, named<range<int64_t>>);
}

}  // namespace tapeflow
