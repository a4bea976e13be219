"""Random pipelines of `tf.data`, as lines of Python that `oracle_calls.py` runs.

    python random_pipelines.py --seed 1 --calls 3000 FILE

A pipeline grows by one transformation at a time. Those that cannot be made or fail for an element are kept
now and then.
"""

from __future__ import annotations

import argparse
import random
import warnings

import oracle_calls

import tapeflow as tf

SOURCES = (
    "tf.data.Dataset.range({n})",
    "tf.data.Dataset.range({n}, {size}, {step})",
    "tf.data.Dataset.range({n}, output_type=tf.{numeric})",
    "tf.data.Dataset.from_tensor_slices({array})",
    "tf.data.Dataset.from_tensor_slices(({array}, {array}))",
    "tf.data.Dataset.from_tensor_slices({{'b': {array}, 'a': {array}}})",
    "tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3], [4, 5, 6]]))",
    "tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0], [0, 0]]))",
    "tf.data.Dataset.from_tensor_slices(['b', '', 'aa', 'b', 'c'])",
    "tf.data.Dataset.from_tensors({array})",
    "tf.data.Dataset.from_tensors(({array}, {{'x': {size}}}))",
    "tf.data.Dataset.from_generator(lambda: iter(range({n})), output_signature=tf.TensorSpec((), tf.{numeric}))",
    "tf.data.Dataset.from_generator(lambda: iter([[1], [2, 3], []]), tf.{numeric})",
    "tf.data.Dataset.from_generator(lambda: iter([(1, 'a'), (2, 'b')]), (tf.int64, tf.string), ((), None))",
    "tf.data.Dataset.random(seed={seed}).take({size})",
    "tf.data.Dataset.counter({size}, {step}).take({size})",
)
# What functions of an element return.
VALUES = (
    "number(e)",
    "(e[0], number(e))",
    "(number(e), e)",
    "{{'b': number(e), 'a': e[0]}}",
    "[number(e), {n}]",
    "e[0]",
    "(e, e)",
    "tf.range(number(e) % 5)",
    "tf.ones([number(e) % 3, 2], tf.{dtype})",
    "tf.strings.as_string(number(e))",
    "tf.cast(number(e), tf.{dtype})",
    "tf.RaggedTensor.from_row_lengths(tf.range(number(e) % 4), [number(e) % 4])",
    "tf.sparse.from_dense(tf.one_hot(number(e) % 3, 3))",
    "10 // (number(e) - {n})",
    "tf.numpy_function(lambda n: n + 1, [number(e)], tf.int64)",
    "tf.data.Dataset.range(number(e) % 4)",
    "{n}",
    "tf.reshape(number(e), [1, 1])",
    "tf.cond(number(e) > {n}, lambda: number(e), lambda: {n})",
    "tf.fill([{size}], number(e) % 7)",
)  # fmt: skip
DATASETS = (
    "tf.data.Dataset.range(number(e) % 4)",
    "tf.data.Dataset.from_tensors(e)",
    "tf.data.Dataset.from_tensors(e[0]).repeat(number(e) % 3)",
    "tf.data.Dataset.from_tensor_slices(tf.range(number(e) % 3)).map(lambda x: (x, number(e)))",
    "tf.data.Dataset.zip(tf.data.Dataset.range(2), tf.data.Dataset.range(number(e) % 5))",
    "tf.nest.flatten(e)[0]",
)
TESTS = (
    "number(e) % 2 == 0",
    "number(e) < {n}",
    "True",
    "number(e)",
    "tf.equal(number(e) % {size}, 1)",
)
STEPS = (
    ".map(lambda *e: {value})",
    ".map(lambda *e: {value}, num_parallel_calls={workers}, deterministic=True)",
    ".filter(lambda *e: {test})",
    ".batch({size}, drop_remainder={flag})",
    ".batch({size}, num_parallel_calls={workers})",
    ".padded_batch({size}, drop_remainder={flag})",
    ".padded_batch({size}, padded_shapes=[{n}])",
    ".padded_batch({size}, padding_values={padding})",
    ".ragged_batch({size}, drop_remainder={flag})",
    ".sparse_batch({size}, [{n}])",
    ".map(lambda *e: {value}).padded_batch({size})",
    ".map(lambda *e: {value}).ragged_batch({size})",
    ".batch({size}).unbatch()",
    ".unbatch()",
    ".rebatch({size}, drop_remainder={flag})",
    ".shuffle({n}, seed={seed}, reshuffle_each_iteration={flag})",
    ".shuffle({n}, seed={seed}).repeat({size})",
    ".repeat({size})",
    ".repeat().take({size})",
    ".take({n})",
    ".skip({n})",
    ".take_while(lambda *e: {test})",
    ".shard({size}, {n})",
    ".shard(3, 1)",
    ".enumerate({n})",
    ".cache()",
    ".cache().repeat({size})",
    ".prefetch({n})",
    ".unique()",
    ".map(lambda *e: number(e) % {size}).unique()",
    ".flat_map(lambda *e: {dataset})",
    ".interleave(lambda *e: {dataset}, cycle_length={size}, block_length={size})",
    ".interleave(lambda *e: {dataset}, cycle_length={size}, num_parallel_calls={workers}, deterministic=True)",
    ".interleave(lambda *e: {dataset})",
    ".window({size}, shift={shift}, stride={size}, drop_remainder={flag})",
    ".window({size}).flat_map(lambda *e: tf.data.Dataset.zip(*e) if len(e) > 1 else e[0])",
    ".window({size}, {shift}).map(lambda *e: {value})",
    ".concatenate({source})",
    ".concatenate(tf.data.Dataset.range({n}))",
    ".scan(np.int64(0), lambda s, *e: (s + number(e), ({value}, s)))",
    ".scan({{'a': 0}}, lambda s, *e: ({{'a': s['a'] + 1}}, s['a']))",
    ".group_by_window(lambda *e: number(e) % 3, lambda key, w: w.batch({size}), window_size={size})",
    ".group_by_window(lambda *e: number(e) % 3, lambda key, w: w.map(lambda *e: (key, number(e))),"
    " window_size_func=lambda key: key + 1)",
    ".bucket_by_sequence_length(lambda *e: tf.cast(number(e) % 6, tf.int32), [2, 4], [1, {size}, 3],"
    " drop_remainder={flag})",
    ".map(lambda *e: tf.range(number(e) % 6)).bucket_by_sequence_length(tf.size, [2, 4], [{size}, {size}, 3],"
    " pad_to_bucket_boundary={flag}, no_padding={flag})",
    ".rejection_resample(lambda *e: tf.cast(number(e) % 2, tf.int32), [0.3, 0.7], [0.5, 0.5], seed={seed})",
    ".rejection_resample(lambda *e: tf.cast(number(e) % 2, tf.int32), [0.3, 0.7], seed={seed})",
    ".ignore_errors()",
    ".map(lambda *e: 10 // (number(e) - {n})).ignore_errors()",
    ".apply(tf.data.experimental.assert_cardinality({n}))",
    ".apply(tf.data.experimental.group_by_reducer(lambda *e: number(e) % 3, tf.data.experimental.Reducer("
    "lambda key: key, lambda s, *e: s + number(e), lambda s: (s, {n}))))",
    ".apply(tf.data.experimental.dense_to_ragged_batch({size}, drop_remainder={flag}))",
    ".apply(tf.data.experimental.map_and_batch(lambda *e: {value}, {size}))",
    ".apply(lambda d: tf.data.Dataset.zip((d, d.skip({n}))))",
    ".apply(lambda d: tf.data.Dataset.zip({{'x': d, 'y': {source}}}))",
    ".apply(lambda d: tf.data.Dataset.sample_from_datasets([d, d.skip(1)], [0.3, 0.7], seed={seed},"
    " stop_on_empty_dataset={flag}))",
    ".apply(lambda d: tf.data.Dataset.choose_from_datasets([d, d.take({n})],"
    " tf.data.Dataset.range(2).repeat({size}), stop_on_empty_dataset={flag}))",
)  # fmt: skip
ENDS = (
    "{line}.reduce(np.int64(0), lambda s, *e: s + number(e))",
    "{line}.reduce((0, {n}), lambda s, *e: (s[0] + 1, s[1]))",
    "{line}.cardinality()",
    "len({line})",
    "{line}.get_single_element()",
    "list({line}.take(9).as_numpy_iterator())",
    "{line}.element_spec",
    "in_function(lambda: {line}.reduce(np.int64(0), lambda s, *e: s * 3 + number(e)))",
    "in_function(lambda: {line}.take(3).batch(3).get_single_element())",
)


class Draw:
    """Draws lines; the same seed draws the same ones."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def filled(self, text):
        """A template with what it leaves open; each place is drawn anew."""
        while "{" in text.replace("{{", ""):
            before, rest = self._next(text)
            name, _, after = rest.partition("}")
            text = before + getattr(self, name)() + after
        return text.replace("{{", "{").replace("}}", "}")

    @staticmethod
    def _next(text):
        at = 0
        while text[at] != "{" or text[at + 1] == "{":
            at += 2 if text[at : at + 2] == "{{" else 1
        return text[:at], text[at + 1 :]

    def n(self):
        n = self.random.choice((0, 1, 2, 3, 4, 5, 7, 10))
        forms = (n, n, n, n, n, n, n, n, f"np.int64({n})", f"tf.constant({n}, tf.int64)", -1)
        return str(self.random.choice(forms))

    def size(self):
        return str(self.random.choice((1, 2, 2, 3, 3, 4, 5, 1, 2, 3, 0)))

    def shift(self):
        return str(self.random.choice((None, 1, 2, 3)))

    def step(self):
        return str(self.random.choice((1, 1, 2, 3, -1)))

    def seed(self):
        return str(self.random.randrange(50))

    def flag(self):
        return str(self.random.random() < 0.5)

    def workers(self):
        return self.random.choice(("None", "1", "2", "tf.data.AUTOTUNE"))

    def numeric(self):
        return self.random.choice(("int32", "int64", "float32", "float64"))

    def dtype(self):
        return self.random.choice(("int32", "int64", "float32", "float64", "uint8", "bool", "float16"))

    def padding(self):
        return self.random.choice(("-1", "np.int64(7)", "0.5", "None", "''", "True"))

    def array(self):
        pick, count = self.random.choice, self.random.choice((0, 1, 3, 3, 3, 5))
        values = [self.random.choice((0, 1, 2, 3, 5, -4)) for _ in range(count)]
        rows = [[v, v + 1] for v in values]
        values = pick((values, values, rows if count else values, [str(v) for v in values]))
        text = str(values)
        if values and isinstance(values[0], str):
            return text
        dtype = pick(("float32", "int64", "int32"))
        return pick((text, f"np.array({text}, '{dtype}')", f"tf.constant({text}, tf.int64)"))

    def value(self):
        return self.filled(self.random.choice(VALUES)).replace("{", "{{").replace("}", "}}")

    def dataset(self):
        return self.filled(self.random.choice(DATASETS))

    def test(self):
        return self.filled(self.random.choice(TESTS))

    def source(self):
        return self.filled(self.random.choice(SOURCES)).replace("{", "{{").replace("}", "}}")


def lines(seed, calls, works):
    """So many random pipelines."""
    draw = Draw(seed)
    while calls:
        line = draw.filled(draw.random.choice(SOURCES))
        for _ in range(draw.random.choice((0, 1, 2, 2, 3, 3, 4, 5))):
            longer = line + draw.filled(draw.random.choice(STEPS))
            if works(longer):
                line = longer
            elif draw.random.random() < 0.15:
                line = longer
                break
        if draw.random.random() < 0.2:
            line = draw.filled(draw.random.choice(ENDS).replace("{line}", line.replace("{", "{{").replace("}", "}}")))
        if len(line) < 700:
            yield line
            calls -= 1


def main():
    """Write random pipelines to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("file")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    known = oracle_calls.names(tf)

    def works(line):
        value = oracle_calls.answer(tf, known, line).get("value")
        return value is not None and value[1].get("error") is None

    with open(given.file, "w") as file:
        for line in lines(given.seed, given.calls, works):
            file.write(line + "\n")
            file.flush()


if __name__ == "__main__":
    main()
