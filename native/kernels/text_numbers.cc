// Numbers read from strings, and written as strings.
#include <charconv>
#include <cmath>
#include <string>

#include "kernels/texts.h"

namespace tapeflow {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool same_letters(std::string_view text, std::string_view small) {
  if (text.size() != small.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) if (lower(text[i]) != small[i]) return false;
  return true;
}

template <typename T>
bool read_whole(std::string_view text, T* out) {
  text = stripped(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, *out);
  return error == std::errc() && at == end;
}

}  // namespace

bool read_number(std::string_view text, double* out) {
  text = stripped(text);
  if (text.empty()) return false;
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  if (text.empty()) return false;
  if ((text[0] < '0' || text[0] > '9') && text[0] != '.') {
    if (same_letters(text, "nan")) *out = std::nan("");
    else if (same_letters(text, "inf") || same_letters(text, "infinity")) *out = HUGE_VAL;
    else return false;
  } else {
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, *out);
    if (error != std::errc() || at != end) return false;
  }
  if (negative) *out = -*out;
  return true;
}

bool read_number(std::string_view text, float* out) {
  double wide;
  if (!read_number(text, &wide)) return false;
  *out = static_cast<float>(wide);
  return true;
}

bool read_number(std::string_view text, int32_t* out) { return read_whole(text, out); }
bool read_number(std::string_view text, int64_t* out) { return read_whole(text, out); }
bool read_number(std::string_view text, uint32_t* out) { return read_whole(text, out); }
bool read_number(std::string_view text, uint64_t* out) { return read_whole(text, out); }

namespace {

template <typename T>
bool read_all(KernelCall& c, DType dtype) {
  return numbers_of_texts<T>(c, dtype, [](std::string_view text, T* out) { return read_number(text, out); });
}

TAPEFLOW_ATTRS(ToNumberAttrs, out_type);

bool to_number(KernelCall& c, const ToNumberAttrs& attrs) {
  const DType dtype = attrs.out_type.type();
  switch (dtype) {
    case DType::kFloat32: return read_all<float>(c, dtype);
    case DType::kFloat64: return read_all<double>(c, dtype);
    case DType::kInt32: return read_all<int32_t>(c, dtype);
    case DType::kInt64: return read_all<int64_t>(c, dtype);
    case DType::kUInt32: return read_all<uint32_t>(c, dtype);
    case DType::kUInt64: return read_all<uint64_t>(c, dtype);
    default: return false;
  }
}

TAPEFLOW_ATTRS(AsStringAttrs, precision, scientific, shortest, width, fill);

// Each element written by `write(first, last, element)`, as std::to_chars does.
template <typename T, typename F>
bool written(KernelCall& c, F&& write) {
  const Tensor* x = c.in[0];
  NewTexts y(x->shape);
  char buffer[512];  // the largest number has 309 digits before the point
  for (int64_t i = 0; i < x->size(); ++i) {
    const auto [end, error] = write(buffer, buffer + sizeof buffer, x->as<T>()[i]);
    if (error != std::errc()) return false;
    y.set(i, {buffer, static_cast<size_t>(end - buffer)});
  }
  c.out[0] = y.finish();
  return true;
}

bool is_plain(const AsStringAttrs& attrs) { return attrs.width.i < 0 && AttrText(attrs.fill).is(""); }

template <typename T>
bool whole_as_string(KernelCall& c, const AsStringAttrs& attrs) {
  if (!is_plain(attrs) || attrs.scientific.b() || attrs.shortest.b() || attrs.precision.i >= 0) return false;
  return written<T>(c, [](char* from, char* to, T value) { return std::to_chars(from, to, value); });
}

template <typename T>
bool real_as_string(KernelCall& c, const AsStringAttrs& attrs) {
  constexpr int kMostDigits = 100;
  if (!is_plain(attrs) || attrs.precision.i > kMostDigits || (attrs.scientific.b() && attrs.shortest.b())) return false;
  const int digits = attrs.precision.i < 0 ? 6 : static_cast<int>(attrs.precision.i);
  const auto form = attrs.scientific.b() ? std::chars_format::scientific
                    : attrs.shortest.b() ? std::chars_format::general
                                         : std::chars_format::fixed;
  return written<T>(c, [=](char* from, char* to, T value) {
    const double wide = std::isnan(value) ? std::nan("") : static_cast<double>(value);  // of no sign
    return std::to_chars(from, to, wide, form, digits);
  });
}

}  // namespace

void register_text_numbers() {
  register_kernel("StringToNumber", {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUInt32, DType::kUInt64},
                  named<to_number>);
  register_kernel("AsString", {DType::kInt32}, named<whole_as_string<int32_t>>);
  register_kernel("AsString", {DType::kInt64}, named<whole_as_string<int64_t>>);
  register_kernel("AsString", {DType::kUInt8}, named<whole_as_string<uint8_t>>);
  register_kernel("AsString", {DType::kFloat32}, named<real_as_string<float>>);
  register_kernel("AsString", {DType::kFloat64}, named<real_as_string<double>>);
}

}  // namespace tapeflow
