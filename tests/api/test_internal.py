"""What of `tf.__internal__`, which libraries use, is here: internal.txt has TensorFlow's names and their arguments."""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import names

# Why names are not here.
ABSENT = {
    "Tests over several processes, which need a cluster": {
        "distribute.multi_process_runner.NotInitializedError",
        "distribute.multi_process_runner.SubprocessTimeoutError",
        "distribute.multi_process_runner.UnexpectedSubprocessExitError",
        "distribute.multi_process_runner.get_barrier",
        "distribute.multi_process_runner.run",
        "distribute.multi_process_runner.test_main",
    },
}
# Why arguments differ.
OTHERWISE = {
    "SymbolicTensor": "made by operations, which know their shapes",
    "function.Function": "creates_variables= is one more, the name has a default",
    "train.update_checkpoint_state": "the public function, whose options have another order; all are given by name",
    "types.data.Dataset": "the class of datasets itself",
}


def test_what_is_missing_has_a_reason():
    assert set(names.missing("internal")) == {name for listed in ABSENT.values() for name in listed}


def test_arguments_are_those_of_tensorflow():
    found = names.differing("internal")
    assert {name: pair for name, pair in found.items() if name not in OTHERWISE} == {}
