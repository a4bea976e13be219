"""Objects whose special methods run code in the middle of native code: exceptions, but never a crash.

The cases run in processes of their own. One that dies is replaced by another, which goes on after the case that its
log names.
"""

import pathlib
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by way of /proc")

SCRIPT = pathlib.Path(__file__).with_name("hostile_objects.py")
NATIVE = pathlib.Path(__file__).parents[2] / "native"
PARTS = 2


@pytest.mark.parametrize("part", range(PARTS))
def test_code_in_the_middle(part, tmp_path):
    log = tmp_path / "log"
    failures, start = [], part
    while len(failures) < 20:
        done = subprocess.run(
            [sys.executable, SCRIPT, "--start", str(start), "--step", str(PARTS), "--log", log],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode in (0, 1):
            failures += done.stdout.splitlines()[1:] or done.stderr.splitlines() * done.returncode
            break
        number, _, name = log.read_text().strip().partition(" ")
        failures.append(f"{name}: ended with {done.returncode}: {done.stderr[-500:]}")
        start = int(number) + PARTS
    assert not failures, "\n".join(failures)


# Rows of the tables that a type or the module is made of. What frees or traverses an object cannot raise.
FUNCTION = r"(?!METH_|kKeywords|T_)([A-Za-z_][^,{}\"]*?)"
METHODS = re.compile(rf'\{{"\w+",\s*{FUNCTION},\s*(?:METH_|kKeywords)')
PROPERTIES = re.compile(rf'\{{"\w+", {FUNCTION}, {FUNCTION}, (?:nullptr|"|const_cast)')
SLOTS = re.compile(
    rf"\{{Py_(?!tp_(?:dealloc|traverse|clear|doc|methods|members|getset)|bf_releasebuffer)\w+, {FUNCTION}\}}"
)
GUARDED = re.compile(
    r"entry<.*>|(?:method|slot)\(entry<.*>\)"
    r"|nullptr|(?:slot\()?_?Py[A-Z]\w+\)?"  # the interpreter's own
    r"|(?:slot|reinterpret_cast<void\*>)\(n\.nb_\w+\)"  # entries where tensor_number_methods is filled
)


@pytest.mark.parametrize(
    "source", sorted(NATIVE.glob("**/*.cc")), ids=lambda p: str(p.relative_to(NATIVE))
)
def test_every_entry_from_python_is_guarded(source):
    """Methods and slots are `entry<f>`, which turns any C++ exception into a Python one."""
    text = source.read_text()
    given = [f for table in (METHODS, PROPERTIES, SLOTS) for row in table.finditer(text) for f in row.groups()]
    assert not [f for f in given if not GUARDED.fullmatch(f)]
