"""Draws the pictures `drawn/NAME.svg` while the pages are built, of what the programs in the pages made."""

import contextlib
import io
import os
import runpy
import tempfile
from pathlib import Path

# Each box: its name, what stands below the name, its colour, and the boxes above it.
CALL = [
    ("tf.add(a, b)", "or a + b", "Placeholder", []),
    ("in a graph?", "being built, or an input's", "", ["tf.add(a, b)"]),
    ("a node", "yes: the graph grows", "body", ["in a graph?"]),
    ("values become tensors", "no: it runs now", "", ["in a graph?"]),
    ("native kernel", "if one fits", "", ["values become tensors"]),
    ("Python kernel", "else", "", ["values become tensors"]),
    ("a tensor", "the result", "output", ["native kernel", "Python kernel"]),
    ("an entry of a tape", "if an input is watched", "state", ["native kernel", "Python kernel"]),
]


def boxes(listed):
    from tapeflow.graph.interchange.drawing import Box

    return [Box(name, name, below, colour, above) for name, below, colour, above in listed]


def entries(tape, names):
    """Boxes of the entries of a tape; `names` are those of the program, for what it computed."""
    from tapeflow.graph.interchange.drawing import Box

    known = {
        value._id: name
        for name, value in names.items()
        if hasattr(value, "_id") and not name.startswith("_")
    }
    recorded = sorted(tape._entries(), key=lambda entry: entry[0] != "ReadVariableOp")
    watched = {value._id for value in tape.watched_variables()}
    made = {output for _, _, outputs in recorded for output in outputs}
    found = [
        Box(
            each,
            known.get(each, "a constant"),
            "watched" if each in watched else "",
            "Placeholder",
            [],
        )
        for each in dict.fromkeys(i for _, inputs, _ in recorded for i in inputs if i not in made)
    ]
    for kind, inputs, outputs in recorded:
        name = known.get(outputs[0])
        found.append(
            Box(outputs[0], kind, f"gives {name}" if name else "", "output" if name else "", inputs)
        )
    return found


def pictures():
    """Pairs of a picture's name and its SVG."""
    from tapeflow.graph.interchange import drawing

    yield "call", drawing._svg(boxes(CALL))
    tape = names_of("internals/tape.md")
    yield "tape", drawing._svg(entries(tape["tape"], tape))
    yield "outer", drawing._svg(entries(tape["outer"], tape))
    graph = names_of("internals/graph.md")
    for name, after in {"before": "", "merged": "common subexpressions", "after": "fusion"}.items():
        yield name, drawing.draw(graph["f"], after=after)
    yield "scale", drawing.draw(names_of("internals/function.md")["concrete"])


def names_of(page):
    """What the program of a page defines."""
    text = (Path(__file__).parent / page).read_text()
    code = "\n".join(block.partition("\n```")[0] for block in text.split("\n```python\n")[1:])
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        Path("page.py").write_text(code)  # a file, for AutoGraph reads the source
        return runpy.run_path(os.path.join(folder, "page.py"))


def on_files(files, config):
    from mkdocs.structure.files import File

    for name, picture in pictures():
        files.append(File.generated(config, f"drawn/{name}.svg", content=picture))
    return files
