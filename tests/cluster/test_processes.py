"""Programs of 1.x on clusters of several processes of this machine."""

import re

import pytest

pytest.importorskip("grpc")

from processes import cluster, output, wait_for


def loss_of(text):
    return float(re.search(r"^loss (\S+)", text, re.MULTILINE)[1])


def own_of(text):
    return int(re.search(r"own (\d+)$", text, re.MULTILINE)[1])


def start_workers(made, kind, steps):
    """The chief, and then the other worker, which would else wait for half a minute."""
    chief = made.start("train_regression.py", "worker", 0, kind, steps, "")
    wait_for(chief, "begun")
    return chief, made.start("train_regression.py", "worker", 1, kind, steps, "")


@pytest.mark.slow
@pytest.mark.parametrize("servers", [1, 2])
def test_two_workers_train_asynchronously(servers):
    with cluster(ps=servers, worker=2) as made:
        for i in range(servers):
            made.start("serve_task.py", "ps", i)
        texts = [output(each) for each in start_workers(made, "async", 300)]
    assert loss_of(texts[0]) < 1e-3
    assert own_of(texts[0]) + own_of(texts[1]) >= 300


@pytest.mark.slow
def test_two_workers_train_in_step():
    with cluster(ps=1, worker=2) as made:
        made.start("serve_task.py", "ps", 0)
        chief, other = start_workers(made, "sync", 60)
        text = output(chief)
        other.kill()  # it may wait for a token of a chief that is gone
        rest = other.communicate()[0]
    assert loss_of(text) < 1e-3
    # Each step takes two gradients; what comes late is dropped.
    assert own_of(text) + rest.count("step") >= 2 * 60 - 2
    assert rest.count("step")
