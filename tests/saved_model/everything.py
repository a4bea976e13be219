"""A module with everything a SavedModel can hold, written once for tapeflow and for TensorFlow."""


def make(tf, folder):
    """The module; `folder` is for its files."""
    path = f"{folder}/words.txt"
    with open(path, "w") as file:
        file.write("a\nb\n")

    class Everything(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable([1.0, 2.0], name="v")
            self.c = tf.constant(5.0)
            self.items = [tf.Variable(3.0), 7, tf.Variable(4.0, trainable=False)]
            self.named = {"a": tf.Variable(4.0)}
            self.pair = (tf.Variable(8.0), tf.Variable(9.0))
            self.words = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(
                    path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                    tf.lookup.TextFileIndex.LINE_NUMBER,
                ),
                -1,
            )  # fmt: skip
            pairs = tf.lookup.KeyValueTensorInitializer(
                tf.constant(["x"]), tf.constant([7], tf.int64)
            )
            self.pairs = tf.lookup.StaticHashTable(pairs, 0)
            self.growing = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
            self.file = tf.saved_model.Asset(path)
            self.sub = tf.Module()
            self.sub.v = self.v

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def serve(self, x):
            return {"y": x * self.v + self.c, "z": tf.reduce_sum(x) + self.items[0]}

        @tf.function
        def loop(self, x, training=False, *, k=3):
            if training:
                return x + 1
            i = tf.constant(0)
            while i < tf.cast(tf.reduce_sum(x), tf.int32):
                i += 1
            return x * k, i

        @tf.function
        def branch(self, x):
            return x * 2.0 if tf.reduce_sum(x) > 0.0 else x - self.named["a"]

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def look(self, k):
            return self.words.lookup(k) + self.pairs.lookup(k) + self.growing.lookup(k)

        @tf.function(input_signature=[])
        def count(self):
            self.v.assign_add([1.0, 1.0])
            before = self.v + 0.0
            self.v.assign_add([1.0, 1.0])
            return before + self.v

        @tf.function(input_signature=[])
        def path(self):
            return self.file.asset_path

        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
        def ragged(self, x):
            return x * 2.0

    made = Everything()
    made.loop(tf.constant([2.0]))
    made.loop(tf.constant([2.0]), True)
    made.branch(tf.constant([1.0, 2.0]))
    made.growing.insert(["q"], [9])
    return made


def save(tf, folder):
    """Writes the module to `folder`/model."""
    made = make(tf, folder)
    tf.saved_model.save(made, f"{folder}/model", {"serving_default": made.serve, "look": made.look})
    return made


def look_at(tf, model):
    """What a loaded model says to everything, as plain data."""
    ones = tf.ones([1, 2])
    with tf.GradientTape() as tape:
        y = model.serve(ones)["y"]
    gradient = tape.gradient(y, model.v)
    loop, steps = model.loop(tf.constant([3.0]))
    with open(model.path().numpy()) as file:
        words = file.read()
    found = {
        "v": model.v.read_value(), "items": [model.items[0], model.items[2]], "pair": list(model.pair),
        "named": model.named["a"], "trainable": [model.items[0].trainable, model.items[2].trainable],
        "same": model.sub.v is model.v, "serve": model.serve(ones), "gradient": gradient, "loop": [loop, steps],
        "training": model.loop(tf.constant([3.0]), True),
        "branch": [model.branch(tf.constant([1.0, 2.0])), model.branch(tf.constant([-1.0, -2.0]))],
        "look": model.look(tf.constant(["a", "b", "x", "q", "?"])), "words": words,
        "ragged": model.ragged(tf.ragged.constant([[1.0], [2.0, 3.0]])).to_list(),
        "signature": model.signatures["look"](k=tf.constant(["b", "q"])),
        "names": sorted(model.signatures), "count": model.count(), "after": model.v,
    }  # fmt: skip
    return plain(found)


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.numpy().tolist() if hasattr(value, "numpy") else value


EXPECTED = {
    "v": [1.0, 2.0], "items": [3.0, 4.0], "pair": [8.0, 9.0], "named": 4.0, "trainable": [True, False],
    "same": True, "serve": {"y": [[6.0, 7.0]], "z": 5.0}, "gradient": [1.0, 1.0], "loop": [[9.0], 3],
    "training": [4.0], "branch": [[2.0, 4.0], [-5.0, -6.0]], "look": [-1, 0, 5, 8, -2], "words": "a\nb\n",
    "ragged": [[2.0], [4.0, 6.0]], "signature": {"output_0": [0, 8]}, "names": ["look", "serving_default"],
    "count": [5.0, 7.0], "after": [3.0, 4.0],
}  # fmt: skip
