"""tf.keras.wrappers.scikit_learn: models as estimators."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.keras.wrappers.scikit_learn import KerasClassifier, KerasRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)).astype("float32")
NAMES = np.array(["left", "right"])[(X[:, 0] > 0).astype(int)]


def classifier(outputs, loss, metrics=("accuracy",)):
    def build(units=8, rate=0.1):
        last = tf.keras.layers.Dense(outputs, "softmax" if outputs > 1 else "sigmoid")
        model = tf.keras.Sequential([tf.keras.layers.Dense(units, "relu"), last])
        model.compile(tf.keras.optimizers.Adam(rate), loss, metrics=list(metrics))
        return model

    return build


def line():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(0.1), "mse")
    return model


KINDS = [(2, "sparse_categorical_crossentropy"), (2, "categorical_crossentropy"), (1, "binary_crossentropy")]


@pytest.mark.parametrize(("outputs", "loss"), KINDS)
def test_classes_of_any_name_are_learnt(outputs, loss):
    made = KerasClassifier(classifier(outputs, loss), epochs=20, verbose=0)
    history = made.fit(X, NAMES, batch_size=10)
    assert len(history.epoch) == 20
    assert made.classes_.tolist() == ["left", "right"]
    assert made.score(X, NAMES) > 0.9
    assert (made.predict(X).ravel() == NAMES).mean() > 0.9
    chances = made.predict_proba(X)
    assert chances.shape == (60, 2)
    np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-5)


def test_columns_are_classes():
    made = KerasClassifier(classifier(2, "categorical_crossentropy"), epochs=1, verbose=0)
    made.fit(X, tf.keras.utils.to_categorical(NAMES == "right"))
    assert made.classes_.tolist() == [0, 1]


def test_numbers_are_learnt():
    y = X @ [1.0, -2.0] + 0.5
    made = KerasRegressor(line, epochs=60, verbose=0)
    made.fit(X, y)
    assert made.predict(X).shape == (60,)
    assert -0.1 < made.score(X, y) <= 0


def test_parameters_are_told_and_set():
    build = classifier(1, "binary_crossentropy")
    made = KerasClassifier(build, units=3, epochs=2)
    assert made.get_params(deep=True) == {"units": 3, "epochs": 2, "build_fn": build}
    assert made.set_params(units=4, verbose=0) is made
    made.fit(X, NAMES)
    assert made.model.layers[0].units == 4
    assert made.filter_sk_params(build, {"rate": 1}) == {"units": 4, "rate": 1}


class Subclass(KerasRegressor):
    def __call__(self, units=1):
        return line()


def test_a_subclass_may_build_the_model():
    assert Subclass(epochs=1, verbose=0).fit(X, X[:, 0]).epoch == [0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: KerasRegressor(line, depth=2), "depth is not a legal parameter"),
        (lambda: KerasRegressor(line).set_params(depth=2), "depth is not a legal parameter"),
        (lambda: KerasClassifier(line).fit(X, X[:, :, None]), "Invalid shape for y"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_score_needs_the_accuracy():
    made = KerasClassifier(classifier(1, "binary_crossentropy", ()), epochs=1, verbose=0)
    made.fit(X, NAMES)
    with pytest.raises(ValueError, match="not configured to compute accuracy"):
        made.score(X, NAMES)


def test_scikit_learn_validates_it():
    selection = pytest.importorskip("sklearn.model_selection")
    made = KerasClassifier(classifier(1, "binary_crossentropy"), epochs=10, verbose=0)
    search = selection.GridSearchCV(made, {"units": [2, 8]}, cv=2)
    assert search.fit(X, NAMES).best_score_ > 0.6
