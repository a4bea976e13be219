"""`tf.contrib.image`: projective transforms, warps, colors in YIQ space, components, stereograms."""

from tapeflow.contrib.image.colors import adjust_hsv_in_yiq, random_hsv_in_yiq
from tapeflow.contrib.image.matching import bipartite_match, connected_components
from tapeflow.contrib.image.splines import interpolate_spline
from tapeflow.contrib.image.stereograms import single_image_random_dot_stereograms
from tapeflow.contrib.image.transforms import (
    angles_to_projective_transforms,
    compose_transforms,
    flat_transforms_to_matrices,
    matrices_to_flat_transforms,
    rotate,
    transform,
    translate,
    translations_to_projective_transforms,
)
from tapeflow.contrib.image.warps import dense_image_warp, sparse_image_warp

__all__ = [
    "adjust_hsv_in_yiq", "angles_to_projective_transforms", "bipartite_match", "compose_transforms",
    "connected_components", "dense_image_warp", "flat_transforms_to_matrices", "interpolate_spline",
    "matrices_to_flat_transforms", "random_hsv_in_yiq", "rotate", "single_image_random_dot_stereograms",
    "sparse_image_warp", "transform", "translate", "translations_to_projective_transforms",
]  # fmt: skip
