"""Autostereograms: one picture of random dots in which two eyes see depth (Thimbleby, Inglis and Witten 1994)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import tapeflow.compat.v1 as tf
from tapeflow.core.annotations import FloatLike, TensorLike
from tapeflow.core.structures.structure import fields_of


class _Setting(NamedTuple):
    hidden_surface_removal: bool = True
    convergence_dots_size: int = 8
    dots_per_inch: int = 72
    eye_separation: float = 2.5
    mu: float = 0.3333
    normalize: bool = True
    normalize_max: float = -100.0
    normalize_min: float = 100.0
    border_level: float = 0.0
    number_colors: int = 256
    output_image_shape: tuple = (1024, 768, 1)
    output_data_window: tuple = (1022, 757)

    @property
    def eyes(self) -> int:
        """The distance of the eyes in pixels."""
        return int(self.eye_separation * self.dots_per_inch)

    def separation(self, depth: FloatLike):
        """How far apart the two images of a point lie, in pixels."""
        apart = (1 - self.mu * depth) * self.eyes / (2 - self.mu * depth)
        return np.floor(apart + 0.5).astype(np.int64)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Height, width and channels of the picture."""
        width, height, channels = self.output_image_shape
        return height, width, 3 if self.number_colors > 256 else channels

    @property
    def top(self) -> int:
        """Where the window with the data begins."""
        spare = self.output_image_shape[1] - self.output_data_window[1]
        if self.convergence_dots_size > 0:
            return max(0, spare - self.convergence_dots_size) // 3
        return int(spare / 2)


def _depths(values, s: _Setting):
    """Depths from 0 (far) to 1 (near)."""
    values = values.astype(np.float64)
    if s.normalize:
        high, low = s.normalize_max, s.normalize_min
        if high < low:
            high, low = values.max(), values.min()
        with np.errstate(all="ignore"):
            values = (values - low) / (high - low)
    return np.nan_to_num(values, nan=0.0).clip(0, 1)


def _at_pixels(depths, s: _Setting, x):
    """The depths seen in columns `x` of all rows of the picture; the border's outside of the window."""
    height, width, _ = s.sizes
    left = int((width - s.output_data_window[0]) / 2)
    rows, columns = depths.shape
    at_x = columns * (x - left) / s.output_data_window[0]
    at_y = rows * (np.arange(height) - s.top) / s.output_data_window[1]
    inside = ((at_y >= 0) & (at_y < rows))[:, None] & ((at_x >= 0) & (at_x < columns))
    places = np.ix_(at_y.astype(int).clip(0, rows - 1), at_x.astype(int).clip(0, columns - 1))
    return np.where(inside, depths[places], s.border_level)


def _visible(depths: np.ndarray, here: np.ndarray, s: _Setting):
    """Where both eyes see a point: nothing nearer stands in the way."""
    x = np.arange(s.sizes[1])
    visible, checking = np.ones(here.shape, bool), np.ones(here.shape, bool)
    step = 0
    while s.hidden_surface_removal and checking.any():
        step += 1
        ray = here + 2 * (2 - s.mu * here) * step / (s.mu * s.eyes)
        free = (_at_pixels(depths, s, x - step) < ray) & (_at_pixels(depths, s, x + step) < ray)
        visible &= free | ~checking
        checking &= free & (ray < 1)
    return visible


def _links(apart: Sequence[int], visible: Sequence[bool]):
    """For each pixel of a row the one to its right that has its color, or itself."""
    same = list(range(len(apart)))
    for x, (distance, seen) in enumerate(zip(apart, visible, strict=True)):
        left = x - distance // 2
        right = left + distance
        if not seen or left < 0 or right >= len(same):
            continue
        link = same[left]
        while link not in (left, right):
            if link < right:
                left = link
                link = same[left]
            else:
                same[left] = right
                left = right
                link = same[left]
                right = link
        same[left] = right
    return same


def _draw_dots(picture: np.ndarray, s: _Setting):
    """Black the two dots below the picture that help the eyes to converge."""
    size = s.convergence_dots_size
    height, width, _ = s.sizes
    last = height - 1 - s.top if size > 0 else height - 1
    far = int(s.separation(0.0))
    for center in (width // 2 - far // 2, width // 2 + far // 2):
        left = center - size // 2
        picture[max(0, last - size + 1) : last + 1, max(0, left) : max(0, left + size)] = 0


def _picture(values: TensorLike, colors: np.ndarray, s: _Setting):
    depths = _depths(values, s)
    here = _at_pixels(depths, s, np.arange(s.sizes[1]))
    apart, visible = s.separation(here).tolist(), _visible(depths, here, s).tolist()
    out = colors.astype(np.uint8)
    for row, *given in zip(out, apart, visible, strict=True):
        same = _links(*given)
        for x in reversed(range(len(same))):
            same[x] = same[same[x]]
        row[:] = row[same]
    _draw_dots(out, s)
    return out


def single_image_random_dot_stereograms(
    depth_values,
    hidden_surface_removal=None,
    convergence_dots_size=None,
    dots_per_inch=None,
    eye_separation=None,
    mu=None,
    normalize=None,
    normalize_max=None,
    normalize_min=None,
    border_level=None,
    number_colors=None,
    output_image_shape=None,
    output_data_window=None,
    name=None,
):
    """A picture of random dots [height, width, channels] of uint8, in which two eyes see the given depths.

    Args:
      depth_values: [rows, columns] of int32, int64, float32 or float64; larger is nearer.
      hidden_surface_removal: whether points that only one eye would see are drawn for none; True by default.
      convergence_dots_size: of the two black dots at the bottom, in pixels; 8.
      dots_per_inch: of the screen; 72.
      eye_separation: in inches; 2.5.
      mu: depth of field, as a part of the distance from which it is seen; 0.3333.
      normalize: whether depths are scaled to the range 0 to 1; True.
      normalize_max, normalize_min: what becomes 1 and 0; the extremes of the depths if the first is less; -100, 100.
      border_level: the depth around the data; 0.
      number_colors: 2 for black and white, up to 256 for gray, above for colors; 256.
      output_image_shape: [width, height, channels]; [1024, 768, 1].
      output_data_window: [width, height] that the depths fill; [1022, 757].
    """
    given = (hidden_surface_removal, convergence_dots_size, dots_per_inch, eye_separation, mu, normalize, normalize_max,
             normalize_min, border_level, number_colors, output_image_shape, output_data_window)  # fmt: skip
    chosen = {
        key: tuple(tf.TensorShape(value).as_list()) if key.startswith("output") else value
        for key, value in zip(fields_of(_Setting), given, strict=True)
        if value is not None
    }
    setting = _Setting(**chosen)
    with tf.name_scope(name, "SingleImageRandomDotStereograms"):
        values = tf.convert_to_tensor(depth_values)
        shape = setting.sizes
        if setting.number_colors == 2:
            colors = tf.random_uniform(shape, 0, 2, tf.int32) * 255
        else:
            colors = tf.random_uniform(shape, 0, 256, tf.int32)
        picture = tf.numpy_function(lambda v, c: _picture(v, c, setting), [values, colors], tf.uint8)
        picture.set_shape(shape)
        return picture
