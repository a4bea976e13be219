"""Variables that subclasses of optimizers make and assign, as in Keras 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.variables import dtype_of
from tapeflow.graph.build.variables import check_may_create
from tapeflow.keras import initializers, settings
from tapeflow.keras.optimizers import variables


@public_methods
class OwnVariables:
    """The part of Optimizer that makes variables for subclasses."""

    # Of the other parts:
    _added: Any
    _by_resources: Any
    _made: Any
    _name: Any
    _slot: Any

    def add_variable(
        self, shape: Sequence[Any], initializer: str = "zeros", dtype: DTypeLike | None = None,
        aggregation: str = "none", layout: str | None = None, name: str | None = None,
    ):
        """Make a variable of the optimizer's own.

        Args:
          shape: its shape.
          initializer: first values; an initializer or its name.
          dtype: its dtype; None for `keras.config.floatx()`.
          aggregation: accepted as in Keras 3.
          layout: accepted as in Keras 3.
          name: its name.

        Returns:
          The variable.
        """
        kind = dtypes.as_dtype(dtype or settings.floatx())
        start = initializers.get(initializer)
        made = self._make(lambda: start(shape, dtype=kind), f"{self._name}/{name or 'variable'}", kind)
        self._added.append(made)
        return made

    def _make(self, start: Callable[..., Any], name: str, dtype: Any = None):
        """A variable of this optimizer, the last in its order; of the dtype of what it begins with by default.

        Raises ValueError in Keras 3 where a function is traced that has been traced before.
        """
        if not keras_2() and not self._by_resources:
            check_may_create()
        made = variables.make(start, name, dtype, self._by_resources)
        self._made.add(made)
        return made

    def add_variable_from_reference(
        self, reference_variable, name: str | None = None, initializer: str = "zeros",
        shape: Sequence[Any] | None = None,
    ):
        """Make a slot variable beside a variable.

        Args:
          reference_variable: the variable, which gives dtype and shape.
          name: the name of the slot.
          initializer: first values; an initializer or its name.
          shape: another shape.

        Returns:
          The slot variable; that which exists, if there is one of the name.
        """
        start = initializers.get(initializer)
        like = reference_variable
        return self._slot(like, name, lambda: start(shape or like.shape, dtype_of(like)))

    def add_optimizer_variables(self, trainable_variables: Sequence[Any], name: str, initializer: str = "zeros"):
        """Make slot variables, one beside each variable.

        Args:
          trainable_variables: the variables.
          name: the name of the slot, or several names.
          initializer: first values; an initializer or its name.

        Returns:
          A list of slot variables; for several names, a tuple of lists.
        """
        if isinstance(name, str):
            return [self.add_variable_from_reference(v, name, initializer)
                    for v in trainable_variables]  # fmt: skip
        return tuple(
            self.add_optimizer_variables(trainable_variables, n, initializer) for n in name
        )

    def assign(self, variable, value: TensorLike):
        """Set a variable.

        Args:
          variable: the variable to change.
          value: its new value.
        """
        variable.assign(value)

    def assign_add(self, variable, value: TensorLike):
        """Add to a variable.

        Args:
          variable: the variable to change.
          value: what is added.
        """
        variable.assign_add(value)

    def assign_sub(self, variable, value: TensorLike):
        """Subtract from a variable.

        Args:
          variable: the variable to change.
          value: what is subtracted.
        """
        variable.assign_sub(value)
