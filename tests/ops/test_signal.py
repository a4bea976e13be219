"""tf.signal: transforms and frames against NumPy, their gradients against differences."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.compat import v1

RNG = np.random.default_rng(5)


def slope(f, x, direction, step=1e-6):
    up, down = (f(tf.constant(x + s * direction)) for s in (step, -step))
    return float(up - down) / (2 * step)


def along(f, x, direction):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tf.reduce_sum(tape.gradient(y, x) * direction)


def energy(y):
    """A real function of a spectrum or signal in which every element counts differently."""
    weights = 1.0 + np.arange(y.shape.num_elements(), dtype=np.float64).reshape(y.shape)
    if y.dtype.is_complex:
        return tf.reduce_sum(
            weights * tf.math.real(y) ** 3 + weights[::-1] * tf.math.imag(y) * tf.math.real(y)
        )
    return tf.reduce_sum(weights * y**3)


FROM_REAL = {
    "fft": lambda x: tf.signal.fft(tf.complex(x, x * x)),
    "ifft": lambda x: tf.signal.ifft(tf.complex(x, x * x)),
    "fft2d": lambda x: tf.signal.fft2d(tf.complex(x, x * x)),
    "ifft3d": lambda x: tf.signal.ifft3d(tf.complex(x, x * x)),
    "rfft": tf.signal.rfft,
    "rfft cropped": lambda x: tf.signal.rfft(x, [3]),
    "rfft padded": lambda x: tf.signal.rfft(x, [7]),
    "rfft2d": tf.signal.rfft2d,
    "rfft3d": lambda x: tf.signal.rfft3d(x, [3, 2, 5]),
    "irfft": lambda x: tf.signal.irfft(tf.complex(x, x * x)),
    "irfft odd": lambda x: tf.signal.irfft(tf.complex(x, x * x), [5]),
    "irfft padded": lambda x: tf.signal.irfft(tf.complex(x, x * x), [12]),
    "irfft2d": lambda x: tf.signal.irfft2d(tf.complex(x, x * x)),
    "irfft3d": lambda x: tf.signal.irfft3d(tf.complex(x, x * x), [2, 3, 4]),
    "fftshift": tf.signal.fftshift,
    "frame": lambda x: tf.signal.frame(x, 3, 2, pad_end=True),
    "overlap_and_add": lambda x: tf.signal.overlap_and_add(x, 2),
    "stft": lambda x: tf.signal.stft(x, 3, 1),
}


@pytest.mark.parametrize("name", FROM_REAL)
def test_gradients_of_both_orders(name):
    x, first, second = RNG.normal(size=(3, 2, 3, 4))

    def f(value):
        return energy(FROM_REAL[name](value))

    def g(value):
        return along(f, value, first)

    assert float(g(x)) == pytest.approx(slope(f, x, first), rel=1e-5, abs=1e-5)
    assert float(along(g, x, second)) == pytest.approx(slope(g, x, second), rel=1e-4, abs=1e-4)


def test_real_transforms_are_numpys():
    x = RNG.normal(size=(2, 6)).astype(np.float32)
    y = tf.signal.rfft(x)
    assert y.dtype == tf.complex64
    np.testing.assert_allclose(y, np.fft.rfft(x), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(tf.signal.irfft(y), x, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(tf.signal.rfft(x, [9]), np.fft.rfft(x, 9), rtol=1e-5, atol=1e-5)
    assert tf.signal.rfft(tf.constant(x, tf.float64)).dtype == tf.complex128
    assert tf.signal.fft(tf.zeros([2, 0], tf.complex64)).shape == [2, 0]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="RFFT requires"):
        tf.signal.rfft(tf.ones([3], tf.complex64))
    with pytest.raises(ValueError, match="IRFFT requires"):
        tf.signal.irfft(tf.ones([3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.signal.fft(tf.ones([3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must have shape \[1\]"):
        tf.signal.rfft(tf.ones([4]), [3, 3])
    with pytest.raises(ValueError, match="frame_step"):
        tf.signal.frame(tf.range(7), 3, 0)
    with pytest.raises(ValueError, match="floating"):
        tf.signal.hann_window(5, dtype=tf.int32)


def test_shifts():
    x = RNG.normal(size=(3, 4))
    np.testing.assert_array_equal(tf.signal.fftshift(x), np.fft.fftshift(x))
    np.testing.assert_array_equal(tf.signal.ifftshift(x, axes=[1]), np.fft.ifftshift(x, axes=1))


def test_frames():
    assert tf.signal.frame(tf.range(7), 3, 2).numpy().tolist() == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    assert tf.signal.frame(tf.range(7), 3, 2, True, 9).numpy().tolist()[-1] == [6, 9, 9]
    assert tf.signal.frame(tf.zeros([5, 2]), 3, 1, axis=0).shape == [3, 3, 2]
    assert tf.signal.frame(tf.range(2), 3, 1).shape == [0, 3]


def test_windows():
    np.testing.assert_allclose(tf.signal.hann_window(4), [0, 0.5, 1, 0.5], atol=1e-6)
    np.testing.assert_allclose(tf.signal.hann_window(4, False), [0, 0.75, 0.75, 0], atol=1e-6)
    np.testing.assert_allclose(tf.signal.hamming_window(5), np.hamming(5), rtol=1e-5)
    np.testing.assert_allclose(tf.signal.kaiser_window(5, 3.0), np.kaiser(5, 3.0), rtol=1e-5)
    for window in (tf.signal.vorbis_window, tf.signal.kaiser_bessel_derived_window):
        squares = window(8, dtype=tf.float64).numpy() ** 2
        np.testing.assert_allclose(squares[:4] + squares[4:], np.ones(4))


def test_short_time_transform_and_back():
    x = RNG.normal(size=(2, 64))
    spectra = tf.signal.stft(x, 16, 4)
    assert spectra.shape == [2, 13, 9]
    assert spectra.dtype == tf.complex128
    window = tf.signal.inverse_stft_window_fn(4)
    back = tf.signal.inverse_stft(spectra, 16, 4, window_fn=window)
    np.testing.assert_allclose(back[:, 16:-16], x[:, 16:-16])


def test_names_of_1x():
    assert v1.fft is v1.spectral.fft is tf.signal.fft
    assert v1.signal is tf.signal


@pytest.mark.parametrize("pad_end", [False, True])
@pytest.mark.parametrize(
    ("shape", "length", "step", "axis"),
    [([1, 2, 3, 4], None, 1, 1), ([None, 5, None, 20, 5, 3], 4, 3, 3), ([None, 7], 2, None, -1), ([2, None], 2, 2, -1)],
)
def test_what_is_known_of_frames(shape, length, step, axis, pad_end):
    specs = [tf.TensorSpec(shape), tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32)]

    @tf.function(input_signature=specs)
    def frames(signal, own_length, own_step):
        given = own_length if length is None else length, own_step if step is None else step
        return tf.signal.frame(signal, *given, pad_end=pad_end, axis=axis)

    known = frames.get_concrete_function().output_shapes
    signal = np.ones([6 if size is None else size for size in shape], np.float32)
    found = frames(signal, 4 if length is None else length, 2 if step is None else step).shape
    assert known.is_compatible_with(found)
    at = axis % len(shape)
    assert [*known[:at], *known[at + 2 :]] == [*shape[:at], *shape[at + 1 :]]
    assert known[at + 1] == length
    if None not in (length, step, shape[at]):
        assert known[at] == found[at]


def test_the_padding_of_frames_is_one_number():
    with pytest.raises(ValueError, match="pad_value must be a scalar"):
        tf.signal.frame([1.0], 1, 1, pad_end=True, pad_value=[1.0])


@pytest.mark.parametrize("known", [True, False])
def test_gradient_of_frames_is_dense(known):
    """Elements are in several frames, which are gathered; the gradient is not that of a gather, slices."""
    x = tf.range(7.0)

    def derivative(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.signal.frame(x, 3, 2)
        return tape.gradient(y, x)

    traced = tf.function(derivative, input_signature=[tf.TensorSpec([None], tf.float32)])
    found = derivative(x) if known else traced(x)
    np.testing.assert_array_equal(found[:], [1, 1, 2, 1, 2, 1, 1])
