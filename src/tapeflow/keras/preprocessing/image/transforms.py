"""Random and given changes of one image, a NumPy array: turns, shifts, shears, zooms, colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core import extras
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries
from tapeflow.keras.preprocessing.image.arrays import array_to_img, img_to_array


def apply_affine_transform(
    x, theta: int = 0, tx: int = 0, ty: int = 0, shear: int = 0, zx: int = 1, zy: int = 1, row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0, fill_mode: str = "nearest", cval: float = 0.0, order: int = 1,
):
    """Turn, shift, shear and zoom an image, around its centre.

    Args:
      x: an array of 3 axes.
      theta: the angle in degrees.
      tx: the shift along the rows, in pixels.
      ty: the shift along the columns, in pixels.
      shear: the shear in degrees.
      zx: the zoom along the rows; above 1 shows more of the image.
      zy: the zoom along the columns.
      row_axis, col_axis, channel_axis: the axes of the array: 0, 1 and 2 in some order.
      fill_mode: what is beyond the edges: "nearest", "constant", "reflect" or "wrap".
      cval: the value beyond the edges for "constant".
      order: the degree of the splines between pixels, from 0 to 5.

    Returns:
      The changed image, an array.

    Raises:
      ValueError: for other axes and shapes.
      ImportError: without SciPy.
    """
    ndimage = extras.load("scipy.ndimage", "Transforming an image")
    axes = (row_axis, col_axis, channel_axis)
    if len({*axes}) != 3 or any(a not in (0, 1, 2) for a in axes):
        raise ValueError(
            "Invalid 'row_axis', 'col_axis' and 'channel_axis': they must be 0, 1 and 2 in some order; "
            f"got {axes}"
        )
    if x.ndim != 3:
        raise ValueError("Input arrays must be multi-channel 2D images.")
    matrix = None
    if theta:
        a = np.deg2rad(theta)
        matrix = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    for step in (
        np.array([[1, 0, tx], [0, 1, ty], [0, 0, 1]]) if tx or ty else None,
        _shear_matrix(shear) if shear else None,
        np.array([[zx, 0, 0], [0, zy, 0], [0, 0, 1]]) if zx != 1 or zy != 1 else None,
    ):
        if step is not None:
            matrix = step if matrix is None else matrix @ step
    if matrix is None:
        return x
    height, width = x.shape[row_axis], x.shape[col_axis]
    to_centre = np.array([[1, 0, height / 2 - 0.5], [0, 1, width / 2 - 0.5], [0, 0, 1]])
    back = np.array([[1, 0, -height / 2 + 0.5], [0, 1, -width / 2 + 0.5], [0, 0, 1]])
    matrix = to_centre @ matrix @ back
    planes = np.moveaxis(x, (channel_axis, row_axis, col_axis), (0, 1, 2))
    planes = np.stack([
        ndimage.affine_transform(p, matrix[:2, :2], matrix[:2, 2], order=order, mode=fill_mode, cval=cval)
        for p in planes
    ])  # fmt: skip
    return np.moveaxis(planes, (0, 1, 2), (channel_axis, row_axis, col_axis))


def _shear_matrix(shear: float):
    a = np.deg2rad(shear)
    return np.array([[1, -np.sin(a), 0], [0, np.cos(a), 0], [0, 0, 1]])


def random_rotation(
    x: TensorLike, rg, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0, fill_mode: str = "nearest",
    cval: float = 0.0, interpolation_order: int = 1,
):
    """Turn an image by a random angle.

    Args:
      x: an array of 3 axes.
      rg: the largest angle, in degrees.
      row_axis, col_axis, channel_axis: the axes of the array: 0, 1 and 2 in some order.
      fill_mode: what is beyond the edges: "nearest", "constant", "reflect" or "wrap".
      cval: the value beyond the edges for "constant".
      interpolation_order: the degree of the splines between pixels, from 0 to 5.

    Returns:
      The changed image, an array.
    """
    return apply_affine_transform(
        x, theta=np.random.uniform(-rg, rg), row_axis=row_axis, col_axis=col_axis,
        channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order,
    )  # fmt: skip


def random_shift(
    x: Any, wrg, hrg, row_axis=1, col_axis=2, channel_axis=0, fill_mode: str = "nearest", cval: float = 0.0,
    interpolation_order=1,
):
    """Shift an image at random.

    Args:
      x: an array of 3 axes.
      wrg: the largest shift as a part of the width.
      hrg: the largest shift as a part of the height.
      row_axis, col_axis, channel_axis: the axes of the array: 0, 1 and 2 in some order.
      fill_mode: what is beyond the edges: "nearest", "constant", "reflect" or "wrap".
      cval: the value beyond the edges for "constant".
      interpolation_order: the degree of the splines between pixels, from 0 to 5.

    Returns:
      The changed image, an array.
    """
    return apply_affine_transform(
        x, tx=np.random.uniform(-hrg, hrg) * x.shape[row_axis],
        ty=np.random.uniform(-wrg, wrg) * x.shape[col_axis], row_axis=row_axis, col_axis=col_axis,
        channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order,
    )  # fmt: skip


def random_shear(
    x: TensorLike, intensity, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0, fill_mode: str = "nearest",
    cval: float = 0.0, interpolation_order: int = 1,
):
    """Shear an image at random.

    Args:
      x: an array of 3 axes.
      intensity: the largest shear, in degrees.
      row_axis, col_axis, channel_axis: the axes of the array: 0, 1 and 2 in some order.
      fill_mode: what is beyond the edges: "nearest", "constant", "reflect" or "wrap".
      cval: the value beyond the edges for "constant".
      interpolation_order: the degree of the splines between pixels, from 0 to 5.

    Returns:
      The changed image, an array.
    """
    return apply_affine_transform(
        x, shear=np.random.uniform(-intensity, intensity), row_axis=row_axis, col_axis=col_axis,
        channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order,
    )  # fmt: skip


def random_zoom(
    x: TensorLike, zoom_range, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
    fill_mode: str = "nearest", cval: float = 0.0, interpolation_order: int = 1,
):
    """Zoom an image by random factors.

    Args:
      x: an array of 3 axes.
      zoom_range: the bounds of the factors; above 1 shows more of the image.
      row_axis, col_axis, channel_axis: the axes of the array: 0, 1 and 2 in some order.
      fill_mode: what is beyond the edges: "nearest", "constant", "reflect" or "wrap".
      cval: the value beyond the edges for "constant".
      interpolation_order: the degree of the splines between pixels, from 0 to 5.

    Returns:
      The changed image, an array.

    Raises:
      ValueError: for what is not a range.
    """
    if len(zoom_range) != 2:
        raise ValueError(
            f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}"
        )
    zx = zy = 1
    if tuple(zoom_range) != (1, 1):
        zx, zy = np.random.uniform(zoom_range[0], zoom_range[1], 2)
    return apply_affine_transform(
        x, zx=zx, zy=zy, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
        fill_mode=fill_mode, cval=cval, order=interpolation_order,
    )  # fmt: skip


def apply_channel_shift(x, intensity, channel_axis: int = 0):
    """Add a number to all channels, within the image's own range.

    Args:
      x: an array of 3 axes.
      intensity: what is added.
      channel_axis: accepted as in Keras 2; all channels are changed.

    Returns:
      The changed image, an array.
    """
    return np.clip(x + intensity, np.min(x), np.max(x))


def random_channel_shift(x: TensorLike, intensity_range, channel_axis: int = 0):
    """Add a random number to all channels, within the image's own range.

    Args:
      x: an array of 3 axes.
      intensity_range: how much is added or subtracted at most.
      channel_axis: accepted as in Keras 2; all channels are changed.

    Returns:
      The changed image, an array.
    """
    intensity = np.random.uniform(-intensity_range, intensity_range)
    return apply_channel_shift(x, intensity, channel_axis=channel_axis)


def apply_brightness_shift(x: Any, brightness, scale: bool = True):
    """Make an image brighter or darker.

    Args:
      x: an array of 3 axes.
      brightness: the factor: 0 for black, 1 for no change.
      scale: whether values are stretched to 0..255 before.

    Returns:
      The changed image, an array.

    Raises:
      ImportError: without Pillow.
    """
    ImageEnhance = extras.load("PIL.ImageEnhance", "Changing the brightness of an image")

    low, high = np.min(x), np.max(x)
    local = (low < 0) or (high > 255)
    img = array_to_img(x, scale=local or scale)
    img = ImageEnhance.Brightness(img).enhance(brightness)
    x = img_to_array(img)
    if not scale and local:
        x = x / 255 * (high - low) + low
    return x


def random_brightness(x: TensorLike, brightness_range, scale: bool = True):
    """Make an image brighter or darker at random.

    Args:
      x: an array of 3 axes.
      brightness_range: the bounds of the factor.
      scale: whether values are stretched to 0..255 before.

    Returns:
      The changed image, an array.

    Raises:
      ValueError: for what is not a range.
    """
    if len(brightness_range) != 2:
        raise ValueError(
            f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}"
        )
    return apply_brightness_shift(x, np.random.uniform(*brightness_range), scale)


def flip_axis(x: np.ndarray, axis: int):
    """Reverse an array along an axis.

    Args:
      x: an array.
      axis: the axis, an integer.

    Returns:
      An array.
    """
    return np.flip(x, axis)


boundaries(globals())
