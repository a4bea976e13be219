"""Base of the Keras optimizers: settings, slots, clipping, and the walk over gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tapeflow._native import EagerTensor
from tapeflow.checkpoint.following import look_again, waiting
from tapeflow.core import context, replicas
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.tracking.module import SetByInit
from tapeflow.core.variables import dtype_of
from tapeflow.keras.engine.tracking import Tracked
from tapeflow.keras.old_names import takes_old_names
from tapeflow.keras.optimizers import variables
from tapeflow.keras.optimizers.clipping import Clipping
from tapeflow.keras.optimizers.config import CLIPPING, MORE, OptimizerConfig
from tapeflow.keras.optimizers.gradient_dtypes import in_dtypes
from tapeflow.keras.optimizers.gradients import LossGradients
from tapeflow.keras.optimizers.hyperparameters import Hyperparameters
from tapeflow.keras.optimizers.in_files import SavedState
from tapeflow.keras.optimizers.own_variables import OwnVariables
from tapeflow.keras.optimizers.slots import SlotVariables
from tapeflow.keras.optimizers.subclassing import Subclassed
from tapeflow.keras.optimizers.variables import OrderedVariables, SlotList
from tapeflow.keras.optimizers.wrapping import Wrapped
from tapeflow.keras.unknown_arguments import unknown_argument
from tapeflow.ops.control.grouping import group
from tapeflow.ops.state.variable import Variable
from tapeflow.train.slots import Slots
from tapeflow.train.sparse import is_sparse
from tapeflow.train.updating import ByRule, name_wrong_gradient

# What an optimizer remembers of its last step, or of the variables that it updates together.
_OF_ONE_STEP = ("_step", "_by_dtype", "_weights_of_step", "_groups", "_nodes")
_OLD = ("lr", "decay", "jit_compile", "is_legacy_optimizer")


@public_methods
class Optimizer(
    Hyperparameters, LossGradients, Clipping, OptimizerConfig, OwnVariables, SavedState, SlotVariables, Wrapped,
    OrderedVariables, Subclassed, ByRule, Tracked,
):  # fmt: skip
    """Changes variables by gradients; the base of all optimizers.

    Subclasses define `_update_of(dtype)` or `_apply_dense(grad, var)`, or, as in Keras 3, `build` and `update_step`.
    Settings given to `_set_hyper` may be numbers, tensors, functions, or (the learning rate) schedules; they become
    variables when first used, and can be set as attributes.

    Args:
      name: the prefix of the names of the variables that the optimizer makes.
      **kwargs: `weight_decay`, `clipnorm`, `clipvalue`, `global_clipnorm`, `use_ema`, `ema_momentum`,
        `ema_overwrite_frequency`, `loss_scale_factor` and `gradient_accumulation_steps`, as those of `SGD`; `decay`,
        which makes the learning rate fall as 1 / (1 + decay * iterations), and `lr`, the old name of `learning_rate`.

    Raises:
      ValueError: for other arguments (TypeError under Keras 2), negative numbers, and both kinds of clipping by
        norms.
    """

    _keras_module = "keras.optimizers"
    _keras_module_itself = "keras"

    def __init__(self, name: str, **kwargs):
        for argument in kwargs:
            if argument not in (*CLIPPING, *MORE, *_OLD):
                raise unknown_argument(type(self), argument, kwargs[argument], "optimizer")
            if isinstance(kwargs[argument], (int, float)) and kwargs[argument] < 0:
                raise ValueError(
                    f"decay cannot be less than 0. Received: {argument}={kwargs[argument]}"
                )
        steps = kwargs.get("gradient_accumulation_steps")
        if steps is not None and not steps >= 2:
            raise ValueError(
                "`gradient_accumulation_steps` must be an integer >= 2. Received: "
                f"gradient_accumulation_steps={steps}"
            )
        if kwargs.get("use_ema") and not 0 <= kwargs.get("ema_momentum", 0.99) <= 1:
            raise ValueError(
                "`ema_momentum` must be in the range [0, 1]. Received: "
                f"ema_momentum={kwargs['ema_momentum']}"
            )
        self._start_tracking()
        state = self.__dict__
        state["_name"] = name
        state["_hyper"] = {}
        state["_hyper_variables"] = {}
        state["_numbers"] = {}
        state["_slots"] = Slots()
        state["_made"] = variables.InOrder()
        state["_added"] = []
        state["_saved_settings"] = {}
        state["_iterations"] = None
        for argument in CLIPPING:
            state[argument] = kwargs.get(argument)
        if not keras_2() and sum(state[argument] is not None for argument in CLIPPING) > 1:
            raise ValueError(
                "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                f"clipnorm={self.clipnorm}, clipvalue={self.clipvalue}, global_clipnorm={self.global_clipnorm}"
            )
        if self.clipnorm is not None and self.global_clipnorm is not None:
            raise ValueError(
                "Cannot accept both `clipnorm` and `global_clipnorm`. Received: "
                f"`clipnorm`={self.clipnorm}, `global_clipnorm`={self.global_clipnorm}."
            )
        for argument, default in MORE.items():
            state[argument] = kwargs.get(argument, default)
        state["_wraps"] = any(state[argument] for argument in MORE if argument[:4] != "ema_")
        state["_no_decay"] = (set(), ())
        state["_known"] = None
        state["_decay"] = kwargs.get("decay") or 0.0
        state["_clips"] = any(kwargs.get(argument) is not None for argument in CLIPPING)

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        found = super()._trackable_children(save_type, **kwargs)
        # The functions of a SavedModel reach the slots by the lists.
        return found if self._saves_slots else {**found, **self._followed_in_keras_3()}

    def __getstate__(self):
        return {key: value for key, value in self.__dict__.items() if key not in _OF_ONE_STEP}

    # Whether Keras 2 has had it from its beginning: then it knows it by its plain name, and its slots as slots.
    _in_first_keras_2 = True

    @classmethod
    def _name_in_files(cls):
        """What files call the class; Keras 2 has registered those that came late."""
        name = cls.__name__
        return name if cls._in_first_keras_2 or not keras_2() else f"Custom>{name}"

    # The order of `weights`: all first slots, then all second ones; or variable by variable.
    _slots_by_variable = False

    # The lists of slots that Keras 3 has, in their order; those that differ from the slots' own names.
    _slot_lists: tuple[SlotList, ...] = ()
    # What else checkpoints of Keras 3 follow: names of attributes, by their names there.
    _own_checkpointed: ClassVar[dict[str, str]] = {}

    # Settings

    _hyper = SetByInit(RuntimeError)
    _hyper_variables = SetByInit(RuntimeError)
    _known = SetByInit(RuntimeError)

    # Steps

    def apply_gradients(
        self, grads_and_vars: Any, name: str | None = None, experimental_aggregate_gradients: bool = True, **kwargs
    ):
        """Change variables by their gradients, and add 1 to `iterations`.

        Args:
          grads_and_vars: (gradient, variable) pairs; a gradient of None leaves its variable as it is.
          name: accepted as in Keras 2.
          experimental_aggregate_gradients: accepted as in Keras 2.
          **kwargs: accepted as in Keras 2.

        Returns:
          `iterations`, after the step.

        Raises:
          TypeError: for items that are not pairs.
          ValueError: when there are variables but no gradient at all.

        >>> w = tf.Variable([1.0, 2.0])
        >>> _ = tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.constant([1.0, 0.0]), w)])
        >>> print(w.numpy())
        [0.5 2. ]
        """
        if replicas.several():
            return replicas.apply_once(self.apply_gradients, grads_and_vars)
        given = tuple(grads_and_vars)
        if given and type(given[0]) is not tuple:
            _require_pair(given[0])
        pairs = [pair for pair in given if pair[0] is not None]
        if not pairs:
            if not given:
                return self.iterations
            raise ValueError(
                "No gradients provided for any variable: "
                f"({[var.name for _, var in given]},). Provided `grads_and_vars` is {given}."
            )
        if self._known is None:
            known = [var for _, var in given]
            self.__dict__["_known"] = known
            if not keras_2() and not self._by_resources:
                self.build(known)
        graph = context.current_graph()
        if graph is None or graph.building_function:
            return self._update(pairs)
        with context.name_scope(name or self._name) as scope:
            updates = graph.effects_of(lambda: self._update(pairs))
            return group(*updates, name=scope)

    def _update(self, pairs):
        """Changes the variables; returns the number of calls so far."""
        try:
            if any(getattr(var, "overwrite_with_gradient", False) for _, var in pairs):
                pairs = self._without_replaced(pairs)
                if not pairs:
                    return self._count()
            if self._wraps:
                return self._wrapped_update(pairs)
            return self._update_once(pairs)
        except (InvalidArgumentError, ValueError) as error:
            name_wrong_gradient(pairs, error)
            raise

    def _update_once(self, pairs):
        """One update of the variables, without what wraps updates."""
        pairs = in_dtypes(pairs)
        if self._clips:
            pairs = self._clipped(pairs)
        self._begin_update(pairs[0][1])
        if self._by_resources:
            self._begin_step([var for _, var in pairs])
        for grad, var in self._apply_together(pairs):
            if type(grad) is EagerTensor:
                self._apply_dense(grad, var)
            elif is_sparse(grad):
                self._apply_slices(grad, var)
            elif isinstance(var, Variable):
                self._apply_dense(convert_to_tensor(grad, dtype_of(var)), var)
            else:
                raise TypeError(f"{var!r} is not a variable that {self._name} could update")
            if var.constraint is not None:
                var.assign(var.constraint(var))
        if self.gradient_accumulation_steps:
            return self.iterations  # counted by what accumulates
        return self._count()

    def _count(self):
        """Counts a call; returns the counter."""
        counter = self._counter
        counter.assign_add(self._one() if context.executing_eagerly() else 1)
        return counter

    def _one(self):
        """The step of `iterations` as a tensor, which needs no conversion."""
        found = self._numbers.get("one")
        if found is None:
            found = self._numbers["one"] = self._number(1, dtype_of(self._counter))
        return found

    def _begin_update(self, var):
        """Called before the updates of a step with the first variable."""

    # As Keras 3 has it

    @takes_old_names(var_list="variables")
    def build(self, variables):
        """Makes the slots of these variables."""
        known = list(variables)
        self.__dict__["_known"] = known
        self._counter  # noqa: B018
        if "learning_rate" in self._hyper and not callable(self._hyper["learning_rate"]):  # not so in those that wrap
            self._hyper_variable("learning_rate")
        self._build_wrapped(known)
        for names in self._slot_order():
            for var in known:
                if getattr(var, "overwrite_with_gradient", False):
                    continue
                for name, value in self._slot_values(var):
                    if names is None or name in names:
                        self._slot(var, name, value)
        self._build_own(known)
        if waiting:
            look_again()

    def _build_own(self, trained: Sequence[Any]):
        """Makes the variables that belong to no trained one."""

    # Slots of a group come variable by variable, one group after the other; of all names together without groups.
    _slot_groups: tuple = ()

    def _slot_order(self):
        return self._slot_groups or (None,)

    def _slot_values(self, var):
        """(name, first value) pairs of the slots of a variable."""
        return ()

    @property
    def built(self):
        """Whether the variables to train are known."""
        return self._known is not None

    def apply(self, grads: Sequence[Tensor], trainable_variables=None):
        """Change variables by gradients given in two lists, as `apply_gradients` does.

        Args:
          grads: the gradients.
          trainable_variables: the variables, as many; None for those of `build`.

        Returns:
          `iterations`, after the step.

        Raises:
          ValueError: for lists of different lengths, and without variables before `build`.
        """
        if trainable_variables is None:
            if self._known is None:
                raise ValueError(
                    "When passing `grads` without `variables`, the optimizer must already be built on a "
                    "list of variables. Call `optimizer.build(trainable_variables)` first."
                )
            trainable_variables = self._known
        grads, trainable_variables = list(grads), list(trainable_variables)
        if len(grads) != len(trainable_variables):
            raise ValueError(
                f"`optimizer.apply` got {len(grads)} gradients and {len(trainable_variables)} variables."
            )
        return self.apply_gradients(zip(grads, trainable_variables))

    def stateless_apply(
        self, optimizer_variables: Sequence[Tensor], grads: Sequence[Tensor], trainable_variables: Sequence[Tensor]
    ):
        """Compute an update without changing any variable.

        Args:
          optimizer_variables: values of the optimizer's variables, in the order of `variables`.
          grads: the gradients.
          trainable_variables: values of the variables to train.

        Returns:
          The values after the update: of the variables to train, and of the optimizer's.
        """
        self.build(self._known or trainable_variables)
        own, trained = self._saved_variables(), self._known
        before = [v.read_value() for v in (*own, *trained)]
        for variable, value in zip((*own, *trained), (*optimizer_variables, *trainable_variables)):
            variable.assign(value)
        try:
            self.apply(grads, trained)
            return [v.read_value() for v in trained], [v.read_value() for v in own]
        finally:
            for variable, value in zip((*own, *trained), before):
                variable.assign(value)

    def update_step(self, gradient, variable, learning_rate: float | None = None):
        """Change one variable by its gradient.

        Args:
          gradient: its gradient.
          variable: the variable to change.
          learning_rate: accepted as in Keras 3; the rate is the optimizer's own.
        """
        self._apply_dense(gradient, variable)

    def finalize_variable_values(self, var_list):
        """Sets the variables to their moving averages, if those are kept."""
        if self.use_ema:
            self._overwrite_by_averages(var_list)

    # Checkpoints

    # Slots and description


def _require_pair(item):
    """Raises TypeError for an item of `grads_and_vars` that is not a pair."""
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        raise TypeError(
            "`grads_and_vars` must be pairs of a gradient and a variable, as of `zip(gradients, variables)`; got "
            f"an item {item!r}"
        )
