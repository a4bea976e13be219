"""The command line of the server, and who imports it."""

import pathlib
import re
import subprocess
import sys

import tapeflow


def test_only_the_command_line_imports_the_server():
    root = pathlib.Path(tapeflow.__file__).parent
    files = [f for f in root.rglob("*.py") if re.search(r"^\s*(from|import) tapeflow\.serving", f.read_text(), re.M)]
    assert {f.relative_to(root).parts[0] for f in files} == {"serving", "serve.py"}


def test_a_missing_extra_is_named():
    code = (
        "import importlib.util, sys; importlib.util.find_spec = lambda name: None; from tapeflow.serve import main; "
        "sys.exit(main(['--model', 'm=x']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'tapeflow[serving]'" in done.stderr
