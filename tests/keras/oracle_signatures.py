"""The arguments of Keras's public functions, classes and methods: what tapeflow and TensorFlow are compared by.

    python oracle_signatures.py tensorflow|tapeflow FILE [NAMES]

writes {name: [[argument, kind, default], ...]} to a file, as JSON; of all public names of Keras 3, or of those that
the file NAMES, written before, has.
"""

import functools
import importlib
import inspect
import json
import pkgutil
import sys


def arguments(value):
    """The arguments of a function or class; None where Python does not know them."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    return [[each.name, each.kind.name, default(each)] for each in found]


def default(parameter):
    """The text of a default; "" for none, "object" for one that has no text of its own."""
    value = parameter.default
    if value is inspect.Parameter.empty:
        return ""
    if isinstance(value, (tuple, list)) and len(set(value)) == 1:
        value = value[0]  # The strides (1, 1) are the strides 1.
    return repr(value) if value is None or isinstance(value, (bool, int, float, str, tuple)) else "object"


def public(module, name):
    """The names of the functions and classes of a module and of the modules below it, and of their methods."""
    for key, value in sorted(vars(module).items()):
        if key.startswith("_") or not callable(value):
            continue
        yield f"{name}.{key}"
        if inspect.isclass(value) and not issubclass(value, (dict, BaseException)):
            for member in dir(value):
                method = getattr(value, member, None)
                if not member.startswith("_") and callable(method) and not inspect.isclass(method):
                    yield f"{name}.{key}.{member}"
    for below in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if below.name not in ("src", "legacy"):
            yield from public(importlib.import_module(f"{module.__name__}.{below.name}"), f"{name}.{below.name}")


def main(package, file, names=None):
    tf = importlib.import_module(package)
    if names is None:
        names = list(public(importlib.import_module("keras._tf_keras.keras"), "keras"))
    else:
        with open(names) as lines:
            names = list(json.load(lines))
    found = {}
    for name in names:
        value = functools.reduce(lambda value, part: getattr(value, part, None), name.split("."), tf)
        if value is not None:
            found[name] = arguments(value)
    with open(file, "w") as out:
        json.dump(found, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
