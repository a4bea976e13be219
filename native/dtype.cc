#include "dtype.h"

namespace tapeflow {

namespace {
struct Names { const char* full; const char* brief; };
constexpr Names kNames[kDTypeCount] = {
    {"invalid", "invalid"}, {"float32", "float"}, {"float64", "double"}, {"int32", "int32"},
    {"uint8", "uint8"}, {"int16", "int16"}, {"int8", "int8"}, {"string", "string"},
    {"complex64", "complex64"}, {"int64", "int64"}, {"bool", "bool"}, {"qint8", "qint8"},
    {"quint8", "quint8"}, {"qint32", "qint32"}, {"bfloat16", "bfloat16"}, {"qint16", "qint16"},
    {"quint16", "quint16"}, {"uint16", "uint16"}, {"complex128", "complex128"}, {"float16", "half"},
    {"resource", "resource"}, {"variant", "variant"}, {"uint32", "uint32"}, {"uint64", "uint64"},
    {"float8_e5m2", "float8_e5m2"}, {"float8_e4m3fn", "float8_e4m3fn"}, {"invalid", "invalid"},
    {"invalid", "invalid"}, {"invalid", "invalid"}, {"int4", "int4"}, {"uint4", "uint4"}, {"invalid", "invalid"}};
}  // namespace

const char* dtype_name(DType d) { return kNames[static_cast<int>(d)].full; }
const char* dtype_short_name(DType d) { return kNames[static_cast<int>(d)].brief; }

}  // namespace tapeflow
