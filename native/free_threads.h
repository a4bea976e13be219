// What threads share in the native code, and how.
//
// With a GIL, whoever has it has all of it: what follows costs nothing then. Where the interpreter has none, each
// piece of state that outlives a call keeps to one of these rules; a new one has to find its place among them.
//
// - One thread's own: thread_local. Modes, tapes and limits of a thread, free memory (buffer.cc), the next ids
//   (tensor.cc), what is known of rows (optimizer_rows.cc), the pace of plans.
// - Counted: Count. References to shapes and buffers, numbers that are given out.
// - Changed as a whole, by itself: Shared. Settings, hooks, what a row has besides its signature.
// - Made when it is first asked for: publish(). The TensorShape of a shape, the handle of a variable.
// - Looked at and changed in steps, for a moment: Leaf. The value of a variable, marks of tapes, a plan's choice of
//   a kernel. Under it no Python code runs and nothing is freed: it is held neither by who waits nor in a fork.
// - An object's own parts: Critical, the lock of the object, which is let go of where its thread waits, as the GIL
//   is. Entries of Dispatchers and tapes, blocks, lists and tuples of programs while they are read.
// - Held while programs run: UpdateLock (update_lock.h), CreationLock (creation_lock.cc). Random streams and
//   oneDNN's plans have a mutex.
// - Never changed once others see it: elements of tensors, shapes, plans, kernels, and what a row has been declared
//   with.
#pragma once
#include <Python.h>

#include <mutex>

namespace tapeflow {

#ifdef Py_GIL_DISABLED
inline constexpr bool kFreeThreads = true;
#else
inline constexpr bool kFreeThreads = false;
#endif

// How many there are of something.
template <typename T>
struct Count {
  T n;

  void up() {
    if constexpr (kFreeThreads) __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED);
    else ++n;
  }
  // Whether that was the last one. What others did before they went down has happened then.
  bool down() {
    if constexpr (kFreeThreads) return __atomic_sub_fetch(&n, 1, __ATOMIC_ACQ_REL) == 0;
    else return --n == 0;
  }
  bool is_one() const {
    if constexpr (kFreeThreads) return __atomic_load_n(&n, __ATOMIC_ACQUIRE) == 1;
    else return n == 1;
  }
  T next() { return next(1); }
  T next(T by) {
    if constexpr (kFreeThreads) return __atomic_add_fetch(&n, by, __ATOMIC_RELAXED);
    else return n += by;
  }
};

// A value that is read and written as a whole; who reads it also sees what was written before it.
template <typename T>
struct Shared {
  T value;

  operator T() const {
    if constexpr (kFreeThreads) return __atomic_load_n(&value, __ATOMIC_ACQUIRE);
    else return value;
  }
  T operator=(T v) {
    if constexpr (kFreeThreads) __atomic_store_n(&value, v, __ATOMIC_RELEASE);
    else value = v;
    return v;
  }
  T operator->() const { return *this; }
};

// Gives up what a place has for another reference, which is taken over. Without a GIL the old object stays for ever,
// as another thread may just be looking at it: for what changes seldom.
inline void replace(Shared<PyObject*>* at, PyObject* o) {
  PyObject* old = *at;
  *at = o;
  if constexpr (!kFreeThreads) Py_XDECREF(old);
}

// Takes over `made` for a place that was empty. What is there in the end, borrowed: another thread may have been faster.
template <typename T>
T* publish(Shared<T*>* at, T* made) {
  T* there = nullptr;
  if constexpr (kFreeThreads) {
    if (__atomic_compare_exchange_n(&at->value, &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
  } else if (there = at->value; !there) {
    return at->value = made;
  }
  Py_DECREF(made);
  return there;
}

// Whether the caller's reference is the only one. False, too, where that takes asking other threads.
inline bool sole_reference(const PyObject* o) {
#ifdef Py_GIL_DISABLED
  const Py_ssize_t shared = __atomic_load_n(&o->ob_ref_shared, __ATOMIC_ACQUIRE);
  const uintptr_t owner = __atomic_load_n(&o->ob_tid, __ATOMIC_RELAXED);
  if (owner == 0) return shared == ((Py_ssize_t{1} << _Py_REF_SHARED_SHIFT) | _Py_REF_MERGED);  // its thread gave it up
  return owner == _Py_ThreadId() && __atomic_load_n(&o->ob_ref_local, __ATOMIC_RELAXED) == 1 && shared == 0;
#else
  return Py_REFCNT(const_cast<PyObject*>(o)) == 1;
#endif
}

// A lock for a moment; for std::lock_guard.
class Leaf {
 public:
#ifdef Py_GIL_DISABLED
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
#else
  void lock() {}
  void unlock() {}
#endif
};

// The lock of an object for the scope. Scopes lie within each other.
class Critical {
 public:
#ifdef Py_GIL_DISABLED
  explicit Critical(PyObject* o) { PyCriticalSection_Begin(&section_, o); }
  ~Critical() { PyCriticalSection_End(&section_); }
  Critical(const Critical&) = delete;
  Critical& operator=(const Critical&) = delete;

 private:
  PyCriticalSection section_;
#else
  explicit Critical(PyObject*) {}
  ~Critical() {}  // not trivial, so that a scope which only has this is no unused variable
#endif
};

}  // namespace tapeflow
