"""`tf.contrib.learn.utils`: what exports need."""

from types import SimpleNamespace

from tapeflow.contrib.learn.serving import (
    InputFnOps,
    build_parsing_serving_input_fn,
    make_export_strategy,
)

__all__ = ["input_fn_utils", "make_export_strategy", "saved_model_export_utils"]

input_fn_utils = SimpleNamespace(
    InputFnOps=InputFnOps, build_parsing_serving_input_fn=build_parsing_serving_input_fn
)
saved_model_export_utils = SimpleNamespace(make_export_strategy=make_export_strategy)
