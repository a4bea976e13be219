// Strings split into parts, which are a sparse tensor.
#include <algorithm>
#include <vector>

#include "kernels/texts.h"

namespace tapeflow {
namespace {

// The parts of rows, in order.
class Parts {
 public:
  void add(std::string_view part) { parts_.push_back(part); }
  void end_row() { ends_.push_back(static_cast<int64_t>(parts_.size())); }

  void fill(Tensor** out) const {
    const auto rows = static_cast<int64_t>(ends_.size()), n = static_cast<int64_t>(parts_.size());
    const int64_t dims[] = {n, 2}, two = 2;
    OwnedTensor places(new_tensor(DType::kInt64, 2, dims)), shape(new_tensor(DType::kInt64, 1, &two));
    NewTexts values(n);
    int64_t* place = places->as<int64_t>();
    int64_t longest = 0;
    for (int64_t row = 0, i = 0; row < rows; ++row) {
      const int64_t first = i, end = ends_[static_cast<size_t>(row)];
      for (; i < end; ++i) {
        *place++ = row;
        *place++ = i - first;
        values.set(i, parts_[static_cast<size_t>(i)]);
      }
      longest = std::max(longest, end - first);
    }
    shape->as<int64_t>()[0] = rows;
    shape->as<int64_t>()[1] = longest;
    out[1] = values.finish();
    out[0] = places.leak();
    out[2] = shape.leak();
  }

 private:
  std::vector<std::string_view> parts_;
  std::vector<int64_t> ends_;
};

void words(std::string_view text, Parts* parts) {
  for (size_t at = 0; at < text.size();) {
    while (at < text.size() && is_space(text[at])) ++at;
    const size_t from = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    if (at > from) parts->add(text.substr(from, at - from));
  }
}

void between(std::string_view text, std::string_view mark, Parts* parts) {
  size_t from = 0;
  for (size_t at; (at = text.find(mark, from)) != text.npos; from = at + mark.size()) parts->add(text.substr(from, at - from));
  parts->add(text.substr(from));
}

void between_any(std::string_view text, std::string_view marks, bool skip_empty, Parts* parts) {
  size_t from = 0;
  for (bool more = true; more;) {
    const size_t at = text.find_first_of(marks, from);
    more = at != text.npos;
    if (!skip_empty || (more ? at : text.size()) > from) parts->add(text.substr(from, more ? at - from : at));
    from = at + 1;
  }
}

// f(text, mark, parts) for each text of a vector and the one mark.
template <typename F>
bool split_by(KernelCall& c, F&& f) {
  const Texts x(c.in[0]), mark(c.in[1]);
  if (!x || !mark || c.in[0]->rank() != 1 || c.in[1]->rank() != 0) return false;
  Parts parts;
  for (int64_t i = 0; i < x.size(); ++i) {
    f(x[i], mark[0], &parts);
    parts.end_row();
  }
  parts.fill(c.out);
  return true;
}

TAPEFLOW_ATTRS(SplitAttrs, maxsplit);

bool split(KernelCall& c, const SplitAttrs& attrs) {
  if (attrs.maxsplit.i >= 0) return false;
  return split_by(c, [](std::string_view text, std::string_view mark, Parts* parts) {
    if (mark.empty()) words(text, parts);
    else between(text, mark, parts);
  });
}

TAPEFLOW_ATTRS(SplitAnyAttrs, skip_empty);

bool split_any(KernelCall& c, const SplitAnyAttrs& attrs) {
  return split_by(c, [skip = attrs.skip_empty.b()](std::string_view text, std::string_view marks, Parts* parts) {
    if (marks.empty()) for (size_t i = 0; i < text.size(); ++i) parts->add(text.substr(i, 1));
    else between_any(text, marks, skip, parts);
  });
}

}  // namespace

void register_text_splits() {
  register_kernel("StringSplitV2", {DType::kInvalid}, named<split>);
  register_kernel("StringSplit", {DType::kInvalid}, named<split_any>);
}

}  // namespace tapeflow
