// A variable: a named cell that holds one tensor and replaces or updates it in place.
//
// The tensor is private to the cell. Who reads has a snapshot, an owning reference to elements that never change; who
// updates has a WritableValue, which holds the variable and its lock. There is no other way to the memory, so that a
// kernel may let go of the GIL with what it has.
#pragma once
#include <mutex>

#include "owned_tensor.h"
#include "update_lock.h"

namespace tapeflow {

struct Variable;
using OwnedVariable = Owned<Variable>;

class VariableValue {
 public:
  VariableValue() = default;
  ~VariableValue() { exchange({}); }
  VariableValue(const VariableValue&) = delete;
  VariableValue& operator=(const VariableValue&) = delete;

  bool is_set() const { return tensor_ != nullptr; }
  bool is_taken_here() const { return lock_.taken_by_this_thread(); }  // see WritableValue::take

 private:
  friend OwnedTensor snapshot(Variable* v);
  friend OwnedTensor awaited_snapshot(Variable* v);
  friend class VariableLocks;
  friend class WritableValue;
  friend class WritableValues;

  Tensor* writable();                           // see WritableValue
  OwnedTensor exchange(OwnedTensor t) noexcept {
    const std::lock_guard hold(leaf_);
    OwnedTensor old(tensor_);
    tensor_ = t.leak();
    return old;
  }

  Shared<Tensor*> tensor_{nullptr};
  UpdateLock lock_;
  mutable Leaf leaf_;  // of tensor_, from looking at it until it is owned or known to be nobody else's, and written
};

struct Variable {
  PyObject_HEAD
  VariableValue value;
  Shared<Tensor*> handle;  // scalar resource tensor that stands for the variable as an op's input; made on first use
  int64_t id;          // tapes know the variable by it, and locks of several are taken in its order
  DType dtype;
  bool trainable;
  bool by_class;       // the Python class says what reading gives
  Variable* of;        // owned; the variable whose cell and attributes this shares, null: it has its own
  PyObject* dict;
  PyObject* weakrefs;
};

// The value, null where there is none; waits while another thread writes it.
OwnedTensor awaited_snapshot(Variable* v);
inline OwnedTensor snapshot(Variable* v) {
  {
    const std::lock_guard hold(v->value.leaf_);
    if (v->value.lock_.readable()) return OwnedTensor::share(v->value.tensor_);
  }
  return awaited_snapshot(v);
}

extern PyTypeObject* VariableType;  // base of tf.Variable
inline bool is_variable(PyObject* o) { return PyObject_TypeCheck(o, VariableType); }

// The variable that o is, or whose cell it shares.
inline Variable* variable_at(PyObject* o) {
  auto* v = reinterpret_cast<Variable*>(o);
  return v->of ? v->of : v;
}

// Whether reading o gives what its cell holds. Other variables are asked by their methods: those of classes that read in
// their own way, and those that wrap another variable, whose cell was never set up.
inline bool is_cell(PyObject* o) {
  if (!is_variable(o)) return false;
  const auto* v = reinterpret_cast<const Variable*>(o);
  return !v->by_class && v->dtype != DType::kInvalid;
}

// The dtype of a tensor, or of the cell of a variable; kInvalid for other values.
inline DType dtype_at_hand(PyObject* o) {
  if (is_tensor(o)) return reinterpret_cast<Tensor*>(o)->dtype;
  return is_cell(o) ? variable_at(o)->dtype : DType::kInvalid;
}

// The tensor that stands for v as an input of type resource. Borrowed.
Tensor* handle_of(Variable* v);

// The variable behind an input of type resource, initialised or not; null where there is none.
OwnedVariable variable_behind(const Tensor* handle);

// The same; throws FailedPrecondition where there is none.
OwnedVariable variable_of(const Tensor* handle);

// A snapshot of the value of the variable of this handle; throws FailedPrecondition when it is gone or uninitialised.
OwnedTensor value_of(const Tensor* handle);

// One variable, owned and locked for a read-modify-write until the end of the scope. Throws PythonError where the wait
// for the lock was interrupted. A scope without the GIL lies within that of this.
class WritableValue {
 public:
  explicit WritableValue(Variable* v) : WritableValue(OwnedVariable::share(v)) {}
  explicit WritableValue(const Tensor* handle);  // throws FailedPrecondition where there is no variable or no value
  ~WritableValue();
  WritableValue(const WritableValue&) = delete;
  WritableValue& operator=(const WritableValue&) = delete;

  const Tensor* now() const { return v_->value.tensor_; }   // null: not initialised
  // The value in memory that nobody else sees (copied first if somebody does), to be updated in place.
  Tensor* writable() { return v_->value.writable(); }
  // Replaces the value; the old one is better dropped after this, as that may run code. The dtype must be the variable's.
  OwnedTensor exchange(OwnedTensor t) noexcept;
  // Takes the value out, and leaves `instead`, which nobody sees until something is put there by exchange(): others wait,
  // and for this thread reading is an error.
  OwnedTensor take(OwnedTensor instead) noexcept;

 private:
  explicit WritableValue(OwnedVariable v);

  OwnedVariable v_;
};

// Several variables, owned and locked until the end of the scope; one may come several times. All that is locked at a
// time is locked by one of these, in the order of ids, so that threads never wait for each other in a circle.
class VariableLocks {
 public:
  // get(i) gives the i-th of n, owned.
  template <typename F>
  VariableLocks(int64_t n, F&& get) : VariableLocks(n) {
    for (; n_ < n; ++n_) given_[n_] = get(n_).leak();
    lock();
  }
  ~VariableLocks();
  VariableLocks(const VariableLocks&) = delete;
  VariableLocks& operator=(const VariableLocks&) = delete;

  bool distinct() const { return distinct_; }  // none comes twice

 protected:
  Variable** given_;     // as they were given, n_ of them owned

 private:
  explicit VariableLocks(int64_t n)
      : given_(2 * n <= kInline ? space_ : new Variable*[static_cast<size_t>(2 * n)]), ordered_(given_) {}
  void lock();
  void unlock() noexcept;

  static constexpr int64_t kInline = 8;
  Variable* space_[kInline];
  Variable** ordered_;   // by id
  int64_t n_ = 0, n_locked_ = 0;
  bool distinct_ = true;
};

// The same for the values behind handles. Throws FailedPrecondition where a variable is gone or uninitialised.
class WritableValues : public VariableLocks {
 public:
  WritableValues(Tensor* const* handles, int64_t n);

  Variable* variable(int64_t i) const { return given_[i]; }
  const Tensor* now(int64_t i) const { return given_[i]->value.tensor_; }
  Tensor* writable(int64_t i) { return given_[i]->value.writable(); }
};

}  // namespace tapeflow
