// Strings measured, cut and joined, and their case.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/indexing.h"
#include "kernels/texts.h"

namespace tapeflow {
namespace {

int64_t characters(std::string_view text) { return std::count_if(text.begin(), text.end(), starts_character); }

// Where character `number` begins; the end of the text if it has no more.
size_t character_start(std::string_view text, int64_t number) {
  for (size_t i = 0; i < text.size(); ++i) if (starts_character(text[i]) && number-- == 0) return i;
  return text.size();
}

TAPEFLOW_ATTRS(UnitAttrs, unit);

bool length(KernelCall& c, const UnitAttrs& attrs) {
  const AttrText unit(attrs.unit);
  const bool bytes = unit.is("BYTE");
  if (!bytes && !unit.is("UTF8_CHAR")) return false;
  return numbers_of_texts<int32_t>(c, DType::kInt32, [=](std::string_view text, int32_t* out) {
    *out = static_cast<int32_t>(bytes ? static_cast<int64_t>(text.size()) : characters(text));
    return true;
  });
}

// A part of a text, of `count` units from unit `pos`; null: it begins outside.
std::string_view part(std::string_view text, int64_t pos, int64_t count, bool bytes) {
  const int64_t last = bytes ? static_cast<int64_t>(text.size()) : characters(text);
  const int64_t start = pos < 0 ? pos + last : pos;
  if (start < 0 || start > last) return {};
  if (bytes) return text.substr(static_cast<size_t>(start), count < 0 ? text.npos : static_cast<size_t>(count));
  const size_t from = character_start(text, start);
  const auto rest = text.substr(from);
  return rest.substr(0, character_start(rest, std::max<int64_t>(count, 0)));  // no characters for a negative count
}

TAPEFLOW_INPUTS(SubstrInputs, input, pos, len);

bool substr(KernelCall& c, const UnitAttrs& attrs, const SubstrInputs& in) {
  const AttrText unit(attrs.unit);
  const bool bytes = unit.is("BYTE"), one = in.pos->size() == 1 && in.pos->rank() == 0;
  if ((!bytes && !unit.is("UTF8_CHAR")) || !in.pos->shape->same(in.len->shape) || !is_index_dtype(in.pos->dtype)) return false;
  if (!one && !in.pos->shape->same(in.input->shape)) return false;
  return with_indices(in.pos, [&](const auto* pos) {
    const auto* len = in.len->as<std::remove_pointer_t<decltype(pos)>>();
    return texts_of_texts(c, [=](NewTexts* y, int64_t i, const Texts& x) {
      const auto found = part(x[i], pos[one ? 0 : i], len[one ? 0 : i], bytes);
      if (!found.data()) return false;
      y->set(i, found);
      return true;
    });
  });
}

bool is_ascii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
}

TAPEFLOW_ATTRS(CaseAttrs, encoding);

// Turns the letters from `first` to its 26th into those of the other case.
template <char first>
bool cased(KernelCall& c, const CaseAttrs& attrs) {
  const AttrText encoding(attrs.encoding);
  const bool all = encoding.is("utf-8");
  if (!all && !encoding.is("")) return false;
  return texts_of_texts(c, [=](NewTexts* y, int64_t i, const Texts& x) {
    const std::string_view text = x[i];
    if (all && !is_ascii(text)) return false;
    std::transform(text.begin(), text.end(), y->make(i, text.size()), [](char ch) {
      return static_cast<unsigned char>(ch - first) < 26 ? static_cast<char>(ch ^ 0x20) : ch;
    });
    return true;
  });
}

bool strip(KernelCall& c) {
  return texts_of_texts(c, [](NewTexts* y, int64_t i, const Texts& x) {
    const std::string_view text = x[i], kept = stripped(text);
    if (kept.size() == text.size()) y->share(i, x.object(i));
    else y->set(i, kept);
    return true;
  });
}

TAPEFLOW_ATTRS(JoinAttrs, separator);

bool join(KernelCall& c, const JoinAttrs& attrs) {
  const AttrText glue(attrs.separator);
  if (!glue.ok || c.n_in == 0) return false;
  std::vector<Texts> parts;
  Shape* shape = c.in[0]->shape;
  for (int k = 0; k < c.n_in; ++k) {
    parts.emplace_back(c.in[k]);
    if (!parts.back()) return false;
    if (shape->rank == 0) shape = c.in[k]->shape;
    else if (c.in[k]->rank() != 0 && !shape->same(c.in[k]->shape)) return false;
  }
  NewTexts y(shape);
  for (int64_t i = 0; i < shape->size; ++i) {
    const auto piece = [&](size_t k) { return parts[k][c.in[k]->rank() ? i : 0]; };
    size_t size = glue.bytes.size() * (parts.size() - 1);
    for (size_t k = 0; k < parts.size(); ++k) size += piece(k).size();
    char* to = y.make(i, size);
    for (size_t k = 0; k < parts.size(); ++k) {
      if (k) to = std::copy(glue.bytes.begin(), glue.bytes.end(), to);
      const std::string_view text = piece(k);
      to = std::copy(text.begin(), text.end(), to);
    }
  }
  c.out[0] = y.finish();
  return true;
}

}  // namespace

void register_text_parts() {
  register_kernel("StringLength", {DType::kInvalid}, named<length>);
  register_kernel("Substr", {DType::kInt32, DType::kInt64}, named<substr>);
  register_kernel("StringLower", {DType::kInvalid}, named<cased<'A'>>);
  register_kernel("StringUpper", {DType::kInvalid}, named<cased<'a'>>);
  register_kernel("StringStrip", {DType::kInvalid}, strip);
  register_kernel("StringJoin", {DType::kInvalid}, named<join>);
}

}  // namespace tapeflow
