"""`tf.contrib.gan.eval`: how good generated data are, and summaries of them."""

from tapeflow.contrib.gan.eval.classifiers import (
    INCEPTION_DEFAULT_IMAGE_SIZE,
    classifier_score,
    frechet_classifier_distance,
    frechet_inception_distance,
    get_graph_def_from_disk,
    get_graph_def_from_resource,
    get_graph_def_from_url_tarball,
    inception_score,
    kernel_classifier_distance,
    kernel_classifier_distance_and_std,
    kernel_inception_distance,
    kernel_inception_distance_and_std,
    preprocess_image,
    run_image_classifier,
    run_inception,
)
from tapeflow.contrib.gan.eval.distances import (
    classifier_score_from_logits,
    diagonal_only_frechet_classifier_distance_from_activations,
    frechet_classifier_distance_from_activations,
    kernel_classifier_distance_and_std_from_activations,
    kernel_classifier_distance_from_activations,
    mean_only_frechet_classifier_distance_from_activations,
)
from tapeflow.contrib.gan.eval.images import image_grid, image_reshaper
from tapeflow.contrib.gan.eval.sliced_wasserstein import sliced_wasserstein_distance
from tapeflow.contrib.gan.eval.summaries import (
    add_cyclegan_image_summaries,
    add_gan_model_image_summaries,
    add_gan_model_summaries,
    add_image_comparison_summaries,
    add_regularization_loss_summaries,
    add_stargan_image_summaries,
)

__all__ = [
    "INCEPTION_DEFAULT_IMAGE_SIZE", "add_cyclegan_image_summaries", "add_gan_model_image_summaries",
    "add_gan_model_summaries", "add_image_comparison_summaries", "add_regularization_loss_summaries",
    "add_stargan_image_summaries", "classifier_score", "classifier_score_from_logits",
    "diagonal_only_frechet_classifier_distance_from_activations", "frechet_classifier_distance",
    "frechet_classifier_distance_from_activations", "frechet_inception_distance", "get_graph_def_from_disk",
    "get_graph_def_from_resource", "get_graph_def_from_url_tarball", "image_grid", "image_reshaper",
    "inception_score", "kernel_classifier_distance", "kernel_classifier_distance_and_std",
    "kernel_classifier_distance_and_std_from_activations", "kernel_classifier_distance_from_activations",
    "kernel_inception_distance", "kernel_inception_distance_and_std",
    "mean_only_frechet_classifier_distance_from_activations", "preprocess_image", "run_image_classifier",
    "run_inception", "sliced_wasserstein_distance",
]  # fmt: skip
