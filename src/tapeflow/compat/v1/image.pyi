# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.image.adjusting import adjust_brightness as adjust_brightness
from tapeflow.ops.image.adjusting import adjust_contrast as adjust_contrast
from tapeflow.ops.image.adjusting import adjust_gamma as adjust_gamma
from tapeflow.ops.image.adjusting import adjust_hue as adjust_hue
from tapeflow.ops.image.adjusting import adjust_saturation as adjust_saturation
from tapeflow.ops.image.adjusting import convert_image_dtype as convert_image_dtype
from tapeflow.ops.image.adjusting import per_image_standardization as per_image_standardization
from tapeflow.ops.image.bmp import decode_bmp as decode_bmp
from tapeflow.ops.image.bounding_box import draw_bounding_boxes_v1 as draw_bounding_boxes
from tapeflow.ops.image.color import hsv_to_rgb as hsv_to_rgb
from tapeflow.ops.image.color import rgb_to_hsv as rgb_to_hsv
from tapeflow.ops.image.color_spaces import grayscale_to_rgb as grayscale_to_rgb
from tapeflow.ops.image.color_spaces import rgb_to_grayscale as rgb_to_grayscale
from tapeflow.ops.image.color_spaces import rgb_to_yiq as rgb_to_yiq
from tapeflow.ops.image.color_spaces import rgb_to_yuv as rgb_to_yuv
from tapeflow.ops.image.color_spaces import yiq_to_rgb as yiq_to_rgb
from tapeflow.ops.image.color_spaces import yuv_to_rgb as yuv_to_rgb
from tapeflow.ops.image.crop import crop_and_resize_v1 as crop_and_resize
from tapeflow.ops.image.decoding import decode_image as decode_image
from tapeflow.ops.image.distorted_boxes import sample_distorted_bounding_box_v1 as sample_distorted_bounding_box
from tapeflow.ops.image.geometry import central_crop as central_crop
from tapeflow.ops.image.geometry import crop_to_bounding_box as crop_to_bounding_box
from tapeflow.ops.image.geometry import flip_left_right as flip_left_right
from tapeflow.ops.image.geometry import flip_up_down as flip_up_down
from tapeflow.ops.image.geometry import pad_to_bounding_box as pad_to_bounding_box
from tapeflow.ops.image.geometry import resize_with_crop_or_pad as resize_image_with_crop_or_pad
from tapeflow.ops.image.geometry import resize_with_crop_or_pad as resize_with_crop_or_pad
from tapeflow.ops.image.geometry import rot90 as rot90
from tapeflow.ops.image.geometry import transpose as transpose
from tapeflow.ops.image.geometry import transpose as transpose_image
from tapeflow.ops.image.gif import decode_gif as decode_gif
from tapeflow.ops.image.glimpses import extract_glimpse_v1 as extract_glimpse
from tapeflow.ops.image.jpeg import adjust_jpeg_quality as adjust_jpeg_quality
from tapeflow.ops.image.jpeg import decode_and_crop_jpeg as decode_and_crop_jpeg
from tapeflow.ops.image.jpeg import decode_jpeg as decode_jpeg
from tapeflow.ops.image.jpeg import encode_jpeg as encode_jpeg
from tapeflow.ops.image.jpeg import extract_jpeg_shape as extract_jpeg_shape
from tapeflow.ops.image.jpeg import is_jpeg as is_jpeg
from tapeflow.ops.image.patches import extract_image_patches_v1 as extract_image_patches
from tapeflow.ops.image.patches import extract_patches as extract_patches
from tapeflow.ops.image.png import decode_png as decode_png
from tapeflow.ops.image.png import encode_png as encode_png
from tapeflow.ops.image.quality import image_gradients as image_gradients
from tapeflow.ops.image.quality import psnr as psnr
from tapeflow.ops.image.quality import sobel_edges as sobel_edges
from tapeflow.ops.image.quality import ssim as ssim
from tapeflow.ops.image.quality import ssim_multiscale as ssim_multiscale
from tapeflow.ops.image.quality import total_variation as total_variation
from tapeflow.ops.image.random import random_brightness as random_brightness
from tapeflow.ops.image.random import random_contrast as random_contrast
from tapeflow.ops.image.random import random_flip_left_right as random_flip_left_right
from tapeflow.ops.image.random import random_flip_up_down as random_flip_up_down
from tapeflow.ops.image.random import random_hue as random_hue
from tapeflow.ops.image.random import random_jpeg_quality as random_jpeg_quality
from tapeflow.ops.image.random import random_saturation as random_saturation
from tapeflow.ops.image.resizing import ResizeMethodV1 as ResizeMethod
from tapeflow.ops.image.resizing import resize_area as resize_area
from tapeflow.ops.image.resizing import resize_bicubic as resize_bicubic
from tapeflow.ops.image.resizing import resize_bilinear as resize_bilinear
from tapeflow.ops.image.resizing import resize_nearest_neighbor as resize_nearest_neighbor
from tapeflow.ops.image.resizing import resize_v1 as resize
from tapeflow.ops.image.resizing import resize_v1 as resize_images
from tapeflow.ops.image.resizing import resize_with_pad_v1 as resize_image_with_pad
from tapeflow.ops.image.suppression_functions import combined_non_max_suppression as combined_non_max_suppression
from tapeflow.ops.image.suppression_functions import non_max_suppression as non_max_suppression
from tapeflow.ops.image.suppression_functions import non_max_suppression_overlaps as non_max_suppression_overlaps
from tapeflow.ops.image.suppression_functions import non_max_suppression_padded as non_max_suppression_padded
from tapeflow.ops.image.suppression_functions import non_max_suppression_with_scores as non_max_suppression_with_scores
from tapeflow.ops.image.webp import decode_webp as decode_webp
from tapeflow.ops.random.functions import random_crop as random_crop
__all__ = [
    "ResizeMethod",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_jpeg_quality",
    "adjust_saturation",
    "central_crop",
    "combined_non_max_suppression",
    "convert_image_dtype",
    "crop_and_resize",
    "crop_to_bounding_box",
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "decode_webp",
    "draw_bounding_boxes",
    "encode_jpeg",
    "encode_png",
    "extract_glimpse",
    "extract_image_patches",
    "extract_jpeg_shape",
    "extract_patches",
    "flip_left_right",
    "flip_up_down",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "image_gradients",
    "is_jpeg",
    "non_max_suppression",
    "non_max_suppression_overlaps",
    "non_max_suppression_padded",
    "non_max_suppression_with_scores",
    "pad_to_bounding_box",
    "per_image_standardization",
    "psnr",
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_jpeg_quality",
    "random_saturation",
    "resize",
    "resize_area",
    "resize_bicubic",
    "resize_bilinear",
    "resize_image_with_crop_or_pad",
    "resize_image_with_pad",
    "resize_images",
    "resize_nearest_neighbor",
    "resize_with_crop_or_pad",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "rot90",
    "sample_distorted_bounding_box",
    "sobel_edges",
    "ssim",
    "ssim_multiscale",
    "total_variation",
    "transpose",
    "transpose_image",
    "yiq_to_rgb",
    "yuv_to_rgb",
]
