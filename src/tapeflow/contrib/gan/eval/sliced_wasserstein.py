"""The sliced Wasserstein distance of images: of patches of their Laplacian pyramids, along random directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor

_ROW = np.array([1, 4, 6, 4, 1], np.float32) / 16
_FILTER = np.outer(_ROW, _ROW).reshape(5, 5, 1, 1)


def _blurred(batch: Tensor, gain: int):
    """A batch under a Gaussian filter, each channel by itself, with reflected edges."""
    padded = v1.pad(batch, [[0, 0], [2, 2], [2, 2], [0, 0]], "REFLECT")
    kernel = np.tile(_FILTER * gain, [1, 1, int(batch.shape[-1]), 1])
    return v1.nn.depthwise_conv2d(padded, kernel, [1] * 4, "VALID")


def _laplacian_pyramid(batch: Any, levels: int):
    """What each size of a batch has that the next smaller one lacks."""
    pyramid = [v1.cast(batch, v1.float32)]
    for _ in range(1, levels):
        small = _blurred(pyramid[-1], 1)[:, ::2, ::2]
        spread = v1.concat([small, v1.zeros_like(v1.tile(small, [3, 1, 1, 1]))], 0)
        large = v1.batch_to_space(spread, crops=[[0, 0], [0, 0]], block_size=2)
        large.set_shape(pyramid[-1].shape)
        pyramid[-1] -= _blurred(large, 4)
        pyramid.append(small)
    return pyramid


def _patches(batch: Any, number: int, size: int):
    """Normalized random patches of images, (images * number, size * size * channels)."""

    def cut(images: np.ndarray):
        half, channels = size // 2, images.shape[3]
        count = number * len(images)
        which, y, x, channel = np.ogrid[:count, -half : half + 1, -half : half + 1, :channels]
        y = y + np.random.randint(half, images.shape[1] - half, size=(count, 1, 1, 1))
        x = x + np.random.randint(half, images.shape[2] - half, size=(count, 1, 1, 1))
        return images[which // number, y, x, channel]

    found = v1.py_func(cut, [batch], batch.dtype, stateful=False)
    found.set_shape([None, size, size, batch.shape[-1]])
    mean, variance = v1.nn.moments(found, [1, 2, 3], keep_dims=True)
    found = (found - mean) / v1.sqrt(variance)
    return v1.reshape(found, [v1.shape(found)[0], -1])


def _between_sorted(a: Tensor, b: Tensor):
    def ordered(x: Tensor):
        return v1.nn.top_k(v1.transpose(x), v1.shape(x)[0])[0]

    return v1.reduce_mean(v1.abs(ordered(a) - ordered(b)))


def _along_random(a: Tensor, b: Tensor, count: int, width: int):
    found = []
    for _ in range(count):
        directions = v1.nn.l2_normalize(v1.random_normal([v1.shape(a)[1], width]), 0, epsilon=0)
        found.append(_between_sorted(v1.matmul(a, directions), v1.matmul(b, directions)))
    return v1.reduce_mean(v1.stack(found))


def _along_singular(a: Tensor, b: Tensor):
    s, u, _ = v1.svd(v1.concat([a, b], 0))
    return _between_sorted(*v1.split(u * s, 2, axis=0))


def sliced_wasserstein_distance(
    real_images: Tensor, fake_images: Any, resolution_min: int = 16, patches_per_image: int = 64, patch_size: int = 7,
    random_sampling_count: int = 1, random_projection_dim: int = 7 * 7 * 3, use_svd: bool = False,
):  # fmt: skip
    """A list of (distance among real images, distance of real and fake ones), from the largest size to the smallest.

    Args:
      real_images, fake_images: (batch, size, size, 3), of one shape.
      resolution_min: the smallest size.
      patches_per_image, patch_size: how many patches are compared, and of which size.
      random_sampling_count, random_projection_dim: how often directions are drawn, and how many.
      use_svd: whether the directions are the singular vectors instead.
    """
    size = real_images.shape[1]
    real_images.shape.assert_is_compatible_with([None, None, size, 3])
    fake_images.shape.assert_is_compatible_with(real_images.shape)
    largest = int(size)
    levels = int(np.log2(largest)) - int(np.log2(min(resolution_min, largest))) + 1
    scores = []
    for real, fake in zip(
        _laplacian_pyramid(real_images, levels), _laplacian_pyramid(fake_images, levels), strict=True
    ):
        one, again, other = (_patches(x, patches_per_image, patch_size) for x in (real, real, fake))
        if use_svd:
            scores.append((_along_singular(one, again), _along_singular(one, other)))
        else:
            options = (random_sampling_count, random_projection_dim)
            scores.append((_along_random(one, again, *options), _along_random(one, other, *options)))
    return scores
