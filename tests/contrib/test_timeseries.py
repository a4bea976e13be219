"""Time series: what an autoregressive model finds out is what made the series."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import timeseries

TIMES = np.arange(300)


def autoregressive():
    """A series that swings: each value is made of the two before."""
    values, rng = [1.0, 1.0], np.random.default_rng(0)
    for _ in TIMES[2:]:
        values.append(1.5 * values[-1] - 0.8 * values[-2] + rng.normal(scale=0.5))
    return np.array(values)


def reader(values, times=TIMES):
    return timeseries.NumpyReader({"times": times, "values": values})


def test_coefficients_are_found(tmp_path):
    values = autoregressive()
    model = timeseries.ARRegressor(
        None, 2, 1, 1, loss=timeseries.ARModel.SQUARED_LOSS, optimizer=tf.train.AdamOptimizer(0.02),
        model_dir=str(tmp_path),
    )  # fmt: skip
    model.train(timeseries.RandomWindowInputFn(reader(values), 3, 64, shuffle_seed=1), steps=800)
    kernel = model.get_variable_value("ar_model/predicted_mean/kernel").ravel()
    np.testing.assert_allclose(kernel, [-0.8, 1.5], atol=0.1)
    mean = model.get_variable_value("statistics/mean")
    np.testing.assert_allclose(mean, values.mean(), atol=0.2)


@pytest.mark.parametrize("outputs", [10, 7])
def test_a_wave_goes_on(outputs, tmp_path):
    wave = np.stack([np.sin(TIMES / 5) * 3 + 10, np.cos(TIMES / 5)], 1)
    model = timeseries.ARRegressor(
        None, 20, outputs, 2, loss=timeseries.ARModel.SQUARED_LOSS, optimizer=tf.train.AdamOptimizer(0.01),
        model_dir=str(tmp_path),
    )  # fmt: skip
    model.train(timeseries.RandomWindowInputFn(reader(wave[:250], TIMES[:250]), 20 + outputs, 32), steps=500)
    whole = timeseries.WholeDatasetInputFn(reader(wave[:250], TIMES[:250]))
    found = model.evaluate(whole, steps=1)
    assert found["times"].tolist() == [list(range(20, 250))]
    np.testing.assert_allclose(found["observed"][0], wave[:250], rtol=1e-5)
    assert np.abs(found["mean"][0] - wave[20:250]).mean() < 0.2
    assert found["covariance"].shape == (1, 230, 2)
    (after,) = model.predict(timeseries.predict_continuation_input_fn(found, steps=50))
    assert after["times"].tolist() == list(range(250, 300))
    assert np.abs(after["mean"] - wave[250:]).mean() < 0.5


def test_noise_and_periods_are_told_apart(tmp_path):
    """In each half of a period values are about another mean, with another spread."""
    rng, high = np.random.default_rng(1), TIMES % 10 >= 5
    values = np.where(high, 8 + rng.normal(size=300), -2 + 0.2 * rng.normal(size=300))
    model = timeseries.ARRegressor(
        10, 0, 1, 1, num_time_buckets=2, optimizer=tf.train.AdamOptimizer(0.02), model_dir=str(tmp_path)
    )
    model.train(timeseries.RandomWindowInputFn(reader(values), 1, 64, shuffle_seed=1), steps=800)
    found = model.evaluate(timeseries.WholeDatasetInputFn(reader(values)), steps=1)
    for half in (high, ~high):
        np.testing.assert_allclose(found["mean"][0, half, 0], values[half].mean(), atol=0.2)
        np.testing.assert_allclose(found["covariance"][0, half, 0], values[half].var(), rtol=0.3, atol=0.02)


def test_windows(tmp_path):
    series = reader(TIMES * 2.0)
    with tf.Graph().as_default(), tf.Session() as session:
        features, labels = timeseries.RandomWindowInputFn(series, 5, 8, jitter=False)()
        assert labels is None
        found = session.run(features)
    assert found["values"].shape == (8, 5, 1)
    np.testing.assert_array_equal(found["values"][..., 0], 2 * found["times"])
    assert (found["times"][:, 0] % 5 == 0).all()
    file = tmp_path / "series.csv"
    file.write_text("a header\n2,20.5,1\n1,10.5,0\n")
    read = timeseries.CSVReader(str(file), ("times", "values", "values"), 1).read_full()
    assert read["times"].tolist() == [1, 2]
    assert read["values"].tolist() == [[10.5, 0], [20.5, 1]]


def test_wrong_arguments():
    with pytest.raises(ValueError, match=r"Exogenous features are not supported, got \['more'\]"):
        timeseries.NumpyReader({"times": [1], "values": [1], "more": [1]})
    with pytest.raises(ValueError, match="Times are missing"):
        timeseries.NumpyReader({"values": [1]})
    with pytest.raises(ValueError, match="Unsupported loss 'some'"):
        timeseries.ARRegressor(10, 2, 2, 1, loss="some")
    with pytest.raises(NotImplementedError, match="anomalies"):
        timeseries.ARRegressor(10, 2, 2, 1, anomaly_prior_probability=0.1)
    model = timeseries.ARRegressor(10, 2, 2, 1)
    with pytest.raises(ValueError, match="Windows must be of 4 times"):
        model.train(timeseries.RandomWindowInputFn(reader(TIMES), 5, 8), steps=1)
    with pytest.raises(ValueError, match="windows of size 301, but only 300 records were available"):
        timeseries.RandomWindowInputFn(reader(TIMES), 301, 8)()


def test_a_batch_of_one_series():
    times, values = np.arange(10), np.arange(20.0).reshape(10, 2)
    whole = timeseries.NumpyReader({"times": times[None], "values": values[None]}).read_full()
    np.testing.assert_array_equal(whole["values"], values)
    np.testing.assert_array_equal(whole["times"], times)
    with pytest.raises(ValueError, match="do not fit"):
        timeseries.NumpyReader({"times": np.stack([times, times]), "values": np.stack([values, values])})
