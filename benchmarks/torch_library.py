"""Operations of three sizes in PyTorch."""

import inputs
import torch
from torch.nn import functional


def package():
    return "torch"


def cases():
    found = {}
    for size, case in inputs.library().items():
        c = {key: torch.from_numpy(value) for key, value in case.items()}
        x, rows, images = c["x"], c["rows"].long(), c["images"]
        channels = images.shape[-1]
        images = images.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)
        kernel = torch.ones(channels, channels, 3, 3) / channels
        names = {
            "torch": torch, "F": functional, "x": x, "rows": rows, "images": images, "n": len(x),
            "labels": c["labels"].long(), "sorted_rows": c["sorted_rows"].long(), "kernel": kernel,
            "depthwise": kernel[:, :1].contiguous(), "groups": channels,
            "series": c["series"].permute(0, 2, 1), "volume": c["volume"].permute(0, 4, 1, 2, 3),
            "line": torch.ones(c["series"].shape[-1], c["series"].shape[-1], 3),
            "cube": torch.ones(c["volume"].shape[-1], c["volume"].shape[-1], 3, 3, 3),
            "out": torch.zeros_like, "side": [2 * s for s in images.shape[2:]], "nhwc": nhwc,
        }  # fmt: skip
        for key, statement in STATEMENTS.items():
            found[f"{key}_{size}"] = (statement, names)
    return found


def nhwc(x):
    """The same numbers with the channels last, for the comparison of results; a view."""
    return x.permute(0, *range(2, x.ndim), 1)


STATEMENTS = {
    "gather": "x[rows]",
    "embedding": "F.embedding(rows, x)",
    "scatter": "x.index_add(0, rows, x)",
    "segment": "out(x[: sorted_rows[-1] + 1]).index_add(0, sorted_rows, x)",
    "unsorted": "out(x).index_add(0, rows, x)",
    "softmax": "F.softmax(x, 1)",
    "reduce_0": "x.sum(0)",
    "reduce_1": "x.amax(1)",
    "argmax": "x.argmax(1)",
    "cumsum": "x.cumsum(1)",
    "transpose": "x.T.contiguous()",
    "sort": "x.sort(1)[0]",
    "top_k": "tuple(x.topk(5))",
    "one_hot": "F.one_hot(labels, 10)",
    "concat": "torch.cat([x, x], 1)",
    "where": "torch.where(x > 0.0, x, 0.0)",
    "cross_entropy": "F.cross_entropy(x, rows, reduction='none')",
    "conv1d": "nhwc(F.conv1d(series, line, padding='same'))",
    "conv2d": "nhwc(F.conv2d(images, kernel, padding='same'))",
    "conv3d": "nhwc(F.conv3d(volume, cube, padding='same'))",
    "dilated": "nhwc(F.conv2d(images, kernel, padding='same', dilation=2))",
    "depthwise": "nhwc(F.conv2d(images, depthwise, padding='same', groups=groups))",
    "transposed": "nhwc(F.conv_transpose2d(images, kernel, padding=1))",
    "max_pool": "nhwc(F.max_pool2d(images, 2))",
    "avg_pool": "nhwc(F.avg_pool2d(images, 2))",
    "batch_norm": "nhwc(F.batch_norm(images, None, None, training=True, eps=1e-3))",
    "resize": "nhwc(F.interpolate(images, side, mode='bilinear'))",
    "nearest": "nhwc(F.interpolate(images, side, mode='nearest-exact'))",
}
