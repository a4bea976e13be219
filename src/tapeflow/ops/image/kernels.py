"""The kernels of `ScaleAndTranslate`: functions of the distance in pixels, each with the radius where it ends."""

from __future__ import annotations

import numpy as np


def _lanczos(radius: float):
    def kernel(x):
        safe = np.where(x <= 1e-3, 1, x)
        value = radius * np.sin(np.pi * safe) * np.sin(np.pi * safe / radius) / (np.pi * safe) ** 2
        return np.where(x > radius, 0, np.where(x <= 1e-3, 1, value))

    return kernel


def _gaussian(x):
    return np.where(x >= 1.5, 0, np.exp(-(x**2) / (2 * 0.5**2)))


def _box(x):
    return np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))


def _triangle(x):
    return np.maximum(1 - x, 0)


def _cubic(b: float, c: float):
    """The family of Mitchell and Netravali, "Reconstruction Filters in Computer Graphics" (1988)."""

    def kernel(x):
        near = (12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + (6 - 2 * b)
        far = (-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 - (12 * b + 48 * c) * x + 8 * b + 24 * c
        return np.where(x < 1, near, np.where(x < 2, far, 0)) / 6

    return kernel


KERNELS = {
    "lanczos1": (_lanczos(1.0), 1.0),
    "lanczos3": (_lanczos(3.0), 3.0),
    "lanczos5": (_lanczos(5.0), 5.0),
    "gaussian": (_gaussian, 1.5),
    "box": (_box, 1.0),
    "triangle": (_triangle, 1.0),
    "keyscubic": (_cubic(0.0, 0.5), 2.0),
    "mitchellcubic": (_cubic(1 / 3, 1 / 3), 2.0),
}
