/* A trial of a model in a process of its own. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"
#include "tapeflow_model.h"

/* Runs the model on zeros. */
static void run_once(const tapeflow_model *model, tapeflow_status *status) {
  size_t num_inputs = tapeflow_model_num_inputs(model), count = num_inputs + tapeflow_model_num_outputs(model);
  tapeflow_array *arrays = calloc(count + 1, sizeof *arrays);
  int missing = !arrays;
  for (size_t i = 0; !missing && i < count; ++i) {
    const tapeflow_spec *spec =
        i < num_inputs ? tapeflow_model_input(model, i) : tapeflow_model_output(model, i - num_inputs);
    arrays[i] = (tapeflow_array){spec->dtype, spec->rank, spec->dims, calloc(spec->bytes + 1, 1), spec->bytes};
    missing = !arrays[i].data;
  }
  if (missing) {
    tapeflow_fail(status, TAPEFLOW_OUT_OF_MEMORY, "There is no memory for the inputs and outputs");
  } else {
    tapeflow_model_run(model, arrays, num_inputs, arrays + num_inputs, count - num_inputs, status);
  }
  for (size_t i = 0; arrays && i < count; ++i) free(arrays[i].data);
  free(arrays);
}

/* The child: what it finds is written to the pipe, unless the plugin ends the process before. */
static void try_it(const char *plugin, const char *path, unsigned seconds, int to) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGALRM, SIG_DFL);
  alarm(seconds);
  tapeflow_status status;
  memset(&status, 0, sizeof status);
  tapeflow_device *device = tapeflow_device_open(plugin, &status);
  tapeflow_model *model = device ? tapeflow_model_load(device, path, &status) : NULL;
  if (model) run_once(model, &status);
  const char *at = (const char *)&status;
  size_t left = sizeof status;
  while (left) {
    ssize_t written = write(to, at, left);
    if (written < 0 && errno != EINTR) break;
    if (written > 0) at += written, left -= (size_t)written;
  }
  _exit(0);
}

static size_t read_all(int from, void *into, size_t size) {
  size_t got = 0;
  while (got < size) {
    ssize_t count = read(from, (char *)into + got, size - got);
    if (count == 0 || (count < 0 && errno != EINTR)) break;
    if (count > 0) got += (size_t)count;
  }
  return got;
}

tapeflow_code tapeflow_model_try(const char *plugin, const char *path, unsigned seconds, tapeflow_status *status) {
  int ends[2];
  if (pipe(ends)) return tapeflow_fail(status, TAPEFLOW_OUT_OF_MEMORY, "No pipe: %s", strerror(errno));
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    try_it(plugin, path, seconds, ends[1]);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return tapeflow_fail(status, TAPEFLOW_OUT_OF_MEMORY, "No process: %s", strerror(errno));
  }
  tapeflow_status found;
  size_t got = read_all(ends[0], &found, sizeof found);
  close(ends[0]);
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
  if (got == sizeof found) {
    *status = found;
    return found.code;
  }
  if (WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM) {
    return tapeflow_fail(status, TAPEFLOW_PLUGIN_ERROR, "The plugin took more than %u s with the model", seconds);
  }
  return tapeflow_fail(status, TAPEFLOW_PLUGIN_ERROR, "The plugin ended its process with the model: %s %d",
                       WIFSIGNALED(how) ? "signal" : "exit code", WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
}
