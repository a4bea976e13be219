"""Sizes, counts and dtypes at the edges of the integer dtypes, and what TensorFlow answers.

`python size_calls.py`, run by a Python that has TensorFlow, writes size_vectors.json anew; test_functions.py holds
the package to it, eagerly and inside of a function.

size_differences.json has the package's own answers where they differ on purpose. They never wrap around in silence:

- TensorFlow wraps Python integers into a dtype that cannot hold them, and counts and axes into int32; here they are
  errors, or keep their value (the shifts of `roll`).
- It takes -2**63 for a size 0, negative counts of `repeat` for 0, and forgets the rest of a dataset's count of elements
  (`skip`, `take`, `shard` of more than int32).
- Errors are raised where it returns what lies outside (`unravel_index`, `sparse.slice`), and are of one class for sizes
  beyond memory and for numbers beyond 64 bits, also in graphs; some kernels that it lacks are here (`saturate_cast`
  of uint64).
"""

import itertools
import json
import pathlib
import random
import runpy

VECTORS = pathlib.Path(__file__).with_name("size_vectors.json")

SETUP = """
def staged(call):
    return tf.function(call, autograph=False)()

edges, rows, columns = {}, {}, {}
for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    numbers = [low, low + 1, 0, 1, 2, 3, 7, high - 1, high] + ([-1, -2, -3] if low else [])
    edges[kind], rows[kind] = tf.constant(np.array(numbers, kind)), tf.constant(np.array(numbers, kind)[:, None])
    columns[kind] = tf.constant(np.array([n for n in numbers if n], kind))
reals = [0., -0.0, .5, -.5, 1.5, 126.9, 127.5, 128., -128.9, 255.5, 256., 32767.9, 65535.]
wide = [2.**31 - 128, 2.**31, -2.**31, 2.**32, 2.**53 + 1, 2.**63 - 1024, 2.**63, -2.**63, 2.**64, 1e30, -1e30]
for kind in ("float16", "bfloat16", "float32", "float64"):
    with np.errstate(over="ignore"):
        edges[kind] = tf.constant(reals + (wide if kind in ("float32", "float64") else []), kind)

def counted(dataset):
    return [int(dataset.cardinality())] + [int(x) for x in dataset.take(3).as_numpy_iterator()]
"""

EDGES = ["(1<<31)-1", "1<<31", "-(1<<31)-1", "(1<<53)+1", "(1<<63)-1", "-(1<<63)", "1<<63"]
SIZES = ["-1", "1<<31", "(1<<63)-1", "-(1<<63)", "1<<63"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]

_CONVERTED = [
    "tf.constant({v})", "tf.constant([{v}])", "tf.constant([1, {v}])", "tf.constant([[{v}], [1.5]])",
    "tf.constant([{v}, True])", "tf.convert_to_tensor({v})", "tf.convert_to_tensor({v}, dtype_hint=tf.int64)",
    "tf.convert_to_tensor({v}, dtype_hint=tf.float32)", "tf.constant(1) + ({v})", "({v}) - tf.constant(1)",
    "tf.constant(1, tf.int64) + ({v})", "tf.constant(1.5) * ({v})", "tf.constant(1, tf.uint64) + ({v})",
    "tf.constant(1, tf.uint8) + ({v})", "tf.constant(1) < ({v})", "tf.add({v}, 1)", "tf.add(1, {v})",
    "tf.multiply({v}, 1.5)",
    "tf.stack([1, {v}])", "tf.stack([{v}, 1])", "tf.concat([[1], [{v}]], 0)", "tf.cast({v}, tf.int32)",
    "tf.cast({v}, tf.float32)", "tf.cast({v}, tf.int64)", "tf.Variable({v})", "tf.Variable({v}, dtype=tf.int64)",
    "tf.TensorShape([{v}]).as_list()", "tf.identity({v})", "tf.where([True, False], {v}, 1)",
    "tf.maximum(tf.constant(1), {v})",
    "tf.fill([2], {v})", "tf.shape(tf.zeros([0, {v}]), tf.int64)",
    "tf.shape(tf.reshape(tf.zeros([0]), [0, {v}]), tf.int64)", "tf.abs({v})", "tf.negative({v})",
    "tf.constant(np.array({v}))", "tf.equal({v}, {v})", "tf.pow({v}, 2)", "tf.range({v}, {v})",
    "tf.range({v}, ({v}) + 3)",
    "tf.range(({v}) - 3, {v})", "tf.range({v}, ({v}) + 3, dtype=tf.int64)", "tf.range(float({v}), float({v}))",
    "tf.range({v}, {v}, {v})", "tf.range(0, {v}, {v})", "tf.range(0, {v}, -1)", "tf.range({v}, 0, {v})",
    "tf.range(0, {v}, (({v}) // 3) or 1)", "tf.range(0., {v}, ({v}) / 3)",
    "tf.range(0, {v}, (({v}) // 3) or 1, dtype=tf.int64)",
    "tf.range(0, {v}, (({v}) // 3) or 1, dtype=tf.float64)", "tf.range({v}, limit=0, delta=-(({v}) // 2))",
    "tf.range(tf.constant(0), {v}, (({v}) // 3) or 1)", "tf.range(tf.constant(0, tf.int64), {v}, (({v}) // 3) or 1)",
    "tf.range(0, {v}, tf.constant(1 << 30))", "tf.range(0, {v}, tf.constant(1 << 62, tf.int64))",
    "tf.linspace({v}, {v}, 3)", "tf.linspace(0., {v}, 3)", "tf.linspace(0, {v}, 3)",
]  # fmt: skip
_CONVERTED += [f"tf.constant({{v}}, tf.{d})" for d in [*INTEGERS, "bfloat16", "float32", "float64", "bool", "string"]]
_CONVERTED += [f"tf.constant([1, {{v}}], tf.{d})" for d in ["int8", "int32", "int64", "uint32", "uint64", "float32"]]

_SIZED = [
    "tf.fill([{v}], 0)", "tf.zeros([{v}])", "tf.ones([{v}], tf.int64)", "tf.shape(tf.zeros([{v}, 0]), tf.int64)",
    "tf.zeros([{v}, {v}])", "tf.shape(tf.zeros([0, {v}, {v}]), tf.int64)",
    "tf.shape(tf.fill([0, {v}], 1), tf.int64)", "tf.shape(tf.fill(tf.constant([0, {v}], tf.int64), 1))",
    "tf.fill([{v}, {v}], 1)",
    "tf.tile([1], [{v}])", "tf.tile([[]], [1, {v}])", "tf.tile(tf.zeros([0, 2]), [1, {v}])",
    "tf.tile([1], tf.constant([{v}], tf.int64))",
    "tf.repeat([1, 2], {v})", "tf.repeat([1, 2], [1, {v}])", "tf.repeat(tf.zeros([0, 2]), {v}, axis=0)",
    "tf.one_hot([], {v})", "tf.one_hot([1], {v})",
    "tf.one_hot([1], tf.constant({v}))", "tf.sequence_mask([1], {v})", "tf.sequence_mask([], {v})",
    "tf.sequence_mask(tf.zeros([0], tf.int64), {v})", "tf.sequence_mask([{v}], 2)",
    "tf.sequence_mask([{v}])", "tf.pad([1], [[0, {v}]])", "tf.pad(tf.zeros([0, 1]), [[0, 0], [0, {v}]])",
    "tf.pad([1], [[{v}, {v}]])",
    "tf.reshape([1, 2], [{v}])", "tf.reshape([1, 2], [{v}, -1])",
    "tf.shape(tf.reshape(tf.zeros([0]), [{v}, 0]), tf.int64)",
    "tf.shape(tf.reshape(tf.zeros([0]), [{v}, -1]), tf.int64)", "tf.reshape([1, 2], [{v}, {v}])",
    "tf.broadcast_to(1, [{v}])", "tf.shape(tf.broadcast_to(1, [0, {v}]), tf.int64)",
    "tf.broadcast_to(1, [{v}, {v}])", "tf.broadcast_to([1, 2], [{v}, 2])",
    "tf.constant([1, 2, 3])[{v}:]", "tf.constant([1, 2, 3])[:{v}]", "tf.constant([1, 2, 3])[::{v}]",
    "tf.constant([1, 2, 3])[{v}]",
    "tf.constant([1, 2, 3])[{v}::-1]", "tf.constant([1, 2, 3])[:{v}:-1]", "tf.constant([1, 2, 3])[1:{v}:{v}]",
    "tf.slice([1, 2, 3], [{v}], [1])", "tf.slice([1, 2, 3], [1], [{v}])",
    "tf.slice([1, 2, 3], tf.constant([1], tf.int64), [{v}])",
    "tf.strided_slice([1, 2, 3], [{v}], [{v}], [1])", "tf.strided_slice([1, 2, 3], [0], [3], [{v}])",
    "tf.roll([1, 2, 3], {v}, 0)", "tf.roll([[1, 2, 3]], [{v}, {v}], [0, 1])",
    "tf.roll([1, 2, 3], tf.constant({v}, tf.int64), 0)", "tf.roll([1, 2], 1, {v})",
    "tf.eye({v})", "tf.eye(0, {v})", "tf.eye({v}, 0)", "tf.eye(1, batch_shape=[0, {v}])",
    "tf.expand_dims([1], {v})", "tf.stack([[1]], axis={v})",
    "tf.concat([[1], [2]], {v})", "tf.squeeze([[1]], {v})", "tf.reverse([1], [{v}])",
    "tf.transpose([[1]], [{v}, 0])", "tf.reduce_sum([1], {v})",
    "tf.argmax([1], {v})", "tf.cumsum([1], {v})", "tf.unstack([1, 2], {v})", "tf.split([1, 2], {v})",
    "tf.split([1, 2], [1, {v}])",
    "tf.split([1, 2], [-1, {v}])", "tf.split(tf.zeros([0]), {v})", "tf.nn.in_top_k([0], [[1., 2.]], {v})",
    "tf.gather([1, 2], {v})", "tf.gather([1, 2], [{v}])", "tf.gather([1, 2], [0], axis={v})",
    "tf.gather_nd([1, 2], [[{v}]])",
    "tf.gather([[1, 2]], [0], batch_dims={v})", "tf.scatter_nd([[0]], [1], [{v}])", "tf.scatter_nd([[{v}]], [1], [3])",
    "tf.shape(tf.scatter_nd(tf.zeros([0, 1], tf.int64), tf.zeros([0, 0]), [{v}, 0]), tf.int64)",
    "tf.tensor_scatter_nd_update([1], [[{v}]], [2])",
    "tf.math.bincount([1], minlength={v})", "tf.math.bincount([1], maxlength={v})",
    "tf.math.bincount([{v}], maxlength=3)",
    "tf.math.bincount([{v}])", "tf.math.unsorted_segment_sum([1], [0], {v})",
    "tf.shape(tf.math.unsorted_segment_sum(tf.zeros([1, 0]), [0], {v}), tf.int64)",
    "tf.math.unsorted_segment_sum([1], [{v}], 2)", "tf.math.segment_sum([1], [{v}])",
    "tf.math.unsorted_segment_max([1], tf.constant([0]), tf.constant({v}, tf.int64))",
    "tf.sparse.segment_sum([[1.]], [0], [0], num_segments={v})", "tf.sparse.segment_sum([[1.]], [{v}], [0])",
    "tf.SparseTensor([[0]], [1], [{v}])", "tf.sparse.to_dense(tf.SparseTensor([[0]], [1], [{v}]))",
    "tf.sparse.to_dense(tf.SparseTensor([[0, 0]], [1], [{v}, {v}]))",
    "tf.sparse.to_dense(tf.SparseTensor([[{v}]], [1], [3]))",
    "tf.sparse.reorder(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [{v}, {v}]))",
    "tf.sparse.reshape(tf.SparseTensor([[0, 0]], [1], [{v}, 2]), [-1])",
    "tf.sparse.reshape(tf.SparseTensor([[0, 0]], [1], [2, 2]), [{v}, -1])",
    "tf.sparse.slice(tf.SparseTensor([[0]], [1], [3]), [0], [{v}])",
    "tf.sparse.slice(tf.SparseTensor([[0]], [1], [3]), [{v}], [1])",
    "tf.sparse.eye({v}, 0)", "tf.sparse.reduce_sum(tf.SparseTensor([[0, 0]], [1], [1, {v}]), 1)",
    "tf.random.uniform([{v}])", "tf.shape(tf.random.uniform([0, {v}]), tf.int64)",
    "tf.shape(tf.random.normal([{v}, 0]))", "tf.shape(tf.random.truncated_normal([{v}, {v}]))",
    "tf.random.uniform([0], maxval={v}, dtype=tf.int32)", "tf.random.uniform([0], maxval={v}, dtype=tf.int64)",
    "tf.random.uniform([0], {v}, {v}, dtype=tf.int64)",
    "tf.shape(tf.random.stateless_uniform([0, {v}], [1, 2]))", "tf.random.stateless_normal([{v}, {v}], [1, 2])",
    "tf.random.stateless_uniform([2], [1, {v}])",
    "tf.random.stateless_uniform([0], [1, 2], maxval={v}, dtype=tf.int32)",
    "tf.random.categorical([[1., 2.]], {v})", "tf.random.gamma([{v}], 1.)",
    "tf.random.poisson([{v}], 1.)", "tf.image.resize(tf.zeros([1, 1, 1, 1]), [{v}, 1])",
    "tf.image.resize(tf.zeros([0, 1, 1, 1]), [{v}, {v}])",
    "tf.image.crop_to_bounding_box(tf.zeros([2, 2, 1]), 0, 0, {v}, 1)",
    "tf.image.pad_to_bounding_box(tf.zeros([2, 2, 1]), 0, 0, {v}, 2)",
    "tf.image.resize_with_crop_or_pad(tf.zeros([2, 2, 1]), {v}, 2)",
    "tf.image.crop_and_resize(tf.zeros([1, 2, 2, 1]), [[0., 0, 1, 1]], [0], [{v}, {v}])",
    "tf.image.extract_patches(tf.zeros([1, 2, 2, 1]), [1, {v}, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID')",
    "tf.nn.max_pool2d(tf.zeros([1, 2, 2, 1]), {v}, 1, 'VALID')",
    "tf.nn.max_pool2d(tf.zeros([1, 2, 2, 1]), 1, {v}, 'SAME')",
    "tf.nn.space_to_depth(tf.zeros([1, 2, 2, 1]), {v})", "tf.nn.depth_to_space(tf.zeros([1, 2, 2, 4]), {v})",
    "tf.space_to_batch([[[[1.]]]], [1, {v}], [[0, 0], [0, 0]])",
    "tf.batch_to_space([[[[1.]]]], [1, {v}], [[0, 0], [0, 0]])",
    "tf.linalg.diag([1.], num_rows={v})", "tf.linalg.diag([1.], k={v})", "tf.linalg.diag_part([[1.]], k={v})",
    "tf.linalg.band_part([[1.]], {v}, 0)",
    "tf.strings.substr('abc', {v}, 1)", "tf.strings.substr('abc', 1, {v})", "tf.as_string([1], width={v})",
    "tf.strings.as_string([1.], precision={v})",
    "tf.strings.split('a b c', maxsplit={v})", "tf.strings.to_hash_bucket('a', {v})",
    "tf.strings.to_hash_bucket_fast('a', {v})", "tf.strings.unicode_encode([{v}], 'UTF-8')",
    "tf.strings.ngrams(['a', 'b'], {v})",
    "tf.io.decode_raw(b'ab', tf.uint8, fixed_length={v})" , "tf.strings.reduce_join(['a'], {v})",
    "tf.ragged.range({v})", "tf.ragged.range([0], [{v}], [{v}])", "tf.RaggedTensor.from_row_splits([1], [0, {v}])",
    "tf.RaggedTensor.from_row_lengths([1], [{v}])",
    "tf.RaggedTensor.from_value_rowids([1], [{v}])", "tf.RaggedTensor.from_value_rowids([1], [0], nrows={v})",
    "tf.RaggedTensor.from_uniform_row_length([1, 2], {v})",
    "tf.RaggedTensor.from_uniform_row_length([], {v}, nrows=0)", "tf.RaggedTensor.from_row_starts([1], [{v}])",
    "tf.ragged.constant([[1]]).to_tensor(shape=[1, {v}])",
    "tf.shape(tf.ragged.constant([[1], []]).to_tensor(shape=[{v}, 0]))",
    "tf.edit_distance(tf.SparseTensor([[0, 0]], ['a'], [1, {v}]), tf.SparseTensor([[0, 0]], ['a'], [1, 1]))",
    "tf.meshgrid([1], [{v}])", "tf.unravel_index({v}, [2, 2])", "tf.unravel_index([1], [{v}, {v}])",
    "tf.math.confusion_matrix([0], [0], {v})",
    "tf.math.confusion_matrix([{v}], [0], 2)", "tf.histogram_fixed_width([1.], [0., 2.], {v})",
    "tf.nn.embedding_lookup([[1.]], [{v}])",
    "tf.dynamic_partition([1], [0], {v})", "tf.dynamic_partition([1], [{v}], 2)",
    "tf.dynamic_stitch([[{v}]], [[1]])", "tf.boolean_mask([1], [True], axis={v})",
    "tf.searchsorted([1, 2], [{v}])", "tf.signal.frame([1., 2.], {v}, 1)", "tf.signal.frame([1., 2.], 1, {v})",
    "tf.signal.rfft([1.], [{v}])", "tf.signal.fft3d(tf.zeros([0, 1, 1], tf.complex64))",
    "tf.zeros_like([1], shape=[{v}])" , "tf.ensure_shape([1], [{v}])", "tf.TensorArray(tf.int32, {v}).size()",
    "tf.TensorArray(tf.int32, 1).write({v}, 1).stack()",
    "tf.TensorArray(tf.int32, 1).unstack([1]).read({v})",
    "tf.raw_ops.TensorListReserve(element_shape=[], num_elements={v}, element_dtype=tf.int32) is None",
    "tf.quantization.fake_quant_with_min_max_args([1.], num_bits={v})", "tf.bitcast([1], tf.int8)",
    "tf.sets.size(tf.SparseTensor([[0, 0]], [1], [1, {v}]))",
    "tf.sparse.from_dense([{v}])", "tf.math.top_k([1], {v})", "tf.sort([1], axis={v})",
    "tf.linalg.trace(tf.zeros([0, {v}, 0]))", "tf.matmul(tf.zeros([{v}, 0]), tf.zeros([0, {v}]))",
    "tf.tensordot([1.], [1.], {v})", "tf.einsum('i,j->ij', tf.zeros([0]), tf.zeros([1])) if {v} else 0",
    "tf.norm([1.], axis={v})", "tf.nn.moments([1.], [{v}])",
    "tf.nn.conv2d(tf.zeros([1, 2, 2, 1]), tf.zeros([1, 1, 1, 1]), {v}, 'SAME')",
    "tf.nn.conv2d(tf.zeros([1, 2, 2, 1]), tf.zeros([1, 1, 1, 1]), 1, 'SAME', dilations={v})",
    "tf.nn.conv2d_transpose(tf.zeros([1, 1, 1, 1]), tf.zeros([1, 1, 1, 1]), [1, {v}, 1, 1], 1)",
    "tf.nn.local_response_normalization(tf.zeros([1, 1, 1, 1]), {v})", "tf.audio.encode_wav([[0.]], {v})",
    "tf.io.parse_tensor(tf.io.serialize_tensor([1]), tf.int32) if {v} else 0", "tf.random.shuffle([1], seed={v})",
    "tf.random.set_seed({v})",
]  # fmt: skip

_DATA = [
    "tf.data.Dataset.range({v}).cardinality()", "counted(tf.data.Dataset.range({v}, ({v}) + 2))",
    "counted(tf.data.Dataset.range(0, {v}, {v}))", "counted(tf.data.Dataset.range(5).take({v}))",
    "counted(tf.data.Dataset.range(5).skip({v}))", "counted(tf.data.Dataset.range(5).repeat({v}))",
    "counted(tf.data.Dataset.range(5).batch({v}).map(tf.size))",
    "counted(tf.data.Dataset.range(5).batch({v}, drop_remainder=True).map(tf.size))",
    "counted(tf.data.Dataset.range(5).prefetch({v}))", "tf.data.Dataset.range(5).shuffle({v}).cardinality()",
    "counted(tf.data.Dataset.range(5).shard({v}, 0))", "counted(tf.data.Dataset.range(5).shard(2, {v}))",
    "tf.data.Dataset.range(5).window({v}).cardinality()",
    "tf.data.Dataset.range(5).window(1, {v}).cardinality()",
    "counted(tf.data.Dataset.range(5).repeat({v}).repeat({v}))",
    "counted(tf.data.Dataset.range(5).repeat(1 << 62).take({v}))",
    "counted(tf.data.Dataset.range({v}).concatenate(tf.data.Dataset.range({v})))",
    "counted(tf.data.Dataset.range(3).flat_map(lambda i: tf.data.Dataset.range({v}).take(2)))",
    "counted(tf.data.Dataset.range(3).enumerate({v}).map(lambda i, x: i))",
    "counted(tf.data.Dataset.range(2).interleave(lambda i: tf.data.Dataset.range(2), cycle_length={v}))",
    "counted(tf.data.Dataset.range(3).padded_batch({v}, []).map(tf.size))", "tf.data.Dataset.random({v}).cardinality()",
    "counted(tf.data.Dataset.range(2).apply(tf.data.experimental.assert_cardinality({v})))",
    "counted(tf.data.experimental.Counter({v}))",
]  # fmt: skip

# Of the shape of an array whose elements would not fit: an error, whatever there is of memory.
_TOO_LARGE = [
    f"{call}"
    for shape in ("[1<<31, 1<<31, 1<<31]", "[1<<32, 1<<32]", "[(1<<31)-1, (1<<31)-1, 4]", "[1<<62, 4]",
    "[3, (1<<62)+1]", "[1<<33, 1<<33, 0]")
    for call in (
        f"tf.zeros({shape})", f"tf.fill({shape}, 1)", f"tf.ones({shape}, tf.int8)", f"tf.broadcast_to(1, {shape})",
        f"tf.random.uniform({shape})", f"tf.random.stateless_normal({shape}, [1, 2])", f"tf.reshape([1], {shape})",
        f"tf.scatter_nd(tf.zeros([0, 1], tf.int64), tf.zeros([0, 1]), {shape})", f"tf.zeros({shape}, tf.string)",
        f"tf.SparseTensor(tf.zeros([0, len({shape})], tf.int64), tf.zeros([0]), {shape})",
        f"tf.sparse.to_dense(tf.SparseTensor(tf.zeros([0, len({shape})], tf.int64), tf.zeros([0]), {shape}))",
        f"tf.tile(tf.zeros([1] * len({shape})), {shape})", f"tf.TensorShape({shape}).num_elements()",
        f"tf.reshape(tf.zeros([0]), {shape})",
        f"tf.unravel_index([1], {shape})", f"tf.linalg.diag(tf.zeros([0]), num_rows={shape}[0], num_cols={shape}[1])",
        f"tf.sparse.reshape(tf.SparseTensor([[0]], [1], [4]), {shape})",
        "tf.random.categorical(tf.zeros([0, 2]), 1 << 40)",
        "tf.image.resize(tf.zeros([1, 1, 1, 1]), [1 << 30, 1 << 30])",
    )
]  # fmt: skip


def _arithmetic():
    for dtype in INTEGERS:
        x, rows, columns = f"edges['{dtype}']", f"rows['{dtype}']", f"columns['{dtype}']"
        for name in ("add", "subtract", "multiply", "maximum", "minimum", "math.squared_difference", "less", "equal"):
            yield f"tf.{name}({rows}, {x})"
        for name in (
            "math.floordiv", "math.floormod", "truncatediv", "truncatemod", "truediv", "math.divide_no_nan",
            "bitwise.bitwise_and", "bitwise.bitwise_xor", "math.mod",
        ):  # fmt: skip
            yield f"tf.{name}({rows}, {columns})"
        for name in ("math.floordiv", "math.floormod", "truncatediv", "truncatemod"):
            yield f"tf.{name}({x}, tf.constant(0, tf.{dtype}))"
        for name in (
            "abs", "negative", "sign", "square", "cumsum", "math.cumprod", "reduce_sum", "reduce_prod",
            "reduce_max", "reduce_min",
            "reduce_mean", "bitwise.invert", "math.reduce_variance", "sort", "argmax", "argsort",
            "math.cumulative_logsumexp", "rank", "size",
            "math.count_nonzero", "identity", "as_string", "round", "math.floor",
        ):  # fmt: skip
            yield f"tf.{name}({x})"
        for shift in ("left_shift", "right_shift"):
            yield f"tf.bitwise.{shift}({rows}, tf.constant(np.arange(np.iinfo('{dtype}').bits), tf.{dtype}))"
            yield f"tf.bitwise.{shift}({x}, tf.constant(np.iinfo('{dtype}').bits, tf.{dtype}))"
            yield f"tf.bitwise.{shift}({x}, tf.constant(np.iinfo('{dtype}').max, tf.{dtype}))"
            if not dtype.startswith("u"):
                yield f"tf.bitwise.{shift}({x}, tf.constant(-1, tf.{dtype}))"
        for exponent in (0, 1, 2, 3, 31, 64, -1):
            yield f"tf.pow({x}, tf.constant({exponent}, tf.{dtype}))"
        yield f"tf.clip_by_value({x}, tf.constant(1, tf.{dtype}), tf.constant(2, tf.{dtype}))"
        yield f"tf.matmul([{x}], {rows})"
        yield f"tf.math.add_n([{x}, {x}, {x}])"
        yield f"tf.math.accumulate_n([{x}, {x}, {x}])"
        yield f"tf.range({x}[-1] - 2, {x}[-1])"
        yield f"tf.range({x}[0], {x}[0] + 2)"
        yield f"tf.linspace({x}[0], {x}[-1], 3)"
        yield f"tf.math.segment_sum({x}, [0] * {x}.shape[0])"
        yield f"tf.math.unsorted_segment_prod({x}, [0] * {x}.shape[0], 2)"
        for target in [*INTEGERS, "float16", "bfloat16", "float32", "float64", "bool"]:
            yield f"tf.cast({x}, tf.{target})"
            yield f"tf.saturate_cast({x}, tf.{target})"
    for source in ("float16", "bfloat16", "float32", "float64"):
        for target in INTEGERS:
            yield f"tf.saturate_cast(edges['{source}'], tf.{target})"
            yield f"tf.cast(edges['{source}'][:6], tf.{target})"  # beyond the range it depends on the processor


def calls(seed, count):
    """Random ranges and slices: starts, limits and steps at the edges of int32 and int64."""
    random_ = random.Random(seed)
    edges = [0, 1, -1, (1 << 31) - 1, 1 << 31, -(1 << 31), (1 << 33), (1 << 62), (1 << 63) - 1, -(1 << 63), 1 << 63]
    made = []
    for _ in range(count):
        start, limit = (random_.choice(edges) + random_.randint(-2, 2) for _ in range(2))
        delta = max(abs(limit - start) // random_.randint(1, 4), 1) * random_.choice([1, 1, 1, -1])
        delta = random_.choice([delta, delta + 1, -delta, 0]) if random_.random() < 0.2 else delta
        if limit < start and random_.random() < 0.8:
            delta = -abs(delta)
        if random_.random() < 0.2:
            delta = float(delta)
        dtype = random_.choice(["", "", ", dtype=tf.int32", ", dtype=tf.int64", ", dtype=tf.float32",
        ", dtype=tf.float64"])
        made.append(f"tf.range({start}, {limit}, {delta}{dtype})")
        shape = [random_.choice([0, 1, 3, -1]) for _ in range(random_.randint(1, 4))]
        shape[-1] = random_.choice([0, 1, -1, 1 << 31, 1 << 33])  # one large size: products that overflow are refused
        made.append(f"tf.shape(tf.reshape(tf.zeros([{random_.choice([0, 0, 3])}]), {shape}), tf.int64)")
        steps = [random_.choice(edges[:9]) + random_.randint(-3, 3) for _ in range(3)]
        made.append(f"tf.constant([1, 2, 3])[{steps[0]}:{steps[1]}:{steps[2]}]")
    return made


_EAGER = [
    *(form.format(v=v) for form, v in itertools.product(_CONVERTED, EDGES)),
    *(form.format(v=v) for form, v in itertools.product(_SIZED, SIZES)),
    *_TOO_LARGE,
    *calls(1, 60),
]
_GENERATED = [
    *_EAGER,
    *(f"staged(lambda: {call})" for call in _EAGER[::3]),
    *(form.format(v=v) for form, v in itertools.product(_DATA, SIZES)),
    *dict.fromkeys(_arithmetic()),
]

# Left out: what takes the memory that it asks for, and what ends TensorFlow or fails an assertion of its own.
_ASKED = json.loads(VECTORS.read_text())
CALLS = [call for call in dict.fromkeys(_GENERATED) if call in _ASKED]
DIFFERENCES = json.loads(VECTORS.with_name("size_differences.json").read_text())

if __name__ == "__main__":
    runpy.run_path(str(pathlib.Path(__file__).with_name("function_calls.py")))["write"](
        VECTORS, CALLS, SETUP
    )
