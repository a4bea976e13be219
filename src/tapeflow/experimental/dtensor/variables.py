"""`DVariable`: a variable whose value is laid out on a mesh."""

from __future__ import annotations

from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtensor import placed
from tapeflow.core.dtensor.layout import Layout
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public_methods
from tapeflow.experimental.dtensor.scopes import call_with_layout
from tapeflow.experimental.dtensor.transfers import is_dtensor, relayout
from tapeflow.ops.state.rows import AssignVariableOp
from tapeflow.ops.state.variable import Variable
from tapeflow.xla import mesh_values


@public_methods
class DVariable(Variable):
    """A variable on a mesh. Its layout never changes: what is assigned is laid out like it.

    Args:
      initial_value: a tensor on a mesh; or with `layout` whatever converts to a tensor, or a callable that returns it.
      *args: further arguments of `tf.Variable`.
      dtype: of the value; None: that of the initial value.
      **kwargs: `layout`, the layout of the value; and arguments of `tf.Variable` by name.

    Raises:
      InvalidArgumentError: for an initial value that is on no mesh, without a layout.
    """

    def __init__(self, initial_value: Any, *args: Any, dtype: DTypeLike | None = None, **kwargs: Any):
        kwargs["dtype"] = dtype
        layout = kwargs.pop("layout", None)
        if callable(initial_value):
            initial_value = call_with_layout(initial_value, layout)
        value = convert_to_tensor(initial_value, dtype)
        if layout is None and not is_dtensor(value):
            raise InvalidArgumentError(None, None, "Neither layout nor DTensor initial value are provided.")
        if layout is not None:
            value = relayout(value, layout)
        self._save_as_bf16 = False
        super().__init__(value, *args, **kwargs)

    @property
    def layout(self) -> Layout:
        """The layout of the value."""
        found = placed.layout_of(self)
        assert found is not None  # the value never leaves its mesh
        return found

    @property
    def save_as_bf16(self) -> bool:
        """Whether checkpoints keep a value of float32 as bfloat16."""
        return self._save_as_bf16

    @save_as_bf16.setter
    def save_as_bf16(self, save_as_bf16: bool) -> None:
        """Have checkpoints keep a value of float32 as bfloat16. No other value is changed."""
        self._save_as_bf16 = bool(save_as_bf16) and self.dtype == dtypes.float32

    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Replace the value by a tensor on the same mesh, or by a scalar. Returns the variable.

        Raises:
          UnknownError: for a tensor on another mesh.
          UnimplementedError: for a tensor of the host; see `copy_to_mesh`.
        """
        if context.executing_eagerly():
            value = convert_to_tensor(value, self.dtype)
            if placed.mesh_array(value) is None and not placed.scope.gathers:
                mesh_values.check_small(AssignVariableOp.name, 1, value)
            if value.shape == self.shape:
                value = placed.like(value, self)
        return super().assign(value, use_locking, name, read_value)
