"""`tf.resource_loader`: files beside a program."""

from tapeflow.v1.resource_loader import *  # noqa: F403
from tapeflow.v1.resource_loader import __all__  # noqa: F401
