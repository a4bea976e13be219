"""`print` with the feature that converts it: values when the function runs."""

import pytest

import tapeflow as tf

Feature = tf.autograph.experimental.Feature


@pytest.mark.parametrize(
    "features", [Feature.BUILTIN_FUNCTIONS, Feature.ALL, (Feature.LISTS, Feature.BUILTIN_FUNCTIONS)]
)
def test_prints_values_when_it_runs(features, capsys):
    @tf.function(experimental_autograph_options=features)
    def count(n):
        print("traced")
        i = 0
        while i < n:
            print(i, "x", sep="-")
            i += 1
        return n

    count(tf.constant(2))
    assert capsys.readouterr().out == "traced\n0-x\n1-x\n"
    count(tf.constant(1))
    assert capsys.readouterr().out == "0-x\n"
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(count(tf.constant(1)))
    assert capsys.readouterr().out.endswith("0-x\n")


def test_prints_tensors_without_the_feature(capsys):
    @tf.function(experimental_autograph_options=Feature.all_but([Feature.BUILTIN_FUNCTIONS]))
    def shown(n):
        print(n)
        return n

    shown(tf.constant(2))
    assert capsys.readouterr().out.startswith('Tensor("n:0"')


def test_arguments_that_print_does_not_have():
    @tf.function(experimental_autograph_options=Feature.BUILTIN_FUNCTIONS)
    def shown(n):
        print(n, color="red")

    with pytest.raises(ValueError, match="invalid keyword arguments"):
        shown(tf.constant(2))
