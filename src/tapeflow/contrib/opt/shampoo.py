"""Gradients divided by roots of their second moments along each axis (Gupta, Koren and Singer 2018)."""

from __future__ import annotations

from tapeflow import train
from tapeflow.contrib.opt.matrix_functions import matrix_inverse_pth_root, matrix_square_root
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.flow import cond_v1
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.scatter import scatter_nd
from tapeflow.ops.linalg.decomposition import svd
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.math.arithmetic import maximum, pow
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.division import floormod
from tapeflow.ops.math.reductions import reduce_sum

__all__ = ["ShampooOptimizer"]


def _at(setting, step):
    return setting(step) if callable(setting) else setting


def _every(interval, step, update, kept):
    """What `update()` gives in every `interval`-th step, and `kept` gives in others."""
    if isinstance(interval, int) and interval == 1:
        return update()
    return cond_v1(floormod(step, cast(interval, step.dtype)) < 1, update, kept)


class ShampooOptimizer(train.Optimizer):
    """Multiplies the gradient, along each axis, by a power of the sum of the products of gradients along that axis.

    Args:
      global_step: a variable that counts the steps.
      max_matrix_size: longer axes have a diagonal in the place of a matrix.
      gbar_decay: what remains of the sum of gradients in a step; 0.0: the gradient itself is used.
      gbar_weight: the weight of a gradient in that sum.
      mat_gbar_decay: what remains of the products of gradients in a step.
      mat_gbar_weight: the weight of a product in that sum.
      learning_rate: the rate. It, decays, weights and intervals may be functions of the step.
      svd_interval: how many steps use the same roots.
      precond_update_interval: in which steps products are added.
      epsilon: added to the diagonals.
      alpha: the power is -alpha divided by the number of axes.
      use_iterative_root: roots by products of matrices, not by singular values.
      use_locking: accepted for compatibility.
      name: prefix of the names of variables.
    """

    def __init__(
        self, global_step=0, max_matrix_size: int = 768, gbar_decay: float = 0.0, gbar_weight: float = 1.0,
        mat_gbar_decay: float = 1.0, mat_gbar_weight: float = 1.0, learning_rate: float = 1.0, svd_interval=1,
        precond_update_interval=1, epsilon: float = 1e-4, alpha: float = 0.5,
        use_iterative_root: bool = False, use_locking: bool = False, name: str = "Shampoo",
    ):  # fmt: skip
        super().__init__(use_locking, name)
        self._global_step, self._max_matrix_size = global_step, max_matrix_size
        self._gbar_decay, self._gbar_weight = gbar_decay, gbar_weight
        self._mat_gbar_decay, self._mat_gbar_weight = mat_gbar_decay, mat_gbar_weight
        self._learning_rate, self._alpha, self._epsilon = learning_rate, alpha, epsilon
        self._svd_interval, self._precond_update_interval = svd_interval, precond_update_interval
        self._use_iterative_root = use_iterative_root

    def _apply_dense(self, grad, var):
        self._move(grad, var)

    def _apply_sparse(self, values, indices, var):
        if var.shape[0] <= self._max_matrix_size or self._gbar_decay != 0.0:
            rows = expand_dims(indices, 1)
            self._move(scatter_nd(rows, values, shape_of(var, out_type=indices.dtype)), var)
        else:
            self._move(values, var, indices)

    @staticmethod
    def _averaged(slot, decay, decay_now, addition):
        """A slot after a step; `decay` may be a function, `decay_now` is its value."""
        if not callable(decay) and decay == 0.0:
            return addition
        if not callable(decay) and decay == 1.0:
            return slot.assign_add(addition)
        return slot.assign_add((decay_now - 1) * slot + addition)

    def _root(self, matrix, size, power):
        if self._use_iterative_root:
            half = matrix_square_root(matrix, size, 100, self._epsilon)
            return matrix_inverse_pth_root(half, size, 2 * power, 100, ridge_epsilon=0.0)
        if size == 1:
            return pow(matrix + self._epsilon, power)
        values, left, right = svd(matrix + self._epsilon * eye(size, dtype=matrix.dtype), full_matrices=True)
        return matmul(right * pow(maximum(values, self._epsilon), power), transpose(left))

    def _move(self, grad, var, indices=None):
        step = cast(self._global_step, "float32") + 1
        update = grad
        if indices is None:
            gbar, decay = self._slot(var, "gbar"), _at(self._gbar_decay, step)
            update = self._averaged(gbar, self._gbar_decay, decay, _at(self._gbar_weight, step) * grad)
        else:
            self._slot(var, "gbar")
        for axis, size in enumerate(var.shape.as_list()):
            along = self._along_matrix if size <= self._max_matrix_size else self._along_diagonal
            update = along(update, grad, var, axis, size, step, indices)
        rate = _at(self._learning_rate, step)
        if indices is None:
            var.assign_sub(rate * update)
        else:
            var.scatter_sub(IndexedSlices(rate * update, indices))

    def _power(self, var, step):
        return -_at(self._alpha, step) / var.shape.rank

    def _along_matrix(self, update, grad, var, axis, size, step, indices):
        """The update times a root of a matrix along its first axis, which becomes the last one."""
        slot = self._slot(var, f"Gbar_{axis}", lambda _: zeros([size, size], var.dtype))
        interval = _at(self._precond_update_interval, step)
        others = [other for other in range(var.shape.rank) if other != axis]

        def added():
            product = tensordot(grad, grad, axes=(others, others))
            weight = _at(self._mat_gbar_weight, step) * interval
            decay = _at(self._mat_gbar_decay, step)
            return self._averaged(slot, self._mat_gbar_decay, decay, weight * product) + 0

        matrix = _every(interval, step, added, lambda: slot + 0) / float(size)
        power = self._power(var, step)
        if not callable(self._svd_interval) and self._svd_interval == 1:
            root = self._root(matrix, size, power)
        else:
            held = self._slot(var, f"H_{axis}", lambda _: eye(size, dtype=var.dtype))
            root = _every(
                _at(self._svd_interval, step), step, lambda: held.assign(self._root(matrix, size, power)) + 0,
                lambda: held + 0,
            )  # fmt: skip
        return tensordot(update, root, axes=([0], [0]))

    def _along_diagonal(self, update, grad, var, axis, size, step, indices):
        """The update times a root of a diagonal along its first axis, which becomes the last one."""
        slot = self._slot(var, f"Gbar_{axis}", lambda _: zeros([size], var.dtype))
        others = [other for other in range(var.shape.rank) if other != axis]
        squares = grad * grad
        if others:
            squares = reduce_sum(squares, axis=others) / (1.0 if indices is not None else float(size))
        addition = _at(self._mat_gbar_weight, step) * squares
        if axis == 0 and indices is not None:
            if self._mat_gbar_decay != 1.0:
                raise ValueError(f"Sparse gradients need a mat_gbar_decay of 1.0, not {self._mat_gbar_decay}")
            moments = gather(slot.scatter_add(IndexedSlices(addition, indices)), indices)
        else:
            decay = _at(self._mat_gbar_decay, step)
            moments = self._averaged(slot, self._mat_gbar_decay, decay, addition) + 0
        root = where(moments > 0, pow(moments, self._power(var, step)), zeros_like(moments))
        rank = var.shape.rank
        return transpose(update, [*range(1, rank), 0]) * root
