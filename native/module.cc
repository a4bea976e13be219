// The Python module tapeflow._native.
//
// The types every call goes through (tensor, op, tape, variable) are plain CPython types, because their
// calls must cost nanoseconds.
#include <nanobind/nanobind.h>

#include <cstdlib>

#include "convert.h"
#include "kernels/random.h"
#include "kernels/registry.h"
#include "op.h"
#include "tape.h"
#include "tensor_type.h"
#include "variable_type.h"

NB_MODULE(_native, m) {
  using namespace tapeflow;
  const char* isa = register_all_kernels(std::getenv("TAPEFLOW_ISA"));
  if (!init_convert(m.ptr()) || !init_op(m.ptr()) || !init_tensor(m.ptr()) || !init_public(m.ptr()) ||
      PyModule_AddFunctions(m.ptr(), random_methods) < 0 || !init_variable(m.ptr()) || !init_tape(m.ptr())) {
    throw nanobind::python_error();
  }
  m.attr("isa") = isa;
}
