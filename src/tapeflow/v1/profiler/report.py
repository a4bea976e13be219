"""The text of a profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core.files import file_system

_OPTIONS = (
    "max_depth", "min_bytes", "min_peak_bytes", "min_residual_bytes", "min_output_bytes", "min_micros",
    "min_accelerator_micros", "min_cpu_micros", "min_params", "min_float_ops", "min_occurrence", "step", "order_by",
    "account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes", "hide_name_regexes",
    "account_displayed_op_only", "select", "output",
)  # fmt: skip
# What may be selected, in the order of the columns, and what the columns are called.
_COLUMNS = {
    "bytes": "requested bytes", "peak_bytes": "peak bytes", "residual_bytes": "residual bytes",
    "output_bytes": "output bytes",
    "micros": "total execution time | accelerator execution time | cpu execution time", "params": "# parameters",
    "float_ops": "# float_ops", "device": "assigned devices", "op_types": "op types",
    "occurrence": "op count (run|defined)", "input_shapes": "input shapes",
}  # fmt: skip
_BYTES = ("bytes", "peak_bytes", "residual_bytes", "output_bytes")


def write(shown: Any, cmd: str, options: Mapping[str, Any]) -> None:
    """Print or write a profile.

    Args:
      shown: its first line.
      cmd: "scope" or "op".
      options: see `ProfileOptionBuilder`; "output" is "stdout", "none" or "file:outfile=PATH".

    Raises:
      ValueError: for another output.
    """
    output = options["output"]
    if output == "none":
        return
    chosen = [name for name in _COLUMNS if name in options["select"]]
    lines = [
        "", "=========================Options=============================", *_said(options), "",
        "==================Model Analysis Report======================", "", "Profile:",
        " | ".join(["node name", *(_heading(name, cmd) for name in chosen)]),
        *(_scope_lines(shown, chosen, 0) if cmd == "scope" else _type_lines(shown, chosen)), "",
        "======================End of Report==========================",
    ]  # fmt: skip
    text = "\n".join(lines) + "\n"
    if output == "stdout":
        print(text, end="", flush=True)
    elif output.startswith("file:outfile="):
        with file_system.GFile(output.removeprefix("file:outfile="), "w") as file:
            file.write(text)
    else:
        raise ValueError(f"The output of a profile is 'stdout', 'none' or 'file:outfile=PATH', got {output!r}")


def _heading(name: str, cmd: str) -> str:
    return "op occurrence (run|defined)" if (name, cmd) == ("occurrence", "op") else _COLUMNS[name]


def _said(options: Mapping[str, Any]) -> list[str]:
    lines = []
    for name in _OPTIONS:
        value = options.get(name, 0)
        if isinstance(value, bool):
            value = str(value).lower()
        elif isinstance(value, (list, tuple)):
            value = ",".join(value)
        elif name == "output":
            kind, _, rest = value.partition(":")
            value = f"{kind}:{rest}"
        lines.append(f"-{name:<27}{value}")
    return lines


def _count(value: float) -> str:
    for size, unit in ((1e9, "b"), (1e6, "m"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.2f}{unit}"
    return str(value)


def _memory(value: float) -> str:
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if value >= size:
            return f"{value / size:.2f}{unit}"
    return f"{value}B"


def _time(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:.2f}sec"
    return f"{value / 1e3:.2f}ms" if value >= 1e3 else f"{value}us"


def _scope_lines(line: Any, chosen: list[str], depth: int) -> list[str]:
    parts = [part for name in chosen for part in _scope_parts(line, name)]
    lines = [f"{'  ' * depth}{line.node.name} ({', '.join(parts)})"]
    return lines + [text for child in line.children for text in _scope_lines(child, chosen, depth + 1)]


def _scope_parts(line: Any, name: str) -> list[str]:
    """A column of a line; of what does not count itself, only the total is known."""

    def both(key: str, form: Any) -> str:
        own = form(line.node.own[key]) if line.accounted else "--"
        return f"{own}/{form(line.total[key])}"

    if name in _BYTES:
        return [both(name, _memory)]
    if name == "micros":
        return [both("micros", _time), both("accelerator_micros", _time), both("micros", _time)]
    if name == "params":
        shape = [] if line.node.shape is None else ["x".join(map(str, line.node.shape))]
        return [*shape, f"{both('params', _count)} params"]
    if name == "float_ops":
        return [f"{both('float_ops', _count)} flops"]
    if name == "device":
        device = line.node.operation.device if line.node.operation is not None else ""
        return [device] if device else []
    if name == "op_types":
        return ["|".join(line.node.types)]
    if name == "occurrence":
        return [f"{both('runs', _count)}|{both('occurrence', _count)}"]
    inputs = line.node.operation.inputs if line.node.operation is not None else ()
    return ["|".join(f"{i}:{'x'.join(map(str, t.shape.as_list()))}" for i, t in enumerate(inputs) if t.shape.rank)]


def _type_lines(root: Any, chosen: list[str]) -> list[str]:
    return [
        f"{line.node.name:<25}" + ", ".join(_type_part(line, root.total, name) for name in chosen)
        for line in root.children
    ]


def _type_part(line: Any, total: Any, name: str) -> str:
    def with_shares(key: str, text: str) -> str:
        whole = total[key]
        rest, own = (0, 0) if not whole else (100 * line.total[key] / whole, 100 * line.node.own[key] / whole)
        return f"{text} ({rest:.2f}%, {own:.2f}%)"

    if name in _BYTES:
        return with_shares(name, f"{_memory(line.node.own[name]):>8}")
    if name == "micros":
        return ", ".join(
            with_shares(key, f"{_time(line.node.own[key]):>10}") for key in ("micros", "accelerator_micros", "micros")
        )
    if name == "params":
        return with_shares(name, f"{_count(line.node.own[name]):>8} params")
    if name == "float_ops":
        return with_shares(name, f"{_count(line.node.own[name]):>5} float_ops")
    if name == "occurrence":
        return f"{line.node.own['runs']}|{line.node.own['occurrence']}".rjust(10)
    if name == "op_types":
        return line.node.name
    devices = {member.operation.device for member in line.members} if name == "device" else set()
    return "|".join(sorted(devices - {""}))
