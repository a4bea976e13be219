"""Layers whose weight can be kept as it is, while a product of two small matrices that is added to it is trained."""

from __future__ import annotations

from typing import Any

from tapeflow.keras import initializers
from tapeflow.keras.engine.autocast import plain
from tapeflow.keras.engine.base_layer import Unbuilt
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.linalg.tensordot import tensordot


class AdaptableWeight(Unbuilt):
    """A weight that is an attribute once the layer is built, until `enable_lora`: then it is computed when read."""

    def __get__(self, layer: Any, owner: type | None = None):
        if layer is not None and layer.lora_enabled:
            return layer._adapted_weight()
        return super().__get__(layer, owner)


class LowRank:
    """What layers share that `enable_lora` changes: one weight becomes constant, and gets an addend of low rank.

    A layer names the weight, which its class has as an `AdaptableWeight`.
    """

    _adapted_name = "kernel"
    _counts_once = True  # whether the product counts once where the constructor is given the rank
    lora_enabled = False
    lora_rank = lora_alpha = None

    def _set_low_rank(self, rank: int | None, alpha: float | None):
        """Keep the constructor's arguments; `build` then ends with `_build_low_rank`."""
        self.lora_rank = rank
        self.lora_alpha = rank if alpha is None else alpha

    def _build_low_rank(self):
        if self.lora_rank:
            self.enable_lora(self.lora_rank, None if self._counts_once else self.lora_alpha)

    def enable_lora(self, rank, lora_alpha=None, a_initializer="he_uniform", b_initializer="zeros"):
        """Freeze the weight, and train the product of two matrices that is added to it.

        Args:
          rank: the number of columns of the first matrix, and of rows of the second.
          lora_alpha: the product counts `lora_alpha / rank` times; by default once.
          a_initializer, b_initializer: of the two matrices; the product begins with zeros by default.

        Raises:
          ValueError: for a layer that is not built, has a constraint of the weight, or was changed already.
          NotImplementedError: for a quantized layer.
        """
        name = self._adapted_name
        if getattr(self, f"{name}_constraint") is not None:
            what = "kernel" if name == "kernel" else "embedding"
            raise ValueError(
                f"Lora is incompatible with {what} constraints. In order to enable lora on this layer, remove the "
                f"`{name}_constraint` argument."
            )
        if not self.built:
            raise ValueError("Cannot enable lora on a layer that isn't yet built.")
        if self.lora_enabled:
            raise ValueError("lora is already enabled. This can only be done once per layer.")
        if self.quantization_mode is not None:
            raise NotImplementedError(f"Weights of low rank besides {self.quantization_mode} ones are not supported.")
        # The variable becomes the private attribute of Keras 3, by which checkpoints know it anyway.
        weight = self.__dict__[f"_{name}"] = self.__dict__.pop(name)
        self._tracked_variables[f"_{name}"] = self._tracked_variables.pop(name)
        sizes = weight.shape.as_list()
        regularizer = getattr(self, f"{name}_regularizer")
        for part, shape, initializer in (
            ("a", [*sizes[:-1], rank], a_initializer),
            ("b", [rank, sizes[-1]], b_initializer),
        ):
            added = self.add_weight(
                f"lora_{name}_{part}", shape, "float32", initializers.get(initializer), regularizer
            )
            setattr(self, f"lora_{name}_{part}", added)
        plain(weight)._trainable = False
        self._set_low_rank(rank, lora_alpha)
        self.lora_enabled = True

    def _factors(self):
        name = self._adapted_name
        return getattr(self, f"lora_{name}_a"), getattr(self, f"lora_{name}_b")

    def _adapted_weight(self):
        """The weight with what was learned."""
        return getattr(self, f"_{self._adapted_name}") + self._addend(*self._factors())

    def _addend(self, left, right):
        return tensordot(left, right, 1) * (self.lora_alpha / self.lora_rank)

    def _own_variables(self):
        if not self.lora_enabled:
            return super()._own_variables()
        factors = {id(plain(factor)) for factor in self._factors()}
        return [variable for variable in self._own_weights if id(variable) not in factors]

    def save_own_variables(self, store):
        """Puts the layer's own variables into a store, by number: the weight with what was learned."""
        if not self.lora_enabled:
            super().save_own_variables(store)
            return
        for number, variable in enumerate(self._own_variables()):
            store[str(number)] = (variable if number else self._adapted_weight()).numpy()

    def load_own_variables(self, store):
        """Takes the layer's own variables out of a store; nothing more is learned then."""
        super().load_own_variables(store)
        if self.lora_enabled:
            for factor in self._factors():
                factor.assign(zeros_like(plain(factor)))

    def _low_rank_config(self):
        return {"lora_rank": self.lora_rank, "lora_alpha": self.lora_alpha} if self.lora_rank else {}
