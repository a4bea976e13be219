"""Functions with checks, written once for tapeflow and for TensorFlow: what passes, what fails, and the text."""

V = [1.0, 2.0, 3.0]


def make(tf):
    """A module with a function for each row of `CASES`."""
    d, ragged = tf.debugging, tf.RaggedTensor

    def counted(x, y):
        d.assert_equal(x, y, message="same?")
        return x

    def near(x, y):
        with tf.control_dependencies([d.assert_near(x, y, message="close?")]):
            return tf.identity(x)

    def positive(x, y):
        d.assert_positive(x)
        return x + y

    def ranked(x, y):
        d.assert_rank_in(x, [1, 2])
        d.assert_rank(y, 1, message="rank?")
        return y

    def shaped(x, y):
        d.assert_shapes([(x, ("N", 2)), (y, ("N",))])
        return y

    def asserted(x, y):
        d.Assert(tf.reduce_sum(x) > tf.reduce_sum(y), ["larger?", x], summarize=2)
        return x

    def split(x, y):
        return ragged.from_row_splits(x, tf.cast(y, tf.int64)).flat_values

    def lengths(x, y):
        return ragged.from_row_lengths(x, tf.cast(y, tf.int32)).flat_values

    def rowids(x, y):
        return ragged.from_value_rowids(x, tf.cast(y, tf.int64)).flat_values

    def uniform(x, y):
        return ragged.from_uniform_row_length(x, tf.cast(y, tf.int64)[0]).flat_values

    module = tf.Module()
    spec = tf.TensorSpec(None, tf.float32)
    vector = tf.TensorSpec([None], tf.float32)
    for name, function in list(locals().items()):
        if name in CASES:
            specs = [spec, spec] if name in ("ranked", "shaped") else [vector, vector]
            setattr(module, name, tf.function(function, input_signature=specs))
    return module


# name -> (arguments that pass, arguments that fail, what the error says)
CASES = {
    "counted": ((V, V), (V, [1.0, 2.0, 4.0]), "[same?] [Condition x == y did not hold element-wise:] "),
    "near": ((V, V), (V, [1.0, 2.0, 4.0]), "[close?.  ] [x and y not equal to tolerance"),
    "positive": ((V, V), ([-1.0], [1.0]), "[] [Condition x > 0 did not hold element-wise:] "),
    "ranked": ((V, V), (V, [V]), "[rank?.  ] [Tensor y:0 must have rank] [1] [Received shape: ] [1 3]"),
    "shaped": (([V[:2]], V[:1]), ([V[:2]], V), "must have size] [1] [Received shape: ] [3]"),
    "asserted": ((V, [1.0]), ([1.0], V), "assertion failed: [larger?] [1]"),
    "split": ((V, [0.0, 1.0, 3.0]), (V, [0.0, 1.0]), "to _from_row_partition do not form a valid RaggedTensor"),
    "lengths": ((V, [1.0, 2.0]), (V, [4.0, -1.0]), "Arguments to from_row_lengths do not form a valid RowPartition"),
    "rowids": ((V, [0.0, 0.0, 2.0]), (V, [0.0, 2.0, 1.0]), "to from_value_rowids do not form a valid RowPartition"),
    "uniform": ((V, [3.0]), (V, [2.0]), "[uniform_row_length] [2] [times nrows] [1] [must equal nvals] [3]"),
}  # fmt: skip


def look_at(tf, module):
    """For each case whether it passed, and what the failure said."""
    found = {}
    for name, (good, bad, text) in CASES.items():
        function = getattr(module, name)
        function(*map(tf.constant, good))
        try:
            function(*map(tf.constant, bad))
            found[name] = "nothing was raised"
        except tf.errors.InvalidArgumentError as error:
            found[name] = True if text in str(error) else str(error)
    return found


EXPECTED = dict.fromkeys(CASES, True)
