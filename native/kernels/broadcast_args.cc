// BroadcastArgs and BroadcastGradientArgs: shapes that are tensors. Gradients of steps whose batch is not known before they
// run ask for them at each operation.
#include <algorithm>
#include <sstream>

#include "kernels/layout.h"

namespace tapeflow {
namespace {

// The sizes of two shapes, aligned at the right; those that a shorter one lacks are 1.
struct Sizes {
  int64_t x[kMaxRank], y[kMaxRank];
  int64_t rank, lead_x, lead_y;  // how many the shorter one lacks
};

template <typename T>
std::string brackets(const Tensor* shape) {
  std::ostringstream s;
  for (int64_t i = 0; i < shape->size(); ++i) s << (i ? "," : "[") << shape->as<T>()[i];
  s << (shape->size() ? "]" : "[]");
  return s.str();
}

// False where there are more than a tensor can have.
template <typename T>
bool aligned(const KernelCall& c, Sizes* found) {
  for (int i = 0; i < 2; ++i) {
    if (c.in[i]->rank() != 1) throw invalid("In[", i, "] must be a vector.", c.in[i]->shape->str());
  }
  const Tensor *s0 = c.in[0], *s1 = c.in[1];
  found->rank = std::max(s0->size(), s1->size());
  if (found->rank > kMaxRank) return false;
  found->lead_x = found->rank - s0->size();
  found->lead_y = found->rank - s1->size();
  for (int64_t i = 0; i < found->rank; ++i) {
    const int64_t x = found->x[i] = i < found->lead_x ? 1 : s0->as<T>()[i - found->lead_x];
    const int64_t y = found->y[i] = i < found->lead_y ? 1 : s1->as<T>()[i - found->lead_y];
    if (x != y && x != 1 && y != 1) {
      throw invalid("Incompatible shapes: ", brackets<T>(s0), " vs. ", brackets<T>(s1));
    }
  }
  return true;
}

template <typename T>
Tensor* vector_of(const KernelCall& c, const int64_t* values, int64_t n) {
  Tensor* made = new_tensor(c.in[0]->dtype, ShapeRef(1, &n).get());
  std::copy_n(values, n, made->as<T>());
  return made;
}

template <typename T>
bool broadcast_args(KernelCall& c) {
  Sizes s;
  if (!aligned<T>(c, &s)) return false;
  for (int64_t i = 0; i < s.rank; ++i) if (s.x[i] == 1) s.x[i] = s.y[i];
  c.out[0] = vector_of<T>(c, s.x, s.rank);
  return true;
}

// The axes along which each operand was repeated, which its gradient is summed over.
template <typename T>
bool broadcast_gradient_args(KernelCall& c) {
  Sizes s;
  if (!aligned<T>(c, &s)) return false;
  int64_t x[kMaxRank], y[kMaxRank], n_x = 0, n_y = 0;
  const bool equal = s.lead_x == s.lead_y && std::equal(s.x, s.x + s.rank, s.y);
  for (int64_t i = 0; i < s.rank && !equal; ++i) {
    if (s.x[i] == 1) x[n_x++] = i;
    if (s.y[i] == 1) y[n_y++] = i;
  }
  c.out[0] = vector_of<T>(c, x, n_x);
  c.out[1] = vector_of<T>(c, y, n_y);
  return true;
}

template <typename T>
void register_for(DType d) {
  register_kernel("BroadcastArgs", {d}, broadcast_args<T>);
  register_kernel("BroadcastGradientArgs", {d}, broadcast_gradient_args<T>);
}

}  // namespace

void register_broadcast_args() {
  register_for<int32_t>(DType::kInt32);
  register_for<int64_t>(DType::kInt64);
}

}  // namespace tapeflow
