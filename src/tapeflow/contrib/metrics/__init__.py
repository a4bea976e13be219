"""`tf.contrib.metrics`: metrics of graphs, with predictions first; each returns (value, update)."""

from tapeflow.contrib.metrics.areas import (
    auc_using_histogram,
    auc_with_confidence_intervals,
    streaming_dynamic_auc,
)
from tapeflow.contrib.metrics.batches import accuracy, aggregate_metric_map, aggregate_metrics
from tapeflow.contrib.metrics.moments import (
    cohen_kappa,
    count,
    streaming_concat,
    streaming_covariance,
    streaming_pearson_correlation,
)
from tapeflow.contrib.metrics.streaming import *  # noqa: F403 - most of its names come from a table
from tapeflow.contrib.metrics.thresholds import (
    f1_score,
    precision_at_recall,
    precision_recall_at_equal_thresholds,
    recall_at_precision,
    streaming_curve_points,
    streaming_false_negative_rate,
    streaming_false_negative_rate_at_thresholds,
    streaming_false_negatives_at_thresholds,
    streaming_false_positive_rate,
    streaming_false_positive_rate_at_thresholds,
    streaming_false_positives_at_thresholds,
    streaming_true_negatives_at_thresholds,
    streaming_true_positives_at_thresholds,
)
from tapeflow.ops.sparse.sets import difference as set_difference
from tapeflow.ops.sparse.sets import intersection as set_intersection
from tapeflow.ops.sparse.sets import size as set_size
from tapeflow.ops.sparse.sets import union as set_union
from tapeflow.ops.statistics.confusion import confusion_matrix_v1 as confusion_matrix
