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

// The type variables that stand for the narrow dtype in a call: bits by their places. Where inputs are lists, the one that
// selects the kernel.
uint64_t narrow_variables(const KernelCall& c, DType narrow) {
  uint64_t found = uint64_t{1} << c.op->key_var;
  for (int i = 0; i < c.n_in && !c.op->has_list; ++i) {
    const int variable = (*c.op->inputs)[static_cast<size_t>(i)].type_var;
    if (variable >= 0 && c.in[i]->dtype == narrow) found |= uint64_t{1} << variable;
  }
  return found;
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
  const uint64_t variables = narrow_variables(c, narrow);
  for (int k = 0; k < c.n_out; ++k) {
    const int variable = (*c.op->outputs)[c.op->outputs->size() == 1 ? 0 : static_cast<size_t>(k)].type_var;
    if (c.out[k]->dtype != DType::kFloat32 || variable < 0 || !(variables >> variable & 1)) continue;
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
