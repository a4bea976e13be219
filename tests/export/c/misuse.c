/* Calls a model that takes x: float32 (2, 4) and gives y: float32 (2, 4) in wrong ways; prints a line for each. */
#include <stdio.h>

#include "tapeflow_model.h"

static tapeflow_model *model;

static void report(const char *what, const tapeflow_array *input, size_t inputs, tapeflow_array *output, size_t outputs) {
  tapeflow_status status;
  tapeflow_code code = tapeflow_model_run(model, input, inputs, output, outputs, &status);
  printf("%s|%d|%s\n", what, (int)code, status.message);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  tapeflow_status status;
  tapeflow_device *device = tapeflow_device_open(argv[1], &status);
  model = device ? tapeflow_model_load(device, argv[2], &status) : NULL;
  if (!model) {
    printf("%s\n", status.message);
    return 1;
  }
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
  int64_t dims[] = {2, 4, 1}, other[] = {4, 2};
  const tapeflow_array right = {TAPEFLOW_FLOAT32, 2, dims, x, sizeof x};
  tapeflow_array output = {0, 0, NULL, y, sizeof y}, none = {0, 0, NULL, NULL, sizeof y}, small = {0, 0, NULL, y, 4};
  tapeflow_array input = right;
  report("right", &input, 1, &output, 1);
  printf("filled in|%d|rank %zu, %lld by %lld\n", output.dtype == TAPEFLOW_FLOAT32, output.rank,
         (long long)output.dims[0], (long long)output.dims[1]);
  report("no input", &input, 0, &output, 1);
  report("no output", &input, 1, &output, 0);
  input.dtype = TAPEFLOW_INT32;
  report("dtype", &input, 1, &output, 1);
  input = right;
  input.rank = 3;
  report("rank", &input, 1, &output, 1);
  input = right;
  input.dims = other;
  report("shape", &input, 1, &output, 1);
  input = right;
  input.bytes = 4;
  report("few bytes", &input, 1, &output, 1);
  input = right;
  input.data = NULL;
  report("no data", &input, 1, &output, 1);
  report("small output", &right, 1, &small, 1);
  report("null output", &right, 1, &none, 1);
  report("right again", &right, 1, &output, 1);
  printf("out of range|%d|\n", tapeflow_model_input(model, 1) == NULL && tapeflow_model_output(model, 9) == NULL);
  tapeflow_model_free(model);
  tapeflow_model_free(NULL);
  tapeflow_device_close(device);
  tapeflow_device_close(NULL);
  return 0;
}
