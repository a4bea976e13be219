// Philox itself, and the streams that seeded ops continue from call to call.
#include <pthread.h>

#include <mutex>
#include <random>
#include <unordered_map>

#include "kernels/random.h"
#include "../guard.h"

namespace tapeflow {

namespace {

constexpr uint32_t kMultiplierA = 0xD2511F53, kMultiplierB = 0xCD9E8D57;
constexpr uint32_t kWeylA = 0x9E3779B9, kWeylB = 0xBB67AE85;

constexpr int kLanes = 16;

// Where the loader can pick a function by processor, the loops below get the widest vectors there are.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define TAPEFLOW_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TAPEFLOW_CLONES
#endif

TAPEFLOW_CLONES void sixteen_blocks(const uint32_t* key, uint64_t lo, uint64_t hi, uint32_t* out) {
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t l = lo + static_cast<uint64_t>(i), h = hi + (l < lo);
    c0[i] = static_cast<uint32_t>(l);
    c1[i] = static_cast<uint32_t>(l >> 32);
    c2[i] = static_cast<uint32_t>(h);
    c3[i] = static_cast<uint32_t>(h >> 32);
  }
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
#pragma omp simd
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t a = uint64_t{kMultiplierA} * c0[i], b = uint64_t{kMultiplierB} * c2[i];
      c0[i] = static_cast<uint32_t>(b >> 32) ^ c1[i] ^ k0;
      c2[i] = static_cast<uint32_t>(a >> 32) ^ c3[i] ^ k1;
      c1[i] = static_cast<uint32_t>(b);
      c3[i] = static_cast<uint32_t>(a);
    }
    k0 += kWeylA;
    k1 += kWeylB;
  }
  for (int i = 0; i < kLanes; ++i) {
    out[4 * i] = c0[i];
    out[4 * i + 1] = c1[i];
    out[4 * i + 2] = c2[i];
    out[4 * i + 3] = c3[i];
  }
}

void one_block(const Philox& g, uint32_t* out) {
  uint32_t c0 = g.counter[0], c1 = g.counter[1], c2 = g.counter[2], c3 = g.counter[3];
  uint32_t k0 = g.key[0], k1 = g.key[1];
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{kMultiplierA} * c0, b = uint64_t{kMultiplierB} * c2;
    c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(b);
    c3 = static_cast<uint32_t>(a);
    k0 += kWeylA;
    k1 += kWeylB;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

}  // namespace

void philox_blocks(Philox& g, uint32_t* out, int64_t blocks) {
  for (; blocks >= kLanes; blocks -= kLanes, out += 4 * kLanes) {
    sixteen_blocks(g.key, g.counter_lo(), g.counter_hi(), out);
    g.skip(kLanes);
  }
  for (; blocks > 0; --blocks, out += 4) {
    one_block(g, out);
    g.skip(1);
  }
}

namespace {

struct StreamKey {
  uint64_t op;  // hash of its name
  DType a, b;
  int64_t seed, seed2;
  bool operator==(const StreamKey&) const = default;
};
struct StreamHash {
  size_t operator()(const StreamKey& k) const {
    size_t h = k.op;
    for (uint64_t part : {static_cast<uint64_t>(k.a) << 8 | static_cast<uint64_t>(k.b), static_cast<uint64_t>(k.seed),
                          static_cast<uint64_t>(k.seed2)}) {
      h = (h ^ part) * 0x9E3779B97F4A7C15u;
      h ^= h >> 32;
    }
    return h;
  }
};

uint64_t hash_of(const char* name) {  // Fowler, Noll and Vo's
  uint64_t h = 0xCBF29CE484222325u;
  for (; *name; ++name) h = (h ^ static_cast<unsigned char>(*name)) * 0x100000001B3u;
  return h;
}

struct Streams {
  std::mutex mutex;
  std::unordered_map<StreamKey, Philox, StreamHash> of;
};

Streams& streams() {
  static auto* all = [] {
    // A child must not repeat what the parent's unseeded streams give.
    pthread_atfork([] { streams().mutex.lock(); }, [] { streams().mutex.unlock(); }, [] {
      for (auto& [key, g] : streams().of) {
        if (key.seed == 0 && key.seed2 == 0) g = Philox(std::random_device()(), 0, std::random_device()());
      }
      streams().mutex.unlock();
    });
    return new Streams;
  }();
  return *all;
}

uint64_t entropy() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// A seed that was drawn for one call only: its stream need not be remembered, else a training loop under a global seed
// would leave one behind at every step.
struct Drawn { int64_t seed, seed2; bool valid; };
thread_local Drawn drawn{0, 0, false};

// Nodes of graphs have a stream each: their number stands in the seed, above its own 31 bits.
constexpr int64_t kOfNode = int64_t{1} << 62;

int64_t without_node(int64_t seed) { return seed > 0 && (seed & kOfNode) ? seed & 0x7FFFFFFF : seed; }

}  // namespace

Philox reserve_stream(const char* op, DType a, DType b, int64_t seed, int64_t seed2, uint64_t blocks) {
  if (drawn.valid && drawn.seed == seed && drawn.seed2 == seed2) {
    drawn.valid = false;
    return Philox(static_cast<uint64_t>(seed), 0, static_cast<uint64_t>(seed2));
  }
  Streams& all = streams();
  std::lock_guard lock(all.mutex);
  auto [found, fresh] = all.of.try_emplace(StreamKey{hash_of(op), a, b, seed, seed2});
  Philox& g = found->second;
  if (fresh) {
    g = seed == 0 && seed2 == 0 ? Philox(entropy(), 0, entropy())
                                : Philox(static_cast<uint64_t>(without_node(seed)), 0, static_cast<uint64_t>(seed2));
  }
  const Philox here = g;
  g.skip(blocks);
  return here;
}

void random_reset() {
  Streams& all = streams();
  {
    std::lock_guard lock(all.mutex);
    all.of.clear();
  }
  drawn.valid = false;
}

namespace {

PyObject* py_reset(PyObject*, PyObject*) {
  random_reset();
  Py_RETURN_NONE;
}

PyObject* py_drawn(PyObject*, PyObject* args) {
  long long seed, seed2;
  if (!PyArg_ParseTuple(args, "LL", &seed, &seed2)) return nullptr;
  drawn = {seed, seed2, true};
  Py_RETURN_NONE;
}

PyObject* py_reserve(PyObject*, PyObject* args) {
  const char* op;
  int a, b;
  long long seed, seed2;
  unsigned long long blocks;
  if (!PyArg_ParseTuple(args, "siiLLK", &op, &a, &b, &seed, &seed2, &blocks)) return nullptr;
  const Philox g = reserve_stream(op, static_cast<DType>(a), static_cast<DType>(b), seed, seed2, blocks);
  return Py_BuildValue("KKK", static_cast<unsigned long long>(g.key_bits()),
                       static_cast<unsigned long long>(g.counter_lo()), static_cast<unsigned long long>(g.counter_hi()));
}

}  // namespace

PyMethodDef random_methods[] = {
    {"random_reset", entry<py_reset>, METH_NOARGS, "Starts all random streams again."},
    {"random_drawn", entry<py_drawn>, METH_VARARGS,
     "random_drawn(seed, seed2): this pair was drawn for the next call of this thread and will not be used again."},
    {"random_reserve", entry<py_reserve>, METH_VARARGS,
     "random_reserve(op, dtype, dtype, seed, seed2, blocks) -> (key, counter_lo, counter_hi) of the stream, which moves on."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tapeflow
