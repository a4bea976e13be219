/* Four threads run one model, each with its own input x: float32 (2, 4); prints how many results are not the first one's. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tapeflow_model.h"

static tapeflow_model *model;

static void *run(void *argument) {
  float x[8], first[8], y[8];
  int64_t dims[] = {2, 4};
  long wrong = 0;
  for (int i = 0; i < 8; ++i) x[i] = (float)*(int *)argument + (float)i / 8;
  for (int i = 0; i < 50; ++i) {
    tapeflow_status status;
    tapeflow_array input = {TAPEFLOW_FLOAT32, 2, dims, x, sizeof x}, output = {0, 0, NULL, y, sizeof y};
    wrong += tapeflow_model_run(model, &input, 1, &output, 1, &status) != TAPEFLOW_OK;
    if (i == 0) memcpy(first, y, sizeof y);
    wrong += memcmp(first, y, sizeof y) != 0;
  }
  *(int *)argument = (int)wrong;
  return NULL;
}

int main(int argc, char **argv) {
  tapeflow_status status;
  tapeflow_device *device = argc == 3 ? tapeflow_device_open(argv[1], &status) : NULL;
  model = device ? tapeflow_model_load(device, argv[2], &status) : NULL;
  if (!model) return 1;
  pthread_t threads[4];
  int numbers[4] = {0, 1, 2, 3}, wrong = 0;
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, run, &numbers[i]);
  for (int i = 0; i < 4; ++i) {
    pthread_join(threads[i], NULL);
    wrong += numbers[i];
  }
  printf("%d wrong\n", wrong);
  tapeflow_model_free(model);
  tapeflow_device_close(device);
  return 0;
}
