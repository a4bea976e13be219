"""Calls of functions with ragged tensors, and what TensorFlow answers to them.

`python ragged_calls.py`, run by a Python that has TensorFlow, writes ragged_vectors.json anew; test_functions.py
holds the package to it.
"""

import pathlib
import runpy

VECTORS = pathlib.Path(__file__).with_name("ragged_vectors.json")

SETUP = """
v1 = tf.compat.v1
R = tf.RaggedTensor
c = tf.ragged.constant
rt = c([[3, 1, 4], [], [1, 5], [9]])
rf = c([[3.0, 1.0], [], [-1.5]])
deep = c([[[1, 2], [3]], [], [[4, 5, 6], []]])
wide = R.from_row_splits(np.arange(10).reshape(5, 2), [0, 2, 2, 5])
words = c([["a", "b", "c"], ["d"], [], ["e", "f"]])
truth = c([[True, False, True], [], [False, True], [True]])
even = R.from_uniform_row_length(c([[1], [2, 3], [], [4, 5, 6]]), 2)
narrow = c([[3, 1, 4], [], [1, 5], [9]], row_splits_dtype=tf.int32)
st = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [3, 4])
table = np.arange(20, dtype=np.float32).reshape(10, 2)

def static(function, *args):
    made = tf.function(function)(*args)
    return made

def shape_of(function, *args):
    found = []
    def traced(*given):
        out = function(*given)
        found.append(str(out.shape))
        return out
    tf.function(traced)(*args)
    return found[0]

def error(function):
    try:
        function()
    except Exception as e:
        return str(e)
"""

_BOTH = (
    "rt + [[1], [2], [3], [4]]",
    "rt + c([[1], [2, 3], [], []])",
    "rt + c([[1, 2, 3], [], [4, 5], [6]])",
    "c([[1, 2], [3]]) + [[10], [20]]",
    
    "c([[1, 2], [3]]) + [10, 20]",
    "c([[1, 2], [3]]) + [10]",
    "deep + 1",
    "deep + [[[1]], [[2]], [[3]]]",
    "deep + c([[[1], [2]], [], [[3], [4]]], ragged_rank=1)",
    "deep + [[1]]",
    "wide + [1, 2]",
    "wide + [[[1, 2]], [[3, 4]], [[5, 6]]]",
    "wide * [[[2]], [[3]], [[4]]]",
    "even + [[[1], [2]]]",
    "even + [[[1], [2]], [[3], [4]]]",
    "wide + c([[1], [2], [3]])[:, :, None]",
    "tf.constant([[[1]], [[2]]]) + c([[1, 2], [3]])",
    "rt + narrow",
    "rt[:0] + 1",
    "c([[1, 2]]) + [[[1], [2]], [[3], [4]]]",
    "rt + tf.constant(1.0)",
    "[[1], [2], [3], [4]] - rt",
    "tf.add(rt, [[1], [2], [3], [4]])",
    "tf.maximum(rf, 0.0)",
    "tf.where(rt > 2, rt, -rt)",
    "tf.where(rt > 2, rt, 0)",
    "tf.where(rt > 2, [[1], [2], [3], [4]], rt)",
    "tf.where(truth)",
    "tf.where(c([[[True, False], [True]], []]))",
    "v1.where(truth, rt, -rt)",
    "v1.where([True, False, True, False], rt, c([[7], [8, 8], [], [9]]))",
    "tf.clip_by_value(rt, 2, 4)",
    "tf.math.divide_no_nan(rf, 0.0)",
    "rt == 1", "rt != rt", "1 < rt", "rt <= 3", "~truth", "truth & truth", "truth | False", "truth ^ True",
    "abs(-rt)", "-rt", "+rt", "2 ** rt", "rt // 2", "rt % 3", "rt / 2", "7 // c([[1, 2], [3]])", "divmod(rt, 2)",
    "rt == 'a'", "rt == None", "hash(rt) == hash(rt)", "bool(rt)", "len(rt)", "rt @ rt", "list(rt[:2])[0]",
)

_UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfinv exp expm1 floor is_finite is_inf "
    "is_nan lgamma log log1p log_sigmoid negative reciprocal reciprocal_no_nan rint round rsqrt sigmoid sign sin sinh "
    "softplus sqrt square tan tanh ndtri bessel_i0 bessel_i0e bessel_i1 bessel_i1e erfcinv conj real imag angle"
).split()

_BINARY = (
    "atan2 divide floordiv floormod maximum minimum multiply multiply_no_nan mod pow squared_difference subtract truediv "
    "xdivy xlog1py xlogy zeta nextafter greater less_equal truncatediv truncatemod"
).split()

_REDUCE = [
    f"tf.{name}({value}, {axis})"
    for name in ("reduce_sum", "reduce_prod", "reduce_min", "reduce_max", "reduce_mean", "math.reduce_std",
                 "math.reduce_variance")
    for value, axes in (("rt", ("0", "1", "None", "[0, 1]", "-1", "2", "axis=1, keepdims=True")),
                        ("rf", ("0", "1", "None")),
                        ("deep", ("0", "1", "2", "[0, 2]", "[1, 2]", "[0, 1, 2]", "axis=-2, keepdims=True")),
                        ("wide", ("1", "2", "[1, 2]", "0")),
                        ("even", ("0", "1", "2")))
    for axis in axes
    if not (value == "rt" and "math" in name) or axis in ("1", "None")
]  # fmt: skip

CALLS = [
    *_BOTH,
    *(f"tf.math.{name}(rf)" for name in _UNARY),
    *(f"tf.math.{name}(rf, 2.0)" for name in _BINARY
      if not name.startswith("trunc")),
    *(f"tf.{name}(rt, 2)" for name in ("truncatediv", "truncatemod")),
    *_REDUCE,
    "tf.reduce_all(truth, 1)", "tf.reduce_any(truth, 1)", "tf.reduce_all(truth)", "tf.reduce_any(truth, 0)",
    "tf.reduce_logsumexp(rf, 1)", "tf.math.count_nonzero(rt, 1)",
    "tf.math.add_n([rt, rt, rt])", "tf.add_n([rt])",
    "tf.math.cumsum(rt)",
    # Making
    "R.from_row_lengths(np.arange(6), [2, 0, 4])",
    "R.from_row_lengths([1, 2], [3, -1])",
    "R.from_row_lengths([1, 2], [1.0])",
    "R.from_row_splits([1, 2], [[0, 2]])",
    
    "R.from_row_splits([1, 2], [])",
    "R.from_value_rowids([1, 2], [-1, 0])",
    "R.from_value_rowids([1, 2], [0, 3], nrows=2)",
    "R.from_value_rowids([1, 2], [0, 3], nrows=-2)",
    "R.from_value_rowids([1, 2, 3], [0, 1])",
    "R.from_value_rowids([], [], nrows=3)",
    "R.from_row_starts([1, 2, 3], [0, 0, 2])",
    "R.from_row_starts([1, 2, 3], [1, 2])",
    "R.from_row_limits([1, 2, 3], [1, 2])",
    "R.from_row_limits([1, 2, 3], [1, 3])",
    "R.from_uniform_row_length(np.arange(6), 2)",
    "R.from_uniform_row_length(np.arange(6), 2).shape",
    "R.from_uniform_row_length([], 0, nrows=3)",
    "R.from_uniform_row_length([1, 2], 0)",
    "R.from_uniform_row_length([1, 2, 3], 2)",
    "R.from_uniform_row_length([1, 2], -1)",
    "R.from_uniform_row_length(even.values, 2).shape",
    "R.from_nested_row_splits([1, 2], tf.constant([0, 2]))",
    "R.from_nested_value_rowids([1, 2], [[0, 0]], nested_nrows=[3])",
    "R.from_nested_value_rowids([1, 2], [[0, 0]], nested_nrows=[3, 4])",
    "R.from_row_splits([1, 2], [0, 2, 2]).consumers()",
    "R.from_tensor([[1, 2], [3, 4]], lengths=[1, 5])",
    "R.from_tensor([[1, 2], [3, 4]], lengths=[[1]])",
    "R.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0, lengths=[1, 2])",
    "R.from_tensor([1, 2])",
    "R.from_tensor([[1, 2]], ragged_rank=2)",
    "R.from_tensor([[1, 2]], ragged_rank=0)",
    "R.from_tensor([[[1, 0], [0, 0]], [[2, 3], [0, 0]]], padding=[0, 0])",
    "R.from_tensor([[[1, 0], [0, 0]], [[2, 3], [4, 0]]], padding=0, ragged_rank=2)",
    "R.from_tensor([[[1, 0], [0, 0]], [[2, 3], [4, 0]]], lengths=([1, 2], [1, 2, 1]))",
    "R.from_tensor(np.zeros([0, 3]))",
    "R.from_tensor([['a', ''], ['', 'b']], padding='')",
    "R.from_tensor([[1, 2]], row_splits_dtype=tf.int32)",
    "R.from_sparse(st)",
    "R.from_sparse(tf.SparseTensor([[0, 1]], [1], [2, 2]))",
    "R.from_sparse(tf.SparseTensor([[0, 0, 0]], [1], [2, 2, 2]))",
    "R.from_sparse(st).shape",
    "rt.to_tensor(shape=[2, 2])", "rt.to_tensor(0, shape=[None, 5])", 
     "rt.to_tensor('a')", "deep.to_tensor(shape=[3, None, 2])",
    "wide.to_tensor(default_value=[7, 8])", "wide.to_tensor(shape=[None, None, 3])", "even.to_tensor().shape",
    "deep.to_tensor(-1)", "words.to_tensor('?')", "rt[:0].to_tensor()",
    "deep.to_sparse()", "wide.to_sparse()", "even.to_sparse()", "rt[:0].to_sparse()",
    "deep.bounding_shape()", "deep.bounding_shape(axis=1)", "deep.bounding_shape(axis=[0, 2])",
    "deep.bounding_shape(out_type=tf.int32)", "wide.bounding_shape()",
    "deep.row_lengths(0)", "deep.row_lengths(1)", "deep.row_lengths(2)", "wide.row_lengths(2)", "deep.row_lengths(3)",
    "deep.nested_row_lengths()", "deep.nested_value_rowids()", "deep.nrows()", "deep.nrows(tf.int32)",
    "deep.numpy()[0][0]", "rt.numpy()[2]", "R.from_row_splits([1, 2, 3, 4], [0, 2, 4]).numpy()",
    "wide.to_list()", "str(words)", "repr(deep)", "repr(even)", "repr(wide)",
    "repr(c([list(range(40)), [], [1.5] * 30]))",
    "repr(c([['long words of text'] * 9, []]))",
    "repr(rf)", "repr(c([[[]], []]))", "repr(truth)", "repr(rt[:0])",
    "repr(R.from_row_splits(np.zeros([0, 3]), [0, 0, 0]))",
    "repr(c([[i] * i for i in range(60)]))",
    "deep.merge_dims(0, 1)", "deep.merge_dims(1, 2)", "deep.merge_dims(0, 2)", "deep.merge_dims(-2, -1)",
    "wide.merge_dims(1, 2)", "wide.merge_dims(0, 2)", "deep.merge_dims(2, 1)", "deep.merge_dims(0, 5)",
    "deep.merge_dims(1, 1)",
    "deep.with_values(tf.range(4))", "deep.with_values([1])", "deep.with_flat_values(tf.range(6) * 2)",
    "rt.with_row_splits_dtype(tf.float32)", "(even.shape, deep.shape, wide.shape, rt.ragged_rank, even.ragged_rank)",
    "even.uniform_row_length", "rt.uniform_row_length",
    "rt[1]", "rt[-1]", "rt[4]", "rt[0, 1]", "rt[0, 5]", "rt[::2]", "rt[::-1]", "rt[:, :2]", "rt[:, -2:]", "rt[:, ::-1]",
    "rt[:, 1]", "deep[0, 1]", "deep[0, 1:]", "deep[:, :1]", "deep[:, :, :1]", "deep[..., 1:]", "deep[0, ..., 0:1]",
    "deep[1:, 1:]", "wide[:, :, 0]", "wide[:, :, ::-1]", "wide[0]", "wide[0, 1]", "wide[:, 0]", "wide[..., None]",
    "even[:, 1]", "even[:, -1]", "even[:, 0, :1]", "even[:, 2]", "rt[tf.constant(2)]", "rt[tf.constant(1):]", "rt['a']",
    "rt[1.5]", "rt[:, None]", "rt[None, 1:]", "deep[:, None, 0:1]",  "rt[:, 1:2]", "rt[..., -1:]", "rt[2:1]",
    "rt[-3:-1]", "rt[:, 2:0]", "rt[100:]", "rt[0, 0, 0]",  "wide[:, 1:, 1]", "deep[:2, :, 1:]",
    "rt[tf.constant([1, 2])]",
    # Array functions
    "tf.tile(rt, [2, 1])", "tf.tile(rt, [1, 2])", "tf.tile(rt, [2, 3])", "tf.tile(rt, [0, 1])",
    "tf.tile(deep, [1, 2, 1])", "tf.tile(deep, [2, 1, 2])", "tf.tile(wide, [1, 1, 2])", "tf.tile(wide, [2, 2, 1])",
    "tf.tile(even, [1, 2, 1])", "tf.tile(rt, [1, 1])", "tf.tile(rt, [1, 0])", "tf.tile(rt, [-1, 1])",
    "tf.reverse(rt, [0])", "tf.reverse(rt, [1])", "tf.reverse(rt, [0, 1])", "tf.reverse(deep, [2])",
    "tf.reverse(deep, [-2])", "tf.reverse(wide, [2])", "tf.reverse(rt, [3])", "tf.reverse(rt, [])",
    "tf.squeeze(c([[[1]], [[2]]]), [2])", "tf.squeeze(c([[1, 2]]), [0])", "tf.squeeze(c([[1], [2]]), 1)",
    "tf.squeeze(rt)", "tf.squeeze(c([[[1, 2], [3]]]), [0])", "tf.squeeze(rt, [1])", "tf.squeeze(wide[:1], 0)",
    "tf.squeeze(R.from_row_splits([[1], [2]], [0, 2]), -1)",
    "tf.expand_dims(rt, 0)", "tf.expand_dims(rt, 1)", "tf.expand_dims(rt, 2)", "tf.expand_dims(rt, -1)",
    "tf.expand_dims(rt, 3)", "tf.expand_dims(deep, 1)", "tf.expand_dims(wide, 3)", "tf.expand_dims(rt, -4)",
    "tf.expand_dims(rt, 0).shape", "tf.expand_dims(rt, 1).shape", "tf.expand_dims(rt, 2).shape",
    "tf.one_hot(rt, 5)", "tf.one_hot(rt, 3, 7, -7)", "tf.one_hot(rt, 3, axis=1)", "tf.one_hot(rt, 3, axis=-1)",
    "tf.one_hot(rt, 4, dtype=tf.bool, on_value=True, off_value=False)", "tf.one_hot(rt, 3, axis=2)",
    "tf.gather(rt, 1)", "tf.gather(rt, [2, 0])", "tf.gather(rt, [[2, 0], [1, 1]])", "tf.gather(rt, c([[2], [0, 1]]))",
    "tf.gather([10, 20, 30], c([[2], [0, 1]]))", "tf.gather(rt, [7])", "tf.gather(rt, [-1])",
    "tf.gather(rt, c([[0], [], [1, 0], [0]]), batch_dims=1)", 
    "tf.gather(rt, [2, 0, 1], axis=0)", 
    "tf.gather(wide, [1, 0], axis=2)", "tf.gather(deep, [[1, 0], [], []] and [0], axis=2)",
    "tf.gather([[1, 2], [3, 4]], c([[1], [0, 0]]), batch_dims=1)", "tf.gather(deep, c([[1], [], [0]]), batch_dims=1)",
    "tf.gather(deep, c([[[0], [0]], [], [[2], []]]), batch_dims=2)", "tf.gather(rt, [0.5])",
    "tf.gather([[1, 2], [3, 4]], c([[1], [0, 0]]), axis=1)",
    "v1.batch_gather(rt, c([[0], [], [1, 0], [0]]))",
    "tf.gather_nd(rt, [[0], [2]])", "tf.gather_nd(rt, [[0, 1], [3, 0]])", "tf.gather_nd(deep, [[0, 1, 0], [2, 0, 2]])",
    "tf.gather_nd(deep, [[0, 1], [2, 0]])", "tf.gather_nd(rt, c([[[0], [1]], [[3]]], ragged_rank=1))",
    "tf.gather_nd(rt, [0, 1])", "tf.gather_nd([1, 2, 3], c([[[0], [1]], [[2]]], ragged_rank=1))",
    "tf.gather_nd(rt, [[0, 7]])", "tf.gather_nd(wide, [[0, 1, 0]])", "tf.gather_nd(wide, [[[0, 1]], [[2, 2]]])",
    "tf.gather_nd(rt, [])", "tf.gather_nd(rt, 3)",
    "tf.concat([rt, rt], 0)", "tf.concat([rt, [[7]]], 0)", "tf.concat([rt, rt, rt], 1)", "tf.concat([rt, rt[:2]], 1)",
    "tf.concat([deep, deep], 2)", "tf.concat([deep, deep], -1)", "tf.concat([wide, wide], 2)", "tf.concat([rt], 0)",
    "tf.concat([rt, deep], 0)", "tf.concat([[[1, 2]], rt], 0)", "tf.concat([rt, [[1]] * 4], 1)", "tf.concat([rt, rt], 2)",
    "tf.concat([rt, rt], -3)", "tf.concat([rt, narrow], 0)", "tf.concat([words, rt], 0)",
    "tf.concat([R.from_tensor([[1], [2]]), [[3], [4]]], 1).shape",
    "tf.stack([rt, rt])", "tf.stack([rt, rt], 1)", "tf.stack([rt, rt], 2)", "tf.stack([rt, rt], -1)", "tf.stack([rt])",
    "tf.stack([rt, [[1], [2]]])", "tf.stack([deep, deep], 1)", "tf.stack([rt, rt], 3)",
    "tf.ragged.stack([[[1, 2]], [[3]]])", "tf.ragged.stack([1, 2])", "tf.ragged.stack(rt)", "tf.ragged.stack([rt, [1]])",
    "tf.ragged.stack([[1, 2], [3]], axis=1)", "tf.ragged.stack([[1, 2], [3, 4]], axis=1)", "tf.ragged.stack([])",
    "tf.unstack(rt)", "tf.split(rt, 2)", "tf.split(rt, [1, 3])", "tf.split(rt, 3)", "tf.split(rt, [1, -1])",
    "tf.split(wide, [1, 1], axis=2)", "tf.split(rt, 2, axis=1)", "tf.split(even, 2, axis=1)",
    "tf.size(rt)", "tf.size(deep, out_type=tf.int64)", "tf.rank(deep)", "tf.identity(rt)", "tf.zeros_like(rt)",
    "tf.ones_like(deep, dtype=tf.float32)", "tf.zeros_like(words)", "tf.cast(rt, tf.float32)",
    "tf.saturate_cast(rt, tf.uint8)", "tf.bitcast(rf, tf.int32)", "tf.stop_gradient(rf)", "tf.ensure_shape(rt, [4, None])",
    "tf.boolean_mask(rt, truth)", "tf.boolean_mask(rt, [True, False, False, True])",
    "tf.ragged.boolean_mask(rt, truth)", "tf.ragged.boolean_mask(deep, [True, False, True])",
    "tf.ragged.boolean_mask(deep, c([[True, False], [], [False, True]]))", "tf.ragged.boolean_mask(rt, True)",
    "tf.ragged.boolean_mask([1, 2, 3], [True, False, True])",
    "tf.ragged.boolean_mask([[1, 2], [3, 4]], c([[True, False], [True, True]]))",
    "tf.ragged.boolean_mask(rt, c([[True], [], [True, True], [True]]))",
    "tf.ragged.boolean_mask([[[1, 2], [3, 4]]], [[[True, False], [True, True]]])",
    "tf.ragged.boolean_mask(rt, rt)",
    "tf.dynamic_partition(rt, [0, 1, 0, 1], 2)", "tf.dynamic_partition(deep, c([[0, 1], [], [1, 1]]), 2)",
    "tf.ragged.stack_dynamic_partitions(rt, [0, 1, 0, 1], 2)", "tf.ragged.stack_dynamic_partitions(rt, rt, 10)",
    "tf.ragged.stack_dynamic_partitions([[1, 2], [3, 4]], [[0, 1], [1, 0]], 2)",
    "tf.ragged.stack_dynamic_partitions([1], [5], 2)", "tf.ragged.stack_dynamic_partitions('a', 1, 2)",
    "tf.broadcast_to(rt, [4, 3])",
    # Segments
    *(f"tf.math.unsorted_segment_{n}(rf, [1, 0, 1], 3)" for n in ("sum", "prod", "min", "max", "mean", "sqrt_n")),
    "tf.math.unsorted_segment_sum(rt, rt, 10)", "tf.math.unsorted_segment_sum(deep, [0, 1, 0], 2)",
    "tf.math.unsorted_segment_sum(rt, [0, 1], 2)", "tf.math.segment_sum(rf, [0, 1, 1])",
    "tf.math.segment_mean(rf, [0, 1, 1])",
    # Others
    "tf.math.bincount(rt)", "tf.math.bincount(rt, axis=-1)", "tf.math.bincount(rt, axis=-1, minlength=12)",
    "tf.math.bincount(rt, axis=0)", "tf.math.bincount(rt, weights=tf.cast(rt, tf.float32), axis=-1)",
    "tf.math.bincount(rt, axis=-1, binary_output=True)", "tf.math.bincount(rt, axis=-1, maxlength=4)",
    "tf.sparse.bincount(rt, axis=-1)", "tf.sparse.bincount(rt)",
    "tf.sparse.bincount(rt, weights=tf.cast(rt, tf.float32), axis=-1)",
    "tf.matmul(R.from_row_splits([[1., 2.], [3., 4.], [5., 6.]], [0, 2, 3]), [[1., 0.], [0., 1.]])",
    "tf.matmul(c([[[1., 2.], [3., 4.]], [[5., 6.]]], ragged_rank=1), [[[1.], [2.]], [[3.], [4.]]])",
    "tf.matmul(rf, rf)", "tf.matmul(c([[[1., 2.]], [[3.], [4.]]]), c([[[1.], [2.]], [[3.]]]))",
    "tf.nn.softmax(rf)", "tf.nn.softmax(rf, axis=0)", "tf.nn.softmax(R.from_row_splits([[1., 2.]], [0, 1]), -1)",
    "tf.nn.relu(rf)", "tf.nn.elu(rf)", "tf.nn.gelu(rf)", "tf.nn.leaky_relu(rf, 0.3)", "tf.nn.selu(rf)",
    "tf.nn.softsign(rf)", "tf.nn.silu(rf)", "tf.nn.relu6(rf)", "tf.nn.swish(rf)",
    "tf.nn.dropout(rf, 0.0)", "tf.nn.dropout(rf, 0.5).shape",
    "tf.nn.sigmoid_cross_entropy_with_logits(rf, rf)",
    "tf.nn.embedding_lookup(table, rt)", "tf.nn.embedding_lookup([table[:5], table[5:]], rt)",
    "tf.nn.embedding_lookup(table, deep)",
    "tf.nn.embedding_lookup_sparse(table, rt, None)", "tf.nn.embedding_lookup_sparse(table, rt, None, 'sum')",
    "tf.nn.safe_embedding_lookup_sparse(table, rt)",
    "tf.debugging.check_numerics(rf, 'x')", "tf.bitwise.bitwise_and(rt, 1)", "tf.bitwise.invert(rt)",
    "tf.math.top_k(rt)", "tf.sort(rt)", "tf.argsort(rt)", "tf.argmax(rt)", "tf.linalg.inv(rf)", "tf.unique(rt)",
    "tf.io.decode_base64(tf.io.encode_base64(words))", "tf.io.decode_raw(c([['abcd'], []]), tf.int32)",
    "tf.map_fn(tf.reduce_sum, rt, fn_output_signature=tf.int32)", "tf.map_fn(lambda x: x * 2, rt)",
    "tf.map_fn(lambda x: x, [1, 2], fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))",
    "tf.map_fn(lambda n: tf.range(n), tf.constant([2, 0, 1]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))",
    "tf.map_fn(lambda r: r.to_tensor().shape[0], deep, fn_output_signature=tf.int32)",
    "v1.map_fn(lambda x: tf.reduce_sum(x), rt, dtype=tf.int32, infer_shape=False)",
    
    "tf.ragged.map_flat_values(tf.add, rt, rt)", "tf.ragged.map_flat_values(tf.add, rt, rt[:2])",
    "tf.ragged.map_flat_values(lambda x: x[:2], rt)", "tf.ragged.map_flat_values(tf.add, 1, 2)",
    "tf.ragged.map_flat_values(tf.stack, [rt, rt], axis=1)", "tf.ragged.map_flat_values(tf.one_hot, rt, 3)",
    "tf.ragged.range(0, 5)", "tf.ragged.range([1, 2], dtype=tf.float32)", "tf.ragged.range([5, 3], [0, 0], -1)",
    "tf.ragged.range([1], [5], [0])",  "tf.ragged.range([0, 1], [3, 4, 5])",
    "tf.ragged.range([2, 3], row_splits_dtype=tf.int32)", "tf.ragged.range(0.0, [1.0, 2.0], 0.5)",
    "tf.ragged.row_splits_to_segment_ids([0, 2, 3], out_type=tf.int32)", "tf.ragged.row_splits_to_segment_ids([0.0])",
    "tf.ragged.segment_ids_to_row_splits([0, 0, 2])", "tf.ragged.segment_ids_to_row_splits([0, 2], out_type=tf.int32)",
    "tf.ragged.segment_ids_to_row_splits([])", 
    "tf.ragged.constant([[1], [[2]]])", "tf.ragged.constant(5)", "tf.ragged.constant([])", "tf.ragged.constant([[], []])",
    "tf.ragged.constant([[[]], []])", "tf.ragged.constant([[1, 2], [3]], ragged_rank=0)",
    "tf.ragged.constant([[1, 2], [3]], ragged_rank=2)", "tf.ragged.constant([[1, 2], [3]], dtype=tf.float64)",
    "tf.ragged.constant([[[1, 2], [3, 4]]], ragged_rank=1)", "tf.ragged.constant([[1, 'a']])",
    "tf.ragged.constant([[[1, 2]], [[3, 4]]], inner_shape=(2,))", "tf.ragged.constant([[1]], inner_shape=(2,))",
    "tf.ragged.constant([np.array([1, 2]), np.array([3])])", "tf.ragged.constant([], ragged_rank=1)",
    "tf.ragged.constant([], dtype=tf.string)", "tf.ragged.constant(np.zeros([2, 3]))", "tf.ragged.constant([[1, None]])",
    "v1.ragged.constant_value([[1], [2, 3]])", "v1.ragged.constant_value([[1], [2, 3]]).to_list()",
    "v1.ragged.constant_value([[[1]], []]).shape", "v1.ragged.constant_value([1, 2])",
    "(lambda v: (str(v.dtype), v.ragged_rank, v.shape, v.flat_values.tolist(), [s.tolist() for s in v.nested_row_splits]))("
    "v1.ragged.constant_value([[[1, 2], []], [[3]]]))",
    "repr(v1.ragged.constant_value([[1], [2, 3]]))", "str(v1.ragged.constant_value([[1], [2, 3]]))",
    "tf.ragged.cross([c([['a'], ['b', 'c']]), c([['d'], ['e']])])",
    "tf.ragged.cross([c([['a'], ['b', 'c']]), [['d'], ['e']]])", "tf.ragged.cross([c([[1], [2, 3]]), c([['d'], ['e', 'f']])])",
    "tf.ragged.cross([c([['a'], ['b']]), tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ['x', 'y', 'z'], [2, 2])])",
    "tf.ragged.cross_hashed([c([['a'], ['b', 'c']]), c([['d'], ['e']])], num_buckets=100)",
    "tf.ragged.cross_hashed([c([['a'], ['b', 'c']]), c([[4], [5]])], num_buckets=0, hash_key=17)",
    "tf.ragged.cross_hashed([c([['a'], ['b', 'c']]), [['d'], ['e']]])",
    "tf.ragged.cross([[['a']], [['b']]])", "tf.ragged.cross([c([['a']]), c([['b'], ['c']])])", "tf.ragged.cross([])",
    "tf.ragged.cross([c([[1.5]])])",
    # Graphs
    *(f"tf.function(lambda r: {call})(rt)" for call in (
        "r + 1", "r + [[1], [2], [3], [4]]", "r + r", "tf.tile(r, [1, 2])", "tf.reverse(r, [1])", "r[:, 1:]", "r[1]",
        "tf.concat([r, r], 1)", "tf.stack([r, r])", "tf.gather(r, [2, 0])", "tf.reduce_sum(r, 1)", "tf.reduce_mean(r, 0)",
        "r.to_tensor()", "r.to_sparse()", "tf.one_hot(r, 3)", "tf.where(r > 2, r, 0)", "tf.expand_dims(r, 1)",
        "tf.ragged.boolean_mask(r, r > 2)", "r.row_lengths()", "r.bounding_shape()", "tf.size(r)", "r.merge_dims(0, 1)",
        "tf.math.bincount(r, axis=-1)", "tf.gather_nd(r, [[0, 1]])", "tf.squeeze(r[:1], 0)", "tf.split(r, [1, 3])[1]",
        "r.nrows()", "r.value_rowids()", "tf.map_fn(tf.reduce_sum, r)")),
    *(f"shape_of(lambda r: {call}, rt)" for call in (
        "r", "r + 1", "r + [[1], [2], [3], [4]]", "r.to_tensor()", "tf.tile(r, [2, 1])", "r[1]", "r[1:]", "r[:, 1:]",
        "tf.concat([r, r], 0)", "tf.concat([r, r], 1)", "tf.stack([r, r])", "tf.reduce_sum(r, 1)", "tf.reduce_sum(r, 0)",
        "tf.expand_dims(r, 0)", "tf.expand_dims(r, 2)", "tf.one_hot(r, 3)", "r.row_lengths()", 
        "tf.reverse(r, [1])", "r.to_sparse()", "tf.where(r > 2, r, 0)")),
    "tf.function(lambda r: r * 2, input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])(rt)",
    "tf.function(lambda r: r * 2, input_signature=[tf.RaggedTensorSpec([None, None, None], tf.int32)])(rt)",
    # Gradients
    *(f"gradient(lambda v: {call}, [1., 2., 3., 4., 5.])" for call in (
        "(R.from_row_splits(v, [0, 2, 5]) * [[2.], [3.]]).values",
        "tf.reduce_sum(R.from_row_splits(v, [0, 2, 5]), 1)", "tf.reduce_mean(R.from_row_splits(v, [0, 2, 5]), 1)",
        "tf.reduce_max(R.from_row_splits(v, [0, 2, 5]), 1)", "R.from_row_splits(v, [0, 2, 5]).to_tensor()",
        "tf.tile(R.from_row_splits(v, [0, 2, 5]), [1, 2]).values", "tf.reverse(R.from_row_splits(v, [0, 2, 5]), [1]).values",
        "R.from_row_splits(v, [0, 2, 5])[:, 1:].values", "tf.gather(R.from_row_splits(v, [0, 2, 5]), [1, 0, 1]).values",
        "tf.concat([R.from_row_splits(v, [0, 2, 5])] * 2, 1).values", "R.from_row_splits(v, [0, 2, 5]).to_sparse().values",
        "tf.reduce_sum(R.from_row_splits(v, [0, 2, 5]), 0)", "tf.reduce_prod(R.from_row_splits(v, [0, 2, 5]), 1)")),
    # Specs
    "repr(tf.RaggedTensorSpec([2, None], tf.int32))", "tf.type_spec_from_value(rt)", "repr(rt._type_spec) and rt.shape",
    "tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(rt)",
    "tf.RaggedTensorSpec([None, None], tf.float32).is_compatible_with(rt)",
    "tf.RaggedTensorSpec([3, None], tf.int32).is_compatible_with(rt)",
    "tf.RaggedTensorSpec([None, None], tf.int32) == tf.RaggedTensorSpec([None, None], tf.int32)",
    "tf.RaggedTensorSpec(None, tf.int32)", "tf.RaggedTensorSpec([None], tf.int32, ragged_rank=1)",
    "tf.RaggedTensorSpec([None, None], tf.int32).value_type.__name__",
    "tf.RaggedTensorSpec.from_value(rt)", "tf.RaggedTensorSpec.from_value(deep)",
    "tf.nest.flatten(rt, expand_composites=True)",
    "tf.nest.map_structure(lambda x: x + 1, rt, expand_composites=True).values",
    "tf.is_tensor(rt)", "tf.convert_to_tensor(rt)", "tf.constant(rt)", "isinstance(rt, tf.Tensor)",
]  # fmt: skip

if __name__ == "__main__":
    runpy.run_path(str(pathlib.Path(__file__).with_name("function_calls.py")))["write"](
        VECTORS, CALLS, SETUP
    )
