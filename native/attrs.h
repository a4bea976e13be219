// Attrs of a call: Python values, checked against the row's schema.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "op.h"
#include "ref.h"

namespace tapeflow {

// Memory for the lists of one call.
class Arena {
 public:
  int64_t* take(int n) {
    if (used_ + n <= kInline) {
      int64_t* p = inline_ + used_;
      used_ += n;
      return p;
    }
    more_.emplace_back(new int64_t[static_cast<size_t>(n)]);
    return more_.back().get();
  }

 private:
  static constexpr int kInline = 32;
  int64_t inline_[kInline];
  int used_ = 0;
  std::vector<std::unique_ptr<int64_t[]>> more_;
};

// Fills `out` from what the caller gave; out->object borrows it. Throws PythonError (TypeError) or InvalidArgument.
void parse_attr(PyObject* o, const OpDef* op, const AttrSpec& spec, Attr* out, Arena* arena);

// A number that is no integer as the integer that int() makes of it, for attrs of integers; null: as it is. For a list
// or tuple with such elements, the list of integers.
bool is_whole(PyObject* o, AttrKind kind);  // needs nothing of this: an integer, integers, or another kind of attr
Ref truncated(PyObject* o);
Ref truncated_list(PyObject* o);

// For messages: never raise.
std::string py_str(PyObject* o);
std::string py_repr(PyObject* o);

std::string allowed_names(const TypeVar& var);  // "float, double"

[[noreturn]] void type_error(const std::string& message);  // raises TypeError

}  // namespace tapeflow
