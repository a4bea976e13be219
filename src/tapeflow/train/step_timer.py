"""`tf.train.SecondOrStepTimer`: says when hooks are to do their work."""

from __future__ import annotations

import time

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public_methods


@public_methods
class SecondOrStepTimer:
    """Triggers every so many seconds, or every so many steps.

    Raises ValueError unless one of the two is given.
    """

    def __init__(self, every_secs: int | None = None, every_steps: int | None = None):
        self.reset()
        self._every_secs, self._every_steps = every_secs, every_steps
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")

    def reset(self):
        """Forgets when it triggered."""
        self._last_step = None
        self._last_time = None

    def should_trigger_for_step(self, step: TensorLike):
        """Whether it triggers at `step`; never twice at one step."""
        if self._last_step is None:
            return True
        if self._last_step == step:
            return False
        if self._every_secs is not None and time.time() >= self._last_time + self._every_secs:
            return True
        return self._every_steps is not None and step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step: TensorLike):
        """Notes that it triggered; (seconds, steps) since the time before, (None, None) at the first."""
        now = time.time()
        seconds = steps = None
        if self._last_time is not None:
            seconds, steps = now - self._last_time, step - self._last_step
        self._last_step, self._last_time = step, now
        return seconds, steps

    def last_triggered_step(self):
        """The step at which it triggered last, or None."""
        return self._last_step


class NeverTriggerTimer:
    """A timer that does not trigger."""

    def reset(self):
        """Nothing to forget."""

    def should_trigger_for_step(self, step: int):
        return False

    def update_last_triggered_step(self, step: int):
        return None, None

    def last_triggered_step(self):
        return None
