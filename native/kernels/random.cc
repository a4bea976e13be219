// Kernels that fill tensors with random numbers: uniform, normal, truncated normal, integers.
#include "kernels/half.h"
#include "kernels/random.h"

#include <algorithm>

#include "kernels/indexing.h"
#include "kernels/layout.h"
#include "kernels/registry.h"
#include "threads.h"

namespace tapeflow {

ShapeRef random_shape(const Tensor* t) {
  if (t->rank() != 1) throw invalid("shape must be a vector of {int32,int64}, got shape ", t->shape->str());
  IntVector dims;
  vector_ints(t, "shape", &dims);
  return ShapeRef(dims.n, dims.v);
}

Philox stateless_generator(const Tensor* seed) {
  if (seed->rank() != 1 || seed->size() != 2) throw invalid("seed must have shape [2], not ", seed->shape->str());
  uint64_t s[2];
  with_indices(seed, [&](const auto* v) { for (int i = 0; i < 2; ++i) s[i] = static_cast<uint64_t>(int64_t{v[i]}); });
  // Mixed once, so that nobody need know which bits of a seed matter.
  Philox mixer(uint64_t{0x02461e29} << 32 | 0x3ec8f720, s[0], s[1]);
  uint32_t w[4];
  philox_blocks(mixer, w, 1);
  return Philox(w[0] | uint64_t{w[1]} << 32, 0, w[2] | uint64_t{w[3]} << 32);
}

Philox stateless_generator(const Tensor* key, const Tensor* counter, const Tensor* algorithm) {
  if (algorithm->rank() != 0) throw invalid("algorithm must be of shape [], not ", algorithm->shape->str());
  const int32_t alg = *algorithm->as<int32_t>();
  if (alg != 1 && alg != 3) throw invalid("Unsupported algorithm id: ", alg);
  if (key->rank() != 1 || key->size() != 1) {
    throw invalid("key must have shape [1], not ", key->shape->str(), ". (Note that batched keys are not supported yet.)");
  }
  if (counter->rank() != 1 || counter->size() < 2) {
    throw invalid("counter must be a vector with length at least 2; got shape: ", counter->shape->str(),
                  ". (Note that batched counters are not supported yet.)");
  }
  const uint64_t* c = counter->as<uint64_t>();
  return Philox(*key->as<uint64_t>(), c[0], c[1]);
}

namespace {

template <typename T> T from_float(float f) {
  if constexpr (sizeof(T) == 4) return f;
  else if constexpr (std::is_same_v<T, Half>) return to_half(f);
  else return to_bfloat16(f);
}

// A distribution turns blocks of 4 words into kPerBlock numbers each.
template <typename T> struct Uniform;
template <> struct Uniform<float> {
  using Type = float;
  static constexpr int kPerBlock = 4;
  static constexpr double kNs = 0.7;
  void operator()(const uint32_t* w, float* out) const { for (int i = 0; i < 4; ++i) out[i] = unit_float(w[i]); }
};
template <> struct Uniform<double> {
  using Type = double;
  static constexpr int kPerBlock = 2;
  static constexpr double kNs = 1.4;
  void operator()(const uint32_t* w, double* out) const {
    out[0] = unit_double(w[0], w[1]);
    out[1] = unit_double(w[2], w[3]);
  }
};
template <> struct Uniform<Half> {
  using Type = Half;
  static constexpr int kPerBlock = 4;
  static constexpr double kNs = 1;
  void operator()(const uint32_t* w, Half* out) const {
    for (int i = 0; i < 4; ++i) out[i] = to_half(1.0f * static_cast<float>(w[i] & 0x3ff) / 1024);
  }
};
template <> struct Uniform<BFloat16> {
  using Type = BFloat16;
  static constexpr int kPerBlock = 4;
  static constexpr double kNs = 1;
  void operator()(const uint32_t* w, BFloat16* out) const {
    for (int i = 0; i < 4; ++i) out[i] = to_bfloat16(static_cast<float>(w[i] & 0x7f) / 128);
  }
};

template <typename T> struct Normal {
  using Type = T;
  static constexpr int kPerBlock = 4;
  static constexpr double kNs = 8;
  void operator()(const uint32_t* w, T* out) const {
    float f[4];
    normal_pair(w[0], w[1], f);
    normal_pair(w[2], w[3], f + 2);
    for (int i = 0; i < 4; ++i) out[i] = from_float<T>(f[i]);
  }
};
template <> struct Normal<double> {
  using Type = double;
  static constexpr int kPerBlock = 2;
  static constexpr double kNs = 20;
  void operator()(const uint32_t* w, double* out) const { normal_pair(w[0], w[1], w[2], w[3], out); }
};

// Integers of [low, low + span); span 0 stands for all of them.
template <typename U> struct Integers {
  using Type = U;
  static constexpr int kPerBlock = 16 / sizeof(U);
  static constexpr double kNs = sizeof(U) == 4 ? 2 : 6;
  U low, span;
  void operator()(const uint32_t* w, U* out) const {
    for (int i = 0; i < kPerBlock; ++i) {
      U x;
      if constexpr (sizeof(U) == 4) x = w[i];
      else x = w[2 * i] | uint64_t{w[2 * i + 1]} << 32;
      out[i] = span == 0 ? x : static_cast<U>(low + x % span);
    }
  }
};

template <typename D>
void fill_random(const Philox& start, typename D::Type* out, int64_t n, const D& d) {
  using T = typename D::Type;
  const int64_t groups = (n + D::kPerBlock - 1) / D::kPerBlock;
  ReleaseGil unlock(static_cast<int64_t>(static_cast<double>(n) * D::kNs));
  parallel_for(groups, D::kNs * D::kPerBlock, [&](int64_t begin, int64_t end) {
    constexpr int64_t kBatch = 64;
    uint32_t words[4 * kBatch];
    Philox g = start;
    g.skip(static_cast<uint64_t>(begin));
    for (int64_t at = begin; at < end; at += kBatch) {
      const int64_t count = std::min(kBatch, end - at);
      philox_blocks(g, words, count);
      for (int64_t i = 0; i < count; ++i) {
        T* to = out + (at + i) * D::kPerBlock;
        const int64_t room = n - (at + i) * D::kPerBlock;
        if (room >= D::kPerBlock) {
          d(words + 4 * i, to);
        } else {
          T last[D::kPerBlock];
          d(words + 4 * i, last);
          std::copy(last, last + room, to);
        }
      }
    }
  });
}

// Normals within two standard deviations. How many words a group of numbers takes is not known beforehand, so each group
// has a stretch of the stream to itself.
template <typename T>
void fill_truncated(const Philox& start, T* out, int64_t n) {
  constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;
  constexpr uint64_t kStretch = kGroup * 256 / 4;
  const int64_t groups = (n + kGroup - 1) / kGroup;
  const double ns = kGroup * 20.0;
  ReleaseGil unlock(static_cast<int64_t>(static_cast<double>(groups) * ns));
  parallel_for(groups, ns, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      Philox g = start;
      g.skip(static_cast<uint64_t>(group) * kStretch);
      PhiloxWords words(g);
      const int64_t first = group * kGroup, stop = std::min(n, first + kGroup);
      for (int64_t at = first; at < stop;) {
        if constexpr (sizeof(T) == 8) {
          double f[2];
          const uint32_t x0 = words(), x1 = words(), x2 = words(), x3 = words();
          normal_pair(x0, x1, x2, x3, f);
          for (int k = 0; k < 2 && at < stop; ++k) if (std::abs(f[k]) < 2) out[at++] = f[k];
        } else {
          float f[2];
          const uint32_t x0 = words(), x1 = words();
          normal_pair(x0, x1, f);
          for (int k = 0; k < 2 && at < stop; ++k) if (std::abs(f[k]) < 2) out[at++] = from_float<T>(f[k]);
        }
      }
    }
  });
}

enum class Kind { kUniform, kNormal, kTruncated };

template <Kind kind, typename T>
void fill_as(const Philox& g, Tensor* out) {
  if constexpr (kind == Kind::kUniform) fill_random(g, out->as<T>(), out->size(), Uniform<T>());
  if constexpr (kind == Kind::kNormal) fill_random(g, out->as<T>(), out->size(), Normal<T>());
  if constexpr (kind == Kind::kTruncated) fill_truncated(g, out->as<T>(), out->size());
}

template <Kind kind>
void fill_kind(const Philox& g, Tensor* out) {
  switch (out->dtype) {
    case DType::kFloat32: return fill_as<kind, float>(g, out);
    case DType::kFloat64: return fill_as<kind, double>(g, out);
    case DType::kFloat16: return fill_as<kind, Half>(g, out);
    default: return fill_as<kind, BFloat16>(g, out);
  }
}

bool is_real(DType d) {
  return d == DType::kFloat32 || d == DType::kFloat64 || d == DType::kFloat16 || d == DType::kBFloat16;
}

template <Kind kind>
bool stateful(KernelCall& c, const SeededAttrs& attrs) {
  static constexpr const char* names[] = {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"};
  const DType type = attrs.dtype.type();
  if (!is_real(type)) return false;
  ShapeRef shape = random_shape(c.in[0]);
  c.out[0] = new_tensor(type, shape.get());
  const Philox g = reserve_stream(names[static_cast<int>(kind)], type, c.in[0]->dtype, attrs.seed.i, attrs.seed2.i,
                                  static_cast<uint64_t>(shape->size) * 256);
  fill_kind<kind>(g, c.out[0]);
  return true;
}

TAPEFLOW_ATTRS(OutputAttrs, dtype);
// Each stateless op is there with a seed, and as V2 with a key.
TAPEFLOW_INPUTS(FromSeed, shape, seed);
TAPEFLOW_INPUTS(FromKey, shape, key, counter, alg);
TAPEFLOW_INPUTS(IntegersFromSeed, shape, seed, minval, maxval);
TAPEFLOW_INPUTS(IntegersFromKey, shape, key, counter, alg, minval, maxval);

template <typename Inputs>
constexpr bool has_seed = requires(const Inputs& in) { in.seed; };

template <typename Inputs>
Philox generator(const Inputs& in) {
  if constexpr (has_seed<Inputs>) return stateless_generator(in.seed);
  else return stateless_generator(in.key, in.counter, in.alg);
}

template <Kind kind, typename Inputs>
bool stateless(KernelCall& c, const OutputAttrs& attrs, const Inputs& in) {
  const DType type = attrs.dtype.type();
  if (!is_real(type)) return false;
  const Philox g = generator(in);
  ShapeRef shape = random_shape(in.shape);
  c.out[0] = new_tensor(type, shape.get());
  fill_kind<kind>(g, c.out[0]);
  return true;
}

// The generator comes last, so that bad limits leave its stream where it is.
template <typename T, typename Start>
bool integers_as(KernelCall& c, const Tensor* low_t, const Tensor* high_t, Start&& start) {
  using U = std::make_unsigned_t<T>;
  if (low_t->rank() != 0) throw invalid("minval must be 0-D, got shape ", low_t->shape->str());
  if (high_t->rank() != 0) throw invalid("maxval must be 0-D, got shape ", high_t->shape->str());
  const T low = *low_t->as<T>(), high = *high_t->as<T>();
  ShapeRef shape = random_shape(c.in[0]);
  if (shape->size > 0 && low >= high) throw invalid("Need minval < maxval, got ", low, " >= ", high);
  c.out[0] = new_tensor(low_t->dtype, shape.get());
  if (shape->size == 0) return true;
  const Integers<U> d{static_cast<U>(low), static_cast<U>(static_cast<U>(high) - static_cast<U>(low))};
  fill_random(start(shape->size), c.out[0]->as<U>(), shape->size, d);
  return true;
}

template <typename Start>
bool integers(KernelCall& c, const Tensor* low, const Tensor* high, Start&& start) {
  switch (low->dtype) {
    case DType::kInt32: return integers_as<int32_t>(c, low, high, start);
    case DType::kInt64: return integers_as<int64_t>(c, low, high, start);
    case DType::kUInt32: return integers_as<uint32_t>(c, low, high, start);
    case DType::kUInt64: return integers_as<uint64_t>(c, low, high, start);
    default: return false;
  }
}

TAPEFLOW_INPUTS(LimitInputs, shape, minval, maxval);

bool random_uniform_int(KernelCall& c, const SeedAttrs& attrs, const LimitInputs& in) {
  return integers(c, in.minval, in.maxval, [&](int64_t n) {
    return reserve_stream("RandomUniformInt", in.minval->dtype, in.shape->dtype, attrs.seed.i, attrs.seed2.i,
                          static_cast<uint64_t>(n) * 256);
  });
}

template <typename Inputs>
bool stateless_uniform_int(KernelCall& c, const Inputs& in) {
  const Philox g = generator(in);
  return integers(c, in.minval, in.maxval, [&](int64_t) { return g; });
}

template <typename Inputs>
bool stateless_full_int(KernelCall& c, const OutputAttrs& attrs, const Inputs& in) {
  const DType type = attrs.dtype.type();
  if constexpr (has_seed<Inputs>) {
    if (!is_index_dtype(in.seed->dtype)) return false;
  }
  const Philox g = generator(in);
  const int item = item_size(type);
  if (!is_integer(type) || item < 4) return false;
  ShapeRef shape = random_shape(c.in[0]);
  c.out[0] = new_tensor(type, shape.get());
  if (item == 4) fill_random(g, c.out[0]->as<uint32_t>(), shape->size, Integers<uint32_t>{0, 0});
  else fill_random(g, c.out[0]->as<uint64_t>(), shape->size, Integers<uint64_t>{0, 0});
  return true;
}

bool get_key_counter(KernelCall& c) {
  const Philox g = stateless_generator(c.in[0]);
  const int64_t one = 1, two = 2, none = 0;
  c.out[0] = new_tensor(DType::kUInt64, 1, &one);
  c.out[1] = new_tensor(DType::kUInt64, 1, &two);
  *c.out[0]->as<uint64_t>() = g.key_bits();
  c.out[1]->as<uint64_t>()[0] = g.counter_lo();
  c.out[1]->as<uint64_t>()[1] = g.counter_hi();
  if (c.n_out == 3) {
    c.out[2] = new_tensor(DType::kInt32, 0, &none);
    *c.out[2]->as<int32_t>() = 1;
  }
  return true;
}

}  // namespace

void register_random() {
  const std::initializer_list<DType> keys = {DType::kInt32, DType::kInt64};
  register_kernel("RandomUniform", keys, named<stateful<Kind::kUniform>>);
  register_kernel("RandomStandardNormal", keys, named<stateful<Kind::kNormal>>);
  register_kernel("TruncatedNormal", keys, named<stateful<Kind::kTruncated>>);
  register_kernel("RandomUniformInt", keys, named<random_uniform_int>);
  register_kernel("StatelessRandomUniform", keys, named<stateless<Kind::kUniform, FromSeed>>);
  register_kernel("StatelessRandomUniformV2", keys, named<stateless<Kind::kUniform, FromKey>>);
  register_kernel("StatelessRandomNormal", keys, named<stateless<Kind::kNormal, FromSeed>>);
  register_kernel("StatelessRandomNormalV2", keys, named<stateless<Kind::kNormal, FromKey>>);
  register_kernel("StatelessTruncatedNormal", keys, named<stateless<Kind::kTruncated, FromSeed>>);
  register_kernel("StatelessTruncatedNormalV2", keys, named<stateless<Kind::kTruncated, FromKey>>);
  register_kernel("StatelessRandomUniformInt", keys, named<stateless_uniform_int<IntegersFromSeed>>);
  register_kernel("StatelessRandomUniformIntV2", keys, named<stateless_uniform_int<IntegersFromKey>>);
  register_kernel("StatelessRandomUniformFullInt", keys, named<stateless_full_int<FromSeed>>);
  register_kernel("StatelessRandomUniformFullIntV2", keys, named<stateless_full_int<FromKey>>);
  register_kernel("StatelessRandomGetKeyCounter", keys, get_key_counter);
  register_kernel("StatelessRandomGetKeyCounterAlg", keys, get_key_counter);
  register_random_choice();
  register_random_rejection();
}

}  // namespace tapeflow
