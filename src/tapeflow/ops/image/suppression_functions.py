"""The functions of non-maximum suppression that programs call."""

from __future__ import annotations

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import FloatLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.control.mapping import map_fn
from tapeflow.ops.image.combined_suppression import CombinedNonMaxSuppression
from tapeflow.ops.image.non_max_suppression import (
    LOWEST,
    NonMaxSuppressionV3,
    NonMaxSuppressionV4,
    NonMaxSuppressionV5,
    NonMaxSuppressionWithOverlaps,
)
from tapeflow.ops.static import as_shape, sizes_of

# Functions


def _threshold(value, like):
    return convert_to_tensor(value, like.dtype)


@api("image.non_max_suppression")
@tensor_function
def non_max_suppression(
    boxes: TensorLike, scores: TensorLike, max_output_size, iou_threshold: FloatLike = 0.5,
    score_threshold: FloatLike = LOWEST, name: str | None = None,
):
    """Choose boxes with the best scores, none of which overlap much.

    Args:
      boxes: `[n, 4]`, two opposite corners (y1, x1, y2, x2) each.
      scores: `[n]`, of the dtype of `boxes`.
      max_output_size: the largest number of boxes to choose, an int32 scalar.
      iou_threshold: the largest intersection over union that two boxes may have.
      score_threshold: boxes with no larger score are left out.
      name: a name for the operation (optional).

    Returns:
      The indices of the chosen boxes, int32, best score first.
    """
    boxes = convert_to_tensor(boxes)
    limits = (_threshold(iou_threshold, boxes), _threshold(score_threshold, boxes))
    return NonMaxSuppressionV3(boxes, scores, max_output_size, *limits)


@api("image.non_max_suppression_with_scores")
@tensor_function
def non_max_suppression_with_scores(
    boxes: TensorLike, scores: TensorLike, max_output_size, iou_threshold: FloatLike = 0.5,
    score_threshold: FloatLike = LOWEST, soft_nms_sigma: float = 0.0, name: str | None = None,
):
    """Choose boxes with the best scores, and return the scores as well.

    Args:
      boxes: `[n, 4]`, two opposite corners (y1, x1, y2, x2) each.
      scores: `[n]`, of the dtype of `boxes`.
      max_output_size: the largest number of boxes to choose, an int32 scalar.
      iou_threshold: the largest intersection over union that two boxes may have, unless `soft_nms_sigma` is positive.
      score_threshold: boxes with no larger score are left out.
      soft_nms_sigma: if positive, overlap with a chosen box lowers a score instead of removing the box (Soft-NMS,
        Bodla et al., arXiv:1704.04503).
      name: a name for the operation (optional).

    Returns:
      The indices of the chosen boxes, int32, and their scores, which `soft_nms_sigma` may have lowered.
    """
    boxes = convert_to_tensor(boxes)
    given = [_threshold(v, boxes) for v in (iou_threshold, score_threshold, soft_nms_sigma)]
    return NonMaxSuppressionV5(boxes, scores, max_output_size, *given)[:2]


@api("image.non_max_suppression_overlaps")
@tensor_function
def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = LOWEST,
    name: str | None = None,
) -> Tensor:
    """Choose boxes with the best scores by a matrix of how much each two of them overlap.

    Args:
      overlaps: `[n, n]` float32, the overlap of each two boxes by any measure.
      scores: `[n]` float32.
      max_output_size: the largest number of boxes to choose, an int32 scalar.
      overlap_threshold: the largest overlap that two boxes may have.
      score_threshold: boxes with no larger score are left out.
      name: a name for the operation (optional).

    Returns:
      The indices of the chosen boxes, int32, best score first.
    """
    return NonMaxSuppressionWithOverlaps(
        overlaps, scores, max_output_size, overlap_threshold, score_threshold
    )


@api("image.combined_non_max_suppression")
@tensor_function
def combined_non_max_suppression(
    boxes: TensorLike, scores: TensorLike, max_output_size_per_class, max_total_size, iou_threshold: FloatLike = 0.5,
    score_threshold: FloatLike = LOWEST, pad_per_class: bool = False, clip_boxes: bool = True,
    name: str | None = None,
):
    """Choose boxes of each class by itself, then the best of all classes.

    Args:
      boxes: `[batch, n, q, 4]` float32, q being 1 or the number of classes.
      scores: `[batch, n, classes]` float32.
      max_output_size_per_class: the largest number of boxes of one class, an int32 scalar.
      max_total_size: the largest number of boxes of all classes together, an int32 scalar.
      iou_threshold: the largest intersection over union that two boxes of one class may have.
      score_threshold: boxes with no larger score are left out.
      pad_per_class: whether results have `max_output_size_per_class * classes` places where that is less than
        `max_total_size`, instead of `max_total_size`.
      clip_boxes: whether chosen boxes are clipped to [0, 1].
      name: a name for the operation (optional).

    Returns:
      nmsed_boxes, nmsed_scores, nmsed_classes: the chosen boxes of each of the batch, filled up with zeros.
      valid_detections: how many of them are chosen ones, `[batch]` int32.
    """
    return CombinedNonMaxSuppression(boxes, scores, max_output_size_per_class, max_total_size,
                                     iou_threshold, score_threshold, pad_per_class, clip_boxes)  # fmt: skip


@api("image.non_max_suppression_padded")
@tensor_function
def non_max_suppression_padded(
    boxes: TensorLike, scores: TensorLike, max_output_size, iou_threshold: FloatLike = 0.5,
    score_threshold: FloatLike = LOWEST, pad_to_max_output_size: bool = False, name: str | None = None,
    sorted_input: bool = False, canonicalized_coordinates: bool = False, tile_size: int = 512,
):
    """Choose boxes with the best scores, in results of a size that is known beforehand.

    Args:
      boxes: `[..., n, 4]`, two opposite corners (y1, x1, y2, x2) each.
      scores: `[..., n]`, of the dtype of `boxes`.
      max_output_size: the largest number of boxes to choose, an int32 scalar.
      iou_threshold: the largest intersection over union that two boxes may have.
      score_threshold: boxes with no larger score are left out.
      pad_to_max_output_size: whether the indices are filled up with zeros to `max_output_size`.
      name: a name for the operation (optional).
      sorted_input, canonicalized_coordinates: whether boxes come by falling score, and each with its smaller
        coordinates first; results do not depend on it.
      tile_size: without effect; TensorFlow compares so many boxes at a time.

    Returns:
      The indices of the chosen boxes, int32, and how many of them are valid.

    Raises:
      ValueError: if boxes have batch dimensions and `pad_to_max_output_size` is not set.
    """
    boxes, scores = convert_to_tensor(boxes), convert_to_tensor(scores)
    limits = (_threshold(iou_threshold, boxes), _threshold(score_threshold, boxes))
    if boxes.shape.rank is None or boxes.shape.rank <= 2:
        row = NonMaxSuppressionV4(boxes, scores, max_output_size, *limits, pad_to_max_output_size)
        return row[0], row[1]
    if not pad_to_max_output_size:
        raise ValueError(
            "`pad_to_max_output_size` (currently set to False) must be True for batched input"
        )
    batch = sizes_of(boxes)[:-2]
    flat_boxes = Reshape(boxes, as_shape([-1, *sizes_of(boxes)[-2:]]))
    flat_scores = Reshape(scores, as_shape([-1, sizes_of(scores)[-1]]))

    def one(pair):
        row = NonMaxSuppressionV4(*pair, max_output_size, *limits, True)
        return row[0], row[1]

    indices, counts = map_fn(
        one, (flat_boxes, flat_scores), fn_output_signature=(dtypes.int32,) * 2
    )
    return Reshape(indices, as_shape([*batch, max_output_size])), Reshape(counts, as_shape(batch))
