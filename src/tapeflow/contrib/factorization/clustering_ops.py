"""k-means as a graph: `KMeans`, its names and its ops."""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor, TensorLike, Variable
from tapeflow.core.public import boundaries

SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = "squared_euclidean", "cosine"
RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT = "random", "kmeans_plus_plus", "kmc2"
CLUSTERS_VAR_NAME = "clusters"


def nearest_neighbors(points: TensorLike, centers: Variable, k: int, name: str | None = None):
    """The numbers of the `k` nearest centers of each point, the nearest first, and their squared distances.

    Args:
      points: float32 (n, d).
      centers: float32 (m, d).
      k: a scalar, int64.

    Returns:
      int64 and float32, both (n, min(k, m)).

    Raises:
      InvalidArgumentError: for other shapes, or without any point or center.
    """
    return v1.raw_ops.NearestNeighbors(points=points, centers=centers, k=k, name=name)


def kmeans_plus_plus_initialization(
    points: TensorLike, num_to_sample: TensorLike, seed: int, num_retries_per_sample: int, name: str | None = None
):
    """Some of the points, each drawn in proportion to its squared distance from those before.

    Args:
      points: float32 (n, d).
      num_to_sample: how many; int64.
      seed: of the numbers drawn; int64.
      num_retries_per_sample: how many more are drawn of which the best is taken; below 0, 2 + log(num_to_sample).

    Returns:
      float32 (num_to_sample, d).

    Raises:
      InvalidArgumentError: for other shapes, and for more than there are.
    """
    return v1.raw_ops.KmeansPlusPlusInitialization(
        points=points, num_to_sample=num_to_sample, seed=seed, num_retries_per_sample=num_retries_per_sample,
        name=name,
    )  # fmt: skip


def kmc2_chain_initialization(distances: TensorLike, seed: int, name: str | None = None):
    """The number of a point, drawn by a Markov chain through all in proportion to their distances.

    Args:
      distances: float32 (n,).
      seed: of the numbers drawn; int64.

    Returns:
      An int64 scalar.

    Raises:
      InvalidArgumentError: for other shapes, and for no distance.
    """
    return v1.raw_ops.KMC2ChainInitialization(distances=distances, seed=seed, name=name)


class KMeans:
    """The graph that finds clusters: each input belongs to its nearest center, which is the mean of its inputs.

    Args:
      inputs: a matrix of points, or a list of these.
      num_clusters: how many; not needed where `initial_clusters` are given.
      initial_clusters: the centers; a function of the inputs and of how many are missing; or how centers are drawn of
        the inputs: "random", "kmeans_plus_plus" or "kmc2".
      distance_metric: "squared_euclidean" or "cosine".
      use_mini_batch: whether a step sees a part of the data, and moves centers; else each step computes them anew.
      mini_batch_steps_per_iteration: after how many steps inputs are compared with the moved centers.
      random_seed: of what is drawn.
      kmeans_plus_plus_num_retries: see `kmeans_plus_plus_initialization`.
      kmc2_chain_length: how many points one center is drawn of.

    Raises:
      ValueError: for an unknown way or distance.
    """

    def __init__(
        self, inputs: TensorLike, num_clusters: int, initial_clusters=RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE, use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1, random_seed: int = 0, kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ):  # fmt: skip
        if isinstance(initial_clusters, str) and initial_clusters not in (
            RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT
        ):  # fmt: skip
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._num_clusters, self._initial_clusters = num_clusters, initial_clusters
        self._cosine = distance_metric == COSINE_DISTANCE
        self._steps = int(mini_batch_steps_per_iteration) if use_mini_batch else 0
        self._seed, self._retries = random_seed, kmeans_plus_plus_num_retries
        self._chain_length = kmc2_chain_length

    @property
    def _keeps_unit_centers(self):
        return self._cosine and self._steps != 1

    def training_graph(self):
        """The graph.

        Returns:
          (distances, indices, scores, initialized, init_op, train_op): for each input, its distances from all
          centers, the number of the nearest, and the distance of that; whether there are all centers; what adds
          centers, to be run until there are all; and what makes a step.
        """
        given = self._initial_clusters
        if isinstance(given, str) or callable(given):
            count = v1.convert_to_tensor(self._num_clusters)
        else:
            given = v1.convert_to_tensor(given)
            count = v1.shape(given)[0]
        state = _State(count, self._steps)
        start = _Start(
            self._inputs, given, count, state, self._cosine, self._seed, self._retries, self._chain_length
        ).operation()
        inputs, centers = [v1.convert_to_tensor(x) for x in self._inputs], state.centers
        if self._cosine:
            inputs = [v1.nn.l2_normalize(x, axis=1) for x in inputs]
            if not self._keeps_unit_centers:
                centers = v1.nn.l2_normalize(centers, axis=1)
        found = [self._nearest(x, centers) for x in inputs]
        distances, scores, indices = (list(each) for each in zip(*found, strict=True))
        if self._steps:
            with v1.control_dependencies([self._synchronized(state)]):
                train = v1.group(*[_moved(x, i, state) for x, i in zip(inputs, indices, strict=True)])
        else:
            train = self._means(inputs, indices, count, state.centers)
        return distances, indices, scores, state.initialized, start, train

    def _nearest(self, x: Tensor, centers: Variable):
        """The distances of points from all centers, that of the nearest, and its number."""
        products = v1.matmul(x, centers, transpose_b=True)
        if self._cosine:
            every = 1 - products
        else:
            of_centers = v1.reduce_sum(v1.square(centers), 1)
            every = v1.reduce_sum(v1.square(x), 1, keepdims=True) - 2 * products + of_centers
        indices, nearest = nearest_neighbors(x, centers, 1)
        nearest = v1.squeeze(nearest, [-1])
        # Of unit vectors, the squared distance is twice the cosine distance.
        return every, nearest * 0.5 if self._cosine else nearest, v1.squeeze(indices, [-1])

    def _synchronized(self, state):
        """After every so many steps, the moved centers become those that are compared with."""
        if state.steps_left is None:
            return v1.no_op()

        def synchronize():
            moved = v1.nn.l2_normalize(state.moved, axis=1) if self._cosine else state.moved
            set_centers = v1.assign(state.centers, moved, validate_shape=False)
            with v1.control_dependencies([set_centers, v1.assign(state.counts, v1.zeros_like(state.counts))]):
                return v1.identity(v1.assign(state.steps_left, self._steps - 1))

        return v1.cond(
            state.steps_left <= 0, synchronize, lambda: v1.identity(v1.assign_sub(state.steps_left, 1))
        )

    def _means(self, inputs: Sequence[Tensor], indices: Sequence[Tensor], count: Tensor, centers: Variable):
        """Each center becomes the mean of its inputs."""
        sums = [v1.unsorted_segment_sum(x, i, count) for x, i in zip(inputs, indices, strict=True)]
        counts = [
            v1.unsorted_segment_sum(v1.ones_like(x[:, :1]), i, count)
            for x, i in zip(inputs, indices, strict=True)
        ]
        means = v1.add_n(sums) / (v1.add_n(counts) + 1e-6)
        if self._cosine:
            means = v1.nn.l2_normalize(means, axis=1)
        return v1.assign(centers, means, validate_shape=False)


class _State:
    """The variables of a clustering.

    Attributes:
      centers: those that inputs are compared with; at first none.
      moved: those that steps move: the same, unless several steps make an iteration.
      counts: how many inputs moved each; None where steps move none.
      steps_left: of an iteration; None where each step is one.
    """

    def __init__(self, count: TensorLike, steps: int):
        none = v1.constant([], v1.float32)
        self.centers = v1.Variable(none, name=CLUSTERS_VAR_NAME, validate_shape=False)
        self.initialized = v1.Variable(False, name="initialized")
        self.moved, self.steps_left, self.counts = self.centers, None, None
        if steps > 1:
            self.moved = v1.Variable(none, name="clusters_updated", validate_shape=False)
            self.steps_left = v1.Variable(steps, dtype=v1.int64, name="update_in_steps")
            self.counts = v1.Variable(v1.zeros([count], v1.int64))
        elif steps:
            self.counts = v1.Variable(v1.ones([count], v1.int64))


def _moved(x: Tensor, indices: Tensor, state):
    """Moves the centers of some inputs towards them, the less the more inputs they have had."""
    ids, places = v1.unique(indices)
    size = v1.size(ids)
    before, centers = v1.gather(state.counts, ids), v1.gather(state.moved, ids)
    added = v1.unsorted_segment_sum(v1.ones_like(places, dtype=v1.int64), places, size)
    weight = v1.cast(added, x.dtype)[:, None]
    change = v1.unsorted_segment_sum(x, places, size) - weight * centers
    change /= v1.cast(before + added, x.dtype)[:, None]
    with v1.control_dependencies([change]):
        return v1.group(
            v1.scatter_add(state.counts, ids, added), v1.scatter_add(state.moved, ids, change)
        )


class _Start:
    """What chooses the first centers: as many at once as a batch gives."""

    def __init__(
        self, inputs: Sequence[Tensor], given: Tensor | str, count: TensorLike, state, cosine: bool, seed: int,
        retries: int, chain_length: int,
    ):
        self._inputs, self._given, self._count, self._state = inputs, given, count, state
        self._cosine, self._seed, self._retries, self._chain = cosine, seed, retries, chain_length
        self._there = v1.shape(state.centers)[0]
        self._missing = count - self._there
        self._offered = v1.add_n([v1.shape(x)[0] for x in inputs])

    def operation(self):
        """Adds centers; where there are all, it does nothing."""
        return v1.cond(
            v1.equal(self._missing, 0), lambda: v1.identity(self._state.initialized), self._add
        )

    def _add(self):
        with v1.control_dependencies([v1.assert_positive(self._missing)]):
            chosen = self._by_chain() if self._given == KMC2_INIT else self._chosen()
            chosen = self._unit(chosen)
            every = v1.cond(
                v1.equal(self._there, 0),
                lambda: chosen,
                lambda: v1.concat([self._state.centers, chosen], 0),
            )
            now = v1.assign(self._state.centers, every, validate_shape=False)
            if self._state.moved is not self._state.centers:
                now = v1.assign(self._state.moved, now, validate_shape=False)
            complete = v1.equal(v1.shape(now)[0], self._count)
            return v1.identity(v1.assign(self._state.initialized, complete))

    def _unit(self, points: Tensor):
        return v1.nn.l2_normalize(points, axis=1) if self._cosine else points

    def _chosen(self):
        given = self._given
        if callable(given):
            return given(self._inputs, self._missing)
        if isinstance(given, str):
            if given == RANDOM_INIT:
                everything = v1.concat(self._inputs, 0)
                return v1.cond(self._offered <= self._missing, lambda: everything, lambda: self._random(everything))
            with v1.control_dependencies([v1.assert_greater_equal(self._offered, self._missing)]):
                return kmeans_plus_plus_initialization(
                    self._unit(self._inputs[0]), v1.cast(self._missing, v1.int64), self._seed, self._retries
                )
        with v1.control_dependencies([v1.assert_equal(self._missing, v1.shape(given)[0])]):
            return v1.identity(given)

    def _random(self, points: Tensor):
        most = v1.cast(self._offered, v1.int64)
        shape = v1.reshape(self._missing, [1])
        return v1.gather(points, v1.random_uniform(shape, 0, most, v1.int64, seed=self._seed))

    def _by_chain(self):
        """Points of the first input: one for each stretch as long as the chain, of those that are far from centers."""
        points, length = self._unit(self._inputs[0]), self._chain
        stretches = v1.shape(points)[0] // length
        count = v1.maximum(v1.minimum(self._missing, stretches), 1)

        def one_more(i: Tensor, new: Tensor):
            stretch = points[i * length : (i + 1) * length]
            before = v1.concat([v1.reshape(self._state.centers, [self._there, v1.shape(points)[1]]), new], 0)
            _, distances = nearest_neighbors(stretch, before, 1)
            index = kmc2_chain_initialization(v1.squeeze(distances, [-1]), self._seed)
            return i + 1, v1.concat([new, v1.gather(stretch, [index])], 0)

        # Where there is no center yet, each has to be far from the first point.
        begun = v1.cast(v1.equal(self._there, 0), v1.int32)
        i, new = begun, points[:begun]
        unknown = v1.TensorShape([None, points.shape[1]])
        _, new = v1.while_loop(
            lambda i, new: i < count, one_more, [i, new], shape_invariants=[v1.TensorShape([]), unknown]
        )
        return new


boundaries(globals())
