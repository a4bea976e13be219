"""`tf.variable_scope` of 1.x.

Each graph has scopes and variables of its own, found by their names. Scopes that are opened eagerly say `AUTO_REUSE`,
and there is a store only while a program makes one the default, and for functions that are traced.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core import context, dtypes, scope_state
from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.context import name_scope
from tapeflow.core.public import public, public_methods
from tapeflow.core.scope_state import AUTO_REUSE

_INHERITED = (
    "initializer", "regularizer", "caching_device", "partitioner", "custom_getter", "dtype",
    "use_resource", "constraint",
)  # fmt: skip


@api(v1="VariableScope")
@public_methods
class VariableScope:
    """What `get_variable` takes from the scope around it: the prefix of names, and defaults.

    Args:
      reuse: False, True or AUTO_REUSE; eagerly always the last.
      name: the prefix of the names of variables.
      name_scope: the name scope that the scope was first entered with.

    The other arguments are defaults for those of `get_variable`.
    """

    def __init__(
        self, reuse: Any, name="", initializer=None, regularizer: Callable[..., Any] | None = None,
        caching_device=None, partitioner=None, custom_getter: Callable[..., Any] | None = None, name_scope: str = "",
        dtype: DTypeLike = dtypes.float32, use_resource=None, constraint=None,
    ):
        self.name = name
        self.reuse = AUTO_REUSE if context.executing_eagerly() else reuse
        self.original_name_scope = name_scope
        self.initializer = initializer
        self.regularizer = regularizer
        self.caching_device = caching_device
        self.partitioner = partitioner
        self.custom_getter = custom_getter
        self.dtype = dtypes.as_dtype(dtype)
        self.stated_resource = use_resource  # None: not said
        self.use_resource = True if use_resource is None or context.executing_eagerly() else use_resource
        self.constraint = constraint

    # As libraries ask for them.
    _name = property(lambda self: self.name)
    _reuse = property(lambda self: self.reuse)
    _initializer = property(lambda self: self.initializer)
    _regularizer = property(lambda self: self.regularizer)
    _caching_device = property(lambda self: self.caching_device)
    _partitioner = property(lambda self: self.partitioner)
    _custom_getter = property(lambda self: self.custom_getter)
    _dtype = property(lambda self: self.dtype)
    _constraint = property(lambda self: self.constraint)
    _name_scope = property(lambda self: self.original_name_scope)

    def reuse_variables(self):
        """Lets `get_variable` find variables and make none; eagerly it is free to do both."""
        self.reuse = AUTO_REUSE if context.executing_eagerly() else True

    def get_variable(self, name: str, **kwargs):
        """The variable of that name in this scope; see `tf.get_variable`."""
        from tapeflow.v1.variable_getting import get_variable

        with variable_scope(self, auxiliary_name_scope=False):
            return get_variable(name, **kwargs)

    def global_variables(self):
        """The variables of the graph whose names begin with this scope's."""
        return self.get_collection("variables")

    def trainable_variables(self):
        """Those of them that are trainable."""
        return self.get_collection("trainable_variables")

    def local_variables(self):
        """The local ones."""
        return self.get_collection("local_variables")

    def get_collection(self, name: str):
        """The items of a collection of the graph whose names begin with this scope's."""
        graph = context.current_graph()
        scope = f"{re.escape(self.name)}/" if self.name else ""
        return [] if graph is None else graph.get_collection(name, scope)

    def set_initializer(self, initializer):
        """Sets the default initializer."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Callable[..., Any]):
        """Sets the default regularizer."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device):
        """Sets the default caching device. Raises NotImplementedError eagerly."""
        self.caching_device = caching_device
        if context.executing_eagerly():
            raise NotImplementedError(
                "Caching devices are not yet supported when eager execution is enabled."
            )

    def set_partitioner(self, partitioner):
        """Sets the default partitioner."""
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Callable[..., Any]):
        """Sets the function that `get_variable` calls in its own place."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: DTypeLike):
        """Sets the default dtype."""
        self.dtype = dtypes.as_dtype(dtype)

    def set_use_resource(self, use_resource):
        """Raises ValueError for False: eagerly, all variables are resources."""
        if not use_resource and context.executing_eagerly():
            raise ValueError(
                "When eager execution is enabled, use_resource cannot be set to false."
            )
        self.use_resource = self.stated_resource = use_resource


class _Scopes:
    """The state of the graph being built, else that of the thread."""

    state = staticmethod(scope_state.state)

    @property
    def current(self) -> VariableScope:
        state = self.state()
        if state.scope is None:
            state.scope = VariableScope(state.reuse)
        return state.scope

    @current.setter
    def current(self, scope: VariableScope) -> None:
        self.state().scope = scope

    opened = property(
        lambda self: self.state().opened, lambda self, v: setattr(self.state(), "opened", v)
    )
    store = property(
        lambda self: self.state().variables, lambda self, v: setattr(self.state(), "store", v)
    )


scopes: Any = _Scopes()


@api(v1="get_variable_scope")
@public
def get_variable_scope():
    """The current `VariableScope`."""
    return scopes.current


def wrapped(inner: Any, outer: Any) -> Any:
    """The custom getter `inner`, for which `outer` is the way to the variable."""
    if inner is None or outer is None:
        return inner or outer

    def getter(getter: Callable[..., Any], *args, **kwargs):
        return inner(functools.partial(outer, getter), *args, **kwargs)

    return getter


@api(v1="variable_scope")
@public_methods
class variable_scope:
    """A context in which `get_variable` prefixes names and takes defaults. Enters as a `VariableScope`.

    Args:
      name_or_scope: a name to go on with, a `VariableScope` to enter again, or None for
        `default_name`, made unique.
      reuse: True, False, None or AUTO_REUSE; eagerly they are the same.
      auxiliary_name_scope: whether to enter a name scope too.
      values: tensors; the scope is one of their graph, which is the default one in it.

    The other arguments are defaults for those of `get_variable`. Raises TypeError for a name that is
    none, ValueError for another `reuse`, NotImplementedError for a partitioner.
    """

    def __init__(
        self, name_or_scope: str | VariableScope | None, default_name=None, values: Any = None, initializer=None,
        regularizer: Callable[..., Any] | None = None, caching_device=None, partitioner=None,
        custom_getter: Callable[..., Any] | None = None, reuse: bool | enum.Enum | None = None,
        dtype: DTypeLike | None = None, use_resource=None, constraint=None, auxiliary_name_scope: bool = True,
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
        if use_resource is False and context.executing_eagerly():
            raise ValueError(
                "When eager execution is enabled, use_resource cannot be set to false."
            )
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._named = auxiliary_name_scope
        self._reuse = reuse
        self._given = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "custom_getter": custom_getter,
            "partitioner": partitioner,
            "dtype": None if dtype is None else dtypes.as_dtype(dtype),
            "use_resource": use_resource,
            "constraint": constraint,
        }
        self._graph = context.graph_of_values(values) if values is not None else None
        self._exits: list[tuple[contextlib.ExitStack, VariableScope]] = []

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            if self._graph is not None and self._graph is not context.current_graph():
                stack.enter_context(context.graph_scope(self._graph))
            scope = self._open(stack)
            self._exits.append((stack.pop_all(), scope))
        return scope

    def __exit__(self, *exception):
        stack, scope = self._exits[-1]
        if scopes.current is not scope:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._exits.pop()
        stack.__exit__(*exception)

    def _open(self, stack: contextlib.ExitStack) -> VariableScope:
        outer, given = scopes.current, self._name_or_scope
        prefix = f"{outer.name}/" if outer.name else ""
        if isinstance(given, VariableScope):
            source, name, own = given, given.name, given.name.split("/")[-1]
        else:
            source, own = outer, self._default_name if given is None else given
            last = scope_state.unique(prefix, own) if given is None else own
            name = f"{prefix}{last}"  # of an empty name, too: its variables are "outer//variable"
        around = context.current_name_scope()
        if self._named and (own or given is None):  # an empty default name leads to the root
            around = stack.enter_context(name_scope(own))
        if source is given:
            around = given.original_name_scope
        reuse = source.reuse if self._reuse is None or source.reuse is True else self._reuse
        if self._reuse is True and given is None:
            raise ValueError("reuse=True cannot be used without a name_or_scope")

        settings: dict[str, Any] = {key: getattr(source, key) for key in _INHERITED}
        settings["use_resource"] = source.stated_resource
        changed = {key: value for key, value in self._given.items() if value is not None}
        settings.update(changed, custom_getter=wrapped(
            self._given["custom_getter"], source.custom_getter))  # fmt: skip
        scope = VariableScope(reuse, name, name_scope=around, **settings)

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


@api(v1="variable_op_scope")
@contextlib.contextmanager
def variable_op_scope(
    values: Sequence[Tensor], name_or_scope: str, default_name: str | None = None, initializer=None,
    regularizer: Callable[..., Any] | None = None, caching_device=None, partitioner=None,
    custom_getter: Callable[..., Any] | None = None, reuse: bool | None = None, dtype: DTypeLike | None = None,
    use_resource=None, constraint=None,
):
    """`variable_scope` with another order of arguments."""
    with variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner,
        custom_getter, reuse, dtype, use_resource, constraint,
    ) as scope:  # fmt: skip
        yield scope


@contextlib.contextmanager
def pure_variable_scope(
    name_or_scope: Any, reuse: Any = None, initializer: Any = None, regularizer: Any = None, caching_device: Any = None,
    partitioner: Any = None, custom_getter: Any = None, old_name_scope: Any = None, dtype: Any = None,
    use_resource: Any = None, constraint: Any = None,
) -> Iterator[Any]:  # fmt: skip
    """`variable_scope` that opens no name scope."""
    with variable_scope(
        name_or_scope, reuse=reuse, initializer=initializer, regularizer=regularizer, caching_device=caching_device,
        partitioner=partitioner, custom_getter=custom_getter, dtype=dtype, use_resource=use_resource,
        constraint=constraint, auxiliary_name_scope=False,
    ) as scope:  # fmt: skip
        yield scope
