import collections
import dataclasses
import types

import numpy as np
import pytest

from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.structures import nest

Point = collections.namedtuple("Point", "x y")
OrderedDict = collections.OrderedDict


class Numbers(list):
    pass


class Mapping(collections.abc.Mapping):
    def __init__(self, items):
        self.items_ = dict(items)

    def __getitem__(self, key):
        return self.items_[key]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self.items_)

    def __eq__(self, other):
        return self.items_ == other.items_

    __hash__ = None


class Attrs:
    __attrs_attrs__ = (types.SimpleNamespace(name="b"), types.SimpleNamespace(name="a"))

    def __init__(self, b, a):
        self.b, self.a = b, a

    def __eq__(self, other):
        return (self.a, self.b) == (other.a, other.b)

    __hash__ = None


@dataclasses.dataclass
class Masked:
    mask: bool
    value: object

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(metadata[0], components[0])


STRUCTURES = [
    (None, [None]),
    ([1, [2, (3,)]], [1, 2, 3]),
    ([[], ()], []),
    ({"b": 1, "a": 2}, [2, 1]),
    (OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
    (collections.defaultdict(int, b=1, a=2), [2, 1]),
    (collections.deque([1, 2]), [1, 2]),
    (Numbers([1, [2]]), [1, 2]),
    (Mapping({"b": 1, "a": 2}), [2, 1]),
    (Point(1, [2]), [1, 2]),
    (Attrs(1, [2]), [1, 2]),
    (Masked(True, [1, 2]), [1, 2]),
    ("ab", ["ab"]),
    ({1, 2}, [{1, 2}]),
]


@pytest.mark.parametrize(("structure", "leaves"), STRUCTURES)
def test_flatten_and_pack(structure, leaves):
    assert nest.flatten(structure) == leaves
    packed = nest.pack_sequence_as(structure, leaves)
    assert packed == structure
    assert type(packed) is type(structure)


def test_packing_keeps_the_order_of_keys():
    packed = nest.pack_sequence_as(OrderedDict([("b", 0), ("a", 0)]), [1, 2])
    assert list(packed.items()) == [("b", 2), ("a", 1)]


def test_views_and_ranges():
    items = {"b": 1, "a": 2}.items()
    assert nest.flatten(items) == ["b", 1, "a", 2]
    assert nest.pack_sequence_as(items, [1, 2, 3, 4]) == [(1, 2), (3, 4)]
    assert nest.pack_sequence_as(range(2), [3, 4]) == [3, 4]


def test_arrays_are_leaves():
    array = np.array([1, 2])
    assert nest.flatten(array)[0] is array
    assert not nest.is_nested(array)


def test_keys_must_be_sortable():
    with pytest.raises(TypeError, match="'<' not supported"):
        nest.flatten({1: 2, "a": 3})


@pytest.mark.parametrize(
    ("structure", "flat", "error", "message"),
    [
        ([1, 2], [1], ValueError,
         "Could not pack sequence. Structure had 2 atoms, but flat_sequence had 1 items.  "
         "Structure: [1, 2], flat_sequence: [1]."),
        ([1], "a", TypeError,
         "Attempted to pack value:\n  a\ninto a structure, but found incompatible type "
         "`<class 'str'>` instead."),
        ("a", [1, 2], ValueError,
         "The target structure is of type `<class 'str'>`\n  a\nHowever the input is a sequence "
         "(<class 'list'>) of length 2.\n  [1, 2]\n"
         "nest cannot guarantee that it is safe to map one to the other."),
    ],
)  # fmt: skip
def test_pack_rejects(structure, flat, error, message):
    with pytest.raises(error) as caught:
        nest.pack_sequence_as(structure, flat)
    assert str(caught.value) == message


def test_same_structure():
    nest.assert_same_structure([1, {"a": (2,)}], [None, {"a": ("b",)}])
    nest.assert_same_structure({"a": 1}, Mapping({"a": 2}))
    nest.assert_same_structure([1], Numbers([2]))
    nest.assert_same_structure([1, 2], (1, 2), check_types=False)
    nest.assert_same_structure(Point(1, 2), collections.namedtuple("Point", "x y")(3, 4))


def test_difference_is_described():
    with pytest.raises(TypeError) as caught:
        nest.assert_same_structure([[1], 2], [(1,), 2])
    assert str(caught.value) == (
        "The two structures don't have the same nested structure.\n\n"
        "First structure: type=list str=[[1], 2]\n\n"
        "Second structure: type=list str=[(1,), 2]\n\n"
        "More specifically: The two namedtuples don't have the same sequence type. First structure "
        "type=list str=[1] has type list, while second structure type=tuple str=(1,) has type "
        "tuple\nEntire first structure:\n[[.], .]\nEntire second structure:\n[(.,), .]"
    )


@pytest.mark.parametrize(
    ("one", "other", "error", "message"),
    [
        ([1, 2], [1], ValueError, "don't have the same number of elements"),
        ([1], 1, ValueError, 'Substructure "type=list str=.1." is a sequence'),
        ({"a": 1}, {"b": 1}, ValueError, "don't have the same set of keys"),
        (Point(1, 2), (1, 2), TypeError, "don't have the same sequence type"),
        ([1], {1}, ValueError, "is a sequence, while"),
    ],
)
def test_differences(one, other, error, message):
    with pytest.raises(error, match=message):
        nest.assert_same_structure(one, other)


def test_map_structure():
    assert nest.map_structure(lambda x: x + 1, {"a": [1, (2,)], "b": 3}) == {"a": [2, (3,)], "b": 4}
    assert nest.map_structure(lambda x, y: x + y, Point(1, 2), Point(3, 4)) == Point(4, 6)
    assert nest.map_structure(lambda x: x * 2, 3) == 6
    assert nest.map_structure(lambda x, y: x + y, [1], (2,), check_types=False) == [3]
    with pytest.raises(TypeError, match="func must be callable, got: 3"):
        nest.map_structure(3, 3)
    with pytest.raises(ValueError, match="Must provide at least one structure"):
        nest.map_structure(len)
    with pytest.raises(ValueError, match=r"Only valid keyword arguments are .*not: `foo`"):
        nest.map_structure(len, [], foo=1)


def test_paths():
    structure = {"b": [1, 2], "a": Point(3, 4)}
    assert nest.flatten_with_tuple_paths(structure) == [
        (("a", "x"), 3), (("a", "y"), 4), (("b", 0), 1), (("b", 1), 2),
    ]  # fmt: skip
    assert nest.flatten_with_joined_string_paths(structure, separator=".")[0] == ("a.x", 3)
    assert list(nest.yield_flat_paths([1])) == [(0,)]
    mapped = nest.map_structure_with_paths(lambda path, x: f"{path}={x}", structure)
    assert mapped == {"b": ["b/0=1", "b/1=2"], "a": Point("a/x=3", "a/y=4")}


def test_shallow_structures():
    assert nest.flatten_up_to([1, [2]], [[1, 2], [{"a": 3}]]) == [[1, 2], {"a": 3}]
    mapped = nest.map_structure_up_to([1, [2]], lambda x, y: (x, y), [[1], [3]], [4, [5]])
    assert mapped == [([1], 4), [(3, 5)]]
    with pytest.raises(
        TypeError, match=r"input must also be a sequence. Input has type: <class 'int'>"
    ):
        nest.flatten_up_to([1, [2]], [1, 2])
    with pytest.raises(
        ValueError, match="Input structure has length 2, while shallow structure has"
    ):
        nest.assert_shallow_structure([1], [1, 2])
    with pytest.raises(ValueError, match=r"keys that are not in the input_tree: \['a'\]"):
        nest.assert_shallow_structure({"a": 1}, {"b": 2})


def test_traverse_shallow_structure():
    structure = [3, (1, [0]), {"a": (7,)}, []]
    shallow = nest.get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), structure)
    assert shallow == [True, False, {"a": False}, []]
    with pytest.raises(TypeError, match="returned a non-bool scalar: 1"):
        nest.get_traverse_shallow_structure(lambda _: 1, [1])


def test_flatten_dict_items():
    assert nest.flatten_dict_items({(4, (5, 6)): ("a", ("b", "c"))}) == {4: "a", 5: "b", 6: "c"}
    with pytest.raises(ValueError, match="this key is not unique: 1"):
        nest.flatten_dict_items({(1, 1): (3, 4)})


def test_composites_are_expanded_on_request():
    slices = IndexedSlices([1.0], [0], [3])
    assert nest.flatten([slices]) == [slices]
    assert nest.flatten([slices], expand_composites=True) == [1.0, 0, 3]
    slices = IndexedSlices("values", "indices")
    assert nest.flatten([slices], expand_composites=True) == ["values", "indices"]
    assert not nest.is_nested(slices)
    assert nest.is_nested_or_composite(slices)
    new = nest.map_structure(str.upper, slices, expand_composites=True)
    assert (new.values, new.indices, new.dense_shape) == ("VALUES", "INDICES", None)
