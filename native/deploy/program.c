/* Reads the file of a model. All numbers are little-endian:
 *
 *     8 bytes   "TAPEFLOW"
 *     uint32    version of the format: 1
 *     uint32    CRC-32 (that of zlib) of all bytes that follow
 *     uint32    number of inputs
 *     uint32    number of outputs
 *     for each  uint32 dtype, uint32 rank, int64 for each dimension, uint32 length of the name, the name in UTF-8
 *     uint64    length of the module
 *               the module: portable bytes of StableHLO, to the end of the file
 */
#include "program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kMagic[8] = {'T', 'A', 'P', 'E', 'F', 'L', 'O', 'W'};
enum { kVersion = 1, kMostRank = 32, kMostName = 1 << 16, kSmallestSpec = 12 };

typedef struct {
  const unsigned char *at;
  size_t left;
} cursor;

tapeflow_code tapeflow_succeed(tapeflow_status *status) {
  status->code = TAPEFLOW_OK;
  status->message[0] = 0;
  return TAPEFLOW_OK;
}

tapeflow_code tapeflow_fail(tapeflow_status *status, tapeflow_code code, const char *format, ...) {
  va_list more;
  va_start(more, format);
  status->code = code;
  vsnprintf(status->message, sizeof status->message, format, more);
  va_end(more);
  return code;
}

size_t tapeflow_dtype_size(uint32_t dtype) {
  switch (dtype) {
    case TAPEFLOW_BOOL: case TAPEFLOW_INT8: case TAPEFLOW_UINT8: return 1;
    case TAPEFLOW_INT16: case TAPEFLOW_UINT16: case TAPEFLOW_FLOAT16: case TAPEFLOW_BFLOAT16: return 2;
    case TAPEFLOW_INT32: case TAPEFLOW_UINT32: case TAPEFLOW_FLOAT32: return 4;
    case TAPEFLOW_INT64: case TAPEFLOW_UINT64: case TAPEFLOW_FLOAT64: case TAPEFLOW_COMPLEX64: return 8;
    case TAPEFLOW_COMPLEX128: return 16;
    default: return 0;
  }
}

tapeflow_code tapeflow_read_file(const char *path, unsigned char **bytes, size_t *size, tapeflow_status *status) {
  *bytes = NULL;
  *size = 0;
  FILE *file = fopen(path, "rb");
  if (!file) return tapeflow_fail(status, TAPEFLOW_NOT_FOUND, "%s: %s", path, strerror(errno));
  size_t capacity = 1 << 16;
  unsigned char *buffer = malloc(capacity);
  size_t count = 0;
  while (buffer) {
    size_t got = fread(buffer + count, 1, capacity - count, file);
    count += got;
    if (got == 0) break;
    if (count < capacity) continue;
    unsigned char *larger = capacity <= SIZE_MAX / 2 ? realloc(buffer, capacity * 2) : NULL;
    if (!larger) free(buffer);
    buffer = larger;
    capacity *= 2;
  }
  int broken = ferror(file);
  int reason = errno;
  fclose(file);
  if (!buffer) return tapeflow_fail(status, TAPEFLOW_OUT_OF_MEMORY, "%s: no memory to read it", path);
  if (broken) {
    free(buffer);
    return tapeflow_fail(status, TAPEFLOW_NOT_FOUND, "%s: %s", path, strerror(reason));
  }
  *bytes = buffer;
  *size = count;
  return tapeflow_succeed(status);
}

static int read_number(cursor *from, int bytes, uint64_t *value) {
  if (from->left < (size_t)bytes) return 0;
  *value = 0;
  for (int i = 0; i < bytes; ++i) *value |= (uint64_t)from->at[i] << (8 * i);
  from->at += bytes;
  from->left -= (size_t)bytes;
  return 1;
}

static uint32_t crc32_of(const unsigned char *bytes, size_t size) {
  uint32_t table[256];
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i < size; ++i) crc = table[(crc ^ bytes[i]) & 255] ^ (crc >> 8);
  return ~crc;
}

static tapeflow_code cut_short(tapeflow_status *status) {
  return tapeflow_fail(status, TAPEFLOW_INVALID_FILE, "The model ends too early");
}

static tapeflow_code read_spec(cursor *from, tapeflow_spec *spec, tapeflow_status *status) {
  uint64_t dtype, rank, length;
  if (!read_number(from, 4, &dtype) || !read_number(from, 4, &rank)) return cut_short(status);
  size_t bytes = tapeflow_dtype_size((uint32_t)dtype);
  if (!bytes) return tapeflow_fail(status, TAPEFLOW_INVALID_FILE, "There is no dtype %u", (unsigned)dtype);
  if (rank > kMostRank) return tapeflow_fail(status, TAPEFLOW_INVALID_FILE, "Rank %u is too large", (unsigned)rank);
  int64_t *dims = calloc(rank ? rank : 1, sizeof *dims);
  if (!dims) return tapeflow_fail(status, TAPEFLOW_OUT_OF_MEMORY, "No memory for a shape");
  spec->dims = dims;
  spec->dtype = (tapeflow_dtype)dtype;
  spec->rank = (size_t)rank;
  for (size_t i = 0; i < spec->rank; ++i) {
    uint64_t dim;
    if (!read_number(from, 8, &dim)) return cut_short(status);
    if (dim > INT64_MAX || (dim && bytes > SIZE_MAX / 2 / dim)) {
      return tapeflow_fail(status, TAPEFLOW_INVALID_FILE, "Dimension %zu of a shape is out of range", i);
    }
    dims[i] = (int64_t)dim;
    bytes *= (size_t)dim;
  }
  spec->bytes = bytes;
  if (!read_number(from, 4, &length)) return cut_short(status);
  if (length > kMostName) return tapeflow_fail(status, TAPEFLOW_INVALID_FILE, "A name is too long");
  if (from->left < length) return cut_short(status);
  char *name = malloc((size_t)length + 1);
  if (!name) return tapeflow_fail(status, TAPEFLOW_OUT_OF_MEMORY, "No memory for a name");
  memcpy(name, from->at, (size_t)length);
  name[length] = 0;
  spec->name = name;
  from->at += length;
  from->left -= (size_t)length;
  return TAPEFLOW_OK;
}

tapeflow_code tapeflow_program_parse(const unsigned char *bytes, size_t size, tapeflow_program *program,
                                     tapeflow_status *status) {
  memset(program, 0, sizeof *program);
  if (size < sizeof kMagic || memcmp(bytes, kMagic, sizeof kMagic) != 0) {
    return tapeflow_fail(status, TAPEFLOW_INVALID_FILE, "These bytes are no model of tapeflow.export.program");
  }
  cursor from = {bytes + sizeof kMagic, size - sizeof kMagic};
  uint64_t version, crc, inputs, outputs, length;
  if (!read_number(&from, 4, &version)) return cut_short(status);
  if (version != kVersion) {
    return tapeflow_fail(status, TAPEFLOW_INVALID_FILE, "Version %u of the format is not known, only %d",
                         (unsigned)version, kVersion);
  }
  if (!read_number(&from, 4, &crc)) return cut_short(status);
  if (crc != crc32_of(from.at, from.left)) {
    return tapeflow_fail(status, TAPEFLOW_INVALID_FILE, "The model is damaged: its checksum does not fit");
  }
  if (!read_number(&from, 4, &inputs) || !read_number(&from, 4, &outputs)) return cut_short(status);
  if (inputs + outputs > from.left / kSmallestSpec) return cut_short(status);
  program->num_inputs = (size_t)inputs;
  program->num_outputs = (size_t)outputs;
  size_t count = program->num_inputs + program->num_outputs;
  program->specs = calloc(count ? count : 1, sizeof *program->specs);
  if (!program->specs) return tapeflow_fail(status, TAPEFLOW_OUT_OF_MEMORY, "No memory for %zu specs", count);
  for (size_t i = 0; i < count; ++i) {
    tapeflow_code code = read_spec(&from, &program->specs[i], status);
    if (code != TAPEFLOW_OK) return code;
  }
  if (!read_number(&from, 8, &length)) return cut_short(status);
  if (length != from.left) {
    return tapeflow_fail(status, TAPEFLOW_INVALID_FILE, "The module should have %llu bytes, but %zu are left",
                         (unsigned long long)length, from.left);
  }
  program->module = malloc(from.left ? from.left : 1);
  if (!program->module) return tapeflow_fail(status, TAPEFLOW_OUT_OF_MEMORY, "No memory for the module");
  memcpy(program->module, from.at, from.left);
  program->module_size = from.left;
  return tapeflow_succeed(status);
}

void tapeflow_program_clear(tapeflow_program *program) {
  for (size_t i = 0; program->specs && i < program->num_inputs + program->num_outputs; ++i) {
    free((void *)program->specs[i].name);
    free((void *)program->specs[i].dims);
  }
  free(program->specs);
  free(program->module);
  memset(program, 0, sizeof *program);
}
