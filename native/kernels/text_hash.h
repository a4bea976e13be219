// FarmHash's 64-bit fingerprint of a string (Geoff Pike, Google, 2014; the "na" variant).
#pragma once
#include <cstdint>
#include <string_view>

namespace tapeflow {

uint64_t fingerprint64(std::string_view text);

}  // namespace tapeflow
