"""Cosine transforms and mel filters, against SciPy and written values; Fourier transforms over any axes."""

import numpy as np
import pytest
import scipy.fft

import tapeflow as tf

X = np.random.default_rng(0).normal(size=(2, 8))


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("n", [None, 5, 11])
def test_dct_is_scipys(kind, norm, n):
    if kind == 1 and norm:
        with pytest.raises(ValueError, match="not supported"):
            tf.signal.dct(X, kind, n, norm=norm)
        return
    np.testing.assert_allclose(
        tf.signal.dct(X, kind, n, norm=norm), scipy.fft.dct(X, kind, n, norm=norm), atol=1e-12
    )
    count = X.shape[1] if n is None else n
    scale = 1 if norm else 1 / (2 * (count - 1 if kind == 1 else count))
    back = tf.signal.idct(tf.signal.dct(X, kind, n, norm=norm), kind, norm=norm) * scale
    np.testing.assert_allclose(back[:, :5], np.pad(X, [(0, 0), (0, 3)])[:, :5], atol=1e-12)


def test_bad_dct():
    with pytest.raises(NotImplementedError):
        tf.signal.dct(X, axis=0)
    for options in ({"type": 5}, {"n": 0}, {"norm": "x"}):
        with pytest.raises(ValueError, match=r"Types|integer|normalization"):
            tf.signal.dct(X, **options)


@pytest.mark.parametrize("window", [tf.signal.vorbis_window, tf.signal.kaiser_bessel_derived_window, None])
@pytest.mark.parametrize("norm", [None, "ortho"])
def test_inverse_mdct(window, norm):
    x = np.random.default_rng(1).normal(size=(2, 64))
    y = tf.signal.inverse_mdct(tf.signal.mdct(x, 16, window, norm=norm), window, norm=norm)
    np.testing.assert_allclose(y[:, 8:-8], x[:, 8:-8], atol=1e-5)


def test_mdct_of_a_bad_length():
    with pytest.raises(ValueError, match="multiple of 4"):
        tf.signal.mdct(X, 6)


def test_mel():
    matrix = tf.signal.linear_to_mel_weight_matrix(3, 5, 8000, 0.0, 4000.0, tf.float64).numpy()
    assert matrix.shape == (5, 3)
    assert (matrix[0] == 0).all()
    mel = 1127 * np.log1p(np.array([1000, 4000]) / 700)
    place = mel[0] / mel[1] * 4
    np.testing.assert_allclose(matrix[1], np.maximum(0, 1 - np.abs(place - [1, 2, 3])), atol=1e-12)
    cepstra = tf.signal.mfccs_from_log_mel_spectrograms(X)
    np.testing.assert_allclose(cepstra, scipy.fft.dct(X, 2) / np.sqrt(16), atol=1e-12)
    with pytest.raises(ValueError, match="Nyquist"):
        tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=9000.0)


@pytest.mark.parametrize("norm", [None, "backward", "forward", "ortho"])
@pytest.mark.parametrize(("lengths", "axes"), [(None, None), (None, [0, 2]), ([5, 3], [0, -1])])
def test_transforms_over_any_axes(norm, lengths, axes):
    x = np.random.default_rng(2).normal(size=(3, 4, 6))
    z = x + 1j * x[::-1]
    for name, array in (("fftn", z), ("ifftn", z), ("rfftn", x), ("irfftn", z)):
        found = getattr(tf.signal, name[:-1] + "nd")(tf.constant(array), lengths, axes, norm)
        want = getattr(np.fft, name)(array, lengths, axes, norm)
        np.testing.assert_allclose(found, want, atol=1e-10)


def test_bad_transforms():
    with pytest.raises(ValueError, match="norm"):
        tf.signal.fftnd(X + 0j, norm="x")
    with pytest.raises(ValueError, match="RFFT"):
        tf.signal.rfftnd(tf.constant(X + 0j))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.signal.fftnd(X + 0j, [2], [0, 1])
