"""The optimizers of `tf.tpu.experimental.embedding`: how tables of embeddings are trained on a TPU, as settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.public import boundaries
from tapeflow.keras.initializers import Constant
from tapeflow.tpu.slots import WithSlotVariables

Rate = float | Callable[[], float]


class Optimizer(WithSlotVariables):
    """Base of the optimizers of tables.

    Args:
      learning_rate: a number, or a function that returns it.
      use_gradient_accumulation: whether the gradients of a row are added before they are applied.
      clip_weight_min, clip_weight_max: the range that weights are kept in (optional).
      weight_decay_factor: how much of the weights is added to their gradients (optional).
      multiply_weight_decay_factor_by_learning_rate: whether that is multiplied by the rate.
      clipvalue: the range that gradients are kept in: a number for both ends, or (least, most).
      slot_variable_creation_fn: makes the variables of the optimizer (optional).
      low_dimensional_packing_status: whether rows of few numbers are packed.

    Raises:
      ValueError: where gradients are to be clipped that are not accumulated.
    """

    def __init__(
        self, learning_rate: Rate, use_gradient_accumulation: bool, clip_weight_min: float | None,
        clip_weight_max: float | None, weight_decay_factor: float | None,
        multiply_weight_decay_factor_by_learning_rate: bool | None, clipvalue: Any = None,
        slot_variable_creation_fn: Any = None, low_dimensional_packing_status: bool = False,
    ):  # fmt: skip
        super().__init__(slot_variable_creation_fn)
        self.learning_rate = learning_rate
        self.use_gradient_accumulation = use_gradient_accumulation
        self.clip_weight_min = clip_weight_min
        self.clip_weight_max = clip_weight_max
        if not use_gradient_accumulation and clipvalue is not None:
            raise ValueError(
                "When `use_gradient_accumulation` is False, gradient clipping cannot be used and `clipvalue` should be "
                f"left as None. Received value {clipvalue} for argument `clipvalue`."
            )
        if clipvalue is None:
            clipvalue = (None, None)
        elif not isinstance(clipvalue, tuple):
            clipvalue = (-clipvalue, clipvalue)
        self.clip_gradient_min, self.clip_gradient_max = clipvalue
        self.weight_decay_factor = weight_decay_factor
        self.multiply_weight_decay_factor_by_learning_rate = multiply_weight_decay_factor_by_learning_rate
        self.low_dimensional_packing_status = low_dimensional_packing_status


class SGD(Optimizer):
    """Gradient descent; the arguments are those of the base class."""

    def __init__(
        self, learning_rate: Rate = 0.01, use_gradient_accumulation: bool = True, clip_weight_min: float | None = None,
        clip_weight_max: float | None = None, weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None, clipvalue: Any = None,
        low_dimensional_packing_status: bool = False,
    ):  # fmt: skip
        super().__init__(
            learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max, weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate, clipvalue, None, low_dimensional_packing_status,
        )  # fmt: skip


class Adagrad(Optimizer):
    """Adagrad.

    Args:
      initial_accumulator_value: what the sums of squares begin with.
      Others are those of the base class.

    Raises:
      ValueError: where that is not positive.
    """

    def __init__(
        self, learning_rate: Rate = 0.001, initial_accumulator_value: float = 0.1,
        use_gradient_accumulation: bool = True, clip_weight_min: float | None = None,
        clip_weight_max: float | None = None, weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None, slot_variable_creation_fn: Any = None,
        clipvalue: Any = None, low_dimensional_packing_status: bool = False,
    ):  # fmt: skip
        super().__init__(
            learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max, weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate, clipvalue, slot_variable_creation_fn,
            low_dimensional_packing_status,
        )  # fmt: skip
        self.initial_accumulator_value = _positive_accumulator(initial_accumulator_value)

    def _slots(self) -> dict[str, Any]:
        return {"accumulators": Constant(self.initial_accumulator_value)}


class AdagradMomentum(Optimizer):
    """Adagrad with momentum.

    Args:
      momentum: the share of the last step that is made again.
      use_nesterov: whether momentum looks ahead.
      exponent: the power of the sums by which gradients are divided.
      beta2: the share of the sums of squares that is kept; 1 adds them up.
      epsilon: added to the sums.
      Others are those of the base class.

    Raises:
      ValueError: for an `epsilon` or `exponent` that is not positive.
    """

    def __init__(
        self, learning_rate: Rate = 0.001, momentum: float = 0.0, use_nesterov: bool = False, exponent: float = 2,
        beta2: float = 1, epsilon: float = 1e-10, use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None, clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None, multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: Any = None, clipvalue: Any = None, low_dimensional_packing_status: bool = False,
    ):  # fmt: skip
        super().__init__(
            learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max, weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate, clipvalue, slot_variable_creation_fn,
            low_dimensional_packing_status,
        )  # fmt: skip
        if epsilon <= 0:
            raise ValueError("Adagrad momentum: epsilon must be positive")
        if exponent <= 0:
            raise ValueError("Adagrad momentum: Precondition exponent must >0")
        self.momentum = momentum
        self.use_nesterov = use_nesterov
        self.exponent = exponent
        self.beta2 = beta2
        self.epsilon = epsilon

    def _slots(self) -> dict[str, Any]:
        return {"accumulators": Constant(), "momenta": Constant()}


class FTRL(Optimizer):
    """FTRL.

    Args:
      learning_rate_power: the power of the sums by which the rate falls.
      l1_regularization_strength, l2_regularization_strength: how much weights are pulled to zero.
      beta: added to the roots of the sums.
      initial_accumulator_value: what the sums of squares begin with.
      multiply_linear_by_learning_rate: whether the linear part is kept multiplied by the rate.
      allow_zero_accumulator: whether the sums may be zero.
      Others are those of the base class.

    Raises:
      ValueError: where the sums do not begin with a positive number.
    """

    def __init__(
        self, learning_rate: Rate = 0.001, learning_rate_power: float = -0.5, l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0, beta: float = 0.0, initial_accumulator_value: float = 0.1,
        use_gradient_accumulation: bool = True, clip_weight_min: float | None = None,
        clip_weight_max: float | None = None, weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None, slot_variable_creation_fn: Any = None,
        clipvalue: Any = None, multiply_linear_by_learning_rate: bool = False, allow_zero_accumulator: bool = False,
        low_dimensional_packing_status: bool = False,
    ):  # fmt: skip
        super().__init__(
            learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max, weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate, clipvalue, slot_variable_creation_fn,
            low_dimensional_packing_status,
        )  # fmt: skip
        self.initial_accumulator_value = _positive_accumulator(initial_accumulator_value)
        self.learning_rate_power = learning_rate_power
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.beta = beta
        self.multiply_linear_by_learning_rate = multiply_linear_by_learning_rate
        self.allow_zero_accumulator = allow_zero_accumulator

    def _slots(self) -> dict[str, Any]:
        return {"accumulators": Constant(self.initial_accumulator_value), "linears": Constant()}


class Adam(Optimizer):
    """Adam.

    Args:
      beta_1, beta_2: the shares of the means of gradients and of their squares that are kept.
      epsilon: added to the root of the mean of squares.
      lazy_adam: whether only rows that were looked up are updated.
      sum_inside_sqrt: whether `epsilon` is added inside of the root.
      Others are those of the base class.

    Raises:
      ValueError: for numbers out of range, and where Adam is not lazy but gradients are not accumulated.
    """

    def __init__(
        self, learning_rate: Rate = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-07,
        lazy_adam: bool = True, sum_inside_sqrt: bool = True, use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None, clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None, multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: Any = None, clipvalue: Any = None, low_dimensional_packing_status: bool = False,
    ):  # fmt: skip
        super().__init__(
            learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max, weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate, clipvalue, slot_variable_creation_fn,
            low_dimensional_packing_status,
        )  # fmt: skip
        for name, value in (("beta_1", beta_1), ("beta_2", beta_2)):
            if not 0.0 <= value < 1.0:
                raise ValueError(f"Argument `{name}` must be >= 0 and < 1. Received: {value}.")
        if epsilon <= 0.0:
            raise ValueError(f"epsilon must be positive; got {epsilon}.")
        if not use_gradient_accumulation and not lazy_adam:
            raise ValueError(
                "When disabling lazy Adam (`lazy_adam=False`), gradient accumulation must be used. Set "
                "`use_gradient_accumulation` to True."
            )
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.lazy_adam = lazy_adam
        self.sum_inside_sqrt = sum_inside_sqrt

    def _slots(self) -> dict[str, Any]:
        return {"momenta": Constant(), "velocities": Constant()}


class CustomOptimizer(Optimizer):
    """An optimizer that a function describes.

    Args:
      custom_computation: computes the new rows.
      learning_rate: a number, or a function that returns it.
      slot_names, slot_initializers: its variables.
      hyperparameters: further numbers, or functions that return them.
      slot_dims: how many dimensions each variable has, 1 or 2.

    Raises:
      ValueError: where the lists do not fit each other.
    """

    def __init__(
        self, custom_computation: Any, learning_rate: Rate = 0.01, slot_names: Any = None,
        slot_initializers: Any = None, hyperparameters: Any = None, slot_dims: Any = None,
    ):  # fmt: skip
        super().__init__(learning_rate, False, None, None, None, None)
        self._names = tuple(slot_names or ())
        self._initializers = tuple(slot_initializers or ())
        self._dims = tuple(slot_dims or ())
        self._hyperparameters = tuple(hyperparameters or ())
        self._custom_computation = custom_computation
        count = len(self._names)
        if count != len(self._initializers):
            raise ValueError(
                f"The number of slot_names ({count}) must match the number of slot_initializers "
                f"({len(self._initializers)})."
            )
        if self._dims and len(self._dims) != count:
            raise ValueError(
                f"The number of slot_dims ({len(self._dims)}) must match the number of slot_names ({count})."
            )
        for name, dim in zip(self._names, self._dims, strict=False):
            if dim not in (1, 2):
                raise ValueError(f"Unsupported slot dim '{dim}' for slot '{name}'. Only 1D and 2D are supported.")

    def _slots(self) -> dict[str, Any]:
        return dict(zip(self._names, self._initializers, strict=True))

    @property
    def hyperparameters(self) -> tuple[Any, ...]:
        """Further numbers, or functions that return them."""
        return self._hyperparameters

    @property
    def custom_computation(self) -> Any:
        """What computes the new rows."""
        return self._custom_computation

    @property
    def slot_dims(self) -> tuple[int, ...]:
        """How many dimensions each variable has."""
        return self._dims


def _positive_accumulator(value: float) -> float:
    if value <= 0:
        raise ValueError(f"Argument `initial_accumulator_value` must be a positive float. Received: {value}")
    return value


boundaries(globals())
