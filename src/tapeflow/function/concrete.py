"""`ConcreteFunction`: one trace of a function, for arguments of certain dtypes, shapes and Python values."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.log import get_logger
from tapeflow.core.public import public_methods
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import nest
from tapeflow.function.atomic import AtomicFunction
from tapeflow.function.casting import tensors_of
from tapeflow.function.compiled import Compiled
from tapeflow.function.function_type import FunctionType, labels
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.interchange import graph_def
from tapeflow.graph.interchange.inlining import without_shapes
from tapeflow.graph.tensor import SymbolicTensor

_Tensor = _native.Tensor
_Variable = _native.Variable


@functools.cache
def _has_jax() -> bool:
    """Whether XLA can be used; warns once if not: results are the same, and libraries ask for it unasked."""
    found = importlib.util.find_spec("jax") is not None
    if not found:
        get_logger().warning(
            "jit_compile=True is ignored, since compiling with XLA needs jax, which is not installed: "
            "pip install 'tapeflow[xla]'"
        )
    return found


@public_methods
class ConcreteFunction:
    """A traced function. Called with tensors, by position or by the names of its arguments.

    Args:
      graph: the trace.
      name: of the Python function.
      signature: (args, kwargs) of specs and Python values.
      names: of the arguments that are tensors, in the order of `graph.inputs`.
    """

    # Names of the Python function's positional parameters, and of that for any number of arguments.
    parameter_names: Sequence[str] = ()
    variadic: str | None = None
    # As `structured_input_signature`, with the names that specs of the program have; None: just as that.
    shown_signature: Any = None

    def __init__(
        self,
        graph: FuncGraph,
        name: str,
        signature: Any,
        names: Sequence[str],
    ):
        self._graph = graph
        self.function_name = name
        self._structured_input_signature = signature
        self.argument_names = list(names)
        self._compiled: Any = Compiled(graph)
        self._without_shapes: Any = None  # what runs it for other shapes; False: nothing does
        self._outputs_structure = graph.structured_outputs
        self.returns_one = isinstance(self._outputs_structure, SymbolicTensor)

    # What it is.

    @property
    def name(self) -> bytes:
        """The name of the trace in graphs, encoded as TensorFlow has it."""
        return self.graph_name.encode()

    @property
    def graph_name(self) -> str:
        """The name of the trace in graphs."""
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
        library = graph_def.Library()
        return graph_def.function_def(
            Body(self._graph, self._graph.outputs), self.graph_name, library.name_of
        )

    @property
    def function_type(self) -> FunctionType:
        """The types of the arguments and of the result."""
        signature = self.shown_signature or self._structured_input_signature
        return FunctionType.of_trace(
            signature, self.parameter_names, self.variadic, self._outputs_structure, self.captured_inputs
        )

    @property
    def inference_fn(self) -> AtomicFunction:
        """The trace itself."""
        return AtomicFunction(self)

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The signature as text, of several lines if `verbose`."""
        return repr(self.function_type) if verbose else str(self.function_type)

    def __repr__(self) -> str:
        return (
            f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at {hex(id(self))}>"
        )

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature(verbose=True)}"

    def _repr_svg_(self) -> str:
        """The picture that notebooks show."""
        return self._graph._repr_svg_()

    # Calling it.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises TypeError for arguments that are missing, too many or no tensors of the right dtype."""
        tensors = self._tensors(args, kwargs)
        for x, inner in zip(tensors, self._graph.inputs, strict=False):
            if not inner.shape.is_compatible_with(x.shape):
                return self.packed(self._of_any_shape(x, inner)(tensors))
        return self.call_flat(tensors)

    def _of_any_shape(self, x: Any, inner: Any) -> Any:
        """What runs the trace for tensors of shapes that it was not made for, as if it had known none.

        Raises TypeError, for the argument `x`, in graphs, and if the trace has branches or loops.
        """
        if context.current_graph() is None and self._without_shapes is None:
            made = without_shapes(self._graph)
            self._without_shapes = False if made is None else Compiled(made)
        if context.current_graph() is not None or self._without_shapes is False:
            raise TypeError(
                f"Can not cast {TensorSpec(x.shape, x.dtype)!r} to {TensorSpec(inner.shape, inner.dtype)!r}: "
                f"an argument of {self.function_name} has another shape."
            )
        return self._without_shapes

    def flat_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The tensors that a call passes on. Raises as a call does for arguments that do not fit."""
        return self._tensors(args, kwargs)

    def call_flat(self, tensors: Sequence[Any]) -> Any:
        """The structured result for flat tensors."""
        return self.packed(self._compiled(tensors))

    def native_plan(self) -> Any:
        """The plan that serves calls on eager tensors; None if only Python can."""
        compiled = self._compiled
        if not isinstance(compiled, Compiled) or any(
            not isinstance(x, _native.EagerTensor) for x in self.captured_inputs
        ):
            return None
        return None if compiled.off_host else compiled.plan

    def use_xla(self) -> None:
        """Lets XLA compile the graph on the first call; without jax, the graph stays as it is."""
        if not _has_jax():
            return
        from tapeflow.function.compiled_xla import CompiledByXla

        self._compiled = CompiledByXla(self._graph)

    def compiler_ir(self, stage: str) -> str | bytes:
        """What XLA compiles for this trace; see `Function.experimental_get_compiler_ir`."""
        if type(self._compiled) is Compiled:
            raise UnimplementedError(None, None, "XLA's programs need jax: pip install 'tapeflow[xla]'")
        text: str | bytes = self._compiled.program_text(stage)
        return text

    def packed(self, outputs: list[Any]) -> Any:
        """The structure that the function returns, of its flat outputs."""
        if self.returns_one:
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
        try:
            flat = self._by_structure(args, kwargs)
        except (TypeError, ValueError) as mismatch:
            try:
                flat = self._by_position(args, dict(kwargs), count)
            except TypeError as flat_mismatch:
                raise TypeError(
                    f"Binding inputs to tf.function failed due to `{mismatch}`. Received args: {args} and kwargs: "
                    f"{kwargs} for signature: {self.function_type}.\nFallback to flat signature also failed due to: "
                    f"{flat_mismatch}"
                ) from None
        result: list[Any] = []
        for x, inner, name in zip(flat, self._graph.inputs, self.argument_names, strict=False):
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
                raise InvalidArgumentError(
                    None, None,
                    f"cannot compute {self.graph_name} as input #{len(result)}(zero-based) was expected to be a "
                    f"{inner.dtype.name} tensor but is a {x.dtype.name} tensor",
                )  # fmt: skip
            result.append(x)
        return result

    def _by_position(self, args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> list[Any]:
        """The tensors of arguments given flat, by position or by their names. Raises TypeError."""
        shown = f"{self.function_name}({', '.join(self.argument_names[:count])})"
        flat = nest.flatten(list(args), expand_composites=True)
        if len(flat) > count:
            raise TypeError(f"{shown} takes {count} positional arguments, got {len(flat)}.")
        missing = []
        for name in self.argument_names[len(flat) : count]:
            if name in kwargs:
                flat += nest.flatten(kwargs.pop(name), expand_composites=True)
            else:
                missing.append(name)
        if missing:
            raise TypeError(f"{shown} missing required arguments: {', '.join(missing)}.")
        if kwargs:
            raise TypeError(f"{shown} got unexpected keyword arguments: {', '.join(kwargs)}.")
        for i, x in enumerate(flat):
            if not isinstance(x, (_Tensor, _Variable)) and not hasattr(x, "__array__"):
                raise TypeError(
                    f"{shown}: expected argument #{i}(zero-based) to be a Tensor; got {type(x).__name__} ({x})."
                )
        return flat

    def _by_structure(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The tensors of arguments given as to the Python function. Raises TypeError for others.

        What the trace has as a Python value may be left out.
        """
        wanted_args, wanted_kwargs = self.shown_signature or self._structured_input_signature
        names = labels(self.parameter_names, self.variadic, len(wanted_args))
        if len(args) > len(wanted_args):
            raise TypeError("too many positional arguments")
        merged = list(args)
        rest = dict(kwargs)
        for i in range(len(args), len(wanted_args)):
            name = names[i]
            if name in rest and self.variadic is None:
                merged.append(rest.pop(name))
            elif _has_tensors(wanted_args[i]):
                raise TypeError(f"missing a required argument: '{name}'")
            else:
                merged.append(wanted_args[i])
        for name, wanted in wanted_kwargs.items():
            if name not in rest and _has_tensors(wanted):
                raise TypeError(f"missing a required argument: '{name}'")
        unexpected = set(rest) - set(wanted_kwargs)
        if unexpected:
            raise TypeError(f"got an unexpected keyword argument '{min(unexpected)}'")
        flat: list[Any] = []
        for wanted, value in [
            *zip(wanted_args, merged, strict=True),
            # In the order in which dicts are flattened.
            *(
                (wanted_kwargs[name], rest.get(name, wanted_kwargs[name]))
                for name in sorted(wanted_kwargs)
            ),
        ]:
            flat += tensors_of(wanted, value)
        return flat

    def is_named(self, names: Sequence[str | None]) -> bool:
        """Whether the arguments that are tensors have these names, where there is one."""
        return all(name in (None, own) for name, own in zip(names, self.argument_names, strict=False))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self

    def add_to_graph(self, g: Any = None) -> None:
        """Functions are inlined where they are called: there is nothing to add."""

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Gradients are made when they are asked for: there is nothing to add."""

    def set_external_captures(self, captures: Sequence[Any]) -> None:
        """Lets the function take `captures` from now on, in place of `captured_inputs`."""
        self._graph.set_captures(list(zip(captures, self._graph.internal_captures, strict=True)))
        self._compiled = Compiled(self._graph)

    def set_variables(self, variables: Sequence[Any]) -> None:
        """Let `variables` have these, too, which a function from a file uses by other ways."""
        for v in variables:
            self._graph.watch_variable(v)


def _has_tensors(wanted: Any) -> bool:
    return any(isinstance(x, TypeSpec) for x in nest.flatten(wanted))
