"""What XLA makes of functions, as text and bytes."""

from __future__ import annotations

import pytest

import tapeflow as tf

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.xla

VECTOR = tf.TensorSpec([3])


@pytest.fixture
def scaled():
    variable = tf.Variable(2.0)
    return tf.function(lambda x, y: x * y + variable, jit_compile=True)


@pytest.mark.parametrize(
    ("stage", "expect"),
    [
        ("hlo", ("HloModule", "f32[3]{0} multiply")),
        ("stablehlo", ("stablehlo.multiply", "tensor<3xf32>")),
        ("optimized_hlo", ("HloModule", "is_scheduled=true")),
        ("optimized_hlo_dot", ("digraph", "multiply")),
    ],
)
def test_text(scaled, stage, expect):
    text = scaled.experimental_get_compiler_ir(VECTOR, y=tf.ones([3]))(stage=stage)
    assert all(part in text for part in expect)
    assert "HloModule" in scaled.experimental_get_compiler_ir(VECTOR, VECTOR)()


def test_bytes(scaled):
    ir = scaled.experimental_get_compiler_ir(VECTOR, VECTOR)
    before, after = ir("hlo_serialized"), ir("optimized_hlo_serialized")
    module = type(jax.jit(lambda x: x).lower(1.0).compiler_ir("hlo"))
    assert "multiply" in module(before).as_hlo_text()
    assert "fusion" in module(after).as_hlo_text()
    proto = ir("optimized_hlo_proto_serialized")
    start = next(i for i, byte in enumerate(proto[1:], 1) if byte < 0x80) + 1  # behind the length of the module
    assert proto[:1] == b"\x0a"
    assert "fusion" in module(proto[start:]).as_hlo_text()


def test_random_numbers_and_values_of_the_program():
    drawn = tf.function(lambda n, x: x + tf.random.uniform([2]) * n, jit_compile=True)
    assert "f32[2]" in drawn.experimental_get_compiler_ir(3.0, tf.TensorSpec([2]))("hlo")


def test_refusals(scaled):
    with pytest.raises(ValueError, match="functions marked with 'jit_compile=True'"):
        tf.function(lambda x: x).experimental_get_compiler_ir(VECTOR)
    ir = scaled.experimental_get_compiler_ir(VECTOR, VECTOR)
    with pytest.raises(ValueError, match=r"Invalid stage selected: 'nothing'. Valid values are: 'hlo'"):
        ir("nothing")
    with pytest.raises(ValueError, match="cannot be provided at the same time"):
        ir("hlo", device_name="CPU:0", platform_name="CPU")
    with pytest.raises(ValueError, match="Only support static input shape"):
        scaled.experimental_get_compiler_ir(tf.TensorSpec([None]), VECTOR)("hlo")
    text = tf.function(lambda s: tf.strings.length(s), jit_compile=True)
    with pytest.raises(ValueError, match="Only support static input shape"):
        text.experimental_get_compiler_ir(tf.TensorSpec([], tf.string))("hlo")
