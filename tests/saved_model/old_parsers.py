"""The nodes of TensorFlow's first versions that parse examples, which only TensorFlow makes."""

import parsers


def make(tf):
    """A module with a function for each row of `EXPECTED`."""
    raw = tf.raw_ops

    def example(x):
        found = raw.ParseExample(
            serialized=x, names=[], sparse_keys=["c"], dense_keys=["a", "b"],
            dense_defaults=[tf.zeros([0]), tf.constant("none")], sparse_types=[tf.int64], dense_shapes=[[2], []],
        )  # fmt: skip
        return (*found.dense_values, found.sparse_values[0], found.sparse_shapes[0])

    def ragged(x):
        found = raw.ParseExampleV2(
            serialized=x, names=["n", "m"], sparse_keys=[], dense_keys=["c"], ragged_keys=["b", "a"],
            dense_defaults=[tf.constant(-1, tf.int64)], num_sparse=0, sparse_types=[], dense_shapes=[[None]],
            ragged_value_types=[tf.string, tf.float32], ragged_split_types=[tf.int64, tf.int32],
        )  # fmt: skip
        return (*found.dense_values, *found.ragged_values, *found.ragged_row_splits)

    def single(x):
        found = raw.ParseSingleExample(
            serialized=x, dense_defaults=[tf.zeros([0])], num_sparse=1, sparse_keys=["c"], dense_keys=["a"],
            sparse_types=[tf.int64], dense_shapes=[[2]],
        )  # fmt: skip
        return found.dense_values[0], found.sparse_indices[0], found.sparse_values[0], found.sparse_shapes[0]

    def sequence(x):
        found = raw.ParseSequenceExample(
            serialized=x, debug_name=[], context_dense_defaults=[tf.zeros([0], tf.int64)],
            feature_list_dense_missing_assumed_empty=["t"], context_sparse_keys=["v"], context_dense_keys=["n"],
            feature_list_sparse_keys=["z"], feature_list_dense_keys=["s", "t"],
            Ncontext_sparse=1, Ncontext_dense=1, Nfeature_list_sparse=1, Nfeature_list_dense=2,
            context_sparse_types=[tf.string], feature_list_dense_types=[tf.int64, tf.float32],
            context_dense_shapes=[[]], feature_list_sparse_types=[tf.string], feature_list_dense_shapes=[[2], []],
        )  # fmt: skip
        return (
            found.context_sparse_shapes[0], *found.context_dense_values, *found.feature_list_sparse_shapes,
            *found.feature_list_dense_values, *found.feature_list_dense_lengths,
        )  # fmt: skip

    def single_sequence(x):
        found = raw.ParseSingleSequenceExample(
            serialized=x, feature_list_dense_missing_assumed_empty=["t"], context_sparse_keys=["v"],
            context_dense_keys=["n"], feature_list_sparse_keys=["z"], feature_list_dense_keys=["s", "t"],
            context_dense_defaults=[tf.zeros([0], tf.int64)], debug_name="",
            context_sparse_types=[tf.string], feature_list_dense_types=[tf.int64, tf.float32],
            context_dense_shapes=[[]], feature_list_sparse_types=[tf.string], feature_list_dense_shapes=[[2], []],
        )  # fmt: skip
        return (
            found.context_sparse_shapes[0], *found.context_dense_values, *found.feature_list_sparse_shapes,
            *found.feature_list_dense_values,
        )  # fmt: skip

    module = tf.Module()
    for name, function in list(locals().items()):
        if name in EXPECTED:
            spec = tf.TensorSpec([] if name.startswith("single") else [None], tf.string)
            setattr(module, name, tf.function(function, input_signature=[spec]))
    return module


EXPECTED = {
    "example": [[[1.0, 2.0], [3.0, 4.0]], ["x", "none"], [7, 8, 9, 5], [2, 3]],
    "ragged": [[[7, 8, 9], [5, -1, -1]], ["x"], [1.0, 2.0, 3.0, 4.0], [0, 1, 1], [0, 2, 4]],
    "single": [[1.0, 2.0], [[0], [1], [2]], [7, 8, 9], [3]],
    "sequence": [[2, 0], [2, 1], [2, 0, 0], [[[1, 2], [3, 4]], [[5, 6], [0, 0]]], [[], []], [2, 1], [0, 0]],
    "single_sequence": [[0], 2, [0, 0], [[1, 2], [3, 4]], []],
}


def look_at(tf, module):
    """What each function returns."""
    return parsers.results(tf, module, EXPECTED)
