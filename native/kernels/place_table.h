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
  PlaceTable() : slots_(64) {}

  // The place of a key, which is added if it is new.
  int64_t add(const Key& key) {
    Slot& slot = slots_[slot_of(key)];
    if (slot.place >= 0) return slot.place;
    const auto place = static_cast<int64_t>(keys_.size());
    slot = {key, place};
    keys_.push_back(key);
    // A small table is kept nearly empty, so that few keys collide and branches are predicted well.
    if ((slots_.size() < 65536 ? 8 : 2) * keys_.size() > slots_.size()) grow();
    return place;
  }
  int64_t find(const Key& key) const { return slots_[slot_of(key)].place; }  // -1: it is not there
  const std::vector<Key>& keys() const { return keys_; }

 private:
  struct Slot {
    Key key{};
    int64_t place = -1;
  };

  size_t slot_of(const Key& key) const {
    const size_t last = slots_.size() - 1;
    size_t at = scattered(key) & last;
    while (slots_[at].place >= 0 && slots_[at].key != key) at = (at + 1) & last;
    return at;
  }

  void grow() {
    std::vector<Slot>(slots_.size() * 4).swap(slots_);
    int64_t place = 0;
    for (const Key& key : keys_) slots_[slot_of(key)] = {key, place++};
  }

  std::vector<Slot> slots_;
  std::vector<Key> keys_;
};

}  // namespace tapeflow
