"""`tf.train.init_from_checkpoint` and `warm_start`: variables that begin with values of a checkpoint (1.x)."""

from __future__ import annotations

import collections
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.checkpoint.first_format import reader_of
from tapeflow.checkpoint.reading import load_checkpoint
from tapeflow.checkpoint.saved_items import keys_by_name
from tapeflow.checkpoint.saving_nodes import restore_node
from tapeflow.checkpoint.state import latest_checkpoint
from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import public
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.variables import graph_parts
from tapeflow.graph.build import building
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.ops.state.variable import Variable

if TYPE_CHECKING:
    from tapeflow.ops.io.save_slice import SaveSliceInfo


class _Whole:
    """A variable, or all parts of a partitioned one, which a checkpoint has as one."""

    def __init__(self, name: str, parts):
        self.name, self.parts = name, list(parts)
        slice_info = _slice(self.parts[0])
        self.shape = self.parts[0].shape if slice_info is None else TensorShape(slice_info.full_shape)
        self.dtype = self.parts[0].dtype.base_dtype

    def begin_with_tensor(self, path: str, tensor_name: str):
        """Lets the initializers read the checkpoint; eager variables are set at once."""
        for part in self.parts:
            where = _slice(part)
            if graph_parts(part) is None:
                part.assign(_part_of(load_checkpoint(path).get_tensor(tensor_name), where))
                continue
            with part.graph.as_default(), name_scope("checkpoint_initializer"), _apart():
                slices = None if where is None else [where.spec]
                kind = (self.dtype, part.shape)
                (value,) = restore_node(path, [tensor_name], [kind], slices=slices)
                _begin_with_value(part, value)

    def begin_with(self, value: np.ndarray):
        """Lets the initializers give an array; eager variables are set at once."""
        for part in self.parts:
            own = _part_of(value, _slice(part))
            if graph_parts(part) is None:
                part.assign(own)
            else:
                with _apart():
                    _begin_with_value(part, own)


def _slice(variable):
    return getattr(variable, "_save_slice_info", None)


def _part_of(value: np.ndarray, where: SaveSliceInfo | None):
    if where is None:
        return value
    return value[tuple(slice(o, o + n) for o, n in zip(where.var_offset, where.var_shape, strict=True))]


def _wholes(variables):
    """The variables by their names in checkpoints, parts together."""
    parts = {}
    for v in variables:
        where = _slice(v)
        found = parts.setdefault(v.name.removesuffix(":0") if where is None else where.full_name, [])
        if not any(v is other for other in found):
            found.append(v)
    return {name: _Whole(name, of_name) for name, of_name in parts.items()}


def _graph_variables():
    graph = get_default_graph()
    return _wholes(graph.get_collection("variables") + graph.get_collection("local_variables"))


def _prefix(path: str):
    return latest_checkpoint(path) or path


def _apart():
    return get_default_graph().control_dependencies(None)


def _begin_with_value(variable, value: TensorLike):
    # The assignment stays the same operation: what begins with this variable's value, as averages do, follows it.
    value = building.as_symbolic(variable.graph, value, variable.dtype.base_dtype)
    graph_parts(variable).initializer._update_input(1, value)
    graph_parts(variable).initial_value = value


def _check(whole, tensor_name: str, shapes: dict[str, Any], path: str):
    if tensor_name not in shapes:
        raise ValueError(f"Tensor {tensor_name} is not found in {path} checkpoint {shapes}")
    if not whole.shape.is_compatible_with(shapes[tensor_name]):
        raise ValueError(
            f"Shape of variable {whole.name} ({whole.shape}) doesn't match with shape of tensor {tensor_name} "
            f"({shapes[tensor_name]}) from checkpoint reader."
        )


@public
def init_from_checkpoint(ckpt_dir_or_file: str, assignment_map: dict[str, Any]):
    """Lets the initializers of variables take their values from a checkpoint.

    Args:
      ckpt_dir_or_file: the prefix of a checkpoint, or the folder of the latest.
      assignment_map: from names in the checkpoint to variables or their names; from scopes "old/" to scopes "new/".

    Raises ValueError for names that are missing, and shapes that differ.
    """
    path = _prefix(ckpt_dir_or_file)
    shapes = load_checkpoint(path).get_variable_to_shape_map()
    pairs = assignment_map.items() if hasattr(assignment_map, "items") else assignment_map
    for source, target in sorted(pairs, key=lambda pair: str(pair[0])):
        known = _graph_variables() if isinstance(target, str) else {}
        if isinstance(target, str) and target in known:
            target = known[target].parts
        if isinstance(target, str):
            _init_scope(source, target, known, shapes, path)
            continue
        for whole in _wholes([target] if isinstance(target, Variable) else target).values():
            _check(whole, source, shapes, path)
            whole.begin_with_tensor(path, source)


def _init_scope(source: str, target: str, known: dict[str, Any], shapes: dict[str, Any], path: str):
    scope = target.rpartition("/")[0]
    if not source.endswith("/"):
        raise ValueError(f"Assignment map with scope only name {scope} should map to scope only {source}. Should be "
                         "'scope/': 'other_scope/'.")  # fmt: skip
    for name in sorted(known):
        if scope and not name.startswith(scope + "/"):
            continue
        rest = name[len(scope) + 1 :] if scope else name
        full = rest if source == "/" else source + rest
        full = full.removesuffix("/")
        if full not in shapes:
            raise ValueError(f"Tensor {full} ({name} in {target}) is not found in {path} checkpoint")
        _check(known[name], full, shapes, path)
        known[name].begin_with_tensor(path, full)


class VocabInfo(
    collections.namedtuple(
        "VocabInfo",
        [
            "new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab", "old_vocab_size", "backup_initializer",
            "axis",
        ],
        defaults=(-1, None, 0),
    )
):  # fmt: skip
    """How the rows (axis 0) or columns (axis 1) of a variable follow the words of vocabulary files.

    Attributes:
      new_vocab, new_vocab_size, num_oov_buckets: the variable's file of words, how many of them, and what follows.
      old_vocab, old_vocab_size: the checkpoint's.
      backup_initializer: gives what has no old value; None: zeros.
    """


def _words(path: str, size: int):
    with open(local_path(path), encoding="utf-8") as file:
        words = file.read().splitlines()
    return words if size is None or size < 0 else words[:size]


def _remapped(whole, old: np.ndarray, info: VocabInfo):
    """The old values in the order of the new words."""
    shape = tuple(whole.shape.as_list())
    make = info.backup_initializer
    if make is None:
        new = np.zeros(shape, old.dtype)
    else:
        with context.eager_mode():
            new = np.array(make(shape, dtype=whole.dtype).numpy())
    places = {word: i for i, word in enumerate(_words(info.old_vocab, info.old_vocab_size))}
    for i, word in enumerate(_words(info.new_vocab, info.new_vocab_size)):
        at = places.get(word)
        if at is not None and i < shape[info.axis]:
            new[(slice(None),) * info.axis + (i,)] = old[(slice(None),) * info.axis + (at,)]
    return new


def _wanted(vars_to_warm_start: Any):
    """The variables that are meant, by regular expressions of names, or themselves."""
    if vars_to_warm_start is None:
        return []
    graph = get_default_graph()
    if isinstance(vars_to_warm_start, str):
        found = graph.get_collection("trainable_variables")
        return [v for v in found if re.match(vars_to_warm_start, v.name)]
    if not isinstance(vars_to_warm_start, (list, tuple)):
        raise ValueError(f"`vars_to_warm_start must be a `list` or `str`! Type is {type(vars_to_warm_start)}")
    if all(isinstance(v, str) for v in vars_to_warm_start):
        found = graph.get_collection("variables")
        return [v for v in found if any(re.match(text, v.name) for text in vars_to_warm_start)]
    if all(isinstance(v, Variable) for v in vars_to_warm_start):
        return list(vars_to_warm_start)
    raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
                     f"{[type(v) for v in vars_to_warm_start]}")  # fmt: skip


@public
def warm_start(
    ckpt_to_initialize_from: str, vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: dict[str, Any] | None = None, var_name_to_prev_var_name: dict[str, Any] | None = None,
):
    """Lets variables begin with the values of a checkpoint, also where their vocabularies changed.

    Args:
      vars_to_warm_start: a regular expression for trainable variables, a list of these for all, or of variables;
        None: only those with vocabularies.
      var_name_to_vocab_info: VocabInfo by names.
      var_name_to_prev_var_name: names in the checkpoint by names.

    Raises ValueError for names that are not used, or not in the checkpoint.
    """
    vocabularies = dict(var_name_to_vocab_info or {})
    previous = dict(var_name_to_prev_var_name or {})
    path = _prefix(ckpt_to_initialize_from)
    reader = load_checkpoint(path)
    shapes = reader.get_variable_to_shape_map()
    variables = _wholes(_wanted(vars_to_warm_start))
    known = _graph_variables()
    variables.update({name: known[name] for name in vocabularies if name in known})
    keys = keys_by_name(reader_of(path)) or {}  # of a checkpoint of objects
    used = set()
    for name, whole in sorted(variables.items()):
        source = previous.get(name, name)
        source = source if source in shapes else keys.get(source, source)
        used.add(name)
        if name in vocabularies:
            info = vocabularies.pop(name)
            if source not in shapes:
                raise ValueError(f"Tensor {source} is not found in {path} checkpoint {shapes}")
            whole.begin_with(_remapped(whole, reader.get_tensor(source), info))
        else:
            if source not in shapes and vars_to_warm_start != ".*":
                raise ValueError(f"Tensor {source} is not found in {path} checkpoint {shapes}")
            _check(whole, source, shapes, path)
            whole.begin_with_tensor(path, source)
    unused = sorted(set(previous) - used)
    if unused:
        raise ValueError("You provided the following variables in var_name_to_prev_var_name that were not used: "
                         f"{unused}.  Perhaps you misspelled them?  Here is the list of viable variable names: "
                         f"{sorted(variables)}")  # fmt: skip
    if vocabularies:
        raise ValueError("You provided the following variables in var_name_to_vocab_info that were not used: "
                         f"{sorted(vocabularies)}.  Perhaps you misspelled them?  Here is the list of viable variable "
                         f"names: {sorted(variables)}")  # fmt: skip
