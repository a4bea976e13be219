"""Functions with gradients that the program defines: the same before saving, and wherever they are loaded."""

NAMES = ("clipped", "kept", "with_constant", "with_variable", "two_results", "called")


def make(tf):
    factor = tf.constant([3.0, 5.0])

    @tf.custom_gradient
    def clip_by_norm(x):
        return x, lambda dy: tf.clip_by_norm(dy, 0.5)

    @tf.custom_gradient
    def square(x):
        y, e = x * x, tf.exp(x)  # the result does not need the second
        return y, lambda dy: dy * (x + y) * e

    @tf.custom_gradient
    def scaled(x):
        return x * factor, lambda dy: dy * factor * 10.0

    @tf.custom_gradient
    def both(x, y):
        return (x + y, x * y), lambda d_sum, d_product: (d_sum * 2.0 + d_product * y, None)

    def times(x, v):
        @tf.custom_gradient
        def product(x):
            def gradient(dy, variables=None):
                return dy * 100.0 * v, [tf.reduce_sum(dy) * 7.0]

            return x * v, gradient

        return product(x)

    class Gradients(tf.Module):
        def __init__(self):
            self.w = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec(None)])
        def clipped(self, x):
            return clip_by_norm(x) * self.w

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def kept(self, x):
            return square(x * 2.0) * self.w

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def with_constant(self, x):
            return scaled(x) * self.w

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def with_variable(self, x):
            return times(x, self.w)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def two_results(self, x):
            """One of the results has no gradient to come, one of the arguments gets none."""
            return both(x, x * self.w)[0] + self.w

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def called(self, x):
            return self.kept(x) + self.clipped(x)

    return Gradients()


def look_at(tf, model, names=NAMES):
    """Of each function at (0.5, 1): the values, and the gradients for the argument and the variable.

    Of `kept` the second derivative too: the gradient function is differentiated as any other.
    """
    found = []
    for name in names:
        x = tf.constant([0.5, 1.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(model, name)(x)
        dx, dw = tape.gradient(y, [x, model.w])
        found.append([name, y.numpy().tolist(), dx.numpy().tolist(), float(dw)])
    x = tf.constant([0.5, 1.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = model.kept(x)
        dx = inner.gradient(y, x)
    found.append(["second", outer.gradient(dx, x).numpy().tolist()])
    return found
