// Errors that native code throws; the op call turns them into tf.errors.* and appends "[Op:Name]".
#pragma once
#include <exception>
#include <sstream>
#include <string>

namespace tapeflow {

// The numbers are those of TensorFlow's error_codes.proto.
enum class Code { kInvalidArgument = 3, kNotFound = 5, kResourceExhausted = 8,
                  kFailedPrecondition = 9, kOutOfRange = 11, kUnimplemented = 12, kInternal = 13 };

class Error : public std::exception {
 public:
  Error(Code code, std::string message) : code(code), message(std::move(message)) {}
  const char* what() const noexcept override { return message.c_str(); }
  Code code;
  std::string message;
};

// A Python exception is already set; unwinds to the C API boundary.
class PythonError : public std::exception {};

template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// throw invalid("indices = ", i, " is not in [0, ", n, ")");
template <typename... Parts> Error invalid(const Parts&... p) { return {Code::kInvalidArgument, text(p...)}; }
template <typename... Parts> Error unimplemented(const Parts&... p) { return {Code::kUnimplemented, text(p...)}; }
template <typename... Parts> Error exhausted(const Parts&... p) { return {Code::kResourceExhausted, text(p...)}; }

}  // namespace tapeflow
