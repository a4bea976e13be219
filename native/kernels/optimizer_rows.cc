#include "kernels/optimizer_rows.h"

#include <memory>
#include <unordered_map>

#include "kernels/indexing.h"

namespace tapeflow {

void check_rows(const Tensor* var, const Tensor* grad, const Tensor* indices) {
  if (indices->rank() != 1) throw invalid("indices must be one-dimensional");
  if (grad->rank() != var->rank()) {
    throw invalid("var and grad do not have the same rank: ", var->shape->str(), " ", grad->shape->str());
  }
  for (int i = 1; i < var->rank(); ++i) {
    if (var->dim(i) != grad->dim(i)) throw invalid("var and grad must match in dimension ", i);
  }
  if (grad->dim(0) != indices->size()) {
    throw invalid("grad must be the same size as indices in the first dimension.");
  }
  with_indices(indices, [&](const auto* index) {
    const int64_t i = first_outside(index, indices->size(), var->dim(0));
    if (i >= 0) throw invalid("Index ", index[i], " at offset ", i, " in indices is out of range");
  });
}

RowSet::RowSet(int64_t rows) : words_(static_cast<size_t>((rows + kWord - 1) / kWord)) {}
RowSet::~RowSet() = default;
RowSet::RowSet(RowSet&&) noexcept = default;
RowSet& RowSet::operator=(RowSet&&) noexcept = default;
uint64_t* RowSet::words() { return words_.data(); }
int64_t RowSet::n_words() const { return static_cast<int64_t>(words_.size()); }

namespace {

constexpr int kMostSlots = 3;
constexpr size_t kRemembered = 32;

struct Entry {
  int64_t variable = -1;  // its id, which no other variable ever has; -1: none
  int64_t slots[kMostSlots] = {};
  RowSet rows{0};
};

struct Memory {
  Entry entries[kRemembered];
  size_t next = 0;  // to be forgotten

  Entry* find(int64_t variable) {
    for (Entry& e : entries) if (e.variable == variable) return &e;
    return nullptr;
  }
};

Memory& memory() {
#ifdef Py_GIL_DISABLED
  // A pointer, as the loader reserves little space for thread-local data.
  static thread_local const auto m = std::make_unique<Memory>();
  return *m;
#else
  static Memory m;
  return m;
#endif
}

}  // namespace

KnownRows::KnownRows(const WritableValues& values, int n_slots, int64_t n)
    : rows(n), values_(values), variable_(values.variable(0)->id), n_slots_(n_slots) {}
KnownRows::~KnownRows() = default;

bool KnownRows::recall(bool useful) {
  Entry* entry = memory().find(variable_);
  if (!entry) return false;
  entry->variable = -1;
  bool same = useful && entry->rows.n_words() == rows.n_words();
  for (int k = 0; k < n_slots_; ++k) same = same && entry->slots[k] == values_.now(k + 1)->id;
  if (same) rows = std::move(entry->rows);
  return same;
}

void KnownRows::remember() {
  Entry* entry = memory().find(variable_);
  if (!entry) entry = memory().find(-1);
  if (!entry) {
    entry = &memory().entries[memory().next];
    memory().next = (memory().next + 1) % kRemembered;
  }
  entry->variable = variable_;
  for (int k = 0; k < n_slots_; ++k) entry->slots[k] = values_.now(k + 1)->id;
  entry->rows = std::move(rows);
}

namespace {

constexpr int64_t kOwn = -1, kNamedBefore = -2;

}  // namespace

template <typename T>
RowGradients<T>::RowGradients(const Tensor* values, const Tensor* indices, RowSet* named)
    : values_(values), indices_(indices), columns_(indices->size() == 0 ? 0 : values->size() / indices->size()) {
  const int64_t n = indices->size();
  std::unordered_map<int64_t, int64_t> sum_of;  // row that is named again -> where its sum is
  for (int64_t i = 0; i < n; ++i) {
    uint64_t& word = named->words()[row(i) / RowSet::kWord];
    const uint64_t bit = uint64_t{1} << row(i) % RowSet::kWord;
    if (word & bit) sum_of.emplace(row(i), static_cast<int64_t>(sum_of.size()) * columns_);
    word |= bit;
  }
  if (sum_of.empty()) return;
  sums_.resize(sum_of.size() * static_cast<size_t>(columns_));
  place_.assign(static_cast<size_t>(n), kOwn);
  std::vector<bool> begun(sum_of.size());
  for (int64_t i = 0; i < n; ++i) {
    const auto found = sum_of.find(row(i));
    if (found == sum_of.end()) continue;
    T* sum = sums_.data() + found->second;
    const T* x = values->as<T>() + i * columns_;
    for (int64_t k = 0; k < columns_; ++k) sum[k] += x[k];
    const auto number = static_cast<size_t>(columns_ == 0 ? 0 : found->second / columns_);
    place_[static_cast<size_t>(i)] = begun[number] ? kNamedBefore : found->second;
    begun[number] = true;
  }
}

template <typename T>
RowGradients<T>::~RowGradients() = default;

template <typename T>
int64_t RowGradients<T>::row(int64_t i) const {
  return indices_->dtype == DType::kInt64 ? indices_->as<int64_t>()[i] : indices_->as<int32_t>()[i];
}

template <typename T>
const T* RowGradients<T>::at(int64_t i) const {
  const int64_t place = place_.empty() ? kOwn : place_[static_cast<size_t>(i)];
  if (place == kNamedBefore) return nullptr;
  return place == kOwn ? values_->as<T>() + i * columns_ : sums_.data() + place;
}

template class RowGradients<float>;
template class RowGradients<double>;

}  // namespace tapeflow
