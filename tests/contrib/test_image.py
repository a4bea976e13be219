"""tf.contrib.image, against SciPy and sums over pixels."""

import numpy as np
import pytest
from scipy import interpolate, ndimage

import tapeflow.compat.v1 as tf
from tapeflow.contrib import image

from .contrib_values import BOTH, value

RNG = np.random.default_rng(8)


@BOTH
@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 2), (3, 5, 7, 2)])
def test_rotated_by_quarters(how, shape):
    square = RNG.normal(size=(*shape[:-3], 6, 6, *shape[3:])) if len(shape) > 2 else RNG.normal(size=(6, 6))
    axes = (1, 2) if square.ndim == 4 else (0, 1)
    got = value(how, image.rotate, square, np.pi / 2)
    np.testing.assert_allclose(got, np.rot90(square, axes=axes))


@BOTH
def test_each_image_by_its_own_angle(how):
    images = RNG.normal(size=(2, 4, 4, 1)).astype(np.float32)
    got = value(how, image.rotate, images, [0.0, np.pi])
    np.testing.assert_array_equal(got, [images[0], images[1, ::-1, ::-1]])


@BOTH
@pytest.mark.parametrize("interpolation", ["nearest", "BILINEAR"])
def test_translated(how, interpolation):
    picture = RNG.integers(1, 200, (2, 5, 6, 1)).astype(np.uint8)
    got = value(how, image.translate, picture, [[1, 0], [0, -2]], interpolation)
    want = np.zeros_like(picture)
    want[0, :, 1:] = picture[0, :, :-1]
    want[1, :-2] = picture[1, 2:]
    np.testing.assert_array_equal(got, want)


@BOTH
def test_affine_transform_into_another_size(how):
    picture = RNG.normal(size=(8, 9))
    matrix, shift = np.array([[0.8, 0.3], [-0.2, 0.9]]), np.array([0.4, 1.7])  # of (y, x)
    row = [matrix[1, 1], matrix[1, 0], shift[1], matrix[0, 1], matrix[0, 0], shift[0], 0, 0]
    got = value(how, image.transform, picture, row, "BILINEAR", [5, 4])
    want = ndimage.affine_transform(picture, matrix, shift, (5, 4), order=1, mode="grid-constant")
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@BOTH
def test_composed_transforms_are_one_after_the_other(how):
    first, second = ([1.0, 0.2, 1.5, -0.1, 1, 2, 0.01, 0], [0.9, 0, -1.0, 0.3, 1.2, 0, 0, 0.02])
    got = value(how, image.compose_transforms, first, [second])
    product = np.append(first, 1).reshape(3, 3) @ np.append(second, 1).reshape(3, 3)
    np.testing.assert_allclose(got, [(product / product[2, 2]).ravel()[:8]], rtol=1e-6)
    again = value(how, lambda: image.matrices_to_flat_transforms(image.flat_transforms_to_matrices(first)))
    np.testing.assert_allclose(again, [first], rtol=1e-6)


def test_arguments_of_transforms():
    picture = np.zeros((4, 4), np.float32)
    with pytest.raises(TypeError, match="Invalid dtype"):
        image.rotate(np.zeros((4, 4), np.complex64), 0.1)
    with pytest.raises(TypeError, match="rank between 2 and 4"):
        image.rotate(np.zeros(4, np.float32), 0.1)
    with pytest.raises(TypeError, match="rank 0 or 1"):
        image.rotate(picture, [[0.1]])
    with pytest.raises(TypeError, match="rank 1 or 2"):
        image.translate(picture, 1.0)
    with pytest.raises(ValueError, match="2 elements"):
        image.transform(picture, [1.0, 0, 0, 0, 1, 0, 0, 0], output_shape=[1, 2, 3])
    with pytest.raises(ValueError, match="1D or 2D"):
        image.flat_transforms_to_matrices(np.zeros((1, 1, 8), np.float32))
    with pytest.raises(ValueError, match="2D or 3D"):
        image.matrices_to_flat_transforms(np.zeros(9, np.float32))


def test_gradient_of_a_shift_is_the_shift_back():
    x = tf.constant(RNG.normal(size=(4, 5)))
    weights = RNG.normal(size=(4, 5))
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(image.translate(x, [2, -1]) * weights)
    want = np.zeros((4, 5))
    want[1:, :-2] = weights[:-1, 2:]
    np.testing.assert_allclose(tape.gradient(total, x), want)


@BOTH
def test_colors(how):
    colors = RNG.uniform(0.2, 0.8, (2, 3, 4, 3)).astype(np.float32)
    got = value(how, image.adjust_hsv_in_yiq, colors, 0.4, 0.5, 0.9)
    to_yiq = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
    yiq = colors @ to_yiq.T * 0.9
    chroma = (yiq[..., 1] + 1j * yiq[..., 2]) * 0.5 * np.exp(0.4j)
    turned = np.stack([yiq[..., 0], chroma.real, chroma.imag], -1)
    np.testing.assert_allclose(got, turned @ np.linalg.inv(to_yiq).T, atol=2e-3)
    drawn = value(how, image.random_hsv_in_yiq, (colors * 255).astype(np.uint8), 0.2, 0.5, 1.5, 0.5, 1.5)
    assert drawn.dtype == np.uint8
    assert drawn.shape == colors.shape


def test_arguments_of_colors():
    with pytest.raises(ValueError, match="at least rank 3"):
        image.adjust_hsv_in_yiq(np.zeros((2, 3), np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="3 channels"):
        image.adjust_hsv_in_yiq(np.zeros((2, 3, 4), np.float32))
    colors = np.zeros((2, 2, 3), np.float32)
    for bad in ({"max_delta_hue": -1}, {"lower_saturation": -1}, {"lower_saturation": 2}, {"lower_value": -1},
                {"upper_value": 0}):  # fmt: skip
        with pytest.raises(ValueError, match=r"must be"):
            image.random_hsv_in_yiq(colors, **bad)


@BOTH
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6])
def test_splines(how, order):
    points, values, queries = (RNG.normal(size=s) for s in ((2, 9, 2), (2, 9, 3), (2, 7, 2)))
    got = value(how, image.interpolate_spline, points, values, queries, order)
    kernel = {1: "linear", 2: "thin_plate_spline", 3: "cubic"}.get(order)
    if kernel:
        for i in range(2):
            spline = interpolate.RBFInterpolator(points[i], values[i], kernel=kernel, degree=1)
            np.testing.assert_allclose(got[i], spline(queries[i]), rtol=1e-3, atol=1e-3)
    again = value(how, image.interpolate_spline, points, values, points, order)
    np.testing.assert_allclose(again, values, rtol=1e-3, atol=1e-3)
    smooth = value(how, image.interpolate_spline, points, values, points, order, 10.0)
    assert np.abs(smooth - values).max() > 0.01


@BOTH
@pytest.mark.parametrize("dtypes", [("f4", "f4"), ("f8", "f4"), ("f4", "f8")])
def test_dense_warp(how, dtypes):
    picture = RNG.normal(size=(2, 5, 6, 2)).astype(dtypes[0])
    flow = RNG.uniform(-3, 3, (2, 5, 6, 2)).astype(dtypes[1])
    got = value(how, image.dense_image_warp, picture, flow)
    assert got.dtype == picture.dtype
    places = np.stack(np.mgrid[:5, :6]) - np.moveaxis(flow, -1, 1)
    for n, c in np.ndindex(2, 2):
        want = ndimage.map_coordinates(picture[n, ..., c], places[n], order=1, mode="nearest")
        np.testing.assert_allclose(got[n, ..., c], want, rtol=1e-4, atol=1e-5)


def test_gradients_of_a_dense_warp():
    picture, flow = RNG.normal(size=(1, 3, 4, 1)), RNG.uniform(-0.9, 0.9, (1, 3, 4, 2))
    arguments = [tf.constant(picture), tf.constant(flow)]
    with tf.GradientTape() as tape:
        tape.watch(arguments)
        total = tf.reduce_sum(tf.sin(image.dense_image_warp(*arguments)))
    for i, gradient in enumerate(tape.gradient(total, arguments)):
        for at in [(0, 1, 1, 0), (0, 2, 3, 0), (0, 0, 2, 0)]:
            ends = []
            for change in (1e-5, -1e-5):
                moved = [picture.copy(), flow.copy()]
                moved[i][at] += change
                ends.append(np.sin(image.dense_image_warp(*moved)).sum())
            np.testing.assert_allclose(gradient.numpy()[at], (ends[0] - ends[1]) / 2e-5, rtol=1e-4, atol=1e-6)


@BOTH
@pytest.mark.parametrize("boundary", [0, 1, 3])
def test_sparse_warp_moves_control_points(how, boundary):
    picture = np.zeros((1, 9, 9, 1), np.float32)
    picture[0, 4, 3] = 1
    source = np.array([[[4.0, 3.0], [1, 1], [7, 2], [2, 7]]], np.float32)
    target = source + np.array([[[1.0, 2.0], [0, 0], [0, 0], [0, 0]]], np.float32)
    warped, flow = value(how, image.sparse_image_warp, picture, source, target, num_boundary_points=boundary)
    np.testing.assert_allclose(warped[0, 5, 5], 1, atol=1e-3)
    np.testing.assert_allclose(flow[0, 5, 5], [1, 2], atol=1e-3)
    corner = np.abs(flow[0, 0, 0]).max()
    assert corner < 1e-3 if boundary else corner >= 0


@BOTH
@pytest.mark.parametrize("dtype", [bool, np.int32, np.float32, np.str_])
def test_components_are_scipys(how, dtype):
    pictures = RNG.integers(0, 3 if dtype is not bool else 2, (3, 8, 9))
    given = np.array([["", "a", "b"][v] for v in pictures.ravel()]).reshape(pictures.shape)
    given = given if dtype is np.str_ else pictures.astype(dtype)
    got = value(how, image.connected_components, given)
    first = {}
    labels = np.zeros(pictures.shape, int)
    for n, picture in enumerate(pictures):
        for kind in (1, 2):
            found, _ = ndimage.label(picture == kind)
            labels[n][found > 0] = found[found > 0] + 1000 * kind + 10000 * n
    for label in labels[labels > 0].tolist():
        first.setdefault(label, len(first) + 1)
    np.testing.assert_array_equal(got, np.vectorize(lambda v: first.get(v, 0))(labels))
    single = value(how, image.connected_components, given[0])
    np.testing.assert_array_equal(single, got[0])


def test_components_need_images():
    with pytest.raises(TypeError, match="rank 2"):
        image.connected_components([1, 0])


@BOTH
def test_matches(how):
    distances = [[0.5, 0.8], [0.3, 0.25], [0.1, 0.7]]
    rows, columns = value(how, image.bipartite_match, distances, -1)
    assert (rows.tolist(), columns.tolist()) == ([-1, 1, 0], [2, 1])
    rows, columns = value(how, image.bipartite_match, distances, [2.0])
    assert (rows.tolist(), columns.tolist()) == ([0, 1, -1], [0, 1])
    rows, columns = value(how, image.bipartite_match, distances, -1, top_k=1)
    assert (rows.tolist(), columns.tolist()) == ([-1, -1, 0], [2, -1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 4 rows"):
        value(how, image.bipartite_match, distances, 4)


@BOTH
def test_stereograms_repeat_by_depth(how):
    def made(depth, **more):
        return image.single_image_random_dot_stereograms(
            np.full((3, 3), depth), convergence_dots_size=0, eye_separation=1.0, normalize=False,
            output_image_shape=[200, 20, 1], output_data_window=[200, 20], **more,
        )  # fmt: skip

    for depth in (0.0, 0.5, 1.0):
        picture = value(how, made, depth)
        assert picture.shape == (20, 200, 1)
        assert picture.dtype == np.uint8
        apart = round((1 - 0.3333 * depth) * 72 / (2 - 0.3333 * depth))
        np.testing.assert_array_equal(picture[:, apart:], picture[:, :-apart])
        assert len(np.unique(picture)) > 50
    assert set(np.unique(value(how, made, 0.3, number_colors=2))) == {0, 255}
    assert value(how, made, 0.3, number_colors=300).shape == (20, 200, 3)


def test_dots_of_stereograms():
    picture = image.single_image_random_dot_stereograms([[0.0, 1.0]], output_image_shape=[300, 200, 1],
                                                        output_data_window=[280, 150]).numpy()  # fmt: skip
    top = (200 - 150 - 8) // 3
    assert not picture[200 - top - 8 : 200 - top, 150 - 45 - 4 : 150 - 45 + 4].any()
    assert not picture[200 - top - 8 : 200 - top, 150 + 45 - 4 : 150 + 45 + 4].any()
