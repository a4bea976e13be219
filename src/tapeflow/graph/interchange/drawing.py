"""Graphs as pictures: `draw` makes an SVG of a graph, of a function, or of its program after
each pass; `text` prints them.

Nodes stand in layers, each below all that it takes; within a layer they are ordered by where their inputs are
(the barycentre heuristic of Sugiyama, Tagawa and Toda 1981).
"""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph import passes
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.graph import Graph
from tapeflow.graph.run import planning
from tapeflow.graph.run.program import Program

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 150, 38, 18, 34
_COLOURS = {
    "Placeholder": "#d7e8d4",
    "Const": "#eeeeee",
    "output": "#f7e0b8",
    "state": "#f3d3d3",
    "body": "#d9e1f5",
}


class Box(NamedTuple):
    """A node of the picture."""

    key: Any
    title: str
    subtitle: str
    kind: str
    sources: list[Any]


def draw(what: Any, path: str | None = None, after: str | None = None) -> str:
    """An SVG picture, also written to the file `path` if given.

    Args:
      what: a `Graph`, a concrete function, a `tf.function` with one trace, or a `Program`.
      after: the name of a pass ("prune", "constant folding", ...): draws the program of the function as it is after
        that pass; "" as it is before all of them. None: the graph itself.

    Raises TypeError for what cannot be drawn, ValueError for a pass that there is not.
    """
    subject = _subject(what)
    if after is not None and not isinstance(subject, Program):
        subject = stages(what)[_stage(after)][1]
    boxes = _of_program(subject) if isinstance(subject, Program) else _of_graph(subject)
    picture = _svg(boxes)
    if path is not None:
        replace_file(path, picture.encode())
    return picture


def text(what: Any) -> str:
    """The operations of a graph or the instructions of a program, a line each."""
    subject = _subject(what)
    if isinstance(subject, Program):
        return str(subject)
    lines = []
    for op in subject.operations:
        outputs = ", ".join(f"{y.dtype.name}{_shape(y)}" for y in op.outputs)
        inputs = ", ".join(x.name for x in op.inputs)
        lines.append(f"{op.name} = {op.type}({inputs}) -> {outputs}")
    return "\n".join(lines)


def stages(what: Any) -> list[tuple[str, Program]]:
    """The program of a function before the passes (named "") and after each of them."""
    graph = _subject(what)
    if not isinstance(graph, FuncGraph):
        raise TypeError(f"only functions have programs before they run; got {type(what).__name__}")
    names = [""] + [name for name, _ in passes.PASSES]
    found = []
    for count, name in enumerate(names):
        program = planning.function_program(graph)
        for _, change in passes.PASSES[:count]:
            change(program)
        found.append((name, program))
    return found


def _stage(name: str) -> int:
    names = [""] + [n for n, _ in passes.PASSES]
    if name not in names:
        raise ValueError(f"no pass is named {name!r}; there are {', '.join(map(repr, names[1:]))}")
    return len(names) - 1 - names[::-1].index(name)


def _subject(what: Any) -> Any:
    if isinstance(what, (Graph, Program)):
        return what
    graph = getattr(what, "graph", None)
    if isinstance(graph, Graph):
        return graph
    traces = getattr(what, "all_traces", None)
    if traces is not None:
        found = traces()
        if len(found) == 1:
            return found[0].graph
        raise TypeError(
            f"the function has {len(found)} traces: draw one of them, from get_concrete_function"
        )
    raise TypeError(f"cannot draw a {type(what).__name__}")


def _shape(tensor: Any) -> str:
    return str(TensorShape(tensor.shape_tuple))


def _of_graph(graph: Graph) -> list[Box]:
    ends = {id(y.op) for y in getattr(graph, "outputs", ())}
    boxes = []
    for op in graph.operations:
        kind = op.type
        if id(op) in ends:
            kind = "output"
        elif op.stateful:
            kind = "state"
        elif op.type in ("If", "Case", "While"):
            kind = "body"
        shown = ", ".join(f"{y.dtype.name}{_shape(y)}" for y in op.outputs[:2])
        sources = [id(x.op) for x in op.inputs] + [id(c) for c in op.control_inputs]
        boxes.append(Box(id(op), op.name.rpartition("/")[2], f"{op.type} {shown}", kind, sources))
    return boxes


def _of_program(program: Program) -> list[Box]:
    makers = program.producers()
    boxes = [
        Box(("input", v), f"input %{v}", _known(program, v), "Placeholder", [])
        for v in program.inputs
    ]
    boxes += [
        Box(("constant", v), f"constant %{v}", _known(program, v), "Const", [])
        for v in program.constants
    ]

    def source(v: int) -> Any:
        if v in makers:
            return id(makers[v])
        return ("input", v) if v in program.inputs else ("constant", v)

    ends = set(program.outputs)
    for each in program.instructions:
        kind = "output" if ends & set(each.outputs) else "state" if each.stateful else each.kind
        shown = ", ".join(_known(program, v) for v in each.outputs[:2] if v >= 0)
        boxes.append(Box(id(each), each.type, shown, kind, [source(v) for v in each.inputs]))
    return boxes


def _known(program: Program, v: int) -> str:
    value = program.values[v]
    return f"{value.dtype.name}{TensorShape(value.shape)}"


DIRECTIONS = ("TB", "BT", "LR", "RL")


def _svg(boxes: list[Box], direction: str = "TB") -> str:
    """The picture, whose arrows go down ("TB"), up ("BT"), to the right ("LR") or to the left ("RL")."""
    across, backward = direction in ("LR", "RL"), direction in ("BT", "RL")
    layers = _layers(boxes)
    place: dict[Any, tuple[float, float]] = {}
    widest = max((len(layer) for layer in layers), default=1)
    along, beside = (_WIDTH + _GAP_Y, _HEIGHT + _GAP_X) if across else (_HEIGHT + _GAP_Y, _WIDTH + _GAP_X)
    for depth, layer in enumerate(reversed(layers) if backward else layers):
        offset = (widest - len(layer)) * beside / 2
        for i, box in enumerate(layer):
            at = (10 + offset + i * beside, 10 + depth * along)
            place[box.key] = (at[1], at[0]) if across else at
    sizes = (20 + widest * beside, 20 + len(layers) * along)
    width, height = (sizes[1], sizes[0]) if across else sizes
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11">'
    ]
    for box in boxes:
        x, y = place[box.key]
        for source in box.sources:
            if source in place:
                parts.append(_curve(place[source], (x, y), across, backward))
    for box in boxes:
        x, y = place[box.key]
        colour = _COLOURS.get(box.kind, "#ffffff")
        parts.append(
            f"<g><title>{escape(box.title)}: {escape(box.subtitle)}</title>"
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="{colour}" stroke="#555"/>'
            f'<text x="{x + _WIDTH / 2:.0f}" y="{y + 16:.0f}" text-anchor="middle">{escape(_cut(box.title, 22))}</text>'
            f'<text x="{x + _WIDTH / 2:.0f}" y="{y + 30:.0f}" text-anchor="middle" fill="#666" font-size="9">'
            f"{escape(_cut(box.subtitle, 30))}</text></g>"
        )
    return "\n".join([*parts, "</svg>"])


def _curve(source: tuple[float, float], end: tuple[float, float], across: bool, backward: bool) -> str:
    """The line from a box to the box that takes its result."""
    (a, b), (x, y) = source, end
    bend = -20 if backward else 20
    if across:
        a, x = (a, x + _WIDTH) if backward else (a + _WIDTH, x)
        b, y = b + _HEIGHT / 2, y + _HEIGHT / 2
        bends = f"{a + bend:.0f},{b:.0f} {x - bend:.0f},{y:.0f}"
    else:
        b, y = (b, y + _HEIGHT) if backward else (b + _HEIGHT, y)
        a, x = a + _WIDTH / 2, x + _WIDTH / 2
        bends = f"{a:.0f},{b + bend:.0f} {x:.0f},{y - bend:.0f}"
    return f'<path d="M{a:.0f},{b:.0f} C{bends} {x:.0f},{y:.0f}" fill="none" stroke="#888"/>'


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def _layers(boxes: list[Box]) -> list[list[Box]]:
    """The boxes by depth; each layer in the order of its sources' places."""
    known = {box.key for box in boxes}
    depth: dict[Any, int] = {}
    for box in boxes:
        depth[box.key] = 1 + max((depth.get(s, -1) for s in box.sources if s in known), default=-1)
    layers: list[list[Box]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for box in boxes:
        layers[depth[box.key]].append(box)
    position: dict[Any, float] = {}
    for layer in layers:

        def centre(box: Box) -> float:
            places = [position[s] for s in box.sources if s in position]
            return sum(places) / len(places) if places else 0.0

        layer.sort(key=centre)
        for i, box in enumerate(layer):
            position[box.key] = i / max(len(layer), 1)
    return layers
