"""The devices as sessions list them."""

from __future__ import annotations

from tapeflow.core import device


class DeviceAttributes:
    """What a session tells of a device: `name`, `device_type`, `memory_limit_bytes`, `incarnation`."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int):
        self.name = device.canonical_name(name)
        self.device_type = device_type
        self.memory_limit_bytes = memory_limit_bytes
        self.incarnation = incarnation

    def __repr__(self) -> str:
        return (
            f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, {self.incarnation})"
        )


def attributes() -> list[DeviceAttributes]:
    """The devices that programs can use, as sessions list them."""
    return [
        DeviceAttributes(each.name, each.type, int(each.details.get("memory_limit", 2**28)), each.index + 1)
        for each in device.devices()
    ]
