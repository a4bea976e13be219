"""Random calls of public functions, as lines of Python that `oracle_calls.py` runs.

    python random_calls.py --seed 1 --calls 3000 [--names math,linalg.trace] FILE

Which arguments are tried follows from the names and defaults of a function's parameters, from what the attrs of rows
may be, and from the samples of the row that is called like the function. Calls that succeed are kept and changed one
argument at a time, so that most calls get past the first checks.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import math
import pathlib
import pkgutil
import re
import warnings

import numpy as np

import tapeflow as tf
import tapeflow.ops
from tapeflow.core.dtypes import DType
from tapeflow.ops.table import REGISTRY

# Functions and namespaces that act on the process, on files, devices or services, or are of Keras.
EFFECTS = """
    __internal__ autograph compat config control_dependencies custom_gradient data debugging.disable_check_numerics
    debugging.disable_traceback_filtering debugging.enable_check_numerics debugging.enable_traceback_filtering
    debugging.experimental debugging.set_log_device_placement device distribute experimental feature_column function
    get_logger grad_pass_through graph_util init_scope initializers io.gfile io.matching_files io.read_file
    io.write_file io.write_graph keras lite load_library load_op_library lookup losses metrics mlir name_scope
    no_gradient numpy_function optimizers print profiler py_function queue random.create_rng_state
    random.experimental.Generator random.experimental.create_rng_state random.experimental.get_global_generator
    random.experimental.set_global_generator random.get_global_generator random.set_global_generator random.set_seed
    recompute_grad saved_model summary sysconfig test timestamp tpu train types version while_loop xla
"""
DTYPES = (
    "float32 float32 float32 float64 float16 bfloat16 int32 int32 int64 int8 uint8 int16 uint16 uint32 uint64 bool "
    "complex64 complex128 string"
)
FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    -2.5,
    3.7,
    10.0,
    1e-8,
    1e20,
    math.nan,
    math.inf,
    -math.inf,
)
SIDES = (0, 1, 1, 2, 2, 3, 3, 4, 5)
TEXTS = (
    b"",
    b"a",
    b"0",
    b"-1.5",
    b"a b,c",
    b"\xff\xfe",
    "ä€".encode(),
    b"7",
    b"hello world",
    b"MTIz",
)
# What the names of parameters say, by pattern: a method of Draw.
KINDS = (
    (r"name|message", "nothing"),
    (r"dtype|out_?type|output_type|out_idx|internal_type|row_splits_dtype|accumulate_dtype", "dtype"),
    (r"axis|axes|dims?|batch_dims?|perm|dim|exclude|seq_dim|batch_axis", "axis"),
    (r"keepdims", "boolean"),
    (r"shape|size|sizes|output_shape|dense_shape|multiples|target_shape|new_shape|ksize|strides?|dilations?|rates?"
     r"|begin|paddings|block_shape|crop_size|shift|repeats|num_or_size_splits|frame_length|frame_step|fft_length"
     r"|minlength|maxlength|lengths|row_lengths|row_splits|nested_row_splits|seed", "sizes"),
    (r"num_.*|n|k|depth|.*_height|.*_width|height|width|maxlen|max_.*|min_.*|.*_bits|rank|ndims?|nrows|precision"
     r"|stop|limit|start|delta|num|N|length|bins|nbins|pos|len|rows|columns|iterations|lower|upper|num", "count"),
    (r".*indices|.*ids|labels|positions|values_rowids|value_rowids|sequence_length|.*_index|box_ind.*", "indices"),
    (r"fn|func|function|f|body|cond|true_fn|false_fn|initializer|predicate", "function"),
    (r"mask|condition|pred|which|.*_mask|where", "mask"),
    (r"images?|.*image.*|boxes|rgb|grayscale|hsv", "image"),
    (r"tensors|inputs|values_list|arrays|structure|data|values|operands|sequences", "list_or_array"),
    (r"equation", "equation"),
)  # fmt: skip


def public_functions():
    """Names and parameters of TensorFlow's public functions that are pure."""
    for line in pathlib.Path(__file__).with_name("tf2.txt").read_text().splitlines():
        found = re.fullmatch(r"([\w.]+)\((.*)\)", line)
        if found and not any(
            found[1] == each or found[1].startswith(each + ".") for each in EFFECTS.split()
        ):
            yield found[1]
    for name in dir(tf.experimental.numpy):
        if name[0] != "_" and inspect.isfunction(getattr(tf.experimental.numpy, name)):
            yield f"experimental.numpy.{name}"


def rows_by_function():
    """Rows by their names in lower case."""
    for module in pkgutil.walk_packages(tapeflow.ops.__path__, "tapeflow.ops."):
        importlib.import_module(module.name)
    return {re.sub(r"v\d$", "", name.lower()): row for name, row in REGISTRY.items()}


class Generator:
    """What samples draw from."""

    def __init__(self):
        self.numbers = np.random.default_rng(7)

    def normal(self, *shape):
        return np.asarray(self.numbers.normal(size=shape))


class Array:
    """An argument that is an array, and how it is written."""

    def __init__(self, values, dtype, form="array"):
        self.values = np.asarray(
            values, object if dtype == "string" else None
        )  # bfloat16 as float32
        self.dtype = dtype
        self.form = form

    def __str__(self):
        values = self.values.tolist()
        if self.form == "list":
            return text(values)
        if self.form == "python" and self.values.ndim == 0:
            return text(values)
        if (
            self.form == "scalar"
            and self.values.ndim == 0
            and self.dtype not in ("string", "bfloat16")
        ):
            return f"np.{self.dtype if self.dtype != 'bool' else 'bool_'}({text(values)})"
        inner = text(values)
        if not self.values.size:
            inner = f"np.zeros({self.values.shape})"
            if self.dtype == "string":
                return f"tf.zeros({self.values.shape}, tf.string)"
        if self.form == "tensor" and self.values.size:
            return f"tf.constant({inner}, tf.{self.dtype})"
        if self.form == "variable":
            return (
                f"tf.Variable(array({inner}, '{self.dtype}'))"
                if self.dtype != "string"
                else f"tf.Variable({inner})"
            )
        return f"array({inner}, '{self.dtype}')"


def text(value):
    """A value as Python writes it."""
    if isinstance(value, Array):
        return str(value)
    if isinstance(value, DType):
        return f"tf.{value.name}"
    if isinstance(value, Source):
        return value.text
    if isinstance(value, (list, tuple)):
        inner = ", ".join(text(each) for each in value)
        return (
            f"[{inner}]"
            if isinstance(value, list)
            else f"({inner}{',' if len(value) == 1 else ''})"
        )
    if isinstance(value, np.ndarray):
        return str(of_array(value))
    if isinstance(value, np.generic):
        return text(value.item())
    return repr(value)


class Source:
    """An argument that is written as it is."""

    def __init__(self, text):
        self.text = text


def of_array(value):
    """An Array of an array that a sample has."""
    if value.dtype.kind in "OSU":
        return Array(value, "string")
    name = tf.as_dtype(value.dtype).name
    return Array(value.astype(np.float32) if name == "bfloat16" else np.round(value, 3), name)


class Draw:
    """Draws arguments; the same seed draws the same ones."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        # By the name of an attr: the strings that it may be.
        self.choices = {
            attr: kind.choices
            for row in REGISTRY.values()
            for attr, kind in row.attrs.items()
            if kind.choices
        }

    def pick(self, choices):
        return choices[self.rng.integers(len(choices))]

    def chance(self, share):
        return self.rng.random() < share

    def call(self):
        """What the arrays of one call have in common."""
        self.dtype_name = self.pick(DTYPES.split())
        self.shape = tuple(self.pick(SIDES) for _ in range(self.pick((0, 1, 1, 2, 2, 2, 3, 3, 4))))
        while math.prod(self.shape) > 48:
            self.shape = self.shape[1:]

    def array(self, dtype=None, shape=None):
        """An array, mostly of the call's dtype and shape."""
        rng = self.rng
        if dtype is None:
            dtype = self.dtype_name if self.chance(0.9) else self.pick(DTYPES.split())
        if shape is None:
            shape = self.pick((self.shape,) * 5 + (self.shape[1:], (), self.shape[::-1]))
            if self.chance(0.15):
                shape = tuple(1 if self.chance(0.5) else n for n in shape)
        if dtype == "string":
            values = np.empty(shape, object)
            values.ravel()[:] = [self.pick(TEXTS) for _ in range(values.size)]
        elif dtype == "bool":
            values = rng.integers(0, 2, shape).astype(bool)
        elif "int" in dtype:
            signed = dtype[0] != "u"
            values = rng.integers(
                -4 if signed and self.chance(0.5) else 0, self.pick((3, 5, 10)), shape
            )
        else:
            values = np.round(rng.normal(size=shape) * self.pick((1, 1, 1, 10)), 2)
            if "complex" in dtype:
                values = values + 1j * np.round(rng.normal(size=shape), 2)
            elif self.chance(0.3):
                values = np.where(rng.random(shape) < 0.5, rng.choice(FLOATS, shape), values)
            elif self.chance(0.2):
                values = np.clip(np.abs(values), 0, 1)
        form = self.pick(
            ("array", "array", "tensor", "tensor", "tensor", "list", "python", "scalar")
        )
        if self.chance(0.03):
            form = "variable"
        return Array(np.asarray(values), dtype, form)

    def argument(self, name, default):
        """A value for a parameter."""
        for pattern, kind in KINDS:
            if re.fullmatch(pattern, name):
                if self.chance(0.03):
                    break
                return getattr(self, kind)()
        if isinstance(default, bool):
            return self.boolean()
        if name in self.choices:
            return self.pick(self.choices[name])
        if isinstance(default, int):
            return self.count()
        if isinstance(default, float):
            return self.pick((*FLOATS, 0.1, 1, True))
        if isinstance(default, str):
            return default if self.chance(0.8) else self.pick(("", "x", default.upper()))
        return self.array()

    def nothing(self):
        return self.pick((None, None, "some_name"))

    def dtype(self):
        return tf.as_dtype(self.pick(DTYPES.split()))

    def boolean(self):
        return self.pick((True, False, True, False, 1, np.True_))

    def axis(self):
        one = self.pick((0, 1, -1, -1, 2, -2, None, 3))
        rank = len(self.shape)
        if self.chance(0.25):
            axes = [int(each) for each in self.rng.permutation(max(rank, 1))]
            return self.pick((axes, axes[:1], tuple(axes), axes[:2]))
        array = Array(
            np.array(one or 0),
            self.pick(("int32", "int64")),
            self.pick(("array", "tensor", "scalar")),
        )
        return self.pick((one, one, one, array))

    def sizes(self):
        several = [self.pick((0, 1, 1, 2, 2, 3, 4, -1)) for _ in range(self.pick((1, 2, 2, 3, 4)))]
        if self.chance(0.2):
            several = list(self.shape)
        if self.chance(0.15):
            several = [[self.pick((0, 1, 2)), self.pick((0, 1, 2))] for _ in self.shape]
        forms = [
            several,
            several,
            tuple(several) if several and isinstance(several[0], int) else several,
        ]
        forms += [
            Array(np.array(several), self.pick(("int32", "int64")), self.pick(("array", "tensor"))),
            self.count(),
        ]
        return self.pick(forms)

    def count(self):
        n = self.pick((0, 1, 1, 2, 2, 3, 4, 5, 8, -1))
        return self.pick((n, n, n, n, Array(np.array(n), self.pick(("int32", "int64", "float32")),
                                            self.pick(("scalar", "tensor"))), float(n), True))  # fmt: skip

    def indices(self):
        shape = self.pick((self.shape, self.shape[:1], self.shape[:-1], (3,), ()))
        values = self.rng.integers(0, self.pick((1, 2, 3)), shape)
        if self.chance(0.6):
            values = np.sort(values, axis=None).reshape(values.shape)
        if self.chance(0.1):
            values = values - 1
        return Array(
            values,
            self.pick(("int32", "int32", "int64", "uint8")),
            self.pick(("array", "tensor", "list")),
        )

    def mask(self):
        return self.array("bool")

    def function(self):
        return Source(
            self.pick(("lambda *a: a[0]", "lambda *a: a[0] + a[-1]", "lambda *a: tf.constant(1.0)"))
        )

    def image(self):
        shape = tuple(self.pick((1, 2, 3, 4)) for _ in range(2)) + (self.pick((1, 3, 3, 4)),)
        if self.chance(0.4):
            shape = (self.pick((0, 1, 2)), *shape)
        return self.array(
            self.pick(("float32", "float32", "uint8", "int32", "float64", self.dtype_name)), shape
        )

    def list_or_array(self):
        if self.chance(0.5):
            return self.array()
        return [self.array() for _ in range(self.pick((0, 1, 2, 2, 3)))]

    def equation(self):
        return self.pick(
            ("ij,jk->ik", "ij->ji", "ii", "i,i->", "...i->...", "ij,ij->i", "i,j->ij", "ij")
        )

    def changed(self, value):
        """A value a little different from one that worked."""
        if isinstance(value, Source) or value is None:
            return value
        if isinstance(value, (list, tuple)) and value and self.chance(0.5):
            i = self.rng.integers(len(value))
            return type(value)([*value[:i], self.changed(value[i]), *value[i + 1 :]])
        if isinstance(value, bool):
            return self.boolean()
        if isinstance(value, int):
            return self.pick(
                (value + 1, value - 1, -value, float(value), np.array(value), self.count())
            )
        if isinstance(value, float):
            rounded = math.floor(value) if math.isfinite(value) else 0
            return self.pick(
                (*FLOATS, -value, rounded, Array(np.array(value), "float32", "scalar"))
            )
        if isinstance(value, np.ndarray):
            value = of_array(value)
        if not isinstance(value, Array):
            return value
        v, dtype, form = value.values, value.dtype, value.form
        what = self.rng.integers(8)
        if what == 0:
            dtype = self.pick(DTYPES.split())
            if "string" in (dtype, value.dtype) or "complex" in value.dtype:
                dtype = value.dtype
            if "float" in value.dtype and "int" in dtype:
                v = np.nan_to_num(np.trunc(v), nan=0, posinf=9, neginf=-9)
                v = np.abs(v) % 100 if dtype[0] == "u" else np.clip(v, -100, 100)
                v = v.astype(np.int64)
            elif "int" in dtype:
                v = np.abs(v.astype(np.int64))
            elif dtype == "bool":
                v = v.astype(bool)
        elif what == 1:
            form = self.pick(("array", "tensor", "list", "python", "scalar", "variable"))
        elif what == 2 and v.ndim:
            v = np.moveaxis(v, 0, -1)
        elif what == 3 and v.ndim:
            axis = self.rng.integers(v.ndim)
            v = (
                np.take(v, range(self.pick((0, 1, v.shape[axis] // 2))), axis)
                if v.shape[axis]
                else v
            )
        elif what == 4:
            v = v[None] if self.chance(0.5) or not v.ndim else v[..., None]
        elif what == 5 and v.size and v.ndim:
            v = v[0]
        elif what == 6 and v.dtype.kind == "f" and "float" in dtype:
            v = np.where(self.rng.random(v.shape) < 0.3, self.rng.choice(FLOATS, v.shape), v)
        elif what == 7 and v.dtype.kind in "fi":
            v = -v if dtype[0] != "u" else v
        return Array(v, dtype, form)


class Caller:
    """Makes the calls of one function."""

    def __init__(self, name, draw, row, how=""):
        self.name, self.draw, self.how = name, draw, how
        self.function = tf
        for part in name.split("."):
            self.function = getattr(self.function, part)
        self.parameters = [
            each
            for each in inspect.signature(self.function).parameters.values()
            if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        ]
        self.worked = list(self.samples(row)) if row else []

    def samples(self, row):
        """Arguments by parameter from the samples of the row."""
        if row.sample_source is None:
            return
        names = [each.name for each in self.parameters]
        for sample in row.sample_source(Generator()):
            values = [of_array(v) if isinstance(v, np.ndarray) else v for v in sample.inputs]
            given = dict(zip(names, values, strict=False))
            given.update({k: v for k, v in sample.attrs.items() if k in names})
            if sum(each.values.size for each in given.values() if isinstance(each, Array)) < 200:
                yield given

    def arguments(self):
        """Arguments by parameter."""
        draw = self.draw
        draw.call()
        if self.worked and draw.chance(0.7):
            given = dict(draw.pick(self.worked))
            for name in given:
                if name != "name" and draw.chance(0.4):
                    given[name] = draw.changed(given[name])
            if self.parameters and draw.chance(0.3):
                added = draw.pick(self.parameters)
                given[added.name] = draw.argument(added.name, self.default(added))
            return given
        given = {}
        for each in self.parameters:
            if each.default is each.empty or draw.chance(0.25):
                given[each.name] = draw.argument(each.name, self.default(each))
        return given

    @staticmethod
    def default(parameter):
        return None if parameter.default is parameter.empty else parameter.default

    def line(self, given):
        """The call as Python, in one of the ways to make it."""
        draw, parts, tensors, positional = self.draw, [], [], True
        how = self.how or ("in_function" if draw.chance(0.15) else "gradient" if draw.chance(0.1) else "")
        traced, differentiated = how in ("in_function", "unknown"), how == "gradient"
        keywords = draw.chance(0.3)
        for each in self.parameters:
            if each.name not in given:
                positional = False
                continue
            value = given[each.name]
            written = text(value)
            if isinstance(value, Array) and (
                (traced and value.form in ("tensor", "array"))
                or (
                    differentiated
                    and value.form == "tensor"
                    and value.dtype in ("float32", "float64")
                )
            ):
                tensors.append(written)
                written = f"v{len(tensors)}"
            named = each.kind == each.KEYWORD_ONLY or not positional
            if not named and keywords and each.kind == each.POSITIONAL_OR_KEYWORD and parts:
                named = True
            positional = positional and not named
            parts.append(f"{each.name}={written}" if named else written)
        call = f"tf.{self.name}({', '.join(parts)})"
        if not tensors:
            return call
        names = ", ".join(f"v{i + 1}" for i in range(len(tensors)))
        return f"{how}(lambda {names}: {call}, {', '.join(tensors)})"


def lines(seed, calls, wanted, known, run, how=""):
    """So many random calls, spread over the functions evenly; with `how`, only those that can be made so."""
    draw, rows, callers = Draw(seed), rows_by_function(), []
    for name in public_functions():
        if wanted and not any(name == each or name.startswith(each + ".") for each in wanted):
            continue
        try:
            callers.append(Caller(name, draw, rows.get(name.rsplit(".", 1)[-1].replace("_", "")), how))
        except (AttributeError, ValueError, TypeError):
            continue  # not here; other tests count what is missing
    made = 0
    while True:
        for each in callers:
            for _ in range(3):
                given = each.arguments()
                line = each.line(given)
                if "\n" in line or len(line) > 1500:
                    continue
                if how and not line.startswith(how + "("):
                    if len(each.worked) < 40 and run(line):
                        each.worked.append(given)
                    continue
                # One call in eight may fail; failures all look alike.
                ok = run(line)
                if ok and len(each.worked) < 40:
                    each.worked.append(given)
                if ok or draw.chance(0.12):
                    yield line
                    made += 1
                    if made >= calls:
                        return
                    break


def main():
    """Write random calls to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--names", default="", help="functions and namespaces, with commas")
    parser.add_argument("--how", default="", choices=("", "in_function", "gradient", "unknown"))
    parser.add_argument("file")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    import oracle_calls

    known = oracle_calls.names(tf)

    def run(line):
        return "value" in oracle_calls.answer(tf, known, line)

    wanted = [each for each in given.names.split(",") if each]
    with open(given.file, "w") as file:
        for line in lines(given.seed, given.calls, wanted, known, run, given.how):
            file.write(line + "\n")
            file.flush()


if __name__ == "__main__":
    main()
