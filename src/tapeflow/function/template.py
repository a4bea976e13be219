"""`tf.make_template`: a function whose variables are created on its first call and shared by the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tapeflow.api import api, providers
from tapeflow.core import context
from tapeflow.core.public import public, public_methods

# Makes the scopes and stores of variables; given by the package of 1.x names, which lies above.
_given: Any = None


def register_scoping(scopes: type) -> None:
    """Say what makes the scopes and stores of variables."""
    global _given
    _given = scopes


def scoping() -> Any:
    """What makes the scopes and stores of variables."""
    if _given is None:
        providers.load("scoping")
    return _given


# The templates that are being called, the innermost last.
_running: list[Any] = []


class Dependency(NamedTuple):
    """An object that another one holds, and its name there."""

    name: str
    ref: Any


@public_methods
class Template:
    """See `make_template`."""

    def __init__(
        self, name: str, func: Callable[..., Any], create_scope_now, unique_name, custom_getter: Callable[..., Any],
        kwargs: Mapping[Any, Any],
    ):
        if name is None:
            raise ValueError("name cannot be None.")
        if unique_name is not None and context.executing_eagerly():
            raise ValueError("unique_name_ cannot be used when eager execution is enabled.")
        self._func = func
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._kwargs = kwargs
        # Libraries make it the default, by this name, around variables that they make outside of calls.
        self._template_store = scoping().new_store() if context.executing_eagerly() else None
        self._scope: Any = None
        self._called = False
        self.inner: dict[str, Any] = {}  # templates that were called while this one was
        if create_scope_now:
            with scoping().scope(self._unique_name, self._name, self._custom_getter) as scope:
                self._scope = scope

    def __call__(self, *args, **kwargs):
        """Calls the function; variables are created on the first call, and only found on later ones."""
        kwargs = {**self._kwargs, **kwargs}
        if _running:
            names = [name for name, each in _running[-1].inner.items() if each is self]
            if not names:
                _running[-1].inner[self._name] = self
        _running.append(self)
        try:
            return self._call(args, kwargs)
        finally:
            _running.pop()
            for restoration, node in self.__dict__.get("_pending_restores", ()):
                for name, child in self._trackable_children().items():
                    restoration.attach(node, name, child)

    def _call(self, args, kwargs: Mapping[Any, Any]):
        if self._template_store is not None:
            with self._template_store.as_default(), self._opened() as scope:
                self._scope = scope
                before = self._template_store.trainable_variables()
                result = self._func(*args, **kwargs)
                self._require_known(before, self._template_store.trainable_variables())
                self._called = True
                return result
        with self._opened() as scope:
            if self._called:
                scope.reuse_variables()
            self._scope = scope
            before = scoping().trainable_variables()
            result = self._func(*args, **kwargs)
            self._require_known(before, scoping().trainable_variables())
            self._called = True
            return result

    def _require_known(self, before, after):
        """Raises ValueError if a later call made trainable variables."""
        if self._called and len(before) != len(after):
            known = {id(v) for v in before}
            raise ValueError(
                "Trainable variable created when calling a template after the first time, perhaps you used "
                f"tf.Variable when you meant tf.get_variable: {[v for v in after if id(v) not in known]}"
            )

    def _opened(self) -> Any:
        if self._scope is not None:
            return scoping().again(self._scope)
        return scoping().scope(self._unique_name, self._name, self._custom_getter)

    @property
    def name(self):
        """The name given to the template."""
        return self._name

    @property
    def func(self):
        """The function."""
        return self._func

    @property
    def variable_scope(self):
        """The scope of the variables; None before there is one."""
        return self._scope

    @property
    def variable_scope_name(self):
        """The name of that scope."""
        return None if self._scope is None else self._scope.name.removesuffix("/")

    @property
    def variables(self):
        """All variables of the template."""
        if self._template_store is not None:
            return self._template_store.variables()
        return [] if self._scope is None else self._scope.global_variables()

    global_variables = variables

    @property
    def trainable_variables(self):
        """The trainable ones."""
        if self._template_store is not None:
            return self._template_store.trainable_variables()
        return [] if self._scope is None else self._scope.trainable_variables()

    @property
    def non_trainable_variables(self):
        """The others."""
        return [v for v in self.variables if not v.trainable]

    @property
    def local_variables(self):
        """The local variables of the template, in graphs."""
        return (
            [] if self._template_store is not None or self._scope is None else self._scope.local_variables()
        )

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs):
        """What checkpoints follow: its variables, and the templates called in it, by their names in its scope."""
        inner = dict(self.inner)
        within = [id(v) for each in inner.values() for v in each.variables]
        scope = f"{self.variable_scope_name}/" if self._scope is not None else ""
        own = {
            v.name.partition(":")[0].removeprefix(scope): v
            for v in self.variables
            if id(v) not in within
        }
        return {**own, **inner}

    @property
    def _checkpoint_dependencies(self):
        """`_trackable_children` as a list of (name, ref)."""
        return [Dependency(name, ref) for name, ref in self._trackable_children().items()]

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


@api(v1="make_template")
@public
def make_template(
    name_, func_, create_scope_now_: bool = False, unique_name_=None, custom_getter_=None, **kwargs
):
    """`func_`, with some arguments given, whose variables are created once and then shared.

    Args:
      name_: of the scope of the variables; made unique unless `unique_name_` is given.
      create_scope_now_: whether the scope is opened now, not on the first call.
    """
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_, kwargs)
