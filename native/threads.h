// Intra-op parallelism on the OpenMP runtime (the one oneDNN uses), and the GIL.
#pragma once
#include <Python.h>

#include <cstdint>
#include <exception>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace tapeflow {

int intra_op_threads();            // 1 in a forked child: the pool's threads did not come along
void set_intra_op_threads(int n);  // 0: as many as the process may use cores

// Rough work, in ns, above which a kernel lets go of the GIL and above which it splits. Tests set them to 1, so that all
// kernels do both.
inline int64_t release_gil_ns = 20'000;
inline int64_t parallel_ns = 40'000;

// Releases the GIL for its scope when the estimated work is worth it, and a scope around it has not. No Python object
// may be created, freed or counted meanwhile.
class ReleaseGil {
 public:
  explicit ReleaseGil(int64_t work_ns) : state_(work_ns >= release_gil_ns && PyGILState_Check() ? PyEval_SaveThread() : nullptr) {}
  ~ReleaseGil() { if (state_) PyEval_RestoreThread(state_); }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_;
};

// f(begin, end) over [0, n), split among threads when n * ns_per_item is worth it. f must not throw
// nor touch Python.
template <typename F>
void parallel_for(int64_t n, [[maybe_unused]] double ns_per_item, F&& f) {
#ifdef _OPENMP
  int threads = intra_op_threads();
  double work = static_cast<double>(n) * ns_per_item;
  if (threads > 1 && work >= static_cast<double>(parallel_ns) && n > 1 && !omp_in_parallel()) {
    int parts = threads;
    double worth = work / (static_cast<double>(parallel_ns) / 4);
    if (worth < parts) parts = worth < 2 ? 2 : static_cast<int>(worth);
    if (n < parts) parts = static_cast<int>(n);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int p = 0; p < parts; ++p) f(n * p / parts, n * (p + 1) / parts);
    return;
  }
#endif
  f(int64_t{0}, n);
}

}  // namespace tapeflow
