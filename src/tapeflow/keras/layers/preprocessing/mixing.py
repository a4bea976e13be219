"""Changes made of others, and mixtures of the images of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import Tensor
from tapeflow.keras.layers.preprocessing.color import (
    RandomBrightness,
    RandomColorDegeneration,
    RandomContrast,
    RandomInvert,
)
from tapeflow.keras.layers.preprocessing.erasing import rectangle
from tapeflow.keras.layers.preprocessing.image_base import ImageLayer
from tapeflow.keras.layers.preprocessing.levels import (
    AutoContrast,
    Equalization,
    RandomPosterization,
    Solarization,
)
from tapeflow.keras.layers.preprocessing.projections import (
    RandomRotation,
    RandomShear,
    RandomTranslation,
)
from tapeflow.keras.layers.preprocessing.sharpness import RandomSharpness
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import range as range_of
from tapeflow.ops.control.flow import switch_case
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.elementwise import sqrt
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.random.functions import gamma, shuffle
from tapeflow.ops.static import sizes_of

if TYPE_CHECKING:
    from tapeflow.keras.engine.base_layer import Layer


def _beta(layer: AugMix | MixUp, shape: Sequence[Any], a: float, b: float):
    """Random numbers with a beta distribution."""
    seed = layer._own_seed(None)
    x = gamma(shape, a, dtype="float32", seed=seed)
    y = gamma(shape, b, dtype="float32", seed=None if seed is None else seed + 1)
    return x / (x + y)


class MixUp(ImageLayer):
    """Mixes each image, and its label, with another one of the batch, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Call it with a dict with "images" and "labels" (one-hot), which it returns changed.

    Args:
      alpha: the parameter of the beta distribution of the shares, above 0: near 0 most images are nearly unmixed.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    def __init__(self, alpha: float = 0.2, data_format: str | None = None, seed: int | None = None, **kwargs):
        super().__init__(data_format=data_format, **kwargs)
        self.alpha, self.seed = alpha, seed

    def get_random_transformation(
        self, data: dict[str, Any], training: bool | Tensor = True, seed: int | None = None
    ):
        """The share of each image, and the one that it is mixed with."""
        if not training:
            return None
        batch = sizes_of(data["images"])[0]
        order = shuffle(range_of(batch), seed=self._own_seed(seed))
        return {
            "mix_weight": _beta(self, [batch], self.alpha, self.alpha),
            "permutation_order": order,
        }

    def _mixed(self, x: Any, transformation: Any, training: bool | Tensor):
        if not training or transformation is None:
            return x
        weight = reshape(transformation["mix_weight"], [-1] + [1] * (x.shape.rank - 1))
        x = x if x.dtype.is_floating else cast(x, "float32")
        weight = cast(weight, x.dtype)
        return weight * x + (1.0 - weight) * gather(x, transformation["permutation_order"])

    def transform_images(self, images, transformation=None, training=True):
        """The mixed images."""
        return self._mixed(images, transformation, training)

    def transform_labels(self, labels, transformation, training: bool | Tensor = True):
        """The mixed labels."""
        return self._mixed(labels, transformation, training)

    def transform_segmentation_masks(
        self, segmentation_masks, transformation=None, training: bool | Tensor = True
    ):
        """The mixed masks."""
        return self._mixed(segmentation_masks, transformation, training)

    def get_config(self):
        return {**super().get_config(), "alpha": self.alpha, "data_format": self.data_format}


class CutMix(ImageLayer):
    """Puts a rectangle of another image of the batch into each image, while training; labels are mixed by area.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Call it with a dict with "images" and "labels" (one-hot), which it returns changed.

    Args:
      factor: the bounds of the share, from 0 to 1, that the size of the rectangle is drawn by; one number for 0 and
        itself.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    _bounds = (0.0, 1.0)
    _lower = 0.0

    def __init__(
        self, factor: Sequence[float] | float = 1.0, seed: int | None = None, data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(factor=factor, data_format=data_format, **kwargs)
        self.seed = seed

    def get_random_transformation(self, data, training=True, seed=None):
        """The rectangles, the images that fill them, and what is left of the image."""
        if not training:
            return None
        images = data["images"]
        batch, height, width, _ = sizes_of(images)
        share = self._per_image(images, *self.factor, seed)
        share = 1.0 - share if self.factor[0] != self.factor[1] else share
        cut = sqrt(1.0 - where(share < 1.0, share, share - 1e-6))
        tall, wide = cut * float(height), cut * float(width)
        y = self._per_image(images, 0.0, float(height), seed)
        x = self._per_image(images, 0.0, float(width), seed)

        def edges(center: Tensor, size: Tensor, limit: int):
            low = clip_by_value(center - size / 2.0, 0.0, float(limit))
            return low, clip_by_value(center + size / 2.0, 0.0, float(limit))

        top, bottom = edges(y, tall, height)
        left, right = edges(x, wide, width)
        kept = 1.0 - (bottom - top) * (right - left) / float(height * width)
        order = shuffle(range_of(batch), seed=self._own_seed(seed))
        return {"edges": (top, bottom, left, right), "kept": kept, "permutation_order": order}

    def transform_images(self, images, transformation=None, training=True):
        """The images with the rectangles of others."""
        if not training:
            return images
        inside = rectangle(images, *transformation["edges"])
        return where(inside, gather(images, transformation["permutation_order"]), images)

    transform_segmentation_masks = transform_images

    def transform_labels(self, labels, transformation, training: bool | Tensor = True):
        """The labels, mixed by area."""
        if not training:
            return labels
        labels = labels if labels.dtype.is_floating else cast(labels, "float32")
        kept = reshape(transformation["kept"], [-1] + [1] * (labels.shape.rank - 1))
        kept = cast(kept, labels.dtype)
        return kept * labels + (1.0 - kept) * gather(labels, transformation["permutation_order"])

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


def _changes(value_range, strength, interpolation, seed, geometric):
    """Layers to choose from, by name, each as strong as `strength` in [0, 1] says."""
    own = {"value_range": value_range, "seed": seed}
    found = {
        "auto_contrast": AutoContrast(value_range),
        "equalization": Equalization(value_range),
        "random_sharpness": RandomSharpness(strength, **own),
        "random_posterization": RandomPosterization((int(8 - 4 * strength), 8), **own),
        "solarization": Solarization(0.0, (1.0 - strength, 1.0), **own),
    }
    if geometric:
        move = {"interpolation": interpolation, "fill_mode": "constant", "seed": seed}
        found |= {
            "random_rotation": RandomRotation(strength / 12.0, **move),
            "random_shear": RandomShear(0.3 * strength, 0.3 * strength, **move),
            "random_translation": RandomTranslation(0.3 * strength, 0.3 * strength, **move),
        }
    return found


def _pick(layers: Sequence[Any], number: Tensor, images: Any, training: bool | Tensor):
    """The images changed by the layer with a number that is only known now."""
    def branch(layer: Layer):
        def run():
            data = {"images": images}
            change = layer.get_random_transformation(data, training)
            return cast(layer.transform_images(images, change, training), images.dtype)

        return run

    return switch_case(number, [branch(layer) for layer in layers])


class RandAugment(ImageLayer):
    """`num_ops` changes per batch, chosen at random, each of strength `factor`, while training.

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      value_range: the lowest and the highest value of a pixel.
      num_ops: how many changes are applied, one after the other.
      factor: the strength of the changes, from 0 to 1, or a pair of bounds.
      interpolation: "bilinear" or "nearest", for changes that move pixels.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    _bounds = (0.0, 1.0)

    def __init__(
        self,
        value_range=(0, 255),
        num_ops=2,
        factor=0.5,
        interpolation="bilinear",
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(factor=factor, data_format=data_format, **kwargs)
        self.value_range, self.num_ops = tuple(value_range), num_ops
        self.interpolation, self.seed = interpolation, seed
        changes = _changes(self.value_range, self.factor[1], interpolation, seed, True)
        own = {"value_range": self.value_range, "seed": seed}
        changes["random_brightness"] = RandomBrightness(self.factor[1], **own)
        changes["random_contrast"] = RandomContrast(self.factor[1], **own)
        changes["random_color_degeneration"] = RandomColorDegeneration(self.factor[1], **own)
        changes["random_invert"] = RandomInvert(self.factor[1], **own)
        self.__dict__["_changes"] = list(changes.values())

    def get_random_transformation(self, data, training=True, seed=None):
        """The numbers of the changes."""
        if not training:
            return None
        return self._uniform([self.num_ops], 0.0, float(len(self._changes)), seed)

    def transform_images(self, images, transformation, training=True):
        """The images, changed `num_ops` times."""
        if not training:
            return images
        for step in range(self.num_ops):
            images = _pick(self._changes, cast(transformation[step], "int32"), images, training)
        return images

    def get_config(self):
        return {
            **super().get_config(),
            "num_ops": self.num_ops,
            "interpolation": self.interpolation,
            "data_format": self.data_format,
        }


class AugMix(ImageLayer):
    """Mixes images with chains of random changes of them, while training (Hendrycks et al., 2020).

    A call on its own counts as training; with `training=False` the inputs are returned as they are.

    Args:
      value_range: the lowest and the highest value of a pixel.
      num_chains: the number of chains.
      chain_depth: the number of changes in each.
      factor: the strength of the changes, from 0 to 1, or a pair of bounds.
      alpha: the parameter of the distributions that the shares are drawn from; above 0.
      all_ops: also change brightness, contrast and color.
      interpolation: "bilinear" or "nearest", for changes that move pixels.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `bounding_box_format` ("xyxy", "yxyx", "xywh", "center_xywh", with or without "rel_") for boxes in the
        inputs, and the arguments of `Layer`.
    """

    _bounds = (0.0, 1.0)

    def __init__(
        self,
        value_range=(0, 255),
        num_chains=3,
        chain_depth=3,
        factor=0.3,
        alpha=1.0,
        all_ops=True,
        interpolation="bilinear",
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(factor=factor, data_format=data_format, **kwargs)
        self.value_range = tuple(value_range)
        self.num_chains, self.chain_depth, self.alpha = num_chains, chain_depth, alpha
        self.all_ops, self.interpolation, self.seed = all_ops, interpolation, seed
        changes = _changes(self.value_range, self.factor[1], interpolation, seed, True)
        own = {"value_range": self.value_range, "seed": seed}
        if all_ops:
            changes["random_brightness"] = RandomBrightness(self.factor[1], **own)
            changes["random_contrast"] = RandomContrast(self.factor[1], **own)
            changes["random_color_degeneration"] = RandomColorDegeneration(self.factor[1], **own)
        self.__dict__["_changes"] = list(changes.values())

    def get_random_transformation(self, data, training=True, seed=None):
        """The numbers of the changes, the weights of the chains, and that of the image itself."""
        if not training:
            return None
        batch = sizes_of(data["images"])[0]
        seed = self._own_seed(seed)
        weights = gamma([batch, self.num_chains], self.alpha, dtype="float32", seed=seed)

        return {
            "numbers": self._uniform(
                [self.num_chains, self.chain_depth], 0.0, float(len(self._changes)), seed
            ),
            "chains": weights / reduce_sum(weights, axis=1, keepdims=True),
            "kept": _beta(self, [batch, 1, 1, 1], self.alpha, self.alpha),
        }

    def transform_images(self, images, transformation, training=True):
        """The mixtures."""
        if not training:
            return images
        mixed = images * 0.0
        for chain in range(self.num_chains):
            changed = images
            for step in range(self.chain_depth):
                number = cast(transformation["numbers"][chain, step], "int32")
                changed = _pick(self._changes, number, changed, training)
            weight = reshape(transformation["chains"][:, chain], [-1, 1, 1, 1])
            mixed = mixed + cast(weight, images.dtype) * changed
        kept = cast(transformation["kept"], images.dtype)
        return kept * images + (1.0 - kept) * mixed

    def get_config(self):
        return {
            **super().get_config(),
            "num_chains": self.num_chains,
            "chain_depth": self.chain_depth,
            "alpha": self.alpha,
            "all_ops": self.all_ops,
            "interpolation": self.interpolation,
            "data_format": self.data_format,
        }
