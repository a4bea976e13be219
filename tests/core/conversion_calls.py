"""What lists of two values become, as a table: `python conversion_calls.py` prints TensorFlow's."""

import numpy as np

VALUES = {
    "T": True, "1": 1, "big": 2**40, "1.": 1.5, "1j": 1j, "a": "a",
    "nT": np.True_, "ni32": np.int32(3), "nbig": np.int64(2**40), "nu8": np.uint8(3), "nf16": np.float16(2.5),
    "nf32": np.float32(2.5), "nf64": np.float64(2.5), "nc64": np.complex64(1j), "nstr": np.str_("b"),
    "a0": np.array(2.5), "a1": np.array([1.5]), "[1]": [1],
}  # fmt: skip
DTYPES = (
    None, "float32", "float16", "int32", "int8", "uint64", "bfloat16", "complex64", "complex128", "bool", "string",
)  # fmt: skip
SHORT = {"float": "f", "int": "i", "complex": "c", "string": "str", "uint": "u", "bfloat": "b"}


def cell(tf, first, second, dtype):
    """The dtype of the tensor, or V for ValueError and T for TypeError."""
    try:
        name = tf.constant([first, second], dtype).dtype.name
    except (ValueError, TypeError) as error:
        return type(error).__name__[0]
    kind = name.rstrip("0123456789")
    return SHORT.get(kind, kind) + name[len(kind) :]


def table(tf, dtype):
    rows = [["", *VALUES]]
    rows += [[label, *(cell(tf, first, x, dtype) for x in VALUES.values())] for label, first in VALUES.items()]
    return "\n".join(" ".join(f"{x:>4}" for x in row) for row in rows)


def tables(tf):
    return {str(dtype): table(tf, dtype) for dtype in DTYPES}


if __name__ == "__main__":
    import tensorflow

    for name, text in tables(tensorflow).items():
        print(f"[{name}]\n{text}")
