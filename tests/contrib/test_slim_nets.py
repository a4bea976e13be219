"""Networks of slim: shapes, names and numbers of parameters, which published checkpoints have too."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import slim
from tapeflow.contrib.slim import model_analyzer, nets

# (network, scope of arguments, size of the image, number of parameters for 1,000 classes: the sum over the layers)
NETWORKS = {
    "alexnet_v2": (nets.alexnet.alexnet_v2, nets.alexnet.alexnet_v2_arg_scope, 224, 50_303_912),
    "overfeat": (nets.overfeat.overfeat, nets.overfeat.overfeat_arg_scope, 231, 145_704_424),
    "vgg_a": (nets.vgg.vgg_a, nets.vgg.vgg_arg_scope, 224, 132_863_336),
    "vgg_16": (nets.vgg.vgg_16, nets.vgg.vgg_arg_scope, 224, 138_357_544),
    "vgg_19": (nets.vgg.vgg_19, nets.vgg.vgg_arg_scope, 224, 143_667_240),
    "InceptionV1": (nets.inception.inception_v1, nets.inception.inception_v1_arg_scope, 224, None),
    "InceptionV2": (nets.inception.inception_v2, nets.inception.inception_v2_arg_scope, 224, None),
    "InceptionV3": (nets.inception.inception_v3, nets.inception.inception_v3_arg_scope, 299, None),
}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_has_the_published_shapes(name):
    network, scope, size, parameters = NETWORKS[name]
    assert network.default_image_size == size
    with slim.arg_scope(scope()):
        logits, outputs = network(tf.placeholder(tf.float32, [2, size, size, 3]), 1000, is_training=False)
    assert logits.shape.as_list() == [2, 1000]
    assert logits.op.name.startswith(name)
    assert any(tensor is logits for tensor in outputs.values())
    assert len(slim.losses.get_regularization_losses()) == sum(
        v.op.name.endswith("/weights") for v in tf.trainable_variables()
    )
    if parameters:
        assert model_analyzer.analyze_vars(tf.trainable_variables()) == (parameters, 4 * parameters)


@pytest.mark.parametrize(("base", "last", "shape", "parameters"), [
    (nets.inception.inception_v1_base, "Mixed_5c", [1, 7, 7, 1024], 5_607_184),
    (nets.inception.inception_v2_base, "Mixed_5c", [1, 7, 7, 1024], 10_173_112),
    (nets.inception.inception_v3_base, "Mixed_7c", [1, 8, 8, 2048], 21_802_784),
])  # fmt: skip
def test_the_base_of_inception(base, last, shape, parameters):
    size = 299 if shape[1] == 8 else 224
    inputs = tf.placeholder(tf.float32, [1, size, size, 3])
    scope = {5_607_184: nets.inception.inception_v1_arg_scope}.get(parameters, nets.inception.inception_v3_arg_scope)
    with slim.arg_scope(scope()):
        net, outputs = base(inputs)
        assert net is outputs[last]
        assert net.shape.as_list() == shape
        assert model_analyzer.analyze_vars(slim.get_model_variables())[0] == parameters
        with tf.variable_scope("again"):
            part, some = base(inputs, final_endpoint="MaxPool_3a_3x3")
    assert list(some)[-1] == "MaxPool_3a_3x3"
    assert some["MaxPool_3a_3x3"] is part
    with pytest.raises(ValueError, match="Unknown final endpoint"), tf.variable_scope("wrong"):
        base(inputs, final_endpoint="Mixed_9z")


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_residual_networks(version):
    module = getattr(nets, f"resnet_{version}")
    network = getattr(module, f"resnet_{version}_50")
    with slim.arg_scope(module.resnet_arg_scope()):
        logits, outputs = network(tf.placeholder(tf.float32, [2, 224, 224, 3]), 1000, is_training=False)
        assert logits.shape.as_list() == [2, 1, 1, 1000]
        assert f"resnet_{version}_50/block4" in outputs
        count = model_analyzer.analyze_vars(tf.trainable_variables())[0]
        assert count == {"v1": 25_557_032, "v2": 25_568_360}[version]
        with tf.variable_scope("dense"):
            net, _ = network(tf.placeholder(tf.float32, [1, 97, 97, 3]), global_pool=False, output_stride=8)
            assert net.shape.as_list() == [1, 13, 13, 2048]
            with pytest.raises(ValueError, match="multiple of 4"):
                network(tf.placeholder(tf.float32, [1, 97, 97, 3]), output_stride=6, scope="six")


def test_strides_that_become_rates_give_the_same_features():
    """Every fourth feature of the dense network is one of the usual network."""
    x = tf.constant(np.random.default_rng(0).normal(size=(1, 65, 65, 3)), tf.float32)
    block = nets.resnet_v1.resnet_v1_block
    blocks = [block(f"block{i}", base_depth=i, num_units=2, stride=2) for i in (1, 2)]
    found = []
    with slim.arg_scope(nets.resnet_utils.resnet_arg_scope()):
        for stride, reuse in ((None, None), (4, True)):
            with tf.variable_scope("net", reuse=reuse):
                found.append(nets.resnet_v1.resnet_v1(
                    x, blocks, is_training=False, global_pool=False, output_stride=stride, scope="resnet"
                )[0])  # fmt: skip
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        usual, dense = session.run(found)
    np.testing.assert_allclose(dense[:, ::4, ::4], usual, atol=1e-4)


def test_a_network_learns():
    labels = tf.constant([0, 1])
    with slim.arg_scope(nets.alexnet.alexnet_v2_arg_scope()):
        images = np.random.default_rng(0).normal(size=(2, 224, 224, 3))
        logits, _ = nets.alexnet.alexnet_v2(tf.constant(images, tf.float32), 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    gradients = tf.gradients(loss, tf.trainable_variables())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert all(np.isfinite(each).all() and each.any() for each in session.run(gradients))


def test_analyze_ops(capsys):
    x = tf.placeholder(tf.float32, [3, 5], name="x")
    tf.placeholder(tf.int32, [None], name="unknown")
    assert model_analyzer.analyze_ops(tf.get_default_graph(), print_info=True) == 15
    assert model_analyzer.tensor_description(x) == "(float32 3x5)"
    assert "x \t-> (float32 3x5) [15]" in capsys.readouterr().out
