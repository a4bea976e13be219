"""`tf.saved_model.save`: objects, their functions, variables and files, as a folder."""

from __future__ import annotations

import os
import shutil
from typing import Any

import numpy as np

from tapeflow import _native, protos
from tapeflow.checkpoint import following as trackable
from tapeflow.checkpoint.bundle_writing import write_bundle
from tapeflow.checkpoint.object_graph import VALUE, parts_of, values_of
from tapeflow.core import context, dtypes, release
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.public import public
from tapeflow.core.structures.object_identity import ObjectIdentityDictionary
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.tracking.trackable import TrackableReference
from tapeflow.core.variables import shared_name_of
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function
from tapeflow.graph.interchange import attributes
from tapeflow.ops.control.grouping import NoOp
from tapeflow.ops.state.variable import Variable
from tapeflow.saved_model import constants, function_writing, revived_types, structures, tables
from tapeflow.saved_model.assets import Asset
from tapeflow.saved_model.descriptions import describe_variable, identifier_of, list_ops, node_name
from tapeflow.saved_model.fingerprint import fingerprint_of
from tapeflow.saved_model.function_writing import FunctionWriter
from tapeflow.saved_model.gradient_writing import CapturedTensor
from tapeflow.saved_model.main_graph import Contents, MainGraph
from tapeflow.saved_model.object_view import Constant, ObjectView, captures_of, value_of
from tapeflow.saved_model.options import SaveOptions, VariablePolicy
from tapeflow.saved_model.saved_values import ValuesToSave
from tapeflow.saved_model.signatures import (
    SignatureFunction,
    SignatureMap,
    canonical,
    default_function,
)


@public
def save(obj: Any, export_dir: Any, signatures: dict[str, Any] | None = None, options=None):
    """Write an object and all it holds to a folder, so that other programs can load and call it.

    Args:
      obj: a `tf.Module`, a model, a `tf.train.Checkpoint` or another object that checkpoints follow.
      export_dir: the folder, which is made.
      signatures: a `tf.function` with an input signature, a concrete function, or a dict of such by key; None: the
        only function of `obj` that can be one.
      options: a `tf.saved_model.SaveOptions` (optional).

    Raises:
      ValueError: for an object that cannot be saved, and for signatures of another form.
      KeyError: for functions that use what `obj` does not hold.
      AssertionError: inside of a `tf.function`.
    """
    if not context.executing_eagerly() and context.current_graph() is not None:
        if getattr(context.current_graph(), "building_function", False):
            raise AssertionError(
                "`tf.saved_model.save` is not supported inside a traced @tf.function. Move the call to the "
                "outer eagerly-executed context."
            )
    if not _can_be_root(obj):
        raise ValueError(
            "Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` "
            f"class, for export. Got {obj} with type {type(obj)}."
        )
    options = options or SaveOptions()
    with context.init_scope():
        _Saving(obj, local_path(export_dir), signatures, options).run()


def save_and_return_nodes(
    obj: Any, export_dir: Any, signatures: Any = None, options: Any = None, experimental_skip_checkpoint: bool = False
) -> tuple[list[Any], Any]:
    """As `save`; the objects that were written, in the order of their numbers, and how each is reached.

    Args:
      obj: see `save`.
      export_dir: see `save`.
      signatures: see `save`.
      options: see `save`.
      experimental_skip_checkpoint: not used: the values are always written.
    """
    with context.init_scope():
        saving = _Saving(obj, local_path(export_dir), signatures, options or SaveOptions())
        saving.run()
    objects = list(saving.view.objects)
    paths = ObjectIdentityDictionary({objects[0]: ()})
    for number, value in enumerate(objects):
        for name, child in saving.view.children[number] if number < len(saving.view.children) else ():
            if objects[child] not in paths:
                paths[objects[child]] = (*paths[value], TrackableReference(name, objects[child]))
    return objects, paths


def _can_be_root(obj: Any) -> bool:
    return trackable.is_trackable(obj) or isinstance(obj, (Function, ConcreteFunction, Asset))


class _Saving:
    """One SavedModel on its way to a folder."""

    def __init__(self, root: Any, folder: str, signatures: Any, options: SaveOptions):
        self.folder, self.options = folder, options
        self.view = ObjectView(root)
        self.view.walk()
        if signatures is None:
            signatures = default_function(self.view.root_children())
        self.signatures = (
            signatures if type(signatures) is SignatureMap else canonical(signatures)
        )
        self.view.sign(self.signatures)
        self.view.walk()
        self.functions = FunctionWriter(options.namespace_whitelist, options.experimental_custom_gradients)
        self.graph = MainGraph(release.GRAPH_DEF_VERSION)
        self.objects = protos.SavedObjectGraph()
        self.names: dict[int, str] = {}  # of functions in the library, by number
        self.handles: dict[int, str] = {}  # tensors of the main graph, by number
        self.placeholders: dict[int, str] = {}  # of files, while the model is initialised
        self.files: dict[str, str] = {}  # names in the folder, by path

    def run(self) -> None:
        self._write_functions()
        self._write_captured()
        self._write_tables()
        signatures = self._signatures()
        checkpoint = ValuesToSave(self.view)
        message = protos.SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        meta = message.meta_graphs.add()
        self._write_objects()
        if not self.options.experimental_skip_saver:
            meta.saver_def.CopyFrom(self._saver(checkpoint))
        main = self.graph.node(
            NoOp.name, NoOp.name, [f"^{name}" for name in self.graph.initializers]
        )
        self.functions.finish(self.graph.graph.node)
        self._fill(meta, signatures, main)
        self._write(message, checkpoint)

    # Functions.

    def _write_functions(self) -> None:
        self._find_saving_functions()
        traces = [value for value in self.view.objects if isinstance(value, ConcreteFunction)]
        for trace in sorted(traces, key=lambda trace: not isinstance(trace, SignatureFunction)):
            self._check_captures(trace)
        for number, value in enumerate(self.view.objects):
            if isinstance(value, ConcreteFunction):
                self.names[number] = self.functions.add(value)
        for each in self.functions.gradients:
            bound = [self._number_for_gradient(x) for x in each.captured]
            self.objects.concrete_functions[each.name].CopyFrom(each.traced.message(bound))

    def _number_for_gradient(self, captured: Any) -> int:
        """The number of the object behind what a gradient function captured."""
        if isinstance(captured, CapturedTensor):
            return self.view.add(captured)
        number = self.view.number_behind(captured)
        if number is None and captured.dtype in (dtypes.resource, dtypes.variant):
            raise ValueError(
                f"Found invalid capture {captured!r} when saving custom gradients: it is not reachable from root. "
                "tf.saved_model.SaveOptions(experimental_custom_gradients=False) saves without them."
            )
        return self.view.add(self.view.constant(captured)) if number is None else number

    def _find_saving_functions(self) -> None:
        """Adds the functions that save and restore tables, which are nobody's children."""
        self.saving: dict[int, tuple[int, int]] = {}
        for number, value in enumerate(list(self.view.objects)):
            pair = tables.saving_functions(value)
            if pair is not None:
                self.saving[number] = (self.view.add(pair[0]), self.view.add(pair[1]))

    def _check_captures(self, concrete: Any) -> None:
        """Raises, as TensorFlow does, AssertionError for what a signature takes from objects that are not saved, and
        KeyError for what another function does."""
        owners = {id(handle): variable for variable, handle in concrete.graph.variables_by_handle.items()}
        for outer, inner in captures_of(concrete):
            if self.view.number_behind(outer) is None:
                if not isinstance(outer, _native.EagerTensor):
                    raise ValueError(
                        f"Attempted to save a function {concrete.graph_name} which references a symbolic Tensor "
                        f"{outer} that is not a simple constant. This is not supported."
                    )
                if not isinstance(concrete, SignatureFunction):
                    raise KeyError(
                        f"Failed to add concrete function '{concrete.graph_name}' to object-based SavedModel as it "
                        f"captures tensor {outer!r} which is unsupported or not reachable from root. One reason "
                        "could be that a stateful object or a variable that the function depends on is not "
                        "assigned to an attribute of the serialized trackable object (see "
                        "SaveTest.test_captures_unreachable_variable)."
                    )
                raise AssertionError(
                    "Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. "
                    "tf.Variable) captured by functions must be 'tracked' by assigning them to an attribute of a "
                    "tracked object or assigned to an attribute of the main object directly. See the information "
                    f"below:\n\tFunction name = {concrete.name!r}\n\tCaptured Tensor = {outer}\n"
                    f"\tTrackable referencing this tensor = {owners.get(id(inner), outer)}\n\tInternal Tensor = {inner}"
                )

    def _bound(self, concrete: Any) -> list[int]:
        """The numbers of the objects behind what a function captured."""
        found = [self.view.number_behind(outer) for outer, _ in captures_of(concrete)]
        return [number for number in found if number is not None]

    # The graph.

    def _write_captured(self) -> None:
        """Variables, constants and files as nodes."""
        for number, value in enumerate(self.view.objects):
            if isinstance(value, Constant):
                self.handles[number] = self.graph.constant(value.value)
            elif isinstance(value, Asset):
                placeholder, read = self.graph.asset(self._file_of(value))
                self.placeholders[number], self.handles[number] = placeholder, read
            elif isinstance(value, Variable):
                device = ""
                if self.options.experimental_variable_policy is not VariablePolicy.NONE:
                    device = value.device or ""
                self.handles[number] = self.graph.variable(
                    node_name(shared_name_of(value)), value.dtype.base_dtype, value.shape, device
                )

    def _file_of(self, asset: Asset) -> str:
        """The name in the folder of a file."""
        path = local_path(value_of(asset.asset_path).numpy())
        if path not in self.files:
            base = os.path.basename(path)
            name, count = base, 0
            while name in self.files.values():
                count += 1
                name = f"{base}_{count}"
            self.files[path] = name
        return self.files[path]

    def _write_tables(self) -> None:
        """Resources as nodes, and calls of the functions that fill them."""
        resources = [
            (number, dict(self.view.children[number]))
            for number, value in enumerate(self.view.objects)
            if tables.is_resource(value)
        ]
        for number, parts in resources:
            concrete, name = self._only_trace(parts["_create_resource"])
            inputs = [self.handles[n] for n in self._bound(concrete)]
            self.handles[number] = self.graph.resource(self.functions.library[name], inputs)
        for _, parts in resources:
            concrete, name = self._only_trace(parts["_initialize"])
            bound = self._bound(concrete)
            if bound:
                inputs = [self.placeholders.get(n) or self.handles[n] for n in bound]
                self.graph.initializers.append(
                    self.graph.call(name, self.functions.library[name], inputs)
                )

    def _only_trace(self, number: int) -> tuple[Any, str]:
        value = self.view.objects[number]
        if not isinstance(value, ConcreteFunction):
            value = self.view.concretes(value)[0]
        own = self.view.number_of(value)
        assert own is not None
        return value, self.names[own]

    def _signatures(self) -> dict[str, Any]:
        made = {}
        for key, concrete in self.signatures.items():
            number = self.view.number_of(concrete)
            assert number is not None
            name = self.names[number]
            captured = [self.handles[n] for n in self._bound(concrete)]
            made[key] = self.graph.signature(
                key, concrete, name, self.functions.library[name], captured
            )
        return made

    def _saver(self, checkpoint: ValuesToSave) -> Any:
        saved, contents = [], []
        for key, number in checkpoint.variables:
            value = self.view.objects[number]
            saved.append((key, value.dtype.base_dtype, value.shape, self.handles[number]))
        for key, number in checkpoint.tables:
            parts: list[Any] = []
            for function in self.saving[number]:
                name = self.names[function]
                captures = [self.handles[n] for n in self._bound(self.view.objects[function])]
                parts += [name, self.functions.library[name], captures]
            ends = list(parts_of(self.view.objects[number])["table"])
            contents.append(Contents(key, ends, *parts))
        return self.graph.saver(saved, contents)

    # The objects.

    def _write_objects(self) -> None:
        for number, value in enumerate(self.view.objects):
            node = self.objects.nodes.add()
            for name, child in self.view.children[number]:
                node.children.add(node_id=child, local_name=name)
            if isinstance(value, (Function, ConcreteFunction)):
                for name, child in self.view.children[number]:
                    node.dependencies.add(node_id=child, local_name=name)
            for original, name, slot in self.view.slots.get(number, ()):
                node.slot_variables.add(
                    original_variable_node_id=original, slot_name=name, slot_variable_node_id=slot
                )
            self._describe(node, number, value)

    def _describe(self, node: Any, number: int, value: Any) -> None:
        if isinstance(value, Variable):
            describe_variable(node.variable, value, self.options)
        elif isinstance(value, Constant):
            node.constant.operation = self.handles[number]
            node.registered_name = "tf.TrackableConstant"
        elif isinstance(value, CapturedTensor):
            node.captured_tensor.name, node.captured_tensor.concrete_function = value
        elif isinstance(value, Asset):
            names = [name for _, name in self.graph.assets]
            node.asset.asset_file_def_index = names.index(self._file_of(value))
        elif isinstance(value, ConcreteFunction):
            self._describe_concrete(node.bare_concrete_function, number, value)
        elif isinstance(value, Function):
            node.function.SetInParent()
            traces = [self.view.number_of(c) for c in self.view.concretes(value)]
            node.function.concrete_functions.extend(self.names[n] for n in traces if n is not None)
            node.function.function_spec.CopyFrom(function_writing.spec_of_function(value))
        elif tables.is_resource(value):
            node.resource.SetInParent()
            if number in self.saving:
                save, restore = self.saving[number]
                node.saveable_objects["table"].save_function = save
                node.saveable_objects["table"].restore_function = restore
        elif VALUE in values_of(value):  # a setting that checkpoints take for a variable
            array = np.asarray(values_of(value)[VALUE]())
            node.variable.dtype = as_dtype(array.dtype).as_datatype_enum
            node.variable.shape.CopyFrom(attributes.of(TensorShape(array.shape), "shape").shape)
        else:
            known = revived_types.serialize(value)
            if known is not None:
                node.user_object.CopyFrom(known)
                return
            node.user_object.identifier = identifier_of(value)
            node.user_object.version.producer = 1
            node.user_object.version.min_consumer = 1
            node.user_object.metadata = getattr(value, "_tracking_metadata", "")

    def _describe_concrete(self, made: Any, number: int, concrete: Any) -> None:
        name = self.names[number]
        made.concrete_function_name = name
        made.argument_keywords.extend(concrete.argument_names)
        by_position = (
            (1 if len(concrete.argument_names) == 1 else 0)
            if any(concrete is each for each in self.signatures.values())
            else len(concrete.argument_names)
        )
        made.allowed_positional_arguments = by_position
        spec = function_writing.argument_spec_of_concrete(concrete)
        if spec is not None:
            made.function_spec.fullargspec.CopyFrom(structures.encode(spec))
            made.function_spec.input_signature.none_value.SetInParent()
        self.objects.concrete_functions[name].CopyFrom(
            function_writing.concrete_message(concrete, self._bound(concrete))
        )

    # The folder.

    def _fill(self, meta: Any, signatures: dict[str, Any], main: str) -> None:
        info = meta.meta_info_def
        info.tags.append(constants.SERVING)
        extra = self.options.extra_tags
        info.tags.extend(sorted([extra] if isinstance(extra, str) else extra or ()))
        info.tensorflow_version = release.VERSION
        info.tensorflow_git_version = release.GIT_VERSION
        info.stripped_default_attrs = True
        for alias, function in self.options.function_aliases.items():
            for concrete in self.view.concretes(function):
                number = self.view.number_of(concrete)
                if number is not None:
                    info.function_aliases[self.names[number]] = alias
        meta.graph_def.CopyFrom(self.graph.graph)
        meta.graph_def.library.function.extend(self.functions.library.values())
        for each in self.functions.gradients:
            meta.graph_def.library.registered_gradients.add(gradient_func=each.name, registered_op_type=each.type)
        list_ops(info.stripped_op_list, meta.graph_def)
        for tensor, filename in self.graph.assets:
            asset = meta.asset_file_def.add(filename=filename)
            asset.tensor_info.name = tensor
        for key, signature in signatures.items():
            meta.signature_def[key].CopyFrom(signature)
        output = meta.signature_def[constants.INIT_OP_SIGNATURE_KEY].outputs[
            constants.INIT_OP_SIGNATURE_KEY
        ]
        output.name = main
        output.tensor_shape.unknown_rank = True
        meta.collection_def[constants.MAIN_OP_KEY].node_list.value.append(main)
        meta.object_graph_def.CopyFrom(self.objects)

    def _write(self, message: Any, checkpoint: ValuesToSave) -> None:
        """Writes what the model needs first, and the model itself last: what a crash leaves is no model."""
        variables = os.path.join(self.folder, constants.VARIABLES_DIRECTORY)
        os.makedirs(variables, exist_ok=True)
        write_bundle(os.path.join(variables, constants.VARIABLES_FILENAME), checkpoint.tensors())
        assets = os.path.join(self.folder, constants.ASSETS_DIRECTORY)
        os.makedirs(assets, exist_ok=True)
        for path, name in self.files.items():
            target = os.path.join(assets, name)
            if os.path.abspath(path) != os.path.abspath(target):
                shutil.copyfile(path, target)
        data = message.SerializeToString(deterministic=True)
        replace_file(os.path.join(self.folder, constants.SAVED_MODEL_FILENAME_PB), data, synced=True)
        replace_file(
            os.path.join(self.folder, constants.FINGERPRINT_FILENAME),
            fingerprint_of(message.meta_graphs[0], data, variables),
            synced=True,
        )


