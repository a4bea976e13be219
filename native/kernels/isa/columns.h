// Loops over rows of channels: vectors along the channels, and sums down the columns.
#pragma once
#include <algorithm>
#include <cstring>

#include "simd.h"
#include "threads.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// f(vectors, lanes, c) over the channels, in blocks of four vectors or one; `lanes` are those used
// of the block's last vector.
template <typename T, typename F> void for_channels(int64_t channels, F&& f) {
  constexpr int n = kLanes<T>;
  const Lanes<T> all(n);
  int64_t c = 0;
  for (; c + 4 * n <= channels; c += 4 * n) f(std::integral_constant<int, 4>{}, all, c);
  for (; c + n <= channels; c += n) f(std::integral_constant<int, 1>{}, all, c);
  if (c < channels)
    f(std::integral_constant<int, 1>{}, Lanes<T>(static_cast<int>(channels - c)), c);
}

// Rows are summed in groups of a fixed size, so that the result does not depend on the number of threads and rounding
// errors stay small. Chunks of channels are shared among threads as well, where rows are few.
constexpr int64_t kRowsOfGroup = 512;
constexpr int64_t kChannelsOfChunk = 64;  // a multiple of a block of for_channels

inline int64_t row_groups(int64_t rows) { return (rows + kRowsOfGroup - 1) / kRowsOfGroup; }

// f(group, first row, row after the last, vectors, lanes, c) for all groups and blocks of channels.
template <typename T, typename F>
void for_column_groups(int64_t rows, int64_t channels, double ns_per_element, F&& f) {
  const int64_t chunks = (channels + kChannelsOfChunk - 1) / kChannelsOfChunk;
  const int64_t high = std::min(kRowsOfGroup, rows), wide = std::min(kChannelsOfChunk, channels);
  parallel_for(row_groups(rows) * chunks, ns_per_element * static_cast<double>(high * wide), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const int64_t group = i / chunks, first = group * kRowsOfGroup, end = std::min(rows, first + kRowsOfGroup);
      const int64_t start = i % chunks * kChannelsOfChunk;
      for_channels<T>(std::min(kChannelsOfChunk, channels - start),
                      [&](auto vectors, const Lanes<T>& last, int64_t c) { f(group, first, end, vectors, last, start + c); });
    }
  });
}

// out[k][c] = sum over rows of term(row, c)[k], for k < kSums. term(lanes, offset, c, sums) adds to sums[k];
// offset = row * channels + c.
template <typename T, int kSums, typename Term>
void column_sums(int64_t rows, int64_t channels, double ns_per_element, Term term,
                 T* const (&out)[kSums]) {
  const int64_t groups = row_groups(rows), pitch = kSums * channels;
  for (int k = 0; k < kSums; ++k) std::fill(out[k], out[k] + channels, T{});
  if (rows == 0 || channels == 0) return;
  Scratch scratch(static_cast<size_t>(groups * pitch) * sizeof(T));
  T* const partial = scratch.as<T>();
  for_column_groups<T>(rows, channels, ns_per_element, [&](int64_t g, int64_t first, int64_t end, auto vectors,
                                                           const Lanes<T>& last, int64_t c) {
    const Lanes<T> all(kLanes<T>);
    Vec<T> sums[vectors][kSums] = {};
    for (int64_t row = first; row < end; ++row)
      for (int v = 0; v < vectors; ++v) {
        const int64_t at = c + v * kLanes<T>;
        term(v == vectors - 1 ? last : all, row * channels + at, at, sums[v]);
      }
    for (int v = 0; v < vectors; ++v)
      for (int k = 0; k < kSums; ++k)
        (v == vectors - 1 ? last : all).store(partial + g * pitch + k * channels + c + v * kLanes<T>, sums[v][k]);
  });
  for (int64_t g = 0; g < groups; ++g)
    for (int k = 0; k < kSums; ++k)
      for (int64_t c = 0; c < channels; ++c) out[k][c] += partial[g * pitch + k * channels + c];
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
