"""Scores and distances of images by what a classifier, such as Inception, makes of them."""

from __future__ import annotations

import functools
import os
import tarfile
import tempfile
import urllib.request
import zlib
from collections.abc import Callable
from typing import Any

from tapeflow import protos
from tapeflow.compat import v1
from tapeflow.contrib import layers
from tapeflow.contrib.gan.eval import distances
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.files import file_system
from tapeflow.core.files.expansion import expands_too_much

INCEPTION_URL = "http://download.tensorflow.org/models/frozen_inception_v1_2015_12_05.tar.gz"
INCEPTION_FROZEN_GRAPH = "inceptionv1_for_inception_score.pb"
INCEPTION_INPUT, INCEPTION_OUTPUT = "Mul:0", "logits:0"
INCEPTION_FINAL_POOL = "pool_3:0"
INCEPTION_DEFAULT_IMAGE_SIZE = 299


def preprocess_image(
    images: Tensor, height=INCEPTION_DEFAULT_IMAGE_SIZE, width=INCEPTION_DEFAULT_IMAGE_SIZE, scope: str | None = None
):
    """Images of values from 0 to 255, one or a batch, as Inception takes them: resized, from -1 to 1."""
    with v1.name_scope(scope, "preprocess", [images, height, width]):
        if not images.dtype.is_floating:
            images = v1.cast(images, v1.float32)
        single = images.shape.rank == 3
        batch = v1.expand_dims(images, 0) if single else images
        resized = (v1.image.resize_bilinear(batch, [height, width]) - 128.0) / 128.0
        return v1.squeeze(resized, 0) if single else resized


def get_graph_def_from_disk(filename):
    """The GraphDef in a file."""
    with file_system.GFile(filename, "rb") as file:
        return protos.GraphDef.FromString(file.read())


def get_graph_def_from_resource(filename):
    """The GraphDef in a file of the program."""
    return protos.GraphDef.FromString(v1.resource_loader.load_resource(filename))


def get_graph_def_from_url_tarball(url, filename, tar_filename=None):
    """The GraphDef in a file of an archive, which is loaded from `url` unless `tar_filename` is there.

    Raises ValueError for an archive that is damaged, or has no such file.
    """
    if not (tar_filename and os.path.exists(tar_filename)):
        tar_filename = tar_filename or os.path.join(tempfile.mkdtemp(), os.path.basename(url))
        urllib.request.urlretrieve(url, tar_filename)
    try:
        with tarfile.open(tar_filename, "r:gz") as archive:
            member = archive.getmember(filename)
            file = archive.extractfile(member)
            if file is None or expands_too_much(member.size, os.path.getsize(tar_filename)):
                raise ValueError(f"{filename} is not a file of {tar_filename}, or too large.")
            data = file.read()
    except (tarfile.TarError, zlib.error, EOFError, KeyError) as error:
        raise ValueError(f"{tar_filename} is damaged, or has no {filename}: {error}") from error
    return protos.GraphDef.FromString(data)


def _inception():
    return get_graph_def_from_url_tarball(
        INCEPTION_URL, INCEPTION_FROZEN_GRAPH, os.path.basename(INCEPTION_URL)
    )


def run_image_classifier(tensor: Any, graph_def, input_tensor: Any, output_tensor, scope: str = "RunClassifier"):
    """The outputs of a GraphDef for images: a list, or one where `output_tensor` is a name."""
    single = isinstance(output_tensor, str)
    names = [output_tensor] if single else output_tensor
    outputs = v1.import_graph_def(graph_def, {input_tensor: tensor}, names, name=scope)
    return outputs[0] if single else outputs


def run_inception(
    images: Tensor, graph_def=None, default_graph_def_fn=_inception, image_size=INCEPTION_DEFAULT_IMAGE_SIZE,
    input_tensor: TensorLike = INCEPTION_INPUT, output_tensor=INCEPTION_OUTPUT,
):  # fmt: skip
    """The activations of Inception for images, (batch, features).

    Args:
      images: (batch, image_size, image_size, channels), as `preprocess_image` makes them.
      graph_def: the network; by default what `default_graph_def_fn` returns, which loads it from the network.

    Raises ValueError for images of other shapes, and without a network.
    """
    images = v1.convert_to_tensor(images)
    images.shape.with_rank(4)
    images.shape.assert_is_compatible_with([None, image_size, image_size, None])
    if graph_def is None:
        if default_graph_def_fn is None:
            raise ValueError("If `graph_def` is `None`, must provide `default_graph_def_fn`.")
        graph_def = default_graph_def_fn()
    found = run_image_classifier(images, graph_def, input_tensor, output_tensor)
    if isinstance(found, list):
        return [_matrix(x) for x in found]
    return _matrix(found)


def _matrix(x: Tensor):
    return x if x.shape.rank == 2 else layers.flatten(x)


def _activations(images: TensorLike, classifier_fn: Callable[..., Any], batches: int):
    """What a classifier makes of images, some at a time."""
    stacked = v1.stack(v1.split(images, batches))
    found = v1.map_fn(
        classifier_fn, stacked, parallel_iterations=1, back_prop=False, swap_memory=True, name="RunClassifier"
    )  # fmt: skip
    return v1.concat(v1.unstack(found), 0)


def classifier_score(images: TensorLike, classifier_fn: Callable[..., Any], num_batches: int = 1):
    """The score of images by the logits of a classifier; see `classifier_score_from_logits`."""
    return distances.classifier_score_from_logits(_activations(images, classifier_fn, num_batches))


def frechet_classifier_distance(
    real_images: TensorLike, generated_images, classifier_fn: Callable[..., Any], num_batches: int = 1
):
    """The Frechet distance of images by the activations of a classifier."""
    return distances.frechet_classifier_distance_from_activations(
        *(_activations(x, classifier_fn, num_batches) for x in (real_images, generated_images))
    )


def kernel_classifier_distance_and_std(
    real_images, generated_images, classifier_fn, num_classifier_batches=1, max_block_size=1024, dtype=None
):  # fmt: skip
    """The kernel distance of images by the activations of a classifier, and its error."""
    both = (
        _activations(x, classifier_fn, num_classifier_batches)
        for x in (real_images, generated_images)
    )
    return distances.kernel_classifier_distance_and_std_from_activations(*both, max_block_size, dtype)


def kernel_classifier_distance(
    real_images: TensorLike, generated_images, classifier_fn: Callable[..., Any], num_classifier_batches: int = 1,
    max_block_size: int = 1024, dtype: DTypeLike | None = None,
):  # fmt: skip
    """The kernel distance of images by the activations of a classifier."""
    return kernel_classifier_distance_and_std(
        real_images, generated_images, classifier_fn, num_classifier_batches, max_block_size, dtype
    )[0]


_LOGITS = functools.partial(run_inception, output_tensor=INCEPTION_OUTPUT)
_POOL = functools.partial(run_inception, output_tensor=INCEPTION_FINAL_POOL)
inception_score = functools.partial(classifier_score, classifier_fn=_LOGITS)
frechet_inception_distance = functools.partial(frechet_classifier_distance, classifier_fn=_POOL)
kernel_inception_distance = functools.partial(kernel_classifier_distance, classifier_fn=_POOL)
kernel_inception_distance_and_std = functools.partial(
    kernel_classifier_distance_and_std, classifier_fn=_POOL
)
