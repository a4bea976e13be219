"""Functions of `tf.contrib.eager`: `defun` and `graph_callable`, which trace as `tf.function` does, without AutoGraph."""

from __future__ import annotations

from tapeflow.core.public import public, public_methods
from tapeflow.function.function import Function


@public
def defun(func=None, input_signature=None, autograph=False, experimental_autograph_options=None, reduce_retracing=False):
    """Lets `func` run as a plan, made by tracing it; each trace may create variables. Also a decorator.

    Raises TypeError if `func` is not callable.
    """

    def decorated(inner):
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        return Function(
            inner, None, input_signature, autograph, None, reduce_retracing,
            experimental_autograph_options=experimental_autograph_options, creates_variables=True,
        )  # fmt: skip

    return decorated if func is None else decorated(func)


@public
def defun_with_attributes(func=None, input_signature=None, attributes=None, autograph=True, **options):
    """`defun`; the attributes are kept, and mean nothing here."""
    made = defun(func, input_signature, autograph)
    if attributes:
        made._attributes = attributes
    return made


@public_methods
class GraphCallable:
    """A function written for graphs: its variables are found by their names, whatever it is called with.

    Args:
      function: creates its variables by `tf.get_variable`, `tf.Variable` or layers.
      variables: the store that `get_variable` uses: a context manager's maker and the way to its variables.
    """

    def __init__(self, function, store):
        self._store = store

        def stored(*args, **kwargs):
            with store.as_default():
                return function(*args, **kwargs)

        self._function = Function(stored, getattr(function, "__name__", None), autograph=False, creates_variables=True)
        self._created = None
        self.__wrapped__ = function
        self.__name__ = getattr(function, "__name__", "graph_callable")
        self.__doc__ = function.__doc__

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    @property
    def variables(self):
        """The variables of all traces so far, each once."""
        found = {}
        for concrete in self._function._concrete_functions():
            for v in concrete.graph.variables:
                found.setdefault(id(v), v)
        return list(found.values())

    @property
    def trainable_variables(self):
        """Those of them that are trainable."""
        return [v for v in self.variables if v.trainable]

    def restore(self, path):
        """Gives the variables the values of a checkpoint, by their names; those made later get theirs when they are."""
        self._restorer(path)

    def _restorer(self, path):
        from tapeflow.function import restoring

        restoring.restore(self.variables, path)
