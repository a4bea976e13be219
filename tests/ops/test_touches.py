"""What rows touch outside of the program is what they declare."""


import numpy as np
import pytest

import tapeflow as tf
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY

load_all_rows()


class Generator:
    """What samples draw from: `normal(*shape)`."""

    def __init__(self):
        self.numbers = np.random.default_rng(7)

    def normal(self, *shape):
        return np.asarray(self.numbers.normal(size=shape))


def test_samples_touch_only_what_their_row_declares(effects):
    undeclared = {}
    for name, row in sorted(REGISTRY.items()):
        for sample in row.sample_source(Generator()) if row.sample_source else ():
            with effects() as found:
                try:
                    row(*sample.inputs, **sample.attrs)
                except Exception:
                    assert sample.raises is not None
            if found and row.touches != "files":
                undeclared[name] = found[0]
    assert not undeclared


@pytest.mark.parametrize(
    ("kind", "touches"),
    [
        ("ReadFile", "files"), ("WriteFile", "files"), ("MatchingFiles", "files"), ("SaveV2", "files"),
        ("RestoreV2", "files"), ("MergeV2Checkpoints", "files"), ("TextLineDataset", "files"),
        ("CacheDatasetV2", "files"), ("WholeFileReaderV2", "files"), ("ReaderReadV2", "files"),
        ("InitializeTableFromTextFileV2", "files"), ("FixedUnigramCandidateSampler", "files"),
        ("DecodeProtoV2", "files"), ("PyFunc", "python"), ("EagerPyFunc", "python"), ("PyFuncStateless", "python"),
        ("AddV2", ""), ("If", ""), ("RangeDataset", ""), ("QueueSizeV2", ""), ("HashTableV2", ""),
    ],
)  # fmt: skip
def test_ops_say_what_they_touch(kind, touches):
    assert op_defs.touches(kind) == touches


def test_every_op_that_takes_the_name_of_a_file_says_so():
    silent = [
        kind
        for kind in op_defs.names()
        if any(
            part in word.name.lower()
            for word in (*op_defs.op_def(kind).input_arg, *op_defs.op_def(kind).attr)
            for part in ("file", "path", "prefix", "descriptor_source", "directory")
        )
        and not op_defs.touches(kind)
    ]
    # Paths through labels, `is_files`, which says what the strings of a dataset are, and the beginnings of names of
    # counters: nothing opens them.
    assert sorted(silent) == [
        "CTCBeamSearchDecoder", "ExperimentalSetStatsAggregatorDataset", "SetStatsAggregatorDataset",
        "TensorSliceDataset",
    ]  # fmt: skip


def test_unknown_ops_are_not_taken_for_harmless():
    with pytest.raises(KeyError):
        op_defs.touches("NoSuchOp")


@pytest.mark.parametrize(
    ("source", "touches"),
    [("local://", ""), ("bytes://\n", ""), ("/etc/passwd", "files"), ("bytes:/x", "files"), ("local://x", "files"),
     ("x/local://", "files")],
)  # fmt: skip
def test_messages_described_in_the_node_touch_no_file(source, touches):
    node = tf.compat.v1.NodeDef(name="n", op="DecodeProtoV2")
    node.attr["descriptor_source"].s = source.encode()
    assert op_defs.touches_of(node) == touches
