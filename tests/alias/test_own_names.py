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
