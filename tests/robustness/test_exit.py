"""The end of the interpreter while threads are in kernels, plans and input pipelines (see exit_program.py)."""

import importlib.util
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import tapeflow as tf

PROGRAM = pathlib.Path(__file__).with_name("exit_program.py")
_spec = importlib.util.spec_from_file_location("exit_program", PROGRAM)
program = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(program)
# What a program that ends in a way returns; None: a negative number is that of the signal.
CODES = {
    "returns": 0, "waits_for_threads": 0, "sys_exit": 3, "raises": 1, "interrupted": -2, "forks": 5, "spawns": 0,
}  # fmt: skip
WORKS = sorted(set(program.WORKS) - {"xla"})
WAYS = sorted(program.WAYS)
# Each work once, each way several times.
SOME = [f"{work}:{way}" for work, way in zip(WORKS, itertools.cycle(WAYS), strict=False)]
LAST_LINES = {"raises": "ValueError: the end", "interrupted": "KeyboardInterrupt"}


def complaint(case, code, errors):
    """What was wrong with the end of a program; "" if nothing was."""
    way = case.split(":")[1]
    if way in LAST_LINES:  # one traceback, that of the main thread
        match = re.fullmatch(r"Traceback \(most recent call last\):\n(  .*\n)+(.*)\n", errors)
        clean = match is not None and match[2] == LAST_LINES[way]
    else:
        clean = errors == ""
    return "" if code == CODES[way] and clean else f"{case} ended with {code}, stderr:\n{errors}"


def ends_of(cases, folder):
    environment = {
        **os.environ,
        "EXIT_FOLDER": str(folder),
        "PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1]),
    }
    command = [sys.executable, str(PROGRAM), *cases]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300 * len(cases))


def wrong(cases, folder):
    found = ends_of(cases, folder)
    assert (found.returncode, found.stderr) == (0, "")
    ends = [json.loads(line) for line in found.stdout.splitlines()]
    assert [end[0] for end in ends] == cases
    return "\n".join(filter(None, itertools.starmap(complaint, ends)))


def test_every_way_is_known():
    assert set(CODES) == set(WAYS)
    assert set(WAYS) == {case.split(":")[1] for case in SOME}


def test_threads_at_work_when_the_interpreter_ends(tmp_path):
    assert wrong(SOME, tmp_path) == ""


@pytest.mark.parametrize("case", ["kernel:returns", "long_kernel:sys_exit", "parallel_map:raises"])
def test_a_program_that_was_not_forked(case, tmp_path):
    found = ends_of([case], tmp_path)
    assert complaint(case, found.returncode, found.stderr) == ""


@pytest.mark.stress
@pytest.mark.parametrize("way", ["returns", "sys_exit", "raises"])
def test_products_longer_than_the_end_of_the_process(way, tmp_path):
    """oneDNN freed machine code that threads still ran; with threads of their own, which forked programs lack."""
    for _ in range(20):
        found = ends_of([f"long_kernel:{way}"], tmp_path)
        assert complaint(f"long_kernel:{way}", found.returncode, found.stderr) == ""


@pytest.mark.stress
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("work", WORKS)
def test_all_ends(work, way, tmp_path):
    if (work, way) == ("finalizers", "interrupted"):
        pytest.skip("Python only reports an exception that is raised in a finalizer, as that of Ctrl-C may be")
    assert wrong([f"{work}:{way}"] * 6, tmp_path) == ""


@pytest.mark.xla
@pytest.mark.parametrize("way", ["returns", "raises", "interrupted"])
def test_ends_of_compiled_functions(way, tmp_path):
    found = ends_of([f"xla:{way}"], tmp_path)
    assert complaint(f"xla:{way}", found.returncode, found.stderr) == ""
