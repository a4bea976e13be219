// Folding rows of arrays, for Python kernels: what NumPy's ufunc.at does element by element.
#include "kernels/fold_rows.h"

#include <cstring>

#include "guard.h"
#include "kernels/bytes.h"
#include "kernels/indexing.h"

namespace tapeflow {
namespace {

struct FoldName {
  const char* name;
  Fold fold;
};
constexpr FoldName kFolds[] = {{"add", Fold::kSum},      {"subtract", Fold::kDifference}, {"multiply", Fold::kProduct},
                               {"divide", Fold::kQuotient}, {"maximum", Fold::kMax},       {"minimum", Fold::kMin}};

const FoldName* named_fold(const char* name) {
  for (const FoldName& each : kFolds) {
    if (!std::strcmp(each.name, name)) return &each;
  }
  return nullptr;
}

template <typename T>
void fold_as(Fold fold, T* into, const T* values, const int64_t* rows, int64_t n, int64_t columns, int64_t count) {
  switch (fold) {
    case Fold::kSum: return fold_rows<Fold::kSum>(into, values, rows, n, columns, count);
    case Fold::kDifference: return fold_rows<Fold::kDifference>(into, values, rows, n, columns, count);
    case Fold::kProduct: return fold_rows<Fold::kProduct>(into, values, rows, n, columns, count);
    case Fold::kQuotient:
      if constexpr (!std::is_integral_v<T>) fold_rows<Fold::kQuotient>(into, values, rows, n, columns, count);
      return;
    case Fold::kMax: return fold_rows<Fold::kMax>(into, values, rows, n, columns, count);
    case Fold::kMin: return fold_rows<Fold::kMin>(into, values, rows, n, columns, count);
  }
}

PyObject* py_fold_rows(PyObject*, PyObject* args) {
  const char* how;
  int number;
  Py_ssize_t columns;
  PyObject *target, *at, *given;
  if (!PyArg_ParseTuple(args, "siOOOn", &how, &number, &target, &at, &given, &columns)) return nullptr;
  const FoldName* found = named_fold(how);
  const auto dtype = number > 0 && number < kDTypeCount ? static_cast<DType>(number) : DType::kInvalid;
  const bool real = with_real_type(dtype, [](auto) {});
  if (!found || !real || (found->fold == Fold::kQuotient && is_integer(dtype))) {
    PyErr_SetString(PyExc_TypeError, "fold_rows: the combination of function and dtype is not known");
    return nullptr;
  }
  Bytes into(target, PyBUF_WRITABLE);
  if (!into.ok) return nullptr;
  Bytes rows(at, PyBUF_SIMPLE);
  if (!rows.ok) return nullptr;
  Bytes values(given, PyBUF_SIMPLE);
  if (!values.ok) return nullptr;
  const int64_t n = rows.buffer.len / 8, item = item_size(dtype);
  if (columns <= 0 || columns > std::numeric_limits<int64_t>::max() / 16 || rows.buffer.len % 8 != 0 ||
      into.buffer.len % (columns * item) != 0 || values.buffer.len % (columns * item) != 0 ||
      values.buffer.len / (columns * item) != n) {
    PyErr_SetString(PyExc_ValueError, "fold_rows: the arrays do not fit each other");
    return nullptr;
  }
  const int64_t count = into.buffer.len / (columns * item);
  const int64_t bad = first_outside(rows.as<const int64_t>(), n, count);
  if (bad >= 0) {
    PyErr_Format(PyExc_IndexError, "index %lld is out of bounds for %lld rows",
                 static_cast<long long>(rows.as<const int64_t>()[bad]), static_cast<long long>(count));
    return nullptr;
  }
  with_real_type(dtype, [&](auto t) {
    using T = decltype(t);
    fold_as(found->fold, into.as<T>(), values.as<const T>(), rows.as<const int64_t>(), n, columns, count);
  });
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef fold_methods[] = {
    {"fold_rows", entry<py_fold_rows>, METH_VARARGS,
     "fold_rows(how, dtype, into, rows, values, columns): each row of `values` folded into the row of `into` that the "
     "int64 `rows` name, in order. All are contiguous bytes; `how` is the name of a NumPy function, `dtype` a number."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace tapeflow
