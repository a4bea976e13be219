"""What is called from converted code: user functions are converted, everything else is called as it is."""

import contextlib
import functools

import numpy as np
import pytest

import tapeflow as tf


def listed(x):
    return np.asarray(x).tolist()


def both(f):
    g = tf.function(f)
    return [listed(g(tf.constant(v))) for v in (3, -3)]


def sign(x):
    if x > 0:
        return 1
    return -1


def factorial(n):
    if isinstance(n, int):
        return 1 if n < 2 else n * factorial(n - 1)
    x = 1
    while n > 1:
        x *= n
        n -= 1
    return x


def test_functions():
    assert both(lambda x: sign(x)) == [1, -1]


def test_recursion_on_python_values():
    assert listed(tf.function(lambda x: x * factorial(4))(tf.constant(2))) == 48
    assert listed(tf.function(factorial)(tf.constant(4))) == 24


def test_keyword_and_starred_arguments():
    def g(a, *rest, b=1, **more):
        if a > 0:
            return a + sum(rest) + b + sum(more.values())
        return a

    keywords = {"b": 100, "c": 1000}

    def f(x):
        return g(*[x, 10], **keywords)

    assert both(f) == [1113, -3]


def test_default_arguments():
    def f(x, step=5, *, other=7):
        if x > 0:
            return x + step
        return x + other

    assert both(f) == [8, 4]


def test_nested_functions_and_lambdas():
    def f(x):
        def inner(y):
            if y > 0:
                return outer_sign * 10
            return outer_sign

        outer_sign = sign(x)
        double = lambda y: 2 if y > 0 else -2  # noqa: E731
        return inner(x) + double(x)

    assert both(f) == [12, -3]


def test_closure_cells_are_shared():
    total = 0

    def add(x):
        nonlocal total
        if x > 0:
            total += 1
        return total

    converted = tf.autograph.to_graph(add)
    converted(5)
    assert add(5) == 2
    assert total == 2


def test_methods_and_super():
    class Base:
        def value(self, x):
            if x > 0:
                return 1
            return 2

    class Derived(Base):
        __hidden = 100

        def value(self, x):
            if x > 0:
                return super().value(x) + self.__hidden
            return super().value(x)

        @classmethod
        def of_class(cls, x):
            if x > 0:
                return 7
            return 8

        @staticmethod
        def of_none(x):
            if x > 0:
                return 20
            return 30

    d = Derived()
    assert both(d.value) == [101, 2]
    assert both(lambda x: d.value(x) + d.of_class(x) + Derived.of_none(x)) == [128, 40]


def test_tf_function_as_method():
    class Model:
        def __init__(self):
            self.n = 10

        @tf.function
        def call(self, x):
            if x > 0:
                return x + self.n
            return x

    model = Model()
    assert [listed(model.call(tf.constant(v))) for v in (1, -1)] == [11, -1]


def test_callable_objects_and_partial():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            if x > 0:
                return x * self.k
            return x

    def add(x, y, z=0):
        if x > 0:
            return x + y + z
        return x

    assert both(lambda x: Scale(5)(x)) == [15, -3]
    assert both(Scale(4)) == [12, -3]
    assert both(lambda x: functools.partial(add, y=10, z=100)(x)) == [113, -3]
    assert both(functools.partial(add, y=10)) == [13, -3]


def test_decorated_functions():
    def plus_one(g):
        @functools.wraps(g)
        def wrapper(*args):
            result = g(*args)
            if result > 0:
                result += 1
            return result

        return wrapper

    @plus_one
    def f(x):
        if x > 0:
            return x
        return -10

    assert both(f) == [4, -10]
    assert both(lambda x: f(x)) == [4, -10]


def test_classes_defined_and_constructed_inside():
    def f(x):
        class Pair:
            def __init__(self, a):
                self.a = a

            def sign(self):
                if self.a > 0:
                    return 1
                return -1

        names.append(Pair.__qualname__)
        names.append(Pair.sign.__qualname__)
        return Pair(x).sign()

    names = []
    assert both(f) == [1, -1]
    start = "test_classes_defined_and_constructed_inside.<locals>.f.<locals>.Pair"
    assert names == [start, f"{start}.sign"]


def test_generators_and_context_managers_run_unconverted():
    events = []

    @contextlib.contextmanager
    def scope():
        events.append("in")
        yield 5
        events.append("out")

    def f(x):
        total = 0
        with scope() as five:
            for n in (i * 2 for i in range(3)):
                if x > 0:
                    total += n + five
        return total

    assert both(f) == [21, 0]
    assert events == ["in", "out"]


def test_do_not_convert():
    @tf.autograph.experimental.do_not_convert
    def python(x):
        if x > 0:
            return 1
        return 2

    def f(x):
        return python(x)

    with pytest.raises(TypeError, match="Python `bool` is not allowed"):
        tf.function(f)(tf.constant(1))
    with pytest.raises(TypeError, match="Python `bool` is not allowed"):
        tf.function(python)(tf.constant(1))
    assert tf.autograph.experimental.do_not_convert()(python)(3) == 1
    assert python.__name__ == "python"


def test_nested_do_not_convert():
    def f(x):
        @tf.autograph.experimental.do_not_convert
        def inner(y):
            return "kept" if y is not None and isinstance(y, int) else "other"

        return x if inner(1) == "kept" else -x

    assert both(f) == [3, -3]


def test_autograph_off():
    def f(x):
        if x > 0:
            return 1
        return 2

    with pytest.raises(TypeError, match="Python `bool` is not allowed"):
        tf.function(f, autograph=False)(tf.constant(1))


def test_nested_tf_functions():
    @tf.function
    def inner(x):
        if x > 0:
            return x * 2
        return x

    assert both(lambda x: inner(x) + inner(-x)) == [3, 3]


def test_functions_given_to_the_package():
    def f(x):
        def step(total, v):
            if v > 1:
                return total + v
            return total

        mapped = tf.map_fn(lambda v: v * 2 if v > 1 else v, tf.stack([x, 1]))
        folded = tf.foldl(step, tf.stack([x, 1, 2]), 0)
        chosen = tf.cond(x > 0, lambda: 100 if x > 2 else 200, lambda: 300)
        return tf.reduce_sum(mapped) + folded + chosen

    assert both(f) == [7 + 5 + 100, -2 + 2 + 300]


def test_python_side_effects_happen_once_per_trace():
    seen = []

    @tf.function
    def f(x):
        seen.append(1)
        print("tracing", end="")
        return x

    for _ in range(3):
        f(tf.constant(1))
    assert seen == [1]


def test_locals_and_eval_see_the_function():
    def f(x):
        y = 3
        return x + eval("y") + len(locals())

    assert listed(tf.function(f)(tf.constant(1))) == 1 + 3 + 2


def test_layers_and_models():
    class Gate(tf.keras.layers.Layer):
        def call(self, x, training=None):
            if tf.reduce_sum(x) > 0:
                x = x * 2.0
            if training:
                x = x + 100.0
            return x

    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.gate = Gate()

        def call(self, x):
            y = self.gate(x)
            for _ in tf.range(2):
                y = self.gate(y)
            return y

    model = Model()
    g = tf.function(lambda x: model(x))
    assert listed(g(tf.constant([[1.0]]))) == [[8.0]]
    assert listed(g(tf.constant([[-1.0]]))) == [[-1.0]]
    assert listed(tf.function(model)(tf.constant([[1.0]]))) == [[8.0]]


def test_modules():
    class Clip(tf.Module):
        def __init__(self):
            super().__init__()
            self.limit = tf.Variable(3)

        @tf.function
        def __call__(self, x):
            if x > self.limit:
                return self.limit.read_value()
            return x

    clip = Clip()
    assert [listed(clip(tf.constant(v))) for v in (5, 1)] == [3, 1]
    clip.limit.assign(4)
    assert listed(clip(tf.constant(5))) == 4
