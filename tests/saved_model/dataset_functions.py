"""Functions with datasets in them, written once for tapeflow and for TensorFlow, and what they return."""


def make(tf):
    """A module with a function for each row of `EXPECTED`."""
    data = tf.data.Dataset

    class Functions(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(2.0)
            self.batches = data.range(10).map(lambda x: x * 2).batch(3)
            self.numbers = data.from_tensor_slices([1.0, 2.0, 3.0]).shuffle(3, seed=1).repeat(2).prefetch(1)
            self.features = data.from_tensor_slices({"b": [1, 2, 3], "a": [[1.0], [2.0], [3.0]]})

        @tf.function(input_signature=[])
        def captured(self):
            total = tf.constant(0, tf.int64)
            for x in self.batches:
                total += tf.reduce_sum(x)
            return total

        @tf.function(input_signature=[])
        def reduced(self):
            return self.numbers.reduce(0.0, lambda a, b: a + b * self.v)

        @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
        def made_inside(self, n=6):
            total = tf.constant(0, tf.int64)
            for x in data.range(n).filter(lambda x: x % 2 == 0).map(lambda x: x + n):
                total += x
            return total

        @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
        def iterator(self, n=6):
            iterator = iter(data.range(n))
            next(iterator)
            found = iterator.get_next_as_optional()
            result = tf.constant(-1, tf.int64)
            if found.has_value():
                result = found.get_value()
            return result

        @tf.function(input_signature=[])
        def left_early(self):
            total = 0.0
            for i, x in enumerate(self.numbers):
                if i >= 3:
                    break
                total += x
            return total

        @tf.function(input_signature=[])
        def structured(self):
            total = 0.0
            for row in self.features.map(lambda row: {"z": row["b"], "y": row["a"]}):
                total += tf.cast(row["z"], tf.float32) * row["y"][0]
            return total

        @tf.function(input_signature=[])
        def nested(self):
            pairs = data.zip((data.range(4), data.range(1, 5).flat_map(lambda n: data.range(n)))).skip(1)
            total = tf.constant(0, tf.int64)
            for a, b in pairs.concatenate(pairs.take(1)):
                total = total * 3 + a + b
            return total

    return Functions()


EXPECTED = {
    "captured": 90, "reduced": 24.0, "made_inside": 24, "iterator": 1, "left_early": 6.0, "structured": 14.0,
    "nested": 1 * 27 + 3 * 9 + 3 * 3 + 1,
}  # fmt: skip


def look_at(tf, module):
    """What each function returns."""
    given = {"made_inside": [tf.constant(6, tf.int64)], "iterator": [tf.constant(6, tf.int64)]}
    return {name: getattr(module, name)(*given.get(name, ())).numpy().item() for name in EXPECTED}
