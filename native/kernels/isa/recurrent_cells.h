// The steps of recurrent cells, but for their products with weights: what is done to each row of a batch, and back.
//
// Units of a row are independent of each other, so that each step is one loop that vectorises. Gates stand side by side, `n`
// units each: LSTM input, forget, candidate, output; GRU update, reset, candidate.
#pragma once
#include "vector_math.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

enum class Cell { kLstm, kGru, kGruBefore, kTanh, kRelu };

constexpr int gates_of(Cell cell) {
  return cell == Cell::kLstm ? 4 : cell == Cell::kGru || cell == Cell::kGruBefore ? 3 : 1;
}
// Values of a unit that the way back needs besides the states. GRUs keep, behind the gates, the recurrent part of the candidate
// before it is reset, or, where it is reset before the product, the reset state.
constexpr int kept_of(Cell cell) { return gates_of(cell) == 1 ? 0 : 4; }
constexpr bool is_gru(Cell cell) { return gates_of(cell) == 3; }

// g: sums in, gates out.
template <typename T>
void lstm_step(int64_t n, const T* b, T* g, const T* c_before, T* c, T* h) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T i = sigmoid(g[j] + b[j]), f = sigmoid(g[n + j] + b[n + j]);
    const T candidate = tanh(g[2 * n + j] + b[2 * n + j]);
    const T o = sigmoid(g[3 * n + j] + b[3 * n + j]);
    const T now = f * c_before[j] + i * candidate;
    g[j] = i;
    g[n + j] = f;
    g[2 * n + j] = candidate;
    g[3 * n + j] = o;
    c[j] = now;
    h[j] = o * tanh(now);
  }
}

// dc: in place to that of the step before; dz: of the sums.
template <typename T>
void lstm_step_back(int64_t n, const T* g, const T* c_before, const T* c, const T* dh, T* dc, T* dz) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T i = g[j], f = g[n + j], candidate = g[2 * n + j], o = g[3 * n + j];
    const T squashed = tanh(c[j]);
    const T d = dc[j] + dh[j] * o * (1 - squashed * squashed);
    dz[j] = d * candidate * i * (1 - i);
    dz[n + j] = d * c_before[j] * f * (1 - f);
    dz[2 * n + j] = d * i * (1 - candidate * candidate);
    dz[3 * n + j] = dh[j] * squashed * o * (1 - o);
    dc[j] = d * f;
  }
}

// x: the inputs' part; b: the inputs' bias and behind it that of states; g: the states' part in, values to keep out.
template <typename T> void gru_step(int64_t n, const T* x, const T* b, T* g, const T* before, T* h) {
  const T* r = b + 3 * n;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T update = sigmoid(x[j] + b[j] + (g[j] + r[j]));
    const T reset = sigmoid(x[n + j] + b[n + j] + (g[n + j] + r[n + j]));
    const T inner = g[3 * n + j] + r[2 * n + j];
    const T candidate = tanh(x[2 * n + j] + b[2 * n + j] + reset * inner);
    g[j] = update;
    g[n + j] = reset;
    g[2 * n + j] = candidate;
    g[3 * n + j] = inner;
    h[j] = update * before[j] + (1 - update) * candidate;
  }
}

// dz: of the inputs' part; ds: of the states' part; to: what reaches the state before, but by the product.
template <typename T>
void gru_step_back(int64_t n, const T* g, const T* before, const T* dh, T* dz, T* ds, T* to) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T update = g[j], reset = g[n + j], candidate = g[2 * n + j], inner = g[3 * n + j];
    const T of_update = dh[j] * (before[j] - candidate) * update * (1 - update);
    const T of_candidate = dh[j] * (1 - update) * (1 - candidate * candidate);
    const T of_reset = of_candidate * inner * reset * (1 - reset);
    dz[j] = ds[j] = of_update;
    dz[n + j] = ds[n + j] = of_reset;
    dz[2 * n + j] = of_candidate;
    ds[2 * n + j] = of_candidate * reset;
    to[j] = dh[j] * update;
  }
}

// A GRU that resets the state before its product with the candidate's weights takes two halves of a step.
template <typename T> void gru_before_gates(int64_t n, const T* x, const T* b, T* g, const T* before) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T reset = sigmoid(x[n + j] + b[n + j] + g[n + j]);
    g[j] = sigmoid(x[j] + b[j] + g[j]);
    g[n + j] = reset;
    g[3 * n + j] = reset * before[j];
  }
}
template <typename T>
void gru_before_state(int64_t n, const T* x, const T* b, T* g, const T* before, T* h) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T candidate = tanh(x[2 * n + j] + b[2 * n + j] + g[2 * n + j]);
    g[2 * n + j] = candidate;
    h[j] = g[j] * before[j] + (1 - g[j]) * candidate;
  }
}
template <typename T>
void gru_before_state_back(int64_t n, const T* g, const T* before, const T* dh, T* dz, T* to) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T update = g[j], candidate = g[2 * n + j];
    dz[j] = dh[j] * (before[j] - candidate) * update * (1 - update);
    dz[2 * n + j] = dh[j] * (1 - update) * (1 - candidate * candidate);
    to[j] = dh[j] * update;
  }
}
// d: of the reset state.
template <typename T>
void gru_before_gates_back(int64_t n, const T* g, const T* before, const T* d, T* dz, T* to) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T reset = g[n + j];
    dz[n + j] = d[j] * before[j] * reset * (1 - reset);
    to[j] += d[j] * reset;
  }
}

template <typename T, Cell cell> void simple_step(int64_t n, const T* b, T* h) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T z = h[j] + b[j];
    h[j] = cell == Cell::kTanh ? tanh(z) : z < 0 ? T(0) : z;
  }
}
template <typename T, Cell cell> void simple_step_back(int64_t n, const T* h, const T* dh, T* dz) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j)
    dz[j] = cell == Cell::kTanh ? dh[j] * (1 - h[j] * h[j]) : h[j] > 0 ? dh[j] : T(0);
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
