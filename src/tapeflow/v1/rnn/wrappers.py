"""Cells around cells: dropout, residual connections, devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.context import device
from tapeflow.keras.layers.rnn.cell_wrappers import Dropping, OnDevice, Residual
from tapeflow.keras.registry import resolve, to_config
from tapeflow.v1.rnn.base import RNNCell, assert_like_rnncell

if TYPE_CHECKING:
    from tapeflow.v1.rnn.cells import GRUCell
    from tapeflow.v1.variable_scoping import VariableScope


class _Wrapper(RNNCell):
    """A cell with the states and the output of another."""

    def __init__(self, cell: GRUCell, **kwargs):
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell

    @property
    def wrapped_cell(self):
        """The cell inside."""
        return self.cell

    @property
    def _checkpoint_dependencies(self):
        """What a checkpoint of it holds: (name, object)."""
        return [("cell", self.cell)]

    @property
    def state_size(self):
        return self.cell.state_size

    @property
    def output_size(self):
        return self.cell.output_size

    def zero_state(self, batch_size: int, dtype: DTypeLike):
        return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: TensorLike, state: TensorLike, scope: str | VariableScope | None = None, **kwargs):
        def run(inputs: Tensor, state: Tensor, **more):
            return self.cell(inputs, state, scope=scope, **more)

        return self._wrapped(inputs, state, run, **kwargs)

    def get_config(self):
        return {**super().get_config(), "cell": to_config(self.cell)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
        """A wrapper around the cell of the config."""
        from tapeflow.v1 import rnn

        config = dict(config)
        cells = {name: getattr(rnn, name) for name in rnn.__all__}
        cell = resolve(config.pop("cell"), cells, "cell", custom_objects)
        return cls(cell, **config)

    def _wrapped(self, inputs, state, run, **kwargs):
        raise TypeError(f"{type(self).__name__} does not say what it does around its cell")


class DropoutWrapper(Dropping, _Wrapper):
    __doc__ = Dropping.__doc__


class ResidualWrapper(Residual, _Wrapper):
    __doc__ = Residual.__doc__


class DeviceWrapper(OnDevice, _Wrapper):
    __doc__ = OnDevice.__doc__

    def zero_state(self, batch_size: int, dtype: DTypeLike):
        with device(self._device):
            return self.cell.zero_state(batch_size, dtype)
