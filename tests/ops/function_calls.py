"""Calls of public functions, and what TensorFlow answers to them.

`python function_calls.py`, run by a Python that has TensorFlow, writes function_vectors.json anew;
test_functions.py holds the package to it.
"""

import json
import os
import pathlib
import sys

import numpy as np

VECTORS = pathlib.Path(__file__).with_name("function_vectors.json")
# float32 on both sides, summed in another order.
TOLERANCE = {"float32": 2e-4, "float64": 1e-6, "float16": 1e-2}

SETUP = """
x = np.sin(np.arange(2 * 5 * 7 * 3, dtype=np.float32)).reshape(2, 5, 7, 3) / 2 + 0.5
y = np.roll(x, 5).copy()
big = np.cos(np.arange(34 * 36, dtype=np.float32)).reshape(1, 34, 36, 1) / 2 + 0.5
bytes_ = (x * 255).astype(np.uint8)
boxes = np.array([[0, 0, 0.7, 0.6], [0.1, 0.2, 0.9, 1.2]], np.float32)
t = tf.constant(x)
v1 = tf.compat.v1
st = tf.SparseTensor([[0, 1], [1, 0], [1, 3], [2, 2]], [1.0, 2.0, -3.0, 4.0], [3, 4])
su = tf.SparseTensor([[0, 1], [2, 0]], [5.0, 6.0], [3, 4])
rt = tf.ragged.constant([[3, 1, 4], [], [1, 5], [9]])
rf = tf.ragged.constant([[3.0, 1.0], [], [-1.5]])
deep = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6], []]])
wide = tf.RaggedTensor.from_row_splits(np.arange(10).reshape(5, 2), [0, 2, 2, 5])
R = tf.RaggedTensor
m = np.cos(np.arange(12, dtype=np.float32)).reshape(3, 4)
tnp = tf.experimental.numpy

def bmp(bits, width=3, height=2, start=54, more=b""):
    row = (bits // 8 * width + 3) // 4 * 4
    data = bytes(range(1, 1 + row * abs(height)))
    head = np.array([54 + len(data), 0, start, 40, width, height, 1 + (bits << 16), 0, len(data), 0, 0, 0, 0], "<i4")
    return b"BM" + head.tobytes() + bytes(start - 54) + data + more

capsule = tf.experimental.dlpack.to_dlpack(tf.constant([1.5]))
tf.experimental.dlpack.from_dlpack(capsule)
"""

CALLS = [
    *(
        f"tf.image.resize(x, [{h}, {w}], {method!r}, antialias={smooth})"
        for h, w in ((3, 4), (8, 9))
        for method in ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
                       "mitchellcubic")
        for smooth in (False, True)
    ),
    "tf.image.resize(bytes_[0], [4, 4])",
    "tf.image.resize(bytes_[0], [4, 4], 'nearest')",
    "tf.image.resize(x, [4, 20], preserve_aspect_ratio=True)",
    *(f"v1.image.resize(x, [4, 9], {m}, align_corners={a})" for m in range(4) for a in (False, True)),
    "tf.image.resize_with_pad(x, 9, 9)",
    "tf.image.resize_with_pad(x, 4, 20, 'nearest')",
    "v1.image.resize_image_with_pad(x, 6, 9)",
    "tf.image.resize_with_crop_or_pad(x, 3, 10)",
    "tf.image.resize_with_crop_or_pad(x[0], 8, 4)",
    "tf.image.crop_to_bounding_box(x, 1, 2, 3, 4)",
    "tf.image.pad_to_bounding_box(x[0], 1, 2, 7, 9)",
    "tf.image.central_crop(x, 0.5)",
    "tf.image.central_crop(x[0], 0.7)",
    "tf.image.flip_left_right(x)",
    "tf.image.flip_up_down(x[0])",
    *(f"tf.image.rot90(x, {k})" for k in range(-1, 5)),
    "tf.image.transpose(x)",
    "tf.image.rgb_to_hsv(x)",
    "tf.image.hsv_to_rgb(x)",
    "tf.image.rgb_to_yiq(x)",
    "tf.image.yiq_to_rgb(x)",
    "tf.image.rgb_to_yuv(x)",
    "tf.image.yuv_to_rgb(x)",
    "tf.image.rgb_to_grayscale(bytes_)",
    "tf.image.grayscale_to_rgb(t[..., :1])",
    "tf.image.adjust_brightness(bytes_, 0.2)",
    "tf.image.adjust_contrast(bytes_, 1.7)",
    "tf.image.adjust_gamma(x, 0.7, 1.5)",
    "tf.image.adjust_hue(x, 0.3)",
    "tf.image.adjust_saturation(bytes_, 0.3)",
    "tf.image.per_image_standardization(x)",
    "tf.image.per_image_standardization(np.ones((2, 2, 1), np.float32))",
    *(
        f"tf.image.convert_image_dtype(np.array([[[0, 100, 127]]], np.{a}), tf.{b}, saturate={s})"
        for a in ("uint8", "int8", "int16", "float32")
        for b in ("uint8", "uint16", "int32", "float64")
        for s in (False, True)
        if a != "float32"
    ),
    "tf.image.convert_image_dtype(x, tf.uint8)",
    "tf.image.convert_image_dtype(x * 3 - 1, tf.int8, saturate=True)",
    "tf.image.image_gradients(t)",
    "tf.image.sobel_edges(t)",
    "tf.image.total_variation(t)",
    "tf.image.psnr(x, y, 1.0)",
    "tf.image.psnr(bytes_, np.roll(bytes_, 1), 255)",
    "tf.image.ssim(x, y, 1.0, filter_size=3)",
    "tf.image.ssim(x, y, 1.0, filter_size=3, return_index_map=True)",
    "tf.image.ssim(big, big * 0.9, 1.0)",
    "tf.image.ssim_multiscale(big, big * 0.9, 1.0, power_factors=(0.3, 0.3, 0.4), filter_size=5)",
    "tf.image.crop_and_resize(x, boxes, [0, 1], [4, 3])",
    "tf.image.crop_and_resize(x, boxes, [1, 0], [4, 3], 'nearest', 2.0)",
    "tf.image.extract_patches(x, [1, 2, 3, 1], [1, 1, 2, 1], [1, 1, 1, 1], 'SAME')",
    "tf.image.extract_glimpse(x, [2, 3], boxes[:, :2], noise='zero')",
    "tf.image.draw_bounding_boxes(x, boxes[:, None], None)",
    "tf.image.non_max_suppression_padded(boxes, [0.3, 0.4], 4, pad_to_max_output_size=True)",
    "tf.image.stateless_random_flip_left_right(x, [1, 2])",
    "tf.image.stateless_random_flip_up_down(x[0], [1, 2])",
    "tf.image.stateless_random_brightness(x, 0.2, [1, 2])",
    "tf.image.stateless_random_contrast(x, 0.2, 0.5, [1, 2])",
    "tf.image.stateless_random_hue(x, 0.2, [1, 2])",
    "tf.image.stateless_random_saturation(x, 0.2, 0.5, [1, 2])",
    "tf.image.stateless_random_crop(x, [1, 2, 3, 3], [1, 2])",
    *(
        f"gradient(lambda x: {call}, x)"
        for call in (
            "tf.image.resize(x, [3, 9])",
            "tf.image.resize(x, [3, 9], 'bicubic')",
            "tf.image.resize(x, [3, 9], 'nearest')",
            "tf.image.resize(x, [3, 9], 'lanczos3', antialias=True)",
            "tf.image.crop_and_resize(x, boxes, [0, 1], [4, 3])",
            "tf.image.extract_patches(x, [1, 2, 3, 1], [1, 1, 2, 1], [1, 1, 1, 1], 'SAME')",
            "tf.image.rgb_to_hsv(x)",
            "tf.image.ssim(x, y, 1.0, filter_size=3)",
            "tf.image.per_image_standardization(x)",
            "tf.image.resize_with_crop_or_pad(x, 3, 10)",
        )
    ),
    "gradient(lambda b: tf.image.crop_and_resize(x, b, [0, 1], [4, 3]), boxes)",
    # Sparse tensors
    "tf.sparse.from_dense([[0, 1], [2, 0]])",
    "tf.sparse.from_dense([['', 'a']])",
    "tf.sparse.eye(2, 3)",
    "tf.sparse.to_dense(st)",
    "tf.sparse.to_dense(st, 9.0)",
    "tf.sparse.to_dense(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2]))",
    "tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [1, 0]], [2, 1], [2, 2]), 3)",
    "tf.sparse.reorder(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2]))",
    "tf.sparse.reshape(st, [2, -1])",
    "tf.sparse.reshape(st, [5, 5])",
    "tf.sparse.expand_dims(st, 1)",
    "tf.sparse.expand_dims(st)",
    "tf.sparse.transpose(st)",
    "tf.sparse.transpose(st, [0, 1])",
    "tf.sparse.reset_shape(st)",
    "tf.sparse.reset_shape(st, [5, 6])",
    "tf.sparse.reset_shape(st, [1, 6])",
    "tf.sparse.concat(1, [st, su])",
    "tf.sparse.concat(0, [st, tf.SparseTensor([[0, 5]], [1.0], [1, 6])], expand_nonconcat_dims=True)",
    "tf.sparse.split(st, 2, axis=1)",
    "tf.sparse.slice(st, [1, 0], [2, 3])",
    "tf.sparse.retain(st, [True, False, True, False])",
    "tf.sparse.fill_empty_rows(su, -1.0)",
    "tf.sparse.add(st, su)",
    "tf.sparse.add(st, su, 6.5)",
    "tf.sparse.add(st, m)",
    "tf.sparse.add(m, m)",
    *(
        f"tf.sparse.{name}(st, {axis}, {keep}, {sparse})"
        for name in ("reduce_sum", "reduce_max")
        for axis in (None, 0, [1], [0, -1])
        for keep in (False, True)
        for sparse in (False, True)
    ),
    "tf.sparse.sparse_dense_matmul(st, m, adjoint_b=True)",
    "tf.sparse.sparse_dense_matmul(st, m, adjoint_a=True)",
    "tf.sparse.sparse_dense_matmul(tf.constant(m), st, adjoint_a=True)",
    "tf.sparse.softmax(st)",
    "tf.sparse.maximum(st, su)",
    "tf.sparse.minimum(st, su)",
    "tf.sparse.map_values(tf.abs, st)",
    "st * 2.0",
    "st / m[:1]",
    "(st.shape, st.dtype, st.with_values([1, 2, 3, 4]))",
    "tf.nest.flatten(st, expand_composites=True)",
    "tf.SparseTensorSpec([3, None]).is_compatible_with(st)",
    "tf.convert_to_tensor(st)",
    "tf.function(lambda s: tf.sparse.reduce_sum(tf.sparse.add(s, s), axis=1))(st)",
    "tf.function(lambda s: tf.sparse.transpose(s))(st)",
    "v1.sparse_reduce_sum_sparse(st, reduction_axes=[0])",
    "v1.sparse_concat(concat_dim=0, sp_inputs=[st, su], axis=0)",
    "v1.sparse_to_dense([1, 3], [5], 1, 0)",
    "gradient(lambda v: tf.sparse.to_dense(st.with_values(v)), st.values)",
    "gradient(lambda v: tf.sparse.reduce_sum(st.with_values(v), 0), st.values)",
    "gradient(lambda v: tf.sparse.softmax(st.with_values(v)).values, st.values)",
    "gradient(lambda v: tf.sparse.add(st.with_values(v), su).values, st.values)",
    "gradient(lambda v: tf.sparse.transpose(st.with_values(v)).values, st.values)",
    "gradient(lambda v: tf.sparse.sparse_dense_matmul(st.with_values(v), m.T), st.values)",
    "gradient(lambda b: tf.sparse.sparse_dense_matmul(st, b), m.T.copy())",
    # Ragged tensors
    "tf.ragged.constant([[1.0, 2.0], []])",
    "tf.ragged.constant([['a'], ['b', 'c']], row_splits_dtype=tf.int32)",
    "tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)",
    "tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,))",
    "tf.ragged.constant([1, 2])",
    "tf.ragged.constant([[1], 2])",
    "tf.ragged.constant([[], []])",
    "tf.ragged.range([3, 5, 2])",
    "tf.ragged.range([0, 5], [8, 2], [3, -1])",
    "tf.ragged.range([0.5, 1.0], 3.0)",
    "R.from_row_splits([1, 2, 3], [0, 2, 3])",
    "R.from_row_splits([1, 2, 3], [0, 2])",
    "R.from_row_splits([1, 2, 3], [1, 3])",
    "R.from_row_splits([1, 2, 3], [0, 2, 1, 3])",
    "R.from_row_lengths([1, 2, 3], [2, 0, 1])",
    "R.from_row_lengths([1, 2, 3], [2, 2])",
    "R.from_value_rowids([1, 2, 3], [0, 2, 2], nrows=5)",
    "R.from_value_rowids([1, 2, 3], [0, 2, 2])",
    "R.from_value_rowids([1, 2, 3], [0, 2, 1])",
    "R.from_row_starts([1, 2, 3], [0, 2, 2])",
    "R.from_row_limits([1, 2, 3], [0, 2, 3])",
    "R.from_uniform_row_length([1, 2, 3, 4], 2)",
    "R.from_uniform_row_length([1, 2, 3, 4], 3)",
    "R.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 2, 3]])",
    "R.from_nested_row_lengths([1, 2, 3], [[1, 1], [2, 1]])",
    "R.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]])",
    "R.from_tensor([[1, 2], [3, 4]])",
    "R.from_tensor([[1, 2], [3, 4]], lengths=[1, 2])",
    "R.from_tensor([[1, 0, 0], [0, 3, 0]], padding=0)",
    "R.from_tensor(np.arange(12).reshape(2, 3, 2), ragged_rank=2)",
    "R.from_sparse(tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [3, 4]))",
    "(rt.shape, rt.ragged_rank, deep.shape, wide.shape, rt.dtype.name)",
    "R.from_uniform_row_length([1, 2, 3, 4], 2).shape",
    "(rt.row_lengths(), rt.row_starts(), rt.row_limits(), rt.value_rowids(), rt.nrows())",
    "(deep.row_lengths(axis=2), wide.row_lengths(axis=2))",
    "(deep.nested_row_lengths(), deep.nested_value_rowids(), deep.bounding_shape(), wide.bounding_shape())",
    "rt.to_tensor()",
    "rt.to_tensor(-1)",
    "rt.to_tensor(shape=[None, 2])",
    "rt.to_tensor(shape=[5, 4])",
    "deep.to_tensor()",
    "wide.to_tensor(7)",
    "tf.ragged.constant([['a'], []]).to_tensor()",
    "rt.to_sparse()",
    "deep.to_sparse()",
    "wide.to_sparse()",
    "str(rt.to_list())",
    "repr(rt)",
    "rt[0]", "rt[-2]", "rt[1:]", "rt[:-1]", "rt[::2]", "rt[:, 1:]", "rt[:, :-1]", "rt[:, ::2]", "rt[2, 1]", "rt[:, 0]",
    "deep[0]", "deep[0, 1]", "deep[:, :1]", "deep[:, :, 1:]", "deep[..., :1]", "deep[2, 0, 1:]", "wide[:, :, 0]",
    "wide[..., 0]", "rt[tf.newaxis]", "rt[:, tf.newaxis]",
    "rt + 1", "2 * rt", "rt + rt", "-rt", "rt > 2", "rt == rt", "rf / 2.0", "rt // 2", "rt % 2",
    "rt ** 2", "rt - [[1], [2], [3], [4]]",
    "deep + [[[1]], [[2]], [[3]]]", "wide + [10, 20]",
    "rt + tf.ragged.constant([[1], [2, 3], [], []])",
    "tf.ragged.map_flat_values(tf.square, rt)",
    "tf.ragged.map_flat_values(tf.reduce_sum, rt)",
    "tf.ragged.boolean_mask(rt, rt > 1)",
    "tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])",
    "tf.ragged.boolean_mask(rt, [True, False, True, False])",
    "tf.ragged.stack([rt, rt + 1])",
    "tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])])",
    "tf.ragged.stack([rt, rt], axis=1)",
    "tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5])",
    "tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=4)",
    "tf.ragged.stack_dynamic_partitions(['a', 'b', 'c'], [1, 0, 1], 3)",
    "rt.merge_dims(0, 1)",
    "deep.merge_dims(0, 1)", "deep.merge_dims(1, 2)", "deep.merge_dims(0, 2)",
    "rt.with_row_splits_dtype(tf.int32)",
    "tf.RaggedTensorSpec([None, None], tf.int32, 1).is_compatible_with(rt)",
    "tf.function(lambda r: (r * 2)[:, 1:])(rt)",
    "tf.function(lambda r: r.to_tensor())(deep)",
    "gradient(lambda v: rf.with_values(v).to_tensor(), rf.values)",
    "gradient(lambda v: (rf.with_values(v) * rf)[:, 1:].values, rf.values)",
    "gradient(lambda v: (st.with_values(v) * m).values, st.values)",
    # Arguments that are refused, and those that only look so.
    "tf.sort([3, 1], axis=1)",
    "tf.argsort([[3, 1]], axis=-3)",
    "tf.function(lambda v: tf.sort(v, axis=1))([3, 1])",
    "tf.function(lambda v: tf.argsort(v, axis=-3))([[3, 1]])",
    "v1.nn.dropout(x, keep_prob='half')",
    "v1.nn.dropout(x, keep_prob=[])",
    "(tf.random.set_seed(5), tf.nn.dropout([1.0], 0), tf.random.normal([2]))[2]",
    "(tf.random.set_seed(5), tf.nn.dropout([1.0], 0, seed=3), tf.random.normal([2]))[2]",
    "(lambda c: tf.nn.dropout(c, 0) is c)(tf.constant([1.0]))",
    "tf.function(lambda v, n: tf.pad(v, [[0, n], [1, 2]]).shape.as_list()[1])(m, 2)",
    "tf.function(lambda v, n: tf.pad(v, tf.stack([[0, n], [1, 2]])).shape.as_list()[1])(m, 2)",
    "tf.function(lambda v, n: tf.pad(v, tf.convert_to_tensor([[0, n], [1, 2]])).shape.as_list()[1])(m, tf.constant(2))",
    "tf.function(lambda v, n: tf.pad(v, [[0, n], [1, 2]]).shape.as_list()[0] is None)(m, tf.constant(2))",
    "tf.ragged.row_splits_to_segment_ids([])",
    "tf.split(np.zeros([5, 30]), [4, 11, 15], tf.constant([], tf.int32))",
    "tf.space_to_batch(tf.zeros([10, 19, 22]), tf.constant([1879048192] * 2, tf.int64), [[0, 0], [0, 0]])",
    "tf.ones_like('a')",
    "tf.zeros_like('a')",
    "v1.summary.audio('', [[1.0]], [22000.0, 22000.0])",
    "v1.summary.scalar('', 1.0)",
    "tf.train.ClusterSpec({'a': {'1': 'x'}}).job_tasks('a')[1]",
    "tf.train.ClusterSpec({'a': {'b': 'x'}})",
    # BMP files: pixels of 8, 24 and 32 bits.
    *(
        f"tf.io.{f}(bmp({bits}, height={h}), channels={c})"
        for f in ("decode_bmp", "decode_image")
        for bits in (1, 8, 16, 24, 32)
        for h in (2, -2)
        for c in (0, 1, 3, 4)
    ),
    "tf.io.decode_image(bmp(32), dtype=tf.float32)",
    "tf.io.decode_bmp(bmp(8, start=54 + 1024))",
    "tf.io.decode_bmp(bmp(24, more=b'12'))",
    "tf.io.decode_bmp(bmp(24)[:-1])",
    "tf.io.decode_bmp(bmp(24)[:25])",
    "tf.io.decode_bmp(bmp(24, width=0))",
    "tf.io.decode_bmp(bmp(24, height=0))",
    # DLPack.
    "tf.experimental.dlpack.to_dlpack([1])",
    "tf.experimental.dlpack.to_dlpack(np.ones(2))",
    "tf.experimental.dlpack.from_dlpack(capsule)",
    "tf.experimental.dlpack.from_dlpack(3)",
    "tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(tf.constant([1.5, 2], tf.bfloat16)))",
    # NaN and infinity in matrices.
    *(
        f"tf.linalg.{f}({matrix})"
        for f in ("det", "slogdet")
        for matrix in ("[[np.nan, 1], [1, 2.0]]", "[[np.inf, 1], [1, 2.0]]", "[[0.0, 0], [np.nan, 2.0]]",
                       "[[0.0, 0], [0, np.nan]]", "[[0.0, 0], [0, 1]]", "[[-np.inf]]", "[[np.nan]]")
    ),
    # Dtypes as NumPy names them, and texts.
    *(
        f"tnp.{f}({text!r}, dtype={dtype})"
        for f in ("array", "asarray", "zeros_like", "empty_like", "ones_like")
        for text in ("a\U0001f005", b"abc", ["a", "bc"])
        for dtype in ("'U8'", "str", "object", "np.str_", "tf.string")
    ),
    *(f"tnp.{f}({text!r})" for f in ("array", "zeros_like") for text in ("a\U0001f005", b"abc")),
    *(
        f"tnp.{call}, dtype={dtype}).dtype.name"
        for call in ("array([2]", "zeros([1]", "arange(3", "asarray([1.5]", "full([2], 3")
        for dtype in ("complex", "'complex'", "'float'", "'int'", "'bool'", "'f4'", "'<f4'", "'i8'", "np.dtype('c8')")
    ),
    "tnp.size(np.ones((2, 2)), 1)",
    "tnp.broadcast_to([1.0], 3)",
]  # fmt: skip


def leaves(value):
    """The tensors of a result as [dtype, nested list]; text for bytes."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for element in value for leaf in leaves(element)]
    if value is None:
        return []
    for parts in (("indices", "values", "dense_shape"), ("flat_values", "nested_row_splits")):
        if all(hasattr(value, part) for part in parts):
            return [leaf for part in parts for leaf in leaves(getattr(value, part))]
    if not hasattr(value, "numpy"):
        return [["python", value if isinstance(value, (bool, int, float, str)) else str(value)]]
    array = np.asarray(value.numpy(), object if value.dtype.name == "string" else None)
    if array.dtype.kind in "OS":
        texts = [v.decode("latin-1") if isinstance(v, bytes) else str(v) for v in array.ravel()]
        return [["string", np.array(texts, object).reshape(array.shape).tolist()]]
    digits = array.astype(np.float64).round(6) if array.dtype.kind == "f" else array
    return [[array.dtype.name, digits.tolist()]]


def answers(tf, calls, setup=SETUP):
    """What `tf` answers: the leaves of a result, or the name of an exception's class."""

    def gradient(function, at):
        at = tf.convert_to_tensor(at)
        with tf.GradientTape() as tape:
            tape.watch(at)
            out = function(at)
            # Weights that differ from element to element, so that no two places can be exchanged.
            weights = tf.cos(tf.range(tf.size(out), dtype=tf.float32))
            total = tf.reduce_sum(out * tf.reshape(weights, tf.shape(out)))
        return tf.convert_to_tensor(tape.gradient(total, at))

    scope = {"tf": tf, "np": np, "gradient": gradient}
    exec(setup, scope)
    out = {}
    for call in calls:
        try:
            out[call] = leaves(eval(call, scope))
        except Exception as error:
            out[call] = type(error).__name__
    return out


def write(vectors, calls, setup):
    """Write what TensorFlow answers to `calls` after the lines `setup`."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    found = answers(tensorflow, calls, setup)
    for call, answer in found.items():
        if isinstance(answer, str):
            print(call, "->", answer, file=sys.stderr)
    lines = [f"{json.dumps(call)}: {json.dumps(answer)}" for call, answer in found.items()]
    vectors.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def same(got, want):
    """Whether an answer is TensorFlow's: floating numbers may differ as far as sums in another order do."""
    assert isinstance(got, str) == isinstance(want, str), (got, want)
    if isinstance(want, str):
        assert got == want
        return
    assert [dtype for dtype, _ in got] == [dtype for dtype, _ in want]
    for (dtype, mine), (_, theirs) in zip(got, want, strict=True):
        if dtype in TOLERANCE:
            np.testing.assert_allclose(mine, theirs, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
        else:
            assert mine == theirs


if __name__ == "__main__":
    write(VECTORS, CALLS, SETUP)
