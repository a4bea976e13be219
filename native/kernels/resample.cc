// Images sampled at other places, and the transpose of that, for Python kernels that know places and weights.
#include "kernels/resample.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "guard.h"
#include "kernels/bytes.h"
#include "kernels/indexing.h"
#include "threads.h"

namespace tapeflow {
namespace {

// Of each of `out` places along an axis: which `taps` places of an image it is made of, and with what weights. There is
// one such table for each result, or one for all.
struct Taps {
  const int64_t* places;
  const float* weights;
  int64_t out, taps, step;
  const int64_t* places_of(int64_t result) const { return places + result * step; }
  const float* weights_of(int64_t result) const { return weights + result * step; }
};

struct Sizes {
  int64_t results, height, width, channels;
};

// to[0..n) += weight * from[0..n)
void add_scaled(float* __restrict to, const float* __restrict from, float weight, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += weight * from[i];
}

// A pixel of up to four channels in one vector: lines have padding for what is read behind their last pixel.
using Four = float __attribute__((vector_size(16)));
constexpr int64_t kRoom = 4;

Four load_four(const float* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// The columns that a result is made of.
struct Span {
  int64_t begin, end;
};

Span span_of(const Taps& columns, int64_t result) {
  const int64_t *first = columns.places_of(result), *last = first + columns.out * columns.taps;
  const auto [least, most] = std::minmax_element(first, last);
  return {*least, *most + 1};
}

void resample_row(const Sizes& s, const float* image, const Taps& rows, const Taps& columns, Span span, int64_t result,
                  int64_t row, float* line, float* out) {
  const int64_t *place = rows.places_of(result) + row * rows.taps, n = s.channels;
  const float* weight = rows.weights_of(result) + row * rows.taps;
  std::fill_n(line + span.begin * n, (span.end - span.begin) * n + kRoom, 0.0f);
  for (int64_t k = 0; k < rows.taps; ++k) {
    if (weight[k] == 0) continue;
    add_scaled(line + span.begin * n, image + (place[k] * s.width + span.begin) * n, weight[k], (span.end - span.begin) * n);
  }
  place = columns.places_of(result);
  weight = columns.weights_of(result);
  for (int64_t j = 0; j < columns.out; ++j, place += columns.taps, weight += columns.taps, out += n) {
    if (n > kRoom) {
      std::fill_n(out, n, 0.0f);
      for (int64_t k = 0; k < columns.taps; ++k) {
        if (weight[k] != 0) add_scaled(out, line + place[k] * n, weight[k], n);
      }
      continue;
    }
    Four sum{};
    for (int64_t k = 0; k < columns.taps; ++k) {
      if (weight[k] != 0) sum += weight[k] * load_four(line + place[k] * n);
    }
    // What is written too much is the next pixel's, which comes after.
    std::memcpy(out, &sum, static_cast<size_t>(j + kRoom < columns.out ? kRoom : n) * sizeof(float));
  }
}

void spread_row(const Sizes& s, float* image, const Taps& rows, const Taps& columns, Span span, int64_t result,
                int64_t row, float* line, const float* grads) {
  const int64_t *place = columns.places_of(result), n = s.channels;
  const float* weight = columns.weights_of(result);
  std::fill_n(line + span.begin * n, (span.end - span.begin) * n + kRoom, 0.0f);
  for (int64_t j = 0; j < columns.out; ++j, place += columns.taps, weight += columns.taps, grads += n) {
    Four grad{};
    if (n <= kRoom) std::memcpy(&grad, grads, static_cast<size_t>(n) * sizeof(float));
    for (int64_t k = 0; k < columns.taps; ++k) {
      if (weight[k] == 0) continue;
      float* to = line + place[k] * n;
      if (n > kRoom) {
        add_scaled(to, grads, weight[k], n);
      } else {
        const Four sum = load_four(to) + weight[k] * grad;
        std::memcpy(to, &sum, sizeof sum);
      }
    }
  }
  place = rows.places_of(result) + row * rows.taps;
  weight = rows.weights_of(result) + row * rows.taps;
  for (int64_t k = 0; k < rows.taps; ++k) {
    if (weight[k] == 0) continue;
    add_scaled(image + (place[k] * s.width + span.begin) * n, line + span.begin * n, weight[k], (span.end - span.begin) * n);
  }
}

double work_of(const Sizes& s, const Taps& rows, const Taps& columns) {
  const auto each = static_cast<double>(rows.taps * s.width + 4 * columns.taps * columns.out);
  return static_cast<double>(rows.out) * each * static_cast<double>(s.channels) / 4;
}

void resample(const Sizes& s, const float* images, const int64_t* owners, const Taps& rows, const Taps& columns, float* out) {
  const int64_t row_size = columns.out * s.channels, lines = s.results * rows.out;
  ReleaseGil unlock(static_cast<int64_t>(work_of(s, rows, columns) * static_cast<double>(s.results)));
  const int64_t line_size = s.width * s.channels, room = line_size + kRoom;
  const int64_t parts = std::min<int64_t>(lines, 2 * intra_op_threads());
  Scratch scratch(static_cast<size_t>(room * parts) * sizeof(float));
  const double work = work_of(s, rows, columns) * static_cast<double>(s.results) / static_cast<double>(parts);
  parallel_for(parts, work, [&](int64_t from, int64_t to) {
    for (int64_t part = from; part < to; ++part) {
      float* line = scratch.as<float>() + part * room;
      int64_t seen = -1;
      Span span{};
      for (int64_t i = lines * part / parts; i < lines * (part + 1) / parts; ++i) {
        const int64_t result = i / rows.out;
        if (result != seen) span = span_of(columns, seen = result);
        const float* image = images + owners[result] * s.height * line_size;
        resample_row(s, image, rows, columns, span, result, i % rows.out, line, out + i * row_size);
      }
    }
  });
}

void spread(const Sizes& s, float* images, const int64_t* owners, const Taps& rows, const Taps& columns, const float* grads) {
  const int64_t row_size = columns.out * s.channels, line_size = s.width * s.channels;
  const double work = work_of(s, rows, columns);
  ReleaseGil unlock(static_cast<int64_t>(work * static_cast<double>(s.results)));
  // Results that share an image add to the same memory.
  const bool apart = std::adjacent_find(owners, owners + s.results, std::greater_equal<>()) == owners + s.results;
  const int64_t parts = apart ? std::min<int64_t>(s.results, 2 * intra_op_threads()) : 1;
  const int64_t room = line_size + kRoom;
  Scratch scratch(static_cast<size_t>(room * parts) * sizeof(float));
  parallel_for(parts, work * static_cast<double>(s.results) / static_cast<double>(parts), [&](int64_t from, int64_t to) {
    for (int64_t part = from; part < to; ++part) {
      float* line = scratch.as<float>() + part * room;
      for (int64_t result = s.results * part / parts; result < s.results * (part + 1) / parts; ++result) {
        const Span span = span_of(columns, result);
        float* image = images + owners[result] * s.height * line_size;
        for (int64_t i = 0; i < rows.out; ++i) {
          spread_row(s, image, rows, columns, span, result, i, line, grads + (result * rows.out + i) * row_size);
        }
      }
    }
  });
}

// The tables in these arrays; false and a Python exception where they do not fit.
bool read_taps(const Bytes& places, const Bytes& weights, int64_t tables, int64_t out, int64_t size, Taps* to) {
  const int64_t n = places.count<int64_t>();
  *to = {places.as<const int64_t>(), weights.as<const float>(), out, 0, 0};
  if (n == 0 || n % (tables * out) != 0 || weights.count<float>() != n ||
      first_outside(to->places, n, size) >= 0) {
    PyErr_SetString(PyExc_ValueError, "resample: the places and weights do not fit");
    return false;
  }
  to->taps = n / (tables * out);
  to->step = tables == 1 ? 0 : out * to->taps;
  return true;
}

// resample(images, owners, row places, row weights, column places, column weights, out, tables, height, width, channels,
// rows, columns): `tables` is the number of tables, 1 or that of the results. spread: adds to the images instead.
template <bool transposed> PyObject* py_resample(PyObject*, PyObject* args) {
  PyObject* given[7];
  Py_ssize_t tables, height, width, channels, rows, columns;
  if (!PyArg_ParseTuple(args, "OOOOOOOnnnnnn", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5], &given[6],
                        &tables, &height, &width, &channels, &rows, &columns)) {
    return nullptr;
  }
  Bytes images(given[0], transposed ? PyBUF_WRITABLE : PyBUF_SIMPLE);
  if (!images.ok) return nullptr;
  Bytes out(given[6], transposed ? PyBUF_SIMPLE : PyBUF_WRITABLE);
  if (!out.ok) return nullptr;
  Bytes owners(given[1], PyBUF_SIMPLE), row_places(given[2], PyBUF_SIMPLE), row_weights(given[3], PyBUF_SIMPLE),
      column_places(given[4], PyBUF_SIMPLE), column_weights(given[5], PyBUF_SIMPLE);
  if (!owners.ok || !row_places.ok || !row_weights.ok || !column_places.ok || !column_weights.ok) return nullptr;
  constexpr Py_ssize_t kMost = 1 << 30;
  for (const Py_ssize_t size : {height, width, channels, rows, columns}) {
    if (size > 0 && size < kMost) continue;
    PyErr_SetString(PyExc_ValueError, "resample: sizes must be positive");
    return nullptr;
  }
  const int64_t results = owners.count<int64_t>(), line = static_cast<int64_t>(width) * channels;
  const int64_t count = line > kMost ? 0 : images.count<float>() / line / height;
  const bool fits = (tables == 1 || tables == results) && results > 0 && columns * channels <= kMost &&
                    first_outside(owners.as<const int64_t>(), results, count) < 0 &&
                    out.count<float>() / (columns * channels) / rows >= results;
  if (!fits) {
    PyErr_SetString(PyExc_ValueError, "resample: the arrays do not fit each other");
    return nullptr;
  }
  Taps row_taps, column_taps;
  if (!read_taps(row_places, row_weights, tables, rows, height, &row_taps) ||
      !read_taps(column_places, column_weights, tables, columns, width, &column_taps)) {
    return nullptr;
  }
  const Sizes sizes{results, height, width, channels};
  const auto* of = owners.as<const int64_t>();
  if constexpr (transposed) spread(sizes, images.as<float>(), of, row_taps, column_taps, out.as<const float>());
  else resample(sizes, images.as<const float>(), of, row_taps, column_taps, out.as<float>());
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef resample_methods[] = {
    {"resample", entry<py_resample<false>>, METH_VARARGS,
     "resample(images, owners, places and weights of rows and of columns, out, tables, sizes): weighted sums of pixels."},
    {"spread", entry<py_resample<true>>, METH_VARARGS,
     "spread(images, owners, places and weights of rows and of columns, grads, tables, sizes): adds what resample takes."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tapeflow
