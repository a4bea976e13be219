"""CTC losses and decoders: their functions, on values computed by TensorFlow 2.21 and against each other."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1.nn


def logits():
    return tf.constant(np.random.RandomState(0).normal(size=(6, 2, 4)).astype(np.float32))


LABELS, LENGTHS, FRAMES = [[1, 2, 2], [3, 0, 0]], [3, 1], [6, 5]


def sparse(rows):
    return tf.sparse.from_dense(tf.constant(rows))


def test_loss_of_dense_labels():
    loss = tf.nn.ctc_loss(LABELS, logits(), LENGTHS, FRAMES)
    np.testing.assert_allclose(loss, [7.53042, 4.66831], rtol=1e-5)


@pytest.mark.parametrize("blank", [0, 2, -1])
@pytest.mark.parametrize("time_major", [True, False])
def test_dense_and_sparse_labels_give_the_same_loss_and_gradient(blank, time_major):
    labels = np.array([[1, 3, 1], [2, 2, 1]] if blank == 0 else [[1, 1, 0], [1, 0, 1]])
    x = logits() if time_major else tf.transpose(logits(), [1, 0, 2])
    places = np.argwhere(np.ones_like(labels))
    ids = tf.SparseTensor(places, labels.reshape(-1).astype(np.int32), labels.shape)
    out = []
    for given, lengths in ((labels, [3, 3]), (ids, None)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.nn.ctc_loss(
                given, x, lengths, FRAMES, logits_time_major=time_major, blank_index=blank
            )
        out.append((loss, tape.gradient(loss, x)))
    np.testing.assert_allclose(out[0][0], out[1][0], rtol=1e-5)
    np.testing.assert_allclose(out[0][1], out[1][1], atol=1e-5)


def test_gradient_is_the_numeric_one():
    x = tf.cast(logits(), tf.float64)

    def f(x):
        return tf.nn.ctc_loss(LABELS, x, LENGTHS, FRAMES)

    theirs, numeric = tf.test.compute_gradient(f, [x], delta=1e-5)
    np.testing.assert_allclose(theirs[0], numeric[0], atol=1e-6)


def test_second_gradient_is_refused():
    x = logits()
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            loss = tf.nn.ctc_loss(LABELS, x, LENGTHS, FRAMES)
        gradient = inner.gradient(loss, x)
    with pytest.raises(LookupError, match="explicitly disabled"):
        outer.gradient(gradient, x)


def test_frames_behind_the_end_do_not_matter():
    x = logits().numpy()
    x[5, 1] = np.nan
    np.testing.assert_allclose(tf.nn.ctc_loss(LABELS, x, LENGTHS, FRAMES)[1], 4.66831, rtol=1e-5)


def test_sequences_that_do_not_fit():
    dense = tf.nn.ctc_loss([[1, 1, 1], [0, 0, 0]], logits(), [3, 0], [2, 0])
    assert float(dense[0]) > 700
    assert float(dense[1]) == 0
    ids = sparse([[1, 2, 2], [2, 0, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Not enough time"):
        v1.ctc_loss(ids, logits(), [2, 2])
    loss = v1.ctc_loss(ids, logits(), [2, 2], ignore_longer_outputs_than_inputs=True)
    assert np.isinf(loss[0])


def test_bad_arguments():
    with pytest.raises(ValueError, match="blank_index"):
        tf.nn.ctc_loss(sparse([[1], [1]]), logits(), None, FRAMES)
    with pytest.raises(TypeError, match="SparseTensor"):
        v1.ctc_loss([[1], [1]], logits(), FRAMES)


def test_unique_labels_and_collapsed_ones():
    values, places = tf.nn.ctc_unique_labels([[1, 1, 2], [3, 0, 3]])
    assert values.numpy().tolist() == [[1, 2, 0], [3, 0, 0]]
    assert places.numpy().tolist() == [[0, 0, 1], [0, 1, 0]]
    labels, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 3], [3, 0, 3, 3, 3]], [5, 3])
    assert labels.numpy().tolist() == [[1, 2, 3], [3, 0, 3]]
    assert lengths.numpy().tolist() == [3, 3]


def test_beam_search():
    (first, second), scores = tf.nn.ctc_beam_search_decoder(logits(), FRAMES, 4, 2)
    assert first.values.numpy().tolist() == [0, 0, 1, 0]
    assert second.values.numpy().tolist() == [0, 0, 0, 2, 1]
    np.testing.assert_allclose(
        scores, [[-2.14852, -2.68381], [-2.46856, -2.73605]], rtol=1e-5
    )


def test_greedy_search():
    frames = np.array([[[0, 9, 0]], [[0, 9, 0]], [[0, 0, 9]], [[9, 0, 0]]], np.float32)
    (path,), score = tf.nn.ctc_greedy_decoder(frames, [4])
    assert path.values.numpy().tolist() == [1, 0]
    assert float(score[0, 0]) == -36
    (path,), _ = tf.nn.ctc_greedy_decoder(frames, [4], merge_repeated=False, blank_index=0)
    assert path.values.numpy().tolist() == [1, 1, 2]


def test_loss_in_a_function():
    x = logits()
    staged = tf.function(lambda x: tf.nn.ctc_loss(LABELS, x, LENGTHS, FRAMES))
    np.testing.assert_allclose(staged(x), [7.53042, 4.66831], rtol=1e-5)
