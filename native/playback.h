// Plays a tape backwards: from the gradients of targets to those of sources.
#pragma once
#include "tape.h"

namespace tapeflow {

// Tuples of tensors and variables; output_gradients: one for each target, or None. A list with the gradient of each source,
// None (zeros, if `zero`) where there is none. `again`: the entries stay for another time.
PyObject* play_backwards(Tape* tape, PyObject* targets, PyObject* sources, PyObject* output_gradients, bool zero, bool again);

}  // namespace tapeflow
