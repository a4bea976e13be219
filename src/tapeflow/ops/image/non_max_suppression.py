"""Non-maximum suppression: of boxes that overlap much, only the one with the best score stays."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_FLOATS = (dtypes.float32, dtypes.float16)
LOWEST = float("-inf")


def scalar(value: Any, name: str):
    if np.ndim(value):
        raise invalid(f"{name} must be 0-D, got shape {shape_text(np.shape(value))}")
    return value[()] if isinstance(value, np.ndarray) else value


def _checked(boxes: np.ndarray, scores: np.ndarray, max_output_size: np.ndarray, iou_threshold: float) -> int:
    if boxes.ndim != 2:
        raise invalid(f"boxes must be 2-D{shape_text(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid("boxes must have 4 columns")
    if scores.ndim != 1:
        raise invalid(f"scores must be 1-D{shape_text(scores.shape)}")
    if len(scores) != len(boxes):
        raise invalid("scores has incompatible shape")
    if not 0 <= float(scalar(iou_threshold, "iou_threshold")) <= 1:
        raise invalid("iou_threshold must be in [0, 1]")
    return max(int(scalar(max_output_size, "max_output_size")), 0)


def overlaps_of(boxes: np.ndarray):
    """A function (i, js) -> the areas that box i and boxes js have in common, over those of their unions."""
    low = np.minimum(boxes[:, :2], boxes[:, 2:]).astype(np.float32)
    high = np.maximum(boxes[:, :2], boxes[:, 2:]).astype(np.float32)
    areas = (high - low).prod(1)

    def overlap(i: int, js: np.ndarray):
        sides = np.minimum(high[i], high[js]) - np.maximum(low[i], low[js])
        common = np.maximum(sides, 0).prod(-1)
        union = areas[i] + areas[js] - common
        flat = (areas[i] <= 0) | (areas[js] <= 0)
        return np.where(flat, 0, common / np.where(union > 0, union, 1))

    return overlap


def suppress(
    overlap: Callable[..., Any], scores: Any, limit: int, threshold: float, least: float, sigma: float = 0.0
):
    """(indices, scores) of the boxes that stay, best first, at most `limit`.

    With `sigma` scores shrink by overlap (Bodla et al., "Soft-NMS", 2017), and `threshold` drops none.
    """
    scores = np.asarray(scores)
    candidates = [(-float(s), i, 0) for i, s in enumerate(scores.tolist()) if s > least]
    heapq.heapify(candidates)
    kept: list[int] = []
    kept_scores: list[float] = []
    scale = -0.5 / sigma if sigma > 0 else 0.0
    while candidates and len(kept) < limit:
        negative, i, begin = heapq.heappop(candidates)
        score = original = -negative
        if begin < len(kept):
            likeness = np.asarray(overlap(i, np.array(kept[begin:])), np.float64)
            if sigma <= 0:
                if (likeness > threshold).any():
                    continue
            else:
                for weight in np.exp(scale * likeness**2)[::-1]:
                    score *= float(weight)
                    if score <= least:
                        break
        if score == original:
            kept.append(i)
            kept_scores.append(score)
        elif score > least:
            heapq.heappush(candidates, (-score, i, len(kept)))
    return np.array(kept, np.int32), np.array(kept_scores, scores.dtype)


def suppress_boxes(boxes: np.ndarray, scores: np.ndarray, limit: int, threshold: float, least: float):
    """What `suppress` gives for boxes [n, 4] without a sigma."""
    chosen = np.flatnonzero(scores.astype(np.float64) > least)
    order = chosen[np.argsort(-scores[chosen], kind="stable")].astype(np.int64)
    kept = np.empty(min(limit, len(order)), np.int64)
    count = _native.suppress_boxes(np.ascontiguousarray(boxes, np.float32), order, kept, threshold)
    return kept[:count].astype(np.int32), scores[kept[:count]]


def _of_boxes(boxes: Any, scores: Any, max_output_size: Any, threshold, least=LOWEST, sigma=0.0):
    limit = _checked(boxes, scores, max_output_size, threshold)
    least, sigma = float(scalar(least, "score_threshold")), float(scalar(sigma, "soft_nms_sigma"))
    if sigma < 0:
        raise invalid("soft_nms_sigma_val must be >= 0.0")
    limit_of_boxes = min(limit, len(boxes))
    if sigma > 0:
        found = suppress(overlaps_of(boxes), scores, limit_of_boxes, float(threshold), least, sigma)
    else:
        found = suppress_boxes(boxes, scores, limit_of_boxes, float(threshold), least)
    return (*found, limit)


def _filled(values: np.ndarray, limit: int, pad: bool):
    return np.pad(values, (0, limit - len(values))) if pad else values


def _require_shapes(call: ShapeCall, scalars: int):
    """Raises InvalidArgumentError for boxes, scores or the `scalars` inputs behind them of other shapes."""
    shapes.require_ranks(call, 2, 1, *[0] * scalars)
    boxes, scores = (shapes.with_rank(call.shape(i), rank) for i, rank in ((0, 2), (1, 1)))
    shapes.same_dimension(boxes[0], scores[0])
    shapes.exactly(boxes[1], 4)


def _overlaps_rule(call):
    size = shapes.square(call.shape(0))[0]
    shapes.same_dimension(size, call.shape(1)[0])
    return [(None,)]


def _boxes_rule(scalars: int):
    def rule(call: ShapeCall):
        _require_shapes(call, scalars)
        return [(None,)]

    return rule


def _padded_rule(call: ShapeCall):
    _require_shapes(call, 3)
    limit = call.value(2)
    known = int(limit) if limit is not None and call.attr("pad_to_max_output_size") else None
    return [(known,), ()]


def _scored_rule(call: ShapeCall):
    length, count = _padded_rule(call)
    return [length, length, count]


_BOXES = np.array(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101],
     [1, 101, 0, 100]], np.float32,
)  # fmt: skip
_SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.2], np.float32)
LIMIT, HALF = np.array(4, np.int32), np.array(0.5, np.float32)


def _samples(*rest, attr: bool = False, **attrs):
    """Samples of a row that takes boxes, scores, a limit, a threshold (an attr if `attr`) and `rest`."""

    def call(boxes: Any = _BOXES, scores: Any = _SCORES, limit: Any = LIMIT, threshold: Any = HALF, **more):
        if attr:
            return Sample(boxes, scores, limit, iou_threshold=float(threshold), **more)
        return Sample(boxes, scores, limit, threshold, *rest, **attrs, **more)

    def samples(rng: SampleGenerator):
        yield call()
        yield call(limit=np.array(0, np.int32))
        yield call(limit=np.array(30, np.int32))
        yield call(boxes=_BOXES[:0], scores=_SCORES[:0])
        corners = np.abs(rng.normal(12, 4)).astype(np.float32)
        yield call(boxes=corners, scores=rng.normal(12).astype(np.float32), threshold=HALF / 2)
        for bad in (
            {"boxes": _BOXES[0]},
            {"boxes": _BOXES[:, :3]},
            {"scores": _SCORES[:3]},
            {"scores": _SCORES[None]},
            {"threshold": HALF * 3},
        ):
            yield call(**bad, raises=InvalidArgumentError)

    return samples


def _by_sorting(overlap, scores, limit, threshold: float, least):
    """The reference: go through the boxes from the best score down, keep what overlaps nothing kept."""
    kept: list[int] = []
    for i in np.argsort(-scores, kind="stable"):
        if scores[i] <= least or len(kept) >= limit:
            break
        if all(overlap(i, j) <= threshold for j in kept):
            kept.append(int(i))
    return np.array(kept, np.int32)


def _overlap_reference(boxes):
    def area(box):
        return abs((box[2] - box[0]) * (box[3] - box[1]))

    def overlap(i: int, j: int):
        a, b = boxes[i].astype(float), boxes[j].astype(float)
        sides = [
            min(max(a[k], a[k + 2]), max(b[k], b[k + 2]))
            - max(min(a[k], a[k + 2]), min(b[k], b[k + 2]))
            for k in (0, 1)
        ]
        common = max(sides[0], 0) * max(sides[1], 0)
        return common / (area(a) + area(b) - common) if area(a) > 0 and area(b) > 0 else 0.0

    return overlap


def reference(boxes, scores, limit, threshold: float, least=LOWEST, **attrs):
    return _by_sorting(_overlap_reference(boxes), scores, int(limit), float(threshold), least)


_TWO = {"T": Preferring(_FLOATS), "T_threshold": Preferring(_FLOATS)}


@op("NonMaxSuppression", "boxes: float32, scores: float32, max_output_size: int32 -> selected_indices: int32",
    attrs={"iou_threshold": 0.5}, shape=_boxes_rule(1))  # fmt: skip
def NonMaxSuppression(
    xp: ModuleType, boxes: Array, scores: Array, max_output_size: Array, iou_threshold: float
):
    return _of_boxes(boxes, scores, max_output_size, iou_threshold)[0]


NonMaxSuppression.compiled(never="how many boxes it returns depends on values")


NonMaxSuppression.samples(_samples(attr=True))


@NonMaxSuppression.reference
def _(boxes: np.ndarray, scores: np.ndarray, max_output_size: np.ndarray, iou_threshold: float):
    return reference(boxes, scores, max_output_size, iou_threshold)


@op("NonMaxSuppressionV2",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold -> selected_indices: int32",
    types=_TWO, shape=_boxes_rule(2))  # fmt: skip
def NonMaxSuppressionV2(
    xp: ModuleType, boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array
):
    return _of_boxes(boxes, scores, max_output_size, iou_threshold)[0]


NonMaxSuppressionV2.compiled(never="how many boxes it returns depends on values")


NonMaxSuppressionV2.samples(_samples())
NonMaxSuppressionV2.reference(reference)

_LEAST = np.array(0.4, np.float32)


@op("NonMaxSuppressionV3",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold "
    "-> selected_indices: int32", types=_TWO, shape=_boxes_rule(3))  # fmt: skip
def NonMaxSuppressionV3(
    xp: ModuleType, boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array,
    score_threshold: Array,
):
    return _of_boxes(boxes, scores, max_output_size, iou_threshold, score_threshold)[0]


NonMaxSuppressionV3.compiled(never="how many boxes it returns depends on values")


NonMaxSuppressionV3.samples(_samples(_LEAST))
NonMaxSuppressionV3.reference(reference)


@op("NonMaxSuppressionV4",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold "
    "-> selected_indices: int32, valid_outputs: int32",
    types=_TWO, attrs={"pad_to_max_output_size": False}, shape=_padded_rule)  # fmt: skip
def NonMaxSuppressionV4(
    xp: ModuleType, boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array,
    score_threshold: Array, pad_to_max_output_size: bool,
):
    kept, _, limit = _of_boxes(boxes, scores, max_output_size, iou_threshold, score_threshold)
    return _filled(kept, limit, pad_to_max_output_size), np.array(len(kept), np.int32)


NonMaxSuppressionV4.compiled(never="how many boxes it returns depends on values")


NonMaxSuppressionV4.samples(_samples(_LEAST, pad_to_max_output_size=True))


@NonMaxSuppressionV4.reference
def _(boxes: np.ndarray, scores: np.ndarray, limit: int, threshold, least, pad_to_max_output_size: bool):
    kept = reference(boxes, scores, limit, threshold, least)
    out = np.zeros(int(limit) if pad_to_max_output_size else len(kept), np.int32)
    out[: len(kept)] = kept
    return out, np.array(len(kept), np.int32)


@op("NonMaxSuppressionV5",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, soft_nms_sigma: T "
    "-> selected_indices: int32, selected_scores: T, valid_outputs: int32",
    types={"T": Preferring(_FLOATS)}, attrs={"pad_to_max_output_size": False}, ranks="soft_nms_sigma: 0",
    shape=_scored_rule)  # fmt: skip
def NonMaxSuppressionV5(
    xp: ModuleType, boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array,
    score_threshold: Array, soft_nms_sigma: Array, pad_to_max_output_size: bool,
):
    kept, found, limit = _of_boxes(
        boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma
    )
    pad = pad_to_max_output_size
    return _filled(kept, limit, pad), _filled(found, limit, pad), np.array(len(kept), np.int32)


NonMaxSuppressionV5.compiled(never="how many boxes it returns depends on values")


@NonMaxSuppressionV5.samples
def _(rng: SampleGenerator):
    yield from _samples(_LEAST, np.array(0.0, np.float32))(rng)
    soft, all_, zero = (np.array(v, np.float32) for v in (0.5, 1.0, 0.0))
    boxes, scores, limit = _BOXES, _SCORES, np.array(6, np.int32)
    yield Sample(boxes, scores, limit, all_, zero, soft, differentiable=False)
    yield Sample(boxes, scores, limit, soft, zero, soft, differentiable=False)
    yield Sample(
        boxes, scores, limit, all_, zero, soft, pad_to_max_output_size=True, differentiable=False
    )
    yield Sample(boxes, scores, limit, all_, zero, -soft, raises=InvalidArgumentError)


@NonMaxSuppressionV5.reference
def _(boxes, scores, limit, threshold, least, sigma, pad_to_max_output_size):
    overlap, left = _overlap_reference(boxes), scores.astype(float)
    kept, found = [], []
    waiting = [i for i in range(len(boxes)) if left[i] > least]
    while waiting and len(kept) < limit:
        best = max(waiting, key=lambda i: (left[i], -i))
        waiting.remove(best)
        if left[best] <= least:
            continue
        kept.append(best)
        found.append(left[best])
        for i in waiting:
            likeness = overlap(i, best)
            if sigma > 0:
                left[i] *= np.exp(-0.5 * likeness**2 / sigma)
            elif likeness > threshold:
                left[i] = 0.0
    length = int(limit) if pad_to_max_output_size else len(kept)
    indices, values = np.zeros(length, np.int32), np.zeros(length, np.float32)
    indices[: len(kept)], values[: len(kept)] = kept, found
    return indices, values, np.array(len(kept), np.int32)


@op("NonMaxSuppressionWithOverlaps",
    "overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: float32, "
    "score_threshold: float32 -> selected_indices: int32",
    ranks="overlaps: 2, scores: 1, max_output_size: 0, overlap_threshold: 0, score_threshold: 0",
    shape=_overlaps_rule)  # fmt: skip
def NonMaxSuppressionWithOverlaps(
    xp: ModuleType, overlaps: Array, scores: Array, max_output_size: Array, overlap_threshold: Array,
    score_threshold: Array,
):
    if overlaps.ndim != 2:
        raise invalid(f"overlaps must be 2-D{shape_text(overlaps.shape)}")
    if overlaps.shape[0] != overlaps.shape[1]:
        raise invalid(f"overlaps must be square{shape_text(overlaps.shape)}")
    if scores.ndim != 1:
        raise invalid(f"scores must be 1-D{shape_text(scores.shape)}")
    if len(scores) != len(overlaps):
        raise invalid("scores has incompatible shape")
    limit = max(int(scalar(max_output_size, "max_output_size")), 0)
    threshold = float(scalar(overlap_threshold, "overlap_threshold"))
    least = float(scalar(score_threshold, "score_threshold"))
    return suppress(lambda i, js: overlaps[i, js], scores, limit, threshold, least)[0]


NonMaxSuppressionWithOverlaps.compiled(never="how many boxes it returns depends on values")


@NonMaxSuppressionWithOverlaps.samples
def _(rng: SampleGenerator):
    likeness = np.abs(rng.normal(6, 6)).astype(np.float32)
    likeness, scores = (likeness + likeness.T) / 2, rng.normal(6).astype(np.float32)
    yield Sample(likeness, scores, LIMIT, HALF, np.array(-9, np.float32))
    yield Sample(likeness, scores, LIMIT, HALF, np.array(0, np.float32))
    for wrong in (likeness[0], likeness[:4]):
        yield Sample(wrong, scores, LIMIT, HALF, HALF, raises=InvalidArgumentError)
    yield Sample(likeness, scores[:5], LIMIT, HALF, HALF, raises=InvalidArgumentError)
    yield Sample(likeness, scores, LIMIT, likeness, HALF, raises=InvalidArgumentError)


@NonMaxSuppressionWithOverlaps.reference
def _(overlaps: np.ndarray, scores: np.ndarray, limit: int, threshold, least):
    return _by_sorting(lambda i, j: overlaps[i, j], scores, int(limit), threshold, least)
