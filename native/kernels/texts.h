// The elements of string tensors, as kernels read and write them.
//
// A kernel on strings computes what succeeds; all that is an error, or rare, it leaves to the Python kernel, which has
// the words for it. It holds the GIL, as the elements are Python's bytes.
#pragma once
#include <string_view>

#include "kernel.h"
#include "owned_tensor.h"
#include "ref.h"
#include "shape.h"

namespace tapeflow {

// The parts of the family, one file each; register_texts() calls them all.
void register_text_parts();
void register_text_splits();
void register_text_hashes();
void register_text_numbers();
void register_unicode();
void register_base64();
void register_csv();

// The elements of a string tensor, in order. Not if some are not bytes, or not one after the other in memory.
class Texts {
 public:
  explicit Texts(const Tensor* t);
  explicit operator bool() const { return items_ != nullptr; }
  int64_t size() const { return size_; }
  PyObject* object(int64_t i) const { return items_[i]; }
  std::string_view operator[](int64_t i) const {
    return {PyBytes_AS_STRING(items_[i]), static_cast<size_t>(PyBytes_GET_SIZE(items_[i]))};
  }

 private:
  PyObject* const* items_ = nullptr;
  int64_t size_;
};

// A string tensor that is being filled.
class NewTexts {
 public:
  explicit NewTexts(Shape* shape);
  explicit NewTexts(int64_t size) : NewTexts(ShapeRef(1, &size).get()) {}
  void set(int64_t i, std::string_view text) { put(i, PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()))); }
  char* make(int64_t i, size_t size);  // the bytes of element i, to fill
  void share(int64_t i, PyObject* bytes) { put(i, Py_NewRef(bytes)); }
  Tensor* finish();

 private:
  void put(int64_t i, PyObject* bytes);
  ShapeRef shape_;
  Ref array_;
  PyObject** items_;
};

// The bytes of a string attr; null where they are not those of its text.
struct AttrText {
  std::string_view bytes;
  bool ok = false;
  explicit AttrText(const Attr& attr);
  bool is(std::string_view other) const { return ok && bytes == other; }
};

// out[0][i] = f(in[0][i]), numbers of T; f(text, &number) is false for what it leaves to the Python kernel.
template <typename T, typename F>
bool numbers_of_texts(KernelCall& c, DType dtype, F&& f) {
  const Texts x(c.in[0]);
  if (!x) return false;
  OwnedTensor made(new_tensor(dtype, c.in[0]->shape));
  T* y = made->template as<T>();
  for (int64_t i = 0; i < x.size(); ++i) if (!f(x[i], &y[i])) return false;
  c.out[0] = made.leak();
  return true;
}

// out[0], whose element i is what f(y, i, text of in[0][i]) sets in y; f is false for what it leaves to the Python kernel.
template <typename F>
bool texts_of_texts(KernelCall& c, F&& f) {
  const Texts x(c.in[0]);
  if (!x) return false;
  NewTexts y(c.in[0]->shape);
  for (int64_t i = 0; i < x.size(); ++i) if (!f(&y, i, x)) return false;
  c.out[0] = y.finish();
  return true;
}

// The characters that bytes.strip() takes away, and that separate words.
inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline std::string_view stripped(std::string_view text) {
  size_t from = 0, to = text.size();
  while (from < to && is_space(text[from])) ++from;
  while (to > from && is_space(text[to - 1])) --to;
  return text.substr(from, to - from);
}

// The byte is not one that continues a character of UTF-8.
inline bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Numbers as float() and int() read them, but for what is rare: false for all else.
bool read_number(std::string_view text, double* out);
bool read_number(std::string_view text, float* out);
bool read_number(std::string_view text, int32_t* out);
bool read_number(std::string_view text, int64_t* out);
bool read_number(std::string_view text, uint32_t* out);
bool read_number(std::string_view text, uint64_t* out);

}  // namespace tapeflow
