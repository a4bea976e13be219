// The Python module tapeflow._native.
//
// The types every call goes through (tensor, op, tape, variable) are plain CPython types, because their
// calls must cost nanoseconds.
#include <nanobind/nanobind.h>

#include <cstdlib>

#include "arrays.h"
#include "convert.h"
#include "creation_lock.h"
#include "dispatcher.h"
#include "examples.h"
#include "exit.h"
#include "foreign_arrays.h"
#include "kernels/beam_search.h"
#include "kernels/indexing.h"
#include "kernels/key_index.h"
#include "kernels/random.h"
#include "kernels/registry.h"
#include "kernels/resample.h"
#include "kernels/schur.h"
#include "kernels/suppression.h"
#include "plan_limits.h"
#include "op.h"
#include "plan.h"
#include "python_kernel.h"
#include "records.h"
#include "shuffle.h"
#include "tape.h"
#include "scopes.h"
#include "tensor_file.h"
#include "tensor_list.h"
#include "tensor_type.h"
#include "variable_type.h"

NB_MODULE(_native, m) {
  using namespace tapeflow;
  const char* isa = register_all_kernels(std::getenv("TAPEFLOW_ISA"));
  if (!init_arrays(m.ptr()) || !init_convert() || !init_op_type(m.ptr()) || !init_python_kernel() ||
      !init_exit() || !init_settings(m.ptr()) || !init_scopes(m.ptr()) || !init_creation_lock(m.ptr()) ||
      !init_tensor(m.ptr()) || !init_public(m.ptr()) ||
      PyModule_AddFunctions(m.ptr(), random_methods) < 0 || PyModule_AddFunctions(m.ptr(), fold_methods) < 0 ||
      PyModule_AddFunctions(m.ptr(), key_index_methods) < 0 ||
      PyModule_AddFunctions(m.ptr(), resample_methods) < 0 || PyModule_AddFunctions(m.ptr(), suppression_methods) < 0 ||
      PyModule_AddFunctions(m.ptr(), schur_methods) < 0 || PyModule_AddFunctions(m.ptr(), beam_search_methods) < 0 ||
      PyModule_AddFunctions(m.ptr(), record_methods) < 0 || PyModule_AddFunctions(m.ptr(), shuffle_methods) < 0 ||
      PyModule_AddFunctions(m.ptr(), foreign_array_methods) < 0 ||
      PyModule_AddFunctions(m.ptr(), tensor_file_methods) < 0 || !init_variable(m.ptr()) || !init_tape(m.ptr()) ||
      !init_tensor_list(m.ptr()) || !init_plan(m.ptr()) || !init_limits(m.ptr()) || !init_dispatcher(m.ptr()) ||
      !init_examples(m.ptr())) {
    throw nanobind::python_error();
  }
  m.attr("isa") = isa;
}
