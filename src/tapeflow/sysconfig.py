"""`tf.sysconfig`: where the package is and how it was built."""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import Any

from tapeflow.api import api_value

CXX11_ABI_FLAG = 1
api_value("CXX11_ABI_FLAG", v1="CXX11_ABI_FLAG")
CXX_VERSION = 202002
api_value("CXX_VERSION", v1="CXX_VERSION")
MONOLITHIC_BUILD = 0
api_value("MONOLITHIC_BUILD", v1="MONOLITHIC_BUILD")

__all__ = [
    "CXX11_ABI_FLAG",
    "CXX_VERSION",
    "MONOLITHIC_BUILD",
    "get_build_info",
    "get_compile_flags",
    "get_include",
    "get_lib",
    "get_link_flags",
]


def get_lib() -> str:
    """The folder of the package, with its native libraries."""
    return os.path.dirname(os.path.abspath(__file__))


def get_include() -> str:
    """Where header files would be."""
    return os.path.join(get_lib(), "include")


def get_compile_flags() -> list[str]:
    """The flags for a compiler."""
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}", "--std=c++20"]


def get_link_flags() -> list[str]:
    """The flags for a linker."""
    return [f"-L{get_lib()}"]


def get_build_info() -> Any:
    """What was built in."""
    return OrderedDict(is_cuda_build=False, is_rocm_build=False, is_tensorrt_build=False)
