// FarmHash's 64-bit fingerprint of a string (Geoff Pike, Google, 2014; the "na" variant).
#pragma once
#include <Python.h>

#include <cstdint>
#include <string_view>

namespace tapeflow {

uint64_t fingerprint64(std::string_view text);

// Bytes as the key of a table. Who makes it sees to it that they live.
struct TextKey {
  TextKey() = default;
  explicit TextKey(PyObject* bytes) : bytes(bytes), hash(fingerprint64(text())) {}
  std::string_view text() const {
    return {PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes))};
  }
  bool operator!=(const TextKey& o) const { return hash != o.hash || (bytes != o.bytes && text() != o.text()); }

  PyObject* bytes = nullptr;
  uint64_t hash = 0;
};
inline uint64_t scattered(const TextKey& key) { return key.hash; }

}  // namespace tapeflow
