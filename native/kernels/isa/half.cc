// Conversions of 16-bit floats from and to float.
#include "../half.h"
#include "elementwise_rows.h"
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace tapeflow::TAPEFLOW_ISA {
namespace {

void half_to_float(const void* const* in, void* out, int64_t n, const Attr*) {
  const auto* x = static_cast<const Half*>(in[0]);
  auto* y = static_cast<float*>(out);
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  }
#endif
  for (; i < n; ++i) y[i] = to_float(x[i]);
}

void float_to_half(const void* const* in, void* out, int64_t n, const Attr*) {
  const auto* x = static_cast<const float*>(in[0]);
  auto* y = static_cast<Half*>(out);
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i eight = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), eight);
  }
#endif
  for (; i < n; ++i) y[i] = to_half(x[i]);
}

void bfloat16_to_float(const void* const* in, void* out, int64_t n, const Attr*) {
  const auto* __restrict x = static_cast<const uint16_t*>(in[0]);
  auto* __restrict y = static_cast<uint32_t*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<uint32_t>(x[i]) << 16;
}

void float_to_bfloat16(const void* const* in, void* out, int64_t n, const Attr*) {
  const auto* __restrict x = static_cast<const uint32_t*>(in[0]);
  auto* __restrict y = static_cast<uint16_t*>(out);
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t b = x[i];
    const bool nan = (b & 0x7fffffff) > 0x7f800000;
    y[i] = static_cast<uint16_t>((nan ? b | 0x400000 : b + 0x7fff + (b >> 16 & 1)) >> 16);
  }
}

template <DType from, DType to, Row row> bool converted(KernelCall& c, const CastAttrs& attrs) {
  if (attrs.DstT.type() == from) {
    c.out[0] = view_tensor(c.in[0], c.in[0]->shape);
    return true;
  }
  return attrs.DstT.type() == to && map_unary(c, to, cost<float>(kCheap), row);
}

void add_widening(DType narrow, Row row) {
  register_loops("Cast float32", narrow, {1, {narrow}, DType::kFloat32, {row}, cost<float>(kCheap)});
}

void add_narrowing(DType narrow, Row row) {
  register_loops(text("Cast ", dtype_name(narrow)), DType::kFloat32,
                 {1, {DType::kFloat32}, narrow, {row}, cost<float>(kCheap)});
}

}  // namespace

void register_half() {
  constexpr DType half = DType::kFloat16, brain = DType::kBFloat16;
  register_kernel("Cast", {half}, named<converted<half, DType::kFloat32, half_to_float>>);
  register_kernel("Cast", {brain}, named<converted<brain, DType::kFloat32, bfloat16_to_float>>);
  add_widening(half, half_to_float);
  add_widening(brain, bfloat16_to_float);
  add_narrowing(half, float_to_half);
  add_narrowing(brain, float_to_bfloat16);
}

}  // namespace tapeflow::TAPEFLOW_ISA
