"""JPEG as tensors and tensors as JPEG, through Pillow."""

from __future__ import annotations

import io
import struct
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.control.mapping import map_fn
from tapeflow.ops.image.adjusting import convert_image_dtype
from tapeflow.ops.image.decoding import SEVERAL, decoded, picture_rule
from tapeflow.ops.image.files import as_contents, content_of, format_of, opened, pillow
from tapeflow.ops.image.png import require_picture
from tapeflow.ops.image.png_format import png_bytes
from tapeflow.ops.image.samples import GRAY_JPEG, PICTURE, bad_contents
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.signature import dtype, one_of
from tapeflow.ops.string.rows import substr
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_JPEG: dict[str, Any] = {
    "channels": 0,
    "ratio": 1,
    "fancy_upscaling": True,
    "try_recover_truncated": False,
    "acceptable_fraction": 1.0,
    "dct_method": "",
}


def _check_jpeg(ratio: int, dct_method: str, channels: int) -> None:
    if channels not in (0, 1, 3):
        raise invalid(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")


@op("DecodeJpeg", "contents: string -> image: uint8", attrs=_JPEG, ranks="contents: 0",
    shape=picture_rule)
def DecodeJpeg(
    xp: ModuleType, contents: Array, channels: int, ratio: int, fancy_upscaling: bool, try_recover_truncated: bool,
    acceptable_fraction: float, dct_method: str,
):
    _check_jpeg(ratio, dct_method, channels)
    recover = try_recover_truncated or acceptable_fraction < 1
    return decoded(contents, channels, dtypes.uint8, "DecodeJpeg", SEVERAL, False, ratio, recover)


@DecodeJpeg.samples
def _(rng: SampleGenerator):
    yield Sample(as_contents(png_bytes(PICTURE, 6)), expect=PICTURE)
    yield Sample(as_contents(png_bytes(PICTURE, 6)), ratio=3, raises=InvalidArgumentError)
    yield Sample(as_contents(png_bytes(PICTURE, 6)), dct_method="SLOW", raises=InvalidArgumentError)
    yield from bad_contents()


def _crop_rule(call: ShapeCall):
    shapes.exactly(shapes.vector_length(call, 1), 4)
    window = shapes.vector_value(call, 1)
    channels = call.attr("channels") or None
    return [(None, None, channels) if window is None else (*window[2:], channels)]


@op("DecodeAndCropJpeg", "contents: string, crop_window: int32 -> image: uint8", attrs=_JPEG,
    ranks="contents: 0",
    shape=_crop_rule)  # fmt: skip
def DecodeAndCropJpeg(xp: ModuleType, contents: Array, crop_window: Array, **attrs):
    if crop_window.shape != (4,):
        raise invalid(f"crop_window must have four elements {shape_text(crop_window.shape)}")
    if format_of(content_of(contents)) != "JPEG":
        raise invalid("DecodeAndCropJpeg operation can run on JPEG only")
    whole = DecodeJpeg.kernel(xp, contents, **attrs)
    top, left, height, width = (int(v) for v in crop_window)
    fits = top >= 0 and left >= 0 and top + height <= len(whole) and left + width <= whole.shape[1]
    if not fits or height <= 0 or width <= 0:
        raise invalid(
            f"Invalid JPEG data or crop window: [{top}, {left}, {height}, {width}] for an image of "
            f"{whole.shape[0]} x {whole.shape[1]}"
        )
    return whole[top : top + height, left : left + width]


@DecodeAndCropJpeg.samples
def _(rng: SampleGenerator):
    window = np.array([0, 0, 1, 1], np.int32)
    # One gray pixel.
    yield Sample(as_contents(GRAY_JPEG), window, expect=np.array([[[128]]], np.uint8))
    yield Sample(as_contents(GRAY_JPEG), window + 1, raises=InvalidArgumentError)
    yield Sample(as_contents(GRAY_JPEG), window[:3], raises=InvalidArgumentError)
    yield Sample(as_contents(b"no image"), window, raises=InvalidArgumentError)


_ENCODING: dict[str, Any] = {
    "format": one_of("", "grayscale", "rgb")(""),
    "quality": 95,
    "progressive": False,
    "optimize_size": False,
    "chroma_downsampling": True,
    "density_unit": one_of("in", "cm")("in"),
    "x_density": 300,
    "y_density": 300,
    "xmp_metadata": "",
}


def _jpeg_bytes(image: Any, quality: int, **options) -> bytes:
    if not 0 <= quality <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    picture = pillow()[0].fromarray(image[..., 0] if image.shape[2] == 1 else image)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=quality, **options)
    return out.getvalue()


def _with_density(contents: bytes, unit: str, x: int, y: int) -> bytes:
    """A file with `x` and `y`, 16 bits each, in its JFIF header, the first segment; Pillow writes positive dpi only."""
    density = struct.pack(">BHH", 1 if unit == "in" else 2, x & 0xFFFF, y & 0xFFFF)
    return contents[:13] + density + contents[18:]


@op("EncodeJpeg", "image: uint8 -> contents: string", attrs=_ENCODING, shape=shapes.scalar)
def EncodeJpeg(
    xp: ModuleType, image: Array, format: str, quality: int, progressive: bool, optimize_size: bool,
    chroma_downsampling: bool, density_unit: str, x_density: int, y_density: int, xmp_metadata: str,
):
    depths = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}[format]
    require_picture(image, depths)
    options: dict[str, Any] = {"xmp": xmp_metadata} if xmp_metadata else {}
    contents = _jpeg_bytes(
        image,
        quality,
        progressive=progressive,
        optimize=optimize_size,
        subsampling=2 if chroma_downsampling else 0,
        **options,
    )
    return as_contents(_with_density(contents, density_unit, x_density, y_density))


@EncodeJpeg.samples
def _(rng: SampleGenerator):
    yield Sample(PICTURE, quality=101, raises=InvalidArgumentError)
    yield Sample(PICTURE, format="grayscale", raises=InvalidArgumentError)
    yield Sample(PICTURE[..., :2], raises=InvalidArgumentError)
    yield Sample(PICTURE[0], raises=InvalidArgumentError)
    yield Sample(PICTURE[:, :0], raises=InvalidArgumentError)


@EncodeJpeg.reference
def _(image: np.ndarray, quality: int, **attrs):
    return as_contents(_jpeg_bytes(image, quality, subsampling=2, dpi=(300, 300)))


@op("EncodeJpegVariableQuality", "images: uint8, quality: int32 -> contents: string",
    shape=shapes.scalar)  # fmt: skip
def EncodeJpegVariableQuality(xp: ModuleType, images: Array, quality: Array):
    if quality.ndim:
        raise invalid(f"quality must be scalar: {shape_text(quality.shape)}")
    require_picture(images, (1, 3))
    return as_contents(_jpeg_bytes(images, int(quality), subsampling=2, dpi=(300, 300)))


@EncodeJpegVariableQuality.samples
def _(rng: SampleGenerator):
    quality = np.array(50, np.int32)
    yield Sample(PICTURE, quality + 60, raises=InvalidArgumentError)
    yield Sample(PICTURE[0], quality, raises=InvalidArgumentError)
    yield Sample(PICTURE, quality[None], raises=InvalidArgumentError)


@EncodeJpegVariableQuality.reference
def _(images: np.ndarray, quality: np.ndarray):
    return as_contents(_jpeg_bytes(images, int(quality), subsampling=2, dpi=(300, 300)))


@op("ExtractJpegShape", "contents: string -> image_shape: output_type",
    attrs={"output_type": dtype(dtypes.int32)}, ranks="contents: 0",
    shape=shapes.fixed((3,)))  # fmt: skip
def ExtractJpegShape(xp: ModuleType, contents: Array, output_type: DType):
    data = content_of(contents)
    if not data.startswith(b"\xff\xd8\xff"):
        raise invalid(f"Invalid JPEG data, size {len(data)}")
    image = opened(data)
    width, height = image.size
    return np.array([height, width, len(image.getbands())], output_type.as_numpy_dtype)


@ExtractJpegShape.samples
def _(rng: SampleGenerator):
    yield Sample(as_contents(GRAY_JPEG), expect=np.array([1, 1, 1], np.int32))
    yield Sample(as_contents(GRAY_JPEG), output_type=dtypes.int64, expect=np.array([1, 1, 1]))
    yield Sample(as_contents(b"no image"), raises=InvalidArgumentError)


DecodeJpeg.gradient(None)
DecodeAndCropJpeg.gradient(None)
EncodeJpeg.gradient(None)
EncodeJpegVariableQuality.gradient(None)
ExtractJpegShape.gradient(None)


@api("image.decode_jpeg", "io.decode_jpeg")
@tensor_function
def decode_jpeg(
    contents: TensorLike, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
    try_recover_truncated: bool = False, acceptable_fraction: TensorLike = 1, dct_method: str = "",
    name: str | None = None,
):
    """Decode a JPEG.

    Args:
      contents: the bytes of the file, a scalar string.
      channels: 1 or 3 for gray and RGB; 0 for as many as the file has.
      ratio: 1, 2, 4 or 8: the result is smaller by it.
      fancy_upscaling, dct_method: hints of TensorFlow that change nothing: colours are always spread smoothly, by the
        exact transform.
      try_recover_truncated: whether the rest of a file that ends too early is filled up, instead of being an error.
      acceptable_fraction: accepted; what part of the file has to be there.
      name: the name of the operation in a graph.

    Returns:
      A uint8 tensor `(height, width, channels)`.

    Raises:
      InvalidArgumentError: for bytes that are no JPEG.
    """
    return DecodeJpeg(contents, channels, ratio, fancy_upscaling, try_recover_truncated,
                      acceptable_fraction, dct_method)  # fmt: skip


@api("image.decode_and_crop_jpeg", "io.decode_and_crop_jpeg")
@tensor_function
def decode_and_crop_jpeg(
    contents: TensorLike, crop_window, channels: IntLike = 0, ratio: int = 1, fancy_upscaling: bool = True,
    try_recover_truncated: bool = False, acceptable_fraction: int = 1, dct_method: str = "", name: str | None = None,
):
    """Decode a window of a JPEG.

    Args:
      contents: the bytes of the file, a scalar string.
      crop_window: [top, left, height, width], int32.
      channels: 1 or 3 for gray and RGB; 0 for as many as the file has.
      ratio: 1, 2, 4 or 8: the image is made smaller by it before.
      fancy_upscaling, dct_method: hints of TensorFlow that change nothing: colours are always spread smoothly, by the
        exact transform.
      try_recover_truncated: whether the rest of a file that ends too early is filled up, instead of being an error.
      acceptable_fraction: accepted; what part of the file has to be there.
      name: the name of the operation in a graph.

    Returns:
      A uint8 tensor `(height, width, channels)`.

    Raises:
      InvalidArgumentError: for bytes that are no JPEG, and a window that is not inside of the image.
    """
    return DecodeAndCropJpeg(contents, crop_window, channels, ratio, fancy_upscaling, try_recover_truncated,
                             acceptable_fraction, dct_method)  # fmt: skip


@api("image.encode_jpeg", "io.encode_jpeg")
@tensor_function
def encode_jpeg(
    image: TensorLike, format: str = "", quality: int = 95, progressive: bool = False, optimize_size: bool = False,
    chroma_downsampling: bool = True, density_unit: str = "in", x_density: int = 300, y_density: int = 300,
    xmp_metadata: str = "", name: str | None = None,
):
    """Encode an image as JPEG.

    Args:
      image: a uint8 tensor `(height, width, 1 or 3)`.
      format: "grayscale", "rgb", or "" for what the channels say.
      quality: from 0 to 100.
      progressive: whether the file shows the image in steps.
      optimize_size: whether more time is spent to make the file smaller.
      chroma_downsampling: whether colours have half the resolution.
      density_unit: "in" or "cm", the unit of the next two.
      x_density: pixels per unit along the width.
      y_density: pixels per unit along the height.
      xmp_metadata: XMP metadata that go into the file.
      name: the name of the operation in a graph.

    Returns:
      The bytes of the file, a scalar string.

    >>> contents = tf.io.encode_jpeg(tf.zeros([4, 6, 3], tf.uint8))
    >>> print(tf.io.decode_jpeg(contents).shape)
    (4, 6, 3)
    """
    return EncodeJpeg(image, format, quality, progressive, optimize_size, chroma_downsampling, density_unit,
                      x_density, y_density, xmp_metadata)  # fmt: skip


@api("image.is_jpeg", "io.is_jpeg")
@tensor_function
def is_jpeg(contents: TensorLike, name: str | None = None):
    """Whether the bytes begin as a JPEG does."""
    return equal(substr(contents, 0, 3), b"\xff\xd8\xff")


@api("image.extract_jpeg_shape", "io.extract_jpeg_shape")
@tensor_function
def extract_jpeg_shape(contents: TensorLike, output_type: DTypeLike = dtypes.int32, name: str | None = None):
    """Read the shape of a JPEG, without decoding it.

    Args:
      contents: the bytes of the file, a scalar string.
      output_type: int32 or int64.
      name: the name of the operation in a graph.

    Returns:
      A vector of height, width and channels.
    """
    return ExtractJpegShape(contents, output_type)


@api("image.adjust_jpeg_quality")
@tensor_function
def adjust_jpeg_quality(image: TensorLike, jpeg_quality, dct_method: str = "", name: str | None = None):
    """Encode RGB images as JPEG of a quality, and decode them again.

    Args:
      image: an image `(height, width, 3)`, or a batch of these.
      jpeg_quality: from 0 to 100.
      dct_method: a hint of TensorFlow that changes nothing.
      name: the name of the operation in a graph.

    Returns:
      A tensor of the shape and dtype of the image.
    """
    image = convert_to_tensor(image)
    original = image.dtype
    small = convert_image_dtype(image, dtypes.uint8, saturate=True)
    quality = cast(jpeg_quality, dtypes.int32)

    def coded(one):
        channels = one.shape[-1] if one.shape.rank is not None else None
        contents = EncodeJpegVariableQuality(one, quality)
        return decode_jpeg(contents, channels or 0, dct_method=dct_method)

    out = map_fn(coded, small) if image.shape.rank == 4 else coded(small)
    return convert_image_dtype(out, original, saturate=True)
