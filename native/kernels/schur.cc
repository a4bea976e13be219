// The Schur form by the shifted QR algorithm (G. H. Golub and C. F. Van Loan, Matrix Computations, 4th edition, 7.4 and
// 7.5), and the square root of a triangular matrix (N. J. Higham, Functions of Matrices, SIAM 2008, 6.3).
#include "kernels/schur.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "guard.h"
#include "kernels/bytes.h"
#include "threads.h"

namespace tapeflow {
namespace {

using Complex = std::complex<double>;

constexpr int kMostIterations = 30;  // for each eigenvalue

// Products of finite numbers; the operator looks for infinities.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

struct Square {
  Complex* data;
  int64_t n;
  Complex* row(int64_t i) const { return data + i * n; }
};

// m[:, first + i] -= 2 (m v) v^H for rows of m.
void reflect_columns(const Square& m, const std::vector<Complex>& v, int64_t first) {
  for (int64_t r = 0; r < m.n; ++r) {
    Complex* row = m.row(r) + first;
    Complex sum = 0;
    for (size_t j = 0; j < v.size(); ++j) sum += times(row[j], v[j]);
    sum *= 2;
    for (size_t j = 0; j < v.size(); ++j) row[j] -= times(sum, std::conj(v[j]));
  }
}

// m[first + i, :] -= 2 v (v^H m)
void reflect_rows(const Square& m, const std::vector<Complex>& v, int64_t first) {
  std::vector<Complex> sums(static_cast<size_t>(m.n));
  for (size_t i = 0; i < v.size(); ++i) {
    const Complex* row = m.row(first + static_cast<int64_t>(i));
    for (int64_t j = 0; j < m.n; ++j) sums[static_cast<size_t>(j)] += times(std::conj(v[i]), row[j]);
  }
  for (size_t i = 0; i < v.size(); ++i) {
    Complex* row = m.row(first + static_cast<int64_t>(i));
    const Complex twice = 2.0 * v[i];
    for (int64_t j = 0; j < m.n; ++j) row[j] -= times(twice, sums[static_cast<size_t>(j)]);
  }
}

double norm_of(const std::vector<Complex>& v) {
  double norm = 0;
  for (const Complex& x : v) norm = std::hypot(norm, std::abs(x));
  return norm;
}

// Makes h zero below its first subdiagonal, and q, the unit matrix, what h was turned by.
void make_hessenberg(const Square& h, const Square& q) {
  for (int64_t k = 0; k + 2 < h.n; ++k) {
    std::vector<Complex> v;
    for (int64_t i = k + 1; i < h.n; ++i) v.push_back(h.row(i)[k]);
    double norm = norm_of(v);
    if (norm == 0) continue;
    v[0] += v[0] == 0.0 ? norm : norm * (v[0] / std::abs(v[0]));
    norm = norm_of(v);
    for (Complex& x : v) x /= norm;
    reflect_rows(h, v, k + 1);
    reflect_columns(h, v, k + 1);
    reflect_columns(q, v, k + 1);
    for (int64_t i = k + 2; i < h.n; ++i) h.row(i)[k] = 0;
  }
}

// The eigenvalue of the 2 by 2 matrix up to place `end` of the diagonal that is next to its last element (Wilkinson).
Complex shift_at(const Square& t, int64_t end) {
  const Complex a = t.row(end - 1)[end - 1], b = t.row(end - 1)[end], c = t.row(end)[end - 1], d = t.row(end)[end];
  const Complex half = (a - d) / 2.0, root = std::sqrt(half * half + b * c);
  return std::abs(half + root) < std::abs(half - root) ? d + half + root : d + half - root;
}

// The unitary matrix [[c, s], [-conj(s), conj(c)]] that turns (x, y) into (r, 0).
struct Turn {
  Complex c = 1, s = 0;
  Turn(Complex x, Complex y) {
    const double norm = std::hypot(std::abs(x), std::abs(y));
    if (norm == 0) return;
    c = std::conj(x) / norm;
    s = std::conj(y) / norm;
  }
  void rows(Complex* top, Complex* bottom, int64_t n) const {
    for (int64_t j = 0; j < n; ++j) {
      const Complex x = top[j], y = bottom[j];
      top[j] = times(c, x) + times(s, y);
      bottom[j] = times(std::conj(c), y) - times(std::conj(s), x);
    }
  }
  void columns(Complex* pair, int64_t stride, int64_t n) const {  // by its adjoint
    for (int64_t i = 0; i < n; ++i, pair += stride) {
      const Complex x = pair[0], y = pair[1];
      pair[0] = times(std::conj(c), x) + times(std::conj(s), y);
      pair[1] = times(c, y) - times(s, x);
    }
  }
};

// One step of the QR algorithm on rows and columns [start, end].
void step(const Square& t, const Square& q, int64_t start, int64_t end, Complex shift) {
  for (int64_t i = start; i <= end; ++i) t.row(i)[i] -= shift;
  std::vector<Turn> turns;
  for (int64_t k = start; k < end; ++k) {
    turns.emplace_back(t.row(k)[k], t.row(k + 1)[k]);
    turns.back().rows(t.row(k) + k, t.row(k + 1) + k, t.n - k);
  }
  for (int64_t k = start; k < end; ++k) {
    const Turn& turn = turns[static_cast<size_t>(k - start)];
    turn.columns(t.data + k, t.n, k + 2);
    turn.columns(q.data + k, q.n, q.n);
  }
  for (int64_t i = start; i <= end; ++i) t.row(i)[i] += shift;
}

// Turns t into an upper triangle, and q into what it was turned by. False: it does not converge.
bool make_triangular(const Square& t, const Square& q) {
  make_hessenberg(t, q);
  int tries = 0;
  for (int64_t end = t.n - 1; end > 0;) {
    int64_t start = end;
    for (; start > 0; --start) {
      Complex& below = t.row(start)[start - 1];
      const double near = std::abs(t.row(start)[start]) + std::abs(t.row(start - 1)[start - 1]);
      if (!(std::abs(below) <= std::numeric_limits<double>::epsilon() * near)) continue;
      below = 0;
      break;
    }
    if (start == end) {
      --end;
      tries = 0;
      continue;
    }
    if (++tries > kMostIterations) return false;
    const Complex last = t.row(end)[end];
    step(t, q, start, end, tries % 10 == 0 ? last + std::abs(t.row(end)[end - 1]) : shift_at(t, end));
  }
  for (int64_t i = 1; i < t.n; ++i) std::fill_n(t.row(i), i, Complex{});
  return true;
}

// Fills root with the principal square root of the upper triangle t.
void take_root(const Square& t, const Square& root) {
  std::fill_n(root.data, t.n * t.n, Complex{});
  for (int64_t i = t.n - 1; i >= 0; --i) {
    Complex* row = root.row(i);
    row[i] = std::sqrt(t.row(i)[i]);
    std::vector<Complex> rest(t.row(i), t.row(i) + t.n);
    for (int64_t j = i + 1; j < t.n; ++j) {
      const Complex value = rest[static_cast<size_t>(j)];
      row[j] = value == 0.0 ? value : value / (row[i] + root.row(j)[j]);
      for (int64_t k = j + 1; k < t.n; ++k) rest[static_cast<size_t>(k)] -= times(row[j], root.row(j)[k]);
    }
  }
}

// Calls f(first, second) with two matrices of the same size, complex128.
template <typename F> PyObject* with_squares(PyObject* args, const char* name, int second_flags, F&& f) {
  PyObject *first_given, *second_given;
  if (!PyArg_ParseTuple(args, "OO", &first_given, &second_given)) return nullptr;
  Bytes first(first_given, PyBUF_WRITABLE);
  if (!first.ok) return nullptr;
  Bytes second(second_given, second_flags);
  if (!second.ok) return nullptr;
  const int64_t count = first.count<Complex>();
  const auto n = static_cast<int64_t>(std::sqrt(static_cast<double>(count)) + 0.5);
  if (n * n != count || second.buffer.len != first.buffer.len) {
    PyErr_Format(PyExc_ValueError, "%s: the matrices must be square and of one size", name);
    return nullptr;
  }
  ReleaseGil unlock(count * n);
  return f(Square{first.as<Complex>(), n}, Square{second.as<Complex>(), n}) ? Py_True : Py_False;
}

// schur(t, q) -> whether it converged.
PyObject* py_schur(PyObject*, PyObject* args) {
  PyObject* done = with_squares(args, "schur", PyBUF_WRITABLE, make_triangular);
  Py_XINCREF(done);
  return done;
}

// triangular_root(root, t)
PyObject* py_root(PyObject*, PyObject* args) {
  PyObject* done = with_squares(args, "triangular_root", PyBUF_SIMPLE, [](const Square& root, const Square& t) {
    take_root(t, root);
    return true;
  });
  Py_XINCREF(done);
  return done;
}

}  // namespace

PyMethodDef schur_methods[] = {
    {"schur", entry<py_schur>, METH_VARARGS,
     "schur(t, q) -> whether it converged: makes t a triangle, and q, the unit matrix, what t was turned by."},
    {"triangular_root", entry<py_root>, METH_VARARGS, "triangular_root(root, t): fills root with the square root of t."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tapeflow
