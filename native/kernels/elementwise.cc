#include "elementwise.h"

#include <algorithm>
#include <cstring>

#include "broadcast.h"
#include "op.h"
#include "threads.h"

namespace tapeflow {

namespace {

constexpr int kMaxItem = 16;
constexpr int64_t kShortRow = 32;    // below it, calling a row costs more than laying operands out
constexpr int64_t kChunk = 512;      // elements laid out at a time

char* at(void* p, int64_t bytes) { return static_cast<char*>(p) + bytes; }

// One shape throughout: inputs and output advance together.
void run_flat(const Tensor* const* in, int n_in, Tensor* out, int repeated, double ns, Row row,
              const Attr* attrs) {
  const int64_t n = out->size();
  const double work = static_cast<double>(n) * ns;
  if (work < static_cast<double>(release_gil_ns)) {
    const void* p[kMaxOperands];
    for (int k = 0; k < n_in; ++k) p[k] = in[k]->data;
    row(p, out->data, n, attrs);
    return;
  }
  ReleaseGil gil(static_cast<int64_t>(work));
  const int out_item = item_size(out->dtype);
  parallel_for(n, ns, [&](int64_t begin, int64_t end) {
    const void* p[kMaxOperands];
    for (int k = 0; k < n_in; ++k) {
      p[k] = repeated >> k & 1 ? in[k]->data : at(in[k]->data, begin * item_size(in[k]->dtype));
    }
    row(p, at(out->data, begin * out_item), end - begin, attrs);
  });
}

// Writes out rows that are repeated as a whole (row_step 0) or of one element each (step 0).
template <typename T>
void repeat(const void* from, int64_t row_step, int64_t step, int64_t rows, int64_t n, void* to) {
  T* out = static_cast<T*>(to);
  const T* x = static_cast<const T*>(from);
  for (int64_t r = 0; r < rows; ++r, x += row_step) {
    for (int64_t i = 0; i < n; ++i) *out++ = x[i * step];
  }
}

struct Item16 { int64_t v[2]; };

void lay_out(const void* from, int64_t row_step, int64_t step, int64_t rows, int64_t n, int item,
             void* to) {
  switch (item) {
    case 1: return repeat<uint8_t>(from, row_step, step, rows, n, to);
    case 2: return repeat<uint16_t>(from, row_step, step, rows, n, to);
    case 4: return repeat<uint32_t>(from, row_step, step, rows, n, to);
    case 8: return repeat<uint64_t>(from, row_step, step, rows, n, to);
    default: return repeat<Item16>(from, row_step, step, rows, n, to);
  }
}

struct Broadcast {
  const BroadcastPlan& plan;
  const Tensor* const* in;
  Tensor* out;
  // Indexed by the set of inputs that are one element along the innermost dimension.
  const Row* rows;
  const Attr* attrs;

  void long_rows(int64_t begin, int64_t end) const {
    const int64_t inner = plan.inner();
    const int out_item = item_size(out->dtype);
    int repeated = 0;
    for (int k = 0; k < plan.operands; ++k) repeated |= (plan.strides[k][plan.rank - 1] == 0) << k;
    BroadcastCursor cursor(plan, begin / inner);
    int64_t column = begin % inner;
    while (begin < end) {
      const int64_t n = std::min(inner - column, end - begin);
      const void* p[kMaxOperands];
      for (int k = 0; k < plan.operands; ++k) {
        const int64_t first = cursor.offset(k) + column * plan.strides[k][plan.rank - 1];
        p[k] = at(in[k]->data, first * item_size(in[k]->dtype));
      }
      rows[repeated](p, at(out->data, begin * out_item), n, attrs);
      begin += n;
      column = 0;
      cursor.next();
    }
  }

  // Short rows: repeated operands are laid out in full for a chunk of whole rows at a time.
  void short_rows(int64_t begin, int64_t end) const {
    const int64_t inner = plan.inner();
    const int64_t rows_per_chunk = std::min(kChunk / inner, end - begin);
    const int out_item = item_size(out->dtype);
    alignas(64) char space[kMaxOperands][kChunk * kMaxItem];
    bool in_place[kMaxOperands], once[kMaxOperands];
    for (int k = 0; k < plan.operands; ++k) {
      in_place[k] = plan.contiguous(k);
      once[k] = plan.periodic(k);
      if (once[k])
        lay_out(in[k]->data, 0, 1, rows_per_chunk, inner, item_size(in[k]->dtype), space[k]);
    }
    for (; begin < end; begin += rows_per_chunk) {
      const int64_t n_rows = std::min(rows_per_chunk, end - begin);
      const void* p[kMaxOperands];
      for (int k = 0; k < plan.operands; ++k) {
        const int item = item_size(in[k]->dtype);
        if (in_place[k]) {
          p[k] = at(in[k]->data, begin * inner * item);
        } else {
          if (!once[k]) lay_out_rows(k, begin, n_rows, space[k]);
          p[k] = space[k];
        }
      }
      rows[0](p, at(out->data, begin * inner * out_item), n_rows * inner, attrs);
    }
  }

  void lay_out_rows(int k, int64_t first, int64_t n_rows, char* to) const {
    const int item = item_size(in[k]->dtype);
    const int64_t inner = plan.inner(), step = plan.strides[k][plan.rank - 1];
    if (plan.rank == 2) {
      const int64_t row_step = plan.strides[k][0];
      return lay_out(at(in[k]->data, first * row_step * item), row_step, step, n_rows, inner, item,
                     to);
    }
    BroadcastCursor cursor(plan, first);
    for (int64_t r = 0; r < n_rows; ++r, cursor.next()) {
      lay_out(at(in[k]->data, cursor.offset(k) * item), 0, step, 1, inner, item,
              to + r * inner * item);
    }
  }
};

void run_broadcast(const Tensor* const* in, int n_in, Tensor* out, double ns, const Row* rows,
                   const Attr* attrs) {
  if (out->size() == 0) return;
  const Shape* shapes[kMaxOperands];
  for (int k = 0; k < n_in; ++k) shapes[k] = in[k]->shape;
  const BroadcastPlan plan(out->shape, shapes, n_in);
  const Broadcast run{plan, in, out, rows, attrs};
  ReleaseGil gil(static_cast<int64_t>(static_cast<double>(plan.total) * ns));
  const int64_t inner = plan.inner();
  if (plan.rank > 1 && inner < kShortRow) {
    parallel_for(plan.total / inner, (ns + 1) * static_cast<double>(inner),
                 [&](int64_t begin, int64_t end) { run.short_rows(begin, end); });
  } else {
    parallel_for(plan.total, ns, [&](int64_t begin, int64_t end) { run.long_rows(begin, end); });
  }
}

// The output, in the memory of one of the first n_in inputs where the caller gives one of its shape up.
inline Tensor* new_output(const KernelCall& c, int n_in, DType dtype, Shape* shape) {
  if (c.dying != 0) {
    for (int i = 0; i < n_in; ++i) {
      Tensor* t = c.in[i];
      if (c.may_reuse(i) && item_size(t->dtype) == item_size(dtype) && t->shape->same(shape) &&
          reuse_tensor(t, dtype)) {
        return t;
      }
    }
  }
  return new_tensor(dtype, shape);
}

}  // namespace

bool map_unary(KernelCall& c, DType dtype, double ns, Row row) {
  Tensor* out = c.out[0] = new_output(c, 1, dtype, c.in[0]->shape);
  run_flat(c.in, 1, out, 0, ns, row, c.attrs);
  return true;
}

bool map_pair(KernelCall& c, double ns, Row row, Match match) {
  const Tensor *x = c.in[0], *y = c.in[1];
  if (match == Match::kSize && x->size() != y->size()) {
    throw invalid("The two arguments to a cwise op must have same number of elements, got ",
                  x->size(), " and ", y->size());
  }
  if (match == Match::kShape && !x->shape->same(y->shape)) {
    throw invalid("Inputs to operation ", *c.op->name, " of type ", *c.op->name,
                  " must have the same size and shape.  Input 0: ", x->shape->str(),
                  " != input 1: ", y->shape->str());
  }
  Tensor* out = c.out[0] = new_output(c, 2, x->dtype, x->shape);
  run_flat(c.in, 2, out, 0, ns, row, c.attrs);
  return true;
}

bool map_binary(KernelCall& c, DType dtype, double ns, const BinaryRows& rows) {
  Tensor *x = c.in[0], *y = c.in[1];
  Row flat = nullptr;
  int repeated = 0;
  ShapeRef shape;
  if (x->shape->same(y->shape)) {
    shape = ShapeRef::share(x->shape);
    flat = rows.both;
  } else if (y->size() == 1 && y->rank() <= x->rank()) {
    shape = ShapeRef::share(x->shape);
    flat = rows.scalar_right;
    repeated = 2;
  } else if (x->size() == 1 && x->rank() <= y->rank()) {
    shape = ShapeRef::share(y->shape);
    flat = rows.scalar_left;
    repeated = 1;
  } else {
    shape = broadcast(x->shape, y->shape);
  }
  if (rows.check && shape->size > 0) rows.check(y);
  Tensor* out = c.out[0] = new_output(c, 2, dtype, shape.get());
  if (flat) {
    run_flat(c.in, 2, out, repeated, ns, flat, c.attrs);
  } else {
    const Row by_pattern[4] = {rows.both, rows.scalar_left, rows.scalar_right, rows.both};
    run_broadcast(c.in, 2, out, ns, by_pattern, c.attrs);
  }
  return true;
}

void map_ternary(KernelCall& c, Tensor* out, double ns, const Row rows[8]) {
  run_broadcast(c.in, 3, out, ns, rows, c.attrs);
}

bool map_all(KernelCall& c, double ns, Row first_two, Row accumulate) {
  Tensor* first = c.in[0];
  for (int i = 1; i < c.n_in; ++i) {
    if (!first->shape->same(c.in[i]->shape)) {
      throw invalid("Inputs to operation ", *c.op->name, " of type ", *c.op->name,
                    " must have the same size and shape.  Input 0: ", first->shape->str(),
                    " != input ", i, ": ", c.in[i]->shape->str());
    }
  }
  if (c.n_in == 1) {
    c.out[0] = view_tensor(first, first->shape);
    return true;
  }
  Tensor* out = c.out[0] = new_output(c, 2, first->dtype, first->shape);  // written before the third is read
  const int64_t n = out->size();
  const int item = item_size(out->dtype);
  ns *= c.n_in - 1;
  ReleaseGil gil(static_cast<int64_t>(static_cast<double>(n) * ns));
  parallel_for(n, ns, [&](int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 2048;  // stays in the first-level cache while all inputs are added
    for (int64_t b = begin; b < end; b += kBlock) {
      const int64_t count = std::min(kBlock, end - b);
      const void* p[2] = {at(c.in[0]->data, b * item), at(c.in[1]->data, b * item)};
      char* to = at(out->data, b * item);
      first_two(p, to, count, c.attrs);
      for (int i = 2; i < c.n_in; ++i) {
        const void* q[1] = {at(c.in[i]->data, b * item)};
        accumulate(q, to, count, c.attrs);
      }
    }
  });
  return true;
}

}  // namespace tapeflow
