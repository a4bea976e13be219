"""Regular expressions on strings, and base64."""

from __future__ import annotations

import base64
import re

import numpy as np

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.strings import each, texts
from tapeflow.ops.table import Sample, op, string
from tapeflow.ops.validate import invalid, shape_text


def _compiled(pattern: bytes | str):
    try:
        return re.compile(pattern if isinstance(pattern, bytes) else pattern.encode())
    except re.error as error:
        shown = pattern.decode(errors="replace") if isinstance(pattern, bytes) else pattern
        raise invalid(f"Invalid pattern: {shown}, error: {error}") from None


def _replaced(input, pattern, rewrite, replace_global):
    form = _compiled(pattern)
    rewrite = rewrite if isinstance(rewrite, bytes) else rewrite.encode()
    pieces = re.split(rb"(\\.)", rewrite, flags=re.S)
    highest = max((int(p[1:]) for p in pieces if re.fullmatch(rb"\\\d", p)), default=0)
    if highest > form.groups:
        # As RE2 does with a rewrite that names a group the pattern lacks.
        return input

    def written(match) -> bytes:
        out = b""
        for piece in pieces:
            if re.fullmatch(rb"\\\d", piece):
                out += match.group(int(piece[1:])) or b""
            else:
                out += b"\\" if piece == b"\\\\" else piece
        return out

    return each(lambda text: form.sub(written, text, 0 if replace_global else 1), input)


@op("RegexReplace", "input: string, pattern: string, rewrite: string -> output: string",
    attrs={"replace_global": True}, shape=shapes.with_ranks(shapes.same_as_first, None, 0, 0))  # fmt: skip
def RegexReplace(xp, input, pattern, rewrite, replace_global):
    for label, x in (("Pattern", pattern), ("Rewrite", rewrite)):
        if x.ndim:
            raise invalid(f"{label} must be scalar, but received {shape_text(x.shape)}")
    return _replaced(input, pattern[()], rewrite[()], replace_global)


RegexReplace.gradient(None)


@RegexReplace.samples
def _(rng):
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
    attrs={"pattern": string, "rewrite": string, "replace_global": True}, shape=shapes.same_as_first)  # fmt: skip
def StaticRegexReplace(xp, input, pattern, rewrite, replace_global):
    return _replaced(input, pattern, rewrite, replace_global)


StaticRegexReplace.gradient(None)


@StaticRegexReplace.samples
def _(rng):
    yield Sample(texts("aab"), pattern="a", rewrite="x", expect=texts("xxb"))


@tensor_function
def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Strings with the matches of `pattern` replaced by `rewrite`, in which \\0 to \\9 are the match and its groups.

    Patterns are Python's, which agree with RE2 in all common forms. Raises InvalidArgumentError for a bad pattern.
    """
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return StaticRegexReplace(input, pattern, rewrite, replace_global)
    return RegexReplace(input, pattern, rewrite, replace_global)


@op("RegexFullMatch", "input: string, pattern: string -> output: bool", shape=shapes.same_as_first)
def RegexFullMatch(xp, input, pattern):
    if pattern.ndim:
        raise invalid(f"Pattern must be scalar, but received {shape_text(pattern.shape)}")
    form = _compiled(pattern[()])
    return each(lambda text: form.fullmatch(text) is not None, input, kind=bool)


RegexFullMatch.gradient(None)


@RegexFullMatch.samples
def _(rng):
    yield Sample(texts("abc", "ab"), np.array(b"a.*c", object), expect=np.array([True, False]))
    yield Sample(texts("abc"), np.array(b"(", object), raises=InvalidArgumentError)


@op("StaticRegexFullMatch", "input: string -> output: bool", attrs={"pattern": string},
    shape=shapes.same_as_first)  # fmt: skip
def StaticRegexFullMatch(xp, input, pattern):
    form = _compiled(pattern)
    return each(lambda text: form.fullmatch(text) is not None, input, kind=bool)


StaticRegexFullMatch.gradient(None)


@StaticRegexFullMatch.samples
def _(rng):
    yield Sample(texts("abc", "ab"), pattern="a.*c", expect=np.array([True, False]))
    yield Sample(texts("abc"), pattern="(", raises=InvalidArgumentError)


@tensor_function
def regex_full_match(input, pattern, name=None):
    """Whether each string as a whole matches `pattern`."""
    return RegexFullMatch(input, pattern)


@op(
    "EncodeBase64",
    "input: string -> output: string",
    attrs={"pad": False},
    shape=shapes.same_as_first,
)
def EncodeBase64(xp, input, pad):
    def encoded(text: bytes) -> bytes:
        out = base64.urlsafe_b64encode(text)
        return out if pad else out.rstrip(b"=")

    return each(encoded, input)


EncodeBase64.gradient(None)


@EncodeBase64.samples
def _(rng):
    yield Sample(texts("ab?", "a"), expect=texts("YWI_", "YQ"))
    yield Sample(texts("a"), pad=True, expect=texts("YQ=="))


@op("DecodeBase64", "input: string -> output: string", shape=shapes.same_as_first)
def DecodeBase64(xp, input):
    def decoded(text: bytes) -> bytes:
        body = text.rstrip(b"=")
        if (
            not re.fullmatch(rb"[A-Za-z0-9_-]*", body)
            or len(body) % 4 == 1
            or len(text) - len(body) > 2
        ):
            raise invalid(f"Invalid character found in base64: {text!r}")
        return base64.urlsafe_b64decode(body + b"=" * (-len(body) % 4))

    return each(decoded, input)


DecodeBase64.gradient(None)


@DecodeBase64.samples
def _(rng):
    yield Sample(texts("YWI_", "YQ", "YQ=="), expect=texts("ab?", "a", "a"))
    yield Sample(texts("Y"), raises=InvalidArgumentError)
    yield Sample(texts("Y?=="), raises=InvalidArgumentError)


@tensor_function
def encode_base64(input, pad=False, name=None):
    """Strings in the base64 alphabet that is safe in URLs, padded with "=" on request."""
    return EncodeBase64(input, pad)


@tensor_function
def decode_base64(input, name=None):
    """The bytes that base64 strings stand for; InvalidArgumentError for what is no base64."""
    return DecodeBase64(input)
