"""The memory that a function takes at its peak, against the values that are alive at once."""

import math

import tapeflow as tf
from tapeflow.graph import passes
from tapeflow.graph.run import planning

# Their results share the memory of their first input.
VIEWS = {"Reshape", "ExpandDims", "Squeeze", "Unpack"}


def peak_of_live_set(function, *args):
    """The allocator's peak during a call, divided by `live_set` of the function's program."""
    function(*args)
    tf.config.experimental.reset_memory_stats("CPU:0")
    before = tf.config.experimental.get_memory_info("CPU:0")["current"]
    function(*args)
    peak = tf.config.experimental.get_memory_info("CPU:0")["peak"] - before
    graph = function.get_concrete_function(*args).graph
    return peak / live_set(passes.optimise(planning.function_program(graph)))


def live_set(program):
    """The most bytes that values take at once which are computed and still to be used.

    An instruction has its inputs and its outputs alive; nothing else is kept. Arguments,
    constants and variables are not counted: they are there before.
    """
    owner = {}  # value -> the value whose memory it is; None: not the program's
    for v in [*program.inputs, *program.constants]:
        owner[v] = None
    last = {}
    for at, each in enumerate(program.instructions):
        for v in each.outputs:
            if each.type == "ReadVariableOp":
                owner[v] = None
            else:
                owner[v] = owner[each.inputs[0]] if each.type in VIEWS else v
        for v in (*each.inputs, *each.outputs):
            last[owner.get(v)] = at
    for v in program.outputs:
        last[owner[v]] = len(program.instructions)
    now = most = 0
    for at, each in enumerate(program.instructions):
        born = {v for v in each.outputs if v >= 0 and owner[v] == v}
        now += sum(size(program.values[v]) for v in born)
        most = max(most, now)
        used = {owner[v] for v in (*each.inputs, *each.outputs) if v >= 0} - {None}
        now -= sum(size(program.values[v]) for v in used if last[v] == at)
    return most


def size(value):
    return math.prod(value.shape) * value.dtype.size
