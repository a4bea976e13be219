// While loops whose conditions and bodies are arithmetic on scalars, with branches, calls and loops of the same kind in
// them: one list of steps over cells of 8 bytes, which runs without tensors. Steps are the rows of fused instructions.
#pragma once
#include "tensor.h"

namespace tapeflow {

struct Instruction;
struct ScalarLoop;

ScalarLoop* new_scalar_loop();
void free_scalar_loop(ScalarLoop* loop);

// Runs the loop `at` on its variables (owned references, replaced by those at the end) and the rest of its inputs among
// `registers`. False: the ordinary loop must go on from the variables as they are now, because the loop is of another
// kind, its inputs have other dtypes than those of the first run, or a step, as a division by zero, has an error to
// raise. `tick` is called once a turn. Throws what tick does, with the variables unchanged.
bool run_scalar_loop(ScalarLoop* loop, const Instruction& at, Tensor** variables, Tensor* const* registers, void (*tick)());

}  // namespace tapeflow
