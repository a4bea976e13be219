"""`tf.function`: traces a Python function once for each kind of arguments, and runs the traces."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context, replicas
from tapeflow.core.annotations import Tensor
from tapeflow.core.public import public, public_methods
from tapeflow.core.sparse_tensor import SIZES
from tapeflow.core.structures import nest
from tapeflow.function import arguments
from tapeflow.function.arguments import Call, Signature
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.garbage import collector_paused
from tapeflow.function.methods import WeakMethod
from tapeflow.function.specs import call_of_specs, labels_of, names_of, own_names, structured
from tapeflow.function.tracing_warnings import calls_of
from tapeflow.graph.build import tracing
from tapeflow.graph.func_graph import FuncGraph, copy_handle, own_collections
from tapeflow.graph.interchange import function_attributes
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.control.grouping import group

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

_Eager = _native.EagerTensor
_PLAIN = (bool, int, float, str, type(None))

# Receive each concrete function that is called, while native code serves no calls (`_native.set_functions_fast`).
watchers: list[Callable[[ConcreteFunction], None]] = []
# The last of them runs the calls, given as functions without arguments.
runners: list[Callable[[ConcreteFunction, Callable[[], Any]], Any]] = []


class _OwnSignature:
    """The signature of a function as its `__signature__`, which the class itself does not have."""

    def __get__(self, function: Any, owner: Any = None) -> Any:
        found = None if function is None else function._signature.signature
        if found is None:
            raise AttributeError("__signature__")
        return found


@public_methods
class Function:
    """A function that runs as a plan.

    Made by `tf.function`, whose arguments its own are.
    """

    __signature__ = _OwnSignature()

    def __init__(
        self, python_function: Callable[..., Any], name: str | None = None,
        input_signature: Sequence[Any] | None = None, autograph: bool = True, jit_compile=None,
        reduce_retracing: bool = False, experimental_implements=None, experimental_autograph_options=None,
        experimental_attributes=None, creates_variables: bool | None = None,
    ):
        self._python_function = python_function
        self._name = (
            name or getattr(python_function, "__name__", None) or type(python_function).__name__
        )
        self._signature = Signature(python_function, input_signature)
        self._autograph = autograph
        self._options = experimental_autograph_options
        self._jit_compile = jit_compile
        self._reduce_retracing = reduce_retracing
        self._implements = experimental_implements
        self._attributes = experimental_attributes
        if experimental_attributes:
            function_attributes.messages(None, experimental_attributes)  # raises for what cannot be one
        # Whether traces may create variables: None means only the first call's.
        self._creates_variables = creates_variables
        self._traces: dict[Any, list[tuple[Any, ConcreteFunction]]] = {}
        self._count = 0
        self._quiet_traces = reduce_retracing  # whether many traces are no reason for a warning
        self._lock = _native.CreationLock()
        self._bound: dict[int, Any] = {}
        self._created: list[Any] | None = None  # variables of the first trace; None: no trace yet
        self._dispatcher = _native.Dispatcher(WeakMethod(type(self)._slow_call, self))
        self._calls = calls_of(python_function)
        self._counted = 0  # calls that native code served before the last of those that it did not
        functools.update_wrapper(self, python_function, updated=())

    # What it is.

    @property
    def python_function(self) -> Callable[..., Any]:
        return self._python_function

    @property
    def input_signature(self) -> Any:
        return self._signature.input_signature

    @property
    def name(self) -> str:
        return self._name

    @property
    def function_spec(self) -> Signature:
        return self._signature

    _function_spec = function_spec

    @property
    def _autograph_on(self) -> bool:
        return self._autograph

    @property
    def _experimental_autograph_options(self) -> Any:
        return self._options

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function was traced."""
        return self._count

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces, as text."""
        return "\n\n".join(f.pretty_printed_signature(verbose) for f in self.all_traces())

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        return self.all_traces()

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        if self.input_signature is not None and not self._traces:
            self.get_concrete_function()
        return self.all_traces()

    def all_traces(self) -> list[ConcreteFunction]:
        """The concrete functions of all signatures that were traced."""
        return [concrete for _, _, concrete in self._everything_traced()]

    def _everything_traced(self) -> list[tuple[Any, Any, ConcreteFunction]]:
        """The key, the specs and the concrete function of each trace: copied, since threads may be tracing more."""
        return [
            (key, specs, concrete)
            for key, traces in tuple(self._traces.items())
            for specs, concrete in tuple(traces)
        ]

    def __repr__(self) -> str:
        return f"<tapeflow.function.function.Function object {self._name} at {hex(id(self))}>"

    # Calling it.

    def __call__(self, *args, **kwargs):
        return self._dispatcher(*args, **kwargs)

    def _slow_call(self, *args, **kwargs):
        if context.functions_run_eagerly():
            return self._python_function(*args, **kwargs)
        call = self._signature.take(args, kwargs)
        traces = self._count
        concrete = self._trace_for(call)
        for watch in watchers:
            watch(concrete)
        graph = context.current_graph()
        if graph is None:
            self._count_call(self._count != traces)
        if runners and graph is None:
            result = runners[-1](concrete, lambda: concrete.call_flat(call.tensors))
        elif self._creates_variables and graph is not None and concrete.structured_outputs is None:
            return _operation(graph, concrete, call.tensors)
        else:
            result = concrete.call_flat(call.tensors)
        if not kwargs:
            self._remember(args, call, concrete)
        return result

    def _count_call(self, traced: bool) -> None:
        """Counts this call, and those that native code served since the last."""
        served = self._dispatcher.served
        before, self._counted = served - self._counted, served
        if before > 0:  # of calls in several threads, one counts them
            self._calls.without_trace(before)
        if traced:
            self._calls.with_trace(self, self.why_retraced, self._quiet_traces)
        else:
            self._calls.without_trace(1)

    def _remember(self, args: tuple[Any, ...], call: Call, concrete: ConcreteFunction) -> None:
        """Lets native code serve calls like this one, if it can."""
        specs: list[Any] = []
        for x in args:
            if isinstance(x, _Eager):
                specs.append(("tensor", int(x.dtype), tuple(x.shape.as_list())))
            elif isinstance(x, _PLAIN):
                specs.append(("value", x))
            else:
                return
        tensors = sum(1 for kind, *_ in specs if kind == "tensor")
        if (
            tensors != len(call.tensors)
            or context.current_graph() is not None
            or context.device_name()
            or replicas.strategy() is not None
        ):
            return
        if self.input_signature is not None and tensors != len(args):
            return
        plan = concrete.native_plan()
        if plan is None:
            return
        structure = concrete.structured_outputs
        result: Any = concrete.packed
        if concrete.returns_one:
            result = "single"
        elif structure is None:
            result = "none"
        elif type(structure) is tuple and all(isinstance(x, SymbolicTensor) for x in structure):
            result = "tuple"
        self._dispatcher.add(specs, plan, result)

    def get_concrete_function(self, *args, **kwargs):
        """The trace for arguments, or for specs of them.

        Raises TypeError if they do not fit an input signature.
        """
        args, kwargs = self._signature.of_specs(args, kwargs)
        call = call_of_specs(args, kwargs)
        return self._trace_for(call, exact=self.input_signature is None)

    def experimental_get_compiler_ir(self, *args, **kwargs):
        """What XLA compiles for arguments, or for specs of them, of a function made with `jit_compile=True`.

        Returns:
          A function of `stage`, a string: "hlo" and "stablehlo" (text, before optimizations), "optimized_hlo" (after
          them), "optimized_hlo_dot" (for Graphviz); "hlo_serialized" and "optimized_hlo_serialized" (an
          `HloModuleProto`), "optimized_hlo_proto_serialized" (an `HloProto`), as bytes. It also takes `device_name` or
          `platform_name`; the program is that for the CPU.

        Raises:
          ValueError: for a function without `jit_compile=True`; when called, for another stage, an input of unknown
            shape, and both a device and a platform.
          UnimplementedError: where jax is missing; it names the extra to install.
        """
        if not self._jit_compile:
            raise ValueError("Compiler IR can only be returned for functions marked with 'jit_compile=True'")
        concrete = self.get_concrete_function(*args, **kwargs)

        def compiler_ir(stage: str = "hlo", device_name: str | None = None, platform_name: str | None = None) -> Any:
            if device_name is not None and platform_name is not None:
                raise ValueError("device_name and platform_name cannot be provided at the same time.")
            return concrete.compiler_ir(stage)

        return compiler_ir

    # Tracing.

    def _trace_for(self, call: Call, exact: bool = False) -> ConcreteFunction:
        keys = [(call.key, around) for around in arguments.context_keys()]
        names = own_names(call) if exact else ()
        concrete = self._known(keys, call.specs, names)
        if concrete is not None:
            return concrete
        with self._lock:
            # Another thread may have traced it since.
            concrete = self._known(keys, call.specs, names)
            if concrete is not None:
                return concrete
            traces = [trace for key in dict.fromkeys(keys) for trace in self._traces.get(key, ())]
            specs = call.specs
            if self.input_signature is not None:
                specs = self._declared_specs(call)
                for known, concrete in traces:
                    if known == specs:
                        return concrete
            elif self._reduce_retracing and traces and not exact:
                specs = arguments.relaxed(traces[-1][0], specs)
            before = _creations()
            concrete = self._traced(call, specs)
            shared = _creations() == before and not _captures_symbolic(concrete)
            self._traces.setdefault(keys[0 if shared else 1], []).append((specs, concrete))
            return concrete

    def _known(self, keys: list[Any], specs: Any, names: Sequence[str | None]) -> ConcreteFunction | None:
        """A trace that serves: one that is shared, or one made for the function that is traced now.

        Where specs name their arguments, `names`, it has to be one of arguments with these names.
        """
        for key in keys:
            traces = self._traces.get(key)
            if traces is not None and any(names):
                traces = [trace for trace in traces if trace[1].is_named(names)]
            concrete = None if traces is None else _fitting(traces, specs)
            if concrete is not None:
                return concrete
        return None

    def _declared_call(self) -> Call:
        return call_of_specs(*self._signature.of_specs((), {}))

    def _declared_specs(self, call: Call) -> tuple[Any, ...]:
        found = self._declared_call().specs
        return (*found, *call.specs[len(found) :])

    def _own_names(self, call: Call) -> list[str | None]:
        """The names that specs give the tensors of a call."""
        found = own_names(call if self.input_signature is None else self._declared_call())
        return found + [None] * (len(call.tensors) - len(found))

    def _traced(self, call: Call, specs: Any) -> ConcreteFunction:
        """A new trace. The first one may create variables, and is made again without doing so."""
        if self._creates_variables:
            return self._trace(call, specs, [])
        if self._created is None:
            created: list[Any] = []
            concrete = self._trace(call, specs, created)
            self._created = created
            if not created:
                return concrete
            if concrete.graph.late_variables:
                # Their first values depend on the arguments: this trace sets them, the later ones do not.
                return _FirstCall(concrete, lambda: self._trace(call, specs, None))
        return self._trace(call, specs, None)

    def _trace(self, call: Call, specs: Any, created: list[Any] | None) -> ConcreteFunction:
        self._count += 1
        graph = FuncGraph(self._name, own_collections())
        graph.converts = bool(self._autograph)
        graph.created_variables = created
        graph.late_variables = []
        graph.function_attrs = function_attributes.messages(self._implements, self._attributes)
        own = self._own_names(call)
        labels = labels_of(self._signature, call)
        names = names_of(labels, own)
        function = self._converted()
        with graph.as_default(), collector_paused():
            inner = []
            for x, spec, name, given, label in zip(call.tensors, specs, names, own, labels, strict=True):
                made = graph.add_input(*arguments.of_input(spec), name, (given or label).encode())
                if spec[0] is SIZES:
                    made.__dict__["known_sizes"] = spec[1]
                if isinstance(x, SymbolicTensor):
                    copy_handle(x, made)
                inner.append(made)
            flat = iter(inner)
            leaves = [next(flat) if isinstance(x, _native.Tensor) else x for x in call.leaves]
            args, kwargs = nest.pack_sequence_as(
                (call.args, call.kwargs), leaves, expand_composites=True
            )
            before = nest.map_structure(lambda x: x, (args, kwargs))
            result = function(*args, **kwargs)
            self._signature.check_unchanged(before, (args, kwargs))
            tracing.finish(graph, result, identities=True)
        signature, shown = structured(self._signature, call, specs, own)
        concrete = ConcreteFunction(graph, self._name, signature, names)
        concrete.shown_signature = shown
        concrete.parameter_names = self._signature.names
        concrete.variadic = self._signature.variadic
        if self._jit_compile:
            concrete.use_xla()
        return concrete

    def _converted(self) -> Callable[..., Any]:
        function = self._python_function
        if not self._autograph:
            return function
        from tapeflow.function import autograph

        return autograph.tf_convert(
            function, recursive=True, user_requested=True, optional_features=self._options
        )

    def why_retraced(self) -> str:
        """What distinguishes the last trace from the one before."""
        everything = self._everything_traced()
        if len(everything) < 2:
            return "it is the first"
        (key_a, a, _), (key_b, b, _) = everything[-2:]
        if key_a[0][0] != key_b[0][0]:
            return "the structure of the arguments changed"
        if key_a[0] != key_b[0]:
            for i, (x, y) in enumerate(zip(key_a[0][1], key_b[0][1], strict=False)):
                if x != y:
                    return f"leaf {i} of the arguments changed from {_told(x)} to {_told(y)}"
        if key_a[1] != key_b[1]:
            return "it was called in another graph or device scope"
        for i, (x, y) in enumerate(zip(a, b, strict=False)):
            if x != y:
                return f"tensor {i} had shape {x[1]} and has shape {y[1]}"
        return "the arguments differ"

    # As a method.

    def __get__(self, instance: Any, owner: type | None = None):
        if instance is None:
            return self
        known = self._bound.get(id(instance))
        if known is not None and known[0]() is instance:
            return known[1]
        with self._lock:
            known = self._bound.get(id(instance))
            if known is not None and known[0]() is instance:
                return known[1]
            bound = self._for_instance(instance)
            try:
                key, known_ones = id(instance), self._bound
                reference = weakref.ref(instance, lambda _: known_ones.pop(key, None))
            except TypeError:
                return bound
            self._bound[key] = (reference, bound)
            return bound

    def _for_instance(self, instance: Any) -> Function:
        """The function with its first argument given. It does not keep the instance alive."""
        return Function(*self._construction_of(WeakMethod(self._python_function, instance)))

    def _construction_of(self, python_function: Callable[..., Any]) -> tuple[Any, ...]:
        """What makes a function like this one of another Python function."""
        return (
            python_function, self._name, self.input_signature, self._autograph, self._jit_compile,
            self._reduce_retracing, self._implements, self._options, self._attributes, self._creates_variables,
        )  # fmt: skip

    def _decorate(self, decorator: Callable[..., Any]) -> None:
        """Wraps the Python function. Raises ValueError once it was traced."""
        if self._traces:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self._python_function = decorator(self._python_function)
        self._signature = Signature(self._python_function, self.input_signature)

    def _clone(self, python_function: Callable[..., Any] | None) -> Function:
        return Function(*self._construction_of(python_function or self._python_function))

    def __deepcopy__(self, memo: Any) -> Function:
        return self._clone(None)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By name, where a module has the function under its own; else as its Python function and options."""
        found = sys.modules.get(self.__module__)
        name = getattr(self._python_function, "__qualname__", "")
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (Function, self._construction_of(self._python_function))

    def get_initialization_function(self, *args, **kwargs):
        """Nothing is left to initialise: variables get their values when they are made."""
        self.get_concrete_function(*args, **kwargs)
        return lambda: None


def _creations() -> int:
    """How many variables the functions that are traced now have created."""
    graph, count = context.current_graph(), 0
    while isinstance(graph, FuncGraph):
        count += len(graph.created_variables or ())
        graph = graph.enclosing_graph
    return count


def _captures_symbolic(concrete: ConcreteFunction) -> bool:
    """Whether a trace reads tensors of the functions around it, so that it is of no use elsewhere."""
    graph = concrete.graph
    return bool(graph.control_captures) or any(
        isinstance(x, SymbolicTensor) and isinstance(x.graph, FuncGraph) for x in graph.external_captures
    )


def _fitting(traces: list[tuple[Any, ConcreteFunction]], specs: Any) -> ConcreteFunction | None:
    """The trace for tensors of such specs: one made for just these, or for others too."""
    for known, concrete in traces:
        if known == specs:
            return concrete
    for known, concrete in traces:
        if arguments.covers(known, specs):
            return concrete
    return None


class _FirstCall(ConcreteFunction):
    """The trace that gives variables their first values: runs once, then makes room for another."""

    def __init__(self, first: ConcreteFunction, again: Callable[[], ConcreteFunction]):
        self.__dict__.update(first.__dict__)
        self._again = again
        self._later: ConcreteFunction | None = None
        self._ran = False
        self._lock = _native.CreationLock()

    def call_flat(self, tensors: Sequence[Tensor]):
        if not self._ran:
            with self._lock:  # other threads need the values of the variables
                if not self._ran:
                    self._ran = True
                    return super().call_flat(tensors)
        return self.later().call_flat(tensors)

    def later(self):
        """The trace that later calls run."""
        with self._lock:
            if self._later is None:
                self._later = self._again()
            return self._later

    def native_plan(self):
        return None


def _told(key: Any) -> str:
    return repr(key[1]) if isinstance(key, tuple) else repr(key)


@api("function")
@public
def function(
    func: Callable[..., Any] | None = None, input_signature: Sequence[Any] | None = None,
    autograph: bool = True, jit_compile=None, reduce_retracing: bool = False, experimental_implements=None,
    experimental_autograph_options=None, experimental_attributes=None, experimental_relax_shapes=None,
    experimental_compile=None, experimental_follow_type_hints=None,
):
    """Make a function run as a plan, which is made by tracing it; also a decorator, with or without arguments.

    Args:
      func: the function; None: a decorator is returned.
      input_signature: a sequence of `tf.TensorSpec`s of the arguments; with it, there is one trace only.
      autograph: whether Python's control flow on tensors becomes part of the plan.
      jit_compile: whether plans are compiled by XLA, with the extra `tapeflow[xla]`; without it, it is ignored.
      reduce_retracing: whether traces get more general when shapes change.
      experimental_implements, experimental_attributes: what FunctionDefs of it say that it computes, and further
        attributes of theirs, bools, numbers, strings or lists of these.
      experimental_autograph_options: `tf.autograph.experimental.Feature`s, one or several (optional).
      experimental_relax_shapes: the old name of `reduce_retracing`.
      experimental_compile: the old name of `jit_compile`.
      experimental_follow_type_hints: no longer has an effect.

    Returns:
      A callable that traces anew for arguments of other dtypes, ranks or Python values; or a decorator.

    Raises:
      TypeError: where `func` is not callable, and where `input_signature` is no sequence of specs.

    >>> @tf.function
    ... def double(x):
    ...     return x + x
    >>> double(tf.constant([1, 2]))
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 4], dtype=int32)>
    """
    if experimental_relax_shapes is not None:
        reduce_retracing = experimental_relax_shapes
    if experimental_compile is not None:
        jit_compile = experimental_compile

    def decorated(inner: Callable[..., Any]):
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        if isinstance(inner, Function):
            inner = inner.python_function
        return Function(
            inner, None, input_signature, autograph, jit_compile, reduce_retracing, experimental_implements,
            experimental_autograph_options, experimental_attributes,
        )  # fmt: skip

    return decorated if func is None else decorated(func)


def _operation(graph: Graph, concrete: ConcreteFunction, tensors: Any) -> Any:
    """What runs a call without a result in a graph of 1.x; None in functions, where nobody need ask for it."""
    count = len(graph.operations)
    concrete.call_flat(tensors)
    if graph.building_function and not getattr(graph, "pruned", False):
        return None
    return group(*[op for op in graph.operations[count:] if op.effects])
