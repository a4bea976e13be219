"""What TensorFlow answers to each call of `answers.txt`, eagerly and in a function: run by a Python that has it.

    python answers.py > answers.json
"""

import json
import os
import re
from pathlib import Path

CALLS = [line for line in Path(__file__).with_suffix(".txt").read_text().splitlines() if line and line[0] != "#"]


def said(error):
    """The class and the first line of what an error says, without where it was raised."""
    text = str(error).strip()
    if text.startswith("in user code"):
        text = text.splitlines()[-1].strip()
    if text.startswith("Graph execution error"):
        lines = [line for line in text.splitlines()[1:] if line.strip() and not line.startswith(("Detected", "  File"))]
        lines = [line for line in lines if "[[{{node" not in line]
        text = next((line for line in reversed(lines) if "{{function_node" in line), lines[0])
    text = re.sub(r"\{\{function_node [^}]*\}\} ", "", text).splitlines()[0]
    text = re.sub(r" (\[Op:\w+\]|name:).*$", "", text)  # both packages name the op, at different places
    text = re.sub(r" (with input shapes|for '\{\{node).*$", "", text)
    return f"{type(error).__name__}: {re.sub(rf'^{type(error).__name__}: ', '', text)}"


def shown(value):
    if isinstance(value, (list, tuple)):
        return [shown(v) for v in value]
    if hasattr(value, "numpy") and hasattr(value, "dtype"):
        return [value.dtype.name, str(value.numpy().tolist())]
    return str(value)


def answers(tf, np):
    def answer(call):
        try:
            return shown(call())
        except Exception as error:
            return said(error)

    names = {"tf": tf, "np": np, "R": tf.raw_ops, "v1": tf.compat.v1}
    found = {}
    for text in CALLS:
        call = eval(f"lambda: {text}", names)
        found[text] = [answer(call), answer(lambda call=call: tf.function(call, autograph=False)())]
    return found


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import numpy
    import tensorflow

    print(json.dumps(answers(tensorflow, numpy), indent=0, sort_keys=True))
