"""Object-based and name-based checkpoints: round trips, values that come late, statuses, managers."""

import os

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
layers = tf.keras.layers
tfe = tf.contrib.eager


def trained(model, optimizer):
    x = np.ones([2, 3], np.float32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))


def small():
    return tf.keras.Sequential([layers.Dense(2), layers.Dense(1)])


def values(model, optimizer):
    return [w.numpy() for w in model.weights + optimizer.weights]


def test_model_optimizer_and_step(tmp_path):
    model, optimizer = small(), tf.keras.optimizers.Adam(0.1)
    trained(model, optimizer)
    trained(model, optimizer)
    saved = tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(5))
    path = saved.save(tmp_path / "ck")
    assert path == str(tmp_path / "ck-1")
    expected = values(model, optimizer)
    other, other_optimizer = small(), tf.keras.optimizers.Adam(0.3)
    trained(other, other_optimizer)
    step = tf.Variable(0)
    restored = tf.train.Checkpoint(model=other, optimizer=other_optimizer, step=step)
    restored.restore(path).assert_consumed()
    for a, b in zip(values(other, other_optimizer), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert step.numpy() == 5
    assert restored.save_counter.numpy() == 1
    assert abs(float(other_optimizer.learning_rate) - 0.1) < 1e-6


def test_restored_when_made(tmp_path):
    model, optimizer = small(), tf.keras.optimizers.Adam(0.1)
    trained(model, optimizer)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(tmp_path / "ck")
    trained(model, optimizer)
    expected = values(model, optimizer)
    other, other_optimizer = small(), tf.keras.optimizers.Adam(0.7)
    checkpoint = tf.train.Checkpoint(model=other, optimizer=other_optimizer)
    status = checkpoint.restore(path)
    with pytest.raises(AssertionError):
        status.assert_consumed()
    trained(other, other_optimizer)
    status.assert_consumed()
    for a, b in zip(values(other, other_optimizer), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_attributes_and_lists_that_come_later(tmp_path):
    class Net(tf.keras.Model):
        def __init__(self, complete):
            super().__init__()
            self.parts = []
            if complete:
                self.grow()

        def grow(self):
            self.parts.append(layers.Dense(1, name="inner"))
            self.scale = tf.Variable(3.0 if not self.parts[0].built else 1.0)

        def call(self, x):
            return self.parts[0](x) * self.scale

    net = Net(True)
    net(tf.ones([1, 2]))
    net.scale.assign(7.0)
    path = tf.train.Checkpoint(net=net).write(tmp_path / "ck")
    other = Net(False)
    checkpoint = tf.train.Checkpoint(net=other)
    status = checkpoint.read(path)
    other.grow()
    assert other.scale.numpy() == 7
    np.testing.assert_array_equal(other(tf.ones([1, 2])), net(tf.ones([1, 2])))
    status.assert_consumed()


def test_modules_lists_and_dicts(tmp_path):
    class Holder(tf.Module):
        def __init__(self, value):
            super().__init__()
            self.items = [tf.Variable(value), {"a": tf.Variable(value), "b/c": tf.Variable(value)}]
            self.pair = (tf.Variable(value),)

    path = tf.train.Checkpoint(holder=Holder(4.0)).write(tmp_path / "ck")
    assert [name for name, _ in tf.train.list_variables(path)] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        "holder/items/0/.ATTRIBUTES/VARIABLE_VALUE",
        "holder/items/1/a/.ATTRIBUTES/VARIABLE_VALUE",
        "holder/items/1/b.Sc/.ATTRIBUTES/VARIABLE_VALUE",
        "holder/pair/0/.ATTRIBUTES/VARIABLE_VALUE",
    ]
    holder = Holder(1.0)
    tf.train.Checkpoint(holder=holder).read(path).assert_consumed()
    assert all(variable.numpy() == 4 for variable in holder.variables)


def test_metrics_and_train_optimizers(tmp_path):
    optimizer, variable = v1.train.AdamOptimizer(0.1), tf.Variable([1.0, 2.0])
    mean = tfe.metrics.Mean()
    mean(3.0)
    optimizer.apply_gradients([(tf.ones([2]), variable)])
    saved = tfe.Checkpoint(optimizer=optimizer, variable=variable, mean=mean)
    path = saved.save(tmp_path / "ck")
    optimizer.apply_gradients([(tf.ones([2]), variable)])
    expected = variable.numpy()
    again, other = v1.train.AdamOptimizer(0.1), tf.Variable([0.0, 0.0])
    other_mean = tfe.metrics.Mean()
    tfe.Checkpoint(optimizer=again, variable=other, mean=other_mean).restore(path)
    again.apply_gradients([(tf.ones([2]), other)])
    np.testing.assert_allclose(other.numpy(), expected, rtol=1e-6)


def test_values_that_do_not_fit(tmp_path):
    path = tf.train.Checkpoint(x=tf.Variable([1.0, 2.0, 3.0])).write(tmp_path / "ck")
    with pytest.raises(ValueError, match=r"incompatible tensor with shape \(3,\)"):
        tf.train.Checkpoint(x=tf.Variable([1.0])).read(path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected dtype int32"):
        tf.train.Checkpoint(x=tf.Variable([1, 2, 3])).read(path)
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.Checkpoint(x=tf.Variable(1.0)).restore(tmp_path / "nothing")
    with pytest.raises(ValueError, match="to be a trackable object"):
        tf.train.Checkpoint(x=3)


def test_statuses(tmp_path):
    path = tf.train.Checkpoint(x=tf.Variable(1.0), y=tf.Variable(2.0)).write(tmp_path / "ck")

    def read(**objects):
        return tf.train.Checkpoint(**objects).read(path)

    x = tf.Variable(0.0)
    read(x=x).assert_existing_objects_matched().assert_nontrivial_match()
    read(x=x).expect_partial()
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)\.y"):
        read(x=x).assert_consumed()
    with pytest.raises(AssertionError, match="not bound to checkpointed values"):
        read(x=x, z=tf.Variable(1.0)).assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="Nothing except the root object"):
        read(z=tf.Variable(1.0)).assert_nontrivial_match()
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        tf.train.Checkpoint(x=x).restore(None).assert_consumed()


def test_python_state(tmp_path):
    class Counter(tf.train.experimental.PythonState):
        def __init__(self, text):
            self.text = text

        def serialize(self):
            return self.text

        def deserialize(self, string_value):
            self.text = string_value.decode()

    path = tf.train.Checkpoint(c=Counter("seven")).write(tmp_path / "ck")
    other = Counter("")
    tf.train.Checkpoint(c=other).read(path).assert_consumed()
    assert other.text == "seven"


def test_latest_and_manager(tmp_path):
    variable = tf.Variable(0.0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=variable), tmp_path / "m", 2)
    assert manager.latest_checkpoint is None
    for i in range(4):
        variable.assign(i)
        manager.save()
    assert [os.path.basename(path) for path in manager.checkpoints] == ["ckpt-3", "ckpt-4"]
    assert sorted(os.listdir(tmp_path / "m")) == [
        "checkpoint",
        "ckpt-3.data-00000-of-00001",
        "ckpt-3.index",
        "ckpt-4.data-00000-of-00001",
        "ckpt-4.index",
    ]
    assert tf.train.latest_checkpoint(tmp_path / "m") == manager.latest_checkpoint
    state = tf.train.get_checkpoint_state(tmp_path / "m")
    assert len(state.all_model_checkpoint_timestamps) == 2
    other = tf.Variable(9.0)
    again = tf.train.CheckpointManager(tf.train.Checkpoint(v=other), tmp_path / "m", 2)
    assert again.restore_or_initialize() == manager.latest_checkpoint
    assert other.numpy() == 3
    again.save()
    assert [os.path.basename(path) for path in again.checkpoints] == ["ckpt-4", "ckpt-5"]
    assert tf.train.load_variable(tmp_path / "m", "v/.ATTRIBUTES/VARIABLE_VALUE") == 3
    with pytest.raises(ValueError, match="max_to_keep"):
        tf.train.CheckpointManager(tf.train.Checkpoint(v=other), tmp_path, 0)
    assert tf.train.latest_checkpoint(tmp_path) is None
    (tmp_path / "checkpoint").write_text("noise")
    assert tf.train.latest_checkpoint(tmp_path) is None


def test_saver(tmp_path):
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable(3, name="b")
    saver = v1.train.Saver([a, b], max_to_keep=2)
    paths = [saver.save(None, tmp_path / "ck", global_step=i) for i in range(3)]
    assert saver.last_checkpoints == paths[1:]
    assert tf.train.list_variables(paths[-1]) == [("a", [2]), ("b", [])]
    a.assign([0.0, 0.0])
    saver.restore(None, paths[-1])
    assert a.numpy().tolist() == [1, 2]
    assert tf.train.latest_checkpoint(tmp_path) == paths[-1]
    other = tf.Variable(0, name="other")
    v1.train.Saver({"b": other}).restore(None, paths[-1])
    assert other.numpy() == 3
    tf.train.Checkpoint(root_b=b).restore(paths[-1]).assert_nontrivial_match()
    with pytest.raises(tf.errors.NotFoundError, match="Key missing not found"):
        v1.train.Saver({"missing": other}).restore(None, paths[-1])
    with pytest.raises(ValueError, match="not a valid checkpoint"):
        saver.restore(None, str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="same name"):
        v1.train.Saver([a, tf.Variable(1.0, name="a")]).save(None, tmp_path / "two")
    with pytest.raises(RuntimeError, match="var_list"):
        v1.train.Saver()


@pytest.mark.parametrize("name", ["weights", "weights.h5"])
def test_weights_of_models(name, tmp_path):
    if name.endswith("h5"):
        pytest.importorskip("h5py")
    model, other = small(), small()
    x = tf.ones([1, 3])
    expected = model(x).numpy()
    model.save_weights(tmp_path / name)
    other(x)
    other.load_weights(tmp_path / name)
    np.testing.assert_array_equal(other(x), expected)
    wrong = tf.keras.Sequential([layers.Dense(5), layers.Dense(1)])
    wrong(x)
    with pytest.raises(ValueError, match=r"[Ss]hape"):
        wrong.load_weights(tmp_path / name)


def test_model_checkpoint_callback(tmp_path):
    model = tf.keras.Sequential([layers.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    save = tf.keras.callbacks.ModelCheckpoint(
        tmp_path / "w-{epoch}", "loss", save_weights_only=True, save_best_only=True
    )
    model.fit(np.ones([4, 3]), np.ones([4, 1]), epochs=2, callbacks=[save], verbose=0)
    expected = model.get_weights()
    model.set_weights([0 * w for w in expected])
    model.load_weights(tmp_path / "w-2").assert_nontrivial_match()
    for a, b in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_saver_in_a_session(tmp_path):
    with tf.Graph().as_default():
        a = v1.get_variable("a", [2])
        v1.get_variable("b", initializer=3)
        saver = v1.train.Saver()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            value = session.run(a)
            path = saver.save(session, tmp_path / "model", global_step=3)
            a.load([0.0, 0.0], session)
            saver.restore(session, path)
            np.testing.assert_array_equal(session.run(a), value)
        with pytest.raises(TypeError, match="must be a Session"):
            saver.save(None, tmp_path / "model")
    assert tf.train.list_variables(path) == [("a", [2]), ("b", [])]
    with tf.Graph().as_default():
        saver = v1.train.import_meta_graph(f"{path}.meta")
        with v1.Session() as session:
            saver.restore(session, path)
            restored = session.run(v1.global_variables())
            np.testing.assert_array_equal(restored[0], value)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="No variables to save"):
        v1.train.Saver()


def test_eager_checkpoints_in_graphs_and_back(tmp_path):
    dense = layers.Dense(2)
    dense(tf.ones([1, 3]))
    eager = tf.train.Checkpoint(dense=dense).save(tmp_path / "eager")
    kernel = dense.kernel.numpy()
    with tf.Graph().as_default():
        other = layers.Dense(2)
        other(tf.ones([1, 3]))
        checkpoint = tf.train.Checkpoint(dense=other, extra=tf.Variable(1.0))
        with v1.Session() as session:
            checkpoint.restore(eager).initialize_or_restore()
            np.testing.assert_array_equal(session.run(other.kernel), kernel)
            assert session.run(checkpoint.extra) == 1
            session.run(other.kernel.assign_add(tf.ones([3, 2])))
            path = checkpoint.save(tmp_path / "graph")
    tf.train.Checkpoint(dense=dense).restore(path)
    np.testing.assert_allclose(dense.kernel.numpy(), kernel + 1)


def test_variables_restored_on_create(tmp_path):
    variable = v1.get_variable("v", initializer=2.0)
    path = tfe.Saver([variable]).save(str(tmp_path / "ck"))
    with tfe.restore_variables_on_create(path):
        assert v1.get_variable("v", initializer=5.0).numpy() == 2
        with pytest.raises(tf.errors.NotFoundError, match="w not found in checkpoint"):
            v1.get_variable("w", initializer=5.0)


def _nested():
    inner = tf.Module()
    inner.v = tf.Variable(0.0)
    return inner


@pytest.mark.parametrize(
    ("make", "variable"),
    [
        (lambda: tf.Variable(0.0), lambda x: x),
        (lambda: [tf.Variable(0.0)], lambda x: x[0]),
        (lambda: {"k": tf.Variable(0.0)}, lambda x: x["k"]),
        (_nested, lambda x: x.v),
    ],
    ids=["variable", "list", "dict", "module"],
)
@pytest.mark.parametrize("owner", [tf.Module, tf.train.Checkpoint, tf.keras.Sequential])
def test_attributes_that_come_after_the_restoration(owner, make, variable, tmp_path):
    saved = owner()
    saved.part = make()
    variable(saved.part).assign(3.0)
    path = tf.train.Checkpoint(owner=saved).save(str(tmp_path / "c"))
    later = owner()
    status = tf.train.Checkpoint(owner=later).restore(path)
    later.part = make()
    assert variable(later.part).numpy() == 3.0
    status.assert_existing_objects_matched()


def test_lists_of_modules_that_grow_after_the_restoration(tmp_path):
    saved = tf.Module()
    saved.parts = [tf.Variable(1.0), tf.Variable(2.0)]
    path = tf.train.Checkpoint(owner=saved).save(str(tmp_path / "c"))
    later = tf.Module()
    checkpoint = tf.train.Checkpoint(owner=later)
    checkpoint.restore(path)
    later.parts = []
    for _ in range(2):
        later.parts.append(tf.Variable(0.0))
    assert [v.numpy() for v in later.parts] == [1.0, 2.0]


def test_shared_objects_have_the_first_of_their_sorted_names(tmp_path):
    shared = tf.Variable(1.0)
    first, second = tf.Module(), tf.Module()
    first.v = second.v = shared
    path = tf.train.Checkpoint(b=second, a=first).save(tmp_path / "ck")
    assert "a/v/.ATTRIBUTES/VARIABLE_VALUE" in [name for name, _ in tf.train.list_variables(path)]
    assert "b/v/.ATTRIBUTES/VARIABLE_VALUE" not in [name for name, _ in tf.train.list_variables(path)]


class Delegate(tf.__internal__.tracking.Trackable):
    """Asks another object what checkpoints hold, as libraries let the classes of their own variables do."""

    def __init__(self, other):
        self.other = other

    def _serialize_to_tensors(self):
        return self.other._serialize_to_tensors()

    def _restore_from_tensors(self, restored_tensors):
        return self.other._restore_from_tensors(restored_tensors)


class Shown(Delegate):
    def _serialize_to_tensors(self):
        return {"VARIABLE_VALUE": self.other}


@pytest.mark.parametrize("kind", [Delegate, Shown])
def test_objects_ask_their_variables(kind, tmp_path):
    variable = tf.Variable([1.0, 2.0])
    saved = tf.train.Checkpoint(it=kind(variable))
    path = saved.write(str(tmp_path / "checkpoint"))
    assert "it/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
    variable.assign([0.0, 0.0])
    saved.read(path).assert_consumed()
    assert variable.numpy().tolist() == [1, 2]
    module = tf.Module()
    module.it = kind(variable)
    tf.saved_model.save(module, str(tmp_path / "model"))


def test_objects_may_ask_what_has_no_values(tmp_path):
    tf.train.Checkpoint(it=Delegate(tf.Module())).write(str(tmp_path / "checkpoint"))
    assert tf.train.list_variables(str(tmp_path / "checkpoint")) == [("_CHECKPOINTABLE_OBJECT_GRAPH", [])]
