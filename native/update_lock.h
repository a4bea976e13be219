// The lock of a read-modify-write.
#pragma once
#include <Python.h>

#include <atomic>
#include <cstdint>

#include "free_threads.h"

namespace tapeflow {

// The address says which thread this is.
extern thread_local char this_thread __attribute__((tls_model("initial-exec")));

// How often this process and those before it were forked.
extern uint32_t fork_count;

// Held by one thread, which may take it again, from the reading of a value until what was computed of it is written.
// Waiting threads let go of the GIL, hear Ctrl-C and get the lock in the order in which they came. A thread that waits
// for several takes them in one order (see VariableLocks). The GIL must be held in all calls; where the interpreter has
// none, what a thread does while it has the lock has happened when the next one gets it.
//
// In a forked child, locks of threads that only the parent has are free; values that these were writing cannot be read.
class UpdateLock {
 public:
  struct Waiter;

  // Throws PythonError if a signal handler raised, or the interpreter exits.
  void acquire() {
    if (!try_acquire()) wait(false);
  }
  void release() noexcept {
    if (--depth_ == 0) hand_on();
  }

  // Whether the memory of the value is being written, so that others wait to read. For the holder to set; nothing where
  // the value is taken.
  void set_writing(bool writing) {
    if (!taken()) value_.store(writing ? Value::kWritten : Value::kThere, std::memory_order_release);
  }
  // Whether the value is elsewhere, so that the holder cannot read it either. For the holder to set.
  void set_taken(bool taken) { value_.store(taken ? Value::kTaken : Value::kThere, std::memory_order_release); }
  bool taken() const { return value_.load(kOrder) == Value::kTaken; }
  bool taken_by_this_thread() const { return taken() && held(); }

  // Whether the value can be read without the lock.
  bool readable() const {
    const Value value = value_.load(std::memory_order_acquire);
    return value == Value::kThere || (value == Value::kWritten && held());
  }
  // Like acquire, for a reader; false: it has not got the lock, as nobody writes any more.
  bool acquire_to_read() { return try_acquire() || wait(true); }

 private:
  // A GIL orders all changes of the fields.
  static constexpr auto kOrder = kFreeThreads ? std::memory_order_seq_cst : std::memory_order_relaxed;
  bool held() const { return owner_.load(std::memory_order_relaxed) == &this_thread; }
  bool try_acquire() {
    if (held()) {
      ++depth_;
      return true;
    }
    if (!take(&this_thread)) return false;
    depth_ = 1;
    return true;
  }
  bool take(const void* thread) {
    const void* nobody = nullptr;
    if (kFreeThreads) {
      if (!owner_.compare_exchange_strong(nobody, thread)) return false;
    } else {
      if (owner_.load(kOrder) != nobody) return false;
      owner_.store(thread, kOrder);
    }
    taken_at_ = fork_count;
    return true;
  }
  // Whether the owner is a thread that a forked child does not have.
  bool abandoned() const;
  void hand_on() noexcept {
    owner_.store(nullptr, kOrder);
    if (waiting_.load(kOrder) != 0) grant_next();
  }
  bool wait(bool to_read);
  void grant_next() noexcept;

  std::atomic<const void*> owner_{nullptr};
  int32_t depth_ = 0;                  // the owner's
  std::atomic<int32_t> waiting_{0};    // how many threads
  enum class Value : uint8_t { kThere, kWritten, kTaken };
  std::atomic<Value> value_{Value::kThere};
  Shared<uint32_t> taken_at_{0};       // fork_count then
};

}  // namespace tapeflow
