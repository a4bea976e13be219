"""Images as bytes: PNG, JPEG, GIF, BMP and WebP, read and written through Pillow; PNG is written without it."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.ops import shapes
from tapeflow.ops.casting import cast
from tapeflow.ops.comparison import equal
from tapeflow.ops.image_color import convert_image_dtype
from tapeflow.ops.mapping import map_fn
from tapeflow.ops.strings import substr
from tapeflow.ops.table import Sample, dtype, one_of, op
from tapeflow.ops.validate import invalid, shape_text

_PNG = b"\x89PNG\r\n\x1a\n"
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_FORMATS = ((b"\xff\xd8\xff", "JPEG"), (_PNG, "PNG"), (b"GIF8", "GIF"), (b"BM", "BMP"))


def _pillow() -> Any:
    try:
        from PIL import Image, ImageFile
    except ImportError as error:
        raise ImportError(
            "Decoding images and encoding JPEG need Pillow: pip install pillow"
        ) from error
    return Image, ImageFile


def _format_of(contents: bytes) -> str:
    for start, name in _FORMATS:
        if contents.startswith(start):
            return name
    if contents[:4] == b"RIFF" and contents[8:12] == b"WEBP":
        return "WEBP"
    raise invalid("Unknown image file format. One of JPEG, PNG, GIF, BMP required.")


def _content(contents) -> bytes:
    if np.ndim(contents):
        raise invalid(f"contents must be scalar but got shape{shape_text(np.shape(contents))}")
    return bytes(contents[()] if isinstance(contents, np.ndarray) else contents)


def _opened(contents: bytes):
    try:
        return _pillow()[0].open(io.BytesIO(contents))
    except ImportError:
        raise
    except Exception as error:
        raise invalid(
            f"Invalid {_format_of(contents)} data, size {len(contents)}: {error}"
        ) from None


def _loaded(image, kind: str, recover: bool = False):
    file = _pillow()[1]
    before = file.LOAD_TRUNCATED_IMAGES
    try:
        file.LOAD_TRUNCATED_IMAGES = recover
        image.load()
    except Exception as error:
        raise invalid(f"Invalid {kind} data: {error}") from None
    finally:
        file.LOAD_TRUNCATED_IMAGES = before
    return image


def _pixels(image, channels: int) -> np.ndarray:
    """[height, width, channels] of uint8; as many channels as the file has where `channels` is 0."""
    if not channels:
        bands = 4 if image.mode == "P" and "transparency" in image.info else len(image.getbands())
        channels = max(bands, 3) if image.mode in ("P", "CMYK", "YCbCr") else bands
        channels = 3 if image.mode == "CMYK" else channels
    if image.mode.startswith("I"):  # 16 bits of gray
        image = np.asarray(image) >> 8
        image = _pillow()[0].fromarray(image.astype(np.uint8))
    array = np.asarray(image.convert(_MODES[channels]))
    return array.reshape(*array.shape[:2], channels)


def _deep_png(contents: bytes) -> np.ndarray | None:
    """The samples of a PNG of 16 bits (uint16), which Pillow would cut to 8; None for another one."""
    if len(contents) < 33 or contents[24] != 16 or contents[28]:
        return None
    width, height, _, kind = struct.unpack(">IIBB", contents[16:26])
    depth = {0: 1, 2: 3, 4: 2, 6: 4}.get(kind)
    parts, at = [], 8
    while at + 8 <= len(contents):
        (length,) = struct.unpack(">I", contents[at : at + 4])
        if contents[at + 4 : at + 8] == b"IDAT":
            parts.append(contents[at + 8 : at + 8 + length])
        at += length + 12
    if depth is None or not 0 < width * height * depth <= 2**28:
        return None
    stride = width * depth * 2
    expander = zlib.decompressobj()
    try:
        data = expander.decompress(b"".join(parts), height * (stride + 1))
    except zlib.error as error:
        raise invalid(f"Invalid PNG data: {error}") from None
    if len(data) < height * (stride + 1):
        raise invalid("Invalid PNG data: it ends too early")
    rows = np.frombuffer(data, np.uint8).reshape(height, stride + 1)
    out = np.zeros((height + 1, stride), np.uint8)
    for y in range(height):
        _unfiltered(int(rows[y, 0]), rows[y, 1:], out[y], out[y + 1], depth * 2)
    return out[1:].copy().view(">u2").astype(np.uint16).reshape(height, width, depth)


def _unfiltered(method: int, line, above, out, step: int) -> None:
    """PNG (third edition), section 9: undo the filter of one line into `out`."""
    if method == 0:
        out[:] = line
    elif method == 2:
        out[:] = line + above
    elif method == 1:
        pixels = line.reshape(-1, step)
        out[:] = np.cumsum(pixels, 0, dtype=np.uint8).reshape(-1)
    else:
        for i in range(len(line)):
            a = int(out[i - step]) if i >= step else 0
            b, c = int(above[i]), int(above[i - step]) if i >= step else 0
            if method == 3:
                guess = (a + b) // 2
            else:
                p = a + b - c
                guess = min((a, b, c), key=lambda v: abs(p - v))
            out[i] = (int(line[i]) + guess) & 255


def _frames(image, channels: int) -> np.ndarray:
    from PIL import ImageSequence

    try:
        return np.stack(
            [_pixels(f.convert("RGB"), channels or 3) for f in ImageSequence.Iterator(image)]
        )
    except Exception as error:
        raise invalid(f"Invalid GIF data: {error}") from None


def _scaled(array, kind, png: bool = False) -> np.ndarray:
    """8 or 16 bits as the dtype that was asked for: PNG widens by repeating bits, other formats by shifting."""
    deep = array.dtype == np.uint16
    if kind == dtypes.float32 and png:
        wide = array if deep else array.astype(np.uint16) * np.uint16(257)
        return wide * np.float32(1 / 65535)
    if kind == dtypes.float32:
        return array * np.float32(1 / 255)
    if kind == dtypes.uint16:
        return array if deep else array.astype(np.uint16) * np.uint16(257 if png else 256)
    return (array >> 8).astype(np.uint8) if deep else array


def _decoded(contents, channels, kind, name, allowed, animated=False, ratio=1, recover=False):
    data = _content(contents)
    form = _format_of(data)
    if form not in allowed:
        own = f"decode_{form.lower()}"
        raise invalid(
            f"Trying to decode {form} format using a wrong op. Use `{own}` or `decode_image` instead. Op used: {name}"
        )
    if channels not in (
        (0, 3, 4) if form == "BMP" else (0, 1, 3) if form == "JPEG" else (0, 1, 3, 4)
    ):
        raise invalid(f"channels must be 0, 1, 3, or 4, got {channels}")
    if form == "PNG":
        deep = _deep_png(data)
        if deep is not None:
            return _scaled(_with_channels(deep, channels), kind, True)
    image = _opened(data)
    if form == "GIF":
        frames = _frames(image, 3)
        if animated:
            return _scaled(frames, kind)
        return _scaled(frames[0], kind)
    if ratio > 1:
        size = tuple(-(-n // ratio) for n in image.size)
        image.draft(None, size)
        image = _loaded(image, form, recover)
        if image.size != size:
            image = image.resize(size)
    return _scaled(_pixels(_loaded(image, form, recover), channels), kind, form == "PNG")


def _with_channels(array, channels: int) -> np.ndarray:
    depth = array.shape[2]
    if channels in (0, depth):
        return array
    gray, alpha = array[..., :1], array[..., -1:] if depth in (2, 4) else None
    color = array[..., :3] if depth >= 3 else np.repeat(gray, 3, 2)
    if channels == 1:
        luma = color.astype(np.float64) @ [0.299, 0.587, 0.114]
        return luma.round().astype(np.uint16)[..., None] if depth >= 3 else gray
    if channels == 3:
        return color
    return np.concatenate([color, np.full_like(gray, 65535) if alpha is None else alpha], 2)


def _rule(call):
    return [(None, None, call.attr("channels") or None)]


_SEVERAL = ("JPEG", "PNG", "GIF")
_JPEG: dict[str, Any] = {
    "channels": 0,
    "ratio": 1,
    "fancy_upscaling": True,
    "try_recover_truncated": False,
    "acceptable_fraction": 1.0,
    "dct_method": "",
}


def _check_jpeg(ratio, dct_method, channels) -> None:
    if channels not in (0, 1, 3):
        raise invalid(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")


# Samples are written here by hand, so that they do not depend on an encoder.
_PICTURE = (np.arange(2 * 3 * 3) * 13).astype(np.uint8).reshape(2, 3, 3)


def _bmp(array) -> bytes:
    """A BMP of 24 bits."""
    height, width, _ = array.shape
    pad = b"\0" * (-width * 3 % 4)
    body = b"".join(row[:, ::-1].tobytes() + pad for row in array[::-1])
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(body), 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(body), 0, 0, 54) + head + body


def _bytes(value: bytes) -> np.ndarray:
    return np.array(value, object)


def _bad_contents(**attrs):
    good = png_bytes(_PICTURE, 6)
    yield Sample(_bytes(b"no image"), **attrs, raises=InvalidArgumentError)
    yield Sample(_bytes(good[:40]), **attrs, raises=InvalidArgumentError)
    yield Sample(np.array([good], object), **attrs, raises=InvalidArgumentError)
    yield Sample(_bytes(b"\xff\xd8\xff\xe0 short"), **attrs, raises=InvalidArgumentError)


@op("DecodePng", "contents: string -> image: dtype",
    attrs={"channels": 0, "dtype": dtype(dtypes.uint8)}, shape=_rule)  # fmt: skip
def DecodePng(xp, contents, channels, dtype):
    return _decoded(contents, channels, dtype, "DecodePng", _SEVERAL)


@DecodePng.samples
def _(rng):
    data = _bytes(png_bytes(_PICTURE, 6))
    yield Sample(data, expect=_PICTURE)
    yield Sample(data, dtype=dtypes.uint16, expect=_PICTURE.astype(np.uint16) * 257)
    yield Sample(_bytes(png_bytes(_PICTURE[..., :1], 1)), expect=_PICTURE[..., :1])
    alpha = np.concatenate([_PICTURE, np.full((2, 3, 1), 255, np.uint8)], 2)
    yield Sample(data, channels=4, expect=alpha)
    deep = _PICTURE.astype(np.uint16) * 300
    yield Sample(_bytes(png_bytes(deep, 6)), dtype=dtypes.uint16, expect=deep)
    yield Sample(_bytes(png_bytes(deep, 6)), expect=(deep >> 8).astype(np.uint8))
    yield Sample(_bytes(_bmp(_PICTURE)), raises=InvalidArgumentError)
    yield Sample(data, channels=5, raises=InvalidArgumentError)
    yield from _bad_contents()


@op("DecodeJpeg", "contents: string -> image: uint8", attrs=_JPEG, shape=_rule)
def DecodeJpeg(
    xp,
    contents,
    channels,
    ratio,
    fancy_upscaling,
    try_recover_truncated,
    acceptable_fraction,
    dct_method,
):
    _check_jpeg(ratio, dct_method, channels)
    recover = try_recover_truncated or acceptable_fraction < 1
    return _decoded(contents, channels, dtypes.uint8, "DecodeJpeg", _SEVERAL, False, ratio, recover)


@DecodeJpeg.samples
def _(rng):
    yield Sample(_bytes(png_bytes(_PICTURE, 6)), expect=_PICTURE)
    yield Sample(_bytes(png_bytes(_PICTURE, 6)), ratio=3, raises=InvalidArgumentError)
    yield Sample(_bytes(png_bytes(_PICTURE, 6)), dct_method="SLOW", raises=InvalidArgumentError)
    yield from _bad_contents()


@op("DecodeAndCropJpeg", "contents: string, crop_window: int32 -> image: uint8", attrs=_JPEG,
    shape=_rule)  # fmt: skip
def DecodeAndCropJpeg(xp, contents, crop_window, **attrs):
    if crop_window.shape != (4,):
        raise invalid(f"crop_window must have four elements {shape_text(crop_window.shape)}")
    if _format_of(_content(contents)) != "JPEG":
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
def _(rng):
    window = np.array([0, 0, 1, 1], np.int32)
    # One gray pixel.
    yield Sample(_bytes(_GRAY_JPEG), window, expect=np.array([[[128]]], np.uint8))
    yield Sample(_bytes(_GRAY_JPEG), window + 1, raises=InvalidArgumentError)
    yield Sample(_bytes(_GRAY_JPEG), window[:3], raises=InvalidArgumentError)
    yield Sample(_bytes(b"no image"), window, raises=InvalidArgumentError)


@op("DecodeGif", "contents: string -> image: uint8", shape=shapes.fixed((None, None, None, 3)))
def DecodeGif(xp, contents):
    data = _content(contents)
    form = _format_of(data)
    if form == "GIF":
        return _frames(_opened(data), 3)
    return _decoded(data, 3, dtypes.uint8, "DecodeGif", _SEVERAL)[None]


@DecodeGif.samples
def _(rng):
    yield Sample(_bytes(_GIF), expect=np.array([[[[255, 255, 255]]]], np.uint8))
    yield Sample(_bytes(png_bytes(_PICTURE, 6)), expect=_PICTURE[None])
    yield Sample(_bytes(_GIF[:20]), raises=InvalidArgumentError)
    yield from _bad_contents()


@op("DecodeBmp", "contents: string -> image: uint8", attrs={"channels": 0}, shape=_rule)
def DecodeBmp(xp, contents, channels):
    data = _content(contents)
    if not data.startswith(b"BM"):
        raise invalid(
            "Trying to decode a file that is no BMP using `decode_bmp`. Op used: DecodeBmp"
        )
    out = _decoded(data, 0, dtypes.uint8, "DecodeBmp", ("BMP",))
    if channels not in (0, out.shape[2]):
        raise invalid(
            f"channels attribute {channels} does not match bits per pixel from file {out.shape[2]}"
        )
    return out


@DecodeBmp.samples
def _(rng):
    yield Sample(_bytes(_bmp(_PICTURE)), expect=_PICTURE)
    yield Sample(_bytes(_bmp(_PICTURE)), channels=1, raises=InvalidArgumentError)
    yield Sample(_bytes(_bmp(_PICTURE)[:30]), raises=InvalidArgumentError)
    yield from _bad_contents()


@op("DecodeImage", "contents: string -> image: dtype",
    attrs={"channels": 0, "dtype": dtype(dtypes.uint8), "expand_animations": True},
    shape=shapes.unknown)  # fmt: skip
def DecodeImage(xp, contents, channels, dtype, expand_animations):
    every = (*_SEVERAL, "BMP", "WEBP")
    return _decoded(contents, channels, dtype, "DecodeImage", every, expand_animations)


@DecodeImage.samples
def _(rng):
    yield Sample(_bytes(png_bytes(_PICTURE, 6)), expect=_PICTURE)
    yield Sample(_bytes(_bmp(_PICTURE)), expect=_PICTURE)
    white = np.full((1, 1, 1, 3), 255, np.uint8)
    yield Sample(_bytes(_GIF), expect=white)
    yield Sample(_bytes(_GIF), expand_animations=False, expect=white[0])
    yield Sample(
        _bytes(png_bytes(_PICTURE, 6)),
        dtype=dtypes.float32,
        expect=_PICTURE.astype(np.float32) / 255,
    )
    yield from _bad_contents()


@op("DecodeWebP", "contents: string -> image: dtype",
    attrs={"channels": 0, "dtype": dtype(dtypes.uint8)}, shape=shapes.unknown)  # fmt: skip
def DecodeWebP(xp, contents, channels, dtype):
    data = _content(contents)
    if _format_of(data) != "WEBP":
        raise invalid("The contents are no WebP image. Op used: DecodeWebP")
    return _decoded(data, channels, dtype, "DecodeWebP", ("WEBP",))[None]


@DecodeWebP.samples
def _(rng):
    gray = np.array([[[[128, 128, 128]]]], np.uint8)
    yield Sample(_bytes(_WEBP), expect=gray)
    yield from _bad_contents()


def png_bytes(array, compression: int) -> bytes:
    """A PNG file of an array [height, width, channels] of uint8 or uint16."""
    height, width, channels = array.shape
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    deep = array.dtype == np.uint16
    data = np.ascontiguousarray(array.astype(">u2" if deep else np.uint8))
    lines = _filtered(data.view(np.uint8).reshape(height, -1), channels * (2 if deep else 1))

    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = struct.pack(">IIBBBBB", width, height, 16 if deep else 8, kind, 0, 0, 0)
    return (
        _PNG
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(lines, compression))
        + chunk(b"IEND", b"")
    )


def _filtered(rows, step: int) -> bytes:
    """The lines of a PNG, each under the filter that leaves the smallest numbers (PNG, third edition, 12.7)."""
    a = np.pad(rows, ((0, 0), (step, 0)))[:, : rows.shape[1]].astype(np.int16)
    b = np.pad(rows, ((1, 0), (0, 0)))[:-1].astype(np.int16)
    c = np.pad(rows, ((1, 0), (step, 0)))[:-1, : rows.shape[1]].astype(np.int16)
    far = [np.abs(a + b - c - v) for v in (a, b, c)]
    paeth = np.where((far[0] <= far[1]) & (far[0] <= far[2]), a, np.where(far[1] <= far[2], b, c))
    guesses = [np.zeros_like(a), a, b, (a + b) // 2, paeth]
    left = [(rows - guess).astype(np.uint8) for guess in guesses]
    size = np.stack([np.abs(x.view(np.int8).astype(np.int32)).sum(1) for x in left])
    best = size.argmin(0)
    return b"".join(bytes([k]) + left[k][y].tobytes() for y, k in enumerate(best.tolist()))


def _require_picture(image, depths, rank=3) -> None:
    if image.ndim != rank:
        raise invalid(f"image must be {rank}-dimensional{shape_text(image.shape)}")
    if 0 in image.shape[:2]:
        raise invalid(f"image must not be empty: {shape_text(image.shape)}")
    if image.shape[2] not in depths:
        raise invalid(
            f"image must have {', '.join(map(str, depths))} channels {shape_text(image.shape)}"
        )


def _png_rule(call):
    shape = call.shape(0)
    return [None if shape is None else shape[:-3]]


@op("EncodePng", "image: T -> contents: string", types={"T": (dtypes.uint8, dtypes.uint16)},
    attrs={"compression": -1}, shape=_png_rule)  # fmt: skip
def EncodePng(xp, image, compression):
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    if image.ndim < 3:
        raise invalid(f"images must have at least rank 3, got {shape_text(image.shape)}")
    out = np.empty(image.shape[:-3], object)
    for at in np.ndindex(*out.shape):
        _require_picture(image[at], (1, 2, 3, 4))
        out[at] = png_bytes(image[at], compression)
    return out


@EncodePng.samples
def _(rng):
    yield Sample(_PICTURE, compression=3, expect=_bytes(png_bytes(_PICTURE, 3)))
    yield Sample(_PICTURE, compression=10, raises=InvalidArgumentError)
    yield Sample(_PICTURE[0], raises=InvalidArgumentError)
    yield Sample(_PICTURE[:0], raises=InvalidArgumentError)
    yield Sample(np.zeros((2, 2, 5), np.uint8), raises=InvalidArgumentError)


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


def _jpeg_bytes(image, quality, **options) -> bytes:
    if not 0 <= quality <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    picture = _pillow()[0].fromarray(image[..., 0] if image.shape[2] == 1 else image)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=quality, **options)
    return out.getvalue()


@op("EncodeJpeg", "image: uint8 -> contents: string", attrs=_ENCODING, shape=shapes.scalar)
def EncodeJpeg(
    xp,
    image,
    format,
    quality,
    progressive,
    optimize_size,
    chroma_downsampling,
    density_unit,
    x_density,
    y_density,
    xmp_metadata,
):
    depths = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}[format]
    _require_picture(image, depths)
    inch = 1 if density_unit == "in" else 2.54
    options: dict[str, Any] = {"xmp": xmp_metadata} if xmp_metadata else {}
    return _bytes(
        _jpeg_bytes(
            image,
            quality,
            progressive=progressive,
            optimize=optimize_size,
            subsampling=2 if chroma_downsampling else 0,
            dpi=(round(x_density * inch), round(y_density * inch)),
            **options,
        )
    )


@EncodeJpeg.samples
def _(rng):
    yield Sample(_PICTURE, quality=101, raises=InvalidArgumentError)
    yield Sample(_PICTURE, format="grayscale", raises=InvalidArgumentError)
    yield Sample(_PICTURE[..., :2], raises=InvalidArgumentError)
    yield Sample(_PICTURE[0], raises=InvalidArgumentError)
    yield Sample(_PICTURE[:, :0], raises=InvalidArgumentError)


@EncodeJpeg.reference
def _(image, quality, **attrs):
    return _bytes(_jpeg_bytes(image, quality, subsampling=2, dpi=(300, 300)))


@op("EncodeJpegVariableQuality", "images: uint8, quality: int32 -> contents: string",
    shape=shapes.scalar)  # fmt: skip
def EncodeJpegVariableQuality(xp, images, quality):
    if quality.ndim:
        raise invalid(f"quality must be scalar: {shape_text(quality.shape)}")
    _require_picture(images, (1, 3))
    return _bytes(_jpeg_bytes(images, int(quality), subsampling=2, dpi=(300, 300)))


@EncodeJpegVariableQuality.samples
def _(rng):
    quality = np.array(50, np.int32)
    yield Sample(_PICTURE, quality + 60, raises=InvalidArgumentError)
    yield Sample(_PICTURE[0], quality, raises=InvalidArgumentError)
    yield Sample(_PICTURE, quality[None], raises=InvalidArgumentError)


@EncodeJpegVariableQuality.reference
def _(images, quality):
    return _bytes(_jpeg_bytes(images, int(quality), subsampling=2, dpi=(300, 300)))


@op("ExtractJpegShape", "contents: string -> image_shape: output_type",
    attrs={"output_type": dtype(dtypes.int32)}, shape=shapes.fixed((3,)))  # fmt: skip
def ExtractJpegShape(xp, contents, output_type):
    data = _content(contents)
    if not data.startswith(b"\xff\xd8\xff"):
        raise invalid(f"Invalid JPEG data, size {len(data)}")
    image = _opened(data)
    width, height = image.size
    return np.array([height, width, len(image.getbands())], output_type.as_numpy_dtype)


@ExtractJpegShape.samples
def _(rng):
    yield Sample(_bytes(_GRAY_JPEG), expect=np.array([1, 1, 1], np.int32))
    yield Sample(_bytes(_GRAY_JPEG), output_type=dtypes.int64, expect=np.array([1, 1, 1]))
    yield Sample(_bytes(b"no image"), raises=InvalidArgumentError)


for _row in (
    DecodePng,
    DecodeJpeg,
    DecodeAndCropJpeg,
    DecodeGif,
    DecodeBmp,
    DecodeImage,
    DecodeWebP,
    EncodePng,
    EncodeJpeg,
    EncodeJpegVariableQuality,
    ExtractJpegShape,
):
    _row.gradient(None)

_GIF = bytes.fromhex(
    "47494638396101000100800000ffffff00000021f90401000001002c00000000010001000002024401003b"
)
_GRAY_JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300100b0c0e0c0a100e0d0e1211101318281a181616183123"
    "251d283a333d3c3933383740485c4e404457453738506d51575f626768673e4d71797064785c656763ffc0000b080001"
    "000101011100ffc40014000100000000000000000000000000000000ffc4001410010000000000000000000000000000"
    "0000ffda0008010100003f003fffd9"
)
_WEBP = bytes.fromhex(
    "524946461e000000574542505650384c110000002f000000000750c00216b0ff8188e87f0000"
)


# Functions


@public
def decode_png(contents, channels=0, dtype=dtypes.uint8, name=None):
    """A PNG as `[height, width, channels]` of uint8 or uint16; channels 0 means as many as the file has."""
    return DecodePng(contents, channels, dtypes.as_dtype(dtype))


@public
def decode_jpeg(
    contents,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    """A JPEG as uint8 `[height, width, channels]`, made smaller by `ratio` (1, 2, 4 or 8)."""
    return DecodeJpeg(contents, channels, ratio, fancy_upscaling, try_recover_truncated,
                      float(acceptable_fraction), dct_method)  # fmt: skip


@public
def decode_and_crop_jpeg(
    contents,
    crop_window,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    """The window [top, left, height, width] of a JPEG."""
    return DecodeAndCropJpeg(contents, crop_window, channels, ratio, fancy_upscaling, try_recover_truncated,
                             float(acceptable_fraction), dct_method)  # fmt: skip


@public
def decode_gif(contents, name=None):
    """All frames of a GIF, uint8 `[frames, height, width, 3]`."""
    return DecodeGif(contents)


@public
def decode_bmp(contents, channels=0, name=None):
    """A BMP as uint8 `[height, width, channels]`."""
    return DecodeBmp(contents, channels)


@public
def decode_webp(contents, channels=0, dtype=dtypes.uint8, name=None):
    """A WebP as `[frames, height, width, channels]`, of its first frame."""
    return DecodeWebP(contents, channels, dtypes.as_dtype(dtype))


@public
def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """An image of any of the formats; a GIF has a leading dimension of frames if `expand_animations`.

    With dtype float32 values are in [0, 1]. Raises InvalidArgumentError for bytes that are no image.
    """
    return DecodeImage(contents, channels or 0, dtypes.as_dtype(dtype), expand_animations)


@public
def encode_png(image, compression=-1, name=None):
    """Images `[..., height, width, channels]` of uint8 or uint16 as PNG, compressed at level -1 or 0 to 9."""
    image = convert_to_tensor(image, None if hasattr(image, "dtype") else dtypes.uint8)
    return EncodePng(image, compression)


@public
def encode_jpeg(
    image,
    format="",
    quality=95,
    progressive=False,
    optimize_size=False,
    chroma_downsampling=True,
    density_unit="in",
    x_density=300,
    y_density=300,
    xmp_metadata="",
    name=None,
):
    """An image `[height, width, 1 or 3]` of uint8 as JPEG."""
    return EncodeJpeg(image, format, quality, progressive, optimize_size, chroma_downsampling, density_unit,
                      x_density, y_density, xmp_metadata)  # fmt: skip


@public
def is_jpeg(contents, name=None):
    """Whether the bytes begin as a JPEG does."""
    return equal(substr(contents, 0, 3), b"\xff\xd8\xff")


@public
def extract_jpeg_shape(contents, output_type=dtypes.int32, name=None):
    """[height, width, channels] of a JPEG, without decoding it."""
    return ExtractJpegShape(contents, dtypes.as_dtype(output_type))


@public
def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """RGB images, one or a batch, as they come back from JPEG of quality 0 to 100."""
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
