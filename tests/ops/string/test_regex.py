"""Regular expressions are RE2's, and neither they nor globs take more than linear or quadratic time."""

import subprocess
import sys
import threading
import time

import pytest

import tapeflow as tf

MATCHING = [
    ("[[:alpha:]]+", "abc", True),
    ("[[:alpha:]]+", "é", False),  # ASCII only
    (".", "é", True),
    ("..", "é", False),
    (".", b"\xff", False),  # not UTF-8
    ("(?i)é", "É", True),
    (r"\pL", "語", True),
    (r"\pL", "1", False),
    (r"a\z", "a", True),
    (r"\Qa.b\E", "a.b", True),
    (r"\Qa.b\E", "axb", False),
    ("a$", "a\n", False),
    (".*", "a\n", False),
    ("(?s).*", "a\n", True),
    (r"\w", "é", False),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), MATCHING)
def test_full_match(pattern, text, expected):
    assert bool(tf.strings.regex_full_match(text, pattern)) is expected
    assert bool(tf.strings.regex_full_match(text, tf.constant(pattern))) is expected


REPLACING = [
    ("é", ".", "x", "x"),
    ("aé", "", "-", "-a-é-"),
    ("aab", "a*", r"<\0>", "<aa>b<>"),
    ("a\n", "a$", "x", "a\n"),
    ("ab", "(a)(b)", r"\2\1\0\\", "baab\\"),
    ("ab", "(a)", r"\2", "ab"),  # no such group: nothing is replaced
    ("É", "(?i)é", "x", "x"),
    ("ab1", "[[:digit:]]", r"<\0>", "ab<1>"),
]


@pytest.mark.parametrize(("text", "pattern", "rewrite", "expected"), REPLACING)
def test_replace(text, pattern, rewrite, expected):
    assert tf.strings.regex_replace(text, pattern, rewrite).numpy().decode() == expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("(?=a)", r"invalid perl operator: (?="),
        ("(?!a)", r"invalid perl operator: (?!"),
        ("(?<=a)", r"invalid perl operator: (?<"),
        ("(?<!a)", r"invalid perl operator: (?<"),
        ("(?<n>a)", r"invalid perl operator: (?<"),
        ("(?>a)", r"invalid perl operator: (?>"),
        (r"a\Z", r"invalid escape sequence: \Z"),
        ("a{1001}", r"invalid repetition size: {1001}"),
    ],
)
@pytest.mark.parametrize("staged", [False, True])
def test_what_re2_does_not_have_is_refused(pattern, reason, staged):
    for call in (
        lambda: tf.strings.regex_full_match(["a"], pattern),
        lambda: tf.strings.regex_replace(["a"], pattern, ""),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            (tf.function(call) if staged else call)()
        said = str(raised.value).partition(" [Op:")[0].splitlines()[0]
        assert said == f"Invalid pattern: {pattern}, error: {reason}"


HARD = ["(a+)+$", "(a*)*$", "(a|aa)+$", "(.*a){20}$", "([a-z]+)*[0-9]", "(a|a?)+$", "(x+x+)+y"]


@pytest.mark.parametrize("pattern", HARD)
def test_no_pattern_takes_exponential_time(pattern):
    text = "a" * 40 + "x" * 40 + "b"
    begin = time.process_time()
    assert not tf.strings.regex_full_match(text, pattern)
    tf.strings.regex_replace(text, pattern, "")
    assert time.process_time() - begin < 2


def test_other_threads_run_while_a_long_text_is_matched():
    text = tf.constant(b"a" * 30_000_000)
    stopped = threading.Event()
    pauses = []

    def tick():
        last = time.perf_counter()
        while not stopped.wait(0.001):
            now = time.perf_counter()
            pauses.append(now - last)
            last = now

    thread = threading.Thread(target=tick)
    thread.start()
    assert not tf.strings.regex_full_match(text, "(?:a|b)*c")
    stopped.set()
    thread.join()
    assert (
        len(pauses) > 10
    )  # it took a tenth of a second, in which a thread that needs the GIL went on


def test_long_digits_that_are_no_number_take_linear_time():
    begin = time.process_time()
    for dtype in (tf.float32, tf.int64):
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
            tf.strings.to_number("1" * 300_000 + "x", dtype)
    assert time.process_time() - begin < 2


def test_globs_take_no_exponential_time(tmp_path):
    (tmp_path / ("a" * 200)).touch()
    begin = time.process_time()
    assert tf.io.gfile.glob(str(tmp_path / ("*a" * 60 + "*b"))) == []
    assert len(tf.io.gfile.glob(str(tmp_path / ("*a" * 60 + "*")))) == 1
    assert time.process_time() - begin < 2


def test_importing_the_package_does_not_load_re2():
    program = "import sys, tapeflow as tf; tf.strings.lower('A'); assert 're2' not in sys.modules; "
    program += "tf.strings.regex_full_match('a', 'a'); assert 're2' in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
