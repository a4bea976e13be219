#include "shape.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "error.h"

namespace tapeflow {

namespace {

constexpr int kPooledRank = 6;   // shapes of at most this rank are recycled
constexpr int kPoolSize = kFreeThreads ? 0 : 256;  // malloc has a pool for each thread
Shape* pool[std::max(kPoolSize, 1)];
int pooled = 0;

size_t bytes_for(int rank) { return sizeof(Shape) + sizeof(int64_t) * std::max(rank - 1, 0); }

}  // namespace

Shape* Shape::make(int rank, const int64_t* dims) {
  if (rank == 0) return scalar();
  if (rank < 0 || rank > kMaxRank) throw invalid("Rank ", rank, " is not in [0, ", kMaxRank, "]");
  int64_t size = 1;
  bool empty = false;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] < 0) throw invalid("Dimension ", dims[i], " must be >= 0");
    if (dims[i] == 0) { empty = true; continue; }  // the other dimensions may be anything then, but not overflow
    if (__builtin_mul_overflow(size, dims[i], &size)) {
      std::string all;
      for (int j = 0; j < rank; ++j) all += (j ? "," : "") + std::to_string(dims[j]);
      throw invalid("Encountered overflow when multiplying the dimensions of shape [", all, "]");
    }
  }
  Shape* s;
  if (kPoolSize > 0 && rank <= kPooledRank && pooled > 0) {
    s = pool[--pooled];
  } else {
    s = static_cast<Shape*>(std::malloc(bytes_for(std::max(rank, kPooledRank))));
    if (!s) throw std::bad_alloc();
  }
  s->refs = {1};
  s->rank = rank;
  s->size = empty ? 0 : size;
  s->py = {nullptr};
  for (int i = 0; i < rank; ++i) s->dims[i] = dims[i];
  return s;
}

Shape* Shape::scalar() {
  static Shape* one = [] {
    auto* s = static_cast<Shape*>(std::calloc(1, bytes_for(0)));
    s->refs = {1};  // never drops to 0
    s->size = 1;
    return s;
  }();
  return one->retain();
}

void Shape::destroy(Shape* s) {
  Py_XDECREF(s->py);
  if (s->rank <= kPooledRank && s->rank > 0 && pooled < kPoolSize) {
    pool[pooled++] = s;
  } else {
    std::free(s);
  }
}

std::string Shape::str() const {
  std::string out = "[";
  for (int i = 0; i < rank; ++i) out += (i ? "," : "") + std::to_string(dims[i]);
  return out + "]";
}

ShapeRef broadcast(Shape* x, Shape* y) {
  if (x->same(y)) return ShapeRef::share(x);
  const Shape* longer = x->rank >= y->rank ? x : y;
  const Shape* shorter = x->rank >= y->rank ? y : x;
  int64_t dims[kMaxRank];
  const int shift = longer->rank - shorter->rank;
  for (int i = 0; i < longer->rank; ++i) {
    const int64_t a = longer->dims[i];
    const int64_t b = i < shift ? 1 : shorter->dims[i - shift];
    if (a != b && a != 1 && b != 1) throw invalid("Incompatible shapes: ", x->str(), " vs. ", y->str());
    dims[i] = a == 1 ? b : a;
  }
  if (x->rank == longer->rank && std::equal(dims, dims + longer->rank, x->dims)) return ShapeRef::share(x);
  if (y->rank == longer->rank && std::equal(dims, dims + longer->rank, y->dims)) return ShapeRef::share(y);
  return ShapeRef(longer->rank, dims);
}

}  // namespace tapeflow
