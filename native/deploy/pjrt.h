/* The part of the PJRT C API, major version 0, that the loader uses.
 *
 * The interface is a table of functions, each of which takes one struct. Within a major version, fields and functions are
 * only added at the end, so what is declared here has the same places in all of 0.x; a test compares them with the
 * interface's own header. The names are this project's. `spare` at the end of a struct is for fields that later versions
 * added: they are optional, and 0 leaves them out.
 */
#ifndef TAPEFLOW_PJRT_H
#define TAPEFLOW_PJRT_H

#include <stddef.h>
#include <stdint.h>

enum { pjrt_major = 0, pjrt_spare = 6 };

typedef struct pjrt_error pjrt_error;
typedef struct pjrt_event pjrt_event;
typedef struct pjrt_client pjrt_client;
typedef struct pjrt_device pjrt_device;
typedef struct pjrt_executable pjrt_executable;
typedef struct pjrt_loaded pjrt_loaded;
typedef struct pjrt_buffer pjrt_buffer;

/* What every struct begins with: its size, and a list of extensions, which stays empty. */
#define PJRT_HEAD \
  size_t struct_size; \
  void *extension_start

typedef struct { PJRT_HEAD; int major, minor; } pjrt_version;
typedef struct { PJRT_HEAD; void *spare[pjrt_spare]; } pjrt_initialize_args;
typedef struct { PJRT_HEAD; pjrt_error *error; } pjrt_error_destroy_args;
typedef struct { PJRT_HEAD; const pjrt_error *error; const char *message; size_t message_size; } pjrt_error_message_args;
typedef struct { PJRT_HEAD; pjrt_event *event; } pjrt_event_args; /* to destroy it, and to wait for it */
typedef struct {
  PJRT_HEAD;
  const void *options;
  size_t num_options;
  void *callbacks[4];
  pjrt_client *client; /* out */
  void *spare[pjrt_spare];
} pjrt_client_create_args;
typedef struct { PJRT_HEAD; pjrt_client *client; } pjrt_client_destroy_args;
typedef struct { PJRT_HEAD; pjrt_client *client; pjrt_device *const *devices; size_t num_devices; } pjrt_devices_args;
typedef struct {
  PJRT_HEAD;
  char *code;
  size_t code_size;
  const char *format;
  size_t format_size;
  void *spare[pjrt_spare];
} pjrt_program;
typedef struct {
  PJRT_HEAD;
  pjrt_client *client;
  const pjrt_program *program;
  const char *options; /* a CompileOptionsProto */
  size_t options_size;
  pjrt_loaded *executable; /* out */
  void *spare[pjrt_spare];
} pjrt_compile_args;
typedef struct {
  PJRT_HEAD;
  pjrt_client *client;
  const void *data;
  int type;
  const int64_t *dims;
  size_t num_dims;
  const int64_t *strides; /* NULL: dense */
  size_t num_strides;
  int semantics;
  pjrt_device *device;
  void *memory;
  void *device_layout;
  pjrt_event *done; /* out: when `data` is no longer read */
  pjrt_buffer *buffer; /* out */
  void *spare[pjrt_spare];
} pjrt_from_host_args;
typedef struct { PJRT_HEAD; pjrt_loaded *executable; } pjrt_loaded_destroy_args;
typedef struct { PJRT_HEAD; pjrt_loaded *loaded; pjrt_executable *executable; } pjrt_get_executable_args;
typedef struct { PJRT_HEAD; pjrt_executable *executable; } pjrt_executable_destroy_args;
typedef struct { PJRT_HEAD; pjrt_executable *executable; size_t num_outputs; } pjrt_num_outputs_args;
typedef struct {
  PJRT_HEAD;
  void *send_callbacks, *recv_callbacks;
  size_t num_send, num_recv;
  int launch_id;
  const int64_t *non_donatable;
  size_t num_non_donatable;
  void *context;
  void *spare[pjrt_spare + 4];
} pjrt_execute_options;
typedef struct {
  PJRT_HEAD;
  pjrt_loaded *executable;
  pjrt_execute_options *options;
  pjrt_buffer *const *const *arguments; /* of each device */
  size_t num_devices;
  size_t num_arguments;
  pjrt_buffer **const *outputs; /* filled in */
  pjrt_event **complete;        /* NULL: not asked for */
  pjrt_device *device;
  void *spare[pjrt_spare];
} pjrt_execute_args;
typedef struct { PJRT_HEAD; pjrt_buffer *buffer; } pjrt_buffer_destroy_args;
typedef struct { PJRT_HEAD; pjrt_buffer *buffer; int type; } pjrt_element_type_args;
typedef struct { PJRT_HEAD; pjrt_buffer *buffer; const int64_t *dims; size_t num_dims; } pjrt_dimensions_args;
typedef struct {
  PJRT_HEAD;
  struct {
    PJRT_HEAD;
    const int64_t *minor_to_major;
    size_t minor_to_major_size;
    const int64_t *tile_dims;
    const size_t *tile_dim_sizes;
    size_t num_tiles;
  } tiled;
  int type; /* 0: tiled */
} pjrt_layout;
typedef struct {
  PJRT_HEAD;
  pjrt_buffer *buffer;
  pjrt_layout *layout;
  void *data;
  size_t size;
  pjrt_event *event; /* out: when the copy is done */
  void *spare[pjrt_spare];
} pjrt_to_host_args;

typedef pjrt_error *pjrt_call(void *args);

typedef struct {
  PJRT_HEAD;
  pjrt_version version;
  void (*error_destroy)(void *args);
  void (*error_message)(void *args);
  void *unused_2;
  pjrt_call *initialize;
  void *unused_4;
  pjrt_call *event_destroy;
  void *unused_6[2];
  pjrt_call *event_await;
  void *unused_9;
  pjrt_call *client_create, *client_destroy;
  void *unused_12[4];
  pjrt_call *client_devices;
  void *unused_17[3];
  pjrt_call *compile;
  void *unused_21;
  pjrt_call *from_host;
  void *unused_23[17];
  pjrt_call *executable_destroy;
  void *unused_41[3];
  pjrt_call *num_outputs;
  void *unused_45[5];
  pjrt_call *loaded_destroy, *get_executable;
  void *unused_52[3];
  pjrt_call *execute;
  void *unused_56[2];
  pjrt_call *buffer_destroy, *element_type, *dimensions;
  void *unused_61[9];
  pjrt_call *to_host;
} pjrt_api;

#endif
