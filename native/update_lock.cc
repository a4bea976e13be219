#include "update_lock.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <new>

#include "error.h"
#include "exit.h"
#include "threads.h"

namespace tapeflow {

thread_local char this_thread __attribute__((tls_model("initial-exec")));
uint32_t fork_count = 0;

// Lives on the stack of the thread that waits.
struct UpdateLock::Waiter {
  const UpdateLock* lock;
  const void* thread;
  Waiter* next = nullptr;
  bool granted = false;
  std::condition_variable wake{};
};

namespace {

// Who waits for which lock, in the order of arrival: one list for all, as few locks are ever waited for at a time. The
// mutex is never held while its owner takes the GIL.
struct Queue {
  std::mutex mutex;
  UpdateLock::Waiter* first = nullptr;

  void push(UpdateLock::Waiter* w) {
    auto** at = &first;
    while (*at) at = &(*at)->next;
    *at = w;
  }
  void remove(const UpdateLock::Waiter* w) {
    auto** at = &first;
    while (*at && *at != w) at = &(*at)->next;
    if (*at) *at = w->next;
  }
};

Queue& queue() {
  static auto* q = new Queue;  // never destroyed: threads may wait while the process exits
  return *q;
}

constexpr std::chrono::milliseconds kBetweenLooks{20};

const void* forking_thread = nullptr;  // of the last fork: the one that the child has

void in_forked_child() {
  ++fork_count;
  forking_thread = &this_thread;
  auto& q = queue();  // of threads that wait in the parent
  new (&q.mutex) std::mutex;
  q.first = nullptr;
}

const bool registered = [] { return pthread_atfork(nullptr, nullptr, in_forked_child) == 0; }();

}  // namespace

bool UpdateLock::abandoned() const { return taken_at_ != fork_count && owner_.load(kOrder) != forking_thread; }

bool UpdateLock::wait(bool to_read) {
  if (registered && abandoned()) {
    if (to_read && value_.load(kOrder) != Value::kThere) {
      PyErr_SetString(PyExc_RuntimeError,
                      "another thread was writing this variable when the process was forked: assign a value to it first");
      throw PythonError();
    }
    owner_.store(&this_thread, kOrder);
    taken_at_ = fork_count;
    depth_ = 1;
    waiting_.store(0);
    return true;
  }
  auto& q = queue();
  Waiter me{this, &this_thread};
  {
    std::lock_guard hold(q.mutex);
    waiting_.fetch_add(1);
    if (take(&this_thread)) {  // released meanwhile, which only happens without a GIL
      waiting_.fetch_sub(1);
      depth_ = 1;
      return true;
    }
    q.push(&me);
  }
  // Takes the thread off the list; whether it has been given the lock before.
  const auto leave = [&] {
    std::lock_guard hold(q.mutex);
    if (me.granted) return true;
    q.remove(&me);
    waiting_.fetch_sub(1);
    return false;
  };
  for (;;) {
    {
      ReleaseGil unlock(std::numeric_limits<int64_t>::max());
      std::unique_lock hold(q.mutex);
      if (me.wake.wait_for(hold, kBetweenLooks, [&] { return me.granted; })) break;
    }
    bool raised = PyErr_CheckSignals() < 0;
    if (!raised && is_finalizing()) {  // the holder may never run again
      PyErr_SetString(PyExc_RuntimeError, "a variable is in use by another thread while the interpreter exits");
      raised = true;
    }
    if (raised) {
      if (leave()) release();
      throw PythonError();
    }
    // A signal handler's wait ends here when what it interrupted has got the lock.
    const bool again = held();
    // A reader only waits for what is half written: who has the lock may in turn wait for the reader's own.
    if (again || (to_read && value_.load(kOrder) == Value::kThere)) {
      if (leave()) break;
      if (again) ++depth_;
      return again;
    }
  }
  return true;
}

void UpdateLock::grant_next() noexcept {
  auto& q = queue();
  std::lock_guard hold(q.mutex);
  Waiter* next = q.first;
  while (next && next->lock != this) next = next->next;
  if (!next || !take(next->thread)) return;  // nobody waits any more; or, without a GIL, somebody was faster
  depth_ = 1;
  q.remove(next);
  waiting_.fetch_sub(1);
  next->granted = true;
  next->wake.notify_one();
}

}  // namespace tapeflow
