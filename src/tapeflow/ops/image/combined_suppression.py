"""Non-maximum suppression of the boxes of several classes at once."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.image.non_max_suppression import (
    HALF,
    LIMIT,
    reference,
    scalar,
    suppress_boxes,
)
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


def _combined_rule(call):
    boxes, scores = call.shape(0), call.shape(1)
    limit = call.value(3)
    batch = shapes.same_dimension(boxes[0], scores[0])
    shapes.same_dimension(boxes[1], scores[1])
    if boxes[2] != 1:
        shapes.same_dimension(boxes[2], scores[2])
    shapes.exactly(boxes[3], 4)
    count = None if limit is None or call.attr("pad_per_class") else int(limit)
    return [(batch, count, 4), (batch, count), (batch, count), (batch,)]


@op("CombinedNonMaxSuppression",
    "boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: int32, "
    "iou_threshold: float32, score_threshold: float32 -> nmsed_boxes: float32, nmsed_scores: float32, "
    "nmsed_classes: float32, valid_detections: int32",
    attrs={"pad_per_class": False, "clip_boxes": True},
    ranks="boxes: 4, scores: 3, max_output_size_per_class: 0, max_total_size: 0, iou_threshold: 0, score_threshold: 0",
    shape=_combined_rule)  # fmt: skip
def CombinedNonMaxSuppression(
    xp: ModuleType, boxes: Array, scores: Array, max_output_size_per_class: Array, max_total_size: Array,
    iou_threshold: Array, score_threshold: Array, pad_per_class: bool, clip_boxes: bool,
):
    if boxes.ndim != 4:
        raise invalid(f"boxes must be 4-D{shape_text(boxes.shape)}")
    if scores.ndim != 3:
        raise invalid(f"scores must be 3-D{shape_text(scores.shape)}")
    batch, count, kinds = scores.shape
    if boxes.shape[0] != batch:
        raise invalid("boxes and scores must have same batch size")
    if boxes.shape[1] != count:
        raise invalid("scores has incompatible shape")
    if boxes.shape[2] not in (1, kinds):
        raise invalid("third dimension of boxes must be either 1 or num classes")
    if boxes.shape[3] != 4:
        raise invalid("boxes must have 4 columns")
    each = int(scalar(max_output_size_per_class, "max_size_per_class"))
    total = int(scalar(max_total_size, "max_total_size"))
    if each <= 0:
        raise invalid("max_size_per_class must be positive")
    if total <= 0:
        raise invalid(f"max_total_size must be > 0, but is {total}")
    threshold = float(scalar(iou_threshold, "iou_threshold"))
    if not 0 <= threshold <= 1:
        raise invalid("iou_threshold must be in [0, 1]")
    least = float(scalar(score_threshold, "score_threshold"))
    length = min(total, each * kinds) if pad_per_class else total
    out = (
        np.zeros((batch, length, 4), np.float32),
        np.zeros((batch, length), np.float32),
        np.zeros((batch, length), np.float32),
        np.zeros(batch, np.int32),
    )
    for n in range(batch):
        found = []
        for k in range(kinds):
            own = boxes[n, :, k if boxes.shape[2] > 1 else 0]
            kept, _ = suppress_boxes(own, scores[n, :, k], min(each, count), threshold, least)
            found += [(-float(scores[n, i, k]), k, place, own[i]) for place, i in enumerate(kept)]
        found.sort(key=lambda entry: entry[:3])
        out[3][n] = len(found[:length])
        for i, (negative, k, _, box) in enumerate(found[:length]):
            out[0][n, i] = box.clip(0, 1) if clip_boxes else box
            out[1][n, i], out[2][n, i] = -negative, k
    return out


CombinedNonMaxSuppression.compiled(never="which boxes it keeps depends on values")


@CombinedNonMaxSuppression.samples
def _(rng: SampleGenerator):
    boxes = np.abs(rng.normal(2, 8, 3, 4)).astype(np.float32)
    scores = rng.normal(2, 8, 3).astype(np.float32)
    two, six, half, low = LIMIT // 2, np.array(6, np.int32), HALF, np.array(-1, np.float32)
    yield Sample(boxes, scores, two, six, half, low)
    yield Sample(boxes, scores, two, six + 6, half, low, pad_per_class=True, clip_boxes=False)
    yield Sample(boxes[:, :, :1], scores, two, six, half / 5, half)
    bad = InvalidArgumentError
    yield Sample(boxes[0], scores, two, six, half, low, raises=bad)
    yield Sample(boxes[:, :, :2], scores, two, six, half, low, raises=bad)
    yield Sample(boxes, scores[:1], two, six, half, low, raises=bad)
    yield Sample(boxes, scores, two * 0, six, half, low, raises=bad)
    yield Sample(boxes, scores, two, six * 0, half, low, raises=bad)
    yield Sample(boxes, scores, two, six, half * 3, low, raises=bad)


@CombinedNonMaxSuppression.reference
def _(boxes: np.ndarray, scores: np.ndarray, each, total, threshold, least, pad_per_class: bool, clip_boxes: bool):
    batch, _, kinds = scores.shape
    length = min(int(total), int(each) * kinds) if pad_per_class else int(total)
    rows = []
    for n in range(batch):
        found = []
        for k in range(kinds):
            own = boxes[n, :, min(k, boxes.shape[2] - 1)]
            kept = reference(own, scores[n, :, k], each, threshold, least)
            found += [[*own[i], scores[n, i, k], k, 1] for i in kept]
        found = sorted(found, key=lambda row: -row[4])[:length]
        rows.append(found + [[0] * 7] * (length - len(found)))
    table = np.array(rows, np.float32)
    corners = table[..., :4].clip(0, 1) if clip_boxes else table[..., :4]
    return corners, table[..., 4], table[..., 5], table[..., 6].sum(1).astype(np.int32)
