// Threads at the end of the interpreter.
//
// CPython before 3.14 ends a daemon thread that asks for the GIL during finalization with pthread_exit, which unwinds
// the thread's stack: destructors would run without the GIL, and a noexcept one, such as that of ReleaseGil, would
// abort the process. CPython 3.14 parks such threads instead. So does this file, wherever in the core the thread asked:
// the unwinder asks the personality routine of every frame that has destructors or is noexcept, and the linker puts
// this one before that of the C++ runtime (--wrap in CMakeLists.txt).
//
// A thread that computes without the GIL goes on, while the process calls what was registered for its exit: oneDNN
// would free the machine code that the thread runs. Then the process ends without these calls. Those of Python's
// `atexit` have been made before, and the files of C's stdio are flushed.
#include "exit.h"

#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdio>
#include <cstdlib>

#include "threads.h"

extern "C" {

_Unwind_Reason_Code __real___gxx_personality_v0(int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception*,
                                                _Unwind_Context*);

_Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception, _Unwind_Context* context) {
  // C++ exceptions and foreign ones are not forced; nothing but the end of a thread is.
  while (actions & _UA_FORCE_UNWIND) pause();
  return __real___gxx_personality_v0(version, actions, kind, exception, context);
}

}  // extern "C"

namespace tapeflow {
namespace {

#ifdef __GLIBC__
void end_at_once(int status, void*) {
  if (unlocked_threads == 0) return;
  std::fflush(nullptr);
  _exit(status);
}

void after_finalization() { on_exit(end_at_once, nullptr); }
#else
// The status is not known: the threads end first.
void wait_for_threads() {
  while (unlocked_threads > 0) usleep(1000);
}

void after_finalization() { std::atexit(wait_for_threads); }
#endif

}  // namespace

// What is registered last is called first: it has to come after oneDNN's, which come with its first products.
bool init_exit() {
  pthread_atfork(nullptr, nullptr, [] { unlocked_threads = 0; });
  if (Py_AtExit(after_finalization) == 0) return true;
  PyErr_SetString(PyExc_RuntimeError, "too many modules have functions that are called at the end of the interpreter");
  return false;
}

}  // namespace tapeflow
