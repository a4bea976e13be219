# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.core.tracebacks import disable_traceback_filtering as disable_traceback_filtering
from tapeflow.core.tracebacks import enable_traceback_filtering as enable_traceback_filtering
from tapeflow.core.tracebacks import is_traceback_filtering_enabled as is_traceback_filtering_enabled
from tapeflow.graph.run.call_watching import disable_check_numerics as disable_check_numerics
from tapeflow.graph.run.call_watching import enable_check_numerics as enable_check_numerics
from tapeflow.graph.run.call_watching import get_log_device_placement as get_log_device_placement
from tapeflow.graph.run.call_watching import set_log_device_placement as set_log_device_placement
from tapeflow.ops.control.assert_op import Assert as Assert
from tapeflow.ops.control.assertions import assert_equal as assert_equal
from tapeflow.ops.control.assertions import assert_greater as assert_greater
from tapeflow.ops.control.assertions import assert_greater_equal as assert_greater_equal
from tapeflow.ops.control.assertions import assert_less as assert_less
from tapeflow.ops.control.assertions import assert_less_equal as assert_less_equal
from tapeflow.ops.control.assertions import assert_near as assert_near
from tapeflow.ops.control.assertions import assert_negative as assert_negative
from tapeflow.ops.control.assertions import assert_non_negative as assert_non_negative
from tapeflow.ops.control.assertions import assert_non_positive as assert_non_positive
from tapeflow.ops.control.assertions import assert_none_equal as assert_none_equal
from tapeflow.ops.control.assertions import assert_positive as assert_positive
from tapeflow.ops.control.assertions_v2 import assert_integer as assert_integer
from tapeflow.ops.control.assertions_v2 import assert_shapes as assert_shapes
from tapeflow.ops.control.assertions_v2 import assert_type as assert_type
from tapeflow.ops.control.shape_assertions import assert_rank as assert_rank
from tapeflow.ops.control.shape_assertions import assert_rank_at_least as assert_rank_at_least
from tapeflow.ops.control.shape_assertions import assert_rank_in as assert_rank_in
from tapeflow.ops.control.shape_assertions import assert_scalar_v2 as assert_scalar
from tapeflow.ops.control.type_assertions import assert_proper_iterable as assert_proper_iterable
from tapeflow.ops.control.type_assertions import assert_same_float_dtype as assert_same_float_dtype
from tapeflow.ops.control.type_assertions import is_numeric_tensor as is_numeric_tensor
from tapeflow.ops.math.check import assert_all_finite as assert_all_finite
from tapeflow.ops.math.check import check_numerics as check_numerics
__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_shapes",
    "assert_type",
    "check_numerics",
    "disable_check_numerics",
    "disable_traceback_filtering",
    "enable_check_numerics",
    "enable_traceback_filtering",
    "get_log_device_placement",
    "is_numeric_tensor",
    "is_traceback_filtering_enabled",
    "set_log_device_placement",
]
