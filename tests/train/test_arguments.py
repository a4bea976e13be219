"""Arguments of savers, checkpoints and optimizers of 1.x that say what is made, or cannot be kept."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.train import moving_averages

v1 = tf.compat.v1


def test_slots_of_ftrl_have_the_names_that_are_asked_for():
    with tf.Graph().as_default():
        variable = v1.get_variable("v", [2])
        v1.train.FtrlOptimizer(0.1, accum_name="aa", linear_name="ll").minimize(tf.reduce_sum(variable))
        other = v1.get_variable("w", [2])
        v1.train.FtrlOptimizer(0.1, accum_name="aa").minimize(tf.reduce_sum(other))
        names = [found.name for found in v1.global_variables()]
    assert names == ["v:0", "v/aa:0", "v/ll:0", "w:0", "w/aa:0", "w/Ftrl:0"]


def test_variables_of_weighted_averages_are_in_the_collections():
    with tf.Graph().as_default() as graph:
        moving_averages.weighted_moving_average(tf.constant(1.0), 0.9, tf.constant(2.0), collections=["mine"])
        names = [found.name for found in graph.get_collection("mine")]
        assert names == ["WeightedMovingAvg/value_x_weight:0", "WeightedMovingAvg/weight:0"]
        assert v1.global_variables() == []


def test_savers_say_what_they_cannot_build():
    with tf.Graph().as_default():
        v1.get_variable("v", [2])
        with pytest.raises(RuntimeError, match="Unexpected write_version: 3"):
            v1.train.Saver(write_version=3)
        with pytest.raises(ValueError, match="`builder` must be None"):
            v1.train.Saver(builder=object())
        with pytest.raises(ValueError, match="aggregation_method"):
            v1.train.GradientDescentOptimizer(0.1).compute_gradients(
                tf.reduce_sum(v1.global_variables()[0]), aggregation_method=9
            )


def test_a_saver_def_within_a_scope():
    with tf.Graph().as_default():
        with v1.name_scope("scope"):
            v1.get_variable("v", [2])
            saver = v1.train.Saver()
        assert saver.to_proto().filename_tensor_name == "scope/save/Const:0"
        assert saver.to_proto(export_scope="scope").filename_tensor_name == "save/Const:0"
        assert saver.to_proto(export_scope="other") is None


def test_other_savers_are_left_out_of_meta_graphs():
    with tf.Graph().as_default():
        v1.get_variable("v", [2])
        for saver in (v1.train.Saver(), v1.train.Saver()):
            v1.add_to_collection("savers", saver)
        made = saver.export_meta_graph(clear_extraneous_savers=True)
        assert sum(node.op == "SaveV2" for node in v1.train.export_meta_graph().graph_def.node) == 2
    assert [node.name for node in made.graph_def.node if node.op == "SaveV2"] == ["save_1/SaveV2"]
    assert len(made.collection_def["savers"].bytes_list.value) == 1


def test_restoring_takes_options(tmp_path):
    variable = tf.Variable([1.0, 2.0])
    optimizer = v1.train.MomentumOptimizer(0.1, 0.9)
    optimizer.apply_gradients([(tf.constant([1.0, 1.0]), variable)])
    checkpoint = tf.train.Checkpoint(v=variable, optimizer=optimizer)
    path = checkpoint.write(str(tmp_path / "model"))
    slot = optimizer.get_slot(variable, "momentum")
    slot.assign([7.0, 7.0])
    options = tf.train.CheckpointOptions(experimental_skip_slot_variables=True)
    checkpoint.read(path, options).assert_nontrivial_match()
    assert slot.numpy().tolist() == [7.0, 7.0]
    checkpoint.restore(path)
    assert slot.numpy().tolist() == [1.0, 1.0]
    for call in (checkpoint.read, checkpoint.restore, checkpoint.write):
        with pytest.raises(TypeError, match="CheckpointOptions"):
            call(path, options="fast")


def test_checkpoints_of_names_are_restored_in_sessions(tmp_path):
    path = str(tmp_path / "model")
    with tf.Graph().as_default():
        variable = v1.get_variable("v", [], initializer=v1.constant_initializer(3.0))
        other = v1.get_variable("w", [], initializer=v1.constant_initializer(4.0))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            v1.train.Saver([variable]).save(session, path)
        status = v1.train.Checkpoint(v=variable, w=other).restore(path)
        with v1.Session() as session:
            status.initialize_or_restore(session)
            assert session.run([variable, other]) == [3.0, 4.0]
        with v1.Session() as session:
            status.run_restore_ops(session)
            assert session.run(variable) == 3.0


def test_a_checkpoint_of_version_1_is_one_file(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"")
    v1.train.remove_checkpoint(str(path))
    assert path.exists()
    v1.train.remove_checkpoint(str(path), 1)
    assert not path.exists()


class _Test(tf.test.TestCase):
    def runTest(self):
        pass


def test_sessions_of_tests_place_operations(monkeypatch):
    with tf.Graph().as_default():
        case = _Test()
        case.setUp()
        with case.session(use_gpu=False):
            assert tf.constant(1.0).device == "/device:CPU:0"
        with case.cached_session():
            assert tf.constant(1.0).device == ""
        monkeypatch.setattr("tapeflow.testing.case.gpu_device_name", lambda: "")
        with pytest.raises(tf.errors.InvalidArgumentError, match="force_gpu"), case.session(force_gpu=True):
            pass


def test_eager_sessions_of_tests_evaluate():
    case = _Test()
    case.setUp()
    with case.cached_session() as session:
        assert session.run([tf.constant(1), {"v": tf.Variable(2)}]) == [1, {"v": 2}]
        with pytest.raises(RuntimeError, match="feed_dict is not supported"):
            session.run(tf.constant(1), feed_dict={"x": 3})
        with pytest.raises(RuntimeError, match="Optional args"):
            session.run(tf.constant(1), options=3)
    with case.session() as session, pytest.raises(AttributeError, match="eager execution is enabled"):
        session.run(tf.constant(1))


def test_metrics_of_benchmarks_are_printed(capsys):
    benchmark = tf.test.Benchmark()
    benchmark.report_benchmark(iters=3, metrics=[{"name": "loss", "value": np.float32(0.5)}])
    assert "'loss'" in capsys.readouterr().out
    with pytest.raises(TypeError, match="'value' field"):
        benchmark.report_benchmark(metrics=[{"name": "loss"}])
