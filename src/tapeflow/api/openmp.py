"""The settings of the OpenMP runtime, made before the native core loads it.

By default its idle threads spin for many milliseconds. On cores that other programs use as well, every parallel
op then waits for a spinning thread to be scheduled away; a short spin, then sleep, costs an idle machine next to
nothing.
"""

import os

if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "5000")
