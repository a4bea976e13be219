"""Every reader of files and bytes, given damaged ones: a value or a Python exception, in short time and little memory,
and no effect but that the file is read.
"""

import contextlib
import gc
import os
import random
import resource
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from effects import confined
from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError
from more_readers import MORE_READERS
from PIL import Image
from readers import READERS as FIRST_READERS
from reading import called, places

import tapeflow as tf
from tapeflow.saved_model.fingerprint import FingerprintException

READERS = FIRST_READERS | MORE_READERS
# What NumPy reads headers with, how arrays are unpickled, and what names files of events.
EFFECTS = {"npz": ("compile",), "array in a checkpoint": ("compile",), "images of cifar": ("pickle.find_class",),
           "program": ("compile",), "summary": ("socket.gethostname",),
           "graph to record": ("socket.gethostname",)}  # fmt: skip
ALLOWED = (tf.errors.OpError, ValueError, OSError, TypeError, KeyError, UnicodeError, FingerprintException)
# What more a reader raises: as TensorFlow's, those that hand on what the library of messages says.
MESSAGES = (DecodeError, text_format.ParseError, json_format.ParseError)
MORE_ALLOWED = dict.fromkeys(
    ("event", "classifier", "topology", "summary", "graph to record", "description of a summary", "frozen graph",
     "frozen graph in text", "graph in an archive", "graph of a tool", "text of a tool", "session bundle",
     "models to serve"), MESSAGES)  # fmt: skip
# A cache whose index is not there, or that ends early, is written anew; other files are put where they are looked for.
WRITES = {"cache", "model in text", "fingerprint", "saved dataset", "stored requests", "entries of a checkpoint",
          "entries of version 1", "graph of objects", "event", "summary", "graph to record", "session bundle",
          "SavedModel of 1.x", "metadata of Keras 2", "list of shards", "zip", "tar", "tar of gzip", "tar of xz",
          "backup of a training", "count of calls", "checkpoint to merge"}  # fmt: skip
HDF5 = (".keras", ".h5", ".weights.h5", "list of shards", "vocabulary in .keras", "weights in .keras")
NEEDS = dict.fromkeys(HDF5, "h5py")
SECONDS, MEMORY = 20, 2 << 30


def _damaged(data, rng):
    """The bytes with something cut, lost, changed, or put in."""
    if not data:
        return b"\xff"
    at, kind = rng.randrange(len(data)), rng.randrange(5)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + data[at + rng.randrange(1, 64) :]
    if kind == 2:
        return data[:at] + rng.randbytes(rng.randrange(1, 20)) + data[at:]
    changed = bytearray(data)
    for _ in range(1 if kind == 3 else 10):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


@contextlib.contextmanager
def limited():
    """A block that fails if it takes long, or much memory."""

    def late(*_):
        raise AssertionError(f"reading takes more than {SECONDS} seconds")

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before, alarm = resource.getrlimit(resource.RLIMIT_AS), signal.signal(signal.SIGALRM, late)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, alarm)
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.filterwarnings("ignore")  # Pillow's, of damaged images, and what restoring says of what is missing
@pytest.mark.parametrize("name", READERS)
def test_damaged_files(tmp_path, name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    write, read, endings = READERS[name]
    path = tmp_path / "file"
    write(path)
    Image.init()  # imports what Pillow tries, if it can
    good = {ending: (tmp_path / f"file{ending}").read_bytes() for ending in endings}
    read(path)  # the good one, which also imports what is imported on first use
    gc.collect()
    gc.freeze()  # `confined` collects garbage each time
    rng = random.Random(name)
    for _ in range(int(os.environ.get("TAPEFLOW_DAMAGED", "30"))):
        for ending in endings:
            for other, data in good.items():
                (tmp_path / f"file{other}").write_bytes(_damaged(data, rng) if other == ending else data)
            writes = [tmp_path] if name in WRITES else []
            with (
                contextlib.suppress(*ALLOWED, *MORE_ALLOWED.get(name, ())), limited(),
                confined(tmp_path, writes=writes, allowed=EFFECTS.get(name, ())),
            ):  # fmt: skip
                read(path)


# Functions that read, and are not among the readers here, and why.
_HASHED = "the hash of the file is compared before"
_OWN = "takes apart what it has made itself"
_ARRAY = "the bytes of an array, of any content"
_BYTES = "hands on the bytes as they are"
_LITE = "tests/lite/test_interpreter.py"
_SERVING = "tests/serving/test_fuzz.py"
_CLUSTER = "tests/cluster/test_malformed_requests.py"
_RAY = "what processes of one program give each other through Ray"
NOT_HERE = {
    "alias/stand_ins.py read_file_to_string": _BYTES, "v1/resource_loader.py load_resource": _BYTES,
    "keras/utils/files.py validate_file": _BYTES, "contrib/ffmpeg/audio.py _decoded": "what the program ffmpeg reads",
    "contrib/learn/preprocessing.py ByteProcessor.transform": _ARRAY,
    "api/generate.py _strings": "the package's own sources",
    "checkpoint/views.py ObjectGraphView.serialize_object_graph": _OWN,
    "cluster/grpc_server.py _handler.<locals>.handle": _CLUSTER, "cluster/worker.py Worker.RegisterGraph": _CLUSTER,
    "data/service/client.py from_dataset_id": _RAY, "data/shipping.py from_bytes": _RAY,
    "distribute/parameter_servers/shipping.py Program.__init__": _RAY,
    "contrib/gan/eval/classifiers.py get_graph_def_from_resource": "as that of any file, for one of the program",
    "contrib/learn/preprocessing.py VocabularyProcessor.restore": "a pickle, for files that are trusted",
    "data/fingerprint.py fingerprint": _OWN, "xla/processes.py GroupStep._agreed": _OWN,
    "keras/applications/imagenet_utils.py decode_predictions": _HASHED,
    "keras/datasets/boston_housing.py split": _HASHED, "keras/datasets/fashion_mnist.py _read": _HASHED,
    "keras/datasets/imdb.py get_word_index": _HASHED, "keras/datasets/imdb.py load_data": _HASHED,
    "keras/datasets/reuters.py get_word_index": _HASHED, "keras/datasets/reuters.py load_data": _HASHED,
    "keras/callbacks/recording.py CSVLogger.on_train_begin": "looks whether there is a line",
    "graph/interchange/function_attributes.py _implements": "a text of the program",
    "keras/function_code.py load": "tests/robustness/test_hostile_models.py",
    "lite/integers.py _Graph._constant": _LITE, "lite/integers.py _Graph._quantize": _LITE,
    "lite/interpreter.py _read": _LITE, "lite/trained.py _unlimited": _LITE, "lite/trained.py _weights": _LITE,
    "lite/verifying.py _Verifier._strings": _LITE,
    "ops/array/bitcast.py _": _ARRAY, "ops/io/raw_bytes.py _elements": _ARRAY,
    "ops/io/summary_rows.py _": "a formula of a test", "ops/old_rows.py _": "a formula of a test",
    "ops/queue/queues.py RandomShuffleQueue.__init__": _OWN,
    "ops/random/distributions.py NonDeterministicInts": _ARRAY, "ops/string/hashing.py _word": _BYTES,
    "ops/string/hashing_keyed.py murmur64": _BYTES, "ops/string/hashing_keyed.py siphash": _BYTES,
    "ops/string/unicode_scripts.py script_ranges": "a table of the package",
    "run.py _run_file": "a program, which runs", "testing/case.py TestCase.assertProtoEquals": "a text of the test",
    "serving/grpc_server.py GrpcServer._handler.<locals>.handle": _SERVING,
    "serving/inference.py _serialized": _SERVING, "serving/rest_app.py _fill": _SERVING,
    "v1/flag_values.py _words.<locals>.read": "a word of the command line",
}  # fmt: skip


def test_every_reader_is_damaged(tmp_path):
    done = subprocess.run([sys.executable, __file__, str(tmp_path)], check=True, capture_output=True, text=True)
    missing = set(done.stdout.splitlines())
    unknown = sorted(missing - NOT_HERE.keys())
    assert not unknown, f"add readers to readers.py or more_readers.py that call these: {unknown}"
    assert missing == NOT_HERE.keys()
    assert all((Path(__file__).parents[2] / why).exists() for why in NOT_HERE.values() if why.startswith("tests/"))


def functions_not_called(folder):
    """The functions that read, and that no reader calls for a good file: a process of its own has nothing kept."""
    with called() as seen:
        for name, (write, read, _) in READERS.items():
            own = folder / name
            own.mkdir()
            write(own / "file")
            read(own / "file")
    return sorted(places() - seen.functions())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("\n".join(functions_not_called(Path(sys.argv[1]))))
