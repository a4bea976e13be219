"""Eager or graph, 1.x or 2.x: what a program says at its start."""

from __future__ import annotations

from tapeflow.api import api
from tapeflow.core import context, release
from tapeflow.core.context import enable_eager_execution, enable_tensor_equality
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import disable_v2_tensorshape, enable_v2_tensorshape
from tapeflow.ops.state import variable

_control_flow = True


@api(v1="disable_eager_execution")
def disable_eager_execution() -> None:
    """Let operations build graphs, in the whole process, as 1.x does. To be called at the start."""
    import tapeflow.graph  # noqa: F401 (the package that makes graphs possible)

    context.disable_eager_execution()


@api(v1="enable_v2_behavior")
def enable_v2_behavior() -> None:
    """Behave as TensorFlow 2.x: eagerly, tensors compared by their elements, shapes of plain integers."""
    enable_eager_execution()
    enable_tensor_equality()
    enable_v2_tensorshape()
    enable_resource_variables()
    enable_control_flow_v2()
    release.use_keras_2(False)


@api(v1="disable_v2_behavior")
def disable_v2_behavior() -> None:
    """Behave as TensorFlow 1.x."""
    disable_eager_execution()
    context.disable_tensor_equality()
    disable_v2_tensorshape()
    disable_resource_variables()
    disable_control_flow_v2()
    release.use_keras_2(True)


@api(v1="enable_resource_variables")
def enable_resource_variables() -> None:
    """Variables of graphs that do not say so are resources: a session that is fed the value of one feeds that alone."""
    variable.resources_by_default = True


@api(v1="disable_resource_variables")
def disable_resource_variables() -> None:
    """Variables of graphs that do not say so are references: a session that is fed one feeds all that reads it."""
    variable.resources_by_default = False


@api(v1="resource_variables_enabled")
def resource_variables_enabled() -> bool:
    """What was asked for last."""
    return variable.resources_by_default


@api(v1="enable_control_flow_v2")
def enable_control_flow_v2() -> None:
    """Nothing but the answer of `control_flow_v2_enabled`: control flow is made of functions here."""
    global _control_flow
    _control_flow = True


@api(v1="disable_control_flow_v2")
def disable_control_flow_v2() -> None:
    """Nothing but the answer of `control_flow_v2_enabled`: control flow is made of functions here."""
    global _control_flow
    _control_flow = False


@api(v1="control_flow_v2_enabled")
def control_flow_v2_enabled() -> bool:
    """What was asked for last."""
    return _control_flow


@api(v1="executing_eagerly_outside_functions")
def executing_eagerly_outside_functions() -> bool:
    """Whether operations would run at once if no function was being traced."""
    if context.executing_eagerly():
        return True
    with context.init_scope():
        return context.executing_eagerly()


def output_all_intermediates(state: bool | None) -> None:
    """Whether control flow gives out what its gradient needs; here it does so where a gradient is taken."""


boundaries(globals())
