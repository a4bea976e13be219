#include "buffer.h"

#ifdef __SANITIZE_ADDRESS__
#include <Python.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "error.h"
#include "plan_limits.h"

namespace tapeflow {

namespace {

// Size classes: four steps between powers of two, from 64 bytes up. A freed block waits in its class's
// list, so that loops which make and drop tensors of the same sizes neither call malloc nor fault pages.
constexpr int kMinShift = 6;
constexpr int kClasses = 4 * (48 - kMinShift);
constexpr size_t kHeader = 64;                  // the Buffer itself, in front of the data
constexpr size_t kHugePage = size_t{2} << 20;   // from here on blocks ask for huge pages
static_assert(sizeof(Buffer) <= kHeader);

// What this process may use of the machine's memory, in bytes; a container may be given less than there is.
int64_t memory_of_machine() {
  int64_t found = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    int64_t most;
    if (std::FILE* file = std::fopen(path, "r")) {
      if (std::fscanf(file, "%" SCNd64, &most) == 1) found = std::min(found, most);
      std::fclose(file);
    }
  }
  return found;
}

// How many bytes of freed blocks are kept: enough for a training step of ResNet-50 where there is memory to spare.
const int64_t cache_limit = std::clamp(memory_of_machine() / 16, int64_t{256} << 20, int64_t{1} << 30);

struct Free { Free* next; };

// Freed blocks, when each class last got one, and how many bytes are live and cached. With a GIL there is one. Without,
// each thread has its own, and the numbers are what it has not yet added to the sums of all.
struct Pool {
  Free* lists[kClasses];
  uint64_t times[kClasses], now;
  int64_t live, peak, cached;
};

#ifdef Py_GIL_DISABLED
void leave_pool();

constexpr int64_t kUnsettled = int64_t{1} << 20;
thread_local Pool* pool_of_thread __attribute__((tls_model("initial-exec")));
std::atomic<int64_t> all_live, all_peak, all_cached;

Pool& pool() {
  if (!pool_of_thread) [[unlikely]] {
    pool_of_thread = new Pool{};
    static thread_local struct AtExit { ~AtExit() { leave_pool(); } } at_exit;
    (void)at_exit;
  }
  return *pool_of_thread;
}

// Adds what this thread did to the sums.
void settle(Pool& p) {
  const int64_t before = all_live.fetch_add(p.live, std::memory_order_relaxed);
  int64_t peak = all_peak.load(std::memory_order_relaxed);
  while (peak < before + p.peak && !all_peak.compare_exchange_weak(peak, before + p.peak, std::memory_order_relaxed)) {}
  all_cached.fetch_add(p.cached, std::memory_order_relaxed);
  p.live = p.peak = p.cached = 0;
}

void leave_pool() {
  allocator_trim();
  settle(*pool_of_thread);
  delete pool_of_thread;
  pool_of_thread = nullptr;
}

int64_t live_bytes(const Pool& p) { return all_live.load(std::memory_order_relaxed) + p.live; }
int64_t cached_bytes(const Pool& p) { return all_cached.load(std::memory_order_relaxed) + p.cached; }
#else
Pool only;

Pool& pool() { return only; }
int64_t live_bytes(const Pool& p) { return p.live; }
int64_t cached_bytes(const Pool& p) { return p.cached; }
#endif

void count_live(Pool& p, int64_t bytes) {
  p.live += bytes;
  p.peak = std::max(p.peak, p.live);
#ifdef Py_GIL_DISABLED
  if (std::abs(p.live) > kUnsettled || std::abs(p.cached) > kUnsettled) settle(p);
#endif
}

int class_of(size_t bytes) {
  if (bytes <= (size_t{1} << kMinShift)) return 0;
  const int top = 63 - __builtin_clzll(bytes - 1);              // 2^top <= bytes - 1 < 2^(top+1)
  const int quarter = static_cast<int>((bytes - 1) >> (top - 2)) & 3;
  return (top - kMinShift) * 4 + quarter + 1;
}

size_t class_bytes(int c) {
  if (c == 0) return size_t{1} << kMinShift;
  const int top = (c - 1) / 4 + kMinShift, quarter = (c - 1) % 4;
  return (size_t{1} << top) + (size_t{1} << (top - 2)) * (quarter + 1);
}

void give_back(Free* block, size_t bytes) {
  if (bytes + kHeader >= kHugePage) ::munmap(block, bytes + kHeader);
  else std::free(block);
}

void* take_fresh(size_t bytes) {
  const size_t total = bytes + kHeader;
  if (total < kHugePage) return std::aligned_alloc(64, (total + 63) / 64 * 64);
  void* p = ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
#ifdef MADV_HUGEPAGE
  ::madvise(p, total, MADV_HUGEPAGE);
#endif
  return p;
}

// Takes a block out of a list that is not empty; `usable` is what class_bytes(c) says.
Free* take_cached(Pool& p, int c, size_t usable) {
  Free* block = p.lists[c];
  p.lists[c] = block->next;
  p.cached -= static_cast<int64_t>(usable);
  return block;
}

// Releases cached blocks until so many bytes more fit: first those of the class that got none for the longest time, as
// happens to sizes that the program no longer uses.
void evict_for(Pool& p, int64_t bytes) {
  while (cached_bytes(p) + bytes > cache_limit) {
    int oldest = -1;
    for (int c = 0; c < kClasses; ++c) {
      if (p.lists[c] && (oldest < 0 || p.times[c] < p.times[oldest])) oldest = c;
    }
    if (oldest < 0) return;  // the rest is other threads'
    const size_t usable = class_bytes(oldest);
    give_back(take_cached(p, oldest, usable), usable);
  }
}

// Tests under sanitizers hold who allocates and frees to having the GIL, which orders all that is in this file, or to being
// among the threads that the interpreter may stop.
void check_gil() {
#ifdef __SANITIZE_ADDRESS__
  if (!PyGILState_Check()) Py_FatalError("a tensor's memory is allocated or freed without the GIL");
#endif
}

}  // namespace

Buffer* Buffer::allocate(size_t bytes) {
  check_gil();
  if (bytes > (size_t{1} << 46)) throw exhausted("OOM when allocating ", bytes, " bytes");
  const int c = class_of(bytes);
  const size_t usable = class_bytes(c);
  Pool& own = pool();
  if (usage.limited && live_bytes(own) + limited_numpy_bytes() + static_cast<int64_t>(usable) > usage.memory_end) [[unlikely]] {
    refuse_memory(static_cast<int64_t>(bytes));
  }
  void* p;
  if (own.lists[c]) {
    p = take_cached(own, c, usable);
  } else {
    p = take_fresh(usable);
    if (!p) {
      allocator_trim();
      p = take_fresh(usable);
    }
    if (!p) throw exhausted("OOM when allocating ", bytes, " bytes");
  }
  auto* b = static_cast<Buffer*>(p);
  b->refs = {1};
  b->bytes = usable;
  b->data = static_cast<char*>(p) + kHeader;
  b->size_class = c;
  b->writable = true;
  b->release_foreign = nullptr;
  b->foreign = nullptr;
  count_live(own, static_cast<int64_t>(usable));
  return b;
}

Buffer* Buffer::wrap(void* data, size_t bytes, bool writable, void (*release)(void*), void* owner) {
  auto* b = static_cast<Buffer*>(std::malloc(sizeof(Buffer)));
  if (!b) throw std::bad_alloc();
  *b = Buffer{{1}, bytes, static_cast<char*>(data), -1, writable, release, owner};
  return b;
}

void Buffer::destroy(Buffer* b) {
  check_gil();
  if (b->size_class < 0) {
    void (*release)(void*) = b->release_foreign;
    void* owner = b->foreign;
    std::free(b);
    if (release) release(owner);
    return;
  }
  const int c = b->size_class;
  const auto usable = static_cast<int64_t>(b->bytes);
  Pool& own = pool();
  auto* block = reinterpret_cast<Free*>(b);
  if (cached_bytes(own) + usable > cache_limit && usable <= cache_limit) [[unlikely]] evict_for(own, usable);
  if (cached_bytes(own) + usable > cache_limit) [[unlikely]] {
    give_back(block, static_cast<size_t>(usable));
  } else {
    block->next = own.lists[c];
    own.lists[c] = block;
    own.times[c] = ++own.now;
    own.cached += usable;
  }
  count_live(own, -usable);
}

AllocatorStats allocator_stats() {
  Pool& own = pool();
#ifdef Py_GIL_DISABLED
  settle(own);
  return {live_bytes(own), all_peak.load(), cached_bytes(own), cache_limit};
#else
  return {own.live, own.peak, own.cached, cache_limit};
#endif
}

void allocator_reset_peak() {
  Pool& own = pool();
#ifdef Py_GIL_DISABLED
  settle(own);
  all_peak = live_bytes(own);
#else
  own.peak = own.live;
#endif
}

void allocator_trim() {
  Pool& own = pool();
  for (int c = 0; c < kClasses; ++c) {
    const size_t usable = class_bytes(c);
    while (own.lists[c]) give_back(take_cached(own, c, usable), usable);
  }
}

Scratch::Scratch(size_t bytes) : p_(std::aligned_alloc(64, (std::max<size_t>(bytes, 1) + 63) / 64 * 64)) {
  if (!p_) throw exhausted("OOM when allocating ", bytes, " bytes of scratch");
}
Scratch::~Scratch() { std::free(p_); }

}  // namespace tapeflow
