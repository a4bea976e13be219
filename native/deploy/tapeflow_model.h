/* Runs exported models through a PJRT plugin, without Python.
 *
 * `tapeflow.export.program.save` writes a model: a StableHLO module with the names, dtypes and shapes of its inputs and
 * outputs. A PJRT plugin is a shared library that compiles and runs such modules, for a CPU or an accelerator.
 *
 *     tapeflow_status status;
 *     tapeflow_device *device = tapeflow_device_open("libpjrt_cpu.so", &status);
 *     tapeflow_model *model = device ? tapeflow_model_load(device, "digits.tfp", &status) : NULL;
 *     if (!model) { fprintf(stderr, "%s\n", status.message); ... }
 *     tapeflow_model_run(model, inputs, 1, outputs, 1, &status);
 *     tapeflow_model_free(model);
 *     tapeflow_device_close(device);
 *
 * Every function that can fail fills the status. Several threads may use one device, and run one model.
 */
#ifndef TAPEFLOW_MODEL_H
#define TAPEFLOW_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  TAPEFLOW_OK = 0,
  TAPEFLOW_NOT_FOUND = 1,        /* a file that cannot be opened or read */
  TAPEFLOW_INVALID_FILE = 2,     /* bytes that are no model, or a damaged one */
  TAPEFLOW_INVALID_ARGUMENT = 3, /* an input or output that does not fit the model */
  TAPEFLOW_PLUGIN_ERROR = 4,     /* what the plugin reports; the message is its own */
  TAPEFLOW_OUT_OF_MEMORY = 5
} tapeflow_code;

typedef struct {
  tapeflow_code code;
  char message[1024]; /* ends with 0; empty after a success */
} tapeflow_status;

/* TensorFlow's numbers of these dtypes. */
typedef enum {
  TAPEFLOW_FLOAT32 = 1,
  TAPEFLOW_FLOAT64 = 2,
  TAPEFLOW_INT32 = 3,
  TAPEFLOW_UINT8 = 4,
  TAPEFLOW_INT16 = 5,
  TAPEFLOW_INT8 = 6,
  TAPEFLOW_COMPLEX64 = 8,
  TAPEFLOW_INT64 = 9,
  TAPEFLOW_BOOL = 10,
  TAPEFLOW_BFLOAT16 = 14,
  TAPEFLOW_UINT16 = 17,
  TAPEFLOW_COMPLEX128 = 18,
  TAPEFLOW_FLOAT16 = 19,
  TAPEFLOW_UINT32 = 22,
  TAPEFLOW_UINT64 = 23
} tapeflow_dtype;

/* What a model says of an input or output. It lives as long as the model. */
typedef struct {
  const char *name;
  tapeflow_dtype dtype;
  size_t rank;
  const int64_t *dims;
  size_t bytes; /* of all elements */
} tapeflow_spec;

/* An array of the caller's: dense, the last dimension first in memory, in the machine's byte order. */
typedef struct {
  tapeflow_dtype dtype;
  size_t rank;
  const int64_t *dims;
  void *data;
  size_t bytes; /* how many there are at `data` */
} tapeflow_array;

typedef struct tapeflow_device tapeflow_device;
typedef struct tapeflow_model tapeflow_model;

/* Loads a plugin and takes its first device. Returns NULL after an error. The library stays loaded after
 * `tapeflow_device_close`, because plugins cannot be unloaded. */
tapeflow_device *tapeflow_device_open(const char *plugin, tapeflow_status *status);

/* Gives the device back; its models must be freed before. NULL is allowed. */
void tapeflow_device_close(tapeflow_device *device);

/* Reads a model from a file, checks it, and compiles it for the device. Returns NULL after an error. */
tapeflow_model *tapeflow_model_load(tapeflow_device *device, const char *path, tapeflow_status *status);

/* The same for the bytes of such a file, which are not needed afterwards. */
tapeflow_model *tapeflow_model_parse(tapeflow_device *device, const void *bytes, size_t size, tapeflow_status *status);

/* NULL is allowed. */
void tapeflow_model_free(tapeflow_model *model);

/* The inputs and outputs. A number out of range gives NULL. */
size_t tapeflow_model_num_inputs(const tapeflow_model *model);
size_t tapeflow_model_num_outputs(const tapeflow_model *model);
const tapeflow_spec *tapeflow_model_input(const tapeflow_model *model, size_t i);
const tapeflow_spec *tapeflow_model_output(const tapeflow_model *model, size_t i);

/* Runs the model. The inputs must have the dtypes and shapes of the specs; of the outputs only `data` and `bytes` have
 * to be set: memory for at least the bytes of the spec. The rest of an output is filled in, with dims that belong to the
 * model. After an error, nothing is said of the outputs' content. */
tapeflow_code tapeflow_model_run(const tapeflow_model *model, const tapeflow_array *inputs, size_t num_inputs,
                                 tapeflow_array *outputs, size_t num_outputs, tapeflow_status *status);

/* Loads the model in a child process and runs it there once on zeros, for at most so many seconds (trial.c). The checksum
 * finds a damaged file; a module whose checksum was made to fit may make the plugin hang or end its process, and this
 * makes an error of it. Call it before `tapeflow_device_open` and before the program starts threads, as it forks. */
tapeflow_code tapeflow_model_try(const char *plugin, const char *path, unsigned seconds, tapeflow_status *status);

#ifdef __cplusplus
}
#endif

#endif
