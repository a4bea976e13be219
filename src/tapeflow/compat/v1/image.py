"""tf.compat.v1.image: `tf.image` with the names and signatures of 1.x."""

from tapeflow.image import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_jpeg_quality,
    adjust_saturation,
    central_crop,
    combined_non_max_suppression,
    convert_image_dtype,
    crop_to_bounding_box,
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    decode_webp,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    extract_patches,
    flip_left_right,
    flip_up_down,
    grayscale_to_rgb,
    hsv_to_rgb,
    image_gradients,
    is_jpeg,
    non_max_suppression,
    non_max_suppression_overlaps,
    non_max_suppression_padded,
    non_max_suppression_with_scores,
    pad_to_bounding_box,
    per_image_standardization,
    psnr,
    random_brightness,
    random_contrast,
    random_crop,
    random_flip_left_right,
    random_flip_up_down,
    random_hue,
    random_jpeg_quality,
    random_saturation,
    resize_with_crop_or_pad,
    rgb_to_grayscale,
    rgb_to_hsv,
    rgb_to_yiq,
    rgb_to_yuv,
    rot90,
    sobel_edges,
    ssim,
    ssim_multiscale,
    total_variation,
    transpose,
    yiq_to_rgb,
    yuv_to_rgb,
)
from tapeflow.image import resize_with_crop_or_pad as resize_image_with_crop_or_pad
from tapeflow.image import transpose as transpose_image
from tapeflow.ops.image.bounding_box import draw_bounding_boxes_v1 as draw_bounding_boxes
from tapeflow.ops.image.bounding_box import (
    sample_distorted_bounding_box_v1 as sample_distorted_bounding_box,
)
from tapeflow.ops.image.crop import crop_and_resize_v1 as crop_and_resize
from tapeflow.ops.image.crop import extract_glimpse_v1 as extract_glimpse
from tapeflow.ops.image.crop import extract_image_patches_v1 as extract_image_patches
from tapeflow.ops.image.geometry import ResizeMethodV1 as ResizeMethod
from tapeflow.ops.image.geometry import (
    resize_area,
    resize_bicubic,
    resize_bilinear,
    resize_nearest_neighbor,
)
from tapeflow.ops.image.geometry import resize_v1 as resize
from tapeflow.ops.image.geometry import resize_v1 as resize_images
from tapeflow.ops.image.geometry import resize_with_pad_v1 as resize_image_with_pad

__all__ = [
    "ResizeMethod", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue",
    "adjust_jpeg_quality", "adjust_saturation", "central_crop", "combined_non_max_suppression",
    "convert_image_dtype", "crop_and_resize", "crop_to_bounding_box", "decode_and_crop_jpeg",
    "decode_bmp", "decode_gif", "decode_image", "decode_jpeg", "decode_png", "decode_webp",
    "draw_bounding_boxes", "encode_jpeg", "encode_png", "extract_glimpse",
    "extract_image_patches", "extract_jpeg_shape", "extract_patches", "flip_left_right",
    "flip_up_down", "grayscale_to_rgb", "hsv_to_rgb", "image_gradients", "is_jpeg",
    "non_max_suppression", "non_max_suppression_overlaps", "non_max_suppression_padded",
    "non_max_suppression_with_scores", "pad_to_bounding_box", "per_image_standardization", "psnr",
    "random_brightness", "random_contrast", "random_crop", "random_flip_left_right",
    "random_flip_up_down", "random_hue", "random_jpeg_quality", "random_saturation", "resize",
    "resize_area", "resize_bicubic", "resize_bilinear", "resize_image_with_crop_or_pad",
    "resize_image_with_pad", "resize_images", "resize_nearest_neighbor",
    "resize_with_crop_or_pad", "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq", "rgb_to_yuv",
    "rot90", "sample_distorted_bounding_box", "sobel_edges", "ssim", "ssim_multiscale",
    "total_variation", "transpose", "transpose_image", "yiq_to_rgb", "yuv_to_rgb",
]  # fmt: skip
