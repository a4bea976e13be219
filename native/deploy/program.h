/* The file of a model: what it says of inputs and outputs, and the module. */
#ifndef TAPEFLOW_PROGRAM_H
#define TAPEFLOW_PROGRAM_H

#include "tapeflow_model.h"

typedef struct {
  size_t num_inputs, num_outputs;
  tapeflow_spec *specs; /* those of the inputs, then those of the outputs */
  char *module;
  size_t module_size;
} tapeflow_program;

/* Writes a status; returns its code. */
tapeflow_code tapeflow_fail(tapeflow_status *status, tapeflow_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
tapeflow_code tapeflow_succeed(tapeflow_status *status);

/* The bytes of one element; 0 for a number that is no dtype. */
size_t tapeflow_dtype_size(uint32_t dtype);

/* Reads a whole file; the caller frees the bytes. */
tapeflow_code tapeflow_read_file(const char *path, unsigned char **bytes, size_t *size, tapeflow_status *status);

/* Reads the bytes of a model. What it fills is to be cleared also after an error. */
tapeflow_code tapeflow_program_parse(const unsigned char *bytes, size_t size, tapeflow_program *program,
                                     tapeflow_status *status);
void tapeflow_program_clear(tapeflow_program *program);

#endif
