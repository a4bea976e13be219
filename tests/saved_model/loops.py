"""Functions with loops over variables, and their gradients: the same before saving, and wherever they are loaded."""

NAMES = ("counted", "until", "scanned", "mapped", "handed_on")
# After loading, TensorFlow has no gradient for the variable in these.
DEEP = ("nested", "branching")


def make(tf):
    class Loops(tf.Module):
        def __init__(self):
            self.w = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def counted(self, x):
            for _ in tf.range(3):
                x = x * self.w
            return x

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def until(self, x):
            while tf.reduce_sum(x) < 20.0:
                x = x * self.w
            return x

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def scanned(self, x):
            return tf.scan(lambda last, now: last * self.w + now, x)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def mapped(self, x):
            return tf.map_fn(lambda each: each * each * self.w, x)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def nested(self, x):
            for i in tf.range(2):
                for _ in tf.range(i + 1):
                    x = x * self.w
            return x

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def branching(self, x):
            for i in tf.range(4):
                x = x * self.w if i % 2 == 0 else x + 1.0
            return x

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def handed_on(self, x):
            """`x` goes through the loop unchanged, and is used in it and after it."""
            _, total, x = tf.while_loop(
                lambda i, *_: i < 3, lambda i, total, x: (i + 1, total + x * self.w, x), (0, tf.zeros_like(x), x)
            )
            return total * x

    return Loops()


def look_at(tf, model, names=NAMES):
    """Of each function at (1, 2): the values, and the gradients of their sum for the argument and the variable."""
    found = []
    for name in names:
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(model, name)(x)
        dx, dw = tape.gradient(y, [x, model.w])
        found.append([name, y.numpy().tolist(), dx.numpy().tolist(), float(dw)])
    return found


# By hand: (x w^3), (x w^3), (x0, x0 w + x1), (x^2 w), (3 x^2 w).
EXPECTED = [
    ["counted", [8.0, 16.0], [8.0, 8.0], 36.0],
    ["until", [8.0, 16.0], [8.0, 8.0], 36.0],
    ["scanned", [1.0, 4.0], [3.0, 1.0], 1.0],
    ["mapped", [2.0, 8.0], [4.0, 8.0], 5.0],
    ["handed_on", [6.0, 24.0], [12.0, 24.0], 15.0],
]
# (x w^3), ((x w + 1) w + 1).
EXPECTED_DEEP = [
    ["nested", [8.0, 16.0], [8.0, 8.0], 36.0],
    ["branching", [7.0, 11.0], [4.0, 4.0], 14.0],
]
