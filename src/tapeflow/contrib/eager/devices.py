"""Devices by their names."""

from __future__ import annotations

from tapeflow.core import config


def num_gpus():
    """How many GPUs operations can run on."""
    return len(config.list_logical_devices("GPU"))


def list_devices():
    """The names of all devices."""
    return [device.name for device in config.list_logical_devices()]
