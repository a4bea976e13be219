"""Unicode: strings decoded into code points, code points encoded into strings, encodings changed."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.signature import Preferring, one_of, string
from tapeflow.ops.string.rows import each, texts
from tapeflow.ops.string.unicode_scripts import script_ranges
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

REPLACEMENT = 0xFFFD
ERRORS = one_of("strict", "replace", "ignore", default="replace")
OUTPUT = one_of("UTF-8", "UTF-16-BE", "UTF-32-BE")
_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_BYTE_ORDER_MARKS = {
    "utf-16": (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE),
    "utf-32": (codecs.BOM_UTF32_BE, codecs.BOM_UTF32_LE),
}


def _mark(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are no character as a lone surrogate, which says how many bytes they are."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return chr(0xD800 + min(error.end - error.start, 255)), error.end


codecs.register_error("tapeflow malformed", _mark)


def _decoder(name: str) -> codecs.CodecInfo:
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        found = None
    if found is None or not found._is_text_encoding:
        raise invalid(f"Could not create converter for input encoding: {name}")
    return found


def _code_points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)


def _decoded(text: bytes, encoding: codecs.CodecInfo) -> np.ndarray:
    """The code points of a string, malformed bytes as surrogates."""
    marks = _BYTE_ORDER_MARKS.get(encoding.name)
    if marks is not None and not text.startswith(marks):  # which Python takes for this machine's order
        encoding = codecs.lookup(f"{encoding.name}-be")
    try:
        return _code_points(encoding.decode(text, "strict")[0])
    except UnicodeError:
        return _code_points(encoding.decode(text, "tapeflow malformed")[0])


def _malformed(points: np.ndarray) -> np.ndarray:
    return (points >= 0xD800) & (points < 0xE000)


def _widths(points: np.ndarray, encoding: codecs.CodecInfo, length: int) -> np.ndarray:
    """How many of the `length` bytes each code point took."""
    name = encoding.name
    if name.startswith("utf-8"):
        wide = 1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000)
    elif name.startswith("utf-16"):
        wide = np.where(points >= 0x10000, 4, 2)
    elif name.startswith("utf-32"):
        wide = np.full(len(points), 4)
    else:
        sound = np.where(_malformed(points), 0x20, points)
        wide = np.array([len(encoding.encode(chr(p))[0]) for p in sound], np.int64)
    wide = np.where(_malformed(points), points - 0xD800, wide)
    if len(wide):
        wide[0] += max(length - int(wide.sum()), 0)  # a byte order mark belongs to the first one
    return wide


def _settled(points, errors, replacement, controls):
    """(the code points with malformed ones replaced or refused, which of them stay)."""
    bad = _malformed(points)
    if errors == "strict" and bad.any():
        raise invalid("Invalid formatting on input string")
    if controls:
        bad |= points < 0x20
    kept = ~bad if errors == "ignore" else np.ones(len(points), bool)
    return np.where(bad, replacement, points), kept


def _check_replacement(char: int) -> None:
    if not 0 <= char <= _LAST or char in _SURROGATES:
        raise invalid("replacement_char out of unicode codepoint range")


DECODE = {
    "input_encoding": string,
    "errors": ERRORS,
    "replacement_char": REPLACEMENT,
    "replace_control_characters": False,
    "Tsplits": dtypes.int64,
}


def _decode(input, input_encoding: str, errors, replacement_char, replace_control_characters, Tsplits):
    _check_replacement(replacement_char)
    encoding = _decoder(input_encoding)
    characters, starts = [], []
    for text in input.ravel():
        points = _decoded(text, encoding)
        widths = _widths(points, encoding, len(text))
        points, kept = _settled(points, errors, replacement_char, replace_control_characters)
        characters.append(points[kept])
        starts.append((np.cumsum(widths) - widths)[kept])
    splits = np.zeros(len(characters) + 1, Tsplits.as_numpy_dtype)
    np.cumsum([len(c) for c in characters], out=splits[1:])
    return (
        splits,
        np.concatenate([np.zeros(0, np.int64), *characters]).astype(np.int32),
        np.concatenate([np.zeros(0, np.int64), *starts]),
    )


def _decode_rule(outputs: int):
    def rule(call):
        shape = call.shape(0)
        count = None
        if shape is not None and None not in shape:
            count = int(np.prod(shape, dtype=np.int64)) + 1
        return [(count,), *[(None,)] * (outputs - 1)]

    return rule


@op("UnicodeDecode", "input: string -> row_splits: Tsplits, char_values: int32", attrs=DECODE,
    shape=_decode_rule(2))  # fmt: skip
def UnicodeDecode(xp: ModuleType, input: Array, **attrs):
    return _decode(input, **attrs)[:2]


@op("UnicodeDecodeWithOffsets",
    "input: string -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64",
    attrs=DECODE, shape=_decode_rule(3))  # fmt: skip
def UnicodeDecodeWithOffsets(xp: ModuleType, input: Array, **attrs):
    return _decode(input, **attrs)


def _encode_rule(call: ShapeCall):
    shapes.with_rank(call.shape(0), 1)
    (splits,) = shapes.with_rank(call.shape(1), 1)
    return [(None if splits is None else max(splits - 1, 0),)]


@op("UnicodeEncode", "input_values: int32, input_splits: Tsplits -> output: string",
    types={"Tsplits": Preferring(INDEX[::-1])},
    attrs={"output_encoding": OUTPUT, "errors": ERRORS, "replacement_char": REPLACEMENT},
    shape=_encode_rule)  # fmt: skip
def UnicodeEncode(
    xp: ModuleType, input_values: Array, input_splits: Array, output_encoding: str, errors, replacement_char
):
    _check_replacement(replacement_char)
    if input_values.ndim != 1 or input_splits.ndim != 1:
        raise invalid(
            f"input_values and input_splits must be vectors, got shapes "
            f"{shape_text(input_values.shape)} and {shape_text(input_splits.shape)}"
        )
    if len(input_splits) < 1 or input_splits[0] != 0:
        raise invalid("First value in input_splits must be zero.")
    if (np.diff(input_splits) < 0).any():
        raise invalid("Values in input_splits must be equal or in ascending order.")
    if input_splits[-1] != len(input_values):
        raise invalid("Last value in input_splits must be equal to the number of elements.")
    points = input_values.astype(np.int64)
    bad = (points < 0) | (points > _LAST) | _malformed(points)
    if errors == "strict" and bad.any():
        raise invalid("Code point is out of range for Unicode, or is a surrogate.")
    text = "".join(map(chr, np.where(bad, replacement_char, points)))
    out = np.empty(len(input_splits) - 1, object)
    for i in range(len(out)):
        at = slice(int(input_splits[i]), int(input_splits[i + 1]))
        row = text[at]
        if errors == "ignore" and bad[at].any():
            row = "".join(c for c, b in zip(row, bad[at], strict=True) if not b)
        out[i] = row.encode(output_encoding)
    return out


@op("UnicodeTranscode", "input: string -> output: string",
    attrs={"input_encoding": string, "output_encoding": OUTPUT, "errors": ERRORS,
           "replacement_char": REPLACEMENT, "replace_control_characters": False},
    shape=shapes.elementwise)  # fmt: skip
def UnicodeTranscode(
    xp: ModuleType, input: Array, input_encoding: str, output_encoding: str, errors, replacement_char,
    replace_control_characters: bool,
):
    _check_replacement(replacement_char)
    encoding = _decoder(input_encoding)

    def transcode(text):
        points = _decoded(text, encoding)
        if replace_control_characters and errors == "strict" and (points < 0x20).any():
            raise invalid("Invalid formatting on input string")
        points, kept = _settled(points, errors, replacement_char, replace_control_characters)
        return "".join(map(chr, points[kept])).encode(output_encoding)

    return each(transcode, input)


@op("UnicodeScript", "input: int32 -> output: int32", shape=shapes.elementwise)
def UnicodeScript(xp: ModuleType, input: Array):
    starts, scripts = script_ranges()

    def script(point):
        return scripts[bisect_right(starts, point) - 1] if 0 <= point <= _LAST else -1

    return each(script, input, kind=np.int32)


UnicodeScript.compiled(never="it looks at values")


for row in (UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode, UnicodeTranscode, UnicodeScript):
    row.gradient(None)


@UnicodeDecode.samples
def _(rng: SampleGenerator):
    points = np.array([97, 0xFFFD, 0x20AC], np.int32)
    text = texts(b"a\xff", "€")
    yield Sample(text, "UTF-8", expect=(np.array([0, 2, 3]), points))
    yield Sample(text, "UTF-8", "ignore", expect=(np.array([0, 1, 2]), points[[0, 2]]))
    yield Sample(text, "UTF-8", "strict", raises=InvalidArgumentError)
    yield Sample(text, "no such encoding", raises=InvalidArgumentError)
    yield Sample(text, "hex", raises=InvalidArgumentError)
    yield Sample(text, "UTF-8", "replace", -1, raises=InvalidArgumentError)
    yield Sample(
        texts("a\n"), "US-ASCII", "replace", 63, True,
        expect=(np.array([0, 2]), np.array([97, 63], np.int32)),
    )  # fmt: skip


@UnicodeDecodeWithOffsets.samples
def _(rng: SampleGenerator):
    yield Sample(
        texts("€", b"\xe2\x82a"), "UTF-8",
        expect=(np.array([0, 1, 3]), np.array([0x20AC, 0xFFFD, 97], np.int32), np.array([0, 0, 2])),
    )  # fmt: skip
    yield Sample(
        texts("a\U0001f600b".encode("utf-16-be")), "UTF-16-BE",
        expect=(np.array([0, 3]), np.array([97, 0x1F600, 98], np.int32), np.array([0, 2, 6])),
    )  # fmt: skip
    yield Sample(
        texts("あa".encode("shift-jis")), "shift-jis",
        expect=(np.array([0, 2]), np.array([0x3042, 97], np.int32), np.array([0, 2])),
    )  # fmt: skip


@UnicodeEncode.samples
def _(rng: SampleGenerator):
    points = np.array([0x20AC, 0xD800, 97], np.int32)
    yield Sample(points, np.array([0, 2, 2, 3]), "UTF-8", expect=texts("€\ufffd", "", "a"))
    yield Sample(points, np.array([0, 3]), "UTF-8", "ignore", expect=texts("€a"))
    yield Sample(points, np.array([0, 3]), "UTF-8", "strict", raises=InvalidArgumentError)
    yield Sample(points[:1], np.array([0, 1]), "UTF-16-BE", expect=texts(b"\x20\xac"))
    for wrong in ([1, 3], [0, 2], [0, 2, 1, 3], []):
        yield Sample(points, np.array(wrong, np.int64), "UTF-8", raises=InvalidArgumentError)


@UnicodeTranscode.samples
def _(rng: SampleGenerator):
    yield Sample(texts(b"a\xe9"), "latin-1", "UTF-8", expect=texts("aé"))
    yield Sample(texts(b"a\xe9"), "UTF-8", "UTF-16-BE", expect=texts(b"\0a\xff\xfd"))
    yield Sample(texts(b"a\xe9"), "UTF-8", "UTF-8", "strict", raises=InvalidArgumentError)
    yield Sample(texts("a"), "UTF-8", "latin-1", raises=InvalidArgumentError)


@UnicodeScript.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([1, 65, 0x3B1, 0x410, -1], np.int32),
                 expect=np.array([0, 25, 14, 8, -1], np.int32))  # fmt: skip
