"""Run by a Python that has TensorFlow: writes graphs of ops of its first versions, and what runs of them give.

    python old_graph_programs.py old_graphs.json

Each program adds nodes to a graph, and returns what is fetched, one run after another.
"""

import base64
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def int64(value):
    return tf.constant(value, tf.int64)


@program
def queue():
    q = raw.FIFOQueue(component_types=[tf.float32], shapes=[[]])
    return [
        raw.QueueEnqueueMany(handle=q, components=[[1.0, 2.0, 3.0]]),
        raw.QueueDequeue(handle=q, component_types=[tf.float32]),
        raw.QueueSize(handle=q),
        raw.QueueDequeueMany(handle=q, n=2, component_types=[tf.float32]),
        raw.QueueEnqueue(handle=q, components=[4.0]),
        raw.QueueClose(handle=q),
        raw.QueueDequeueUpTo(handle=q, n=2, component_types=[tf.float32]),
        raw.QueueIsClosed(handle=q),
        raw.QueueDequeue(handle=q, component_types=[tf.float32]),
    ]


@program
def other_queues():
    padding = raw.PaddingFIFOQueue(component_types=[tf.int32], shapes=[[None]])
    priority = raw.PriorityQueue(component_types=[tf.string], shapes=[[]])
    random = raw.RandomShuffleQueue(component_types=[tf.int32], shapes=[[]], seed=3, seed2=5)
    return [
        raw.QueueEnqueue(handle=padding, components=[[1, 2]]),
        raw.QueueEnqueue(handle=padding, components=[[3]]),
        raw.QueueDequeueMany(handle=padding, n=2, component_types=[tf.int32]),
        raw.QueueEnqueueMany(handle=priority, components=[int64([5, 2]), ["five", "two"]]),
        raw.QueueDequeue(handle=priority, component_types=[tf.int64, tf.string]),
        raw.QueueEnqueueMany(handle=random, components=[list(range(8))]),
        raw.QueueDequeueMany(handle=random, n=8, component_types=[tf.int32]),
    ]


@program
def reader():
    q = raw.FIFOQueue(component_types=[tf.string], shapes=[[]])
    reader = raw.IdentityReader()
    state = raw.ReaderSerializeState(reader_handle=reader)
    return [
        raw.QueueEnqueueMany(handle=q, components=[["a", "b", "c"]]),
        raw.ReaderRead(reader_handle=reader, queue_handle=q),
        raw.ReaderReadUpTo(reader_handle=reader, queue_handle=q, num_records=int64(1)),
        raw.ReaderNumRecordsProduced(reader_handle=reader),
        raw.ReaderNumWorkUnitsCompleted(reader_handle=reader),
        raw.ReaderRestoreState(reader_handle=reader, state=state),
        raw.ReaderReset(reader_handle=reader),
        raw.ReaderNumRecordsProduced(reader_handle=reader),
    ]


@program
def stack():
    handle = raw.Stack(elem_type=tf.float32)
    first = raw.StackPush(handle=handle, elem=[5.0])
    with tf.control_dependencies([first]):
        second = raw.StackPush(handle=handle, elem=[6.0])
    with tf.control_dependencies([second]):
        third = raw.StackPop(handle=handle, elem_type=tf.float32)
    with tf.control_dependencies([third]):
        fourth = raw.StackPop(handle=handle, elem_type=tf.float32)
    with tf.control_dependencies([fourth]):
        return [[first, third, fourth, raw.StackClose(handle=handle)]]


@program
def tables():
    fixed = raw.HashTable(key_dtype=tf.string, value_dtype=tf.int64)
    changing = raw.MutableHashTable(key_dtype=tf.int64, value_dtype=tf.float32)
    rows = raw.MutableHashTableOfTensors(key_dtype=tf.int64, value_dtype=tf.float32, value_shape=[2])
    return [
        raw.LookupTableFind(table_handle=fixed, keys=["a"], default_value=int64(-1)),
        raw.InitializeTable(table_handle=fixed, keys=["a", "b"], values=int64([1, 2])),
        raw.LookupTableFind(table_handle=fixed, keys=["b", "c"], default_value=int64(-1)),
        raw.LookupTableSize(table_handle=fixed),
        raw.LookupTableInsert(table_handle=changing, keys=int64([3]), values=[1.5]),
        raw.LookupTableExport(table_handle=changing, Tkeys=tf.int64, Tvalues=tf.float32),
        raw.LookupTableImport(table_handle=changing, keys=int64([4]), values=[2.5]),
        raw.LookupTableExport(table_handle=changing, Tkeys=tf.int64, Tvalues=tf.float32),
        raw.LookupTableInsert(table_handle=rows, keys=int64([3]), values=[[1.0, 2.0]]),
        raw.LookupTableFind(table_handle=rows, keys=int64([3, 4]), default_value=[0.0, 9.0]),
    ]


@program
def anonymous_tables():
    found = []
    dense = {"empty_key": int64(-1), "deleted_key": int64(-2)}
    kinds = {"key_dtype": tf.int64, "value_dtype": tf.float32}
    for table in (
        raw.AnonymousMutableHashTable(**kinds), raw.AnonymousMutableDenseHashTable(**dense, value_dtype=tf.float32),
    ):  # fmt: skip
        with tf.control_dependencies(
            [raw.LookupTableInsertV2(table_handle=table, keys=int64([3]), values=[1.5])]
        ):
            found.append(
                raw.LookupTableFindV2(table_handle=table, keys=int64([3, 7]), default_value=-1.0)
            )
    table = raw.AnonymousHashTable(**kinds)
    with tf.control_dependencies(
        [raw.InitializeTableV2(table_handle=table, keys=int64([3]), values=[1.5])]
    ):
        found.append(raw.LookupTableFindV2(table_handle=table, keys=int64([3, 7]), default_value=-1.0))
    return found


@program
def accumulator():
    handle = raw.ConditionalAccumulator(dtype=tf.float32, shape=[2])
    return [
        raw.AccumulatorApplyGradient(handle=handle, local_step=int64(0), gradient=[1.0, 3.0]),
        raw.AccumulatorApplyGradient(handle=handle, local_step=int64(0), gradient=[3.0, 5.0]),
        raw.AccumulatorNumAccumulated(handle=handle),
        raw.AccumulatorTakeGradient(handle=handle, num_required=2, dtype=tf.float32),
        raw.AccumulatorSetGlobalStep(handle=handle, new_global_step=int64(7)),
        raw.AccumulatorApplyGradient(handle=handle, local_step=int64(3), gradient=[3.0, 5.0]),
        raw.AccumulatorNumAccumulated(handle=handle),
    ]


@program
def barrier():
    handle = raw.Barrier(component_types=[tf.float32, tf.int32], shapes=[[], [2]])
    take = {"handle": handle, "component_types": [tf.float32, tf.int32]}

    def insert(keys, values, at):
        return raw.BarrierInsertMany(handle=handle, keys=keys, values=values, component_index=at)

    return [
        insert(["x", "y", "z"], [1.0, 2.0, 3.0], 0),
        insert(["x"], [1.0], 0),
        [raw.BarrierIncompleteSize(handle=handle), raw.BarrierReadySize(handle=handle)],
        insert(["z", "y"], [[3, 4], [5, 6]], 1),
        insert(["z"], [[3, 4]], 2),
        insert(["q"], [3], 0),
        raw.BarrierTakeMany(num_elements=1, **take),
        raw.BarrierTakeMany(num_elements=0, **take),
        raw.BarrierTakeMany(num_elements=[1], **take),
        raw.BarrierTakeMany(handle=handle, num_elements=1, component_types=[tf.float32]),
        raw.BarrierClose(handle=handle),
        insert(["w"], [1.0], 0),
        insert(["x"], [[7, 8]], 1),
        raw.BarrierTakeMany(num_elements=2, **take),
        raw.BarrierTakeMany(num_elements=2, **take),
        raw.BarrierTakeMany(num_elements=2, allow_small_batch=True, **take),
    ]


@program
def staging():
    own = {"shared_name": "area", "dtypes": [tf.float32, tf.int32]}
    return [
        raw.Stage(values=[1.0, 2], shared_name="area"),
        raw.Stage(values=[3.0, 4], shared_name="area"),
        raw.StageSize(**own),
        raw.StagePeek(index=1, **own),
        raw.StagePeek(index=[1], **own),
        raw.Unstage(**own),
        raw.Unstage(shared_name="area", dtypes=[tf.int32, tf.int32]),
        raw.Stage(values=[3.0, 4], shared_name="area"),
        raw.StageClear(**own),
        raw.StageSize(**own),
        raw.Stage(values=[[2.0, 3.0]], shared_name="small", memory_limit=4),
        raw.Stage(values=[[2.0, 3.0]], shared_name="enough", memory_limit=8),
    ]


def staging_map(prefix):
    own = {"shared_name": prefix, "dtypes": [tf.float32, tf.int32]}

    def call(name, **given):
        return getattr(raw, prefix + name)(**{**own, **given})

    return [
        call("Stage", key=int64(3), indices=[0, 1], values=[1.0, 2]),
        call("Stage", key=int64(1), indices=[0], values=[5.0]),
        [call("Size"), call("IncompleteSize")],
        call("Peek", key=int64(3), indices=[0, 1]),
        call("Stage", key=int64(1), indices=[0], values=[5.0]),
        call("Stage", key=int64(1), indices=[7], values=[5.0]),
        call("Stage", key=int64(1), indices=[1], values=[9]),
        call("Unstage", key=int64(3), indices=[0], dtypes=[tf.float32]),
        call("Unstage", key=int64(3), indices=[0], dtypes=[tf.float32]),
        call("Unstage", key=int64(3), indices=[1], dtypes=[tf.int32]),
        call("UnstageNoKey", indices=[0, 1]),
        call("Stage", key=int64(3), indices=[1, 0], values=[2, 1.0]),
        call("Stage", key=int64(3), indices=[0, 1], values=[2.0, 1]),
        call("Clear"),
        [call("Size"), call("IncompleteSize")],
        call("Stage", key=int64(5), indices=[0], values=[[1.0, 2.0]], memory_limit=4, shared_name="small"),
    ]


@program
def map_staging():
    return staging_map("Map")


@program
def ordered_map_staging():
    return staging_map("OrderedMap")


# Variables behind references.


def variable(value, name):
    value = np.asarray(value)
    ref = raw.VariableV2(shape=value.shape, dtype=tf.as_dtype(value.dtype), name=name)
    return ref, raw.Assign(ref=ref, value=value)


@program
def assignments():
    made = raw.Variable(shape=[2], dtype=tf.float32)
    count, zero = variable(np.int32(0), "count")
    twice = raw.AssignAdd(ref=raw.AssignAdd(ref=made, value=[1.0, 1.0]), value=[2.0, 2.0])
    temporary = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="t")
    own = raw.Assign(ref=temporary, value=[4.0, 5.0])
    own = raw.AssignSub(ref=own, value=[1.0, 1.0])
    return [
        raw.IsVariableInitialized(ref=made),
        made,
        raw.Assign(ref=made, value=[1.0, 2.0]),
        raw.IsVariableInitialized(ref=made),
        twice,
        raw.AssignSub(ref=made, value=[1.0, 1.0]),
        raw.RefIdentity(input=made),
        raw.Assign(ref=made, value=[1.0, 2.0, 3.0], validate_shape=False),
        zero,
        raw.CountUpTo(ref=count, limit=2),
        raw.CountUpTo(ref=count, limit=2),
        raw.CountUpTo(ref=count, limit=2),
        raw.DestroyTemporaryVariable(ref=own, var_name="t"),
        raw.DebugGradientRefIdentity(input=count),
    ]


@program
def scatters():
    ref, first = variable(np.arange(6.0, dtype=np.float32).reshape(3, 2) + 1, "v")
    found = [first]
    rows = {"indices": [2, 0, 2], "updates": [[1.0, 2.0], [3.0, 4.0], [5.0, 0.5]]}
    for name in ("Add", "Div", "Max", "Min", "Mul", "Sub", "Update"):
        found.append(getattr(raw, f"Scatter{name}")(ref=ref, **rows))
    at = {"indices": [[2, 1], [0, 0]], "updates": [1.5, -2.5]}
    for name in ("Add", "Max", "Min", "Sub", "Update"):
        found.append(getattr(raw, f"ScatterNd{name}")(ref=ref, **at))
    found.append(raw.ScatterAdd(ref=ref, indices=[3], updates=[[1.0, 1.0]]))
    found.append(
        raw.StridedSliceAssign(ref=ref, begin=[0, 1], end=[3, 2], strides=[2, 1], value=[[7.0], [8.0]])
    )
    return [*found, ref]


_VALUES = {
    "var": [1.0, 2.0, 3.0], "accum": [0.1, 0.2, 0.3], "accum_update": [0.5, 0.25, 0.5], "linear": [0.1, 0.1, 0.2],
    "m": [0.1, 0.2, 0.3], "v": [0.3, 0.2, 0.1], "mg": [0.1, 0.1, 0.1], "ms": [0.5, 0.5, 0.5], "mom": [0.1, 0.2, 0.3],
    "gradient_accumulator": [0.1, 0.2, 0.3], "gradient_squared_accumulator": [0.3, 0.2, 0.1],
}  # fmt: skip


@program
def optimizers():
    import inspect

    found = []
    for name in dir(raw):
        if not name.startswith(("Apply", "SparseApply")):
            continue
        given = {}
        for key, p in inspect.signature(getattr(raw, name)).parameters.items():
            if key in _VALUES:
                given[key], first = variable(np.array(_VALUES[key], np.float32), f"{name}_{key}")
                found.append(first.op)
            elif key in ("grad", "delta"):
                given[key] = [0.5, -1.0] if name.startswith("Sparse") else [0.5, -1.0, 0.25]
            elif key == "indices":
                given[key] = [2, 0]
            elif p.default is p.empty:
                given[key] = int64(3) if key == "global_step" else -0.5 if key == "lr_power" else 0.25
        found += [getattr(raw, name)(**given), [given[key] for key in given if key in _VALUES]]
    return found


# TensorArrays.


def arrays(version):
    def call(name, **given):
        return getattr(raw, f"TensorArray{name}{version}")(**given)

    def new(size, **more):
        made = raw.TensorArrayV3(size=size, dtype=tf.float32, **more) if version == "V3" else None
        return made.handle if made else getattr(raw, f"TensorArray{version}")(size=size, dtype=tf.float32, **more)

    found = []
    array = new(3)
    flow = call("Write", handle=array, index=0, value=[1.0, 2.0], flow_in=0.0)
    flow = call("Write", handle=array, index=2, value=[3.0, 4.0], flow_in=flow)
    flow = call("Write", handle=array, index=1, value=[5.0, 6.0], flow_in=flow)
    found += [call("Size", handle=array, flow_in=flow)]
    found += [call("Read", handle=array, index=2, dtype=tf.float32, flow_in=flow)]
    found += [call("Write", handle=array, index=2, value=[3.0, 4.0], flow_in=flow)]
    found += [call("Write", handle=array, index=3, value=[3.0, 4.0], flow_in=flow)]
    found += [call("Write", handle=array, index=1, value=[3], flow_in=0.0)]
    found += [call("Read", handle=array, index=3, dtype=tf.float32, flow_in=flow)]
    found += [call("Read", handle=array, index=1, dtype=tf.int32, flow_in=flow)]
    found += [call("Read", handle=new(1), index=0, dtype=tf.float32, flow_in=0.0)]
    found += [call("Read", handle=new(1, element_shape=[2]), index=0, dtype=tf.float32, flow_in=0.0)]
    found += [call("Gather", handle=array, indices=[2, 0], dtype=tf.float32, flow_in=flow)]
    found += [call("Concat", handle=array, dtype=tf.float32, flow_in=flow)]
    array = new(2, dynamic_size=True, clear_after_read=False)
    flow = call("Scatter", handle=array, indices=[3, 1], value=[[1.0], [2.0]], flow_in=0.0)
    found += [call("Size", handle=array, flow_in=flow)]
    found += [call("Read", handle=array, index=3, dtype=tf.float32, flow_in=flow)]
    found += [call("Gather", handle=array, indices=[1, 3, 1], dtype=tf.float32, flow_in=flow)]
    array = new(2)
    flow = call("Split", handle=array, value=[1.0, 2.0, 3.0], lengths=int64([1, 2]), flow_in=0.0)
    found += [call("Read", handle=array, index=1, dtype=tf.float32, flow_in=flow)]
    found += [call("Split", handle=array, value=[1.0, 2.0], lengths=int64([1, 2]), flow_in=0.0)]
    found += [call("Split", handle=array, value=[1.0, 2.0], lengths=int64([1, 1, 0]), flow_in=0.0)]
    grad = call("Grad", handle=array, flow_in=flow, source="gradients")
    grad = grad.grad_handle if version == "V3" else grad
    twice = call("Write", handle=grad, index=1, value=[1.0, 2.0], flow_in=flow)
    twice = call("Write", handle=grad, index=1, value=[1.5, 2.5], flow_in=twice)
    found += [call("Read", handle=grad, index=1, dtype=tf.float32, flow_in=twice)]
    found += [call("Read", handle=grad, index=0, dtype=tf.float32, flow_in=twice)]
    if not version:
        array = new(2)
        flow = raw.TensorArrayUnpack(handle=array, value=[[1.0], [2.0]], flow_in=0.0)
        found += [raw.TensorArrayPack(handle=array, dtype=tf.float32, flow_in=flow)]
    with tf.control_dependencies([call("Close", handle=array)]):
        found += [call("Read", handle=array, index=0, dtype=tf.float32, flow_in=flow)]
    return found


@program
def arrays_1():
    return arrays("")


@program
def arrays_2():
    return arrays("V2")


@program
def arrays_3():
    return arrays("V3")


@program
def gradients_of_arrays():
    tf.compat.v1.disable_control_flow_v2()
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    array = tf.compat.v1.TensorArray(tf.float32, 2, infer_shape=True).unstack(x)
    other = tf.compat.v1.TensorArray(tf.float32, 2, clear_after_read=False)
    other = other.write(0, array.read(1) * 2.0).write(1, array.read(0) * 3.0)
    y = tf.reduce_sum(other.stack() * [[1.0, 2.0], [3.0, 4.0]]) + tf.reduce_sum(other.concat() ** 2)
    return [y, tf.gradients(y, x)]


# Datasets.


def elements(dataset, count, types, shapes):
    """The first elements of a dataset, and then one more."""
    kind = {"output_types": types, "output_shapes": shapes}
    iterator = raw.IteratorV2(shared_name=f"of_{dataset.op.name}", container="", **kind)
    make = raw.MakeIterator(dataset=dataset, iterator=iterator)
    return [make, *([raw.IteratorGetNext(iterator=iterator, **kind)] * count)]


def range_of(stop):
    return raw.RangeDataset(
        start=int64(0), stop=int64(stop), step=int64(1), output_types=[tf.int64], output_shapes=[[]]
    )


def concrete(function, *dtypes):
    return tf.function(function).get_concrete_function(*(tf.TensorSpec((), t) for t in dtypes))


@program
def experimental_datasets():
    one = {"output_types": [tf.int64], "output_shapes": [[]]}
    found = []

    def have(name, count, given=None, shapes=((),), **more):
        kind = {**one, "output_shapes": [list(s) for s in shapes]}
        given = range_of(6) if given is None else given
        made = getattr(raw, name)(input_dataset=given, **more, **kind)
        found.extend(elements(made, count, kind["output_types"], kind["output_shapes"]))

    have("ExperimentalSleepDataset", 2, sleep_microseconds=int64(10))
    have("ExperimentalSlidingWindowDataset", 3, shapes=((None,),), window_size=int64(2), window_shift=int64(2),
         window_stride=int64(2))  # fmt: skip
    have("ExperimentalSlidingWindowDataset", 3, shapes=((None,),), window_size=int64(2), window_shift=int64(3),
         window_stride=int64(1))  # fmt: skip
    have("SlidingWindowDataset", 5, range_of(4), ((None,),), window_size=int64(3), window_shift=int64(1),
         window_stride=int64(1), drop_remainder=False)  # fmt: skip
    have("ExperimentalUniqueDataset", 3)
    have("ExperimentalIgnoreErrorsDataset", 2)
    have("ExperimentalLatencyStatsDataset", 2, tag="a")
    have("ExperimentalBytesProducedStatsDataset", 2, tag="a")
    have("ExperimentalNonSerializableDataset", 2)
    have("ExperimentalMaxIntraOpParallelismDataset", 2, max_intra_op_parallelism=int64(1))
    have("ExperimentalPrivateThreadPoolDataset", 2, num_threads=int64(1))
    have("AutoShardDataset", 3, num_workers=int64(2), index=int64(1), auto_shard_policy=2)
    batch = raw.BatchDatasetV2(
        input_dataset=range_of(6), batch_size=int64(4), drop_remainder=False, output_types=[tf.int64],
        output_shapes=[[None]],
    )  # fmt: skip
    have("ExperimentalUnbatchDataset", 6, batch)
    have("RebatchDatasetV2", 4, batch, ((None,),), batch_sizes=int64([1, 3]), drop_remainder=False)
    have("ExperimentalTakeWhileDataset", 4, predicate=concrete(lambda x: x < 3, tf.int64), other_arguments=[])
    have("ExperimentalScanDataset", 4, initial_state=[int64(1)], other_arguments=[],
         f=concrete(lambda s, x: (s + x, s * x), tf.int64, tf.int64))  # fmt: skip
    chosen = raw.ExperimentalDirectedInterleaveDataset(
        selector_input_dataset=raw.TensorSliceDataset(
            components=[int64([1, 0, 1, 1])], output_shapes=[[]]
        ),
        data_input_datasets=[range_of(2), range_of(9)], **one,
    )  # fmt: skip
    found.extend(elements(chosen, 4, types=one["output_types"], shapes=one["output_shapes"]))
    return found


@program
def what_datasets_tell():
    one = {"output_types": [tf.int64], "output_shapes": [[]]}
    listed = raw.ListDataset(tensors=[int64(3), int64(5)], **one)
    table = raw.HashTableV2(key_dtype=tf.int64, value_dtype=tf.int64)
    pairs = raw.TensorSliceDataset(components=[int64([1, 2]), int64([5, 6])], output_shapes=[[], []])
    packed = raw.CompressElement(components=[1.5, "a"])
    return [
        raw.ExperimentalDatasetCardinality(input_dataset=range_of(6)),
        raw.GetElementAtIndex(dataset=range_of(6), index=int64(4), **one),
        raw.GetElementAtIndex(dataset=range_of(6), index=int64(6), **one),
        *elements(listed, 3, one["output_types"], one["output_shapes"]),
        raw.InitializeTableFromDataset(table_handle=table, dataset=pairs),
        raw.LookupTableFindV2(table_handle=table, keys=int64([2, 3]), default_value=int64(-1)),
        raw.UncompressElement(compressed=packed, output_types=[tf.float32, tf.string], output_shapes=[[], []]),
        raw.ComputeBatchSize(
            input_dataset=raw.BatchDatasetV2(
                input_dataset=range_of(6), batch_size=int64(4), drop_remainder=True, output_types=[tf.int64],
                output_shapes=[[4]],
            )
        ),
    ]  # fmt: skip


# What is written.

# The version of the graphs, where it matters.
OLDEST = {"experimental_datasets": 2474, "what_datasets_tell": 2474, "arrays_1": 15, "arrays_2": 20}


def portable(value):
    """A value as JSON has it: (dtype, shape, elements)."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [portable(v) for v in value]
    array = np.asarray(value)
    if array.dtype.kind in "OS":
        elements = [base64.b64encode(v).decode() for v in array.ravel().tolist()]
        return {"dtype": "string", "shape": array.shape, "elements": elements}
    elements = array.ravel()
    if array.dtype.kind == "c":
        elements = np.stack([elements.real, elements.imag], -1)
    elements = elements.astype(float) if array.dtype.kind not in "biu" else elements
    return {"dtype": array.dtype.name, "shape": array.shape, "elements": elements.tolist()}


def name_of(fetch):
    if isinstance(fetch, (list, tuple)):
        return [name_of(f) for f in fetch]
    return fetch.name


def main(path):
    written = {}
    for name, function in PROGRAMS.items():
        with tf.Graph().as_default() as graph:
            # Some ops may only be in graphs that were written long ago.
            old = tf.compat.v1.GraphDef(versions={"producer": OLDEST.get(name, 15)})
            tf.graph_util.import_graph_def(old, name="")
            fetches = function()
            runs = []
            with tf.compat.v1.Session() as session:
                for fetch in fetches:
                    try:
                        runs.append([name_of(fetch), portable(session.run(fetch))])
                    except tf.errors.OpError as error:
                        runs.append([name_of(fetch), {"error": type(error).__name__}])
            data = base64.b64encode(graph.as_graph_def().SerializeToString()).decode()
        written[name] = {"graph": data, "runs": runs}
    with open(path, "w") as file:
        json.dump(written, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
