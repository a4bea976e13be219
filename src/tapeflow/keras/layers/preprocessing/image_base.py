"""What layers that change images share: one random change for images, labels, boxes and masks together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings
from tapeflow.keras.layers.preprocessing.base import PreprocessingLayer, as_tensor
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.random.functions import uniform
from tapeflow.ops.static import sizes_of


class ImageLayer(PreprocessingLayer):
    """Changes images (height, width, channels), alone or in batches, or a dict with "images" and what belongs to them.

    Args:
      factor: how strong the change is; a number, or a pair of bounds.
      bounding_box_format: "xyxy", "yxyx", "xywh", "center_xywh", or "rel_" and one of these.
      data_format: where channels are.
    """

    _only_in_configs = ("rng_type",)
    _bounds: tuple[float, float] = (-1.0, 1.0)
    # The lower bound, of the factor, where one number is given; None: minus the number.
    _lower: float | None = None

    def __init__(
        self, factor: Sequence[float] | float | None = None, bounding_box_format=None,
        data_format: str | None = None, **kwargs,
    ):
        super().__init__(**kwargs)
        self.bounding_box_format = bounding_box_format
        self.data_format = settings.normalize_data_format(data_format)
        if factor is not None:
            self._set_factor(factor)

    def _set_factor(self, factor: Sequence[float] | float):
        self.factor = self._range_of(factor, "factor")

    def _range_of(
        self, factor: Sequence[float] | float, name: str, bounds: Sequence[float] | None = None, lower=None
    ):
        """A pair of bounds from a number or a pair. Raises ValueError for numbers that do not fit."""
        low, high = self._bounds if bounds is None else bounds
        lower = self._lower if lower is None else lower
        if isinstance(factor, (tuple, list)) and len(factor) == 2:
            pair = sorted(factor)
        elif isinstance(factor, (int, float)):
            pair = sorted([max(-factor, low) if lower is None else lower, factor])
        else:
            raise ValueError(
                f"The `{name}` argument should be a number (or a list of two numbers) in the range "
                f"[{low}, {high}]. Received: {name}={factor}"
            )
        if any(not low <= x <= high for x in pair):
            raise ValueError(
                f"The `{name}` argument should be a number (or a list of two numbers) in the range "
                f"[{low}, {high}]. Received: {name}={factor}"
            )
        return tuple(pair)

    # What subclasses define

    def get_random_transformation(
        self, data: dict[str, Any], training: bool | Tensor = True, seed: int | None = None
    ):
        """What is drawn for one call: passed to all of the functions below."""

    def transform_images(self, images: TensorLike, transformation, training: bool | Tensor = True):
        """The images, changed."""
        return images

    def transform_labels(self, labels: TensorLike, transformation, training: bool | Tensor = True):
        """The labels that belong to the changed images."""
        return labels

    def transform_segmentation_masks(
        self, segmentation_masks, transformation, training: bool | Tensor = True
    ):
        """The masks that belong to the changed images."""
        return segmentation_masks

    def transform_bounding_boxes(self, bounding_boxes, transformation, training: bool | Tensor = True):
        """The boxes that belong to the changed images."""
        return bounding_boxes

    def transform_single_image(self, image: TensorLike, transformation, training: bool | Tensor = True):
        """One image, changed."""
        return squeeze(self.transform_images(expand_dims(image, 0), transformation, training), [0])

    def transform_single_label(self, label: str, transformation, training: bool | Tensor = True):
        """The label of one image."""
        return squeeze(self.transform_labels(expand_dims(label, 0), transformation, training), [0])

    def transform_single_segmentation_mask(
        self, segmentation_mask, transformation, training: bool | Tensor = True
    ):
        """The mask of one image."""
        masks = expand_dims(segmentation_mask, 0)
        return squeeze(self.transform_segmentation_masks(masks, transformation, training), [0])

    def transform_single_bounding_box(self, bounding_box, transformation, training: bool | Tensor = True):
        """The boxes of one image."""
        batch = {name: expand_dims(as_tensor(x), 0) for name, x in bounding_box.items()}
        changed = self.transform_bounding_boxes(batch, transformation, training)
        return {name: squeeze(x, [0]) for name, x in changed.items()}

    # Calls

    def call(self, data, training=True):
        whole = dict(data) if isinstance(data, dict) else {"images": data}
        images = as_tensor(whole["images"])
        if images.dtype != self._compute_dtype_object:
            images = cast(images, self._compute_dtype_object)
        alone = images.shape.rank == 3
        first = self.data_format == "channels_first"
        if alone:
            images = expand_dims(images, 0)
        if first:
            images = transpose(images, [0, 2, 3, 1])
        self.__dict__["_sizes"] = sizes_of(images)
        whole["images"] = images
        change = self.get_random_transformation(whole, training)
        images = self.transform_images(images, change, training)
        self.__dict__["_new_sizes"] = sizes_of(images)
        if first:
            images = transpose(images, [0, 3, 1, 2])
        whole["images"] = squeeze(images, [0]) if alone else images
        for name, function in (
            ("labels", self.transform_labels),
            ("target", self.transform_labels),
            ("segmentation_masks", self.transform_segmentation_masks),
        ):
            if name in whole:
                value = as_tensor(whole[name])
                value = expand_dims(value, 0) if alone else value
                value = function(value, change, training)
                whole[name] = squeeze(value, [0]) if alone else value
        if "bounding_boxes" in whole:
            boxes = {k: as_tensor(v) for k, v in whole["bounding_boxes"].items()}
            if alone:
                boxes = {k: expand_dims(v, 0) for k, v in boxes.items()}
            boxes = self.transform_bounding_boxes(boxes, change, training)
            if alone:
                boxes = {k: squeeze(v, [0]) for k, v in boxes.items()}
            whole["bounding_boxes"] = boxes
        return whole if isinstance(data, dict) else whole["images"]

    def _uniform(self, shape: Sequence[Any], low: float, high: float, seed: int | None = None):
        """Random numbers of the compute dtype."""
        dtype = self._compute_dtype_object
        if dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64):
            dtype = dtypes.float32
        return uniform(shape, low, high, dtype, seed=self._own_seed(seed))

    def _own_seed(self, seed: int | None):
        return seed if isinstance(seed, int) else getattr(self, "seed", None)

    def _per_image(self, images: Tensor, low: float, high: float, seed: int | None = None):
        """A random number for each image, of shape (batch, 1, 1, 1)."""
        return self._uniform([sizes_of(images)[0], 1, 1, 1], low, high, seed)

    def compute_output_shape(self, input_shape: Sequence[Any]):
        return TensorShape(input_shape) if not isinstance(input_shape, dict) else input_shape

    def get_config(self):
        config = super().get_config()
        if self.bounding_box_format is not None:
            config["bounding_box_format"] = self.bounding_box_format
        for name in ("factor", "seed", "value_range"):
            if hasattr(self, name):
                value = getattr(self, name)
                config[name] = list(value) if isinstance(value, tuple) else value
        return config


class GeometricLayer(ImageLayer):
    """A change of where pixels are, which masks and boxes follow."""

    def _move(self, images, transformation, nearest: bool = False):
        """The images, changed; without mixing neighbours where `nearest`."""
        return images

    def _move_points(self, x: Tensor, y: Tensor, transformation):
        """Where points go: x and y of shape (batch, n), in pixels."""
        return x, y

    def transform_images(
        self, images: TensorLike, transformation: dict[str, Any] | None, training: bool | Tensor = True
    ):
        """The images, changed."""
        return self._move(images, transformation) if training else images

    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        """The masks, changed like the images."""
        if not training:
            return segmentation_masks
        flat = segmentation_masks.shape.rank == 3
        masks = expand_dims(segmentation_masks, -1) if flat else segmentation_masks
        dtype = masks.dtype
        masks = self._move(cast(masks, dtypes.float32), transformation, nearest=True)
        masks = cast(masks, dtype)
        return squeeze(masks, [-1]) if flat else masks

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        """The smallest boxes around where the corners of the boxes go."""
        if not training:
            return bounding_boxes
        form = self.bounding_box_format or "xyxy"
        boxes = cast(bounding_boxes["boxes"], dtypes.float32)
        x0, y0, x1, y1 = corners_of(boxes, form, *self._sizes[1:3])
        xs, ys = concat([x0, x1, x0, x1], 1), concat([y0, y0, y1, y1], 1)
        xs, ys = self._move_points(xs, ys, transformation)
        parts = [split(xs, 4, axis=1), split(ys, 4, axis=1)]
        height, width = (cast(size, dtypes.float32) for size in self._new_sizes[1:3])
        edges = []
        for found, limit in zip(parts, (width, height)):
            low, high = found[0], found[0]
            for part in found[1:]:
                low, high = minimum(low, part), maximum(high, part)
            edges.append((clip_by_value(low, 0.0, limit), clip_by_value(high, 0.0, limit)))
        (x0, x1), (y0, y1) = edges
        return {**bounding_boxes, "boxes": boxes_of(x0, y0, x1, y1, form, height, width)}


def corners_of(boxes: TensorLike, form: str, height: int, width: int):
    """x0, y0, x1, y1 in pixels, each (batch, n), of boxes (batch, n, 4). Raises ValueError for an unknown form."""
    kind = form.removeprefix("rel_")
    a, b, c, d = (squeeze(part, [-1]) for part in split(boxes, 4, axis=-1))
    if kind == "yxyx":
        a, b, c, d = b, a, d, c
    elif kind in ("xywh", "coco"):
        c, d = a + c, b + d
    elif kind == "center_xywh":
        a, b, c, d = a - c / 2, b - d / 2, a + c / 2, b + d / 2
    elif kind not in ("xyxy", "pascal_voc"):
        raise ValueError(f"Unknown bounding box format: {form!r}")
    if form.startswith("rel_"):
        width, height = cast(width, a.dtype), cast(height, a.dtype)
        a, b, c, d = a * width, b * height, c * width, d * height
    return a, b, c, d


def boxes_of(a: Tensor, b: Tensor, c: Tensor, d, form: str, height, width):
    """The boxes of `corners_of`, back in their form."""
    kind = form.removeprefix("rel_")
    if form.startswith("rel_"):
        a, b, c, d = a / width, b / height, c / width, d / height
    if kind == "yxyx":
        a, b, c, d = b, a, d, c
    elif kind in ("xywh", "coco"):
        c, d = c - a, d - b
    elif kind == "center_xywh":
        a, b, c, d = (a + c) / 2, (b + d) / 2, c - a, d - b
    return concat([expand_dims(part, -1) for part in (a, b, c, d)], -1)
