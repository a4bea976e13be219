"""Replacing by simple patterns gives what the engine of regular expressions gives."""

import random

import pytest

import tapeflow as tf
from tapeflow.ops.string import plain_patterns

pytest.importorskip("re2")

PATTERNS = [
    b"o.", b"<br />", b"[abc]", b"[^a-z]", b"[^a-z]+", rb"\s", rb"\s+", rb"\d+", rb"\W", b"a", b"a+", b" +", b"[]a]",
    rb"[!\"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']", b"[^]a]+", b"[[:alpha:]]", b"[[:^alpha:]x]+", rb"\.", rb"\++",
    rb"[\d\s]+", rb"[a\]b]", rb"[\w.]", b"[a-]", b"[[]", rb"[\[]", rb"[\n\t]+", rb"[^\x00-\x7F]", rb"[\pL]", b"[&&]",
    b"[a&&b]", b"[~~]", b"[A-z]", rb"[\-a]", b"(?i)a", b"[[=a=]]", b"x*", b"^a", b"a$", rb"\ba", b"a|b",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("rewrite", ["", "X", "<y>", r"a\\b", r"\0"])
def test_all_matches_are_replaced_as_by_the_engine(pattern, rewrite):
    numbers = random.Random(1)
    letters = b"ab cdxyz01.,<br />[]\\\t\n-+*!#$^~\x00\x0bAZ_&|'\"`{}"
    texts = [bytes(numbers.choices(letters, k=numbers.randrange(20))) for _ in range(100)]
    texts += ["é a".encode(), b"\xff a", b""]
    form = tf.strings.regex_replace(tf.constant(texts), pattern, rewrite).numpy().tolist()
    assert form == [bytes(tf.strings.regex_replace(text, b"(?:" + pattern + b")", rewrite).numpy()) for text in texts]


@pytest.mark.parametrize("pattern", ["a b", ".*a b", "a b.*", ".*a b.*", "a.*", ".*", "(?:a).*", r"a\n.*"])
def test_whole_texts_match_as_the_engine_says(pattern):
    texts = ["a b", "xa b", "a by", "xa by", "", "a", "a b a b", "a b\n", "\na b", "é a b", b"\xffa b", "a\nb"]
    found = tf.strings.regex_full_match(tf.constant(texts), pattern).numpy().tolist()
    assert found == [bool(tf.strings.regex_full_match(text, f"(?:{pattern})")) for text in texts]


def test_which_patterns_are_simple():
    def simple(pattern):
        return plain_patterns.replacement(pattern, b"", lambda part, text: part == b"a" == text) is not None

    assert all(map(simple, [b"a", b"a b", b"[ab]", b"[^ab]+", rb"\s+", rb"\."]))
    assert not any(map(simple, [b"", b"a.", b"[a]b", b"a|b", b"a*", rb"\bx", b"(a)", b"[a", rb"[\Qa]", b"a{2}", b"."]))


def test_simple_patterns_are_compiled_all_the_same():
    for pattern in (b"[z-a]", b"[[:foo:]]", rb"\x+"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.strings.regex_replace("a", pattern, "")
