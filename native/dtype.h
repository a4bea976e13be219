// Element types. The numbers are those of TensorFlow's types.proto, so that formats need no table.
#pragma once
#include <cstdint>

namespace tapeflow {

enum class DType : uint8_t {
  kInvalid = 0, kFloat32 = 1, kFloat64 = 2, kInt32 = 3, kUInt8 = 4, kInt16 = 5, kInt8 = 6,
  kString = 7, kComplex64 = 8, kInt64 = 9, kBool = 10, kQInt8 = 11, kQUInt8 = 12, kQInt32 = 13,
  kBFloat16 = 14, kQInt16 = 15, kQUInt16 = 16, kUInt16 = 17, kComplex128 = 18, kFloat16 = 19,
  kResource = 20, kVariant = 21, kUInt32 = 22, kUInt64 = 23, kFloat8E5M2 = 24, kFloat8E4M3FN = 25,
  kInt4 = 29, kUInt4 = 30,
};
constexpr int kDTypeCount = 32;  // one more than the largest number; sets of dtypes are 64-bit masks

constexpr uint64_t bit(DType d) { return uint64_t{1} << static_cast<int>(d); }

// Bytes of one element; 0 for types whose elements are Python objects (string, resource, variant).
inline int item_size(DType d) {
  static constexpr uint8_t sizes[kDTypeCount] = {
      0, 4, 8, 4, 1, 2, 1, 0, 8, 8, 1, 1, 1, 4, 2, 2, 2, 2, 16, 2, 0, 0, 4, 8, 1, 1, 0, 0, 0, 1, 1, 0};
  return sizes[static_cast<int>(d)];
}

const char* dtype_name(DType d);  // "float32"
const char* dtype_short_name(DType d);  // TensorFlow's name in kernel messages: "float", "double", ...

inline bool is_floating(DType d) {
  return (bit(d) & (bit(DType::kFloat32) | bit(DType::kFloat64) | bit(DType::kBFloat16) |
                    bit(DType::kFloat16) | bit(DType::kFloat8E5M2) | bit(DType::kFloat8E4M3FN))) != 0;
}
inline bool is_complex(DType d) { return d == DType::kComplex64 || d == DType::kComplex128; }
inline bool is_integer(DType d) {
  return (bit(d) & (bit(DType::kInt32) | bit(DType::kUInt8) | bit(DType::kInt16) | bit(DType::kInt8) |
                    bit(DType::kInt64) | bit(DType::kUInt16) | bit(DType::kUInt32) |
                    bit(DType::kUInt64) | bit(DType::kInt4) | bit(DType::kUInt4))) != 0;
}
inline bool is_object(DType d) {
  return d == DType::kString || d == DType::kResource || d == DType::kVariant;
}

// C++ type -> DType, for templated kernels.
template <typename T> struct DTypeOf;
template <> struct DTypeOf<float> { static constexpr DType value = DType::kFloat32; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::kFloat64; };
template <> struct DTypeOf<int32_t> { static constexpr DType value = DType::kInt32; };
template <> struct DTypeOf<int64_t> { static constexpr DType value = DType::kInt64; };
template <> struct DTypeOf<bool> { static constexpr DType value = DType::kBool; };
template <> struct DTypeOf<uint8_t> { static constexpr DType value = DType::kUInt8; };

}  // namespace tapeflow
