"""`ConstrainedMinimizationProblem`: what is to be made small, and what must not be above zero meanwhile."""

from __future__ import annotations

import abc

from tapeflow.core.public import public_methods


@public_methods
class ConstrainedMinimizationProblem(abc.ABC):
    """Base of problems: `objective` is to be as small as can be, where no element of `constraints` is positive."""

    @property
    @abc.abstractmethod
    def objective(self):
        """A scalar."""

    @property
    @abc.abstractmethod
    def constraints(self):
        """A tensor of a known shape."""

    @property
    def proxy_constraints(self):
        """What is differentiated in the place of `constraints`, of the same shape; None for these themselves."""
        return None

    @property
    def pre_train_ops(self):
        """Operations that run before a step; None for none."""
        return None

    @property
    def num_constraints(self):
        """How many constraints. Raises ValueError for shapes that are not known, or that differ."""
        shape = self.constraints.shape
        proxies = shape if self.proxy_constraints is None else self.proxy_constraints.shape
        if not (shape.is_fully_defined() and proxies.is_fully_defined()):
            raise ValueError("constraints and proxy_constraints must have fully-known shapes")
        if shape.as_list() != proxies.as_list():
            raise ValueError("constraints and proxy_constraints must have the same shape")
        return shape.num_elements()
