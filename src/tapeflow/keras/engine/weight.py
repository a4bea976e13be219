"""Weights as Keras 3 shows them: by their own name, and by the path of the layers that they belong to."""

from __future__ import annotations

import contextlib

from tapeflow.core import context
from tapeflow.core.release import keras_2
from tapeflow.keras import settings
from tapeflow.ops.variable import Variable


def make_weight(owner, first, name, **arguments):
    """A variable of a layer or metric; in Keras 3 under the path of its owner, and never without a name.

    Args:
      owner: has a `name`.
      first: a function of no arguments that gives the initial value.
      name: the variable's own name, or None.
      **arguments: those of tf.Variable.
    """
    if keras_2():
        return Variable(first, name=name, **arguments)
    with scope_of(owner):
        return Weight(first, name=settings.unique_name("variable") if name is None else name, **arguments)


def scope_of(owner):
    """The name scope of a layer or metric, unless it is open already."""
    around = context.current_name_scope().split("/")
    return contextlib.nullcontext() if owner.name in around else context.name_scope(owner.name)


class Weight(Variable, by_creators=True):
    """A variable of a layer or metric of Keras 3.

    Attributes:
      name: the name given by the layer, as "kernel".
      path: the names of the layers around it and its own, as "sequential/dense/kernel".
    """

    _full_name = "Variable"

    @property
    def name(self):
        """The last part of `path`."""
        return self._full_name.rpartition("/")[2]

    @name.setter
    def name(self, full_name):
        self.__dict__["_full_name"] = full_name.partition(":")[0]

    @property
    def path(self):
        """The names of the layers around the weight, and its own, joined by slashes."""
        return self._full_name

    @property
    def _shared_name(self):
        return self._full_name

    def __repr__(self):
        value = f", value={self.numpy()}" if self._is_set and context.executing_eagerly() else ""
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype.name}{value}>"

    __str__ = __repr__
