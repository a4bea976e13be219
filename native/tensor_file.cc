// Tensors read from files of raw elements: into memory of the allocator, which a variable can take as it is, and with
// their checksum made of each block while the cache still has it.
#include "tensor_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "arrays.h"
#include "crc32c.h"
#include "owned_tensor.h"
#include "tensor_type.h"
#include "threads.h"

namespace tapeflow {
namespace {

constexpr int64_t kBlock = 1 << 18;

// Bytes that were read, fewer than asked for at the end of the file; -1, with errno, if the system cannot.
int64_t read_summed(int file, int64_t offset, char* to, int64_t bytes, uint32_t* crc) {
  int64_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(file, to + done, static_cast<size_t>(std::min(kBlock, bytes - done)), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    *crc = crc32c(to + done, static_cast<size_t>(got), *crc);
    done += got;
  }
  return done;
}

PyObject* read_tensor(PyObject*, PyObject* args) {
  int file;
  long long offset;
  PyObject *dtype, *sizes;
  if (!PyArg_ParseTuple(args, "iLOO!", &file, &offset, &dtype, &PyTuple_Type, &sizes)) return nullptr;
  return guarded([&]() -> PyObject* {
    const DType kind = parse_dtype(dtype);
    if (is_object(kind)) throw invalid("elements of dtype ", dtype_name(kind), " are not raw bytes");
    const Py_ssize_t rank = PyTuple_GET_SIZE(sizes);
    if (rank > kMaxRank) throw invalid("a tensor of rank ", rank);
    int64_t dims[kMaxRank];
    for (Py_ssize_t i = 0; i < rank; ++i) {
      dims[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, i));
      if (dims[i] == -1 && PyErr_Occurred()) throw PythonError();
    }
    OwnedTensor t(new_tensor(kind, static_cast<int>(rank), dims));
    uint32_t crc = 0;
    int64_t got;
    {
      ReleaseGil gil(t->bytes());
      got = read_summed(file, offset, t->data, t->bytes(), &crc);
    }
    if (got == t->bytes()) {
      make_truths(t.get());
      return Py_BuildValue("NI", t.leak(), crc);
    }
    if (got < 0) PyErr_SetFromErrno(PyExc_OSError);
    else PyErr_Format(PyExc_EOFError, "the file ends %lld bytes early", static_cast<long long>(t->bytes() - got));
    throw PythonError();
  });
}

}  // namespace

PyMethodDef tensor_file_methods[] = {
    {"read_tensor", entry<read_tensor>, METH_VARARGS,
     "read_tensor(file, offset, dtype, sizes) -> (tensor, crc): what an open file, given by its number, has at an offset, "
     "and the CRC-32C of it. Raises EOFError where the file ends before."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tapeflow
