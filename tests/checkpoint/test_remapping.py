"""Rows and columns of checkpoints in another order."""

import functools

import numpy as np
import pytest

import tapeflow as tf

raw = tf.raw_ops
MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def words(tmp_path):
    """Makes a file of words."""

    def write(name, *lines):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)

    return write


def remap(new, old, first=0, count=3, **more):
    found = raw.GenerateVocabRemapping(
        new_vocab_file=new, old_vocab_file=old, new_vocab_offset=first, num_new_vocab=count, **more
    )
    return found[0].numpy().tolist(), int(found[1])


def test_words_are_found_in_the_old_vocabulary(words):
    new, old = words("new", "x", "a", "b"), words("old", "a", "b", "x")
    assert remap(new, old) == ([2, 0, 1], 3)
    assert remap(new, old, 1, 1) == ([0], 1)
    assert remap(new, old, old_vocab_size=2) == ([-1, 0, 1], 2)
    assert remap(new, old, 0, 0) == ([], 0)


def test_bad_vocabularies(words):
    good, twice = words("good", "a", "b", "c"), words("twice", "b", "b")
    with pytest.raises(tf.errors.InvalidArgumentError, match="larger than last new vocab entry"):
        remap(good, good, 2)
    with pytest.raises(tf.errors.FailedPreconditionError, match="Key b has 0 and trying to add value 1"):
        remap(good, twice)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected 10 but got 3"):
        remap(good, good, old_vocab_size=10)
    with pytest.raises(tf.errors.NotFoundError):
        remap("/nowhere", good)


@pytest.fixture(params=["whole", "in parts"])
def checkpoint(request, tmp_path):
    """A checkpoint of MATRIX and of a vector."""
    prefix = str(tmp_path / "saved")
    parts = [("m", "", MATRIX)] if request.param == "whole" else [
        ("m", "4 3 0,3:-", MATRIX[:3]), ("m", "4 3 3,1:-", MATRIX[3:])
    ]  # fmt: skip
    parts.append(("v", "", MATRIX[0]))
    names, slices, values = zip(*parts, strict=True)
    raw.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=slices, tensors=values)
    return prefix


def load(prefix, rows, columns=(), initial=(), shape=None, name="m", most=-1):
    shape = shape or (len(rows), len(columns) or 3)
    return raw.LoadAndRemapMatrix(
        ckpt_path=prefix, old_tensor_name=name, row_remapping=tf.constant(rows, tf.int64),
        col_remapping=tf.constant(columns, tf.int64), initializing_values=tf.constant(initial, tf.float32),
        num_rows=shape[0], num_cols=shape[1], max_rows_in_memory=most,
    )  # fmt: skip


@pytest.mark.parametrize("most", [-1, 0, 1, 2, 9])
@pytest.mark.parametrize("seed", range(4))
def test_entries_move_and_missing_ones_are_filled_in_order(checkpoint, most, seed):
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random(4) < 0.7, rng.permutation(4), -1)
    columns = np.where(rng.random(3) < 0.7, rng.permutation(3), -1)
    expected, fill = np.empty((4, 3), np.float32), 100
    for i, r in enumerate(rows):
        for j, c in enumerate(columns):
            expected[i, j] = MATRIX[r, c] if r >= 0 and c >= 0 else fill
            fill += not (r >= 0 and c >= 0)
    found = load(checkpoint, rows, columns, range(100, fill), most=most)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 1], (), (), (3, 3)), "InvalidArgument", "row_remapping is 2 instead of being equal to num_rows=3"),
        (([0, 1], (), (), (2, 2)), "InvalidArgument", "2nd dimension is 3 instead of being equal to num_cols=2"),
        (([0, 1], (0, 1), (), (2, 3)), "InvalidArgument", "its size is 2 instead of being equal to num_cols=3"),
        (([0, 0],), "Unimplemented", "Old ID 0 is mapped to both new ID 0 and 1"),
        (([0, 1], (2, 2)), "Unimplemented", "Old ID 2 is mapped to both new ID 0 and 1"),
        (([0, 4],), "InvalidArgument", "out of bounds"),
        (([0, -1],), "InvalidArgument", "contained 0 elements, but more missing values remain"),
        (([0, -1], (), range(4)), "InvalidArgument", "contained 4 elements, but only 3 elements were used"),
        (([0], (), (), None, "v"), "InvalidArgument", r"shape \[3\] of invalid rank 1"),
        (([0], (), (), None, "x"), "NotFound", "x"),
    ],
)  # fmt: skip
def test_bad_remappings(checkpoint, arguments, error, message):
    with pytest.raises(getattr(tf.errors, f"{error}Error"), match=message):
        load(checkpoint, *arguments)


def test_in_a_graph(checkpoint):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        found = load(checkpoint, [3, 1])
        assert found.shape.as_list() == [2, 3]
        np.testing.assert_array_equal(session.run(found), MATRIX[[3, 1]])


def test_restore_reads_slices_and_tells_their_shapes(checkpoint):
    arguments = {
        "prefix": checkpoint, "tensor_names": ["m", "v"], "shape_and_slices": ["4 3 1,2:-", ""],
        "dtypes": [tf.float32, tf.float32],
    }  # fmt: skip
    rows, vector = raw.RestoreV2(**arguments)
    np.testing.assert_array_equal(rows, MATRIX[1:3])
    np.testing.assert_array_equal(vector, MATRIX[0])
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        rows, vector = raw.RestoreV2(**arguments)
        assert rows.shape.as_list() == [2, 3]
        assert vector.shape.rank is None
        np.testing.assert_array_equal(session.run(rows), MATRIX[1:3])


@pytest.mark.parametrize(
    ("names", "specs", "dtypes", "error"),
    [
        (["m", "v"], [""], [tf.float32], "InvalidArgument"),
        (["m"], [""], [tf.int32], "InvalidArgument"),
        (["x"], [""], [tf.float32], "NotFound"),
    ],
)
def test_bad_restores(checkpoint, names, specs, dtypes, error):
    with pytest.raises(getattr(tf.errors, f"{error}Error")):
        raw.RestoreV2(prefix=checkpoint, tensor_names=names, shape_and_slices=specs, dtypes=dtypes)


def test_saves_of_unequal_lists(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 tensor names but 1 tensors"):
        raw.SaveV2(prefix=str(tmp_path / "a"), tensor_names=["m", "v"], shape_and_slices=["", ""], tensors=[[1.0]])


def test_vocabularies_end_lines_with_newlines_only(tmp_path):
    (tmp_path / "new").write_bytes(b"a\rb\nc\n")
    (tmp_path / "holes").write_bytes(b"a\n\nc\n")

    def remap(new, offset=0):
        return tf.raw_ops.GenerateVocabRemapping(
            new_vocab_file=str(tmp_path / new), old_vocab_file=str(tmp_path / "new"), new_vocab_offset=offset,
            num_new_vocab=2,
        )  # fmt: skip

    assert remap("new")[0].numpy().tolist() == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty line"):
        remap("holes")
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
        remap("new", -1)


def test_merged_checkpoints(tmp_path):
    prefixes = [str(tmp_path / "parts" / name) for name in "ab"]
    for prefix, name in zip(prefixes, "xy", strict=True):
        raw.SaveV2(prefix=prefix, tensor_names=[name], shape_and_slices=[""], tensors=[[name]])
    raw.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=str(tmp_path / "all"))
    found = raw.RestoreV2(
        prefix=str(tmp_path / "all"), tensor_names=["x", "y"], shape_and_slices=["", ""], dtypes=[tf.string] * 2
    )
    assert [x.numpy().tolist() for x in found] == [[b"x"], [b"y"]]


def test_missing_checkpoints_are_left_out_if_allowed(tmp_path):
    raw.SaveV2(prefix=str(tmp_path / "a"), tensor_names=["x"], shape_and_slices=[""], tensors=[[1.0]])
    merge = functools.partial(
        raw.MergeV2Checkpoints,
        checkpoint_prefixes=[str(tmp_path / "a"), str(tmp_path / "b")],
        destination_prefix=str(tmp_path / "all"),
    )
    with pytest.raises(tf.errors.NotFoundError):
        merge()
    merge(allow_missing_files=True)
    found = raw.RestoreV2(prefix=str(tmp_path / "all"), tensor_names=["x"], shape_and_slices=[""], dtypes=[tf.float32])
    assert found[0].numpy().tolist() == [1.0]
