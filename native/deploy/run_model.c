/* Runs a model once: run_model [--try SECONDS] PLUGIN MODEL INPUT... writes the bytes of the outputs, one after the other, to its
 * standard output. Each INPUT is a file with the bytes of an array, dense, in the machine's byte order. What the model
 * takes and gives is printed to the standard error. With --try, the model is first run in a process of its own, so that one
 * that the plugin cannot stand is an error, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tapeflow_model.h"

static void describe(const char *what, const tapeflow_spec *spec) {
  fprintf(stderr, "%s %s: dtype %d, shape (", what, spec->name, (int)spec->dtype);
  for (size_t i = 0; i < spec->rank; ++i) fprintf(stderr, "%s%lld", i ? ", " : "", (long long)spec->dims[i]);
  fprintf(stderr, ")\n");
}

/* The bytes of a file, at most `most`; NULL without a message if there is none. */
static void *read_bytes(const char *path, size_t most, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = file ? malloc(most + 1) : NULL;
  if (bytes) *size = fread(bytes, 1, most + 1, file);
  if (file) fclose(file);
  return bytes;
}

static int run(const tapeflow_model *model, char **files, size_t count) {
  size_t num_inputs = tapeflow_model_num_inputs(model), num_outputs = tapeflow_model_num_outputs(model);
  tapeflow_status status;
  tapeflow_array *arrays = calloc(num_inputs + num_outputs + 1, sizeof *arrays);
  int failed = !arrays || count != num_inputs;
  if (failed) fprintf(stderr, "The model has %zu inputs, and %zu files were given\n", num_inputs, count);
  for (size_t i = 0; !failed && i < num_inputs; ++i) {
    const tapeflow_spec *spec = tapeflow_model_input(model, i);
    describe("input", spec);
    tapeflow_array *into = &arrays[i];
    into->dtype = spec->dtype;
    into->rank = spec->rank;
    into->dims = spec->dims;
    into->data = read_bytes(files[i], spec->bytes, &into->bytes);
    failed = !into->data;
    if (failed) fprintf(stderr, "%s cannot be read\n", files[i]);
  }
  for (size_t i = 0; !failed && i < num_outputs; ++i) {
    const tapeflow_spec *spec = tapeflow_model_output(model, i);
    describe("output", spec);
    arrays[num_inputs + i].bytes = spec->bytes;
    arrays[num_inputs + i].data = malloc(spec->bytes + 1);
    failed = !arrays[num_inputs + i].data;
  }
  if (!failed && tapeflow_model_run(model, arrays, num_inputs, arrays + num_inputs, num_outputs, &status)) {
    fprintf(stderr, "error %d: %s\n", (int)status.code, status.message);
    failed = 1;
  }
  for (size_t i = 0; !failed && i < num_outputs; ++i) {
    const tapeflow_array *output = &arrays[num_inputs + i];
    failed = fwrite(output->data, 1, output->bytes, stdout) != output->bytes;
  }
  for (size_t i = 0; arrays && i < num_inputs + num_outputs; ++i) free(arrays[i].data);
  free(arrays);
  return failed;
}

int main(int argc, char **argv) {
  const char *name = argv[0];
  long seconds = 0;
  if (argc > 2 && !strcmp(argv[1], "--try")) {
    seconds = strtol(argv[2], NULL, 10);
    if (seconds < 1 || seconds > 1000000) argc = 0;
    argv += 2, argc -= 2;
  }
  if (argc < 3) {
    fprintf(stderr, "usage: %s [--try SECONDS] PLUGIN MODEL INPUT...\n", name);
    return 2;
  }
  tapeflow_status status;
  tapeflow_device *device = NULL;
  if (!seconds || !tapeflow_model_try(argv[1], argv[2], (unsigned)seconds, &status)) {
    device = tapeflow_device_open(argv[1], &status);
  }
  tapeflow_model *model = device ? tapeflow_model_load(device, argv[2], &status) : NULL;
  if (!model) fprintf(stderr, "error %d: %s\n", (int)status.code, status.message);
  int failed = model ? run(model, argv + 3, (size_t)(argc - 3)) : 1;
  tapeflow_model_free(model);
  tapeflow_device_close(device);
  return failed;
}
