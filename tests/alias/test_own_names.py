"""The table of names of TensorFlow's internals: each entry leads to something."""

import importlib

import pytest

from tapeflow.alias import places
from tapeflow.alias.own_names import OWN

NAMES = [(path, name) for path, names in OWN.items() for name in names]


@pytest.mark.parametrize(("path", "name"), NAMES, ids=[f"{path}:{name}" for path, name in NAMES])
def test_name_leads_to_something(path, name):
    place = OWN[path][name]
    if name:
        places._attribute(place)
    else:
        importlib.import_module(f"tapeflow.{place}")


@pytest.mark.parametrize("path", ["python.ops.rnn_cell", "python.ops.rnn_cell_impl", "python.ops.array_ops"])
def test_all_names_of_a_module_can_be_imported(path):
    module = places.Internal(path)
    names = module.public_names()
    known = {"rnn_cell": "RNNCell", "rnn_cell_impl": "GRUCell", "array_ops": "reshape"}
    assert known[path.rpartition(".")[2]] in names
    for name in names:
        module.get(name)
