"""Counters, gauges and samplers of libraries."""

import pytest

from tapeflow.core import monitoring


@pytest.mark.parametrize(
    ("kind", "first", "given"),
    [
        (monitoring.IntGauge, 0, 7),
        (monitoring.BoolGauge, False, True),
        (monitoring.StringGauge, "", "text"),
    ],
    ids=["int", "bool", "string"],
)
def test_a_gauge_keeps_the_last_value_of_each_label(kind, first, given):
    gauge = kind("/test/gauge", "of a test", "label")
    assert gauge.get_cell("a").value() == first
    gauge.get_cell("a").set(given)
    assert gauge.get_cell("a").value() == given
    assert gauge.get_cell("b").value() == first
    with pytest.raises(ValueError, match="1 labels, got 0"):
        gauge.get_cell()


def test_a_counter_adds():
    counter = monitoring.Counter("/test/counter", "of a test")
    counter.get_cell().increase_by(2)
    counter.get_cell().increase_by(3)
    assert counter.get_cell().value() == 5
    with pytest.raises(ValueError, match="-1"):
        counter.get_cell().increase_by(-1)


def test_a_sampler_counts_in_buckets():
    sampler = monitoring.Sampler(
        "/test/sampler", monitoring.ExponentialBuckets(1.0, 10.0, 2), "of a test", "label"
    )
    cell = sampler.get_cell("a")
    for sample in (0.5, 1.0, 20.0):
        cell.add(sample)
    histogram = cell.value()
    assert list(histogram.bucket_limit)[:2] == [1.0, 10.0]
    assert list(histogram.bucket) == [1.0, 1.0, 1.0]
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (0.5, 20.0, 3.0, 21.5)
    assert sampler.get_cell("b").value().num == 0


def test_time_is_added_in_microseconds():
    cell = monitoring.Counter("/test/time", "of a test").get_cell()

    @monitoring.monitored_timer(cell)
    def wait(seconds):
        deadline = monitoring.time.monotonic() + seconds
        while monitoring.time.monotonic() < deadline:
            pass
        return seconds

    assert wait(0.002) == 0.002
    assert cell.value() >= 2000
