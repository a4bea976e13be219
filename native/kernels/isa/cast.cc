// Conversions between element types.
#include "elementwise_rows.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// Out of range, and for NaN, the smallest integer, as x86 has it; C++ leaves it undefined.
template <typename To, typename From> To to_integer(From x) {
  constexpr From top = sizeof(To) == 4 ? static_cast<From>(0x1p31) : static_cast<From>(0x1p63);
  return x >= -top && x < top ? static_cast<To>(x) : std::numeric_limits<To>::min();
}

template <typename To, typename From> To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (sizeof(To) < 4) return static_cast<To>(to_integer<int32_t>(x));
    else return to_integer<To>(x);
  } else if constexpr (std::is_same_v<From, bool>) {
    return static_cast<To>(static_cast<int>(x));  // in vectors, which GCC 12 does not do from bool to float
  } else {
    return static_cast<To>(x);
  }
}

template <typename To, typename From> constexpr auto kConvert = [](From x) { return convert<To>(x); };
template <typename To, typename From> constexpr double kCastCost =
    cost<std::conditional_t<(sizeof(To) > sizeof(From)), To, From>>(kCheap);

template <typename To, typename From> bool cast_to(KernelCall& c) {
  return map_unary(c, DTypeOf<To>::value, kCastCost<To, From>, unary_row<kConvert<To, From>, From>);
}

// For fused instructions every target is an op of its own.
template <typename To, typename From> void add_cast_loops() {
  register_loops(text("Cast ", dtype_name(DTypeOf<To>::value)), DTypeOf<From>::value,
                 {1, {DTypeOf<From>::value}, DTypeOf<To>::value,
                  {unary_row<kConvert<To, From>, From>}, kCastCost<To, From>, nullptr, unary_single<kConvert<To, From>, From>});
}

bool narrow(KernelCall& c, DType to) {
  return map_unary(c, to, cost<float>(kCheap), loops_of(text("Cast ", dtype_name(to)), DType::kFloat32)->rows[0]);
}

template <typename From> bool cast(KernelCall& c, const CastAttrs& attrs) {
  const DType to = attrs.DstT.type();
  if (to == DTypeOf<From>::value) {
    c.out[0] = view_tensor(c.in[0], c.in[0]->shape);
    return true;
  }
  switch (to) {
    case DType::kFloat32:
      // Rounding towards zero is left to the row.
      return std::is_same_v<From, double> && attrs.Truncate.b() ? false : cast_to<float, From>(c);
    case DType::kFloat64: return cast_to<double, From>(c);
    case DType::kInt32: return cast_to<int32_t, From>(c);
    case DType::kInt64: return cast_to<int64_t, From>(c);
    case DType::kUInt8: return cast_to<uint8_t, From>(c);
    case DType::kBool: return cast_to<bool, From>(c);
    case DType::kFloat16:
    case DType::kBFloat16: return std::is_same_v<From, float> && !attrs.Truncate.b() && narrow(c, to);
    default: return false;
  }
}

template <typename To, typename... From> void add_casts_to() {
  (add_cast_loops<To, From>(), ...);
}

template <typename... T> void add_casts() {
  (register_kernel("Cast", {DTypeOf<T>::value}, named<cast<T>>), ...);
  (add_casts_to<T, T...>(), ...);
}

}  // namespace

void register_cast() { add_casts<float, double, int32_t, int64_t, uint8_t, bool>(); }

}  // namespace tapeflow::TAPEFLOW_ISA
