"""Regular expressions on strings, and base64."""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import string
from tapeflow.ops.string.plain_patterns import Replace, full_match, replacement
from tapeflow.ops.string.rows import each, texts
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


@lru_cache(maxsize=128)
def _compiled(pattern: bytes):
    """RE2's program for `pattern`. Raises InvalidArgumentError for what is not in its syntax."""
    import re2  # 3 ms that few programs need

    options = re2.Options()
    options.log_errors = False
    try:
        # TensorFlow's RE2 does not know groups named (?<name>...), newer ones do: an operator that no
        # version knows is refused wherever "(?<" would be one, and changes nothing elsewhere.
        re2.compile(pattern.replace(b"(?<", _UNKNOWN_OPERATOR), options)
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = bytes(error.args[0]).replace(_UNKNOWN_OPERATOR, b"(?<").decode(errors="replace")
        raise invalid(
            f"Invalid pattern: {pattern.decode(errors='replace')}, error: {reason}"
        ) from None


_UNKNOWN_OPERATOR = b"(?\x01"


def _as_bytes(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def _full_matches(input: Any, pattern: bytes | str):
    form, quick = _compiled(_as_bytes(pattern)), full_match(_as_bytes(pattern))
    if quick is None:
        return each(lambda text: form.fullmatch(text) is not None, input, kind=bool)

    def matches(text: bytes) -> bool:
        one_line = text.isascii() and b"\n" not in text
        return quick(text) if one_line else form.fullmatch(text) is not None

    return each(matches, input, kind=bool)


def _replaced(input: Any, pattern: str, rewrite: str, replace_global: bool):
    form = _compiled(_as_bytes(pattern))
    pieces, highest_group, complete = _rewrite_pieces(_as_bytes(rewrite))
    if highest_group > form.groups or not (complete or replace_global):
        return input
    replace = _replace_all if replace_global else _replace_first
    quick = None
    texts_only = [piece for piece in pieces if isinstance(piece, bytes)]
    if replace_global and len(texts_only) == len(pieces):
        quick = _quick(_as_bytes(pattern), b"".join(texts_only))
    if quick is None:
        return each(lambda text: replace(form, pieces, text), input)
    return each(lambda text: quick(text) if text.isascii() else replace(form, pieces, text), input)


@lru_cache(maxsize=128)
def _quick(pattern: bytes, rewrite: bytes) -> Replace | None:
    return replacement(pattern, rewrite, lambda part, text: _compiled(part).fullmatch(text) is not None)


def _rewrite_pieces(rewrite: bytes) -> tuple[list[bytes | int], int, bool]:
    """The texts and groups that `rewrite` consists of, its highest group, and whether all of it is valid.

    RE2 writes what precedes a backslash that is followed by neither a digit nor a backslash, and stops there.
    """
    text, *rest = re.split(rb"\\(.?)", rewrite, flags=re.S)
    escaped = rest[::2]
    highest_group = max((int(c) for c in escaped if c.isdigit()), default=0)
    pieces: list[bytes | int] = [text]
    for character, text in zip(escaped, rest[1::2], strict=True):
        if not (character.isdigit() or character == b"\\"):
            return pieces, highest_group, False
        pieces += [int(character) if character.isdigit() else character, text]
    return pieces, highest_group, True


def _written(match, pieces: Any) -> bytes:
    if len(pieces) == 1:
        return pieces[0]  # a text: groups stand between texts
    return b"".join((match[p] or b"") if isinstance(p, int) else p for p in pieces)


def _replace_first(form, pieces, text: bytes) -> bytes:
    match = form.search(text)
    if match is None:
        return text
    return text[: match.start()] + _written(match, pieces) + text[match.end() :]


def _replace_all(form, pieces: Any, text: bytes) -> bytes:
    if text.isascii():
        return _replace_all_in_ascii(form, pieces, text)
    out = []
    at, last_end = 0, -1
    while at <= len(text) and (match := form.search(text, at)) is not None:
        start, end = match.span()
        out.append(text[at:start])
        if start == end == last_end:  # an empty match just after a match does not count
            at = end + _character_length(text, end)
            out.append(text[end:at])
            at = max(at, end + 1)
            continue
        out.append(_written(match, pieces))
        at = last_end = end
    out.append(text[at:])
    return b"".join(out)


def _replace_all_in_ascii(form, pieces: Any, text: bytes) -> bytes:
    """`_replace_all` of a text whose characters are bytes, over which the engine goes on by itself."""
    out: list[bytes] = []
    at, last_end = 0, -1
    for match in form.finditer(text):
        start, end = match.span()
        if start != end or end != last_end:
            out += text[at:start], _written(match, pieces)
            at = last_end = end
    return b"".join([*out, text[at:]]) if out else text


def _character_length(text: bytes, at: int) -> int:
    """The bytes of the character at `at`, 1 where the bytes are not UTF-8."""
    for length in (1, 2, 3, 4):
        try:
            text[at : at + length].decode(errors="surrogatepass")  # as RE2 decodes
        except UnicodeDecodeError:
            continue
        return length
    return 1


@op("RegexReplace", "input: string, pattern: string, rewrite: string -> output: string",
    attrs={"replace_global": True}, ranks="pattern: 0, rewrite: 0",
    shape=shapes.same_as_first)  # fmt: skip
def RegexReplace(xp: ModuleType, input: Array, pattern: Array, rewrite: Array, replace_global: bool):
    for label, x in (("Pattern", pattern), ("Rewrite", rewrite)):
        if x.ndim:
            raise invalid(f"{label} must be scalar, but received {shape_text(x.shape)}")
    return _replaced(input, pattern[()], rewrite[()], replace_global)


RegexReplace.gradient(None)


@RegexReplace.samples
def _(rng: SampleGenerator):
    one = np.array(b"a", object)
    yield Sample(texts("aab", "b"), one, np.array(b"x", object), expect=texts("xxb", "b"))
    yield Sample(
        texts("aab"), one, np.array(b"x", object), replace_global=False, expect=texts("xab")
    )
    pair = np.array(b"(a)(b)", object)
    yield Sample(texts("aab"), pair, np.array(rb"\2\1", object), expect=texts("aba"))
    yield Sample(texts("aab"), one, np.array(rb"\1", object), expect=texts("aab"))
    yield Sample(texts("a"), np.array(b"(", object), one, raises=InvalidArgumentError)
    yield Sample(texts("a"), texts("a"), one, raises=InvalidArgumentError)


@op("StaticRegexReplace", "input: string -> output: string",
    attrs={"pattern": string, "rewrite": string, "replace_global": True}, shape=shapes.elementwise)  # fmt: skip
def StaticRegexReplace(xp: ModuleType, input: Array, pattern: str, rewrite: str, replace_global: bool):
    return _replaced(input, pattern, rewrite, replace_global)


StaticRegexReplace.gradient(None)


@StaticRegexReplace.samples
def _(rng: SampleGenerator):
    yield Sample(texts("aab"), pattern="a", rewrite="x", expect=texts("xxb"))


@api("strings.regex_replace", v1="regex_replace")
@tensor_function
def regex_replace(
    input: TensorLike, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None
):
    r"""Replace the matches of a pattern in strings.

    Patterns are RE2's: matching takes time linear in the text, and there are no backreferences or lookaround.

    Args:
      input: a string tensor.
      pattern: a regular expression, a scalar string.
      rewrite: what to put in their place, a scalar string in which \0 is the match and \1 to \9 are its groups.
      replace_global: whether to replace all matches, not just the first of each string.
      name: a name for the operation (optional).

    Returns:
      A string tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: for a pattern that is not valid.

    >>> tf.strings.regex_replace("a1b22", "[0-9]+", "#").numpy()
    b'a#b#'
    """
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return StaticRegexReplace(input, pattern, rewrite, replace_global)
    return RegexReplace(input, pattern, rewrite, replace_global)


@op("RegexFullMatch", "input: string, pattern: string -> output: bool", ranks="pattern: 0",
    shape=shapes.same_as_first)
def RegexFullMatch(xp: ModuleType, input: Array, pattern: Array):
    if pattern.ndim:
        raise invalid(f"Pattern must be scalar, but received {shape_text(pattern.shape)}")
    return _full_matches(input, pattern[()])


RegexFullMatch.gradient(None)


@RegexFullMatch.samples
def _(rng: SampleGenerator):
    yield Sample(texts("abc", "ab"), np.array(b"a.*c", object), expect=np.array([True, False]))
    yield Sample(texts("abc"), np.array(b"(", object), raises=InvalidArgumentError)


@op("StaticRegexFullMatch", "input: string -> output: bool", attrs={"pattern": string},
    shape=shapes.elementwise)  # fmt: skip
def StaticRegexFullMatch(xp: ModuleType, input: Array, pattern: str):
    return _full_matches(input, pattern)


StaticRegexFullMatch.gradient(None)


@StaticRegexFullMatch.samples
def _(rng: SampleGenerator):
    yield Sample(texts("abc", "ab"), pattern="a.*c", expect=np.array([True, False]))
    yield Sample(texts("abc"), pattern="(", raises=InvalidArgumentError)


@api("strings.regex_full_match")
@tensor_function
def regex_full_match(input: TensorLike, pattern: Tensor | str, name: str | None = None):
    """Tell whether strings as a whole match a pattern.

    Args:
      input: a string tensor.
      pattern: a regular expression in RE2's syntax, a scalar string.
      name: a name for the operation (optional).

    Returns:
      A bool tensor of the shape of `input`.

    Raises:
      InvalidArgumentError: for a pattern that is not valid.

    >>> tf.strings.regex_full_match(["abc", "abcd"], "a.c")
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    if isinstance(pattern, (str, bytes)):
        return StaticRegexFullMatch(input, pattern)
    return RegexFullMatch(input, pattern)


@op(
    "EncodeBase64",
    "input: string -> output: string",
    attrs={"pad": False},
    shape=shapes.elementwise,
)
def EncodeBase64(xp: ModuleType, input: Array, pad: bool):
    def encoded(text: bytes) -> bytes:
        out = base64.urlsafe_b64encode(text)
        return out if pad else out.rstrip(b"=")

    return each(encoded, input)


EncodeBase64.gradient(None)


@EncodeBase64.samples
def _(rng: SampleGenerator):
    yield Sample(texts("ab?", "a"), expect=texts("YWI_", "YQ"))
    yield Sample(texts("a"), pad=True, expect=texts("YQ=="))


@op("DecodeBase64", "input: string -> output: string", shape=shapes.elementwise)
def DecodeBase64(xp: ModuleType, input: Array):
    def decoded(text: bytes) -> bytes:
        body = text.rstrip(b"=")
        if len(body) % 4 == 1:
            raise invalid(f"Base64 string length cannot be 1 modulo 4: {text!r}")
        padding = len(text) - len(body)
        if not re.fullmatch(rb"[A-Za-z0-9_-]*", body) or padding > 2 or (padding and len(text) % 4):
            raise invalid(f"Invalid character found in base64: {text!r}")
        return base64.urlsafe_b64decode(body + b"=" * (-len(body) % 4))

    return each(decoded, input)


DecodeBase64.gradient(None)


@DecodeBase64.samples
def _(rng: SampleGenerator):
    yield Sample(texts("YWI_", "YQ", "YQ=="), expect=texts("ab?", "a", "a"))
    yield Sample(texts("Y"), raises=InvalidArgumentError)
    yield Sample(texts("Y?=="), raises=InvalidArgumentError)
    yield Sample(texts("YQ="), raises=InvalidArgumentError)
    yield Sample(texts("="), raises=InvalidArgumentError)


@api("io.encode_base64", v1="encode_base64")
@tensor_function
def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Write strings in the base64 alphabet that is safe in URLs.

    Args:
      input: a string tensor.
      pad: whether results are filled up with "=" to a multiple of four characters.
      name: a name for the operation (optional).

    Returns:
      A string tensor of the shape of `input`.

    >>> tf.io.encode_base64("hello", pad=True).numpy()
    b'aGVsbG8='
    """
    return EncodeBase64(input, pad)


@api("io.decode_base64", v1="decode_base64")
@tensor_function
def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """The bytes that base64 strings stand for; InvalidArgumentError for what is no base64."""
    return DecodeBase64(input)
