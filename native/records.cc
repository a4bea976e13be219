// CRC-32C and the frames of TFRecord files, for Python: functions of the module that have no kernel.
#include <cstdint>
#include <cstring>

#include "records.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace tapeflow {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78u;
constexpr uint32_t kMask = 0xA282EAD8u;
constexpr Py_ssize_t kReleaseAbove = 1 << 16;  // bytes: below, giving up the interpreter costs more than the work

// at[k][b]: what byte b, with k bytes after it in a word of 8, adds to the checksum.
struct Tables {
  uint32_t at[8][256];
  Tables() {
    for (uint32_t b = 0; b < 256; ++b) {
      uint32_t value = b;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? kPolynomial : 0);
      at[0][b] = value;
    }
    for (int k = 1; k < 8; ++k) {
      for (int b = 0; b < 256; ++b) at[k][b] = (at[k - 1][b] >> 8) ^ at[0][at[k - 1][b] & 255];
    }
  }
};

uint32_t by_tables(uint32_t state, const uint8_t* data, size_t size) {
  static const Tables tables;
  const auto& at = tables.at;
  for (; size >= 8; data += 8, size -= 8) {
    // Byte by byte, so that the order of bytes in this machine's words does not matter.
    const uint32_t low = state ^ (uint32_t{data[0]} | uint32_t{data[1]} << 8 | uint32_t{data[2]} << 16 | uint32_t{data[3]} << 24);
    state = at[7][low & 255] ^ at[6][low >> 8 & 255] ^ at[5][low >> 16 & 255] ^ at[4][low >> 24] ^ at[3][data[4]] ^
            at[2][data[5]] ^ at[1][data[6]] ^ at[0][data[7]];
  }
  for (; size; ++data, --size) state = (state >> 8) ^ at[0][(state ^ *data) & 255];
  return state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t by_instruction(uint32_t state, const uint8_t* data, size_t size) {
  uint64_t wide = state;
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  state = static_cast<uint32_t>(wide);
  for (; size; ++data, --size) state = _mm_crc32_u8(state, *data);
  return state;
}
#elif defined(__ARM_FEATURE_CRC32)
uint32_t by_instruction(uint32_t state, const uint8_t* data, size_t size) {
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    state = __crc32cd(state, word);
  }
  for (; size; ++data, --size) state = __crc32cb(state, *data);
  return state;
}
#endif

using Update = uint32_t (*)(uint32_t, const uint8_t*, size_t);

Update best_update() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2")) return by_instruction;
#elif defined(__ARM_FEATURE_CRC32)
  return by_instruction;
#endif
  return by_tables;
}

uint32_t crc32c(const void* data, size_t size, uint32_t before = 0) {
  static const Update update = best_update();
  return ~update(~before, static_cast<const uint8_t*>(data), size);
}

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
  PyObject* records = PyList_New(0);
  if (!records) return nullptr;
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
    PyObject* record = PyBytes_FromStringAndSize(reinterpret_cast<const char*>(head) + 12, static_cast<Py_ssize_t>(length));
    if (!record || PyList_Append(records, record) < 0) {
      Py_XDECREF(record);
      Py_DECREF(records);
      return nullptr;
    }
    Py_DECREF(record);
    at += static_cast<Py_ssize_t>(16 + length);
  }
  return Py_BuildValue("NniK", records, at, static_cast<int>(outcome), static_cast<unsigned long long>(wanted));
}

}  // namespace

PyMethodDef record_methods[] = {
    {"crc32c", py_crc32c, METH_VARARGS, "crc32c(data, before=0): the CRC-32C of a buffer, going on from `before`."},
    {"frame_record", py_frame, METH_O, "frame_record(data): a record as TFRecord files hold it, with length and checksums."},
    {"split_records", py_split, METH_VARARGS,
     "split_records(data, start=0) -> (records, end, outcome, wanted): the whole records in a buffer from `start` on, where "
     "the next begins, 0 (it is not whole: so many bytes are), 1 (its length is damaged) or 2 (its data are)."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tapeflow
