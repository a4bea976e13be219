// Streams of random numbers: where each seeded op has got to, and how a stateless one starts.
#pragma once
#include <Python.h>

#include "kernel.h"
#include "kernels/philox.h"

namespace tapeflow {

TAPEFLOW_ATTRS(SeedAttrs, seed, seed2);
TAPEFLOW_ATTRS(SeededAttrs, seed, seed2, dtype);

// The parts of the random family, one file each; register_random() calls them all.
void register_random_choice();
void register_random_rejection();

// A generator at the current position of the stream of (op, dtypes, seeds), which moves on by `blocks`. As in
// TensorFlow, calls of an op with the same attributes continue one stream until random_reset().
// Seeds 0, 0 are a stream that starts anywhere.
Philox reserve_stream(const char* op, DType a, DType b, int64_t seed, int64_t seed2, uint64_t blocks);

// Forgets all streams, so that each starts again.
void random_reset();

// The key and counter that a two-number seed stands for.
Philox stateless_generator(const Tensor* seed);
// From the key, counter and algorithm inputs of a V2 op; throws for an algorithm that there is not.
Philox stateless_generator(const Tensor* key, const Tensor* counter, const Tensor* algorithm);

// A shape input; throws with TensorFlow's words.
ShapeRef random_shape(const Tensor* t);

// random_reset, random_drawn, random_reserve and random_entropy for Python.
extern PyMethodDef random_methods[];

}  // namespace tapeflow
