"""`tf.__internal__.decorator`: decorators that can be told apart from what they decorate."""

from tapeflow.core.decorator import make_decorator, unwrap

__all__ = ["make_decorator", "unwrap"]
