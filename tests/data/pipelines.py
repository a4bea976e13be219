"""Pipelines made at random from a number: `python pipelines.py 0 50` prints what TensorFlow makes of the first 50."""

import json
import random
import sys

import numpy as np


class Maker:
    """Makes pipelines with a package that has TensorFlow's API."""

    def __init__(self, tf):
        self.tf = tf
        self.Dataset = tf.data.Dataset

    def number(self, *element):
        """One number of all tensors of an element."""
        tf = self.tf
        total = tf.constant(0, tf.int64)
        for tensor in tf.nest.flatten(element):
            total = total + tf.reduce_sum(tf.cast(tensor, tf.int64))
        return total

    def plain(self, value):
        """An element as lists and numbers."""
        tf = self.tf
        if isinstance(value, dict):
            return {key: self.plain(item) for key, item in value.items()}
        if isinstance(value, tuple):
            return [self.plain(item) for item in value]
        if isinstance(value, tf.RaggedTensor):
            return ["ragged", value.to_list()]
        if isinstance(value, self.Dataset):
            return ["dataset", [self.plain(item) for item in value]]
        return value.numpy().tolist()

    def source(self, chance):
        Dataset, n = self.Dataset, chance.randrange(12)
        return chance.choice(
            [
                lambda: Dataset.range(n),
                lambda: Dataset.from_tensor_slices((np.arange(n), np.arange(n) * 2)),
                lambda: Dataset.from_tensor_slices({"a": np.arange(n), "b": np.arange(2 * n).reshape(n, 2)}),
                lambda: Dataset.from_tensors(np.arange(3)),
                lambda: Dataset.range(n).map(lambda x: x * 3),
                lambda: Dataset.zip((Dataset.range(n), Dataset.range(7))),
            ]
        )()

    def step(self, d, chance):
        """The dataset after one more transformation."""
        tf, Dataset, number = self.tf, self.Dataset, self.number
        m, flag, seed = chance.randrange(1, 5), chance.random() < 0.5, chance.randrange(100)
        shift, stride = chance.randrange(1, 4), chance.randrange(1, 3)
        workers = chance.choice([None, 1, -1])
        return chance.choice(
            [
                lambda: d.map(lambda *e: (number(*e), e[0])),
                lambda: d.filter(lambda *e: number(*e) % 2 == 0),
                lambda: d.take(m * 2),
                lambda: d.skip(m),
                lambda: d.repeat(m),
                lambda: d.shuffle(m * 2, seed=seed, reshuffle_each_iteration=flag),
                lambda: d.batch(m, drop_remainder=flag),
                lambda: d.unbatch(),
                lambda: d.window(m, shift, stride, flag),
                lambda: d.window(m, drop_remainder=flag).flat_map(lambda *w: tf.nest.flatten(w)[0].batch(m)),
                lambda: d.concatenate(d),
                lambda: d.shard(m, seed % m),
                lambda: d.enumerate(m),
                lambda: d.interleave(
                    lambda *e: Dataset.range(number(*e) % 4), m, stride, num_parallel_calls=workers
                ),
                lambda: d.flat_map(lambda *e: Dataset.from_tensors(e[0]).repeat(number(*e) % 3)),
                lambda: d.scan(tf.constant(0, tf.int64), lambda s, e: (s + number(e), s)),
                lambda: d.map(lambda *e: tf.range(number(*e) % 5)).padded_batch(m, drop_remainder=flag),
                lambda: d.map(lambda *e: tf.range(number(*e) % 5)).ragged_batch(m, drop_remainder=flag),
                lambda: d.map(lambda *e: number(*e)).unique(),
                lambda: d.take_while(lambda *e: number(*e) < 20),
                lambda: d.group_by_window(
                    lambda *e: number(*e) % 3, lambda key, group: group.batch(m), window_size=m
                ),
                lambda: d.rebatch(m, flag),
                lambda: d.cache().prefetch(m),
                lambda: d.map(lambda *e: 10 // (number(*e) - 3), num_parallel_calls=workers).ignore_errors(),
                lambda: Dataset.sample_from_datasets(
                    [d, d.skip(1)], weights=[0.3, 0.7], seed=seed, stop_on_empty_dataset=flag
                ),
                lambda: Dataset.choose_from_datasets(
                    [d, d.take(2)], Dataset.range(2).repeat(m), stop_on_empty_dataset=flag
                ),
            ]
        )()  # fmt: skip

    def pipeline(self, seed):
        """The pipeline of a number, cut off where it is endless."""
        chance = random.Random(seed)
        dataset = self.source(chance)
        for _ in range(chance.randrange(1, 5)):
            dataset = self.step(dataset, chance)
        return dataset.take(60)

    def answer(self, seed):
        """The element spec, the cardinality and the elements of a pipeline, or that there was an error."""
        self.tf.random.set_seed(seed)
        try:
            dataset = self.pipeline(seed)
            elements = [self.plain(value) for value in dataset]
        except Exception:
            return "error"
        spec = str(dataset.element_spec).replace("tf.", "")
        return [spec, int(dataset.cardinality()), elements]


if __name__ == "__main__":
    import tensorflow

    maker = Maker(tensorflow)
    print(json.dumps([maker.answer(seed) for seed in range(int(sys.argv[1]), int(sys.argv[2]))]))
