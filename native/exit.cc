// Threads at the end of the interpreter.
//
// CPython before 3.14 ends a daemon thread that asks for the GIL during finalization with pthread_exit, which unwinds
// the thread's stack: destructors would run without the GIL, and a noexcept one, such as that of ReleaseGil, would
// abort the process. CPython 3.14 parks such threads instead. So does this file, wherever in the core the thread asked:
// the unwinder asks the personality routine of every frame that has destructors or is noexcept, and the linker puts
// this one before that of the C++ runtime (--wrap in CMakeLists.txt).
#include <unistd.h>
#include <unwind.h>

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
