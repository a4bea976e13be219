"""`tf.train.SyncReplicasOptimizer`: gradients of several workers, summed before they are applied (1.x)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow.core.context import device_v1 as device
from tapeflow.core.context import name_scope
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import public_methods
from tapeflow.graph.build.collections import global_variables
from tapeflow.graph.build.variable_initializers import report_uninitialized_variables
from tapeflow.ops.array.construction import fill
from tapeflow.ops.control.grouping import control_dependencies, group, no_op
from tapeflow.ops.queue.accumulator import ConditionalAccumulator, SparseConditionalAccumulator
from tapeflow.ops.queue.queues import FIFOQueue
from tapeflow.ops.state.variable import VariableV1
from tapeflow.train.optimizer import Optimizer
from tapeflow.train.queue_runner import QueueRunner
from tapeflow.train.session_manager import _ready
from tapeflow.train.session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from tapeflow.train.coordinator import Coordinator
    from tapeflow.train.gradient_descent import GradientDescentOptimizer


@public_methods
class SyncReplicasOptimizer(Optimizer):
    """Applies the mean of the gradients of several workers, once it has those of enough of them.

    Workers put gradients of the current step into accumulators, and wait for a token. A thread of the chief takes the
    means, lets `opt` apply them, and gives each worker a token with the new step.

    Args:
      opt: the optimizer that applies the means.
      replicas_to_aggregate: how many gradients make a step.
      total_num_replicas: how many workers there are, if not as many.
      variable_averages, variables_to_average: an ExponentialMovingAverage to be updated with each step.
    """

    def __init__(
        self, opt: GradientDescentOptimizer, replicas_to_aggregate: int, total_num_replicas: int | None = None,
        variable_averages=None, variables_to_average=None, use_locking: bool = False, name: str = "sync_replicas",
    ):  # fmt: skip
        super().__init__(use_locking, name)
        total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        self._opt = opt
        self._needed, self._total = replicas_to_aggregate, total
        self._tokens_per_step = max(total, replicas_to_aggregate)
        self._averages, self._averaged = variable_averages, variables_to_average
        self._global_step = None
        self._tokens = self._runner = None
        self._applied = False

    def compute_gradients(self, *args, **kwargs):
        """That of the optimizer within."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation that hands gradients in and waits for the step.

        Raises ValueError for no variables, or no global step.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        kind = global_step.dtype.base_dtype
        self._local_step = VariableV1(
            0, trainable=False, collections=["local_variables"], dtype=kind, name="sync_rep_local_step"
        )
        self.local_step_init_op = self._local_step.assign(global_step, read_value=False)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(self._name):
            handed, accumulators, means = self._accumulated(pairs)
            with _beside(global_step), name_scope(""):
                update = self._opt.apply_gradients(
                    [(mean, var) for mean, (_, var) in zip(means, pairs, strict=True)], global_step
                )
            with _beside(global_step):
                self._tokens = FIFOQueue(
                    -1, kind, shapes=[()], name="sync_token_q", shared_name="sync_token_q"
                )
                never = FIFOQueue(1, kind, shapes=[()], name="dummy_queue", shared_name="dummy_queue")
                with control_dependencies([update]):
                    done = self._tokens.enqueue_many(fill([self._tokens_per_step], global_step.read_value()))
                    if self._averages is not None:
                        with control_dependencies([done]):
                            done = self._averages.apply(self._averaged)
                self._runner = QueueRunner(never, [done])
            begun = []
            for held, var in accumulators:
                with _beside(var):
                    begun.append(held.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = group(self.local_step_init_op, *begun)
            with _beside(global_step):
                with control_dependencies(handed):
                    token = self._tokens.dequeue()
                train = self._local_step.assign(token, read_value=False)
        self._applied = True
        return train

    def _accumulated(self, pairs):
        """The operations that hand gradients in, their accumulators with the variables, and the means."""
        handed, accumulators, means = [], [], []
        for grad, var in pairs:
            if grad is None:
                means.append(None)
                continue
            with _beside(var):
                held, given, mean = self._accumulator(grad, var)
            handed.append(given)
            means.append(mean)
            accumulators.append((held, var))
        return handed, accumulators, means

    def _accumulator(self, grad, var):
        """An accumulator of the gradients of a variable, the operation that hands one in, and the mean."""
        name = f"{var.name}/grad_accum"
        if isinstance(grad, IndexedSlices):
            held = SparseConditionalAccumulator(grad.dtype, shape=None, shared_name=name)
            given = held.apply_indexed_slices_grad(grad, local_step=self._local_step)
            return held, given, held.take_indexed_slices_grad(self._needed)
        held = ConditionalAccumulator(grad.dtype, shape=var.shape, shared_name=name)
        return held, held.apply_grad(grad, local_step=self._local_step), held.take_grad(self._needed)

    def get_chief_queue_runner(self):
        """What applies the means, for the chief to start. Raises ValueError before `apply_gradients`."""
        if not self._applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._runner

    def get_init_tokens_op(self, num_tokens=-1):
        """The operation that gives workers their first tokens.

        Raises ValueError before `apply_gradients`, and for too few tokens.
        """
        if not self._applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        least = self._needed - self._total
        if num_tokens == -1:
            num_tokens = self._needed
        elif num_tokens < least:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} (given) vs {least} (needed)"
            )
        if num_tokens <= 0:
            return no_op(name="no_init_tokens")
        with _beside(self._global_step):
            return self._tokens.enqueue_many(fill([num_tokens], self._global_step.read_value()))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1):
        """The hook that each worker's session needs."""
        return _Hook(self, is_chief, num_tokens)

    def get_slot(self, *args, **kwargs):
        """That of the optimizer within."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """Those of the optimizer within."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        """Those of the optimizer within."""
        return self._opt.variables()


def _beside(var):
    """A block whose operations run where a variable is, whichever worker builds them."""
    return device(var.device)


class _Hook(SessionRunHook):
    """Starts the chief's thread, and gives out the first tokens."""

    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int):
        self._optimizer, self._is_chief, self._number = optimizer, is_chief, num_tokens

    def begin(self):
        optimizer = self._optimizer
        if not optimizer._applied:
            raise ValueError(
                "SyncReplicasOptimizer.apply_gradient should be called before using the hook."
            )
        self._ready_op = optimizer.ready_for_local_init_op
        self._init_op = optimizer.chief_init_op if self._is_chief else optimizer.local_step_init_op
        self._runner = optimizer.get_chief_queue_runner() if self._is_chief else None
        self._tokens_op = optimizer.get_init_tokens_op(self._number) if self._is_chief else None

    def after_create_session(self, session, coord: Coordinator):
        """Initialises what the optimizer added. Raises RuntimeError for a model that is not ready."""
        text = "Model is not ready for SyncReplicasOptimizer local init."
        ready, why = _ready(self._ready_op, session, text)
        if not ready:
            raise RuntimeError("Init operations did not make model ready for local_init. "
                               f"Init op: {self._init_op.name}, error: {why}")  # fmt: skip
        session.run(self._init_op)
        if self._tokens_op is not None:
            session.run(self._tokens_op)
        if self._runner is not None:
            self._runner.create_threads(session, coord=coord, daemon=True, start=True)
