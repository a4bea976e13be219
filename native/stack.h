// The end of a thread's stack: native code that calls itself through Python or plans raises RecursionError before it.
#pragma once
#include "op.h"

namespace tapeflow {

void stack_low(const char* what);  // throws PythonError (RecursionError) if it is; finds the limit of a new thread

// `what` is a call by its frame; costs two instructions.
inline void check_stack(const char* what) {
  if (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < thread_state.stack_limit) stack_low(what);
}

bool find_stack(size_t bytes);

// Whether a function may lay so many bytes on the stack.
inline bool stack_holds(size_t bytes) {
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - bytes >= thread_state.stack_limit || find_stack(bytes);
}

}  // namespace tapeflow
