"""What XLA makes of a function, as text or bytes: `Function.experimental_get_compiler_ir`."""

from __future__ import annotations

from typing import Any

from tapeflow.xla.executable import Executable

_STAGES = ("hlo", "hlo_serialized", "optimized_hlo", "optimized_hlo_serialized", "optimized_hlo_dot")
_OTHERS = ("stablehlo", "optimized_hlo_proto_serialized")


def text_of(executable: Executable, stage: str) -> str | bytes:
    """The program of a graph at a stage of its compilation.

    Args:
      executable: the graph, whose inputs have known shapes.
      stage: "hlo" or "stablehlo", before optimizations; "optimized_hlo" after them; with "_serialized" as an
        `HloModuleProto`; "optimized_hlo_dot" as a drawing for Graphviz; "optimized_hlo_proto_serialized" as an
        `HloProto`.

    Raises ValueError for another stage, and for inputs of unknown shapes.
    """
    if stage not in _STAGES + _OTHERS:
        listed = ", ".join(map(repr, _STAGES))
        raise ValueError(f"Invalid stage selected: {stage!r}. Valid values are: {listed}")
    lowered = executable.lowered()
    if stage == "stablehlo":
        return str(lowered.as_text("stablehlo"))
    if stage.startswith("hlo"):
        module = lowered.compiler_ir("hlo")
        return _bytes(module) if stage == "hlo_serialized" else str(module.as_hlo_text())
    module = lowered.compile().runtime_executable().hlo_modules()[0]
    if stage == "optimized_hlo":
        return str(module.to_string())
    serialized = _bytes(module)
    if stage == "optimized_hlo_dot":
        return str(type(lowered.compiler_ir("hlo"))(serialized).as_hlo_dot_graph())
    # The module is the first field of an HloProto.
    return serialized if stage == "optimized_hlo_serialized" else b"\x0a" + _varint(len(serialized)) + serialized


def _bytes(module: Any) -> bytes:
    return bytes(module.as_serialized_hlo_module_proto())


def _varint(value: int) -> bytes:
    """A length as protobuf writes it: seven bits a byte, the lowest first."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
