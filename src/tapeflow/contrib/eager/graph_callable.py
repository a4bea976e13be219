"""`graph_callable`: functions written for graphs, called eagerly, with the variables that they create."""

from __future__ import annotations

from tapeflow.compat.v1.variable_getting import EagerVariableStore
from tapeflow.core.public import public, public_methods
from tapeflow.function.function import Function


@public_methods
class GraphCallable:
    """A function written for graphs: its variables are found by their names, whatever it is called with.

    Args:
      function: creates its variables by `tf.get_variable`, `tf.Variable` or layers.
    """

    def __init__(self, function):
        store = EagerVariableStore()

        def stored(*args, **kwargs):
            with store.as_default():
                return function(*args, **kwargs)

        self._function = Function(
            stored, getattr(function, "__name__", None), autograph=False, creates_variables=True
        )
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
        """Gives the variables the values that a checkpoint has under their names.

        Raises ValueError before the first call, when there are no variables yet.
        """
        from tapeflow import train

        variables = self.variables
        if not variables:
            raise ValueError("restore() comes after the first call, which creates the variables")
        train.Saver(variables).restore(None, path)


@public
def graph_callable(func=None, variable_captures=None):
    """Lets graph code be called eagerly: a decorator, plain or with the shapes and dtypes of the arguments."""
    if func is None or not callable(func):
        return (
            GraphCallable  # @graph_callable([ShapeAndDtype(...)]): the trace sees both for itself
        )
    return GraphCallable(func)
