// Host memory of tensors: counted blocks from a caching allocator. Used by threads that have the GIL, or may use Python;
// a kernel that released it takes its scratch from Scratch.
#pragma once
#include <cstddef>
#include <cstdint>

#include "free_threads.h"

namespace tapeflow {

struct Buffer {
  Count<int64_t> refs;
  size_t bytes;                  // usable, at least what was asked for
  char* data;                    // aligned to 64 bytes when the allocator made it
  int32_t size_class;            // -1: foreign memory
  bool writable;                 // false: foreign and read-only, never updated in place
  void (*release_foreign)(void*);
  void* foreign;

  void retain() { refs.up(); }
  void release() { if (refs.down()) destroy(this); }

  static Buffer* allocate(size_t bytes);   // throws ResourceExhausted
  // Memory of someone else's (a NumPy array, a DLPack capsule); release(owner) when it is done with.
  static Buffer* wrap(void* data, size_t bytes, bool writable, void (*release)(void*), void* owner);

 private:
  static void destroy(Buffer*);
};

struct AllocatorStats { int64_t live, peak, cached, limit; };
AllocatorStats allocator_stats();
void allocator_reset_peak();
void allocator_trim();  // gives cached memory back to the system: without a GIL, that of this thread

// Uninitialised scratch memory, aligned to 64 bytes; may be used without the GIL.
class Scratch {
 public:
  explicit Scratch(size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  template <typename T> T* as() { return static_cast<T*>(p_); }

 private:
  void* p_;
};

}  // namespace tapeflow
