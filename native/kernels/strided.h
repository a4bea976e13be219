// Copies between strided views, by item size: what transposes, slices, padding, tiling and broadcasts have in common.
#pragma once
#include <cstdint>

#include "kernel.h"

namespace tapeflow {

// dst[sum i_k * dst_strides[k]] = src[sum i_k * src_strides[k]] for all i within dims. Strides count
// elements and may be 0 or negative; dst must not overlap itself nor src. Any rank up to 2 * kMaxRank.
void strided_copy(char* dst, const int64_t* dst_strides, const char* src, const int64_t* src_strides,
                  int rank, const int64_t* dims, int item);

// n elements, all equal to the one at value.
void fill_items(char* dst, int64_t n, const void* value, int item);

// Row-major strides, in elements.
inline void row_major(int rank, const int64_t* dims, int64_t* strides) {
  int64_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    strides[i] = step;
    step *= dims[i];
  }
}

// Calls f(T{}) with an unsigned type of the item's size; items of these sizes only move, so that is all there is to know.
struct Item16 { uint64_t lo, hi; };
template <typename F>
void with_item_type(int item, F&& f) {
  switch (item) {
    case 1: f(uint8_t{}); break;
    case 2: f(uint16_t{}); break;
    case 4: f(uint32_t{}); break;
    case 8: f(uint64_t{}); break;
    default: f(Item16{}); break;
  }
}

// Every dtype whose elements are plain memory.
extern const std::initializer_list<DType> kPlainDTypes;
// And those whose elements are Python objects, for kernels that only look at shapes.
extern const std::initializer_list<DType> kObjectDTypes;

}  // namespace tapeflow
