// Distinct keys and the places that they have: in the order in which they first came.
#pragma once
#include <cstdint>
#include <vector>

namespace tapeflow {

// Neighbouring integers go far apart, and so do those that differ by a power of 2 (the finalizer of MurmurHash3).
inline uint64_t scattered(int64_t key) {
  auto x = static_cast<uint64_t>(key);
  x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
  return x ^ x >> 33;
}

// A key needs != and scattered(key).
template <typename Key>
class PlaceTable {
 public:
  // Of no more than `most` keys.
  explicit PlaceTable(int64_t most) {
    uint64_t slots = 16;
    while (slots < 2 * static_cast<uint64_t>(most)) slots *= 2;
    places_.resize(slots, -1);
  }

  // The place of a key, which is added if it is new.
  int64_t add(const Key& key) {
    int64_t& place = places_[slot(key)];
    if (place < 0) {
      place = static_cast<int64_t>(keys_.size());
      keys_.push_back(key);
    }
    return place;
  }
  int64_t find(const Key& key) const { return places_[slot(key)]; }  // -1: it is not there
  const std::vector<Key>& keys() const { return keys_; }

 private:
  uint64_t slot(const Key& key) const {
    const uint64_t last = places_.size() - 1;
    uint64_t at = scattered(key) & last;
    while (places_[at] >= 0 && keys_[static_cast<size_t>(places_[at])] != key) at = (at + 1) & last;
    return at;
  }

  std::vector<int64_t> places_;  // hash -> place
  std::vector<Key> keys_;
};

}  // namespace tapeflow
