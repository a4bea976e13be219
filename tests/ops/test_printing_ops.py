"""`tf.print` and `tf.strings.format`: the text of tensors and structures."""

import sys

import pytest

import tapeflow as tf


@pytest.mark.parametrize(
    ("inputs", "options", "text"),
    [
        ([[1, 2, 3]], {}, "[1, 2, 3]\n"),
        ([tf.constant([1, 2, 3])], {}, "[1 2 3]\n"),
        ([tf.range(10), tf.range(10.0)], {}, "[0 1 2 ... 7 8 9] [0 1 2 ... 7 8 9]\n"),
        ([tf.range(6)], {}, "[0 1 2 3 4 5]\n"),
        ([tf.range(8)], {"summarize": 2}, "[0 1 ... 6 7]\n"),
        (
            [tf.reshape(tf.range(64), [8, 8])],
            {"summarize": 1},
            "[[0 ... 7]\n ...\n [56 ... 63]]\n",
        ),
        ([tf.reshape(tf.range(16), [8, 2])], {"summarize": -1},
         "[[0 1]\n [2 3]\n [4 5]\n [6 7]\n [8 9]\n [10 11]\n [12 13]\n [14 15]]\n"),
        ([tf.zeros([2, 2, 2])], {}, "[[[0 0]\n  [0 0]]\n\n [[0 0]\n  [0 0]]]\n"),
        ([tf.constant(1 / 3), tf.constant(1 / 3, tf.float64)], {}, "0.333333343 0.33333333333333331\n"),
        ([tf.constant(1e10), tf.constant(123456789.0), tf.constant(0.1)], {}, "1e+10 123456792 0.1\n"),
        ([tf.constant(float("nan")), tf.constant(float("-inf"))], {}, "nan -inf\n"),
        ([tf.constant(["a", "b\n"]), tf.constant("x"), "y"], {}, '["a" "b\\n"] "x" y\n'),
        ([tf.constant(True), [True, False], None, 2.5], {}, "1 [True, False] None 2.5\n"),
        (
            [{"k": tf.constant(1.5), "j": [1, tf.constant(2)]}, (1, 2)],
            {},
            "{'j': [1, 2], 'k': 1.5} (1, 2)\n",
        ),
        (["a", "b"], {"sep": ",", "end": "!\n"}, "a,b!\n"),
        ([], {}, "\n"),
    ],
)  # fmt: skip
def test_print(capsys, inputs, options, text):
    tf.print(*inputs, output_stream=sys.stdout, **options)
    assert capsys.readouterr().out == text


def test_print_goes_to_standard_error_by_default(capsys):
    tf.print("hello")
    assert capsys.readouterr() == ("", "hello\n")


def test_print_appends_to_a_file(tmp_path):
    path = tmp_path / "out.txt"
    for word in ("a", "b"):
        tf.print(word, output_stream=f"file://{path}")
    assert path.read_text() == "a\nb\n"


@pytest.mark.parametrize("options", [{"foo": 1}, {"output_stream": "nowhere"}])
def test_print_refuses_unknown_options(options):
    with pytest.raises(ValueError, match=r"nrecognized keyword|Unsupported output stream"):
        tf.print(1, **options)


def test_format():
    text = tf.strings.format("x {} y {}", (tf.constant([1, 2]), tf.constant("a")))
    assert text.numpy() == b'x [1 2] y "a"'
    with pytest.raises(ValueError, match="expects 2 tensors, but the inputs only has 1"):
        tf.strings.format("{} {}", tf.constant(1))


def test_a_string_alone_is_printed_as_it_is(capsys):
    tf.print(tf.constant("Buzz"))
    tf.print(tf.constant(["Buzz"]))
    tf.print("a", tf.constant("Buzz"))
    assert capsys.readouterr().err == 'Buzz\n["Buzz"]\na "Buzz"\n'


def test_print_of_python_values(capfd):
    tf.compat.v1.Print(tf.constant(1.0), ["hello", 1, [2.5, 3.0]], message="m: ")
    assert capfd.readouterr().err == "m: [hello][1][2.5 3]\n"


@pytest.mark.parametrize(("level", "word"), [(30, "WARNING"), (40, "ERROR"), (-1, "WARNING"), (-2, "ERROR")])
def test_levels_by_their_numbers(level, word, caplog):
    """Those of Python's log and of Abseil's."""
    tf.print("words", output_stream=level)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [(word, "words")]


def test_other_numbers_are_no_streams():
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print("words", output_stream=1)
