"""Random programs of nested branches, loops and jumps on whole numbers, whose Python meaning is the reference."""

import linecache
import random
import re

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.function.autograph import tf_convert

VARIABLES = ("a", "b", "c")


class Program:
    """The source of one function `f(a, b, c)`, and the function compiled from it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = list(VARIABLES)
        self.count = 0
        self.lines = ["def f(a, b, c):"]
        self.block(1, loops=0, budget=self.random.randint(3, 7))
        self.lines.append(f"    return {self.expression()}")
        self.source = "\n".join(self.lines) + "\n"

    def make_differentiable(self):
        """Lets the program change and return another argument, a float `x`, wherever it assigns a number."""
        lines = []
        for line in self.lines:
            line = line.replace("def f(a, b, c):", "def f(a, b, c, x):")
            lines.append(re.sub(r"^( *)return .*", r"\1return x", line))
            assignment = re.match(r"( *)(a|b|c) \+?= ", line)
            if assignment:
                indent, name = assignment.groups()
                step = f"tf.sin(x) * 1.1 + tf.cast({name}, tf.float32) * x * 0.05"
                lines.append(f"{indent}x = {step}")
        self.source = "\n".join(lines) + "\n"

    def compile(self):
        name = f"<random program {id(self)}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        scope = {"__name__": "random_program", "tf": tf}
        exec(compile(self.source, name, "exec"), scope)
        return scope["f"]

    def new_name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def emit(self, depth, text):
        self.lines.append("    " * depth + text)

    # Expressions.

    def operand(self):
        r = self.random
        return r.choice(self.names) if r.random() < 0.7 else str(r.randint(-2, 5))

    def expression(self):
        r = self.random
        kind = r.randint(0, 7)
        if kind == 0:
            return self.operand()
        if kind == 1:
            return f"({self.operand()} if {self.condition()} else {self.operand()})"
        if kind == 2:
            return f"{r.choice(['max', 'min'])}({self.operand()}, {self.operand()})"
        if kind == 3:
            return f"abs({self.operand()})"
        return f"({self.operand()} {r.choice('+-*')} {self.operand()}) % 11"

    def condition(self, depth=0):
        r = self.random
        kind = r.randint(0, 9) if depth < 2 else 0
        if kind == 7:
            return f"not ({self.condition(depth + 1)})"
        if kind == 8:
            sign = r.choice(["and", "or"])
            return f"({self.condition(depth + 1)} {sign} {self.condition(depth + 1)})"
        if kind == 9:
            return f"{self.operand()} < {self.operand()} <= {self.operand()}"
        return f"{self.operand()} {r.choice(['<', '>', '==', '!=', '<=', '>='])} {self.operand()}"

    # Statements.

    def block(self, depth, loops, budget):
        start = len(self.lines)
        for _ in range(self.random.randint(1, 4)):
            self.statement(depth, loops, budget)
        if len(self.lines) == start:
            self.emit(depth, "pass")

    def statement(self, depth, loops, budget):
        r = self.random
        kind = r.random()
        if depth > 4 or kind < 0.35 or len(self.lines) > 12 * budget:
            target = r.choice(VARIABLES)
            if r.random() < 0.5:
                self.emit(depth, f"{target} = {self.expression()}")
            else:
                self.emit(depth, f"{target} += {self.operand()}")
        elif kind < 0.6:
            self.branch(depth, loops, budget)
        elif kind < 0.72:
            self.while_loop(depth, loops, budget)
        elif kind < 0.84:
            self.for_loop(depth, loops, budget)
        elif kind < 0.87:
            self.emit(depth, "try:")
            self.block(depth + 1, loops, budget)
            self.emit(depth, "finally:")
            self.emit(depth + 1, f"{r.choice(VARIABLES)} += 1")
        elif kind < 0.9:
            name = self.new_name("t")
            self.emit(depth, f"{name} = {self.expression()}")
            self.emit(depth, f"{r.choice(VARIABLES)} = {name} % 7")
        elif loops and kind < 0.96:
            self.emit(depth, f"if {self.condition()}:")
            self.emit(depth + 1, r.choice(["break", "continue"]))
        elif kind >= 0.96:
            self.emit(depth, f"if {self.condition()}:")
            self.emit(depth + 1, f"return {self.expression()}")

    def branch(self, depth, loops, budget):
        r = self.random
        self.emit(depth, f"if {self.condition()}:")
        self.block(depth + 1, loops, budget)
        self.jump(depth + 1, loops)
        while r.random() < 0.3:
            self.emit(depth, f"elif {self.condition()}:")
            self.block(depth + 1, loops, budget)
            self.jump(depth + 1, loops)
        if r.random() < 0.5:
            self.emit(depth, "else:")
            self.block(depth + 1, loops, budget)
            self.jump(depth + 1, loops)

    def jump(self, depth, loops):
        kind = self.random.random()
        if kind < 0.08:
            self.emit(depth, f"return {self.expression()}")
        elif loops and kind < 0.22:
            self.emit(depth, self.random.choice(["break", "continue"]))

    def while_loop(self, depth, loops, budget):
        counter = self.new_name("w")
        self.emit(depth, f"{counter} = {self.random.choice(['0', 'a * 0'])}")
        test = f"{counter} < {self.random.randint(1, 4)}"
        if self.random.random() < 0.5:
            test += f" and {self.condition()}"
        self.emit(depth, f"while {test}:")
        self.emit(depth + 1, f"{counter} += 1")
        self.loop_body(depth, loops, budget, counter)

    def for_loop(self, depth, loops, budget):
        index = self.new_name("i")
        r = self.random
        count = r.choice([str(r.randint(0, 3)), f"{self.operand()} % 4", f"{self.operand()} % 3"])
        if r.random() < 0.3:
            count = f"1, {count}"
        self.emit(depth, f"for {index} in range({count}):")
        self.loop_body(depth, loops, budget, index)

    def loop_body(self, depth, loops, budget, variable):
        self.names.append(variable)
        self.block(depth + 1, loops + 1, budget)
        self.jump(depth + 1, loops + 1)
        self.names.remove(variable)
        if self.random.random() < 0.2:
            self.emit(depth, "else:")
            self.block(depth + 1, loops, budget)


ARGUMENTS = [(a, b, c) for a in (-1, 0, 2) for b in (0, 3) for c in (1, 5)]


def check(seed):
    program = Program(seed)
    f = program.compile()
    expected = [f(*x) for x in ARGUMENTS]
    plain = tf_convert(f)
    assert plain is not f
    assert [plain(*x) for x in ARGUMENTS] == expected, program.source
    staged = tf.function(f, input_signature=[tf.TensorSpec([], tf.int32)] * 3)
    found = [int(staged(*map(tf.constant, x))) for x in ARGUMENTS]
    assert found == expected, program.source
    assert staged.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("seed", range(40))
def test_converted_programs_do_what_python_does(seed):
    check(seed)


@pytest.mark.parametrize("seed", range(20))
def test_gradients_are_those_of_what_ran(seed):
    program = Program(seed)
    program.make_differentiable()
    f = program.compile()
    numbers = [tf.TensorSpec([], tf.int32)] * 3
    staged = tf.function(f, input_signature=[*numbers, tf.TensorSpec([], tf.float32)])
    for arguments in ARGUMENTS[::4]:
        found = []
        for g, integers in ((f, arguments), (staged, map(tf.constant, arguments))):
            x = tf.constant(0.7)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = g(*integers, x)
            found.append([float(y), float(tape.gradient(y, x))])
        np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-6, err_msg=program.source)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 2000, 100))
def test_many_converted_programs_do_what_python_does(start):
    for seed in range(start, start + 100):
        check(seed)
