"""Functions that cross features, written once for tapeflow and for TensorFlow, and what they return."""


def make(tf):
    """A module with a function for each row of `EXPECTED`."""
    word, number = tf.TensorSpec([None, 1], tf.string), tf.TensorSpec([None, 1], tf.int64)

    def texts(a, b):
        return tf.sparse.to_dense(tf.sparse.cross([a, b]))

    def sparse_and_dense(a, b):
        return tf.sparse.to_dense(tf.sparse.cross([b, tf.sparse.from_dense(a), a]))

    def hashed(a, b):
        return tf.sparse.to_dense(tf.sparse.cross_hashed([a, b], 100))

    def hashed_strings(a, b):
        return tf.sparse.to_dense(tf.sparse.cross_hashed([a, a], hash_key=5))

    def ragged(a, b):
        return tf.ragged.cross([tf.RaggedTensor.from_tensor(a), b]).to_tensor()

    def ragged_hashed(a, b):
        return tf.ragged.cross_hashed([tf.RaggedTensor.from_tensor(a), a], 100).to_tensor()

    module = tf.Module()
    for name, function in list(locals().items()):
        if name in EXPECTED:
            setattr(module, name, tf.function(function, input_signature=[word, number]))
    return module


EXPECTED = {
    "texts": [["a_X_7"], ["b_X_9"]],
    "sparse_and_dense": [["a_X_7_X_a"], ["b_X_9_X_b"]],
    "hashed": [[56], [97]],
    "hashed_strings": [[6617250147853706816], [1252478568180966259]],
    "ragged": [["a_X_7"], ["b_X_9"]],
    "ragged_hashed": [[15], [47]],
}


def look_at(tf, module):
    """What each function returns."""
    given = tf.constant([["a"], ["b"]]), tf.constant([[7], [9]], tf.int64)
    found = {name: getattr(module, name)(*given).numpy().tolist() for name in EXPECTED}
    return {
        name: [[x.decode() if isinstance(x, bytes) else x for x in row] for row in rows]
        for name, rows in found.items()
    }
