#include "playback.h"

#include <algorithm>
#include <cstring>

#include "arrays.h"
#include "convert.h"
#include "kernels/accumulate.h"
#include "recorded_call.h"
#include "ref.h"
#include "stack.h"
#include "tensor_type.h"

namespace tapeflow {

namespace {

// Gradients by id. Open addressing; ids are consecutive mostly, so that the low bits spread well.
class Gradients {
 public:
  struct Cell {
    int64_t id = 0;
    PyObject* gradient = nullptr;  // owned
    bool needed = false, source = false;
    bool target = false;           // a source that is a target itself
    bool ours = false;             // nobody else has seen this tensor: add in place
  };

  explicit Gradients(size_t expected) {
    size_t n = 16;
    while (n < expected * 2) n *= 2;
    cells_.resize(n);
  }
  ~Gradients() { for (Cell& c : cells_) Py_XDECREF(c.gradient); }

  Cell& at(int64_t id) {
    if (2 * (used_ + 1) > cells_.size()) grow();
    Cell& c = probe(id);
    if (c.id == 0) { c.id = id; ++used_; }
    return c;
  }
  Cell* find(int64_t id) {
    Cell& c = probe(id);
    return c.id == 0 ? nullptr : &c;
  }

 private:
  Cell& probe(int64_t id) {
    const size_t mask = cells_.size() - 1;
    size_t i = static_cast<size_t>(id) & mask;
    while (cells_[i].id != 0 && cells_[i].id != id) i = (i + 1) & mask;
    return cells_[i];
  }
  void grow() {
    std::vector<Cell> old(cells_.size() * 2);
    old.swap(cells_);
    for (Cell& c : old) if (c.id) probe(c.id) = c;
  }
  std::vector<Cell> cells_;
  size_t used_ = 0;
};

// A tensor of a graph that is being built: a playback with such weights adds its nodes there.
bool is_symbolic(PyObject* o) { return !is_tensor(o) && PyObject_TypeCheck(o, TensorBaseType); }

PyObject* zeros(Shape* shape, DType d) {
  Tensor* t = new_tensor(d, shape);
  std::memset(t->data, 0, static_cast<size_t>(t->bytes()));
  return reinterpret_cast<PyObject*>(t);
}

PyObject* ones(Shape* shape, DType d) {
  if (d == DType::kFloat32) {
    Tensor* t = new_tensor(d, shape);
    std::fill_n(t->as<float>(), t->size(), 1.0f);
    return reinterpret_cast<PyObject*>(t);
  }
  const Ref numpy(PyImport_ImportModule("numpy")), dims(tuple_of(shape));
  const Ref a(PyObject_CallMethod(numpy.get(), "ones", "OO", dims.get(), numpy_dtype_object(d)));
  return reinterpret_cast<PyObject*>(from_array(a.get(), d));
}

// Adds g to the cell.
void accumulate(Gradients::Cell& c, Ref g) {
  if (!c.gradient) {
    c.gradient = g.release();
    c.ours = false;
    return;
  }
  Ref sum;
  if (is_tensor(c.gradient) && is_tensor(g.get())) {
    auto* a = reinterpret_cast<Tensor*>(c.gradient);
    auto* b = reinterpret_cast<Tensor*>(g.get());
    if (a->dtype == b->dtype && a->shape->same(b->shape) && a->data && b->data && !watched_by_any(a) && !watched_by_any(b)) {
      if (c.ours && a->unshared() && add_in_place(a, b)) return;
      Ref copy(reinterpret_cast<PyObject*>(new_tensor(a->dtype, a->shape)));
      auto* t = reinterpret_cast<Tensor*>(copy.get());
      std::memcpy(t->data, a->data, static_cast<size_t>(a->bytes()));
      if (add_in_place(t, b)) sum = std::move(copy);
    }
  }
  c.ours = sum.get() != nullptr;
  if (!c.ours) sum = Ref(PyObject_CallFunctionObjArgs(hooks.accumulate, c.gradient, g.get(), nullptr));
  Py_SETREF(c.gradient, sum.release());
}

// A gradient brought to the shape of the input it is for.
Ref fit(Ref g, const Slot& slot, const OpDef* op, const char* label) {
  if (is_symbolic(g.get()) && op && op->broadcasts) {
    const Ref dims(tuple_of(slot.shape));
    return Ref(PyObject_CallFunctionObjArgs(hooks.sum_to, g.get(), dims.get(), nullptr));
  }
  if (!is_tensor(g.get())) return g;
  auto* t = reinterpret_cast<Tensor*>(g.get());
  if (t->shape->same(slot.shape) || slot.dtype == DType::kResource) return g;
  if (op && op->broadcasts) {
    if (!watched_by_any(t)) {
      if (Tensor* s = sum_to_shape(t, slot.shape)) return Ref(reinterpret_cast<PyObject*>(s));
    }
    const Ref dims(tuple_of(slot.shape));
    return Ref(PyObject_CallFunctionObjArgs(hooks.sum_to, t, dims.get(), nullptr));
  }
  throw invalid("the gradient of ", label, " has shape ", t->shape->str(), " for an input of shape ", slot.shape->str());
}

PyObject* to_gradient(PyObject* r) {  // new reference; null for None
  if (r == Py_None) return nullptr;
  if (is_tensor(r) || is_symbolic(r)) return Py_NewRef(r);
  if (PyFloat_Check(r) || PyLong_Check(r) || is_variable(r) || PyList_Check(r) || PyTuple_Check(r)) {
    return reinterpret_cast<PyObject*>(to_tensor(r, DType::kInvalid));
  }
  if (Ref::or_null(PyObject_GetAttrString(r, "__array_interface__"))) {
    return reinterpret_cast<PyObject*>(to_tensor(r, DType::kInvalid));
  }
  if (!PyErr_ExceptionMatches(PyExc_Exception)) throw PythonError();
  PyErr_Clear();
  return Py_NewRef(r);  // IndexedSlices
}

class Playback {
 public:
  Playback(Tape* tape, size_t expected) : tape_(tape), g_(expected) {}

  // Gradients lead to variables, to what watch() was given, and to results of entries, but to no other tensor that an
  // entry has recorded beside what is watched.
  void sources(PyObject* tuple) {
    bool all_known = true;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
      PyObject* source = PyTuple_GET_ITEM(tuple, i);
      auto& c = g_.at(id_of(source));
      c.source = true;
      c.needed = is_variable(source) || tape_->ids->count(c.id);
      all_known = all_known && c.needed;
    }
    for (const Alias& a : *tape_->aliases) {
      if (auto* value = g_.find(a.tensor_id)) value->needed = true;
      auto* v = g_.find(a.variable_id);
      if (!v || !v->source) continue;
      auto& c = g_.at(a.tensor_id);
      c.needed = c.source = true;
    }
    const size_t n = tape_->entries->size();
    needed_.assign(n, false);
    for (size_t i = 0; i < n; ++i) {
      const Entry& e = (*tape_->entries)[i];
      const Slot* s = tape_->slots->data() + e.first_slot;
      for (int k = e.n_in; k < e.n_in + e.n_out && !all_known; ++k) {
        auto* c = g_.find(s[k].id);
        if (c && c->source) c->needed = true;
      }
      bool any = false;
      for (int k = 0; k < e.n_in && !any; ++k) {
        auto* c = g_.find(s[k].id);
        any = c && c->needed;
      }
      if (!any) continue;
      needed_[i] = true;
      for (int k = e.n_in; k < e.n_in + e.n_out; ++k) if (trainable(s[k].dtype)) g_.at(s[k].id).needed = true;
    }
  }

  void targets(PyObject* tuple, PyObject* seeds) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
      PyObject* target = PyTuple_GET_ITEM(tuple, i);
      PyObject* seed = seeds != Py_None ? PyTuple_GET_ITEM(seeds, i) : Py_None;
      const OwnedTensor value = value_of(target);
      if (!value) throw Error(Code::kFailedPrecondition, "the target is an uninitialised variable");
      auto* c = g_.find(id_of(target));
      if (!c || !(c->needed || c->source)) continue;  // nothing leads there
      c->target = c->source;
      if (seed == Py_None) {
        // A number that nothing was made of is its own target all the same.
        if (c->needed ? !trainable(value->dtype) : is_object(value->dtype)) continue;
        Ref made(ones(value->shape, value->dtype));
        accumulate(*c, Ref(beside(reinterpret_cast<Tensor*>(made.release()), value.get())));
        continue;
      }
      if (is_symbolic(seed)) {
        accumulate(*c, Ref::share(seed));
        continue;
      }
      Ref s(reinterpret_cast<PyObject*>(to_tensor(seed, value->dtype)));
      const Shape* shape = reinterpret_cast<Tensor*>(s.get())->shape;
      if (!shape->same(value->shape)) {
        throw invalid("output_gradients has shape ", shape->str(), " for a target of shape ", value->shape->str());
      }
      accumulate(*c, std::move(s));
    }
  }

  void play(bool again) {
    const size_t n = needed_.size();
    for (size_t i = n; i-- > 0;) {
      if (needed_[i]) step((*tape_->entries)[i]);
      if (!again) release_entry(tape_, (*tape_->entries)[i]);
    }
  }

  PyObject* results(PyObject* tuple, bool zero) {
    Ref out = unfinished_list(PyTuple_GET_SIZE(tuple));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
      PyObject* source = PyTuple_GET_ITEM(tuple, i);
      PyObject* r = result(source);
      const auto* own = g_.find(id_of(source));
      if (!r && zero && !(own && own->target)) {
        if (const OwnedTensor t = value_of(source)) r = zeros(t->shape, t->dtype);
      }
      PyList_SET_ITEM(out.get(), i, r ? r : Py_NewRef(Py_None));
    }
    return whole(std::move(out));
  }

  static int64_t id_of(PyObject* o) {
    return is_variable(o) ? variable_at(o)->id : reinterpret_cast<Tensor*>(o)->id;
  }

 private:
  // The tensor, or the value of a variable as it is now; null: uninitialised.
  static OwnedTensor value_of(PyObject* o) {
    return is_variable(o) ? snapshot(variable_at(o)) : OwnedTensor::share(reinterpret_cast<Tensor*>(o));
  }

  PyObject* result(PyObject* source) {
    Gradients::Cell sum;
    struct Release { Gradients::Cell& c; ~Release() { Py_XDECREF(c.gradient); } } release{sum};
    auto* own = g_.find(id_of(source));
    if (own && own->gradient) accumulate(sum, Ref::share(own->gradient));
    if (is_variable(source)) {
      const int64_t id = variable_at(source)->id;
      for (size_t k = 0; k < tape_->aliases->size(); ++k) {
        const Alias a = (*tape_->aliases)[k];
        if (a.variable_id != id) continue;
        auto* c = g_.find(a.tensor_id);
        if (c && c->gradient) accumulate(sum, Ref::share(c->gradient));
      }
    }
    return std::exchange(sum.gradient, nullptr);
  }

  void step(const Entry entry) {  // by value: recording may grow the tape meanwhile
    const int n_in = entry.n_in, n_out = entry.n_out;
    const uint32_t first = entry.first_slot;
    bool any = false;
    for (int k = 0; k < n_out && !any; ++k) {
      auto* c = g_.find((*tape_->slots)[first + static_cast<uint32_t>(n_in + k)].id);
      any = c && c->gradient;
    }
    if (!any) return;
    label_ = label_of(entry);
    check_stack(label_);
    if (entry.op && !entry.op->gradient) {
      PyErr_Format(PyExc_LookupError, "gradient registry has no entry for: %s", label_);
      throw PythonError();
    }
    args_.clear();
    struct Release {
      std::vector<PyObject*>& a;
      ~Release() { for (PyObject* o : a) Py_XDECREF(o); a.clear(); }
    } release{args_};
    uint64_t wanted = 0;
    for (int k = 0; k < n_in; ++k) {
      auto* c = g_.find((*tape_->slots)[first + static_cast<uint32_t>(k)].id);
      if (c && c->needed) wanted |= uint64_t{1} << std::min(k, 63);
    }
    if (entry.op) args_.push_back(recorded_call(tape_, entry, wanted));
    const bool one_list = entry.op && entry.op->outputs->size() == 1 && (*entry.op->outputs)[0].list;
    for (int k = 0; k < n_out; ++k) {
      const Slot s = (*tape_->slots)[first + static_cast<uint32_t>(n_in + k)];
      auto* c = g_.find(s.id);
      PyObject* dy = nullptr;
      if (c && c->gradient) {
        dy = c->gradient;
        if (c->source) { Py_INCREF(dy); c->ours = false; }
        else c->gradient = nullptr;
      } else if (trainable(s.dtype) && !is_object(s.dtype) && !(entry.op && entry.op->none_grads)) {
        dy = zeros(s.shape, s.dtype);
      } else {
        dy = Py_NewRef(Py_None);
      }
      args_.push_back(dy);
    }
    if (one_list) {  // the gradient of a list output is a list
      PyObject* l = PyList_New(n_out);
      if (!l) throw PythonError();
      for (int k = 0; k < n_out; ++k) PyList_SET_ITEM(l, k, args_[static_cast<size_t>(k) + 1]);
      args_.resize(1);
      args_.push_back(l);
    }
    const Ref fn = Ref::share(entry.op ? entry.op->gradient : entry.backward);  // a call may replace it
    const Ref r(PyObject_Vectorcall(fn.get(), args_.data(), args_.size(), nullptr));
    distribute(entry, r.get());
  }

  // Gives each input its part of the gradient function's result.
  // They are owned from here on: the list may be somebody's, and what is done with one may change it.
  void distribute(const Entry& e, PyObject* r) {
    collect(e, r);
    if (static_cast<int>(flat_.size()) != e.n_in) {
      PyErr_Format(PyExc_ValueError, "the gradient function of %s returned %zd gradients for %d inputs", label_,
                   static_cast<Py_ssize_t>(flat_.size()), e.n_in);
      throw PythonError();
    }
    for (int k = 0; k < e.n_in; ++k) {
      const Slot slot = (*tape_->slots)[e.first_slot + static_cast<uint32_t>(k)];
      auto* c = g_.find(slot.id);
      if (!c || !c->needed || !trainable(slot.dtype)) continue;
      PyObject* g = to_gradient(flat_[static_cast<size_t>(k)].get());
      if (!g) continue;
      accumulate(*c, fit(Ref(g), slot, e.op, label_));
    }
    flat_.clear();
  }

  void collect(const Entry& e, PyObject* r) {
    flat_.clear();
    const Critical alone(r);
    const bool sequence = PyList_Check(r) || PyTuple_CheckExact(r);
    if (!sequence) {
      take(r);
    } else if (e.op && e.op->has_list) {
      const auto& specs = *e.op->inputs;
      if (specs.size() == 1) {  // [[g...]] or [g...]
        PyObject* l = PySequence_Fast_GET_SIZE(r) == 1 && e.n_in != 1 ? PySequence_Fast_GET_ITEM(r, 0) : r;
        if (PySequence_Fast_GET_SIZE(r) == 1 && (PyList_Check(PySequence_Fast_GET_ITEM(r, 0)) || PyTuple_Check(PySequence_Fast_GET_ITEM(r, 0)))) l = PySequence_Fast_GET_ITEM(r, 0);
        spread(l, e.n_in);
      } else {
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(r) && i < static_cast<Py_ssize_t>(specs.size()); ++i) {
          PyObject* o = PySequence_Fast_GET_ITEM(r, i);
          if (specs[static_cast<size_t>(i)].list) spread(o, e.list_size);
          else take(o);
        }
      }
    } else {
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(r); ++i) take(PySequence_Fast_GET_ITEM(r, i));
    }
  }

  void take(PyObject* o) { flat_.push_back(Ref::share(o)); }

  void spread(PyObject* o, int n) {
    if (o == Py_None) {
      for (int i = 0; i < n; ++i) take(Py_None);
    } else if (PyList_Check(o) || PyTuple_Check(o)) {
      const Critical alone(o);
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) take(PySequence_Fast_GET_ITEM(o, i));
    } else {
      take(o);
    }
  }

  Tape* tape_;
  Gradients g_;
  std::vector<bool> needed_;
  std::vector<PyObject*> args_;  // owned
  std::vector<Ref> flat_;
  const char* label_ = "";
};

}  // namespace

PyObject* play_backwards(Tape* tape, PyObject* targets, PyObject* sources, PyObject* output_gradients, bool zero, bool again) {
  Playback p(tape, tape->slots->size() + static_cast<size_t>(PyTuple_GET_SIZE(sources)) + tape->aliases->size());
  p.sources(sources);
  p.targets(targets, output_gradients);
  p.play(again);
  return p.results(sources, zero);
}

}  // namespace tapeflow
