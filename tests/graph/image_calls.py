"""More calls for test_functions_in_graph.py: images, spellings of 1.x, linear operators, Keras' functions."""

from __future__ import annotations

import numpy as np
from function_calls import B, F, N, P, S, call, positive_definite

import tapeflow as tf

v1 = tf.compat.v1

# Images.
image, batch = P(6, 5, 3), P(2, 6, 6, 3)
for f in (tf.image.rgb_to_hsv, tf.image.hsv_to_rgb, tf.image.rgb_to_grayscale, tf.image.rgb_to_yiq,
          tf.image.yiq_to_rgb, tf.image.rgb_to_yuv, tf.image.yuv_to_rgb, tf.image.per_image_standardization,
          tf.image.flip_left_right, tf.image.flip_up_down, tf.image.transpose, tf.image.rot90,
          tf.image.image_gradients, tf.image.sobel_edges, tf.image.total_variation):  # fmt: skip
    call(f, batch, label=f"image needs rank {f.__name__}")
for f in (tf.image.flip_left_right, tf.image.transpose, tf.image.rot90):
    call(f, image, label=f"image needs rank {f.__name__}")
call(tf.image.grayscale_to_rgb, P(2, 4, 4, 1), label="image needs rank grayscale_to_rgb")
call(tf.image.rot90, image, 3, label="image needs rank rot90")
call(tf.image.rot90, batch, np.array(2, np.int32), label="image needs rank rot90")
call(tf.image.convert_image_dtype, image, tf.uint8)
call(tf.image.adjust_brightness, image, np.float32(0.1))
call(tf.image.adjust_contrast, image, P())
call(tf.image.adjust_gamma, image, 0.5)
call(tf.image.adjust_hue, image, P())
call(tf.image.adjust_saturation, image, 0.5)
call(tf.image.crop_to_bounding_box, batch, 1, 1, 3, 4, label="image needs rank crop")
call(tf.image.pad_to_bounding_box, batch, 1, 1, 8, 9, label="image needs rank pad")
call(tf.image.resize_with_crop_or_pad, batch, 4, 8, label="image needs rank crop_or_pad")
call(tf.image.central_crop, batch, 0.5, label="image needs rank central")
for method in ("bilinear", "nearest", "bicubic", "area", "lanczos3"):
    call(tf.image.resize, batch, [3, 9], method=method, label=f"image needs rank resize {method}")
call(tf.image.resize, batch, N(4, 4), label="image needs rank resize size")
call(
    tf.image.resize,
    image,
    [4, 8],
    preserve_aspect_ratio=True,
    label="image needs rank resize aspect",
)
call(tf.image.resize_with_pad, batch, 4, 9, label="image needs rank with_pad")
call(v1.image.resize_bilinear, batch, [3, 4])
call(v1.image.resize_nearest_neighbor, batch, N(3, 4))
call(tf.image.crop_and_resize, batch, P(2, 4), N(0, 1), [2, 2])
call(tf.image.extract_patches, batch, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
call(tf.image.psnr, batch, batch * 0.9, 1.0)
call(tf.image.ssim, P(1, 16, 16, 1), P(1, 16, 16, 1), 1.0, label="image needs rank ssim")
call(tf.image.draw_bounding_boxes, batch, P(2, 1, 4), P(1, 3))
call(tf.image.non_max_suppression, P(5, 4), P(5), 3)
call(tf.image.non_max_suppression, P(5, 4), P(5), np.array(3, np.int32), 0.3)
call(tf.image.non_max_suppression_with_scores, P(5, 4), P(5), 3)
call(tf.image.stateless_random_crop, image, [2, 2, 3], N(1, 2), label="image needs rank crop")
call(tf.image.stateless_random_flip_left_right, image, N(1, 2), label="image needs rank flip")
call(tf.image.stateless_random_brightness, image, 0.2, N(1, 2))
call(tf.image.stateless_random_contrast, image, 0.2, 0.5, N(1, 2))
call(tf.image.stateless_random_hue, image, 0.2, N(1, 2))
call(tf.image.stateless_random_saturation, image, 0.2, 0.5, N(1, 2))
call(tf.io.decode_csv, S(b"1,a", b"2,b"), [[0], [""]])
call(tf.io.decode_raw, S(b"abcd", b"efgh"), tf.uint8)
call(
    lambda x: tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.float32), F(2, 3), label="serialized"
)
pixels = (P(4, 4, 3) * 255).astype(np.uint8)
call(lambda x: tf.io.decode_png(tf.io.encode_png(x)), pixels, label="png")
call(lambda x: tf.io.decode_image(tf.io.encode_png(x)), pixels, label="decode_image")

# Spellings of 1.x.
for f in (v1.reduce_mean, v1.reduce_prod, v1.reduce_max, v1.reduce_min, v1.reduce_logsumexp):
    call(f, F(2, 3), reduction_indices=[0], keep_dims=True)
for f in (v1.reduce_all, v1.reduce_any):
    call(f, B([True, False], [True, True]), 1)
call(v1.count_nonzero, F(2, 3), axis=0, keep_dims=True)
call(v1.expand_dims, F(2, 3), dim=1)
call(v1.squeeze, F(1, 3), squeeze_dims=[0])
call(v1.transpose, F(2, 3))
call(v1.size, F(2, 3))
call(v1.pad, F(2, 3), [[1, 1], [0, 1]])
call(v1.gather, F(3, 4), N(2, 0), axis=1)
call(v1.gather_nd, F(3, 4), N([2, 0], [1, 1]))
call(v1.boolean_mask, F(3, 4), [True, False, True])
call(v1.argmin, F(2, 3), dimension=1)
call(v1.arg_max, F(2, 3), 1)
call(v1.nn.softmax, F(2, 3), dim=0)
call(v1.nn.log_softmax, F(2, 3))
call(v1.nn.crelu, F(2, 3))
call(v1.nn.conv2d, batch, F(2, 2, 3, 4), [1, 1, 1, 1], "SAME")
call(v1.nn.conv2d_backprop_input, N(2, 6, 6, 3), F(2, 2, 3, 4), F(2, 6, 6, 4), [1, 1, 1, 1], "SAME")
call(v1.nn.conv2d_backprop_filter, batch, N(2, 2, 3, 4), F(2, 6, 6, 4), [1, 1, 1, 1], "SAME")
call(v1.nn.conv2d_transpose, F(2, 3, 3, 4), F(2, 2, 3, 4), [2, 6, 6, 3], [1, 2, 2, 1])
call(v1.nn.conv1d, F(2, 6, 3), F(2, 3, 4), 1, "VALID")
call(v1.nn.conv3d, F(1, 3, 4, 4, 2), F(2, 2, 2, 2, 3), [1, 1, 1, 1, 1], "SAME")
call(v1.nn.convolution, batch, F(2, 2, 3, 4), "SAME", label="needs rank convolution")
call(v1.nn.depthwise_conv2d, batch, F(2, 2, 3, 1), [1, 1, 1, 1], "SAME", rate=[1, 1])
call(v1.nn.separable_conv2d, batch, F(2, 2, 3, 1), F(1, 1, 3, 2), [1, 1, 1, 1], "SAME")
call(v1.nn.max_pool, batch, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
call(v1.nn.avg_pool, batch, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
call(v1.nn.pool, batch, [2, 2], "MAX", "VALID")
call(v1.nn.moments, F(2, 3), [0], keep_dims=True)
call(v1.nn.weighted_moments, F(2, 3), [0], P(2, 1))
call(v1.nn.sufficient_statistics, F(2, 3), [0])
call(v1.nn.sparse_softmax_cross_entropy_with_logits, labels=N(1, 0), logits=F(2, 3))
call(v1.nn.softmax_cross_entropy_with_logits_v2, P(2, 3), F(2, 3))
call(v1.nn.weighted_cross_entropy_with_logits, labels=P(2, 3), logits=F(2, 3), pos_weight=2.0)
call(v1.nn.in_top_k, F(2, 3), N(1, 0), 2)
call(v1.nn.dropout, F(2, 3), 1.0)
call(v1.norm, F(2, 3), keep_dims=True)
call(v1.reverse_sequence, F(2, 3), N(2, 3), seq_dim=1, batch_dim=0)
call(v1.space_to_depth, F(1, 4, 4, 1), 2)
call(v1.batch_to_space, F(4, 2, 2, 1), [[0, 0], [0, 0]], 2)
call(v1.strings.length, S(b"abc"))
call(v1.strings.substr, S(b"abcd"), 1, 2)
call(v1.reduce_join, S([b"a", b"b"]), 1)
call(v1.string_to_number, S(b"1.5"))
call(v1.bincount, N(1, 1, 3))
call(v1.div, F(3), 2.0)
call(v1.truncatediv, N(7, -7), N(2, 2))
call(v1.to_double, F(3))
call(v1.parallel_stack, [F(3), F(3)])
call(tf.guarantee_const, F(3))
call(tf.math.segment_prod, F(4, 2), N(0, 0, 1, 1))
call(tf.math.segment_max, F(4, 2), N(0, 0, 1, 1))
call(tf.math.unsorted_segment_prod, F(4, 2), N(0, 2, 0, 1), 3)

# Methods of tensors, and operators.
call(lambda x, y: -x + y * 2 - x / y + x**2 // y % 3, P(2, 3), P(2, 3), label="operators")
call(lambda x, y: (x < y) | (x >= 0.5) & ~(x > y), P(2, 3), P(2, 3), label="comparisons")
call(lambda x, y: x @ y, F(2, 3), F(3, 2), label="matmul operator")
call(lambda x: 2 - x + 3 / x, P(3), label="reflected")
call(lambda x: abs(x)[..., tf.newaxis], F(3), label="newaxis")

# Linear operators.
LO = tf.linalg
OPERATORS = {
    "diag": lambda x: LO.LinearOperatorDiag(x[..., 0]),
    "full": lambda x: LO.LinearOperatorFullMatrix(x),
    "lower": lambda x: LO.LinearOperatorLowerTriangular(x),
    "identity": lambda x: LO.LinearOperatorScaledIdentity(3, x[0, 0]),
    "kronecker": lambda x: LO.LinearOperatorKronecker([LO.LinearOperatorFullMatrix(x)]),
    "block diag": lambda x: LO.LinearOperatorBlockDiag([LO.LinearOperatorFullMatrix(x)]),
    "low rank": lambda x: LO.LinearOperatorLowRankUpdate(
        LO.LinearOperatorDiag(x[:, 0] ** 2 + 1), x[:, :1]
    ),
}
for label, make in OPERATORS.items():
    label = f"needs rank {label}"
    matrix = positive_definite(3)
    call(lambda x, y, make=make: make(x).matmul(y), matrix, F(3, 2), label=f"{label} matmul")
    call(lambda x, y, make=make: make(x).solve(y), matrix, F(3, 2), label=f"{label} solve")
    call(lambda x, make=make: make(x).to_dense(), matrix, label=f"{label} dense")
    call(lambda x, make=make: make(x).determinant(), matrix, label=f"{label} determinant")

# Keras' functions.
K = tf.keras.backend
for name in ("relu", "elu", "selu", "softplus", "softsign", "softmax", "sigmoid", "tanh", "gelu", "swish",
             "exponential", "hard_sigmoid", "linear"):  # fmt: skip
    call(getattr(tf.keras.activations, name), F(2, 3), label=f"activation {name}")
call(tf.keras.activations.relu, F(2, 3), alpha=0.1, max_value=1.0, threshold=0.2)
call(tf.keras.activations.softmax, F(2, 3, 4), axis=1)
for make in (tf.keras.regularizers.L1, tf.keras.regularizers.L2, tf.keras.regularizers.L1L2):
    call(make(0.1), F(2, 3), label=make.__name__)
for make in (tf.keras.constraints.MaxNorm, tf.keras.constraints.NonNeg, tf.keras.constraints.UnitNorm,
             tf.keras.constraints.MinMaxNorm):  # fmt: skip
    call(make(), F(2, 3), label=make.__name__)
for name in ("sum", "mean", "max", "min", "prod", "std", "var", "logsumexp"):
    call(getattr(K, name), F(2, 3), axis=-1, keepdims=True, label=f"K.{name}")
for name in ("square", "abs", "exp", "sign", "flatten", "transpose", "cumsum", "ones_like", "zeros_like",
             "l2_normalize", "batch_flatten", "shape"):  # fmt: skip
    call(getattr(K, name), F(2, 3), label=f"K.{name}")
call(K.dot, F(2, 3), F(3, 4), label="needs rank K.dot")
call(K.dot, F(2, 3, 4), F(5, 4, 3), label="needs rank K.dot")
call(K.concatenate, [F(2, 3), F(2, 1)], label="needs rank K.concatenate")
call(K.repeat, F(2, 3), 4)
call(K.repeat_elements, F(2, 3), 2, 1, label="needs rank K.repeat_elements")
call(K.one_hot, N(1, 2), 3)
call(K.clip, F(3), -0.5, 0.5)
call(K.gather, F(3, 2), N(1, 2))
call(K.switch, np.array(True), N(1, 2), N(3, 4), label="needs rank K.switch")
call(K.in_train_phase, N(1, 2), N(3, 4), np.array(True))
call(K.categorical_crossentropy, P(2, 3), P(2, 3))
call(K.sparse_categorical_crossentropy, N(1, 0), P(2, 3))
call(K.binary_crossentropy, P(2, 3), P(2, 3))
call(K.reverse, F(2, 3), 1)
call(K.squeeze, F(2, 1), 1)
call(K.permute_dimensions, F(2, 3), (1, 0))
call(K.bias_add, F(2, 3), F(3), label="needs rank K.bias_add")
