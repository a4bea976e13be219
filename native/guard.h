// Where Python enters native code: C++ exceptions end here, as Python's.
#pragma once
#include <exception>

#include "op.h"

namespace tapeflow {

// For use in a handler: sets the Python exception that the C++ one stands for. The op, if any, is named.
void set_current_error(const OpDef* op = nullptr);

// f(), or null with a Python exception. What is no std::exception passes: it unwinds a thread that has to end.
template <typename F>
PyObject* guarded(const OpDef* op, F&& f) {
  try {
    return f();
  } catch (const std::exception&) {
    set_current_error(op);
  }
  return nullptr;
}

template <typename F>
PyObject* guarded(F&& f) {
  return guarded(nullptr, std::forward<F>(f));
}

template <auto f>
struct EntryPoint;

template <typename R, typename... Args, R (*f)(Args...)>
struct EntryPoint<f> {
  static R call(Args... args) {
    try {
      return f(args...);
    } catch (const std::exception&) {
      set_current_error();
    }
    if constexpr (std::is_pointer_v<R>) return nullptr;
    else return -1;
  }
};

// A method that has its object to itself: the lock of the object is held, and let go of where the thread waits.
template <auto f>
struct Locked;

template <typename R, typename... Args, R (*f)(PyObject*, Args...)>
struct Locked<f> {
  static R call(PyObject* self, Args... args) {
    const Critical alone(self);
    return f(self, args...);
  }
};
template <auto f>
inline constexpr auto locked = Locked<f>::call;

// The function as Python may call it: every method and slot in a table of a type or module is an entry, but those
// that free or traverse an object.
template <auto f>
inline constexpr auto entry = EntryPoint<f>::call;

template <typename F>
PyCFunction method(F f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f)); }
template <typename F>
void* slot(F f) { return reinterpret_cast<void*>(f); }

}  // namespace tapeflow
