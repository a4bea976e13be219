// CRC-32C (Castagnoli).
#pragma once
#include <cstddef>
#include <cstdint>

namespace tapeflow {

// The checksum of bytes, going on from that of what came before them. Needs no GIL.
uint32_t crc32c(const void* data, size_t size, uint32_t before = 0);

}  // namespace tapeflow
