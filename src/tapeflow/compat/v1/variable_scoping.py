"""`tf.variable_scope` of 1.x, as it is under eager execution: what scopes say of reuse is `AUTO_REUSE`."""

from __future__ import annotations

import contextlib
import enum
import functools
import threading
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.context import name_scope
from tapeflow.core.public import public, public_methods


class _ReuseMode(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE

_INHERITED = (
    "initializer", "regularizer", "caching_device", "partitioner", "custom_getter", "dtype",
    "use_resource", "constraint",
)  # fmt: skip


def refuse_partitioner(partitioner: Any) -> None:
    if partitioner is not None:
        raise NotImplementedError(
            "Partitioned variables are not yet supported when eager execution is enabled."
        )


@public_methods
class VariableScope:
    """What `get_variable` takes from the scope around it: the prefix of names, and defaults.

    Args:
      reuse: taken as `AUTO_REUSE` whatever it is.
      name: the prefix of the names of variables.
      name_scope: the name scope that the scope was first entered with.

    The other arguments are defaults for those of `get_variable`.
    """

    def __init__(
        self,
        reuse,
        name="",
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        name_scope="",
        dtype=dtypes.float32,
        use_resource=None,
        constraint=None,
    ):
        refuse_partitioner(partitioner)
        self.name = name
        self.reuse = AUTO_REUSE
        self.original_name_scope = name_scope
        self.initializer = initializer
        self.regularizer = regularizer
        self.caching_device = caching_device
        self.partitioner = partitioner
        self.custom_getter = custom_getter
        self.dtype = dtypes.as_dtype(dtype)
        self.use_resource = True
        self.constraint = constraint

    def reuse_variables(self):
        """Nothing: eagerly, variables are reused wherever there is a store to find them in."""
        self.reuse = AUTO_REUSE

    def set_initializer(self, initializer):
        """Sets the default initializer."""
        self.initializer = initializer

    def set_regularizer(self, regularizer):
        """Sets the default regularizer."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device):
        """Raises NotImplementedError: eagerly there are no caching devices."""
        raise NotImplementedError(
            "Caching devices are not yet supported when eager execution is enabled."
        )

    def set_partitioner(self, partitioner):
        """Raises NotImplementedError for any partitioner."""
        refuse_partitioner(partitioner)

    def set_custom_getter(self, custom_getter):
        """Sets the function that `get_variable` calls in its own place."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype):
        """Sets the default dtype."""
        self.dtype = dtypes.as_dtype(dtype)

    def set_use_resource(self, use_resource):
        """Raises ValueError for False: eagerly, all variables are resources."""
        if not use_resource:
            raise ValueError(
                "When eager execution is enabled, use_resource cannot be set to false."
            )


class _Scopes(threading.local):
    """Where a thread is: its scope, how often each name was opened, and the store of variables."""

    def __init__(self) -> None:
        self.current = VariableScope(AUTO_REUSE)
        self.opened: dict[str, int] = {}
        self.store: dict[str, Any] | None = None


scopes = _Scopes()


@public
def get_variable_scope():
    """The current `VariableScope`."""
    return scopes.current


def _unique(prefix: str, name: str) -> str:
    """`name`, or the first of `name_1`, `name_2`... of which no scope is open under `prefix`."""
    found, index = name, 0
    while scopes.opened.get(prefix + found):
        index += 1
        found = f"{name}_{index}"
    return found


def wrapped(inner: Any, outer: Any) -> Any:
    """The custom getter `inner`, for which `outer` is the way to the variable."""
    if inner is None or outer is None:
        return inner or outer

    def getter(getter, *args, **kwargs):
        return inner(functools.partial(outer, getter), *args, **kwargs)

    return getter


@public_methods
class variable_scope:
    """A context in which `get_variable` prefixes names and takes defaults. Enters as a `VariableScope`.

    Args:
      name_or_scope: a name to go on with, a `VariableScope` to enter again, or None for
        `default_name`, made unique.
      reuse: True, False, None or AUTO_REUSE; eagerly they are the same.
      auxiliary_name_scope: whether to enter a name scope too.

    The other arguments are defaults for those of `get_variable`. Raises TypeError for a name that is
    none, ValueError for another `reuse`, NotImplementedError for a partitioner.
    """

    def __init__(
        self,
        name_or_scope,
        default_name=None,
        values=None,
        initializer=None,
        regularizer=None,
        caching_device=None,
        partitioner=None,
        custom_getter=None,
        reuse=None,
        dtype=None,
        use_resource=None,
        constraint=None,
        auxiliary_name_scope=True,
    ):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse not in (None, True, False, AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(name_or_scope, (str, VariableScope, type(None))):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                "The auxiliary_name_scope must be `True` or `False`, while get "
                f"{auxiliary_name_scope}"
            )
        if use_resource is False:
            raise ValueError(
                "When eager execution is enabled, use_resource cannot be set to false."
            )
        refuse_partitioner(partitioner)
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._named = auxiliary_name_scope
        self._given = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "custom_getter": custom_getter,
            "dtype": None if dtype is None else dtypes.as_dtype(dtype),
            "constraint": constraint,
        }
        self._exits: list[contextlib.ExitStack] = []

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            scope = self._open(stack)
            self._exits.append(stack.pop_all())
        return scope

    def __exit__(self, *exception):
        self._exits.pop().__exit__(*exception)

    def _open(self, stack: contextlib.ExitStack) -> VariableScope:
        outer, given = scopes.current, self._name_or_scope
        prefix = f"{outer.name}/" if outer.name else ""
        if isinstance(given, VariableScope):
            source, name, own = given, given.name, given.name.split("/")[-1]
        else:
            source, own = outer, self._default_name if given is None else given
            last = _unique(prefix, own) if given is None else own
            name = f"{prefix}{last}" if last else outer.name
        around = context.current_name_scope()
        if self._named and own:
            around = stack.enter_context(name_scope(own))
        if source is given:
            around = given.original_name_scope

        settings: dict[str, Any] = {key: getattr(source, key) for key in _INHERITED}
        changed = {key: value for key, value in self._given.items() if value is not None}
        settings.update(changed, custom_getter=wrapped(
            self._given["custom_getter"], source.custom_getter))  # fmt: skip
        scope = VariableScope(AUTO_REUSE, name, name_scope=around, **settings)

        before = dict(scopes.opened)
        scopes.opened[name] = scopes.opened.get(name, 0) + 1
        scopes.current = scope

        def close() -> None:
            # Below a scope that closes, names count anew.
            if source is given:
                scopes.opened = before
            else:
                below = f"{name}/"
                scopes.opened = {
                    key: n for key, n in scopes.opened.items() if not key.startswith(below)
                }
            scopes.current = outer

        stack.callback(close)
        return scope


@contextlib.contextmanager
def variable_op_scope(
    values,
    name_or_scope,
    default_name=None,
    initializer=None,
    regularizer=None,
    caching_device=None,
    partitioner=None,
    custom_getter=None,
    reuse=None,
    dtype=None,
    use_resource=None,
    constraint=None,
):
    """`variable_scope` with another order of arguments."""
    with variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner,
        custom_getter, reuse, dtype, use_resource, constraint,
    ) as scope:  # fmt: skip
        yield scope
