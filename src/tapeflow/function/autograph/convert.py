"""Converts functions: once for each code object, however many functions share it."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import types
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any

from tapeflow.api import api
from tapeflow.core.public import boundaries
from tapeflow.function.autograph import operators, source, verbosity
from tapeflow.function.autograph.errors import ConversionError, SourceNotFound
from tapeflow.function.autograph.operators import calls
from tapeflow.function.autograph.operators.calls import cv_builtins, is_left_alone
from tapeflow.function.autograph.templates import statements
from tapeflow.function.autograph.transform import is_generator, transform
from tapeflow.graph import misuse

_NOT_FUNCTIONS = 0x20 | 0x80 | 0x100 | 0x200  # generators and coroutines
_FUTURE = 0x1FF0000  # the flags of `from __future__ import ...`, which hold for a whole file

# (id of a code object, options) -> (the code object, what became of it or why nothing did).
_made: dict[tuple[int, bool, frozenset[str]], tuple[CodeType, CodeType | Exception | None]] = {}
# The code objects that are converted already, with those of nested functions; by identity.
_results: dict[int, CodeType] = {}
_warned: set[int] = set()


def _namespace(recursive: bool) -> Any:
    """What converted code sees as `ag__`."""
    return operators if recursive else _non_recursive()


@functools.cache
def _non_recursive() -> Any:
    given = {name: getattr(operators, name) for name in operators.__all__}
    return types.SimpleNamespace(**{**given, "cv": cv_builtins})


def converted(f: FunctionType, recursive: bool = True, features: frozenset[str] = frozenset()) -> FunctionType:
    """The converted `f`, or `f` itself, after a warning, where that is not possible."""
    code = f.__code__
    if id(code) in _results or code.co_flags & _NOT_FUNCTIONS:
        return f
    known = f.__dict__.get("__autograph__")
    # Wrappers get a copy of the attributes of what they wrap.
    if (
        known is not None
        and known[0] is f
        and known[1:3] == (recursive, features)
        and known[3] is code
    ):
        return known[4]
    made = _convert_code(f, recursive, features)
    if not isinstance(made, CodeType):
        if isinstance(made, Exception):
            _warn_once(f, made)
        return f
    new = _function(f, made, recursive)
    f.__dict__["__autograph__"] = (f, recursive, features, code, new)
    return new


def _warn_once(f: FunctionType, cause: Exception) -> None:
    if id(f.__code__) in _warned:
        return
    _warned.add(id(f.__code__))
    verbosity.warn(
        f"AutoGraph could not transform {f!r} and will run it as-is.\nCause: {cause}\nTo silence this warning, "
        "decorate the function with @tf.autograph.experimental.do_not_convert"
    )


def _convert_code(f: FunctionType, recursive: bool, features: frozenset[str]) -> CodeType | Exception | None:
    code = f.__code__
    key = (id(code), recursive, features)
    hit = _made.get(key)
    if hit is None:
        made: CodeType | Exception | None
        try:
            made = _compile(f, features)
        except SourceNotFound as error:
            # Code from `exec` never has a source; that is nothing to tell about.
            made = None if code.co_filename == "<string>" else error
        except (ConversionError, SyntaxError, RecursionError) as error:
            made = error
        hit = _made[key] = (code, made)
        verbosity.log(1, "Converted %s: %s", f, hit[1])
    return hit[1]


def tree_of(f: FunctionType, features: frozenset[str] = frozenset()) -> ast.AST:
    """The converted definition of `f`. Raises ConversionError."""
    node = source.definition_of(f)
    if is_generator(node):
        raise ConversionError("generators are not converted")
    return transform(node, features)


def _compile(f: FunctionType, features: frozenset[str]) -> CodeType:
    code = f.__code__
    node: Any = tree_of(f, features)
    first = node if isinstance(node, ast.stmt) else None
    if first is None:
        (first,) = statements("ag__lambda = _F_", node, _F_=node)
    owner = _class_of(code)
    if owner is not None:  # for `super`, and for names that begin with two underscores
        (owner_node,) = statements(f"class {owner}: pass", first)
        owner_node.body = [first]  # type: ignore[attr-defined]
        first = owner_node
    # Free variables must be variables of a function around; the name that is defined must not become one.
    free = [n for n in (*code.co_freevars, "ag__") if not (owner and n == "__class__")]
    defined = owner or code.co_name
    outside = f"  global {defined}\n" if defined.isidentifier() and defined not in free else ""
    (outer,) = statements(
        f"def ag__outer():\n{outside}  {' = '.join(free)} = None\n  _DEF_", first, _DEF_=[first]
    )
    tree = ast.Module([outer], [])
    ast.fix_missing_locations(tree)
    compiled = compile(tree, code.co_filename, "exec", code.co_flags & _FUTURE, dont_inherit=True)
    found = _code_named(compiled, "ag__outer")
    if owner is not None:
        found = _code_named(found, owner)
    inner = _code_named(found, code.co_name)
    made = _renamed(inner, code.co_name, inner.co_qualname, code.co_qualname)
    _remember(made)
    return made


def _class_of(code: CodeType) -> str | None:
    """The class in whose body a function is defined, also if it is nested in a method."""
    parts = code.co_qualname.split(".")
    for name, after in zip(reversed(parts[:-1]), reversed(parts[1:]), strict=True):
        if name != "<locals>" and after != "<locals>":
            return name if name.isidentifier() else None
    return None


def _code_named(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


_OWN_FUNCTION = re.compile(r"ag__\w+\.<locals>\.")


def _renamed(code: CodeType, name: str, compiled: str, original: str) -> CodeType:
    """The same code with the names of the program: `original` in the place of the qualified name `compiled`.

    The blocks of a function carry the function's name, as tracebacks show it.
    """

    def qualified(text: str) -> str:
        rest = text.removeprefix(compiled)
        fits = rest != text and (not rest or rest[0] == ".")
        return original + _OWN_FUNCTION.sub("", rest) if fits else text

    constants: list[Any] = []
    for c in code.co_consts:
        if isinstance(c, CodeType):
            c = _renamed(c, name if c.co_name.startswith("ag__") else c.co_name, compiled, original)
        elif isinstance(c, str) and not code.co_flags & inspect.CO_OPTIMIZED and ".<locals>." in c:
            c = qualified(c)  # the qualified name of a class
        constants.append(c)
    full = original if code.co_name.startswith("ag__") else qualified(code.co_qualname)
    return code.replace(co_name=name, co_qualname=full, co_consts=tuple(constants))


def _remember(code: CodeType) -> None:
    if (
        not code.co_flags & inspect.CO_OPTIMIZED
    ):  # the body of a class, whose methods are converted when called
        return
    _results[id(code)] = code
    for c in code.co_consts:
        if isinstance(c, CodeType):
            _remember(c)


def _function(f: FunctionType, code: CodeType, recursive: bool) -> FunctionType:
    cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    cells["ag__"] = types.CellType(_namespace(recursive))
    closure = tuple(cells[name] for name in code.co_freevars)
    new = FunctionType(code, f.__globals__, f.__name__, f.__defaults__, closure)
    new.__kwdefaults__ = f.__kwdefaults__
    functools.update_wrapper(new, f)
    new.__dict__.pop("__autograph__", None)
    return new


calls.register_conversion(converted)
misuse.register_conversion(lambda code: id(code) in _results)

# Entry points.


def tf_convert(
    f: Any, recursive: bool = True, user_requested: bool = True, optional_features: Any = None
) -> Any:
    """`f` converted, if it is a function, method, `functools.partial` or callable object of the program; else `f`.

    Where it cannot be converted, a warning says so once, and `f` is returned.
    """
    features = converting(optional_features)
    if isinstance(f, functools.partial):
        inner = tf_convert(f.func, recursive, user_requested, optional_features)
        return f if inner is f.func else functools.partial(inner, *f.args, **f.keywords)
    if hasattr(f, "bound") and hasattr(
        f, "__func__"
    ):  # a method that does not keep its object alive
        bound = f.bound()
        new = tf_convert(bound, recursive, user_requested, optional_features)
        return f if new is bound else new
    if isinstance(f, FunctionType):
        if _is_ours(f) or (not user_requested and _is_left_alone(f)):
            return f
        return converted(f, recursive, features)
    if isinstance(f, MethodType):
        if not isinstance(f.__func__, FunctionType):
            return f
        new = tf_convert(f.__func__, recursive, user_requested, optional_features)
        return f if new is f.__func__ else MethodType(new, f.__self__)
    call = _call_of(f)
    if call is None:
        return f
    new = tf_convert(call, recursive, user_requested, optional_features)
    return f if new is call else MethodType(new, f)


def _call_of(f: Any) -> FunctionType | None:
    """The function that runs when the object `f` is called."""
    found = inspect.getattr_static(type(f), "__call__", None)
    return None if isinstance(f, type) or not isinstance(found, FunctionType) else found


def _is_ours(f: FunctionType) -> bool:
    return (f.__globals__.get("__name__") or "").partition(".")[0] == "tapeflow"


def _is_left_alone(f: FunctionType) -> bool:
    return is_left_alone(f.__globals__.get("__name__"))


def converting(features: Any) -> frozenset[str]:
    """The names of those of `Feature`s (None, one, or several) that change how code is converted."""
    if features is None:
        return frozenset()
    several = isinstance(features, (tuple, list, set, frozenset))
    names = {getattr(x, "name", x) for x in (features if several else [features])}
    return _CONVERTING if "ALL" in names else _CONVERTING & names


_CONVERTING = frozenset({"EQUALITY_OPERATORS", "BUILTIN_FUNCTIONS"})


@api("autograph.experimental.do_not_convert")
def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Decorator: `func` and what it calls is not converted."""
    if func is None:
        return do_not_convert

    def unconverted(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    if isinstance(func, (FunctionType, MethodType)):
        functools.update_wrapper(unconverted, func)
    return unconverted


@api("autograph.to_graph")
def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Any:
    """Convert a function, so that control flow that depends on tensors goes into the graph.

    Args:
      entity: a function or method.
      recursive: whether the functions that it calls are converted also.
      experimental_optional_features: `tf.autograph.experimental.Feature`s (optional).

    Returns:
      The converted function; of a method, the function with its `self`.

    Raises:
      ConversionError: where it has no code or cannot be converted.
    """
    f = entity.__func__ if isinstance(entity, MethodType) else entity
    try:
        if not isinstance(f, FunctionType):
            raise ValueError(
                "Cannot apply autograph to a function that doesn't expose a __code__ object. If this is a "
                "@tf.function, try passing f.python_function instead."
            )
        made = _convert_code(
            f, recursive, converting(experimental_optional_features)
        )
        if isinstance(made, CodeType):
            new: Any = _function(f, made, recursive)
            # Where its code is: among the operators, at the lines of the program itself.
            new.ag_module, new.ag_source_map = _namespace(recursive), {}
            return new
        raise made or SourceNotFound(f"{f!r} has no source")
    except (ValueError, ConversionError) as error:
        raise ConversionError(f"converting {entity}: {type(error).__name__}: {error}") from None


@api("autograph.to_code")
def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """Return the source of a function as AutoGraph converts it.

    Args:
      entity: a function or method.
      recursive: not used: what the function calls is converted when it runs.
      experimental_optional_features: `tf.autograph.experimental.Feature`s (optional).

    Returns:
      A str.

    Raises:
      ConversionError: where it has no code or cannot be converted.
    """
    f = entity.__func__ if isinstance(entity, MethodType) else entity
    if not isinstance(f, FunctionType):
        return to_graph(entity)  # says what is wrong
    try:
        node: Any = tree_of(f, converting(experimental_optional_features))
    except ConversionError as error:
        raise ConversionError(f"converting {entity}: {type(error).__name__}: {error}") from None
    if isinstance(node, ast.Lambda):
        (node,) = statements("tf__lambda = _F_", node, _F_=node)
    else:
        node.name = f"tf__{node.name}"
    return ast.unparse(ast.fix_missing_locations(node)) + "\n"


boundaries(globals())
