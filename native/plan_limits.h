// What graphs that are not trusted may use: how many instructions they run, how much memory their tensors take.
//
// Limits hold for one thread while it runs such a graph; what it runs in turn shares them. Outside of these runs they
// cost a comparison for each allocation and each run of a plan.
#pragma once
#include <Python.h>

#include <cstdint>

namespace tapeflow {

struct Limits {
  int64_t steps = 0, memory = 0;  // in instructions and bytes; 0: none
};

// Of this thread.
struct Usage {
  bool limited = false;
  int64_t steps_left = 0;
  int64_t memory_end = INT64_MAX;  // how large the sum of live_bytes() may become
};
extern thread_local Usage usage __attribute__((tls_model("initial-exec")));

// Throws ResourceExhausted if this thread is limited and has no steps left.
void spend(int64_t steps);

// The memory of strings is Python's, and not counted: what is made of them, an object array, is limited like steps.
void spend_strings(PyObject* array);

// Bytes of NumPy's arrays that were made under limits and still live.
int64_t limited_numpy_bytes();

// The error that ends a run whose tensors take too much memory.
[[noreturn]] void refuse_memory(int64_t bytes);

// For its scope, this thread is limited, unless it is so already or there are no limits.
class UnderLimits {
 public:
  explicit UnderLimits(const Limits& limits) {
    if (limits.steps > 0 && !usage.limited) enter(limits);
  }
  ~UnderLimits() {
    if (entered_) leave();
  }
  UnderLimits(const UnderLimits&) = delete;
  UnderLimits& operator=(const UnderLimits&) = delete;

 private:
  void enter(const Limits& limits);
  void leave();
  bool entered_ = false;
  PyObject* handler_ = nullptr;  // NumPy's, before
};

bool init_limits(PyObject* module);

}  // namespace tapeflow
