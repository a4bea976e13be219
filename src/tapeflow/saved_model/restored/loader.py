"""The objects of one SavedModel, made anew: each by its kind, then what each holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.checkpoint import saving_nodes
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.files import tensor_proto
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.graph.interchange import attributes
from tapeflow.graph.interchange.function_bodies import Functions
from tapeflow.ops.state.variable import Variable, VariableAggregation, VariableSynchronization
from tapeflow.saved_model import reading, revived_types
from tapeflow.saved_model.assets import Asset
from tapeflow.saved_model.gradient_writing import CapturedTensor
from tapeflow.saved_model.options import LoadOptions
from tapeflow.saved_model.resources import TrackableResource
from tapeflow.saved_model.restored import functions as restored_functions
from tapeflow.saved_model.restored.functions import Captured, RestoredFunction
from tapeflow.saved_model.restored.gradients import RestoredGradients
from tapeflow.saved_model.restored.objects import (
    RestoredCallable,
    RestoredObject,
    RestoredOptimizer,
    RestoredResource,
)
from tapeflow.saved_model.restored.values import SavedValues, plain_array
from tapeflow.saved_model.revived_types import get_setter
from tapeflow.saved_model.signatures import (
    RestoredConcreteFunction,
    SignatureFunction,
    SignatureMap,
)

_TABLE_INITIALIZERS = "table_initializer"


class Loader:
    """The objects of one SavedModel."""

    def __init__(self, meta: Any, folder: str, options: LoadOptions, given: Any = None):
        self.meta, self.folder, self.options = meta, folder, options
        # Objects of the program that take the places of saved ones, and what sets their children, by number.
        self.given: dict[int, Any] = {}
        self.setters: dict[int, Any] = {}
        for number, value in (given or {}).items():
            setter = get_setter(meta.object_graph_def.nodes[number].user_object)
            if isinstance(value, tuple):
                value, setter = value
            self.given[number], self.setters[number] = value, setter or _set_by_loading
        self.nodes = meta.object_graph_def.nodes
        self.messages = meta.object_graph_def.concrete_functions
        library = meta.graph_def.library
        self.functions = Functions(library)
        self.functions.gradients = RestoredGradients(library, self.functions, self.messages, self._captured_by_gradient)
        self.constants = {n.name: n for n in meta.graph_def.node if n.op == "Const"}
        self.objects: dict[int, Any] = {}
        self._concretes: dict[str, RestoredConcreteFunction] = {}
        self.keywords = {
            node.bare_concrete_function.concrete_function_name: list(
                node.bare_concrete_function.argument_keywords
            )
            for node in self.nodes
            if node.WhichOneof("kind") == "bare_concrete_function"
        }
        self._check()
        if self.functions.limits is not None:
            self._check_effects()
        self.values = SavedValues(self.nodes, folder)

    def load(self) -> Any:
        slots = {
            slot.slot_variable_node_id
            for node in self.nodes
            for slot in node.slot_variables
        }
        for number, node in enumerate(self.nodes):
            if number in self.given:
                self.objects[number] = self._taken(number)
                continue
            kind = node.WhichOneof("kind")
            make = getattr(self, f"_make_{kind}", None)
            if make is None:
                raise ValueError(f"Object {number} of the SavedModel is a {kind}, which is not known")
            self.objects[number] = make(number, node, number in slots)
        for number in reversed(range(len(self.nodes))):  # tuples need what they hold
            self._fill(number)
        # Signatures, which capture handles, need the functions that make these.
        resources_first = sorted(enumerate(self.nodes), key=lambda pair: pair[1].WhichOneof("kind") != "resource")
        for number, node in resources_first:
            self._attach(number, node)
        self._initialize()
        return self.objects[0] if self.nodes else RestoredObject()

    def load_aliases(self, root: Any) -> None:
        """Gives the root the functions that were saved under other names.

        Raises ValueError where it has an attribute `function_aliases` already.
        """
        if hasattr(root, "function_aliases"):
            raise ValueError(
                "Could not load with experimental_load_function_aliases option because the top-level object already "
                "has an attributed with name 'function_aliases'"
            )
        names: dict[str, list[str]] = {}
        for name, alias in self.meta.meta_info_def.function_aliases.items():
            names.setdefault(alias, []).append(name)
        root.function_aliases = {alias: self._function_of(alias, found) for alias, found in names.items()}

    def _function_of(self, alias: str, names: list[str]) -> RestoredFunction:
        """The function of the model that has these traces, or one of them alone."""
        for value in self.objects.values():
            if isinstance(value, RestoredFunction) and set(value.saved_names) == set(names):
                return value
        return RestoredFunction(alias, None, [(name, self.messages[name]) for name in names], self.concrete)

    def _taken(self, number: int) -> Any:
        """An object of the program; a variable gets the saved value."""
        value = self.given[number]
        if isinstance(value, Variable):
            key = self.values.key(number)
            if key is not None:
                value.assign(self.values.read(key, value.dtype))
        return value

    def _check(self) -> None:
        """Raises ValueError for numbers of objects that do not exist."""
        count = len(self.nodes)
        numbers = [child.node_id for node in self.nodes for child in node.children]
        for node in self.nodes:
            for slot in node.slot_variables:
                numbers += [slot.original_variable_node_id, slot.slot_variable_node_id]
            for saved in node.saveable_objects.values():
                numbers += [saved.save_function, saved.restore_function]
        for message in self.messages.values():
            numbers += message.bound_inputs
        for number in numbers:
            if not 0 <= number < count:
                raise ValueError(f"The SavedModel in {self.folder} has no object {number}")
        for name in [n for node in self.nodes for n in node.function.concrete_functions]:
            if name not in self.messages:
                raise ValueError(f"The SavedModel in {self.folder} has no function '{name}'")

    def _check_effects(self) -> None:
        """Raises PermissionDeniedError for functions with nodes that a model which is not trusted may not have."""
        for name, message in self.messages.items():
            bound = message.bound_inputs
            first = len(self.functions.definition(name).signature.input_arg) - len(bound)
            kinds = [self.nodes[number].WhichOneof("kind") for number in bound]
            assets = [first + i for i, kind in enumerate(kinds) if kind == "asset"]
            self.functions.checked.function(name, assets)
        for name in self.functions.gradients.by_type.values():
            self.functions.checked.once(name)

    # Objects.

    def _make_user_object(self, number: int, node: Any, is_slot: bool) -> Any:
        kind = node.user_object.identifier
        revived = revived_types.deserialize(node.user_object)
        if revived is not None:
            self.setters[number] = revived[1]
            return revived[0]
        names = {child.local_name for child in node.children}
        if kind == "signature_map":
            return SignatureMap()
        if kind in ("trackable_list_wrapper", "trackable_list"):
            return []
        if kind in ("trackable_dict_wrapper", "trackable_mapping"):
            return {}
        if kind == "trackable_tuple_wrapper":
            return ()
        if node.slot_variables:
            return RestoredOptimizer()
        made = RestoredCallable() if "__call__" in names else RestoredObject()
        made.__dict__["_saved_identifier"] = kind
        return made

    def _make_variable(self, number: int, node: Any, is_slot: bool) -> Any:
        saved = node.variable
        dtype = _dtype(saved.dtype, number)
        shape = attributes.shape_of(saved.shape, f"variable {saved.name!r}")
        made = Variable(
            self._initial_value(number, dtype, shape),
            trainable=saved.trainable,
            dtype=dtype,
            name=saved.name.rpartition("/")[2] if is_slot and not saved.name else saved.name or None,
            synchronization=VariableSynchronization(saved.synchronization),
            aggregation=VariableAggregation(saved.aggregation),
            shape=shape,
        )
        graph = context.current_graph()
        if graph is not None and saved.trainable:  # who loads a model says what is trained
            trainable = graph.get_collection_ref("trainable_variables")
            trainable[:] = [v for v in trainable if v is not made]
        return made

    def _initial_value(self, number: int, dtype: Any, shape: Any) -> Any:
        key = None if self.options.experimental_skip_checkpoint else self.values.key(number)
        if key is None:
            if not (
                self.options.allow_partial_checkpoint or self.options.experimental_skip_checkpoint
            ):
                raise ValueError(
                    f"The checkpoint of the SavedModel in {self.folder} has no value of object {number}"
                )
            sizes = [0 if n is None else n for n in shape.as_list()] if shape.rank is not None else []
            kind = object if dtype == dtypes.string else dtype.as_numpy_dtype
            zeros = np.full(sizes, b"", object) if kind is object else np.zeros(sizes, kind)
            return convert_to_tensor(zeros.tolist() if kind is object else zeros, dtype)
        if context.current_graph() is not None:
            prefix = convert_to_tensor(self.values.prefix)
            return lambda: saving_nodes.restore_node(prefix, [key], [(dtype, shape)])[0]
        return self.values.read(key, dtype)

    def _make_asset(self, number: int, node: Any, is_slot: bool) -> Any:
        index = node.asset.asset_file_def_index
        if not 0 <= index < len(self.meta.asset_file_def):
            raise ValueError(f"The SavedModel in {self.folder} has no asset {index}")
        filename = self.meta.asset_file_def[index].filename
        asset = Asset(reading.asset_path(self.folder, filename))
        graph = context.current_graph()
        if graph is not None:
            graph.add_to_collection(GraphKeys.ASSET_FILEPATHS, asset.asset_path)
        return asset

    def _make_constant(self, number: int, node: Any, is_slot: bool) -> Any:
        found = self.constants.get(node.constant.operation)
        if found is None:
            raise ValueError(
                f"The SavedModel in {self.folder} has no constant '{node.constant.operation}'"
            )
        value = tensor_proto.to_tensor(found.attr["value"].tensor, node.constant.operation)
        graph = context.current_graph()
        return value if graph is None else convert_to_tensor(value)

    def _make_resource(self, number: int, node: Any, is_slot: bool) -> Any:
        return RestoredResource(node.resource.device)

    def _make_function(self, number: int, node: Any, is_slot: bool) -> Any:
        saved = node.function
        names = list(saved.concrete_functions)
        label = names[0].removeprefix("__inference_").rpartition("_")[0] if names else "function"
        spec = saved.function_spec if saved.HasField("function_spec") else None
        pairs = [(name, self.messages[name]) for name in names]
        return RestoredFunction(label or "function", spec, pairs, self.concrete)

    def _make_bare_concrete_function(self, number: int, node: Any, is_slot: bool) -> Any:
        return node.bare_concrete_function.concrete_function_name  # built when all objects are there

    def _make_captured_tensor(self, number: int, node: Any, is_slot: bool) -> Any:
        return CapturedTensor(node.captured_tensor.name, node.captured_tensor.concrete_function)

    # How they hold each other.

    def _fill(self, number: int) -> None:
        """Makes a tuple of what it holds."""
        node = self.nodes[number]
        if type(self.objects[number]) is not tuple:
            return
        found = {child.local_name: child.node_id for child in node.children}
        numbered = sorted((int(k), v) for k, v in found.items() if k.isdigit())
        size = numbered[-1][0] + 1 if numbered else 0
        items: list[Any] = [None] * min(size, len(self.nodes) + len(numbered) + 1024)
        for place, child in numbered:
            if place < len(items):
                items[place] = self.child(child)
        self.objects[number] = tuple(items)

    def child(self, number: int) -> Any:
        value = self.objects[number]
        if self.nodes[number].WhichOneof("kind") == "bare_concrete_function":
            return self.concrete(value)
        return value

    def _attach(self, number: int, node: Any) -> None:
        value = self.objects[number]
        if isinstance(value, SignatureMap):
            value._signatures = {
                child.local_name: self._signature(child.node_id) for child in node.children
            }
            return
        if isinstance(value, RestoredOptimizer):
            for slot in node.slot_variables:
                value.add_slot(
                    self.objects[slot.original_variable_node_id], slot.slot_name,
                    self.objects[slot.slot_variable_node_id],
                )  # fmt: skip
        setter = self.setters.get(number)
        if setter is not None and not isinstance(value, Variable):
            for child in node.children:
                setter(value, child.local_name, self.child(child.node_id))
            return
        for child in node.children:
            if isinstance(value, list):
                if not child.local_name.isdigit():
                    continue
                place = int(child.local_name)
                if place > len(self.nodes) + 1_000_000:
                    raise ValueError(f"A list of the SavedModel in {self.folder} has an item {place}")
                value.extend([None] * (place + 1 - len(value)))
                value[place] = self.child(child.node_id)
            elif isinstance(value, dict):
                value[child.local_name] = self.child(child.node_id)
            elif isinstance(value, (RestoredObject, RestoredResource)):
                value.__dict__[child.local_name] = self.child(child.node_id)

    def _signature(self, number: int) -> Any:
        name = self.objects[number]
        if not isinstance(name, str):
            raise ValueError(f"Signature {number} of the SavedModel in {self.folder} is no function")
        return self._build(name, SignatureFunction)

    # Functions.

    def concrete(self, name: str) -> RestoredConcreteFunction:
        """The concrete function of a name."""
        if name not in self._concretes:
            with context.init_scope():
                self._concretes[name] = self._build(name, RestoredConcreteFunction)
        return self._concretes[name]

    def _build(self, name: str, kind: type[RestoredConcreteFunction]) -> RestoredConcreteFunction:
        if name not in self.messages:
            raise ValueError(f"The SavedModel in {self.folder} has no function '{name}'")
        message = self.messages[name]
        captured = [self._captured(number) for number in message.bound_inputs]
        return restored_functions.build(
            self.functions, name, message, captured, self.keywords.get(name), kind
        )

    def _captured_by_gradient(self, number: int) -> CapturedTensor | Captured:
        value = self.objects[number]
        return value if isinstance(value, CapturedTensor) else self._captured(number)

    def _captured(self, number: int) -> Captured:
        value = self.objects[number]
        if isinstance(value, Variable):
            return Captured(value.handle, value)
        if isinstance(value, Asset):
            return Captured(value.asset_path)
        if isinstance(value, TrackableResource):
            return Captured(value.resource_handle)
        if isinstance(value, _native.Tensor):
            return Captured(value)
        raise ValueError(
            f"A function of the SavedModel in {self.folder} captures object {number}, which is a "
            f"{self.nodes[number].WhichOneof('kind')}"
        )

    # Resources.

    def _initialize(self) -> None:
        """Fills the tables, in a graph when its tables are initialised."""
        graph = context.current_graph()
        for number, node in enumerate(self.nodes):
            value = self.objects[number]
            if not isinstance(value, RestoredResource):
                continue
            fill = value.__dict__.get("_initialize")
            if isinstance(fill, RestoredFunction):
                done = fill.concrete_functions[0].call_flat([])
                if graph is not None:
                    graph.add_to_collection(_TABLE_INITIALIZERS, done.op)
            for saved in node.saveable_objects.values():
                pair = self.child(saved.save_function), self.child(saved.restore_function)
                value.__dict__["_contents"] = pair
                self._restore_contents(number, pair[1])

    def _restore_contents(self, number: int, restore: Any) -> None:
        found = self.values.contents(number)
        if found is None or context.current_graph() is not None:
            return
        restore.call_flat([convert_to_tensor(plain_array(array)) for array in found])


def _set_by_loading(owner: Any, name: str, value: Any) -> None:
    """Sets a child of an object of the program, which may have it already."""
    if getattr(owner, name, None) is not value:
        setattr(owner, name, value)


def _dtype(number: int, node: int) -> Any:
    try:
        return as_dtype(number).base_dtype
    except TypeError:
        raise ValueError(f"Variable {node} of the SavedModel has the dtype {number}") from None
