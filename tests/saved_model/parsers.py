"""Functions that parse examples, written once for tapeflow and for TensorFlow, and what they return."""


def examples(tf):
    """Serialized examples: a [2] floats, b strings, c integers; and a sequence with steps."""
    one = tf.train.Example()
    one.features.feature["a"].float_list.value.extend([1.0, 2.0])
    one.features.feature["b"].bytes_list.value.append(b"x")
    one.features.feature["c"].int64_list.value.extend([7, 8, 9])
    two = tf.train.Example()
    two.features.feature["a"].float_list.value.extend([3.0, 4.0])
    two.features.feature["c"].int64_list.value.extend([5])
    return [one.SerializeToString(), two.SerializeToString()]


def sequences(tf):
    found = []
    for steps in ([[1, 2], [3, 4]], [[5, 6]]):
        made = tf.train.SequenceExample()
        made.context.feature["n"].int64_list.value.append(len(steps))
        for step in steps:
            made.feature_lists.feature_list["s"].feature.add().int64_list.value.extend(step)
        found.append(made.SerializeToString())
    return found


def descriptors(tf):
    """A set of files with the message `tensorflow.BytesList`, as text that an attr can hold."""
    from google.protobuf import descriptor_pb2

    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="t.proto", package="tensorflow", syntax="proto3")
    file.message_type.add(name="BytesList").field.add(name="value", number=1, type=12, label=3)
    return files.SerializeToString().decode()


def make(tf):
    """A module with a function for each row of `EXPECTED`."""
    io = tf.io
    many, one = tf.TensorSpec([None], tf.string), tf.TensorSpec([], tf.string)

    def dense(x):
        found = io.parse_example(x, {
            "a": io.FixedLenFeature([2], tf.float32),
            "b": io.FixedLenFeature([], tf.string, "none"),
            "d": io.FixedLenFeature([2], tf.int64, [1, 2]),
        })  # fmt: skip
        return found["a"], found["b"], found["d"]

    def padded(x):
        feature = io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1)
        return (io.parse_example(x, {"c": feature})["c"],)

    def sparse(x):
        found = io.parse_example(x, {"b": io.VarLenFeature(tf.string), "c": io.VarLenFeature(tf.int64)})
        return tf.sparse.to_dense(found["b"], "-"), tf.sparse.to_dense(found["c"])

    def ragged(x):
        found = io.parse_example(x, {"c": io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)})
        return (found["c"].to_tensor(),)

    def single(x):
        found = io.parse_single_example(x, {
            "a": io.FixedLenFeature([2], tf.float32), "c": io.VarLenFeature(tf.int64),
            "b": io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
        })  # fmt: skip
        return found["a"], found["c"].values, found["b"]

    def sequence(x):
        context, lists, lengths = io.parse_sequence_example(
            x,
            {"n": io.FixedLenFeature([], tf.int64), "m": io.FixedLenFeature([], tf.float32, 0.5),
             "v": io.VarLenFeature(tf.string)},
            {"s": io.FixedLenSequenceFeature([2], tf.int64), "z": io.VarLenFeature(tf.string)},
        )  # fmt: skip
        return context["n"], context["m"], context["v"].dense_shape, lists["s"], lengths["s"], lists["z"].dense_shape

    def ragged_sequence(x):
        steps = io.parse_sequence_example(x, sequence_features={"s": io.RaggedFeature(tf.int64)})[1]["s"]
        return steps.flat_values, *steps.nested_row_splits

    def single_sequence(x):
        context, lists = io.parse_single_sequence_example(
            x,
            {"n": io.FixedLenFeature([], tf.int64)},
            {"s": io.VarLenFeature(tf.int64), "t": io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)},
        )  # fmt: skip
        return context["n"], lists["s"].values, lists["t"]

    def proto(x):
        sizes, (values,) = io.decode_proto(x, "tensorflow.BytesList", ["value"], [tf.string], source)
        return sizes, values, io.encode_proto(sizes, [values], ["value"], "tensorflow.BytesList", source)

    source = "bytes://" + descriptors(tf)

    def csv(x):
        return tuple(io.decode_csv(x, [[0], [""], [0.5]]))

    def csv_selected(x):
        return tuple(io.decode_csv(x, [["q"], [0.5]], select_cols=[1, 2], na_value="NA"))

    module = tf.Module()
    for name, function in list(locals().items()):
        if name in EXPECTED and callable(function):
            spec = one if name.startswith("single") else many
            setattr(module, name, tf.function(function, input_signature=[spec]))
    return module


EXPECTED = {
    "dense": [[[1.0, 2.0], [3.0, 4.0]], ["x", "none"], [[1, 2], [1, 2]]],
    "padded": [[[7, 8, 9], [5, -1, -1]]],
    "sparse": [[["x"], ["-"]], [[7, 8, 9], [5, 0, 0]]],
    "ragged": [[[7, 8, 9], [5, 0, 0]]],
    "single": [[1.0, 2.0], [7, 8, 9], ["x"]],
    "sequence": [[2, 1], [0.5, 0.5], [2, 0], [[[1, 2], [3, 4]], [[5, 6], [0, 0]]], [2, 1], [2, 0, 0]],
    "ragged_sequence": [[1, 2, 3, 4, 5, 6], [0, 2, 3], [0, 2, 4, 6]],
    "single_sequence": [2, [1, 2, 3, 4], []],
    "proto": [[[2], [0]], [["p", "q"], ["", ""]], ["\n\x01p\n\x01q", ""]],
    "csv": [[1, 2], ["a", "b,c"], [0.5, 2.5]],
    "csv_selected": [["a", "b,c"], [0.5, 2.5]],
}


def _plain(value):
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.decode() if isinstance(value, bytes) else value


def results(tf, module, names):
    """What functions return, by name."""
    found = {}
    for name in names:
        given = sequences(tf) if "sequence" in name else examples(tf)
        if name.startswith("csv"):
            given = ["1,a,", '2,"b,c",2.5']
        if name == "proto":
            given = [b"\n\x01p\n\x01q", b""]
        made = getattr(module, name)(tf.constant(given[0] if name.startswith("single") else given))
        found[name] = [_plain(y.numpy().tolist()) for y in made]
    return found


def look_at(tf, module):
    """What each function returns."""
    return results(tf, module, EXPECTED)
