// A column of comma-separated values (RFC 4180).
#include <algorithm>
#include <string>
#include <utility>

#include "kernels/texts.h"

namespace tapeflow {
namespace {

TAPEFLOW_ATTRS(CsvAttrs, column, columns, field, selecting, field_delim, use_quote_delim, na_value);
TAPEFLOW_INPUTS(CsvInputs, records, record_default);

// Goes through the fields of a record; false, once and for all, where it has no more or is not sound.
class Fields {
 public:
  Fields(std::string_view record, char delimiter, bool quotes) : record_(record), delimiter_(delimiter), quotes_(quotes) {}

  bool next() {
    while (at_ < record_.size() && (record_[at_] == '\n' || record_[at_] == '\r')) ++at_;
    if (at_ >= record_.size()) {
      field_ = {};
      return !std::exchange(at_end_, true) && !record_.empty() && record_.back() == delimiter_;
    }
    if (quotes_ && record_[at_] == '"' ? !read_quoted() : !read_plain()) {
      at_ = record_.size();
      at_end_ = true;
      return sound_ = false;
    }
    ++at_;
    return true;
  }
  std::string_view field() const { return field_; }
  bool sound() const { return sound_; }

 private:
  bool read_plain() {
    const size_t end = std::min(record_.find(delimiter_, at_), record_.size());
    field_ = record_.substr(at_, end - at_);
    at_ = end;
    return field_.find_first_of(quotes_ ? "\"\r\n" : "\r\n") == field_.npos;
  }

  bool read_quoted() {
    unquoted_.clear();
    for (size_t at = at_ + 1;;) {
      const size_t end = record_.find('"', at);
      if (end == record_.npos) return false;
      unquoted_ += record_.substr(at, end - at);
      at = end + 1;
      if (at >= record_.size() || record_[at] != '"') {
        at_ = at;
        field_ = unquoted_;
        return at >= record_.size() || record_[at] == delimiter_;
      }
      unquoted_ += '"';
      ++at;
    }
  }

  std::string_view record_, field_;
  std::string unquoted_;
  size_t at_ = 0;
  char delimiter_;
  bool quotes_, at_end_ = false, sound_ = true;
};

// Calls use(row, field) with the field of each record that the column is of, whole with its default's place taken by
// an empty one; false where a record, or what use() makes of it, is for the Python kernel.
template <typename F>
bool for_fields(const CsvAttrs& attrs, const Texts& records, F&& use) {
  const AttrText delimiter(attrs.field_delim), missing(attrs.na_value);
  if (delimiter.bytes.size() != 1 || !missing.ok) return false;
  for (int64_t row = 0; row < records.size(); ++row) {
    Fields fields(records[row], delimiter.bytes[0], attrs.use_quote_delim.b());
    std::string found;
    int64_t count = 0;
    while ((count <= attrs.field.i || !attrs.selecting.b()) && fields.next()) {
      if (count++ == attrs.field.i) found = fields.field();
    }
    if (!fields.sound() || count <= attrs.field.i || (!attrs.selecting.b() && count != attrs.columns.i)) return false;
    if (!use(row, missing.is(found) ? std::string_view() : std::string_view(found))) return false;
  }
  return true;
}

template <typename T>
bool number_column(KernelCall& c, const CsvAttrs& attrs, const CsvInputs& in, const Texts& records) {
  OwnedTensor made(new_tensor(in.record_default->dtype, in.records->shape));
  T* y = made->as<T>();
  const T* usual = in.record_default->size() ? in.record_default->as<T>() : nullptr;
  const bool all = for_fields(attrs, records, [&](int64_t row, std::string_view field) {
    if (!field.empty()) return read_number(field, &y[row]);
    if (usual) y[row] = *usual;
    return usual != nullptr;
  });
  if (all) c.out[0] = made.leak();
  return all;
}

bool text_column(KernelCall& c, const CsvAttrs& attrs, const CsvInputs& in, const Texts& records) {
  const Texts usual(in.record_default);
  if (!usual) return false;
  NewTexts y(in.records->shape);
  const bool all = for_fields(attrs, records, [&](int64_t row, std::string_view field) {
    if (!field.empty()) y.set(row, field);
    else if (usual.size()) y.share(row, usual.object(0));
    return !field.empty() || usual.size() > 0;
  });
  if (all) c.out[0] = y.finish();
  return all;
}

bool decode_column(KernelCall& c, const CsvAttrs& attrs, const CsvInputs& in) {
  const Texts records(in.records);
  if (!records || in.record_default->rank() > 1 || in.record_default->size() > 1 || attrs.field.i < 0) return false;
  switch (in.record_default->dtype) {
    case DType::kFloat32: return number_column<float>(c, attrs, in, records);
    case DType::kFloat64: return number_column<double>(c, attrs, in, records);
    case DType::kInt32: return number_column<int32_t>(c, attrs, in, records);
    case DType::kInt64: return number_column<int64_t>(c, attrs, in, records);
    case DType::kString: return text_column(c, attrs, in, records);
    default: return false;
  }
}

}  // namespace

void register_csv() {
  register_kernel("DecodeCSVColumn", {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64, DType::kString},
                  named<decode_column>);
}

}  // namespace tapeflow
