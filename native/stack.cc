#include "stack.h"

#include <pthread.h>

#include <algorithm>

namespace tapeflow {

namespace {

// What a call may use that checked before it began: kernels, NumPy, the interpreter for hooks. Small stacks hold back
// a share, with which the ops of a program still run.
constexpr uintptr_t kReserve = 96 << 10;

struct Extent { uintptr_t low, size; };  // size 0: unknown

Extent stack_of_thread() {
  void* low = nullptr;
  size_t size = 0;
#if defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {0, 0};
  if (pthread_attr_getstack(&attributes, &low, &size) != 0) size = 0;
  pthread_attr_destroy(&attributes);
#elif defined(__APPLE__)
  size = pthread_get_stacksize_np(pthread_self());
  low = static_cast<char*>(pthread_get_stackaddr_np(pthread_self())) - size;
#endif
  return {reinterpret_cast<uintptr_t>(low), size};
}

}  // namespace

// Whether `bytes` more fit; finds the limit of a thread that has none yet.
bool find_stack(size_t bytes) {
  static thread_local const Extent stack = stack_of_thread();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (here < stack.low || here >= stack.low + stack.size) {  // unknown, or a coroutine's: nothing to go by
    if (stack.size == 0) thread_state.stack_limit = 0;
    return true;
  }
  thread_state.stack_limit = stack.low + std::min(kReserve, stack.size / 3);
  return here - bytes >= thread_state.stack_limit;
}

void stack_low(const char* what) {
  if (find_stack(0)) return;
  PyErr_Format(PyExc_RecursionError, "maximum recursion depth exceeded: the stack of this thread is used up in %s", what);
  throw PythonError();
}

}  // namespace tapeflow
