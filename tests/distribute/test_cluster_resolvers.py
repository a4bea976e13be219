"""Clusters as Slurm, Kubernetes and Compute Engine describe them; their APIs are small stand-ins here."""

import json
import os
from types import SimpleNamespace

import pytest

import tapeflow as tf
from tapeflow.distribute.managed_clusters import expand_hostlist, expand_tasks_per_node

resolvers = tf.distribute.cluster_resolver
STEP = {
    "SLURM_PROCID": "1",
    "SLURM_STEP_NUM_TASKS": "5",
    "SLURM_STEP_NODELIST": "t[01-02],m5",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
}


@pytest.fixture
def step(monkeypatch):
    for name, value in STEP.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3")


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n1", ["n1"]),
        ("n[1-2],m5,o[3-4,6,7-9]", ["n1", "n2", "m5", "o3", "o4", "o6", "o7", "o8", "o9"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
    ],
)
def test_hostlists(text, hosts):
    assert expand_hostlist(text) == hosts


@pytest.mark.parametrize("text", ["n[", "n]1", "n[1-]", "n[a]", "n[1][2]", "n[1-2-3]"])
def test_hostlists_that_cannot_be_read(text):
    with pytest.raises(ValueError, match="Invalid hostlist format"):
        expand_hostlist(text)


def test_tasks_per_node():
    assert expand_tasks_per_node("3(x2),2,1") == [3, 3, 2, 1]
    with pytest.raises(ValueError, match="Invalid tasks-per-node"):
        expand_tasks_per_node("3x2")


def test_slurm(step):
    resolver = resolvers.SlurmClusterResolver({"ps": 1, "worker": 4})
    assert resolver.get_task_info() == (None, None)
    assert resolver.cluster_spec().as_dict() == {
        "ps": ["m5:8888"],
        "worker": ["t01:8888", "t01:8889", "t02:8888", "t02:8889"],
    }
    assert resolver.get_task_info() == ("worker", 0)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert resolver.num_accelerators() == {"GPU": 2}
    assert resolver.master() == "grpc://t01:8888"
    assert resolver.master("ps", 0, "ab") == "ab://m5:8888"


def test_slurm_without_gpus(step, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    resolver = resolvers.SlurmClusterResolver(tasks_per_node={"a": 3, "b": 2}, port_base=1)
    assert resolver.cluster_spec().as_dict() == {"worker": ["a:1", "a:2", "a:3", "b:1", "b:2"]}
    assert resolver.get_task_info() == ("worker", 1)


def test_slurm_that_does_not_fit(step, monkeypatch):
    with pytest.raises(RuntimeError, match="Requested 3 tasks but only 5"):
        resolvers.SlurmClusterResolver({"worker": 3})
    with pytest.raises(RuntimeError, match="more GPUs"):
        resolvers.SlurmClusterResolver(gpus_per_task=3)
    monkeypatch.delenv("SLURM_PROCID")
    with pytest.raises(RuntimeError, match="SLURM_PROCID not found"):
        resolvers.SlurmClusterResolver()


def pod(name, ip, phase="Running"):
    return SimpleNamespace(
        metadata=SimpleNamespace(name=name), status=SimpleNamespace(host_ip=ip, phase=phase)
    )


def pods_of(**groups):
    return SimpleNamespace(
        list_pod_for_all_namespaces=lambda label_selector: SimpleNamespace(items=groups[label_selector])
    )


def test_kubernetes():
    client = pods_of(a=[pod("n2", "10.0.0.2"), pod("n1", "10.0.0.1")], b=[pod("n0", "10.0.0.3")], p=[pod("p", "::1")])
    resolver = resolvers.KubernetesClusterResolver({"worker": ["a", "b"], "ps": ["p"]}, 80, override_client=client)
    assert resolver.cluster_spec().as_dict() == {
        "worker": ["10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"],
        "ps": ["::1:80"],
    }
    assert resolver.master() == ""
    resolver.task_type, resolver.task_id = "worker", 2
    assert resolver.master() == "grpc://10.0.0.3:80"


def test_kubernetes_pods_must_run():
    client = pods_of(a=[pod("n1", "10.0.0.1", "Pending")])
    with pytest.raises(RuntimeError, match='Pod "n1" is not running; phase: "Pending"'):
        resolvers.KubernetesClusterResolver({"worker": ["a"]}, override_client=client).cluster_spec()


class Compute:
    """The two collections of the API that are asked, with pages of two instances."""

    def __init__(self, **addresses):
        self.addresses = addresses
        names = sorted(addresses)
        self.pages = [names[i : i + 2] for i in range(0, len(names), 2)]

    def instanceGroups(self):
        return self

    instances = instanceGroups

    def _page(self, number):
        items = [{"instance": f"https://example.com/{name}"} for name in self.pages[number]]
        return SimpleNamespace(number=number, execute=lambda: {"items": items})

    def listInstances(self, project, zone, instanceGroups, body, orderBy):
        assert (project, zone, instanceGroups, body) == ("p", "z", "g", {"instanceState": "RUNNING"})
        return self._page(0)

    def listInstances_next(self, previous_request, previous_response):
        after = previous_request.number + 1
        return self._page(after) if after < len(self.pages) else None

    def get(self, project, zone, instance):
        return SimpleNamespace(execute=lambda: {"networkInterfaces": [{"networkIP": self.addresses[instance]}]})


def test_compute_engine():
    service = Compute(c="10.0.0.1", a="10.0.0.3", b="10.0.0.2")
    resolver = resolvers.GCEClusterResolver("p", "z", "g", 8470, credentials=None, service=service)
    assert resolver.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.3:8470"]}
    assert resolver.master() == "grpc://10.0.0.1:8470"
    resolver.task_id, resolver.rpc_layer = 1, "test"
    assert resolver.master() == "test://10.0.0.2:8470"
    with pytest.raises(RuntimeError, match="cannot reset the task_type"):
        resolver.task_type = "ps"


@pytest.mark.parametrize(
    ("config", "master", "task"),
    [
        ({"cluster": {"ps": ["p:1", "q:1"]}, "task": {"type": "ps", "index": 1}}, "q:1", ("ps", 1)),
        ({"cluster": {"worker": {"1": "w:1"}, "ps": ["p:1"]}, "task": {"type": "worker", "index": "1"}}, "w:1",
         ("worker", 1)),
        ({"cluster": {"7": ["p:1", "q:1"]}, "task": {"type": 7, "index": 0}, "rpc_layer": "grpc"}, "grpc://p:1",
         ("7", 0)),
        ({"cluster": {"ps": ["p:1", "q:1"]}, "task": {"type": "ps", "index": 1}, "session_master": "m:1"}, "m:1",
         ("ps", 1)),
        ({"cluster": {"worker": ["w:1"]}, "task": {"type": "worker", "index": 0}}, "", ("worker", 0)),
        ({}, "", (None, None)),
    ],
)  # fmt: skip
def test_the_master_that_tf_config_says(monkeypatch, config, master, task):
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    assert resolver.master() == master
    assert (resolver.task_type, resolver.task_id) == task
