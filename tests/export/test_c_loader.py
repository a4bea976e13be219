"""The loader in C (`make test-c`): the same numbers through a PJRT plugin, and an error for whatever is wrong.

`PJRT_PLUGIN` names a plugin; else it is the one of the package lammps-jax-pjrt-cpu, XLA's for CPUs.
"""

import os
import random
import re
import shutil
import struct
import subprocess
import zlib
from importlib.util import find_spec
from pathlib import Path

import export_models as models
import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("jax")

from tapeflow.export import program

HERE = Path(__file__).parent
DEPLOY = HERE.parents[1] / "native" / "deploy"
FLAGS = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{DEPLOY}"]
SOURCES = [DEPLOY / name for name in ("run_model.c", "trial.c", "model.c", "program.c")]
SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
LACKING = {"text": "uses a table", "vocabulary": "uses a table"}
pytestmark = [pytest.mark.xla, pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")]


def plugin_path():
    if "PJRT_PLUGIN" in os.environ:
        return os.environ["PJRT_PLUGIN"]
    spec = find_spec("lammps_jax_pjrt_cpu")
    return None if spec is None else str(next(Path(spec.origin).parent.glob("*.so")))


PLUGIN = plugin_path()
needs_plugin = pytest.mark.skipif(PLUGIN is None, reason="no PJRT plugin")


def build(target, *sources, flags=()):
    subprocess.run(["cc", *FLAGS, *flags, "-o", str(target), *map(str, sources), "-ldl"], check=True, timeout=120)
    return target


@pytest.fixture(scope="module")
def run_model(tmp_path_factory):
    return build(tmp_path_factory.mktemp("c") / "run_model", *SOURCES)


def written(make, path):
    """A model as a file, for the shapes of its arguments; the arguments and the results."""
    function, arguments = make()
    whole = tf.function(lambda *x: function(*x))
    specs = [tf.TensorSpec(a.shape, x.dtype, x.op.name) for a, x in zip(arguments, function.inputs)]
    program.save(whole, path, *specs)
    return arguments, [y.numpy() for y in tf.nest.flatten(function(*map(tf.constant, arguments)))]


def called(binary, *arguments):
    return subprocess.run([str(binary), *map(str, arguments)], capture_output=True, check=False, timeout=300)


@needs_plugin
@pytest.mark.parametrize("make", [m for m in models.MODELS if m.__name__ not in LACKING], ids=lambda m: m.__name__)
def test_models_compute_the_same(make, run_model, tmp_path):
    arguments, expected = written(make, tmp_path / "model.tfp")
    for i, x in enumerate(arguments):
        x.tofile(tmp_path / f"x{i}")
    done = called(run_model, PLUGIN, tmp_path / "model.tfp", *[tmp_path / f"x{i}" for i in range(len(arguments))])
    assert done.returncode == 0, done.stderr.decode()
    found = np.frombuffer(done.stdout, np.float32)
    wanted = np.concatenate([y.ravel() for y in expected])
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=2e-6)
    print("C:", make.__name__, np.abs(found - wanted).max())


@pytest.mark.parametrize("name", LACKING)
def test_what_cannot_be_exported_is_named(name, tmp_path):
    with pytest.raises(tf.errors.UnimplementedError, match=LACKING[name]):
        written(getattr(models, name), tmp_path / "model.tfp")
    assert not (tmp_path / "model.tfp").exists()


@needs_plugin
def test_dtypes_and_arguments_that_are_not_used(run_model, tmp_path):
    def f(a, b, c, unused):
        return {"b": tf.cast(a, tf.int64) + b, "a": tf.logical_not(c), "c": tf.constant([[1.5, 2.5]], tf.float64)}

    given = [np.int32([1, 2]), np.int64([2**40, -1]), np.array([True, False, True]), np.zeros((0, 3), np.float16)]
    program.save(tf.function(f), tmp_path / "model.tfp", *map(tf.constant, given))
    for i, x in enumerate(given):
        x.tofile(tmp_path / f"x{i}")
    done = called(run_model, PLUGIN, tmp_path / "model.tfp", *[tmp_path / f"x{i}" for i in range(4)])
    wanted = [np.array([False, True, False]), np.int64([2**40 + 1, 1]), np.float64([[1.5, 2.5]])]
    assert done.stdout == b"".join(x.tobytes() for x in wanted), done.stderr
    said = done.stderr.decode().splitlines()
    assert said[:2] == ["input a: dtype 3, shape (2)", "input b: dtype 9, shape (2)"]
    assert said[3:] == [
        "input unused: dtype 19, shape (0, 3)", "output a: dtype 10, shape (3)", "output b: dtype 9, shape (2)",
        "output c: dtype 2, shape (1, 2)",
    ]  # fmt: skip


@needs_plugin
def test_what_does_not_fit_is_an_error(run_model, tmp_path):
    written(models.signature, tmp_path / "model.tfp")
    (tmp_path / "x").write_bytes(bytes(32))
    (tmp_path / "short").write_bytes(bytes(31))
    (tmp_path / "text").write_text("no model")
    model, x = tmp_path / "model.tfp", tmp_path / "x"
    for arguments, message in (
        ((tmp_path / "none.so", model, x), "error 1: .*none.so"),
        (("libm.so.6", model, x), "error 1: libm.so.6 is no PJRT plugin"),
        ((PLUGIN, tmp_path / "none.tfp", x), "error 1: .*none.tfp: No such file"),
        ((PLUGIN, tmp_path, x), "error 1: .*directory"),
        ((PLUGIN, tmp_path / "text", x), "error 2: These bytes are no model"),
        ((PLUGIN, model), "has 1 inputs, and 0 files"),
        ((PLUGIN, model, tmp_path / "none"), "none cannot be read"),
        ((PLUGIN, model, tmp_path / "short"), "error 3: Input 'x' has 31 bytes, not 32"),
    ):
        done = called(run_model, *arguments)
        assert done.returncode == 1
        assert re.search(message, done.stderr.decode()), done.stderr
        assert not done.stdout


def test_a_trial_says_what_the_plugin_did(run_model, tmp_path):
    """Plugins that hang, end the process, or are none."""
    (tmp_path / "model.tfp").write_bytes(b"")
    for body, seconds, message in (
        ("for (;;) {}", 1, "error 4: The plugin took more than 1 s with the model"),
        ("abort();", 9, "error 4: The plugin ended its process with the model: signal 6"),
        ("_Exit(3);", 9, "error 4: The plugin ended its process with the model: exit code 3"),
        ("return 0;", 9, "error [14]: "),
    ):
        (tmp_path / "plugin.c").write_text(f"#include <stdlib.h>\nvoid *GetPjrtApi(void) {{ {body} }}\n")
        library = build(tmp_path / "plugin.so", tmp_path / "plugin.c", flags=["-shared", "-fPIC"])
        done = called(run_model, "--try", seconds, library, tmp_path / "model.tfp")
        assert done.returncode == 1
        assert re.match(message, done.stderr.decode()), done.stderr
    for wrong in (["--try"], ["--try", "0", "a", "b"], ["--try", "9", "a"], ["a"]):
        assert b"usage: " in called(run_model, *wrong).stderr


@needs_plugin
def test_wrong_calls(tmp_path):
    written(models.signature, tmp_path / "model.tfp")
    binary = build(tmp_path / "misuse", HERE / "c" / "misuse.c", DEPLOY / "model.c", DEPLOY / "program.c")
    done = called(binary, PLUGIN, tmp_path / "model.tfp")
    assert done.returncode == 0, done.stdout
    lines = [line.split("|") for line in done.stdout.decode().splitlines()]
    assert {name: (int(code), message) for name, code, message in lines} == {
        "right": (0, ""), "right again": (0, ""), "out of range": (1, ""), "filled in": (1, "rank 2, 2 by 4"),
        "no input": (3, "The model has 1 inputs and 1 outputs, not 0 and 1"),
        "no output": (3, "The model has 1 inputs and 1 outputs, not 1 and 0"),
        "dtype": (3, "Input 'x' has dtype 3, not 1"), "rank": (3, "Input 'x' has rank 3, not 2"),
        "shape": (3, "Dimension 0 of input 'x' is 4, not 2"), "few bytes": (3, "Input 'x' has 4 bytes, not 32"),
        "no data": (3, "Input 'x' has 0 bytes, not 32"), "small output": (3, "Output 'y' needs 32 bytes, and has 4"),
        "null output": (3, "Output 'y' needs 32 bytes, and has 0"),
    }  # fmt: skip


@needs_plugin
def test_threads_run_one_model(tmp_path):
    written(models.signature, tmp_path / "model.tfp")
    sources = [HERE / "c" / "threads.c", DEPLOY / "model.c", DEPLOY / "program.c"]
    done = called(build(tmp_path / "threads", *sources, flags=["-pthread"]), PLUGIN, tmp_path / "model.tfp")
    assert done.returncode == 0
    assert done.stdout == b"0 wrong\n"


def repaired(content):
    """The bytes of a model with the checksum that fits them."""
    return content[:12] + struct.pack("<I", zlib.crc32(content[16:])) + content[16:]


def spoiled(content):
    """Bytes of a model cut short and with every byte of the part before the module changed, checksums repaired."""
    end = len(content) - struct.unpack_from("<Q", content, content.rindex(b"ML\xefR") - 8)[0]
    for size in range(end + 4):
        yield content[:size], size < 16
        if size >= 16:
            yield repaired(content[:size]), True
    for at in range(end):
        for value in (0, 1, 0x7F, 0xFF):
            changed = bytearray(content)
            changed[at] = value
            if bytes(changed) == content:
                continue
            yield bytes(changed), True
            if at >= 16:
                yield repaired(bytes(changed)), False  # it may be another model: a name, a smaller size


def test_damaged_files_are_errors(tmp_path):
    written(models.signature, tmp_path / "model.tfp")
    cases = list(spoiled((tmp_path / "model.tfp").read_bytes()))
    for i, (content, _) in enumerate(cases):
        (tmp_path / f"{i}.tfp").write_bytes(content)
    binary = build(tmp_path / "parse", HERE / "c" / "parse_files.c", DEPLOY / "program.c", flags=SANITIZED)
    listed = "".join(f"{tmp_path}/{i}.tfp\n" for i in range(len(cases)))
    done = subprocess.run([str(binary)], input=listed, capture_output=True, text=True, check=True, timeout=300)
    answers = done.stdout.splitlines()
    assert len(answers) == len(cases)
    for (content, wrong), answer in zip(cases, answers, strict=True):
        code, _, message = answer.partition(" ")
        assert code in ("0", "2"), (answer, content[:80])
        assert bool(message) == (code == "2")
        if wrong:
            assert code == "2", content[:80]


def changed_modules(content, count):
    """The bytes of a model with one to three bytes changed behind its checksum, which no longer fits."""
    rng = random.Random(1)
    for _ in range(count):
        data = bytearray(content)
        for at in rng.sample(range(16, len(data)), rng.choice([1, 1, 3])):
            data[at] ^= rng.randrange(1, 256)
        yield bytes(data)


@needs_plugin
def test_the_plugin_sees_no_damaged_module(run_model, tmp_path):
    written(models.module, tmp_path / "model.tfp")
    (tmp_path / "x").write_bytes(bytes(32))
    for data in changed_modules((tmp_path / "model.tfp").read_bytes(), 10):
        (tmp_path / "damaged.tfp").write_bytes(data)
        done = called(run_model, PLUGIN, tmp_path / "damaged.tfp", tmp_path / "x")
        assert done.returncode == 1
        assert done.stderr == b"error 2: The model is damaged: its checksum does not fit\n"


@needs_plugin
@pytest.mark.slow
def test_damaged_modules_do_not_end_the_process(tmp_path):
    """With checksums that fit: after a trial, each is an error or a model, and the sanitizers find nothing of ours."""
    binary = build(tmp_path / "run_model", *SOURCES, flags=SANITIZED)
    written(models.module, tmp_path / "model.tfp")
    (tmp_path / "x").write_bytes(bytes(32))
    codes = []
    for data in changed_modules((tmp_path / "model.tfp").read_bytes(), 100):
        (tmp_path / "damaged.tfp").write_bytes(repaired(data))
        done = called(binary, "--try", "20", PLUGIN, tmp_path / "damaged.tfp", tmp_path / "x")
        said = done.stderr.decode(errors="replace")
        assert done.returncode == 0 or re.search("^error [245]:", said, re.MULTILINE), said
        assert not re.search(r"^SUMMARY: .*(model|program|trial)\.c", said, re.MULTILINE), said
        codes.append(done.returncode)
    assert set(codes) == {0, 1}


@needs_plugin
def test_a_module_that_is_spoiled_or_another_is_an_error(run_model, tmp_path):
    written(models.signature, tmp_path / "model.tfp")
    content = (tmp_path / "model.tfp").read_bytes()
    (tmp_path / "x").write_bytes(bytes(32))
    (tmp_path / "smaller").write_bytes(bytes(24))
    head = content.rindex(b"ML\xefR")

    def shaped(name, *shape):
        return struct.pack("<2qI", *shape, len(name)) + name

    for name, changed, message in (
        ("x", content[16:head] + b"ML\xefR" + bytes(len(content) - head - 4), "error 4: The module does not compile"),
        ("smaller", content[16:].replace(shaped(b"x", 2, 4), shaped(b"x", 2, 3)), "error 4: The model cannot be run"),
        ("x", content[16:].replace(shaped(b"y", 2, 4), shaped(b"y", 4, 2)), "error 2: The module computes output 'y'"),
    ):
        assert changed != content[16:]
        path = tmp_path / "changed.tfp"
        path.write_bytes(repaired(content[:16] + changed))
        done = called(run_model, PLUGIN, path, tmp_path / name)
        assert done.returncode == 1, done.stdout
        assert message in done.stderr.decode()


STRUCTS = """
    pjrt_version=PJRT_Api_Version:major=major_version,minor=minor_version
    pjrt_error_destroy_args=PJRT_Error_Destroy_Args:error
    pjrt_error_message_args=PJRT_Error_Message_Args:error,message,message_size
    pjrt_event_args=PJRT_Event_Await_Args:event
    pjrt_client_create_args=PJRT_Client_Create_Args:options=create_options,num_options,callbacks=kv_get_callback,client
    pjrt_client_destroy_args=PJRT_Client_Destroy_Args:client
    pjrt_devices_args=PJRT_Client_AddressableDevices_Args:client,devices=addressable_devices
    pjrt_program=PJRT_Program:code,code_size,format,format_size
    pjrt_compile_args=PJRT_Client_Compile_Args:client,program,options=compile_options,executable
    pjrt_from_host_args=PJRT_Client_BufferFromHostBuffer_Args:client,data,type,dims,num_dims,strides=byte_strides,semantics=host_buffer_semantics,device,memory,device_layout,done=done_with_host_buffer,buffer
    pjrt_loaded_destroy_args=PJRT_LoadedExecutable_Destroy_Args:executable
    pjrt_get_executable_args=PJRT_LoadedExecutable_GetExecutable_Args:loaded=loaded_executable,executable
    pjrt_executable_destroy_args=PJRT_Executable_Destroy_Args:executable
    pjrt_num_outputs_args=PJRT_Executable_NumOutputs_Args:executable,num_outputs
    pjrt_execute_options=PJRT_ExecuteOptions:send_callbacks,num_send=num_send_ops,launch_id,non_donatable=non_donatable_input_indices,context
    pjrt_execute_args=PJRT_LoadedExecutable_Execute_Args:executable,options,arguments=argument_lists,num_devices,num_arguments=num_args,outputs=output_lists,complete=device_complete_events,device=execute_device
    pjrt_buffer_destroy_args=PJRT_Buffer_Destroy_Args:buffer
    pjrt_element_type_args=PJRT_Buffer_ElementType_Args:buffer,type
    pjrt_dimensions_args=PJRT_Buffer_Dimensions_Args:buffer,dims,num_dims
    pjrt_layout=PJRT_Buffer_MemoryLayout:tiled,type
    pjrt_to_host_args=PJRT_Buffer_ToHostBuffer_Args:buffer=src,layout=host_layout,data=dst,size=dst_size,event
    pjrt_api=PJRT_Api:version=pjrt_api_version,error_destroy=PJRT_Error_Destroy,error_message=PJRT_Error_Message,initialize=PJRT_Plugin_Initialize,event_destroy=PJRT_Event_Destroy,event_await=PJRT_Event_Await,client_create=PJRT_Client_Create,client_destroy=PJRT_Client_Destroy,client_devices=PJRT_Client_AddressableDevices,compile=PJRT_Client_Compile,from_host=PJRT_Client_BufferFromHostBuffer,executable_destroy=PJRT_Executable_Destroy,num_outputs=PJRT_Executable_NumOutputs,loaded_destroy=PJRT_LoadedExecutable_Destroy,get_executable=PJRT_LoadedExecutable_GetExecutable,execute=PJRT_LoadedExecutable_Execute,buffer_destroy=PJRT_Buffer_Destroy,element_type=PJRT_Buffer_ElementType,dimensions=PJRT_Buffer_Dimensions,to_host=PJRT_Buffer_ToHostBuffer
"""


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no interpreter with TensorFlow")
def test_the_interface_is_that_of_its_header(tmp_path):
    script = "import importlib.util as u, pathlib; print(pathlib.Path(u.find_spec('tensorflow').origin).parent)"
    done = subprocess.run([os.environ["TF_PYTHON"], "-c", script], capture_output=True, text=True, check=True)
    include = Path(done.stdout.strip()) / "include"
    lines = ['#include "xla/pjrt/c/pjrt_c_api.h"', '#include "pjrt.h"']
    lines += ["_Static_assert(sizeof(pjrt_layout) == sizeof(PJRT_Buffer_MemoryLayout), \"\");"]
    for line in STRUCTS.split():
        names, _, fields = line.partition(":")
        mine, _, its = names.partition("=")
        if mine != "pjrt_api":
            lines.append(f'_Static_assert(sizeof({mine}) >= {its}_STRUCT_SIZE, "{mine}");')
        for field in fields.split(","):
            own, _, other = field.partition("=")
            at = f"offsetof({mine}, {own}) == offsetof({its}, {other or own})"
            lines.append(f'_Static_assert({at}, "{mine}.{own}");')
    (tmp_path / "layout.c").write_text("\n".join([*lines, "int main(void) { return 0; }\n"]))
    command = ["cc", "-std=c11", f"-I{DEPLOY}", f"-I{include}", "-o", tmp_path / "layout", tmp_path / "layout.c"]
    subprocess.run(list(map(str, command)), check=True)
