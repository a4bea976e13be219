"""`tfe.defun`: traces as `tf.function` does, without AutoGraph; each trace may create variables."""

from __future__ import annotations

from tapeflow.core.public import public
from tapeflow.function.function import Function


@public
def defun(
    func=None,
    input_signature=None,
    autograph=False,
    experimental_autograph_options=None,
    reduce_retracing=False,
):
    """Lets `func` run as a plan, made by tracing it; each trace may create variables. Also a decorator.

    Raises TypeError if `func` is not callable.
    """

    def decorated(inner):
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        return Function(
            inner, None, input_signature, autograph, None, reduce_retracing,
            experimental_autograph_options=experimental_autograph_options, creates_variables=True,
        )  # fmt: skip

    return decorated if func is None else decorated(func)


@public
def defun_with_attributes(
    func=None, input_signature=None, attributes=None, autograph=True, **options
):
    """`defun`; the attributes are kept, and mean nothing here."""
    made = defun(func, input_signature, autograph)
    if attributes:
        made._attributes = attributes
    return made
