"""`tf.distribute.experimental`."""

from tapeflow.distribute import coordinator, partitioners
from tapeflow.distribute.extended import ValueContext
from tapeflow.distribute.options import CommunicationImplementation, CommunicationOptions
from tapeflow.distribute.options import CommunicationImplementation as CollectiveCommunication
from tapeflow.distribute.options import CommunicationOptions as CollectiveHints
from tapeflow.distribute.preemption import PreemptionCheckpointHandler, TerminationConfig
from tapeflow.distribute.strategies import CentralStorageStrategy, ParameterServerStrategy
from tapeflow.distribute.strategies import (
    ExperimentalMultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from tapeflow.distribute.tpu_strategy import ExperimentalTPUStrategy as TPUStrategy

__all__ = [
    "CentralStorageStrategy",
    "CollectiveCommunication",
    "CollectiveHints",
    "CommunicationImplementation",
    "CommunicationOptions",
    "MultiWorkerMirroredStrategy",
    "ParameterServerStrategy",
    "PreemptionCheckpointHandler",
    "TPUStrategy",
    "TerminationConfig",
    "ValueContext",
    "coordinator",
    "partitioners",
]
