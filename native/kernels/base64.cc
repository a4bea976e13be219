// Base64, in the alphabet that is safe in URLs.
#include <algorithm>
#include <array>

#include "kernels/texts.h"

namespace tapeflow {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr auto kValues = [] {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kDigits.size(); ++i) values[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  return values;
}();

TAPEFLOW_ATTRS(EncodeAttrs, pad);

bool encode(KernelCall& c, const EncodeAttrs& attrs) {
  return texts_of_texts(c, [pad = attrs.pad.b()](NewTexts* y, int64_t i, const Texts& x) {
    const std::string_view text = x[i];
    const size_t digits = (text.size() * 8 + 5) / 6, size = pad ? (digits + 3) / 4 * 4 : digits;
    char* to = y->make(i, size);
    uint32_t bits = 0;
    int held = 0;  // how many of the lowest bits are not written
    char* at = to;
    for (const char byte : text) {
      bits = bits << 8 | static_cast<unsigned char>(byte);
      for (held += 8; held >= 6;) *at++ = kDigits[bits >> (held -= 6) & 63];
    }
    if (held > 0) *at++ = kDigits[bits << (6 - held) & 63];
    std::fill(at, to + size, '=');
    return true;
  });
}

bool decode(KernelCall& c) {
  return texts_of_texts(c, [](NewTexts* y, int64_t i, const Texts& x) {
    std::string_view text = x[i];
    const size_t whole = text.size();
    while (!text.empty() && text.back() == '=') text.remove_suffix(1);
    if (text.size() % 4 == 1 || (whole > text.size() && (whole % 4 != 0 || whole - text.size() > 2))) return false;
    char* to = y->make(i, text.size() * 6 / 8);
    uint32_t bits = 0;
    int held = 0;
    for (const char digit : text) {
      const int value = kValues[static_cast<unsigned char>(digit)];
      if (value < 0) return false;
      bits = bits << 6 | static_cast<uint32_t>(value);
      if ((held += 6) >= 8) *to++ = static_cast<char>(bits >> (held -= 8));
    }
    return true;
  });
}

}  // namespace

void register_base64() {
  register_kernel("EncodeBase64", {DType::kInvalid}, named<encode>);
  register_kernel("DecodeBase64", {DType::kInvalid}, decode);
}

}  // namespace tapeflow
