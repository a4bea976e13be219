// Beam search through the outputs of a CTC network (A. Graves et al., "Connectionist temporal classification", 2006).
#include "kernels/beam_search.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <vector>

#include "guard.h"
#include "kernels/bytes.h"
#include "threads.h"

namespace tapeflow {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// A label sequence, and the log-probability of having seen it after some frames: `total` of alignments of every end,
// `blank` of those that end in a blank, `label` of those in the last label; old ones are those of one frame earlier. An
// inactive beam has a total of -infinity.
struct Beam {
  Beam* parent;
  int symbol;
  std::map<int, Beam*> children = {};
  uint64_t order = 0;  // of equals, the one that came first is better
  double total = kNever, blank = kNever, label = kNever, old_total = kNever, old_blank = kNever;
  void forget() { total = blank = label = kNever; }
};

bool better(const Beam* a, const Beam* b) {  // a NaN is the worst: sorting needs an order of all
  const double x = a->total == a->total ? a->total : kNever, y = b->total == b->total ? b->total : kNever;
  return x > y || (x == y && a->order < b->order);
}

// log(exp(a) + exp(b))
double log_sum(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

class Search {
 public:
  Search(int blank, size_t width) : blank_(blank), width_(width) {
    Beam& root = beams_.emplace_back(Beam{nullptr, -1});
    root.total = root.blank = 0;
    kept_ = {&root};
  }

  // One more frame of log-probabilities.
  void step(const double* log_p, int classes) {
    const std::vector<Beam*> before = kept_;
    for (Beam* beam : before) {
      beam->old_total = beam->total;
      beam->old_blank = beam->blank;
    }
    for (Beam* beam : before) prolong(beam, log_p);
    std::make_heap(kept_.begin(), kept_.end(), better);
    for (Beam* beam : before) {
      if (!would_stay(beam->old_total)) continue;
      for (int symbol = 0; symbol < classes; ++symbol) {
        if (symbol != blank_) extend(beam, symbol, log_p[symbol]);
      }
    }
    std::sort(kept_.begin(), kept_.end(), better);
    for (size_t i = 0; i < kept_.size(); ++i) kept_[i]->order = i;
    made_ = kept_.size();
  }

  const std::vector<Beam*>& best() const { return kept_; }

 private:
  void prolong(Beam* beam, const double* log_p) const {
    if (const Beam* parent = beam->parent) {
      if (parent->total > kNever) {
        beam->label = log_sum(beam->label, beam->symbol == parent->symbol ? parent->old_blank : parent->old_total);
      }
      beam->label += log_p[beam->symbol];
    }
    beam->blank = beam->old_total + log_p[blank_];
    beam->total = log_sum(beam->blank, beam->label);
  }

  void extend(Beam* beam, int symbol, double score) {
    const double total = score + (symbol == beam->symbol ? beam->old_blank : beam->old_total);
    const auto known = beam->children.find(symbol);
    Beam* child = known == beam->children.end() ? nullptr : known->second;
    if (child && child->total > kNever) return;
    if (!would_stay(total)) {
      if (child) {
        child->old_total = child->old_blank = kNever;
        child->forget();
      }
      return;
    }
    if (!child) child = beam->children[symbol] = &beams_.emplace_back(Beam{beam, symbol});
    child->blank = kNever;
    child->label = child->total = total;
    if (kept_.size() == width_) {
      std::pop_heap(kept_.begin(), kept_.end(), better);
      kept_.back()->forget();
      kept_.pop_back();
    }
    child->order = made_++;
    kept_.push_back(child);
    std::push_heap(kept_.begin(), kept_.end(), better);
  }

  bool would_stay(double total) const {
    return total > kNever && (kept_.size() < width_ || total > kept_.front()->total);
  }

  int blank_;
  size_t width_;
  std::deque<Beam> beams_;    // all that were ever kept: they do not move
  std::vector<Beam*> kept_;  // during a step a heap with the worst in front, then the best first
  uint64_t made_ = 1;
};

// (labels, log-probability)
PyObject* found(const Beam* beam) {
  std::vector<int> labels;
  for (const Beam* node = beam; node->parent; node = node->parent) labels.push_back(node->symbol);
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(labels.size()));
  for (size_t i = 0; list && i < labels.size(); ++i) {
    PyObject* label = PyLong_FromLong(labels[labels.size() - 1 - i]);
    if (!label) Py_CLEAR(list);
    else PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), label);
  }
  return list ? Py_BuildValue("(Nd)", list, beam->total) : nullptr;
}

PyObject* py_beam_search(PyObject*, PyObject* args) {
  PyObject* given;
  Py_ssize_t classes, width, paths;
  int blank;
  if (!PyArg_ParseTuple(args, "Oninn", &given, &classes, &blank, &width, &paths)) return nullptr;
  Bytes frames(given, PyBUF_SIMPLE);
  if (!frames.ok) return nullptr;
  if (classes < 1 || classes > std::numeric_limits<int>::max() || blank < 0 || blank >= classes || width < 1 || paths < 0) {
    PyErr_SetString(PyExc_ValueError, "beam_search: sizes out of range");
    return nullptr;
  }
  Search search(blank, static_cast<size_t>(width));
  const int64_t times = frames.count<double>() / classes;
  for (int64_t t = 0; t < times; ++t) {  // wide beams take long
    if (PyErr_CheckSignals() < 0) return nullptr;
    ReleaseGil unlock(static_cast<int64_t>(search.best().size()) * classes * 10);
    search.step(frames.as<const double>() + t * classes, static_cast<int>(classes));
  }
  PyObject* out = PyList_New(0);
  for (Py_ssize_t i = 0; out && i < paths && i < static_cast<Py_ssize_t>(search.best().size()); ++i) {
    PyObject* each = found(search.best()[static_cast<size_t>(i)]);
    if (!each || PyList_Append(out, each) < 0) Py_CLEAR(out);
    Py_XDECREF(each);
  }
  return out;
}

}  // namespace

PyMethodDef beam_search_methods[] = {
    {"beam_search", entry<py_beam_search>, METH_VARARGS,
     "beam_search(log_p, classes, blank, width, paths) -> [(labels, log-probability)] of the best, for float64 frames."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tapeflow
