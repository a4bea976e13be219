// Gradients that have values for some rows of a variable, as the optimizers' kernels meet them. Nothing is inline here:
// the kernels are compiled once per instruction set, and this only once.
#pragma once
#include <vector>

#include "tensor.h"
#include "variable.h"

namespace tapeflow {

// Throws unless indices name rows of var, and grad has a value for each.
void check_rows(const Tensor* var, const Tensor* grad, const Tensor* indices);

// A set of rows, one bit each.
class RowSet {
 public:
  static constexpr int kWord = 64;
  explicit RowSet(int64_t rows);
  ~RowSet();
  RowSet(const RowSet&) = delete;
  RowSet& operator=(const RowSet&) = delete;
  RowSet(RowSet&&) noexcept;
  RowSet& operator=(RowSet&&) noexcept;

  uint64_t* words();
  int64_t n_words() const;

 private:
  std::vector<uint64_t> words_;
};

// What is remembered of a variable between updates: which rows of its slots may be other than zero. It holds as long as
// the slots have the values that they had, which is asked of their tensors' ids. Of the variables updated last only.
// The GIL must be held; without one each thread remembers for itself.
class KnownRows {
 public:
  // `values`: the variable and its slots.
  KnownRows(const WritableValues& values, int n_slots, int64_t rows);
  ~KnownRows();
  // The rows, taken out of the memory; false: nothing is known, and they are none. Before the slots are made writable.
  bool recall(bool useful);
  void remember();
  RowSet rows;

 private:
  const WritableValues& values_;
  int64_t variable_;
  int n_slots_;
};

// The gradient of each row that has one: its own values where one index names it, else the sum of all.
template <typename T>
class RowGradients {
 public:
  // Adds the rows to `named`.
  RowGradients(const Tensor* values, const Tensor* indices, RowSet* named);
  ~RowGradients();
  RowGradients(const RowGradients&) = delete;
  RowGradients& operator=(const RowGradients&) = delete;

  int64_t row(int64_t position) const;
  // The gradient of that row; null where an earlier position names the same.
  const T* at(int64_t position) const;

 private:
  const Tensor *values_, *indices_;
  int64_t columns_;
  std::vector<int64_t> place_;  // of a position: where the sum is, kOwn or kNamedBefore; empty: all are kOwn
  std::vector<T> sums_;
};

extern template class RowGradients<float>;
extern template class RowGradients<double>;

}  // namespace tapeflow
