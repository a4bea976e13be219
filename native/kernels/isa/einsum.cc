// Einsum of two operands that is a stack of matrix products as they lie in memory: the labels of each kind (stack, rows,
// columns, summed) follow each other at even steps. Everything else is left to the row, which copies into such an order.
#include <string_view>
#include <vector>

#include "kernels/registry.h"
#include "product.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

TAPEFLOW_ATTRS(EinsumAttrs, equation);

constexpr int kLetters = 128;

// One label: its length, and its stride in both operands and in the result; 0: it is not there.
struct Label {
  int64_t size = 0;
  int64_t at[3] = {};
};

// Labels as one dimension.
struct Group {
  int64_t size = 1;
  int64_t at[3] = {};
};

struct Einsum {
  Label labels[kLetters];
  std::vector<int> order;       // letters, as they are first met
  std::string_view output;
  Group rows, columns, summed;
  std::vector<Label> stack;
};

// The labels of a term with the strides of an array of such a shape. False: not as many letters as dimensions.
bool read_term(std::string_view term, const Tensor* t, int which, Einsum* e) {
  if (static_cast<int>(term.size()) != t->rank()) return false;
  int64_t stride = 1;
  for (int i = t->rank() - 1; i >= 0; --i) {
    const auto c = static_cast<unsigned char>(term[static_cast<size_t>(i)]);
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
    Label& label = e->labels[c];
    if (label.at[which] != 0 || (label.size != 0 && label.size != t->dim(i))) return false;
    if (label.size == 0) e->order.push_back(c);
    label.size = t->dim(i);
    label.at[which] = stride;
    stride *= t->dim(i);
  }
  return true;
}

bool read_output(Einsum* e, int64_t* dims) {
  int64_t stride = 1;
  for (int i = static_cast<int>(e->output.size()) - 1; i >= 0; --i) {
    const auto c = static_cast<unsigned char>(e->output[static_cast<size_t>(i)]);
    if (c >= kLetters || e->labels[c].size == 0 || e->labels[c].at[2] != 0) return false;
    e->labels[c].at[2] = stride;
    dims[i] = e->labels[c].size;
    if (__builtin_mul_overflow(stride, dims[i], &stride)) return false;
  }
  return true;
}

// Labels come from the last dimension to the first: each must go on where the one before ends, wherever it is.
bool add_to(Group* g, const Label& l) {
  if (l.size == 1) return true;
  for (int k = 0; k < 3; ++k) {
    if (g->size == 1) g->at[k] = l.at[k];
    else if (l.at[k] != g->at[k] * g->size) return false;
  }
  g->size *= l.size;
  return true;
}

bool sort_labels(Einsum* e) {
  for (const int c : e->order) {
    const Label& l = e->labels[c];
    const bool x = l.at[0] != 0, y = l.at[1] != 0, out = l.at[2] != 0;
    if (x && y && out) e->stack.push_back(l);
    else if (x && y) { if (!add_to(&e->summed, l)) return false; }
    else if (!out) return false;  // summed over in one operand alone
    else if (!add_to(x ? &e->rows : &e->columns, l)) return false;
  }
  return true;
}

// A matrix with a stride of 1, as the products want it; strides of dimensions of length 1 are free.
template <typename T> bool as_matrix(const T* data, int64_t rows, int64_t cols, int64_t rows_at, int64_t cols_at, Matrix<T>* to) {
  if (cols == 1) cols_at = rows_at == 1 ? rows : 1;
  if (rows == 1) rows_at = cols_at == 1 ? cols : 1;
  *to = {data, rows_at, cols_at};
  return rows_at == 1 || cols_at == 1;
}

bool parse(KernelCall& call, const EinsumAttrs& attrs, Einsum* e, int64_t* dims) {
  if (call.n_in != 2 || call.in[0]->size() == 0 || call.in[1]->size() == 0) return false;
  const std::string_view equation = attrs.equation.str();
  const size_t comma = equation.find(','), arrow = equation.find("->");
  if (comma == equation.npos || arrow == equation.npos || comma > arrow) return false;
  e->output = equation.substr(arrow + 2);
  return e->output.size() <= kMaxRank && read_term(equation.substr(0, comma), call.in[0], 0, e) &&
         read_term(equation.substr(comma + 1, arrow - comma - 1), call.in[1], 1, e) && read_output(e, dims) && sort_labels(e);
}

template <typename T> bool einsum(KernelCall& call, const EinsumAttrs& attrs) {
  Einsum e;
  int64_t dims[kMaxRank];
  if (!parse(call, attrs, &e, dims)) return false;
  int64_t m = e.rows.size, n = e.columns.size;
  const int64_t k = e.summed.size;
  Matrix<T> a, b;
  if (!as_matrix(call.in[0]->as<T>(), m, k, e.rows.at[0], e.summed.at[0], &a)) return false;
  if (!as_matrix(call.in[1]->as<T>(), k, n, e.summed.at[1], e.columns.at[1], &b)) return false;
  int x = 0, y = 1;
  int64_t row_at = e.rows.at[2], column_at = e.columns.at[2];
  if (n > 1 && column_at != 1) {  // the transpose of the result is b' a'
    std::swap(a, b);
    a = a.transposed();
    b = b.transposed();
    std::swap(m, n);
    std::swap(x, y);
    std::swap(row_at, column_at);
    if (n > 1 && column_at != 1) return false;
  }
  const int64_t c_stride = m == 1 ? n : row_at;
  Tensor* out = new_tensor(call.in[0]->dtype, static_cast<int>(e.output.size()), dims);
  call.out[0] = out;

  int64_t count = 1;
  for (const Label& l : e.stack) count *= l.size;
  const double madds = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const OneDnn* library = library_for<T>(madds);
  const double ns = madds * kNs<T> + 10;
  ReleaseGil release(static_cast<int64_t>(std::min(ns * static_cast<double>(count), 1e18)));
  const auto some = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      int64_t offset[3] = {}, rest = i;
      for (const Label& l : e.stack) {
        for (int p = 0; p < 3; ++p) offset[p] += rest % l.size * l.at[p];
        rest /= l.size;
      }
      multiply<T>(m, n, k, {a.data + offset[x], a.rows, a.cols}, {b.data + offset[y], b.rows, b.cols},
                  out->as<T>() + offset[2], library, c_stride);
    }
  };
  share_products<T>(count, madds, some);
  return true;
}

}  // namespace

void register_einsum() {
  register_kernel("Einsum", {DType::kFloat32}, named<einsum<float>>);
  register_kernel("Einsum", {DType::kFloat64}, named<einsum<double>>);
}

}  // namespace tapeflow::TAPEFLOW_ISA
