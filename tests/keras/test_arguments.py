"""Arguments that change what is made, or that cannot be kept and are refused."""

import os

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras


def _model():
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, name="first"), keras.layers.Dense(1)])


def test_weights_in_checkpoints_take_options(tmp_path):
    written = []
    options = tf.train.CheckpointOptions(enable_async=True, experimental_write_callbacks=[written.append])
    model, path = _model(), str(tmp_path / "weights")
    model.save_weights(path, options=options)
    assert written == [path]
    other = _model()
    other.load_weights(path, options=tf.train.CheckpointOptions())
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])
    with pytest.raises(TypeError, match="CheckpointOptions"):
        model.load_weights(path, options="fast")
    for name in ("a.h5", "a.weights.h5"):
        with pytest.raises(ValueError, match="HDF5"):
            model.save_weights(str(tmp_path / name), options=options)
        model.save_weights(str(tmp_path / name))
        with pytest.raises(ValueError, match="HDF5"):
            model.load_weights(str(tmp_path / name), options=options)


@pytest.mark.parametrize("name", ["model.h5", "model.keras"])
def test_models_in_one_file_refuse_what_is_for_saved_models(tmp_path, name):
    model, path = _model(), str(tmp_path / name)
    with pytest.raises(ValueError, match=r"not supported.*'options'"):
        model.save(path, options=tf.saved_model.SaveOptions())
    with pytest.raises(ValueError, match=r"not supported.*'signatures'"):
        model.save(path, signatures={})
    model.save(path)
    with pytest.raises(ValueError, match=r"not supported.*'options'"):
        keras.models.load_model(path, options=tf.saved_model.LoadOptions())


def test_model_checkpoint_hands_its_options_on(tmp_path):
    written = []
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[written.append])
    model = _model()
    model.compile("sgd", "mse")
    callback = keras.callbacks.ModelCheckpoint(str(tmp_path / "w"), save_weights_only=True, options=options)
    model.fit(np.zeros([2, 2]), np.zeros([2, 1]), callbacks=[callback], verbose=0)
    assert written == [str(tmp_path / "w")]
    with pytest.raises(TypeError, match="SaveOptions"):
        keras.callbacks.ModelCheckpoint("w", options=options)


def test_models_as_text_with_signatures_of_their_own(tmp_path):
    from tapeflow.keras.experimental import export_saved_model

    model, path = _model(), str(tmp_path / "model")
    export_saved_model(model, path, as_text=True, input_signature=[tf.TensorSpec([4, 2])])
    assert not os.path.exists(os.path.join(path, "saved_model.pb"))
    signature = tf.saved_model.load(path).signatures["serving_default"]
    assert [spec.shape for spec in signature.structured_input_signature[1].values()] == [[4, 2]]


def test_what_layers_do_not_have():
    for make in (
        lambda **kwargs: keras.layers.Dense(3, **kwargs),
        lambda **kwargs: keras.layers.Embedding(3, 2, **kwargs),
        lambda **kwargs: keras.layers.EinsumDense("ab,bc->ac", 3, **kwargs),
    ):
        with pytest.raises(ValueError, match="quantization_config must be None, got 2"):
            make(quantization_config=2)
    with pytest.raises(ValueError, match="gptq_unpacked_column_size must be None"):
        keras.layers.EinsumDense("ab,bc->ac", 3, gptq_unpacked_column_size=2)
    with pytest.raises(ValueError, match="Unknown dtype policy: 'Other'"):
        keras.layers.Dense(3, dtype={"class_name": "Other", "config": {"name": "float32"}})


def test_weights_have_their_aggregation():
    layer = keras.layers.Layer()
    assert layer.add_weight("a", [2], aggregation="sum").aggregation.name == "SUM"
    kind = tf.VariableAggregation.MEAN
    assert layer.add_weight("b", [2], aggregation=kind).aggregation is kind
    on_read = tf.VariableSynchronization.ON_READ
    assert layer.add_weight("c", [2], synchronization=on_read).synchronization is on_read
    with pytest.raises(ValueError, match="Received: aggregation=x"):
        layer.add_weight("d", [2], aggregation="x")
    with pytest.raises(ValueError, match="`partitioner` must be None"):
        layer.add_weight("e", [2], partitioner=lambda **_: [1])


def test_pictures_of_models_in_all_directions():
    pictures = {
        way: keras.utils.plot_model(_model(), None, rankdir=way, show_layer_names=True).data
        for way in ("TB", "BT", "LR", "RL")
    }
    assert len(set(pictures.values())) == 4

    def first(way):
        x, y = pictures[way].partition("first")[2].partition('<rect x="')[2].split('"')[0:3:2]
        return int(x), int(y)

    assert first("TB") == first("LR") == (10, 10)
    assert first("BT")[1] > 10
    assert first("RL")[0] > 10
    for wrong, words in (({"rankdir": "up"}, "rankdir"), ({"a": 1}, "keyword"), ({"layer_range": 1}, "layer_range")):
        with pytest.raises(ValueError, match=words):
            keras.utils.plot_model(_model(), None, **wrong)


def test_smart_resize_knows_where_channels_are():
    image = np.arange(5 * 8 * 3, dtype="float32").reshape(5, 8, 3)
    resize = keras.preprocessing.image.smart_resize
    want = [[23.25, 30.75], [83.25, 90.75]]
    assert resize(image, (2, 2))[..., 0].tolist() == want
    assert resize(image.transpose(2, 0, 1), (2, 2), data_format="channels_first")[0].tolist() == want
    unknown = tf.function(lambda x: resize(x, (2, 2)), input_signature=[tf.TensorSpec([None, None, 3])])
    assert unknown(image)[..., 0].numpy().tolist() == want
    with pytest.raises(ValueError, match="data_format"):
        resize(image, (2, 2), data_format="other")
    with pytest.raises(TypeError, match="unexpected keyword"):
        resize(image, (2, 2), other=1)


def test_a_split_that_loses_classes():
    generator = keras.preprocessing.image.ImageDataGenerator(validation_split=0.5)
    x, y = np.zeros([4, 2, 2, 3]), np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="different number of classes"):
        generator.flow(x, y, subset="training")
    assert generator.flow(x, y, subset="training", ignore_class_split=True).n == 2


def test_sounds_of_folders(tmp_path):
    for name, length in (("a/0.wav", 5), ("a/1.wav", 3), ("b/0.wav", 4)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(tf.audio.encode_wav(np.ones([length, 2], np.float32), 8000).numpy())

    def made(**kwargs):
        found = keras.utils.audio_dataset_from_directory(
            str(tmp_path), batch_size=2, shuffle=False, verbose=False, **kwargs
        )
        return [sounds for sounds, _ in found]

    assert [sounds.shape.as_list() for sounds in made()] == [[2, 5, 2], [1, 4, 2]]
    assert [sounds.row_lengths().numpy().tolist() for sounds in made(ragged=True)] == [[5, 3], [4]]
    assert [sounds.shape.as_list() for sounds in made(output_sequence_length=4)] == [[2, 4, 2], [1, 4, 2]]
    with pytest.raises(ValueError, match="both"):
        made(ragged=True, output_sequence_length=4)
    with pytest.raises(ImportError, match="sampling_rate"):
        made(sampling_rate=4000)


@pytest.mark.parametrize("format", ["grain", "other"])
def test_datasets_of_other_kinds(tmp_path, format):
    with pytest.raises(ValueError, match=format):
        keras.utils.timeseries_dataset_from_array(np.arange(10), None, 3, format=format)
    for make in (keras.utils.image_dataset_from_directory, keras.utils.text_dataset_from_directory):
        with pytest.raises(ValueError, match=format):
            make(str(tmp_path), format=format)
    with pytest.raises(ValueError, match="preferred_backend"):
        keras.utils.split_dataset(np.arange(4), 2, preferred_backend=format)
