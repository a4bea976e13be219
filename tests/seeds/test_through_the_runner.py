"""The same programs, as they were written: `import tensorflow`, run by `python -m tapeflow.run`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
CONFTEST = FOLDER.parent / "conftest.py"
PROGRAMS = sorted(
    file.stem for file in FOLDER.glob("test_*.py") if file.stem != Path(__file__).stem
)
CHANGES = [
    (r"^import tapeflow\.compat\.v1 as tf$", "import tensorflow.compat.v1 as tf"),
    (r"^import tapeflow\.contrib\.eager as tfe$", "import tensorflow.contrib.eager as tfe"),
    (r"^import tapeflow as (\w+)$", r"import tensorflow as \1"),
]


def test_all_are_there():
    assert len(PROGRAMS) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, tmp_path):
    text = (FOLDER / f"{name}.py").read_text()
    for old, new in CHANGES:
        text = re.sub(old, new, text, flags=re.MULTILINE)
    assert "import tensorflow" in text
    (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    gpu\n    slow\n    oracle\n")
    done = subprocess.run(
        [sys.executable, "-m", "tapeflow.run", "-m", "pytest", "-q", "-p", "no:cacheprovider",
         "--import-mode=importlib", "-W", "error", str(tmp_path)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
