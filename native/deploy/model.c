/* Models on a device: what a PJRT plugin does for them. */
#include "tapeflow_model.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt.h"
#include "program.h"

struct tapeflow_device {
  const pjrt_api *api;
  pjrt_client *client;
  pjrt_device *device;
};

struct tapeflow_model {
  tapeflow_device *device;
  pjrt_loaded *executable;
  tapeflow_program program;
};

/* Zeros, and the size first. */
#define ARGS(type, name) \
  type name; \
  memset(&name, 0, sizeof name); \
  name.struct_size = sizeof name

/* A CompileOptionsProto: executable_build_options { device_ordinal: -1, num_replicas: 1, num_partitions: 1 }. */
static const char kCompileOptions[] = {0x1A, 0x0F, 0x08, '\xFF', '\xFF', '\xFF', '\xFF', '\xFF', '\xFF', '\xFF',
                                       '\xFF', '\xFF', 0x01, 0x20, 0x01, 0x28, 0x01};
enum { kOnlyDuringCall = 0 }; /* the plugin has copied an input when the call returns */

static const struct {
  tapeflow_dtype dtype;
  int type; /* PJRT's */
} kTypes[] = {
    {TAPEFLOW_BOOL, 1},       {TAPEFLOW_INT8, 2},      {TAPEFLOW_INT16, 3},   {TAPEFLOW_INT32, 4},
    {TAPEFLOW_INT64, 5},      {TAPEFLOW_UINT8, 6},     {TAPEFLOW_UINT16, 7},  {TAPEFLOW_UINT32, 8},
    {TAPEFLOW_UINT64, 9},     {TAPEFLOW_FLOAT16, 10},  {TAPEFLOW_FLOAT32, 11}, {TAPEFLOW_FLOAT64, 12},
    {TAPEFLOW_BFLOAT16, 13},  {TAPEFLOW_COMPLEX64, 14}, {TAPEFLOW_COMPLEX128, 15},
};

static int pjrt_type(tapeflow_dtype dtype) {
  for (size_t i = 0; i < sizeof kTypes / sizeof kTypes[0]; ++i) {
    if (kTypes[i].dtype == dtype) return kTypes[i].type;
  }
  return 0;
}

/* Takes an error of the plugin: its message becomes the status. */
static tapeflow_code check(const pjrt_api *api, pjrt_error *error, const char *what, tapeflow_status *status) {
  if (!error) return TAPEFLOW_OK;
  ARGS(pjrt_error_message_args, message);
  message.error = error;
  api->error_message(&message);
  size_t most = sizeof status->message - 100;
  tapeflow_fail(status, TAPEFLOW_PLUGIN_ERROR, "%s: %.*s", what,
                (int)(message.message_size < most ? message.message_size : most), message.message);
  ARGS(pjrt_error_destroy_args, destroy);
  destroy.error = error;
  api->error_destroy(&destroy);
  return TAPEFLOW_PLUGIN_ERROR;
}

static void drop(const pjrt_api *api, pjrt_error *error) {
  tapeflow_status ignored;
  check(api, error, "", &ignored);
}

/* Waits for an event and destroys it. */
static tapeflow_code await(const pjrt_api *api, pjrt_event *event, const char *what, tapeflow_status *status) {
  if (!event) return TAPEFLOW_OK;
  ARGS(pjrt_event_args, args);
  args.event = event;
  tapeflow_code code = check(api, api->event_await(&args), what, status);
  drop(api, api->event_destroy(&args));
  return code;
}

static void destroy_buffer(const pjrt_api *api, pjrt_buffer *buffer) {
  if (!buffer) return;
  ARGS(pjrt_buffer_destroy_args, args);
  args.buffer = buffer;
  drop(api, api->buffer_destroy(&args));
}

static const pjrt_api *load_api(const char *plugin, tapeflow_status *status) {
  void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    tapeflow_fail(status, TAPEFLOW_NOT_FOUND, "%s", dlerror());
    return NULL;
  }
  const pjrt_api *(*get)(void) = NULL;
  void *symbol = dlsym(library, "GetPjrtApi");
  memcpy(&get, &symbol, sizeof get);
  const pjrt_api *api = get ? get() : NULL;
  if (!api) {
    tapeflow_fail(status, TAPEFLOW_NOT_FOUND, "%s is no PJRT plugin: it has no GetPjrtApi", plugin);
  } else if (api->struct_size < sizeof *api || api->version.major != pjrt_major) {
    tapeflow_fail(status, TAPEFLOW_PLUGIN_ERROR, "%s has version %d.%d of the PJRT C API, not %d.x", plugin,
                  api->version.major, api->version.minor, pjrt_major);
    api = NULL;
  }
  return api;
}

tapeflow_device *tapeflow_device_open(const char *plugin, tapeflow_status *status) {
  const pjrt_api *api = load_api(plugin, status);
  if (!api) return NULL;
  ARGS(pjrt_initialize_args, initialize);
  if (check(api, api->initialize(&initialize), plugin, status) != TAPEFLOW_OK) return NULL;
  tapeflow_device *device = calloc(1, sizeof *device);
  if (!device) {
    tapeflow_fail(status, TAPEFLOW_OUT_OF_MEMORY, "No memory for a device");
    return NULL;
  }
  device->api = api;
  ARGS(pjrt_client_create_args, create);
  if (check(api, api->client_create(&create), plugin, status) != TAPEFLOW_OK) {
    free(device);
    return NULL;
  }
  device->client = create.client;
  ARGS(pjrt_devices_args, devices);
  devices.client = device->client;
  tapeflow_code code = check(api, api->client_devices(&devices), plugin, status);
  if (code == TAPEFLOW_OK && devices.num_devices == 0) {
    code = tapeflow_fail(status, TAPEFLOW_PLUGIN_ERROR, "%s has no device here", plugin);
  }
  if (code != TAPEFLOW_OK) {
    tapeflow_device_close(device);
    return NULL;
  }
  device->device = devices.devices[0];
  tapeflow_succeed(status);
  return device;
}

void tapeflow_device_close(tapeflow_device *device) {
  if (!device) return;
  ARGS(pjrt_client_destroy_args, args);
  args.client = device->client;
  drop(device->api, device->api->client_destroy(&args));
  free(device);
}

static tapeflow_code compile(tapeflow_model *model, tapeflow_status *status) {
  static const char format[] = "mlir";
  const pjrt_api *api = model->device->api;
  ARGS(pjrt_program, program);
  program.code = model->program.module;
  program.code_size = model->program.module_size;
  program.format = format;
  program.format_size = sizeof format - 1;
  ARGS(pjrt_compile_args, args);
  args.client = model->device->client;
  args.program = &program;
  args.options = kCompileOptions;
  args.options_size = sizeof kCompileOptions;
  tapeflow_code code = check(api, api->compile(&args), "The module does not compile", status);
  if (code != TAPEFLOW_OK) return code;
  model->executable = args.executable;
  ARGS(pjrt_get_executable_args, got);
  got.loaded = model->executable;
  code = check(api, api->get_executable(&got), "The module does not compile", status);
  if (code != TAPEFLOW_OK) return code;
  ARGS(pjrt_num_outputs_args, count);
  count.executable = got.executable;
  code = check(api, api->num_outputs(&count), "The outputs of the module", status);
  ARGS(pjrt_executable_destroy_args, destroy);
  destroy.executable = got.executable;
  drop(api, api->executable_destroy(&destroy));
  if (code == TAPEFLOW_OK && count.num_outputs != model->program.num_outputs) {
    return tapeflow_fail(status, TAPEFLOW_INVALID_FILE, "The module has %zu outputs, the model %zu",
                         count.num_outputs, model->program.num_outputs);
  }
  return code;
}

tapeflow_model *tapeflow_model_parse(tapeflow_device *device, const void *bytes, size_t size, tapeflow_status *status) {
  tapeflow_model *model = calloc(1, sizeof *model);
  if (!model) {
    tapeflow_fail(status, TAPEFLOW_OUT_OF_MEMORY, "No memory for a model");
    return NULL;
  }
  model->device = device;
  tapeflow_code code = tapeflow_program_parse(bytes, size, &model->program, status);
  if (code == TAPEFLOW_OK) code = compile(model, status);
  if (code != TAPEFLOW_OK) {
    tapeflow_model_free(model);
    return NULL;
  }
  free(model->program.module); /* the executable has it all */
  model->program.module = NULL;
  tapeflow_succeed(status);
  return model;
}

tapeflow_model *tapeflow_model_load(tapeflow_device *device, const char *path, tapeflow_status *status) {
  unsigned char *bytes;
  size_t size;
  if (tapeflow_read_file(path, &bytes, &size, status) != TAPEFLOW_OK) return NULL;
  tapeflow_model *model = tapeflow_model_parse(device, bytes, size, status);
  free(bytes);
  return model;
}

void tapeflow_model_free(tapeflow_model *model) {
  if (!model) return;
  if (model->executable) {
    ARGS(pjrt_loaded_destroy_args, args);
    args.executable = model->executable;
    drop(model->device->api, model->device->api->loaded_destroy(&args));
  }
  tapeflow_program_clear(&model->program);
  free(model);
}

size_t tapeflow_model_num_inputs(const tapeflow_model *model) { return model->program.num_inputs; }
size_t tapeflow_model_num_outputs(const tapeflow_model *model) { return model->program.num_outputs; }

const tapeflow_spec *tapeflow_model_input(const tapeflow_model *model, size_t i) {
  return i < model->program.num_inputs ? &model->program.specs[i] : NULL;
}

const tapeflow_spec *tapeflow_model_output(const tapeflow_model *model, size_t i) {
  return i < model->program.num_outputs ? &model->program.specs[model->program.num_inputs + i] : NULL;
}

static tapeflow_code check_input(const tapeflow_spec *spec, const tapeflow_array *given, tapeflow_status *status) {
  if (given->dtype != spec->dtype) {
    return tapeflow_fail(status, TAPEFLOW_INVALID_ARGUMENT, "Input '%.200s' has dtype %d, not %d", spec->name,
                         (int)given->dtype, (int)spec->dtype);
  }
  if (given->rank != spec->rank) {
    return tapeflow_fail(status, TAPEFLOW_INVALID_ARGUMENT, "Input '%.200s' has rank %zu, not %zu", spec->name,
                         given->rank, spec->rank);
  }
  for (size_t i = 0; i < spec->rank; ++i) {
    if (given->dims[i] != spec->dims[i]) {
      return tapeflow_fail(status, TAPEFLOW_INVALID_ARGUMENT, "Dimension %zu of input '%.200s' is %lld, not %lld", i,
                           spec->name, (long long)given->dims[i], (long long)spec->dims[i]);
    }
  }
  if (given->bytes != spec->bytes || (!given->data && spec->bytes)) {
    return tapeflow_fail(status, TAPEFLOW_INVALID_ARGUMENT, "Input '%.200s' has %zu bytes, not %zu", spec->name,
                         given->data ? given->bytes : 0, spec->bytes);
  }
  return TAPEFLOW_OK;
}

static tapeflow_code check_call(const tapeflow_model *model, const tapeflow_array *inputs, size_t num_inputs,
                                const tapeflow_array *outputs, size_t num_outputs, tapeflow_status *status) {
  const tapeflow_program *program = &model->program;
  if (num_inputs != program->num_inputs || num_outputs != program->num_outputs) {
    return tapeflow_fail(status, TAPEFLOW_INVALID_ARGUMENT, "The model has %zu inputs and %zu outputs, not %zu and %zu",
                         program->num_inputs, program->num_outputs, num_inputs, num_outputs);
  }
  for (size_t i = 0; i < num_inputs; ++i) {
    tapeflow_code code = check_input(tapeflow_model_input(model, i), &inputs[i], status);
    if (code != TAPEFLOW_OK) return code;
  }
  for (size_t i = 0; i < num_outputs; ++i) {
    const tapeflow_spec *spec = tapeflow_model_output(model, i);
    if (outputs[i].bytes < spec->bytes || (!outputs[i].data && spec->bytes)) {
      return tapeflow_fail(status, TAPEFLOW_INVALID_ARGUMENT, "Output '%.200s' needs %zu bytes, and has %zu",
                           spec->name, spec->bytes, outputs[i].data ? outputs[i].bytes : 0);
    }
  }
  return TAPEFLOW_OK;
}

static tapeflow_code send(const tapeflow_model *model, const tapeflow_array *from, pjrt_buffer **buffer,
                          tapeflow_status *status) {
  const pjrt_api *api = model->device->api;
  static const char nothing[1];
  ARGS(pjrt_from_host_args, args);
  args.client = model->device->client;
  args.data = from->data ? from->data : nothing;
  args.type = pjrt_type(from->dtype);
  args.dims = from->dims;
  args.num_dims = from->rank;
  args.semantics = kOnlyDuringCall;
  args.device = model->device->device;
  tapeflow_code code = check(api, api->from_host(&args), "An input", status);
  if (code != TAPEFLOW_OK) return code;
  *buffer = args.buffer;
  return await(api, args.done, "An input", status);
}

/* Whether the plugin made what the file says. */
static tapeflow_code check_result(const pjrt_api *api, pjrt_buffer *buffer, const tapeflow_spec *spec,
                                  tapeflow_status *status) {
  ARGS(pjrt_element_type_args, type);
  type.buffer = buffer;
  tapeflow_code code = check(api, api->element_type(&type), "An output", status);
  if (code != TAPEFLOW_OK) return code;
  ARGS(pjrt_dimensions_args, dims);
  dims.buffer = buffer;
  code = check(api, api->dimensions(&dims), "An output", status);
  if (code != TAPEFLOW_OK) return code;
  int same = type.type == pjrt_type(spec->dtype) && dims.num_dims == spec->rank;
  for (size_t i = 0; same && i < spec->rank; ++i) same = dims.dims[i] == spec->dims[i];
  if (same) return TAPEFLOW_OK;
  return tapeflow_fail(status, TAPEFLOW_INVALID_FILE, "The module computes output '%.200s' in another dtype or shape",
                       spec->name);
}

static tapeflow_code fetch(const pjrt_api *api, pjrt_buffer *buffer, const tapeflow_spec *spec, tapeflow_array *into,
                           tapeflow_status *status) {
  int64_t order[32]; /* as many dimensions as a model may have; the last one is next to each other in memory */
  for (size_t i = 0; i < spec->rank; ++i) order[i] = (int64_t)(spec->rank - 1 - i);
  ARGS(pjrt_layout, layout);
  layout.tiled.struct_size = sizeof layout.tiled;
  layout.tiled.minor_to_major = order;
  layout.tiled.minor_to_major_size = spec->rank;
  into->dtype = spec->dtype;
  into->rank = spec->rank;
  into->dims = spec->dims;
  if (!spec->bytes) return TAPEFLOW_OK;
  ARGS(pjrt_to_host_args, args);
  args.buffer = buffer;
  args.layout = &layout;
  args.data = into->data;
  args.size = spec->bytes;
  tapeflow_code code = check(api, api->to_host(&args), "An output", status);
  return code == TAPEFLOW_OK ? await(api, args.event, "An output", status) : code;
}

static tapeflow_code execute(const tapeflow_model *model, pjrt_buffer **given, pjrt_buffer **made,
                             tapeflow_status *status) {
  const pjrt_api *api = model->device->api;
  pjrt_buffer *const *arguments = given;
  ARGS(pjrt_execute_options, options);
  ARGS(pjrt_execute_args, args);
  args.executable = model->executable;
  args.options = &options;
  args.arguments = &arguments;
  args.num_devices = 1;
  args.num_arguments = model->program.num_inputs;
  args.outputs = &made;
  return check(api, api->execute(&args), "The model cannot be run", status);
}

tapeflow_code tapeflow_model_run(const tapeflow_model *model, const tapeflow_array *inputs, size_t num_inputs,
                                 tapeflow_array *outputs, size_t num_outputs, tapeflow_status *status) {
  tapeflow_code code = check_call(model, inputs, num_inputs, outputs, num_outputs, status);
  if (code != TAPEFLOW_OK) return code;
  const pjrt_api *api = model->device->api;
  size_t count = num_inputs + num_outputs;
  pjrt_buffer **buffers = calloc(count ? count : 1, sizeof *buffers);
  if (!buffers) return tapeflow_fail(status, TAPEFLOW_OUT_OF_MEMORY, "No memory for the arguments");
  for (size_t i = 0; code == TAPEFLOW_OK && i < num_inputs; ++i) code = send(model, &inputs[i], &buffers[i], status);
  if (code == TAPEFLOW_OK) code = execute(model, buffers, buffers + num_inputs, status);
  for (size_t i = 0; code == TAPEFLOW_OK && i < num_outputs; ++i) {
    const tapeflow_spec *spec = tapeflow_model_output(model, i);
    code = check_result(api, buffers[num_inputs + i], spec, status);
    if (code == TAPEFLOW_OK) code = fetch(api, buffers[num_inputs + i], spec, &outputs[i], status);
  }
  for (size_t i = 0; i < count; ++i) destroy_buffer(api, buffers[i]);
  free(buffers);
  return code == TAPEFLOW_OK ? tapeflow_succeed(status) : code;
}
