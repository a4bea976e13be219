"""Dropout in cells: one mask for all steps of a sequence."""

from __future__ import annotations

from tapeflow.core.annotations import Tensor
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.noise import GeneratorOfNoise, NoiseSource
from tapeflow.ops.array.construction import ones_like


class DropoutRNNCellMixin(Layer):
    """Keeps the dropout masks of a cell until they are reset, which RNN layers do at every call."""

    seed_generator = GeneratorOfNoise()

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._made_noise = None
        self.reset_dropout_mask()
        self.reset_recurrent_dropout_mask()

    @property
    def _noise(self):
        """The cell's random numbers."""
        if self._made_noise is None:
            self._made_noise = NoiseSource(getattr(self, "seed", None))
        return self._made_noise

    def reset_dropout_mask(self):
        """Forgets the masks of inputs."""
        self.__dict__["_dropout_masks"] = None

    def reset_recurrent_dropout_mask(self):
        """Forgets the masks of states."""
        self.__dict__["_recurrent_dropout_masks"] = None

    def get_dropout_mask_for_cell(self, inputs, training, count=1):
        """The mask of inputs, a list of `count` masks where that is above 1; None for none."""
        return self._masks("_dropout_masks", inputs, self.dropout, training, count)

    def get_recurrent_dropout_mask_for_cell(self, inputs, training, count=1):
        """As get_dropout_mask_for_cell, for states."""
        return self._masks(
            "_recurrent_dropout_masks", inputs, self.recurrent_dropout, training, count
        )

    def get_dropout_mask(self, step_input):
        """The mask of inputs, for a cell with dropout."""
        return self._masks("_dropout_masks", step_input, self.dropout, True, 1)

    def get_recurrent_dropout_mask(self, step_input):
        """The mask of states, for a cell with dropout of states."""
        return self._masks("_recurrent_dropout_masks", step_input, self.recurrent_dropout, True, 1)

    def _masks(self, name: str, inputs, rate: float, training: bool | Tensor, count: int):
        if not rate or training is None or training is False:
            return None
        if self.__dict__[name] is None:
            ones = ones_like(inputs)
            self.__dict__[name] = [
                by_phase(training, lambda: self._noise.dropout(ones, rate), lambda: ones)
                for _ in range(count)
            ]
        masks = self.__dict__[name]
        return masks if count > 1 else masks[0]
