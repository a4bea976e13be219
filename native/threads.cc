#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace tapeflow {

namespace {

Shared<int> count{0};  // 0: not yet decided
bool forked = false;   // the OpenMP pool's threads exist in the parent only

int cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

void in_forked_child() {
  forked = true;
  count = 1;
  quiet_team = 1;
#ifdef _OPENMP
  omp_set_num_threads(1);  // oneDNN asks OpenMP how many threads there are
#endif
}

// All but those that the thread itself causes.
const sigset_t& waiting_signals() {
  static const sigset_t all = [] {
    sigset_t set;
    sigfillset(&set);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&set, own);
    return set;
  }();
  return all;
}

}  // namespace

SignalsWait::SignalsWait([[maybe_unused]] int threads) {
  pthread_sigmask(SIG_BLOCK, &waiting_signals(), &before_);
#ifdef _OPENMP
  // Threads that begin from here on have the mask of this one; those that are there have that of where they began.
  if (threads > quiet_team) {
#pragma omp parallel num_threads(threads)
    pthread_sigmask(SIG_BLOCK, &waiting_signals(), nullptr);
    quiet_team = threads;
  }
#endif
}

int intra_op_threads() {
  if (count == 0) {
    static const int registered = pthread_atfork(nullptr, nullptr, in_forked_child);
    (void)registered;
    set_intra_op_threads(0);
  }
  return count;
}

void set_intra_op_threads(int n) {
  if (forked) return;
  count = n > 0 ? n : cores();
#ifdef _OPENMP
  omp_set_num_threads(count);
#endif
}

}  // namespace tapeflow
