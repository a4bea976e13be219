"""Runs SavedModels by TensorFlow's C functions: `c_api_client.py LIBRARY FOLDER`.

Needs numpy, and no TensorFlow in Python.

For each NAME.json in the folder ({"inputs": {name: tensor}, "outputs": {name: tensor}}), loads the SavedModel NAME,
runs it with the arguments in NAME.npz, and writes its results to NAME.c_api.npz.
"""

import ctypes as c
import json
import sys
from pathlib import Path

import numpy as np

P = c.c_void_p
NUMBERS = {1: np.float32, 2: np.float64, 3: np.int32, 9: np.int64, 10: np.bool_}
STRING, STRING_BYTES = 7, 24


class Output(c.Structure):
    """`TF_Output`."""

    _fields_ = [("operation", P), ("index", c.c_int)]


def declared(path):
    """The library, with the types of the functions that are called."""
    lib = c.CDLL(path)
    dims = c.POINTER(c.c_int64)
    for name, result, *arguments in (
        ("TF_NewStatus", P), ("TF_GetCode", c.c_int, P), ("TF_Message", c.c_char_p, P), ("TF_Version", c.c_char_p),
        ("TF_NewGraph", P), ("TF_NewSessionOptions", P),
        ("TF_CloseSession", None, P, P), ("TF_DeleteSession", None, P, P),
        ("TF_LoadSessionFromSavedModel", P, P, P, c.c_char_p, c.POINTER(c.c_char_p), c.c_int, P, P, P),
        ("TF_GraphOperationByName", P, P, c.c_char_p), ("TF_DeleteTensor", None, P),
        ("TF_AllocateTensor", P, c.c_int, dims, c.c_int, c.c_size_t), ("TF_TensorData", P, P),
        ("TF_TensorType", c.c_int, P), ("TF_NumDims", c.c_int, P), ("TF_Dim", c.c_int64, P, c.c_int),
        ("TF_TensorByteSize", c.c_size_t, P), ("TF_StringInit", None, P),
        ("TF_StringCopy", None, P, c.c_char_p, c.c_size_t),
        ("TF_SessionRun", None, P, P, *[c.POINTER(Output), c.POINTER(P), c.c_int] * 2, P, c.c_int, P, P),
    ):  # fmt: skip
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


class Client:
    """What is done with the library."""

    def __init__(self, path):
        self.lib = declared(path)
        self.status = self.lib.TF_NewStatus()

    def check(self):
        if self.lib.TF_GetCode(self.status):
            raise RuntimeError(self.lib.TF_Message(self.status).decode())

    def load(self, folder):
        graph, tags = self.lib.TF_NewGraph(), (c.c_char_p * 1)(b"serve")
        session = self.lib.TF_LoadSessionFromSavedModel(
            self.lib.TF_NewSessionOptions(), None, str(folder).encode(), tags, 1, graph, None, self.status
        )
        self.check()
        return graph, session

    def place(self, graph, name):
        node, _, index = name.partition(":")
        operation = self.lib.TF_GraphOperationByName(graph, node.encode())
        assert operation, f"no operation {node}"
        return Output(operation, int(index))

    def tensor(self, array):
        number = STRING if array.dtype == object else next(k for k, v in NUMBERS.items() if v == array.dtype)
        size = STRING_BYTES * array.size if number == STRING else array.nbytes
        made = self.lib.TF_AllocateTensor(number, (c.c_int64 * array.ndim)(*array.shape), array.ndim, size)
        data = self.lib.TF_TensorData(made)
        if number != STRING:
            c.memmove(data, np.ascontiguousarray(array).ctypes.data, size)
        for i, text in enumerate(array.ravel() if number == STRING else ()):
            self.lib.TF_StringInit(data + i * STRING_BYTES)
            self.lib.TF_StringCopy(data + i * STRING_BYTES, text.encode(), len(text.encode()))
        return made

    def array(self, tensor):
        shape = [self.lib.TF_Dim(tensor, i) for i in range(self.lib.TF_NumDims(tensor))]
        content = c.string_at(self.lib.TF_TensorData(tensor), self.lib.TF_TensorByteSize(tensor))
        return np.frombuffer(content, NUMBERS[self.lib.TF_TensorType(tensor)]).reshape(shape)

    def run(self, graph, session, inputs, outputs):
        """The arrays of the tensors that `outputs` lists, for the arrays by tensor in `inputs`."""
        given = (Output * len(inputs))(*(self.place(graph, name) for name in inputs))
        values = (P * len(inputs))(*map(self.tensor, inputs.values()))
        wanted = (Output * len(outputs))(*(self.place(graph, name) for name in outputs))
        made = (P * len(outputs))()
        self.lib.TF_SessionRun(
            session, None, given, values, len(inputs), wanted, made, len(outputs), None, 0, None, self.status
        )
        self.check()
        found = [self.array(tensor) for tensor in made]
        for tensor in [*values, *made]:
            self.lib.TF_DeleteTensor(tensor)
        return found


def main(library, folder):
    client = Client(library)
    for file in sorted(Path(folder).glob("*.json")):
        names = json.loads(file.read_text())
        graph, session = client.load(file.with_suffix(""))
        with np.load(file.with_suffix(".npz"), allow_pickle=True) as arrays:
            given = {tensor: arrays[name] for name, tensor in names["inputs"].items()}
        found = client.run(graph, session, given, list(names["outputs"].values()))
        np.savez(file.with_suffix(".c_api.npz"), **dict(zip(names["outputs"], found)))
        client.lib.TF_CloseSession(session, client.status)
        client.lib.TF_DeleteSession(session, client.status)
        client.check()
    print("TensorFlow", client.lib.TF_Version().decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
