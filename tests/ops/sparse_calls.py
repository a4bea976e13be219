"""Calls of functions of sparse tensors and sets, and what TensorFlow answers to them.

`python sparse_calls.py`, run by a Python that has TensorFlow, writes sparse_vectors.json anew; test_functions.py
holds the package to it.
"""

import pathlib
import runpy

VECTORS = pathlib.Path(__file__).with_name("sparse_vectors.json")

SETUP = """
v1 = tf.compat.v1
S = tf.SparseTensor
st = S([[0, 1], [1, 0], [1, 3], [2, 2]], [1.0, 2.0, -3.0, 4.0], [3, 4])
su = S([[0, 1], [2, 0]], [5.0, 6.0], [3, 4])
si = S([[0, 0], [1, 1], [1, 2], [2, 0]], [3, 1, 1, 7], [4, 5])
deep = S([[0, 0, 1], [0, 1, 0], [1, 1, 1]], [1.0, 2.0, 3.0], [2, 2, 2])
words = S([[0, 0], [1, 1]], ["a", "b"], [2, 2])
sa = S([[0, 0], [0, 1], [1, 0], [1, 1]], [1, 2, 3, 4], [2, 3])
sb = S([[0, 0], [1, 0], [1, 2]], [2, 4, 9], [2, 3])
m = np.cos(np.arange(12, dtype=np.float32)).reshape(3, 4)
a = [[1, 2, 2], [3, 4, 5]]
b = [[2, 7, 1], [5, 5, 9]]
c = tf.ragged.constant
mess = S([[1, 0], [0, 0]], [1, 2], [2, 2])
"""

_SETS = [
    f"tf.sets.{name}({x}, {y})"
    for name in ("union", "intersection", "difference")
    for x, y in (
        ("a", "b"),
        ("sa", "sb"),
        ("tf.constant(a)", "sb"),
        ("sa", "tf.constant(b)"),
        ("a", "[[1]]"),
        ("a", "[[1], [2]]"),
        ("[1]", "[2]"),
        ("1", "2"),
        ("a", "[[1.0]]"),
        ("[['a', 'b']]", "[['b', 'c']]"),
        ("[[1.5]]", "[[1.5]]"),
        ("[[[1, 2]], [[3, 4]]]", "[[[2]], [[3]]]"),
        ("mess", "sa"),
        ("tf.zeros([2, 0], tf.int32)", "b"),
        ("tf.zeros([0, 2], tf.int32)", "tf.zeros([0, 2], tf.int32)"),
        ("sa", "S([[0, 0]], [1], [3, 2])"),
        ("tf.constant([[1, 2]], tf.uint8)", "tf.constant([[2]], tf.uint8)"),
    )
]

CALLS = [
    *_SETS,
    "tf.sets.difference(a, b, aminusb=False)",
    "tf.sets.difference(sa, sb, False)",
    "tf.sets.difference(sa, tf.constant(b), False)",
    "tf.sets.size(sa)",
    "tf.sets.size(S([[0, 0], [0, 1]], [1, 1], [3, 2]))",
    "tf.sets.size(tf.constant(a))",
    "tf.sets.size(S([[0]], [1], [3]))",
    "tf.sets.size(S([[5, 0]], [1], [3, 2]))",
    "tf.sets.size(words)",
    "tf.sets.size(deep)",
    "v1.sets.set_union(a, b)",
    "v1.sets.set_size(sb)",
    "v1.sets.set_difference(sa, sb, aminusb=True)",
    "v1.sets.set_intersection(a, b)",
    "tf.function(lambda: tf.sets.union(sa, sb))()",
    "tf.function(lambda: tf.sets.size(sa))()",
    *(
        f"tf.sparse.bincount({values}{rest})"
        for values in ("si", "[[1, 1, 2], [0, 5, 0]]", "c([[1, 1, 2], [], [5, 0]])")
        for rest in (
            "",
            ", axis=-1",
            ", minlength=10",
            ", maxlength=3",
            ", axis=-1, maxlength=3",
            ", axis=-1, minlength=9",
            ", binary_output=True",
            ", axis=-1, binary_output=True",
            ", axis=1",
            ", maxlength=0",
        )
    ),
    *(
        f"tf.math.bincount(si{rest})"
        for rest in (
            "",
            ", axis=-1",
            ", minlength=10",
            ", maxlength=3",
            ", axis=-1, dtype=tf.float32",
            ", binary_output=True",
        )
    ),
    "tf.sparse.bincount(si, S(si.indices, [.5, 1., 2., 3.], [4, 5]))",
    "tf.sparse.bincount(si, S(si.indices, [.5, 1., 2., 3.], [4, 5]), axis=-1)",
    "tf.sparse.bincount([1, 1, 2], [.5, 1., 2.])",
    "tf.sparse.bincount([1, -1])",
    "tf.sparse.bincount([1, 2], [.5])",
    "tf.sparse.bincount(si, [1., 2.])",
    "tf.sparse.bincount([[[1]]], axis=-1)",
    "tf.sparse.bincount(si, S(si.indices, [.5, 1., 2., 3.], [4, 5]), binary_output=True)",
    "tf.sparse.cross([words, words])",
    "tf.sparse.cross([words, sa])",
    "tf.sparse.cross([words, words], separator='|')",
    "tf.sparse.cross([words])",
    "tf.sparse.cross([words, [['x'], ['y']]])",
    "tf.sparse.cross([words, tf.constant([['x'], ['y']])])",
    "tf.sparse.cross([words, S([[0, 0]], ['d'], [1, 1])])",
    "tf.sparse.cross_hashed([words, words], num_buckets=10)",
    "tf.sparse.cross_hashed([words, sa], hash_key=7)",
    "tf.sparse.cross_hashed([words, [[1], [2]]])",
    "tf.sparse.sampled_addmm([[0, 1], [1, 0]], [1., 2.], [2, 2], m[:2, :3], m[:3, :2])",
    "tf.sparse.sampled_addmm([[0, 1], [1, 0]], [1., 2.], [2, 2], m[:2, :3], m[:3, :2], beta=2., alpha=.5)",
    "tf.sparse.sampled_addmm([[0, 1], [1, 0]], [1., 2.], [3, 2], m[:2, :3], m[:3, :2])",
    "tf.io.serialize_sparse(st)",
    "tf.io.serialize_many_sparse(st)",
    "tf.io.serialize_sparse(words)",
    "tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(st), tf.float32)",
    "tf.io.deserialize_many_sparse(tf.stack([tf.io.serialize_sparse(s) for s in (st, su)]), tf.float32, rank=3)",
    "tf.io.deserialize_many_sparse([[b'a', b'b', b'c']], tf.float32)",
    "tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(st), tf.int32)",
    "tf.io.serialize_sparse([1])",
    "tf.io.serialize_many_sparse(S([[0]], [1], [3]))",
    "v1.serialize_sparse(st, out_type=tf.string)",
    # Functions of tensors given sparse ones
    *(
        f"tf.math.{name}(st)"
        for name in [
            "abs",
            "negative",
            "sign",
            "square",
            "sqrt",
            "erf",
            "tanh",
            "sin",
            "cos",
            "exp",
            "reciprocal",
            "sigmoid",
            "is_nan",
            "softplus",
        ]
    ),
    "tf.cast(st, tf.int32)",
    "tf.shape(st)",
    "tf.size(st)",
    "tf.rank(st)",
    "tf.identity(st)",
    "tf.shape(deep, out_type=tf.int64)",
    "v1.size(deep)",
    "tf.add(st, su)",
    "st + su",
    "st + m",
    "m * st",
    "st * m",
    "st / 2.0",
    "st * su",
    "st - m",
    "-st",
    "abs(st)",
    "st == st",
    "tf.reduce_sum(st)",
    "tf.convert_to_tensor(st)",
    "tf.zeros_like(st)",
    "tf.ones_like(st)",
    "tf.concat([st, su], 0)",
    "tf.expand_dims(st, 0)",
    "tf.reshape(st, [4, 3])",
    "tf.transpose(st)",
    "tf.stack([st, su])",
    "tf.matmul(st, m.T)",
    "tf.is_tensor(st)",
    "tf.debugging.check_numerics(st, 'x')",
    "len(st)",
    "st[0]",
    "str(st.shape)",
    "st.get_shape().as_list()",
    "st.dtype.name",
    # Functions of sparse tensors
    "tf.sparse.to_dense(mess)",
    "tf.sparse.to_dense(mess, validate_indices=False)",
    "tf.sparse.to_dense(words)",
    "tf.sparse.to_dense(words, '?')",
    "tf.sparse.to_dense(S([[5, 5]], [1], [2, 2]))",
    "tf.sparse.reorder(mess)",
    "tf.sparse.reshape(deep, [4, 2])",
    "tf.sparse.reshape(deep, [-1, -1])",
    "tf.sparse.reshape(deep, [3, -1])",
    "tf.sparse.expand_dims(st, -1)",
    "tf.sparse.expand_dims(st, 0)",
    "tf.sparse.expand_dims(st, tf.constant(1))",
    "tf.sparse.transpose(deep, [2, 0, 1])",
    "tf.sparse.transpose(deep)",
    "tf.sparse.concat(0, [st, su])",
    "tf.sparse.concat(-1, [st, su])",
    "tf.sparse.concat(0, [st, deep])",
    "tf.sparse.concat(0, [])",
    "tf.sparse.concat(1, [st, S([[0, 0]], [1.0], [4, 2])])",
    "tf.sparse.concat(1, [st, S([[0, 0]], [1.0], [4, 2])], True)",
    "v1.sparse_concat(1, [st, su])",
    "v1.sparse_concat(axis=1, sp_inputs=[st, S([[0, 0]], [1.0], [4, 2])], expand_nonconcat_dim=True)",
    "tf.sparse.split(st, 2, axis=0)",
    "tf.sparse.split(st, 3, axis=1)",
    "tf.sparse.split(st, 9, axis=1)",
    "tf.sparse.split(st, 2, axis=5)",
    "tf.sparse.slice(deep, [0, 1, 0], [2, 1, 2])",
    "tf.sparse.slice(st, [5, 0], [1, 1])",
    "tf.sparse.slice(st, [0], [1])",
    "tf.sparse.retain(st, [True, False])",
    "tf.sparse.fill_empty_rows(si, 9)",
    "tf.sparse.fill_empty_rows(words, 'x')",
    "tf.sparse.add(st, S([[0, 0]], [1.0], [2, 2]))",
    "tf.sparse.add(m, su)",
    "tf.sparse.add(st, deep)",
    "tf.sparse.reduce_sum(deep, 1)",
    "tf.sparse.reduce_sum(deep, [0, 2], True)",
    "tf.sparse.reduce_max(deep, -1)",
    "tf.sparse.reduce_sum(deep, 5)",
    "tf.sparse.sparse_dense_matmul(st, m)",
    "tf.sparse.sparse_dense_matmul(st, m.T)",
    "tf.sparse.softmax(deep)",
    "tf.sparse.maximum(st, deep)",
    "tf.sparse.minimum(st, su)",
    "tf.sparse.mask(tf.IndexedSlices([[1], [2]], [0, 3]), [3]).values",
    "tf.sparse.eye(3)",
    "tf.sparse.eye(2, 4, tf.int32)",
    "tf.sparse.from_dense([[0, 3], [0, 0]])",
    "tf.sparse.from_dense(5)",
    "tf.sparse.map_values(tf.add, st, st)",
    "tf.sparse.map_values(tf.add, st, 1.0)",
    "tf.sparse.map_values(tf.add, st, su)",
    "tf.sparse.map_values(tf.add, 1, 2)",
    "tf.sparse.segment_sum(m, [0, 1, 2], [0, 0, 1])",
    "tf.sparse.segment_mean(m, [0, 2], [0, 2])",
    "tf.sparse.segment_sqrt_n(m, [0, 2], [0, 2], num_segments=4)",
    "tf.sparse.segment_sum(m, [0, 7], [0, 0])",
    "S([[0, 1]], [1, 2], [2, 2])",
    "S([0, 1], [1, 2], [2, 2])",
    "S([[0, 1]], [1], [2])",
    "S([[0, 1]], [1], [[2, 2]])",
    "S.from_value(v1.SparseTensorValue([[0, 1]], [1], [2, 2]))",
    "S.from_value(3)",
    "st.with_values([1, 2])",
    "tf.SparseTensorSpec([3, 4], tf.float32).is_compatible_with(st)",
    "tf.SparseTensorSpec([3, 5], tf.float32).is_compatible_with(st)",
    "repr(tf.SparseTensorSpec([3, None], tf.int32))",
    "str(S([[0, 1]], [1], [2, 2]))",
    "tf.map_fn(tf.sparse.reduce_sum, st, fn_output_signature=tf.float32)",
    "tf.map_fn(lambda s: s, st).dense_shape",
    "v1.sparse_merge(S([[0, 0], [1, 0]], [2, 1], [2, 2]), S([[0, 0], [1, 0]], [.5, .25], [2, 2]), 3)",
    "v1.sparse_to_dense([[0, 1], [1, 0]], [2, 2], [5, 6])",
    "v1.sparse_to_dense([3, 1], [5], 1)",
    "v1.sparse_to_dense([3, 1], [5], 1, validate_indices=False)",
    "v1.sparse_to_dense([[0]], [2, 2], 1)",
    "v1.sparse_reset_shape(st)",
    "v1.sparse_retain(st, [True] * 4)",
    "v1.sparse_add(st, su, thresh=1.0)",
    "v1.sparse_tensor_to_dense(st)",
    "v1.sparse_fill_empty_rows(su, 0.0)",
    "v1.manip.roll([1, 2, 3], 1, 0)",
    "v1.manip.batch_to_space_nd([[[[1]]]], [1, 1], [[0, 0], [0, 0]])",
    "v1.manip.gather_nd([1, 2], [[1]])",
    *(
        f"gradient(lambda v: {call}, [1., 2., 3., 4.])"
        for call in (
            "tf.sparse.to_dense(st.with_values(v))",
            "tf.sparse.slice(st.with_values(v), [0, 0], [2, 2]).values",
            "tf.sparse.reduce_max(st.with_values(v), 1)",
            "tf.sparse.reshape(st.with_values(v), [-1]).values",
            "tf.sparse.fill_empty_rows(st.with_values(v), 0.)[0].values",
            "tf.sparse.sampled_addmm(st.indices, v, [3, 4], m[:, :2], m[:2])[1]",
        )
    ),
]

if __name__ == "__main__":
    runpy.run_path(str(pathlib.Path(__file__).with_name("function_calls.py")))["write"](
        VECTORS, CALLS, SETUP
    )
