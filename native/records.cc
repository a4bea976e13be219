// The frames of TFRecord files, and CRC-32C, for Python: functions of the module that have no kernel.
#include <cstdint>
#include <cstring>

#include "crc32c.h"
#include "records.h"
#include "guard.h"
#include "ref.h"

namespace tapeflow {
namespace {

constexpr uint32_t kMask = 0xA282EAD8u;
constexpr Py_ssize_t kReleaseAbove = 1 << 16;  // bytes: below, giving up the interpreter costs more than the work

uint32_t masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kMask; }

void put(uint8_t* to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<uint8_t>(value >> (8 * i));
}

uint64_t get(const uint8_t* from, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= uint64_t{from[i]} << (8 * i);
  return value;
}

// A view of the bytes of an argument, given back at the end.
struct View {
  Py_buffer buffer{};
  bool ok;
  explicit View(PyObject* object) : ok(PyObject_GetBuffer(object, &buffer, PyBUF_SIMPLE) == 0) {}
  ~View() {
    if (ok) PyBuffer_Release(&buffer);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  const uint8_t* data() const { return static_cast<const uint8_t*>(buffer.buf); }
  Py_ssize_t size() const { return buffer.len; }
};

PyObject* py_crc32c(PyObject*, PyObject* args) {
  PyObject* object;
  unsigned long before = 0;
  if (!PyArg_ParseTuple(args, "O|k", &object, &before)) return nullptr;
  View view(object);
  if (!view.ok) return nullptr;
  uint32_t crc;
  if (view.size() > kReleaseAbove) {
    Py_BEGIN_ALLOW_THREADS;
    crc = crc32c(view.data(), static_cast<size_t>(view.size()), static_cast<uint32_t>(before));
    Py_END_ALLOW_THREADS;
  } else {
    crc = crc32c(view.data(), static_cast<size_t>(view.size()), static_cast<uint32_t>(before));
  }
  return PyLong_FromUnsignedLong(crc);
}

PyObject* py_frame(PyObject*, PyObject* object) {
  View view(object);
  if (!view.ok) return nullptr;
  PyObject* made = PyBytes_FromStringAndSize(nullptr, view.size() + 16);
  if (!made) return nullptr;
  auto* to = reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(made));
  put(to, static_cast<uint64_t>(view.size()), 8);
  put(to + 8, masked(crc32c(to, 8)), 4);
  std::memcpy(to + 12, view.data(), static_cast<size_t>(view.size()));
  put(to + 12 + view.size(), masked(crc32c(view.data(), static_cast<size_t>(view.size()))), 4);
  return made;
}

enum Outcome { kMore = 0, kBadLength = 1, kBadData = 2 };

PyObject* py_split(PyObject*, PyObject* args) {
  PyObject* object;
  Py_ssize_t at = 0;
  if (!PyArg_ParseTuple(args, "O|n", &object, &at)) return nullptr;
  View view(object);
  if (!view.ok) return nullptr;
  if (at < 0 || at > view.size()) {
    PyErr_SetString(PyExc_ValueError, "split_records: the start is not in the buffer");
    return nullptr;
  }
  Ref records(PyList_New(0));
  Outcome outcome = kMore;
  uint64_t wanted = 12;  // bytes from `at` on that the next record needs
  while (view.size() - at >= 12) {
    const uint8_t* head = view.data() + at;
    if (masked(crc32c(head, 8)) != get(head + 8, 4)) {
      outcome = kBadLength;
      break;
    }
    const uint64_t length = get(head, 8);
    // Compared without sums that could wrap: the length comes from a file.
    const uint64_t left = static_cast<uint64_t>(view.size() - at - 12);
    if (left < 4 || left - 4 < length) {
      wanted = length > UINT64_MAX - 16 ? UINT64_MAX : length + 16;
      break;
    }
    if (masked(crc32c(head + 12, length)) != get(head + 12 + length, 4)) {
      outcome = kBadData;
      break;
    }
    const Ref record(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(head) + 12, static_cast<Py_ssize_t>(length)));
    if (PyList_Append(records.get(), record.get()) < 0) return nullptr;
    at += static_cast<Py_ssize_t>(16 + length);
  }
  return Py_BuildValue("NniK", records.release(), at, static_cast<int>(outcome), static_cast<unsigned long long>(wanted));
}

}  // namespace

PyMethodDef record_methods[] = {
    {"crc32c", entry<py_crc32c>, METH_VARARGS, "crc32c(data, before=0): the CRC-32C of a buffer, going on from `before`."},
    {"frame_record", entry<py_frame>, METH_O, "frame_record(data): a record as TFRecord files hold it, with length and checksums."},
    {"split_records", entry<py_split>, METH_VARARGS,
     "split_records(data, start=0) -> (records, end, outcome, wanted): the whole records in a buffer from `start` on, where "
     "the next begins, 0 (it is not whole: so many bytes are), 1 (its length is damaged) or 2 (its data are)."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tapeflow
