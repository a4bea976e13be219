"""`tf.test.TestCase`: unittest's, with comparisons of arrays and tensors, sessions, and a folder for files."""

from __future__ import annotations

import contextlib
import random
import re
import tempfile
import unittest
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow._native import Tensor, Variable
from tapeflow.core import context, dtypes, errors
from tapeflow.core.device import DeviceSpec, gpu_device_name
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.ops.ragged.tensor import RaggedTensor
from tapeflow.ops.ragged.value import RaggedTensorValue
from tapeflow.ops.random.seed import DEFAULT_GRAPH_SEED, set_seed
from tapeflow.testing.folders import get_temp_dir
from tapeflow.testing.sessions import EagerSession, NoSession


def _graphs() -> ModuleType:
    from tapeflow.testing import graphs  # start-up time: many tests have no graph

    return graphs


def main(argv: Any = None) -> None:
    """Runs the tests of the program."""
    unittest.main(argv=argv)


class TestCase(unittest.TestCase):
    """A test case. Every test begins with the same random seeds and, in graph mode, an empty default graph."""

    # Here too, as the setUp of a test may call none of its bases'.
    _cached: Any = None

    def setUp(self) -> None:
        super().setUp()
        random.seed(DEFAULT_GRAPH_SEED)
        np.random.seed(DEFAULT_GRAPH_SEED)
        self._cached = None
        if not context.inside_graph():
            _graphs().reset_default_graph()
            _graphs().get_default_graph().seed = DEFAULT_GRAPH_SEED
        if context.eager_by_default():
            set_seed(DEFAULT_GRAPH_SEED)

    def tearDown(self) -> None:
        if self._cached is not None:
            self._cached.close()
            self._cached = None
        super().tearDown()

    def get_temp_dir(self) -> str:
        """A folder of this test."""
        path = getattr(self, "_temp", None)
        if path is None:
            path = self._temp = tempfile.mkdtemp(dir=get_temp_dir())
        return path

    # Running.

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors in any nesting, eagerly or in the default session."""
        if context.executing_eagerly():
            return nest.map_structure(self._value, tensors)
        session = _graphs().get_default_session()
        if session is None:
            with self.test_session() as session:
                return session.run(tensors)
        return session.run(tensors)

    @staticmethod
    def _value(x: Any) -> Any:
        if x is None or callable(x):
            return None if x is None else x()
        if isinstance(x, IndexedSlices):
            shape = None if x.dense_shape is None else x.dense_shape.numpy()
            return _graphs().IndexedSlicesValue(x.values.numpy(), x.indices.numpy(), shape)
        return x.numpy() if hasattr(x, "numpy") else x

    @contextlib.contextmanager
    def session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[Any]:
        """A session as the default; eagerly what says that there is none.

        Operations that are made meanwhile are placed on the CPU where `use_gpu` is False, on a GPU with `force_gpu`.
        """
        if context.executing_eagerly():
            yield NoSession()
            return
        made = _graphs().session(graph, config, force_gpu)
        with made as session, _placed(use_gpu, force_gpu):
            yield session

    @contextlib.contextmanager
    def cached_session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[Any]:
        """The session of this test, kept between blocks; eagerly one whose `run` gives the values of tensors."""
        if context.executing_eagerly():
            yield EagerSession(self)
            return
        if self._cached is None or (graph is not None and self._cached.graph is not graph):
            self._cached = _graphs().session(graph, config, force_gpu)
        with self._cached.graph.as_default(), self._cached.as_default(), _placed(use_gpu, force_gpu):
            yield self._cached

    def test_session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Any:
        """A session as the default: the test's own if no graph is given."""
        if graph is None:
            return self.cached_session(graph, config, use_gpu, force_gpu)
        return self.session(graph, config, use_gpu, force_gpu)

    test_session.__test__ = False  # type: ignore[attr-defined]

    # Comparing.

    def _GetNdArray(self, a: Any) -> np.ndarray:
        if isinstance(a, (Tensor, Variable)):
            a = self.evaluate(a)
        if not isinstance(a, np.ndarray):
            own = [self._plain(x) for x in a] if isinstance(a, (list, tuple)) else a
            try:
                a = np.array(own)
            except ValueError:  # elements of different shapes
                a = np.array(own, object)
        return a

    def _plain(self, x: Any) -> Any:
        if isinstance(x, (Tensor, Variable)):
            return self.evaluate(x)
        return [self._plain(y) for y in x] if isinstance(x, (list, tuple)) else x

    def _assert_ragged(self, a: Any, b: Any, compare: Callable[[Any, Any], None], msg: str | None) -> None:
        """Ragged tensors, or nested lists in the place of one, with the same rows and values that `compare` accepts."""
        a, b = self._nested(a), self._nested(b)
        if isinstance(a, list) and isinstance(b, list):
            self.assertEqual(len(a), len(b), msg)
            for x, y in zip(a, b, strict=True):
                self._assert_ragged(x, y, compare, msg)
        else:
            compare(a, b)

    def _nested(self, x: Any) -> Any:
        """A ragged tensor, or an array, as a nested list of its values."""
        x = self.evaluate(x) if isinstance(x, (RaggedTensor, Tensor, Variable)) else x
        return x.to_list() if isinstance(x, RaggedTensorValue) else x.tolist() if isinstance(x, np.ndarray) else x

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Arrays, tensors, or structures of them that agree within tolerances."""
        if isinstance(a, _RAGGED) or isinstance(b, _RAGGED):
            self._assert_ragged(a, b, lambda x, y: self.assertAllClose(x, y, rtol, atol, msg), msg)
            return
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, Mapping):
            self.assertIsInstance(b, Mapping, msg)
            self.assertCountEqual(a.keys(), b.keys(), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, msg)
            return
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            try:
                x, y = self._GetNdArray(a), self._GetNdArray(b)
                uneven = x.dtype == object or y.dtype == object
            except ValueError:
                uneven = True
            if uneven:
                self.assertEqual(len(a), len(b), msg)
                for p, q in zip(a, b, strict=True):
                    self.assertAllClose(p, q, rtol, atol, msg)
                return
        x, y = self._GetNdArray(a), self._GetNdArray(b)
        self.assertEqual(
            x.shape, y.shape, msg or f"Shape mismatch: expected {x.shape}, got {y.shape}"
        )
        np.testing.assert_allclose(_wide(y), _wide(x), rtol=rtol, atol=atol, err_msg=msg or "")

    def assertAllCloseAccordingToType(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, float_rtol: float = 1e-6,
        float_atol: float = 1e-6, half_rtol: float = 1e-3, half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2, bfloat16_atol: float = 1e-2, msg: str | None = None,
    ) -> None:  # fmt: skip
        """As `assertAllClose`, with tolerances for the less precise of the two dtypes."""
        names = {self._GetNdArray(a).dtype.name, self._GetNdArray(b).dtype.name}
        if names & {"float32", "complex64"}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in names:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in names:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        """The opposite of `assertAllClose`."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Arrays or tensors with the same shape and elements; NaN equals NaN."""
        if isinstance(a, _RAGGED) or isinstance(b, _RAGGED):
            self._assert_ragged(a, b, lambda x, y: self.assertAllEqual(x, y, msg), msg)
            return
        x, y = self._GetNdArray(a), self._GetNdArray(b)
        if x.ndim <= 3 or y.ndim <= 3:
            self.assertEqual(
                x.shape, y.shape, msg or f"Shape mismatch: expected {x.shape}, got {y.shape}"
            )
        np.testing.assert_array_equal(y, x, err_msg=msg or "")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """The opposite of `assertAllEqual`."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(msg or "The two values are equal at all elements")

    def assertAllInRange(
        self, target: Any, lower_bound: float, upper_bound: float,
        open_lower_bound: bool = False, open_upper_bound: bool = False,
    ) -> None:  # fmt: skip
        """Every element between the bounds."""
        x = self._GetNdArray(target)
        low = x > lower_bound if open_lower_bound else x >= lower_bound
        high = x < upper_bound if open_upper_bound else x <= upper_bound
        if not (low & high).all():
            raise AssertionError(
                f"not in the range from {lower_bound} to {upper_bound}: {x[~(low & high)]}"
            )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Every element one of a set."""
        found = set(np.unique(self._GetNdArray(target)).tolist())
        self.assertLessEqual(found, set(expected_set))

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Every element greater than the target."""
        self.assertGreater(np.min(self._GetNdArray(a)), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Every element less than the target."""
        self.assertLess(np.max(self._GetNdArray(a)), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Every element at least the target."""
        self.assertGreaterEqual(np.min(self._GetNdArray(a)), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Every element at most the target."""
        self.assertLessEqual(np.max(self._GetNdArray(a)), comparison_target)

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Two numbers at most `err` apart."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, msg or f"{f1} != {f2} +/- {err}")

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: str | None = None
    ) -> None:
        """Two sequences of numbers, each pair at most `err` apart."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for a, b in zip(farray1, farray2, strict=True):
            self.assertNear(float(a), float(b), err, msg)

    def assertNDArrayNear(
        self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None
    ) -> None:
        """Two arrays whose difference has at most the norm `err`."""
        self.assertLess(np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2)), err, msg)

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """An array and a tensor of the same shape."""
        self.assertAllEqual(list(input_a.shape), list(input_b.shape), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """A tensor, array or list of one dtype."""
        for each in target if isinstance(target, list) else [target]:
            self.assertEqual(dtypes.as_dtype(each.dtype), dtypes.as_dtype(expected_dtype))

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """A text that begins so."""
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}. {msg or ''}")

    def assertItemsEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """The same items, in whatever order."""
        self.assertCountEqual(first, second, msg)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Two names of one device, however they are written."""
        first, second = (DeviceSpec.from_string(str(d or "")) for d in (device1, device2))
        self.assertEqual(
            first.to_string(), second.to_string(),
            msg or f"Devices {device1} and {device2} are not equal.",
        )  # fmt: skip

    def assertEmpty(self, container: Any, msg: str | None = None) -> None:
        """Something of length 0."""
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container: Any, msg: str | None = None) -> None:
        """Something of another length than 0."""
        self.assertGreater(len(container), 0, msg)

    def assertLen(self, container: Any, expected_len: int, msg: str | None = None) -> None:
        """Something of a length."""
        self.assertEqual(len(container), expected_len, msg)

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None
    ) -> None:
        """Two equal messages; the first may be text."""
        from google.protobuf import text_format

        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = text_format.Merge(expected, type(message)())
        self.assertEqual(expected, message, msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """A block that raises an error whose text, of an operation's error with its op, fits."""
        fits = expected_err_re_or_predicate
        try:
            yield
        except exception_type as error:
            if callable(fits):
                matches = bool(fits(error))
            else:
                words = error.message if isinstance(error, errors.OpError) else str(error)
                op = getattr(error, "op", None)
                words += f"\nCaused by op: {op!r}" if op is not None else ""
                matches = re.search(fits, words) is not None
            if not matches:
                raise AssertionError(
                    f"Exception of type {type(error)}: {error}, does not fit {fits!r}"
                ) from error
        else:
            self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """A block that raises the error of an operation whose text fits."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)


_RAGGED = (RaggedTensor, RaggedTensorValue)


def _wide(x: np.ndarray) -> np.ndarray:
    """bfloat16 and the like as float64, which NumPy's comparisons know."""
    return x if x.dtype.kind in "biufcOSU" else x.astype(np.float64)


def _placed(use_gpu: bool, force_gpu: bool) -> Any:
    """Where the operations of a session's block are placed."""
    if force_gpu:
        if not gpu_device_name():
            raise errors.InvalidArgumentError(None, None, "`force_gpu` asks for a GPU, and there is none.")
        return context.device("/device:GPU:0")
    return contextlib.nullcontext() if use_gpu else context.device("/device:CPU:0")


boundaries(globals())
