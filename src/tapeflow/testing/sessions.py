"""The sessions that tests ask for."""

from __future__ import annotations

from typing import Any

from tapeflow.core.public import boundaries


class NoSession:
    """What `TestCase.session` yields eagerly."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            "Trying to access properties or call methods on the result of self.session(), self.cached_session(), etc "
            f"while eager execution is enabled ({name}): there is no session. Use self.evaluate(), or turn eager "
            "execution off by tf.compat.v1.disable_eager_execution()."
        )


class EagerSession:
    """What `TestCase.cached_session` yields eagerly: runs tests that feed nothing."""

    def __init__(self, case: Any):
        self._case = case

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        """The values of tensors. Raises RuntimeError for anything that is to be fed."""
        meaning = "is enabled (in this case, sess.run(t) is shorthand for t.numpy()"
        if kwargs.pop("feed_dict", None):
            raise RuntimeError(f"feed_dict is not supported when eager execution {meaning}")
        if args or kwargs:
            raise RuntimeError(f"Optional args are not supported when eager execution {meaning}")
        return self._case.evaluate(fetches)


boundaries(globals())
