// A lock around making something once, such as the trace of a function, which may make other such things meanwhile.
//
// User code runs under it and may take other such locks in any order. A thread waits until no other holds the lock,
// unless one of these waits itself, directly or by way of others, for this thread: then both hold it. Whoever holds it
// looks first whether what it wants to make has been made. A thread may take the lock again.
#include "creation_lock.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "error.h"
#include "exit.h"
#include "guard.h"
#include "ref.h"
#include "threads.h"
#include "update_lock.h"

namespace tapeflow {
namespace {

using Thread = const void*;

struct CreationLock {
  PyObject_HEAD
  std::vector<Thread> owners;  // once for each time that they took it
  uint32_t taken_at;           // fork_count then
};

CreationLock* as_lock(PyObject* o) { return reinterpret_cast<CreationLock*>(o); }

// Guarded by the mutex, which is never held while its owner takes the GIL: the owners of all locks, and who waits.
struct Waiting {
  std::mutex mutex;
  std::condition_variable released;
  std::vector<std::pair<Thread, const CreationLock*>> threads;  // a signal handler may wait where its thread does
};

Waiting& waiting() {
  static auto* w = new Waiting;  // never destroyed: threads may wait while the process exits
  return *w;
}

constexpr std::chrono::milliseconds kBetweenLooks{20};

Thread forking_thread = nullptr;  // of the last fork: the one that the child has

void in_forked_child() {
  forking_thread = &this_thread;
  Waiting& w = waiting();
  new (&w.mutex) std::mutex;
  new (&w.released) std::condition_variable;
  w.threads.clear();
}

// Forgets owners that only the parent of this process has.
void after_fork(CreationLock* lock) {
  if (lock->taken_at == fork_count) return;
  std::erase_if(lock->owners, [](Thread owner) { return owner != forking_thread; });
  lock->taken_at = fork_count;
}

bool others_hold(const CreationLock* lock, Thread me) {
  return std::any_of(lock->owners.begin(), lock->owners.end(), [me](Thread owner) { return owner != me; });
}

// Whether an owner cannot go on until `thread` does.
bool waits_for(const CreationLock* lock, Thread thread) {
  std::vector<Thread> seen;
  std::vector<const CreationLock*> locks{lock};
  while (!locks.empty()) {
    const CreationLock* next = locks.back();
    locks.pop_back();
    for (Thread owner : next->owners) {
      if (owner == thread) return true;
      if (std::find(seen.begin(), seen.end(), owner) != seen.end()) continue;
      seen.push_back(owner);
      for (const auto& [waiter, awaited] : waiting().threads) {
        if (waiter == owner) locks.push_back(awaited);
      }
    }
  }
  return false;
}

bool may_enter(const CreationLock* lock, Thread me) { return !others_hold(lock, me) || waits_for(lock, me); }

PyObject* lock_enter(PyObject* self, PyObject*) {
  CreationLock* lock = as_lock(self);
  Waiting& w = waiting();
  const Thread me = &this_thread;
  {
    std::lock_guard hold(w.mutex);
    after_fork(lock);
    if (may_enter(lock, me)) {
      lock->owners.push_back(me);
      Py_RETURN_NONE;
    }
    w.threads.emplace_back(me, lock);
  }
  const auto stop_waiting = [&] {
    const auto mine = std::find(w.threads.rbegin(), w.threads.rend(), std::pair<Thread, const CreationLock*>(me, lock));
    if (mine != w.threads.rend()) w.threads.erase(std::next(mine).base());
  };
  for (;;) {
    {
      ReleaseGil unlock(std::numeric_limits<int64_t>::max());
      std::unique_lock hold(w.mutex);
      if (w.released.wait_for(hold, kBetweenLooks, [&] { return may_enter(lock, me); })) {
        stop_waiting();
        lock->owners.push_back(me);
        break;
      }
    }
    bool raised = PyErr_CheckSignals() < 0;
    if (!raised && is_finalizing()) {  // the holder may never run again
      PyErr_SetString(PyExc_RuntimeError, "a function is being traced by another thread while the interpreter exits");
      raised = true;
    }
    if (raised) {
      std::lock_guard hold(w.mutex);
      stop_waiting();
      throw PythonError();
    }
  }
  Py_RETURN_NONE;
}

PyObject* lock_exit(PyObject* self, PyObject*) {
  CreationLock* lock = as_lock(self);
  Waiting& w = waiting();
  {
    std::lock_guard hold(w.mutex);
    after_fork(lock);
    const auto mine = std::find(lock->owners.rbegin(), lock->owners.rend(), static_cast<Thread>(&this_thread));
    if (mine == lock->owners.rend()) return PyErr_Format(PyExc_RuntimeError, "the block has not been entered");
    lock->owners.erase(std::next(mine).base());
  }
  w.released.notify_all();
  Py_RETURN_FALSE;
}

// A copy is another lock, which nobody holds.
PyObject* lock_reduce(PyObject* self, PyObject*) { return Py_BuildValue("O()", Py_TYPE(self)); }

PyObject* lock_new(PyTypeObject* type, PyObject*, PyObject*) {
  Ref self(type->tp_alloc(type, 0));
  CreationLock* lock = as_lock(self.get());
  new (&lock->owners) std::vector<Thread>;
  lock->taken_at = fork_count;
  return self.release();
}

void lock_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  as_lock(self)->owners.~vector();
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {{"__enter__", entry<lock_enter>, METH_NOARGS, nullptr},
                         {"__exit__", entry<lock_exit>, METH_VARARGS, nullptr},
                         {"__reduce__", entry<lock_reduce>, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, slot(entry<lock_new>)},
                       {Py_tp_dealloc, slot(lock_dealloc)},
                       {Py_tp_methods, methods},
                       {Py_tp_doc, const_cast<char*>("A lock for user code that may take others in any order: "
                                                     "threads that would wait for each other do not.")},
                       {0, nullptr}};
PyType_Spec spec = {"tapeflow._native.CreationLock", sizeof(CreationLock), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

bool init_creation_lock(PyObject* module) {
  static const bool registered = pthread_atfork(nullptr, nullptr, in_forked_child) == 0;
  if (!registered) {
    PyErr_SetString(PyExc_RuntimeError, "pthread_atfork failed");
    return false;
  }
  const Ref type = Ref::or_null(PyType_FromSpec(&spec));
  return type && PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.get())) == 0;
}

}  // namespace tapeflow
