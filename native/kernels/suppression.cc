// Non-maximum suppression of boxes: the greedy choice, for Python kernels that have sorted them.
#include "kernels/suppression.h"

#include <algorithm>
#include <vector>

#include "guard.h"
#include "kernels/bytes.h"
#include "kernels/indexing.h"
#include "threads.h"

namespace tapeflow {
namespace {

struct Box {
  float low[2], high[2], area;
};

Box box_of(const float* corners) {
  Box b;
  for (int k = 0; k < 2; ++k) {
    b.low[k] = std::min(corners[k], corners[k + 2]);
    b.high[k] = std::max(corners[k], corners[k + 2]);
  }
  b.area = (b.high[0] - b.low[0]) * (b.high[1] - b.low[1]);
  return b;
}

// The area that both have in common, over that of their union.
float overlap(const Box& a, const Box& b) {
  if (a.area <= 0 || b.area <= 0) return 0;
  const float height = std::min(a.high[0], b.high[0]) - std::max(a.low[0], b.low[0]);
  const float width = std::min(a.high[1], b.high[1]) - std::max(a.low[1], b.low[1]);
  const float common = std::max(height, 0.0f) * std::max(width, 0.0f);
  const float both = a.area + b.area - common;
  return both > 0 ? common / both : common;
}

// Fills kept with at most `limit` of the boxes in `order` that overlap none before by more than the threshold.
int64_t suppress(const float* boxes, const int64_t* order, int64_t n, int64_t limit, double threshold, int64_t* kept) {
  std::vector<Box> chosen;
  for (int64_t i = 0; i < n && static_cast<int64_t>(chosen.size()) < limit; ++i) {
    const Box box = box_of(boxes + 4 * order[i]);
    // The last ones first: neighbours have similar scores.
    const bool covered = std::any_of(chosen.rbegin(), chosen.rend(), [&](const Box& other) {
      return static_cast<double>(overlap(box, other)) > threshold;
    });
    if (covered) continue;
    kept[chosen.size()] = order[i];
    chosen.push_back(box);
  }
  return static_cast<int64_t>(chosen.size());
}

PyObject* py_suppress(PyObject*, PyObject* args) {
  PyObject *boxes_given, *order_given, *kept_given;
  double threshold;
  if (!PyArg_ParseTuple(args, "OOOd", &boxes_given, &order_given, &kept_given, &threshold)) return nullptr;
  Bytes boxes(boxes_given, PyBUF_SIMPLE);
  if (!boxes.ok) return nullptr;
  Bytes order(order_given, PyBUF_SIMPLE);
  if (!order.ok) return nullptr;
  Bytes kept(kept_given, PyBUF_WRITABLE);
  if (!kept.ok) return nullptr;
  const int64_t n = order.count<int64_t>(), limit = kept.count<int64_t>();
  if (first_outside(order.as<const int64_t>(), n, boxes.count<float>() / 4) >= 0) {
    PyErr_SetString(PyExc_ValueError, "suppress_boxes: the order names boxes that there are not");
    return nullptr;
  }
  int64_t found;
  {
    ReleaseGil unlock(n * std::min(n, limit) * 2);
    found = suppress(boxes.as<const float>(), order.as<const int64_t>(), n, limit, threshold, kept.as<int64_t>());
  }
  return PyLong_FromLongLong(found);
}

}  // namespace

PyMethodDef suppression_methods[] = {
    {"suppress_boxes", entry<py_suppress>, METH_VARARGS,
     "suppress_boxes(boxes, order, kept, threshold) -> how many of the boxes in this order stay; fills kept with them."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tapeflow
