"""`ConcreteFunction`: one trace of a function, for arguments of certain dtypes, shapes and Python values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import nest
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.core.tensor_spec import TensorSpec
from tapeflow.function.compiled import Compiled
from tapeflow.graph.conditional import Body
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.tensor import SymbolicTensor

_Tensor = _native.Tensor
_Variable = _native.Variable


@public_methods
class ConcreteFunction:
    """A traced function. Called with tensors, by position or by the names of its arguments.

    Args:
      graph: the trace.
      name: of the Python function.
      signature: (args, kwargs) of specs and Python values.
      names: of the arguments that are tensors, in the order of `graph.inputs`.
    """

    # Names of the Python function's positional parameters.
    parameter_names: Sequence[str] = ()

    def __init__(
        self,
        graph: FuncGraph,
        name: str,
        signature: Any,
        names: Sequence[str],
        positional: int | None = None,
    ):
        self._graph = graph
        self.function_name = name
        self._structured_input_signature = signature
        self._names = list(names)
        self._positional = len(names) if positional is None else positional
        self._compiled: Any = Compiled(graph)
        self._outputs_structure = graph.structured_outputs
        self._single = isinstance(self._outputs_structure, SymbolicTensor)

    # What it is.

    @property
    def name(self) -> str:
        return f"__inference_{self.function_name}_{id(self._graph) % 100000}"

    @property
    def graph(self) -> FuncGraph:
        return self._graph

    @property
    def inputs(self) -> list[Any]:
        """The placeholders, those of captures last."""
        return self._graph.inputs

    @property
    def outputs(self) -> list[Any]:
        """The flat outputs, tensors of `graph`."""
        return self._graph.outputs

    @property
    def captured_inputs(self) -> list[Any]:
        """What the function takes from outside of it."""
        return self._graph.external_captures

    @property
    def variables(self) -> tuple[Any, ...]:
        return self._graph.variables

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return self._graph.trainable_variables

    @property
    def structured_input_signature(self) -> Any:
        return self._structured_input_signature

    @property
    def structured_outputs(self) -> Any:
        """What the function returns, with tensors of `graph`."""
        return self._graph.structured_outputs

    @property
    def output_dtypes(self) -> Any:
        return nest.map_structure(lambda x: None if x is None else x.dtype, self._outputs_structure)

    @property
    def output_shapes(self) -> Any:
        return nest.map_structure(lambda x: None if x is None else x.shape, self._outputs_structure)

    @property
    def function_def(self) -> Any:
        """The function as a FunctionDef message."""
        from tapeflow.graph import graph_def

        library = graph_def.Library()
        return graph_def.function_def(
            Body(self._graph, self._graph.outputs), self.name, library.name_of
        )

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The signature as text."""
        args, kwargs = self._structured_input_signature
        parts = []
        for name, value in zip(self._argument_names(args), args, strict=False):
            parts.append(f"{name}: {_shown(value)}")
        parts += [f"{k}: {_shown(v)}" for k, v in kwargs.items()]
        result = _shown(nest.map_structure(
            lambda x: None if x is None else TensorSpec(x.shape, x.dtype), self._outputs_structure))  # fmt: skip
        return f"{self.function_name}({', '.join(parts)}) -> {result}"

    def _argument_names(self, args: Any) -> list[str]:
        known = list(self.parameter_names)
        return known + [f"arg{i}" for i in range(len(known), len(args))]

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature()} at {hex(id(self))}>"

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def _repr_svg_(self) -> str:
        """The picture that notebooks show."""
        return self._graph._repr_svg_()

    # Calling it.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises TypeError for arguments that are missing, too many or no tensors of the right dtype."""
        tensors = self._tensors(args, kwargs)
        return self.call_flat(tensors)

    def call_flat(self, tensors: Sequence[Any]) -> Any:
        """The structured result for flat tensors."""
        return self._packed(self._compiled(tensors))

    def native_plan(self) -> Any:
        """The plan that serves calls on eager tensors; None if only Python can."""
        compiled = self._compiled
        if not isinstance(compiled, Compiled) or any(
            not isinstance(x, _native.EagerTensor) for x in self.captured_inputs
        ):
            return None
        return compiled.plan

    def use_xla(self) -> None:
        """Lets XLA compile the graph on the first call."""
        from tapeflow.function.compiled_xla import CompiledByXla

        self._compiled = CompiledByXla(self._graph)

    def _packed(self, outputs: list[Any]) -> Any:
        if self._single:
            return outputs[0]
        structure = self._outputs_structure
        if structure is None:
            return None
        flat = iter(outputs)
        leaves = nest.flatten(structure, expand_composites=True)
        filled = [None if x is None else next(flat) for x in leaves]
        return nest.pack_sequence_as(structure, filled, expand_composites=True)

    def _tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        count = self._compiled.n_arguments
        structured = self._by_structure(args, kwargs)
        if structured is not None:
            flat = structured
        else:
            flat = list(args)
            for name in self._names[len(args) :]:
                if name in kwargs:
                    flat.append(kwargs.pop(name))
            if kwargs:
                raise TypeError(
                    f"{self.function_name}() got unexpected keyword arguments: {', '.join(kwargs)}"
                )
            flat = nest.flatten(flat, expand_composites=True)
            flat = (
                [x for x in flat if isinstance(x, (_Tensor, _Variable)) or _number(x)]
                if len(flat) != count
                else flat
            )
        if len(flat) != count:
            raise TypeError(
                f"{self.pretty_printed_signature()} takes {count} tensors, but {len(flat)} were given: {flat}. "
                f"Expected arguments: {self._names}."
            )
        result: list[Any] = []
        for x, inner, name in zip(flat, self._graph.inputs, self._names, strict=False):
            if isinstance(x, _Variable):
                x = x.handle if inner.dtype.name == "resource" else x.read_value()
            elif not isinstance(x, _Tensor):
                if isinstance(x, (str, bytes, bool, int, float, complex, list, tuple)) or hasattr(
                    x, "__array__"
                ):
                    x = convert_to_tensor(x, inner.dtype)
                else:
                    raise TypeError(
                        f"{self.function_name}() expected a tensor for argument '{name}', but got {x!r} of type "
                        f"{type(x).__name__}."
                    )
            if x.dtype != inner.dtype:
                from tapeflow.core.errors import InvalidArgumentError

                raise InvalidArgumentError(
                    None, None,
                    f"cannot compute {self.name} as input #{len(result)}(zero-based) was expected to be a "
                    f"{inner.dtype.name} tensor but is a {x.dtype.name} tensor",
                )  # fmt: skip
            if not inner.shape.is_compatible_with(x.shape):
                raise TypeError(
                    f"Can not cast {TensorSpec(x.shape, x.dtype)!r} to {TensorSpec(inner.shape, inner.dtype)!r}: "
                    f"argument '{name}' of {self.function_name} has another shape."
                )
            result.append(x)
        return result

    def _by_structure(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
        """The tensors of arguments given as to the Python function; None if they are given flat."""
        wanted_args, wanted_kwargs = self._structured_input_signature
        names = list(self.parameter_names)
        merged = list(args)
        rest = dict(kwargs)
        for name in names[len(args) : len(wanted_args)]:
            if name not in rest:
                default = wanted_args[len(merged)]
                if nest.flatten(default) and any(
                    isinstance(x, TensorSpec) for x in nest.flatten(default)
                ):
                    return None
                merged.append(default)
            else:
                merged.append(rest.pop(name))
        if len(merged) != len(wanted_args) or set(rest) - set(wanted_kwargs):
            return None
        rest = {k: rest.get(k, v) for k, v in wanted_kwargs.items()}
        flat: list[Any] = []
        for spec, value in [
            *zip(wanted_args, merged, strict=True),
            *((wanted_kwargs[k], rest[k]) for k in rest),
        ]:
            leaves = nest.flatten(spec)
            if not any(hasattr(x, "value_type") for x in leaves):
                continue
            try:
                nest.assert_same_structure(spec, value)
            except (TypeError, ValueError):
                return None
            for leaf, x in zip(leaves, nest.flatten(value), strict=True):
                if hasattr(leaf, "value_type"):
                    flat += nest.flatten(x, expand_composites=True)
        return flat

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self

    def add_to_graph(self, g: Any = None) -> None:
        """Functions are inlined where they are called: there is nothing to add."""

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Gradients are made when they are asked for: there is nothing to add."""

    def set_external_captures(self, captures: Sequence[Any]) -> None:
        """Lets the function take `captures` from now on, in place of `captured_inputs`."""
        pairs = list(zip(captures, self._graph.internal_captures, strict=True))
        self._graph._captured = {id(outer): (outer, inner) for outer, inner in pairs}
        self._compiled = Compiled(self._graph)

    def set_variables(self, variables: Sequence[Any]) -> None:
        for v in variables:
            self._graph.watch_variable(v)


def _number(x: Any) -> bool:
    return hasattr(x, "__array__")


def _shown(value: Any) -> str:
    if isinstance(value, TensorSpec):
        return f"TensorSpec(shape={value.shape}, dtype={value.dtype!r}, name={value.name!r})"
    return repr(value)
