"""The models that are served: versions that come and go with their folders, and labels."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tapeflow import protos
from tapeflow.core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnknownError,
    error_code_from_exception_type,
)
from tapeflow.serving.servable import Servable

_LOG = logging.getLogger("tapeflow.serving")
_ATTEMPTS = 5  # at loading the same files; files that change are always tried again
START, LOADING, AVAILABLE, UNLOADING, END = 10, 20, 30, 40, 50


class Status(NamedTuple):
    """The state of a version, one of ModelVersionStatus, and why it failed."""

    state: int
    code: int = 0
    message: str = ""


class _Failure(NamedTuple):
    """How often the files of a version, as they were, could not be loaded."""

    files: Any
    attempts: int


class _Model:
    def __init__(self, config: Any, old: _Model | None = None):
        self.config = config
        same = old is not None and old.config.base_path == config.base_path
        self.ready: dict[int, Servable] = dict(old.ready) if old and same else {}
        self.unloading: dict[int, Servable] = dict(old.unloading) if old and same else {}
        self.status: dict[int, Status] = dict(old.status) if old and same else {}
        self.failures: dict[int, _Failure] = {}


class ModelStore:
    """Loads, finds and drops the versions of models.

    Args:
      trusted: whether models may do what their ops do.
      warm_up: called with each version before it is served (optional).

    `on_change` is called with `is_ready()` whenever versions may have come or gone.
    """

    def __init__(self, trusted: bool = True, warm_up: Callable[[Servable], None] | None = None):
        self._trusted, self._warm_up = trusted, warm_up
        self.on_change: Callable[[bool], None] = lambda ready: None
        self._models: dict[str, _Model] = {}
        self._lock = threading.RLock()  # guards the tables, never held while a model loads
        self._updating = threading.Lock()

    def configure(self, configs: Iterable[Any], complete: bool = False) -> None:
        """Serves exactly the models of these ModelConfig messages; where it raises, what is served stays as it is.

        Args:
          configs: the messages.
          complete: whether each model must have a version that can be served; else it may come later.

        Raises InvalidArgumentError for configs that cannot be, FailedPreconditionError for labels of versions that
        are not available, UnknownError for a model that must have a version and has none.
        """
        wanted = {}
        for config in configs:
            if not config.name or not config.base_path or config.name in wanted:
                raise _invalid(f"Models need distinct names and base paths, got {config.name!r}")
            if config.model_platform not in ("", "tensorflow"):
                raise _invalid(f"Model {config.name} is for another platform: {config.model_platform}")
            wanted[config.name] = config
        with self._updating:
            for name, config in wanted.items():
                model = _Model(config, self._models.get(name))
                self._load_new(model)
                if complete and not model.ready:
                    raise UnknownError(None, None, f"Model {name} did not become available: {_why(model)}")
                for label, version in config.version_labels.items():
                    if version not in model.ready:
                        raise FailedPreconditionError(
                            None, None, f"Request to assign label {label} to version {version} of model {name}, "
                            "which is not currently available for inference",
                        )  # fmt: skip
                wanted[name] = model
            with self._lock:
                self._models = wanted
            for model in wanted.values():
                self._drop_old(model)
        self.on_change(self.is_ready())

    def poll(self) -> None:
        """Loads the versions that came, and drops those that went."""
        with self._updating:
            for model in list(self._models.values()):
                self._load_new(model)
                self._drop_old(model)
        self.on_change(self.is_ready())

    def _load_new(self, model: _Model) -> None:
        for version in _wanted(model.config):
            if version in model.ready:
                continue
            folder = os.path.join(model.config.base_path, _folder_of(model.config.base_path, version))
            files, failure = _files(folder), model.failures.get(version)
            attempts = 0 if failure is None or failure.files != files else failure.attempts
            if attempts >= _ATTEMPTS:
                continue
            self._set(model, version, Status(LOADING))
            try:
                servable = Servable(model.config.name, version, folder, self._trusted)
                if self._warm_up is not None:
                    self._warm_up(servable)
            except Exception as error:  # a model may raise anything
                model.failures[version] = _Failure(files, attempts + 1)
                self._set(model, version, Status(END, error_code_from_exception_type(type(error)), str(error)))
                if not attempts:
                    _LOG.error("cannot load version %s of model %s: %s", version, model.config.name, error)
                continue
            with self._lock:
                model.ready[version] = servable
                model.status[version] = Status(AVAILABLE)
                model.failures.pop(version, None)
            _LOG.info("serving version %s of model %s", version, model.config.name)

    def _set(self, model: _Model, version: int, status: Status) -> None:
        with self._lock:
            model.status[version] = status

    def _drop_old(self, model: _Model) -> None:
        """Drops what is no longer wanted, but not the last that is served while what is wanted cannot be."""
        wanted = set(_wanted(model.config))
        if not wanted or wanted & model.ready.keys():
            for version in [v for v in model.ready if v not in wanted]:
                with self._lock:
                    model.unloading[version] = model.ready.pop(version)
                    model.status[version] = Status(UNLOADING)
        for version in [v for v, servable in model.unloading.items() if servable.is_unused()]:
            with self._lock:
                del model.unloading[version]
                if version not in model.ready:
                    model.status[version] = Status(END)
            _LOG.info("dropped version %s of model %s", version, model.config.name)
        for version in [v for v in model.failures if v not in wanted]:
            del model.failures[version]

    def use(self, spec: Any) -> _Use:
        """A context: the version that a ModelSpec means, which is not dropped meanwhile.

        To enter it raises InvalidArgumentError and NotFoundError for one that is not there.
        """
        return _Use(self, spec)

    def take(self, spec: Any) -> Servable:
        """The version that a ModelSpec means, which is not dropped before its own context is left."""
        with self._lock:
            return self._find(spec).__enter__()

    def _find(self, spec: Any) -> Servable:
        if not spec.name:
            raise _invalid("Missing ModelSpec" if not spec.ByteSize() else "ModelSpec has no name specified.")
        with self._lock:
            model = self._models.get(spec.name)
            choice = spec.WhichOneof("version_choice")
            version = spec.version.value if choice == "version" else None
            if choice == "version_label":
                if model is None or spec.version_label not in model.config.version_labels:
                    raise _invalid(f"Unrecognized servable version label: {spec.version_label}")
                version = model.config.version_labels[spec.version_label]
            if model is not None and version is None and model.ready:
                version = max(model.ready)
            if model is None or version not in model.ready:
                which = f"Latest({spec.name})" if version is None else f"Specific({spec.name}, {version})"
                raise NotFoundError(None, None, f"Servable not found for request: {which}")
            return model.ready[version]

    def statuses(self, spec: Any) -> dict[int, Status]:
        """The states of the versions of a model, or of the one that is asked for. Raises NotFoundError."""
        with self._lock:
            model = self._models.get(spec.name)
            found = dict(sorted(model.status.items(), reverse=True)) if model is not None else {}
            choice, version = spec.WhichOneof("version_choice"), None
            if choice == "version_label":
                if model is None or spec.version_label not in model.config.version_labels:
                    raise _invalid(f"Unrecognized servable version label: {spec.version_label}")
                version = model.config.version_labels[spec.version_label]
            elif choice == "version":
                version = spec.version.value
        if version is not None:
            found = {v: s for v, s in found.items() if v == version}
        if not found:
            which = f"version {version} of " if version is not None else "any versions of "
            raise NotFoundError(None, None, f"Could not find {which}model {spec.name}")
        return found

    def is_ready(self) -> bool:
        """Whether there are models, and each has a version that is served."""
        with self._lock:
            return bool(self._models) and all(model.ready for model in self._models.values())


class _Use:
    def __init__(self, store: ModelStore, spec: Any):
        self._store, self._spec = store, spec

    def __enter__(self) -> Servable:
        self._servable = self._store.take(self._spec)
        return self._servable

    def __exit__(self, *error: object) -> None:
        self._servable.__exit__(*error)


def config_of(name: str, path: str) -> Any:
    """The ModelConfig of a model whose latest version is served."""
    return getattr(protos, "serving.ModelConfig")(name=name, base_path=path)


def _versions(path: str) -> dict[int, str]:
    try:
        names = os.listdir(path)
    except OSError:
        return {}
    found = [n for n in names if n.isascii() and n.isdigit() and len(n) < 19 and os.path.isdir(os.path.join(path, n))]
    return {int(n): n for n in sorted(found)}


def _folder_of(path: str, version: int) -> str:
    return _versions(path).get(version, str(version))


def _files(folder: str) -> list[tuple[str, int, int]]:
    """What tells whether the files of a folder have changed."""
    found = []
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # it may have gone
                each = os.path.join(path, name)
                stat = os.stat(each)
                found.append((each, stat.st_size, stat.st_mtime_ns))
    return sorted(found)


def _why(model: _Model) -> str:
    """Why a model has no version."""
    reasons = [status.message for _, status in sorted(model.status.items()) if status.message]
    return reasons[-1] if reasons else f"no versions found below {model.config.base_path}"


def _wanted(config: Any) -> list[int]:
    """The versions in the folder that the policy chooses."""
    there = sorted(_versions(config.base_path), reverse=True)
    policy = config.model_version_policy
    choice = policy.WhichOneof("policy_choice")
    if choice == "all":
        return there
    if choice == "specific":
        return [v for v in there if v in policy.specific.versions]
    return there[: max(1, policy.latest.num_versions)]


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)
