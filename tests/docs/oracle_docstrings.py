"""Runs the examples in docstrings of TensorFlow and Keras: `oracle_docstrings.py PACKAGE EXAMPLES RESULTS`.

PACKAGE is "tensorflow", which also collects the examples of its own files into EXAMPLES, or "tapeflow". RESULTS has,
for each docstring, what each example printed, or the class of what it raised.
"""

import ast
import contextlib
import doctest
import io
import json
import os
import pathlib
import signal
import sys
import tempfile

import numpy as np

SECONDS = 60


def collect():
    """(name, docstring) of all functions and classes of TensorFlow and Keras that have examples."""
    import keras
    import tensorflow

    found = []
    for package, folder in ((tensorflow, "python"), (keras, "src")):
        root = pathlib.Path(package.__file__).parent / folder
        for file in sorted(root.rglob("*.py")):
            if not file.name.endswith("_test.py"):
                module = ".".join((package.__name__, folder, *file.relative_to(root).with_suffix("").parts))
                found += [(f"{module}:{name}", text) for name, text in documented(ast.parse(file.read_text()), "")]
    return found


def documented(node, prefix):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            name = f"{prefix}.{child.name}".lstrip(".")
            text = ast.get_docstring(child)
            if text and ">>>" in text:
                yield name, text
            yield from documented(child, name)
        elif isinstance(child, (ast.If, ast.Try, ast.With)):
            yield from documented(child, prefix)


def results(text, names):
    """[(source, printed, class of what was raised or None)] of a docstring's examples."""
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:  # of no docstring that can be run
        return []
    found = []
    for example in examples:
        printed, raised = io.StringIO(), None
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(example.source, "<docstring>", "single"), names)
            except BaseException as error:
                raised = type(error).__name__
        found.append((example.source, printed.getvalue(), raised))
    return found


def in_a_process_of_its_own(text, names):
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        signal.alarm(SECONDS)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        with tempfile.TemporaryDirectory() as folder, os.fdopen(writing, "w") as file:
            os.chdir(folder)
            np.random.seed(1)  # whether an example can run may depend on what it draws
            file.write(json.dumps(results(text, names)))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        found = file.read()
    os.waitpid(process, 0)
    return json.loads(found) if found else None


def main(package, examples, file):
    if package == "tapeflow":
        from tapeflow.alias import install_as_tensorflow

        install_as_tensorflow()
    import tensorflow as tf

    if package == "tensorflow":
        pathlib.Path(examples).write_text(json.dumps(collect()))
    names = {"tf": tf, "np": np, "keras": tf.keras, "os": os}
    found = {
        name: in_a_process_of_its_own(text, dict(names))
        for name, text in json.loads(pathlib.Path(examples).read_text())
    }
    pathlib.Path(file).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
