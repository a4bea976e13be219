// UTF-8 decoded into code points, and code points encoded.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/indexing.h"
#include "kernels/texts.h"

namespace tapeflow {
namespace {

constexpr int32_t kLast = 0x10FFFF;

bool is_code_point(int64_t point) { return point >= 0 && point <= kLast && (point < 0xD800 || point > 0xDFFF); }

// The code point at the beginning of `text` and how many bytes it is; 0 bytes if these are no UTF-8.
int decode(std::string_view text, int32_t* point) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const int first = byte(0);
  const size_t size = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (size == 1) {
    *point = first;
    return 1;
  }
  if (size == 0 || size > text.size()) return 0;
  int32_t value = first & (0xFF >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if (starts_character(text[i])) return 0;
    value = value << 6 | (byte(i) & 0x3F);
  }
  static constexpr int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  *point = value;
  return value >= least[size] && is_code_point(value) ? static_cast<int>(size) : 0;
}

// The bytes of a code point, and how many.
size_t encode(int32_t point, char* to) {
  if (point < 0x80) {
    *to = static_cast<char>(point);
    return 1;
  }
  const size_t size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  for (size_t i = size - 1; i > 0; --i, point >>= 6) to[i] = static_cast<char>(0x80 | (point & 0x3F));
  to[0] = static_cast<char>(0xF00 >> size | point);
  return size;
}

template <typename T>
Tensor* vector_of(const std::vector<T>& values) {
  const auto n = static_cast<int64_t>(values.size());
  Tensor* made = new_tensor(DTypeOf<T>::value, 1, &n);
  std::copy(values.begin(), values.end(), made->as<T>());
  return made;
}

TAPEFLOW_ATTRS(DecodeAttrs, input_encoding, errors, replacement_char, replace_control_characters, Tsplits);

// Sound UTF-8 alone. The third output, where there is one, is where in its string each code point begins.
bool unicode_decode(KernelCall& c, const DecodeAttrs& attrs) {
  const Texts x(c.in[0]);
  const DType kind = attrs.Tsplits.type();
  if (!x || !AttrText(attrs.input_encoding).is("UTF-8") || attrs.replace_control_characters.b() ||
      !is_code_point(attrs.replacement_char.i) || !is_index_dtype(kind)) {
    return false;
  }
  std::vector<int32_t> points;
  std::vector<int64_t> starts;
  const int64_t ends = x.size() + 1;
  OwnedTensor splits(new_tensor(kind, 1, &ends));
  const auto end_row = [&](int64_t i) {
    const size_t n = points.size();
    if (kind == DType::kInt64) splits->as<int64_t>()[i] = static_cast<int64_t>(n);
    else splits->as<int32_t>()[i] = static_cast<int32_t>(n);
    return kind == DType::kInt64 || n <= INT32_MAX;
  };
  end_row(0);
  for (int64_t i = 0; i < x.size(); ++i) {
    const std::string_view text = x[i];
    for (size_t at = 0; at < text.size();) {
      int32_t point;
      const int size = decode(text.substr(at), &point);
      if (size == 0) return false;
      points.push_back(point);
      if (c.n_out > 2) starts.push_back(static_cast<int64_t>(at));
      at += static_cast<size_t>(size);
    }
    if (!end_row(i + 1)) return false;
  }
  OwnedTensor characters(vector_of(points));
  if (c.n_out > 2) c.out[2] = vector_of(starts);
  c.out[0] = splits.leak();
  c.out[1] = characters.leak();
  return true;
}

TAPEFLOW_ATTRS(EncodeAttrs, output_encoding, errors, replacement_char);

bool unicode_encode(KernelCall& c, const EncodeAttrs& attrs) {
  const Tensor *points = c.in[0], *splits = c.in[1];
  if (!AttrText(attrs.output_encoding).is("UTF-8") || !is_code_point(attrs.replacement_char.i) ||
      points->rank() != 1 || splits->rank() != 1 || splits->size() < 1) {
    return false;
  }
  const auto* x = points->as<int32_t>();
  if (!std::all_of(x, x + points->size(), is_code_point)) return false;
  return with_indices(splits, [&](const auto* ends) {
    const int64_t rows = splits->size() - 1;
    if (ends[0] != 0 || ends[rows] != points->size() || !std::is_sorted(ends, ends + rows + 1)) return false;
    NewTexts y(rows);
    std::string text;
    for (int64_t i = 0; i < rows; ++i) {
      text.resize(static_cast<size_t>(ends[i + 1] - ends[i]) * 4);
      size_t size = 0;
      for (int64_t k = ends[i]; k < ends[i + 1]; ++k) size += encode(x[k], text.data() + size);
      y.set(i, {text.data(), size});
    }
    c.out[0] = y.finish();
    return true;
  });
}

}  // namespace

void register_unicode() {
  const std::initializer_list<DType> splits = {DType::kInt32, DType::kInt64};
  register_kernel("UnicodeDecode", splits, named<unicode_decode>);
  register_kernel("UnicodeDecodeWithOffsets", splits, named<unicode_decode>);
  register_kernel("UnicodeEncode", splits, named<unicode_encode>);
}

}  // namespace tapeflow
