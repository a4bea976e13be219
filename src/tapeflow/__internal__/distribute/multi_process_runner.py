"""`tf.__internal__.distribute.multi_process_runner`: what tests over several processes need of their cluster."""

from tapeflow.distribute.test_clusters import create_cluster_spec

__all__ = ["create_cluster_spec"]
