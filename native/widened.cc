#include "widened.h"

#include <vector>

#include "kernels/elementwise.h"
#include "kernels/loops.h"
#include "owned_tensor.h"

namespace tapeflow {

namespace {

Row conversion(const char* op, DType from) { return loops_of(op, from)->rows[0]; }

OwnedTensor converted(Tensor* from, DType to, Row row) {
  Tensor* out = nullptr;
  KernelCall c{nullptr, 1, &from, nullptr, 1, &out};
  map_unary(c, to, 0.25, row);
  return OwnedTensor(out);
}

// Whether an output is of the type variable that selects the kernel.
bool follows_key(const OpDef* op, size_t output) {
  const Arg& arg = (*op->outputs)[output];
  return arg.type_var >= 0 && arg.type_var == op->key_var;
}

template <DType narrow> bool widened(KernelCall& c) {
  static const Row to_float = conversion("Cast float32", narrow);
  static const Row to_narrow = conversion(narrow == DType::kFloat16 ? "Cast float16" : "Cast bfloat16", DType::kFloat32);
  std::vector<OwnedTensor> made(static_cast<size_t>(c.n_in));
  std::vector<Tensor*> in(c.in, c.in + c.n_in);
  KernelCall wide = c;
  wide.dying = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i]->dtype != narrow) continue;
    made[i] = converted(in[i], DType::kFloat32, to_float);
    in[i] = made[i].get();
    if (i < 64) wide.dying |= uint64_t{1} << i;
  }
  wide.in = in.data();
  if (!c.op->native[static_cast<int>(DType::kFloat32)](wide)) return false;
  for (int k = 0; k < c.n_out; ++k) {
    if (c.out[k]->dtype != DType::kFloat32 || !follows_key(c.op, c.op->outputs->size() == 1 ? 0 : static_cast<size_t>(k))) continue;
    const OwnedTensor result(c.out[k]);
    c.out[k] = nullptr;
    c.out[k] = converted(result.get(), narrow, to_narrow).leak();
  }
  return true;
}

}  // namespace

void widen_kernels(OpDef* op) {
  if (op->key_var < 0 || !op->native[static_cast<int>(DType::kFloat32)]) return;
  for (const Arg& in : *op->inputs) {
    if (in.type_var < 0 && is_object(in.fixed)) return;  // what is behind a handle is of the narrow dtype
  }
  for (const Arg& out : *op->outputs) {
    if (out.list && op->outputs->size() > 1) return;
  }
  constexpr int half = static_cast<int>(DType::kFloat16), brain = static_cast<int>(DType::kBFloat16);
  const uint64_t allowed = (*op->type_vars)[static_cast<size_t>(op->key_var)].allowed;
  if (!op->native[half] && (allowed & bit(DType::kFloat16))) op->native[half] = widened<DType::kFloat16>;
  if (!op->native[brain] && (allowed & bit(DType::kBFloat16))) op->native[brain] = widened<DType::kBFloat16>;
}

}  // namespace tapeflow
