"""`while` and `for` statements: which kind of loop it is, decided when it is reached."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import Any, NamedTuple

from tapeflow.core.convert import constant
from tapeflow.function.autograph.errors import at_user_line
from tapeflow.function.autograph.operators import staging
from tapeflow.function.autograph.operators.conditional import stage_if
from tapeflow.function.autograph.operators.dataset_loop import loop_over
from tapeflow.function.autograph.operators.iteration import count_of, is_countable, reader_of
from tapeflow.function.autograph.operators.staged_loop import stage_while
from tapeflow.function.autograph.operators.state import State
from tapeflow.ops.array.ranges import Range
from tapeflow.ops.math.logic import logical_and, logical_or

Options = Callable[[], dict[str, Any]] | None


def while_stmt(
    test: Any,
    body: Any,
    names: tuple[str, ...],
    places: Any = None,
    options: Options = None,
    lists: tuple[str, ...] = (),
    fresh: tuple[str, ...] = (),
) -> None:
    """Runs `body` while `test()` holds; both are closures over the variables `names`.

    `lists` are those that the loop appends to, `fresh` those that it assigns before it reads them.
    """
    if staging.in_graph():
        # What it builds must not stay in the graph if the loop is staged, for it is then built again.
        with staging.scratch_graph():
            holds = test()
    else:
        holds = test()
    while not staging.is_staged(holds):
        if not holds:
            return
        body()
        holds = test()
    # Also where only a later test depends on the graph: the loop goes on from here.
    stage_while(test, body, State(body, names, places, lists, fresh), options)


def for_stmt(
    iterated: Any,
    more: Any,
    body: Any,
    names: tuple[str, ...],
    targets: tuple[str, ...],
    places: Any = None,
    options: Options = None,
    lists: tuple[str, ...] = (),
    fresh: tuple[str, ...] = (),
) -> None:
    """Runs `body(item)` for each item, as long as `more()` holds (always, if that is None).

    `names` are the variables that iterations share, among them those in `targets`, the loop's own; `lists` and `fresh`
    as for `while_stmt`.
    """
    kind = _kind_of(iterated)
    if kind is None:
        _for_python(iterated, more, body, names, places)
    else:
        kind(
            iterated, more, body, Frame(State(body, names, places, lists, fresh), targets, options)
        )


class Frame(NamedTuple):
    """The options of a staged `for` loop."""

    state: State
    targets: tuple[str, ...]
    options: Options

    def stage(
        self,
        test: Any,
        body: Callable[..., Any],
        own: Sequence[Any],
        defaults: dict[str, Any] | None = None,
        relax: bool = False,
    ) -> None:
        stage_while(test, body, self.state, self.options, own, defaults, relax)


_PLAIN = frozenset(
    {list, tuple, range, dict, set, str, enumerate, zip, type({}.items()), type({}.keys())}
)


def _kind_of(iterated: Any) -> Any:
    """The function that stages a loop over `iterated`, None if Python runs it."""
    if type(iterated) in _PLAIN:
        return None
    if is_countable(iterated):
        is_range = staging.is_staged(iterated) and iterated.op.row is Range
        return for_range if is_range else for_counted
    if not staging.in_graph():
        return None
    if hasattr(iterated, "element_spec") and (
        hasattr(iterated, "take_while") or hasattr(iterated, "get_next_as_optional")
    ):
        return for_dataset
    return None


def _for_python(iterated: Any, more: Any, body: Any, names: tuple[str, ...], places: Any) -> None:
    if more is None:
        for item in iterated:
            body(item)
        return
    goes_on = more()
    if not staging.is_staged(goes_on) and not goes_on:
        return
    items = iter(iterated)
    for item in items:
        if staging.is_staged(goes_on):
            _guarded(goes_on, body, item, State(body, names, places))
        else:
            body(item)
        goes_on = more()
        if staging.is_staged(goes_on):
            if not isinstance(iterated, Sized):
                raise at_user_line(
                    NotImplementedError,
                    "break and return statements which depend on a TF condition are not supported in Python for "
                    "loops. Did you intend to make it a TF loop?",
                )
        elif not goes_on:
            return


def _guarded(goes_on: Any, body: Callable[..., Any], item: Any, state: State) -> None:
    """One of a known number of iterations after one that may have left the loop."""
    pred = staging.condition(goes_on, "loop")
    stage_if(pred, lambda: body(item), lambda: None, state, len(state.names))


def _both(test: Any, more: Any) -> Any:
    """Whether there is another item and the loop was not left."""
    if more is None:
        return test
    goes_on = more()
    if not staging.is_staged(goes_on):
        return test if goes_on else False

    return logical_and(test, goes_on)


def for_range(iterated: Any, more: Any, body: Callable[..., Any], frame: Frame) -> None:
    """A loop over `tf.range`: it counts, the tensor is never made."""
    start, limit, delta = iterated.op.inputs
    step = delta.constant_value()

    def test(i: Any) -> Any:
        if step is None:
            return _both(
                logical_or(logical_and(delta > 0, i < limit), logical_and(delta < 0, i > limit)),
                more,
            )
        return _both(i < limit if step >= 0 else i > limit, more)

    def one(i: Any) -> list[Any]:
        body(i)
        return [i + delta]

    # Without any iteration, Python's variable would have no value; a loop variable of a graph has the start.
    frame.stage(test, one, [start], dict.fromkeys(frame.targets, start))


def for_counted(iterated: Any, more: Any, body: Callable[..., Any], frame: Frame) -> None:
    """A loop over the first axis of a tensor, the elements of a TensorArray, or several of them together."""
    count, item = count_of(iterated), reader_of(iterated)

    def one(i: Any) -> list[Any]:
        body(item(i))
        return [i + 1]

    frame.stage(lambda i: _both(i < count, more), one, [constant(0)])


def for_dataset(iterated: Any, more: Any, body: Callable[..., Any], frame: Frame) -> None:
    """A loop over the elements of a dataset, or over those that an iterator still has."""

    loop_over(iterated, more, body, frame)
