"""Base of the Keras optimizers: settings, slots, clipping, and the walk over gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tapeflow._native import EagerTensor
from tapeflow.autodiff.tape import GradientTape
from tapeflow.checkpoint.following import attached, look_again, waiting
from tapeflow.core import context, dtypes, replicas
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import boundary, public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tracking.module import SetByInit
from tapeflow.core.variables import dtype_of, graph_parts
from tapeflow.graph.build.variables import check_may_create
from tapeflow.keras import initializers, settings
from tapeflow.keras.engine.tracking import Tracked
from tapeflow.keras.old_names import takes_old_names
from tapeflow.keras.optimizers import schedules, variables
from tapeflow.keras.optimizers.subclassing import Subclassed
from tapeflow.keras.optimizers.variables import OrderedVariables, SlotList
from tapeflow.keras.optimizers.wrapping import Wrapped
from tapeflow.keras.session import set_values, values_of
from tapeflow.keras.unknown_arguments import unknown_argument
from tapeflow.ops.array.construction import fill, zeros
from tapeflow.ops.control.flow import group
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.clip import clip_by_global_norm, clip_by_norm, clip_by_value
from tapeflow.ops.state.variable import Variable
from tapeflow.train.slots import Slots, on_device_of
from tapeflow.train.sparse import is_sparse
from tapeflow.train.updating import ByRule, name_wrong_gradient

_CLIPPING = ("clipnorm", "clipvalue", "global_clipnorm")
_AVERAGING = {"use_ema": False, "ema_momentum": 0.99, "ema_overwrite_frequency": None}
_MORE = {"weight_decay": None, **_AVERAGING, "loss_scale_factor": None,
         "gradient_accumulation_steps": None}  # fmt: skip
_SHARED_OF_KERAS_3 = (
    "weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "use_ema", "ema_momentum", "ema_overwrite_frequency",
    "loss_scale_factor", "gradient_accumulation_steps",
)  # fmt: skip
# What an optimizer remembers of its last step, or of the variables that it updates together.
_OF_ONE_STEP = ("_step", "_by_dtype", "_weights_of_step", "_groups", "_nodes")
_OLD = ("lr", "decay", "jit_compile", "is_legacy_optimizer")


class Variables(list):
    """The variables of an optimizer; also called as a function, as they were before Keras 3."""

    def __call__(self):
        return self


@public_methods
class Optimizer(Wrapped, OrderedVariables, Subclassed, ByRule, Tracked):
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

    def __init__(self, name: str, **kwargs):
        for argument in kwargs:
            if argument not in (*_CLIPPING, *_MORE, *_OLD):
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
        for argument in _CLIPPING:
            state[argument] = kwargs.get(argument)
        if not keras_2() and sum(state[argument] is not None for argument in _CLIPPING) > 1:
            raise ValueError(
                "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                f"clipnorm={self.clipnorm}, clipvalue={self.clipvalue}, global_clipnorm={self.global_clipnorm}"
            )
        if self.clipnorm is not None and self.global_clipnorm is not None:
            raise ValueError(
                "Cannot accept both `clipnorm` and `global_clipnorm`. Received: "
                f"`clipnorm`={self.clipnorm}, `global_clipnorm`={self.global_clipnorm}."
            )
        for argument, default in _MORE.items():
            state[argument] = kwargs.get(argument, default)
        state["_wraps"] = any(state[argument] for argument in _MORE if argument[:4] != "ema_")
        state["_no_decay"] = (set(), ())
        state["_known"] = None
        state["_decay"] = kwargs.get("decay") or 0.0
        state["_clips"] = any(kwargs.get(argument) is not None for argument in _CLIPPING)

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

    def _set_hyper(self, name: str, value):
        """Sets a setting; a number may be changed later by assignment."""
        if isinstance(value, schedules.LearningRateSchedule) or callable(value):
            self._hyper[name] = value
        elif name in self._hyper_variables:
            variable = self._hyper_variables[name]
            if graph_parts(variable) is not None and not hasattr(value, "graph"):
                set_values([(variable, value)])
            else:
                variable.assign(value)
            self._hyper[name] = value
        else:
            number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
            self._hyper[name] = float(value) if number else value
        self._numbers.clear()

    def _setting(self, name: str, dtype: DType):
        """A setting as a scalar tensor (or variable) of a dtype."""
        variable = self._hyper_variables.get(name)
        if variable is not None:
            return variable if dtype_of(variable) == dtype else cast(variable, dtype)
        value = self._hyper[name]
        if type(value) is float and name == "learning_rate" and context.inside_graph():
            # What is traced reads the rate of the moment, which callbacks change.
            variable = self._hyper_variable(name)
            return variable if dtype_of(variable) == dtype else cast(variable, dtype)
        if type(value) is float:
            key = (name, dtype)
            found = self._numbers.get(key)
            if found is None:
                found = self._numbers[key] = self._number(value, dtype)
            return found
        if isinstance(value, schedules.LearningRateSchedule):
            value = value(self.iterations)
        elif callable(value):
            value = value()
        value = convert_to_tensor(value)
        return value if value.dtype == dtype else cast(value, dtype)

    @staticmethod
    def _number(value: float, dtype: DType):
        """A number as a tensor that outlives the graph being built."""
        with context.eager_mode():
            return convert_to_tensor(value, dtype)

    def _rate(self, dtype: DType):
        """The learning rate of the moment."""
        rate = self._setting("learning_rate", dtype)
        if self._decay:
            rate = rate / (1.0 + self._decay * cast(self.iterations, dtype))
        return rate

    def _hyper_variable(self, name: str):
        """A setting as a variable; what stays a function or schedule is returned itself."""
        if name not in self._hyper_variables:
            value = self._hyper[name]
            if callable(value):
                return value
            dtype = dtypes.bool if isinstance(value, bool) else dtypes.float32
            with context.init_scope():
                self._hyper_variables[name] = variables.make(lambda: value, f"{self._name}/{name}", dtype)
            graph = context.current_graph()
            if graph is not None and not graph.building_function:
                # One initializer is to find them all.
                for other, number in self._hyper.items():
                    if type(number) is float:
                        self._hyper_variable(other)
        return self._hyper_variables[name]

    @boundary
    def __getattr__(self, name: str):
        hyper = self.__dict__.get("_hyper", {})
        if name == "lr":
            name = "learning_rate"
        if name in hyper:
            plain = not keras_2() and name != "learning_rate" and name not in self._hyper_variables
            return hyper[name] if plain else self._hyper_variable(name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self):
        return [*super().__dir__(), *self._hyper]

    @boundary
    def __setattr__(self, name: str, value: float | Tensor):
        if name == "lr":
            name = "learning_rate"
        if name in self.__dict__.get("_hyper", ()):
            scheduled = isinstance(self._hyper[name], schedules.LearningRateSchedule)
            if scheduled and not callable(value) and not keras_2():
                raise TypeError(
                    "This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` "
                    "constructor argument, hence its learning rate is not settable. If you need the learning rate to "
                    "be settable, you should instantiate the optimizer with a float `learning_rate` argument."
                )
            self._set_hyper(name, value)
        elif name in self.__dict__:
            self.__dict__[name] = value
        else:
            super().__setattr__(name, value)

    @property
    def learning_rate(self):
        """The learning rate: a variable, or what a schedule or function gives now; in Keras 2 these themselves."""
        if "learning_rate" not in self._hyper:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'learning_rate'")
        rate = self._hyper_variable("learning_rate")
        if keras_2() or not callable(rate):
            return rate
        return rate(self.iterations) if isinstance(rate, schedules.LearningRateSchedule) else rate()

    @learning_rate.setter
    def learning_rate(self, value: TensorLike):
        self._set_hyper("learning_rate", value)

    @property
    def iterations(self):
        """The number of updates: an int64 variable, or in Keras 3 a tensor where gradients are accumulated."""
        if self.gradient_accumulation_steps and not keras_2():
            return self._counter // int(self.gradient_accumulation_steps)
        return self._counter

    @iterations.setter
    def iterations(self, variable):
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been "
                f"created. Here it is attempting to set `iterations` to {variable}."
            )
        self.__dict__["_iterations"] = variable

    @property
    def _counter(self):
        """The variable that counts calls of apply_gradients; in Keras 2, updates."""
        if self._iterations is None:
            name = "iter" if keras_2() else "iteration"
            self.__dict__["_iterations"] = variables.make(lambda: 0, f"{self._name}/{name}", dtypes.int64)
            for name, value in self._trackable_children().items():
                attached(self, name, value)
        return self._iterations

    # Steps

    def minimize(
        self, loss: Callable[..., Any] | Tensor, var_list, grad_loss=None, name: str | None = None, tape=None
    ):
        """Make one step down a loss.

        Args:
          loss: a function without arguments, or a tensor computed under `tape`.
          var_list: the variables to change, a list or a function that gives one.
          grad_loss: the gradient that the loss itself has; None for 1.
          name: accepted as in Keras 2.
          tape: the tape under which a tensor was computed.

        Returns:
          `iterations`, after the step.

        Raises:
          ValueError: for a tensor without a tape.

        >>> x = tf.Variable(3.0)
        >>> _ = tf.keras.optimizers.SGD(0.1).minimize(lambda: x ** 2, [x])
        >>> print(f"{x.numpy():.2f}")
        2.40
        """
        return self.apply_gradients(self.compute_gradients(loss, var_list, grad_loss, tape), name)

    def compute_gradients(self, loss: Callable[..., Any] | Tensor, var_list, grad_loss=None, tape=None):
        """Compute the gradients of a loss.

        Args:
          loss: a function without arguments, or a tensor computed under `tape`.
          var_list: the variables, a list or a function that gives one.
          grad_loss: the gradient that the loss itself has; None for 1.
          tape: the tape under which a tensor was computed.

        Returns:
          A list of (gradient, variable) pairs.

        Raises:
          ValueError: for a tensor without a tape.
        """
        if not callable(loss) and tape is None:
            raise ValueError(
                f"`tape` is required when a `Tensor` loss is passed. Received: loss={loss}, tape={tape}."
            )
        if callable(loss):
            with tape or GradientTape() as tape:
                if not callable(var_list):
                    tape.watch(var_list)
                loss = loss()
        trained = nest.flatten(var_list() if callable(var_list) else var_list)
        return list(zip(tape.gradient(loss, trained, grad_loss), trained))

    def _compute_gradients(self, loss: Tensor, var_list: Sequence[Any], grad_loss=None, tape=None):
        return self.compute_gradients(loss, var_list, grad_loss, tape)

    def _get_hyper(self, name: str, dtype: DType | None = None):
        """A setting: a variable, a function or a schedule; of another dtype if one is given."""
        if name == "decay" and name not in self._hyper:
            value = convert_to_tensor(self._decay, dtypes.float32)
        else:
            value = self._hyper_variable(name)
        if isinstance(value, schedules.LearningRateSchedule):
            return value
        value = value() if callable(value) and not isinstance(value, Variable) else value
        return value if dtype is None else cast(value, dtype)

    def get_gradients(self, loss, params):
        """Compute the gradients of a function.

        Args:
          loss: a function without arguments.
          params: the variables.

        Returns:
          A list of gradients, None for variables that the result does not depend on.
        """
        with GradientTape() as tape:
            tape.watch(params)
            value = loss()
        return tape.gradient(value, params)

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
        pairs = _in_dtypes(pairs)
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

    def _clip_gradients(self, grads: Sequence[Any]):
        """The gradients, clipped as the settings of the optimizer say."""
        given = [(convert_to_tensor(g) if isinstance(g, np.ndarray) else g, None) for g in grads if g is not None]
        clipped = iter([grad for grad, _ in self._clipped(given)])
        return [None if grad is None else next(clipped) for grad in grads]

    def _clipped(self, pairs: Sequence[Any]):
        gradients = [grad for grad, _ in pairs]
        if self.clipvalue is not None:
            gradients = [
                _on_values(grad, lambda g: clip_by_value(g, -self.clipvalue, self.clipvalue))
                for grad in gradients
            ]
        if self.clipnorm is not None:
            gradients = [
                _on_values(grad, lambda g: clip_by_norm(g, self.clipnorm)) for grad in gradients
            ]
        if self.global_clipnorm is not None:
            gradients, _ = clip_by_global_norm(gradients, self.global_clipnorm)
        return [(grad, var) for grad, (_, var) in zip(gradients, pairs)]

    def _weight_decay_of(self, var):
        """The part, times the learning rate, by which a variable shrinks at every step; None for nothing."""
        return self.weight_decay

    def _begin_update(self, var):
        """Called before the updates of a step with the first variable."""

    # As Keras 3 has it

    @takes_old_names(var_list="variables")
    def build(self, variables):
        """Makes the slots of these variables."""
        known = list(variables)
        self.__dict__["_known"] = known
        self._counter  # noqa: B018
        if not callable(self._hyper.get("learning_rate", 0.0)):
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

    def scale_loss(self, loss: TensorLike):
        """The loss times loss_scale_factor, if there is one."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def exclude_from_weight_decay(self, var_list: Sequence[Any] | None = None, var_names=None):
        """Keep variables from weight decay.

        Args:
          var_list: variables.
          var_names: patterns; variables whose names match one of them.
        """
        self.__dict__["_no_decay"] = ({id(v) for v in var_list or ()}, tuple(var_names or ()))

    def finalize_variable_values(self, var_list):
        """Sets the variables to their moving averages, if those are kept."""
        if self.use_ema:
            self._overwrite_by_averages(var_list)

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

    def _slots_in_order(self):
        """The slots, in the order of their making."""
        slots = {id(s) for s in self._slots.all(self._slots_by_variable)}
        return [v for v in self._made.all() if id(v) in slots]

    def _saved_variables(self):
        """The variables in the order of files."""
        return [self._counter, *self._made.all()] if keras_2() else self._variables_in_order()

    def save_own_variables(self, store):
        """Puts the values of the variables in a dict, by number."""
        for i, value in enumerate(values_of(self._saved_variables())):
            store[str(i)] = value

    def load_own_variables(self, store: dict[str, Any]):
        """Sets the variables from a dict that save_own_variables has filled. Raises ValueError if they do not fit."""
        own = self._saved_variables()
        slots = [s for s in self._slots_in_order() if s.dtype.is_floating]
        if len(store.keys()) == 1 + len(slots or self._known or ()):  # of Keras 2; unused ones it has too, or not
            own = [self._counter, *slots]
        elif len(store.keys()) == len(own) - len(self._slots_in_order()):  # of an optimizer that was not used
            made = {id(s) for s in self._slots_in_order()}
            own = [v for v in own if id(v) not in made]
        elif len(store.keys()) != len(own):
            raise ValueError(
                f"Skipping variable loading for optimizer '{self.name}', because it has "
                f"{len(own)} variables whereas the saved optimizer has {len(store.keys())} "
                "variables."
            )
        set_values([(variable, np.asarray(store[str(i)])) for i, variable in enumerate(own)])

    # Checkpoints

    @property
    def _saves_slots(self):
        """Whether checkpoints have the slots as such; else they have them in lists."""
        return self._by_resources or (keras_2() and self._in_first_keras_2)

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        found = super()._trackable_children(save_type, **kwargs)
        # The functions of a SavedModel reach the slots by the lists.
        return found if self._saves_slots else {**found, **self._followed_in_keras_3()}

    def _children_of_keras_3(self):
        if self._by_resources:
            return self._children_of_keras_2()
        return {**self._followed_in_keras_3(), **self._tracked_objects()}

    def _children_of_keras_2(self):
        if self._iterations is None:
            return {}
        found = {"iter": self._iterations}
        for name, value in self._hyper.items():
            if name in self._hyper_variables:
                found[name] = self._hyper_variables[name]
            elif not callable(value):
                found[name] = self._saved_setting(name)
        found["decay"] = self._saved_setting("decay")
        return found

    def _saved_setting(self, name):
        """What checkpoints save and restore of a setting that is a number."""

        def get():
            return np.float32(self._decay if name == "decay" else self._hyper[name])

        def put(value):
            if name == "decay":
                self.__dict__["_decay"] = float(value)
            else:
                self._set_hyper(name, float(value))

        return self._saved_settings.setdefault(name, SavedSetting(get, put))

    def _expect(self, names):
        """Says that a checkpoint has these: what they are restored to is made."""
        if "iter" in names:
            self._counter  # noqa: B018

    def _restore_slot(self, var, name: str):
        """The slot of that name, made for a checkpoint that has it."""
        return self._slot(var, name, dict(self._slot_values(var)).get(name, 0.0))

    # Slots and description

    def add_slot(self, var: Any, slot_name: str, initializer: str = "zeros", shape: Sequence[Any] | None = None):
        """Find the slot of a variable, or make it.

        Args:
          var: the variable.
          slot_name: the name of the slot.
          initializer: first values: an initializer, its name, or a tensor or variable of that shape.
          shape: another shape than that of the variable, where `initializer` is not zeros.

        Returns:
          The slot variable.
        """
        if isinstance(initializer, str) and initializer == "zeros":
            return self._slot(var, slot_name)
        if not isinstance(initializer, str) and not callable(initializer):
            return self._slot(var, slot_name, lambda: convert_to_tensor(initializer, dtypes.as_dtype(var.dtype)))
        start = initializers.get(initializer)
        sizes = var.shape.as_list() if shape is None else list(shape)
        return self._slot(var, slot_name, lambda: start(sizes, dtype=dtype_of(var)))

    def _slot(self, var: Any, name: str | None, value=0.0):
        slots = self._slots.of(var)
        slot = slots.get(name)
        if slot is None:
            sizes = var.shape.as_list()

            def start():
                if callable(value):
                    return value()
                return fill(sizes, cast(value, dtype_of(var))) if value else zeros(sizes, dtype_of(var))

            with on_device_of(var):
                slots[name] = slot = self._make(start, self._slot_path(var, name))
        return slot

    def get_slot(self, var: Any, slot_name: str):
        """Find the slot of a variable.

        Args:
          var: the variable.
          slot_name: the name of the slot.

        Returns:
          The slot variable.

        Raises:
          KeyError: when there is none.
        """
        slot = self._slots.get(var, slot_name)
        if slot is None:
            raise KeyError(slot_name)
        return slot

    def get_slot_names(self):
        """The names of the slots made so far."""
        return self._slots.names()

    @property
    def variables(self):
        """iterations and all slot variables, as a list that may also be called; in Keras 3, the learning rate too."""
        return Variables(self.weights if keras_2() or self._by_resources else self._variables_in_order())

    @property
    def weights(self):
        """iterations and all slot variables."""
        return [
            *([self._iterations] if self._iterations is not None else []),
            *self._slots.all(self._slots_by_variable),
        ]

    def get_weights(self):
        """The values of `weights` as NumPy arrays."""
        return values_of(self.weights)

    def set_weights(self, weights: Sequence[TensorLike]):
        """Sets `weights` from arrays. Raises ValueError for a wrong number."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a weight list of "
                f"length {len(weights)}, but the optimizer was expecting {len(own)} weights."
            )
        set_values(zip(own, weights))

    @property
    def name(self):
        """The name given to the constructor."""
        return self._name

    def _config_value(self, name):
        value = self._hyper[name]
        if name in self._hyper_variables:
            return values_of([self._hyper_variables[name]])[0].item()
        if isinstance(value, schedules.LearningRateSchedule):
            return schedules.serialize(value)
        return value() if callable(value) else value

    def _config_of(self, *names):
        own = {n: self._config_value(n) for n in ("learning_rate", *names) if n in self._hyper}
        if (keras_2() and self._in_first_keras_2) or self._decay:
            own["decay"] = self._decay
        shared = {n: self.__dict__[n] for n in (*_CLIPPING, *_MORE)}
        if keras_2():
            return {"name": self._name, **own, **{n: v for n, v in shared.items() if v != _MORE.get(n)}}
        # As Keras 3 writes it: what all optimizers have comes first.
        first = {n: own[n] for n in ("learning_rate",) if n in own}
        return {"name": self._name, **first, **{n: shared[n] for n in _SHARED_OF_KERAS_3}, **own}

    def get_config(self):
        """The constructor's arguments."""
        if not self._by_resources:
            return self._config_of()
        clipping = {n: self.__dict__[n] for n in _CLIPPING if self.__dict__[n] is not None}
        return {"name": self._name, **clipping}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
        """Make an optimizer from the constructor's arguments.

        Args:
          config: what `get_config` gave.
          custom_objects: a dict of the program's own classes and functions by name.

        Returns:
          An optimizer without slots.
        """
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects)
        return cls(**config)


class SavedSetting:
    """A setting that is a number, as checkpoints see it: as a variable."""

    def __init__(self, get: Callable[[], Any], put: Callable[[Any], None]):
        self._get, self._put = get, put

    def _checkpoint_values(self):
        return {"VARIABLE_VALUE": (self._get, self._put)}


def _require_pair(item):
    """Raises TypeError for an item of `grads_and_vars` that is not a pair."""
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        raise TypeError(
            "`grads_and_vars` must be pairs of a gradient and a variable, as of `zip(gradients, variables)`; got "
            f"an item {item!r}"
        )


def _in_dtypes(pairs: Sequence[Any]):
    """The pairs; in Keras 3 with each gradient in the dtype of its variable."""
    for grad, var in pairs:
        if isinstance(grad, (Tensor, IndexedSlices)) and grad.dtype is not dtype_of(var) and not keras_2():
            break
    else:
        return pairs
    return [
        (_on_values(grad, lambda g, var=var: cast(g, dtype_of(var))), var)
        if isinstance(grad, (Tensor, IndexedSlices)) and grad.dtype is not dtype_of(var)
        else (grad, var)
        for grad, var in pairs
    ]


def _on_values(grad: Any, change: Callable[..., Any]):
    """A changed gradient; of a sparse one, its values are changed."""
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(change(grad.values), grad.indices, grad.dense_shape)
    return change(grad)
