// Intra-op parallelism on the OpenMP runtime (the one oneDNN uses), and the GIL.
#pragma once
#include <Python.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "free_threads.h"

namespace tapeflow {

int intra_op_threads();            // 1 in a forked child: the pool's threads did not come along
void set_intra_op_threads(int n);  // 0: as many as the process may use cores

// Rough work, in ns, above which a kernel lets go of the GIL and above which it splits. Tests set them to 1, so that all
// kernels do both.
inline Shared<int64_t> release_gil_ns{20'000};
inline Shared<int64_t> parallel_ns{40'000};

// Instructions that plans of this thread run before they hear Ctrl-C again. None are left after a long kernel.
inline constexpr int kNone = -1;
inline thread_local int patience __attribute__((tls_model("initial-exec"))) = 16;

// Threads that compute without the GIL, which the end of the interpreter does not stop (see exit.cc).
inline std::atomic<int> unlocked_threads = 0;

// Releases the GIL for its scope (without one: lets the interpreter stop all other threads meanwhile) when the estimated work is worth it, and a scope around it has not. No Python object
// may be created, freed or counted meanwhile.
class ReleaseGil {
 public:
  explicit ReleaseGil(int64_t work_ns) {
    if (work_ns < release_gil_ns || !PyGILState_Check()) return;
    ++unlocked_threads;
    state_ = PyEval_SaveThread();
  }
  ~ReleaseGil() {
    if (!state_) return;
    --unlocked_threads;
    PyEval_RestoreThread(state_);
    patience = kNone;
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_ = nullptr;
};

// Threads of this thread's OpenMP team, itself included, that no signal interrupts in the scope of a SignalsWait.
inline thread_local int quiet_team __attribute__((tls_model("initial-exec"))) = 1;

// Keeps signals from this thread and from its team of so many threads, for work that no handler may interrupt: the
// matrix products of oneDNN before 3.11.2 move the stack pointer into the heap, where the kernel of the system would
// write a handler's frame (uxlfoundation/oneDNN#4845).
class SignalsWait {
 public:
  explicit SignalsWait(int threads);
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_;
};

inline bool in_parallel() {
#ifdef _OPENMP
  return omp_in_parallel();
#else
  return false;
#endif
}

// f(begin, end) over [0, n), split among threads when n * ns_per_item is worth it. f must not throw
// nor touch Python.
template <typename F>
void parallel_for(int64_t n, [[maybe_unused]] double ns_per_item, F&& f) {
#ifdef _OPENMP
  int threads = intra_op_threads();
  double work = static_cast<double>(n) * ns_per_item;
  if (threads > 1 && work >= static_cast<double>(parallel_ns) && n > 1 && !in_parallel()) {
    int parts = threads;
    double worth = work / (static_cast<double>(parallel_ns) / 4);
    if (worth < parts) parts = worth < 2 ? 2 : static_cast<int>(worth);
    if (n < parts) parts = static_cast<int>(n);
    quiet_team = std::min(quiet_team, parts);  // a smaller team ends the threads that it does not need
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int p = 0; p < parts; ++p) f(n * p / parts, n * (p + 1) / parts);
    return;
  }
#endif
  f(int64_t{0}, n);
}

}  // namespace tapeflow
