#include "reduction.h"

#include <algorithm>

#include "owned_tensor.h"
#include "threads.h"

namespace tapeflow {

namespace {

const char* at(const char* p, int64_t elements, int item) { return p + elements * item; }

// Dimensions, neighbours that are treated alike merged; kept and reduced ones alternate.
struct Layout {
  int rank = 0;
  int64_t dims[kMaxRank];
  bool reduced[kMaxRank];
  int64_t strides[kMaxRank];
  int64_t outputs = 1, count = 1;  // elements of the result; elements that go into each

  Layout(const Shape* shape, const bool* which) {
    for (int i = 0; i < shape->rank; ++i) {
      const int64_t d = shape->dims[i];
      (which[i] ? count : outputs) *= d;
      if (d == 1) continue;
      if (rank > 0 && reduced[rank - 1] == which[i]) {
        dims[rank - 1] *= d;
      } else {
        dims[rank] = d;
        reduced[rank++] = which[i];
      }
    }
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      strides[i] = stride;
      stride *= dims[i];
    }
  }
};

// Offsets of the elements of some of a layout's dimensions, those above the innermost two or one.
class Walk {
 public:
  Walk(const Layout& l, int end, bool reduced, int64_t first)
      : l_(l), end_(end), reduced_(reduced) {
    for (int i = end - 1; i >= 0; --i) {
      if (l.reduced[i] != reduced) continue;
      index_[i] = first % l.dims[i];
      first /= l.dims[i];
      offset += index_[i] * l.strides[i];
    }
  }
  void next() {
    for (int i = end_ - 1; i >= 0; --i) {
      if (l_.reduced[i] != reduced_) continue;
      offset += l_.strides[i];
      if (++index_[i] < l_.dims[i]) return;
      offset -= l_.dims[i] * l_.strides[i];
      index_[i] = 0;
    }
  }
  int64_t offset = 0;

 private:
  const Layout& l_;
  int end_;
  bool reduced_;
  int64_t index_[kMaxRank];
};

// One call of the loops splits `total` among at most this many threads, with an accumulator each.
int parts_for(int64_t total, double ns) {
  const double work = static_cast<double>(total) * ns;
  if (work < static_cast<double>(parallel_ns)) return 1;
  return static_cast<int>(
      std::min<double>(intra_op_threads(), std::max(2.0, work / (static_cast<double>(parallel_ns) / 4))));
}

// body(part, parts, accumulators of n identities), the parts' accumulators then combined into one.
template <typename Body>
void in_parts(int parts, int64_t n, double ns_per_part, const Reducer& r, void* acc,
              const Body& body) {
  if (parts <= 1) {
    r.identity(acc, n);
    body(0, 1, acc);
    return;
  }
  const int64_t bytes = (n * r.accumulator_size + 63) / 64 * 64;
  Scratch scratch(static_cast<size_t>(bytes * parts));
  char* all = scratch.as<char>();
  parallel_for(parts, ns_per_part, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      r.identity(all + p * bytes, n);
      body(p, parts, all + p * bytes);
    }
  });
  r.identity(acc, n);
  for (int p = 0; p < parts; ++p) r.combine(acc, all + p * bytes, n);
}

// The innermost dimension is reduced.
void reduce_inner(const char* x, int item, const Layout& l, const Reducer& r, char* acc) {
  const int64_t inner = l.dims[l.rank - 1];
  const int64_t outer_count = l.count / inner;
  const double ns_each = r.ns * static_cast<double>(l.count) + 3;
  if (l.rank == 1) {
    in_parts(parts_for(inner, r.ns), 1, 1e9, r, acc, [&](int64_t p, int64_t parts, void* a) {
      const int64_t begin = inner * p / parts, end = inner * (p + 1) / parts;
      r.reduce_rows(a, at(x, begin, item), 1, end - begin);
    });
    return;
  }
  parallel_for(l.outputs, ns_each, [&](int64_t begin, int64_t end) {
    char* a = acc + begin * r.accumulator_size;
    r.identity(a, end - begin);
    if (l.rank == 2) return r.reduce_rows(a, at(x, begin * inner, item), end - begin, inner);
    Walk kept(l, l.rank - 1, false, begin);
    for (int64_t o = begin; o < end; ++o, kept.next(), a += r.accumulator_size) {
      Walk outer(l, l.rank - 1, true, 0);
      for (int64_t i = 0; i < outer_count; ++i, outer.next()) {
        r.reduce_rows(a, at(x, kept.offset + outer.offset, item), 1, inner);
      }
    }
  });
}

// The innermost dimension is kept, the one above it reduced.
void reduce_outer(const char* x, int item, const Layout& l, const Reducer& r, char* acc) {
  const int64_t inner = l.dims[l.rank - 1], rows = l.dims[l.rank - 2];
  const int64_t outer_count = l.count / rows, blocks = l.outputs / inner;
  const double ns_each = r.ns * static_cast<double>(l.count);
  if (l.rank == 2) {
    const int parts = parts_for(inner * rows, r.ns);
    if (inner < 2048 && rows >= 2 * parts) {
      in_parts(parts, inner, 1e9, r, acc, [&](int64_t p, int64_t n_parts, void* a) {
        const int64_t begin = rows * p / n_parts, end = rows * (p + 1) / n_parts;
        r.fold_rows(a, at(x, begin * inner, item), end - begin, inner, inner);
      });
    } else {
      parallel_for(inner, ns_each, [&](int64_t begin, int64_t end) {
        char* a = acc + begin * r.accumulator_size;
        r.identity(a, end - begin);
        r.fold_rows(a, at(x, begin, item), rows, inner, end - begin);
      });
    }
    return;
  }
  parallel_for(blocks, ns_each * static_cast<double>(inner), [&](int64_t begin, int64_t end) {
    Walk kept(l, l.rank - 1, false, begin);
    for (int64_t b = begin; b < end; ++b, kept.next()) {
      char* a = acc + b * inner * r.accumulator_size;
      r.identity(a, inner);
      Walk outer(l, l.rank - 2, true, 0);
      for (int64_t i = 0; i < outer_count; ++i, outer.next()) {
        r.fold_rows(a, at(x, kept.offset + outer.offset, item), rows, inner, inner);
      }
    }
  });
}

void run(const Tensor* x, const Layout& l, const Reducer& r, Tensor* out, char* acc) {
  const int item = item_size(x->dtype);
  if (l.outputs == 0) return;
  if (x->size() == 0) {
    r.identity(acc, l.outputs);
  } else if (l.rank == 0 || (l.rank == 1 && !l.reduced[0])) {
    r.identity(acc, l.outputs);
    r.fold_rows(acc, x->data, 1, l.outputs, l.outputs);
  } else if (l.reduced[l.rank - 1]) {
    reduce_inner(x->data, item, l, r, acc);
  } else {
    reduce_outer(x->data, item, l, r, acc);
  }
  r.finish(acc, l.outputs, l.count, out->data);
}

}  // namespace

Tensor* reduce(const Tensor* x, const bool* reduced, Shape* shape, const Reducer& r) {
  const Layout layout(x->shape, reduced);
  OwnedTensor owned(new_tensor(r.out, shape));
  Tensor* out = owned.get();
  const int64_t bytes = layout.outputs * r.accumulator_size;
  const int64_t work = static_cast<int64_t>(static_cast<double>(x->size()) * r.ns);
  alignas(64) char small[1024];
  if (bytes <= static_cast<int64_t>(sizeof small)) {
    ReleaseGil gil(work);
    run(x, layout, r, out, small);
  } else if (r.accumulator_size == item_size(r.out)) {
    ReleaseGil gil(work);  // finish works in place, element by element
    run(x, layout, r, out, out->data);
  } else {
    Scratch scratch(static_cast<size_t>(bytes));
    ReleaseGil gil(work);
    run(x, layout, r, out, scratch.as<char>());
  }
  return owned.leak();
}

bool reduce_along_axes(KernelCall& c, bool keep_dims, const Reducer& r) {
  Tensor *x = c.in[0], *axes = c.in[1];
  const int rank = x->rank();
  bool reduced[kMaxRank] = {};
  const bool narrow = axes->dtype == DType::kInt32;
  if (!narrow && axes->dtype != DType::kInt64) return false;
  for (int64_t i = 0, n = axes->size(); i < n; ++i) {
    const int64_t given = narrow ? axes->as<int32_t>()[i] : axes->as<int64_t>()[i];
    if (given < -rank || given >= rank) {
      throw invalid("Invalid reduction dimension (", given, " for input with ", rank,
                    " dimension(s)");
    }
    const int64_t axis = given < 0 ? given + rank : given;
    if (reduced[axis]) {
      throw invalid("Invalid reduction arguments: Axes contains duplicate dimension: ", axis);
    }
    reduced[axis] = true;
  }
  int64_t dims[kMaxRank];
  dims[0] = 0;
  int n = 0;
  bool single = true;
  for (int i = 0; i < rank; ++i) {
    if (!reduced[i]) dims[n++] = x->dim(i);
    else if (keep_dims) dims[n++] = 1;
    single = single && (!reduced[i] || x->dim(i) == 1);
  }
  const ShapeRef shape(n, dims);
  c.out[0] =
      single && r.keeps_single ? view_tensor(x, shape.get()) : reduce(x, reduced, shape.get(), r);
  return true;
}

}  // namespace tapeflow
