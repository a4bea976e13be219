"""What Python's and NumPy's numbers become, alone and in lists, against TensorFlow's answers."""

import contextlib
import importlib.util
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

import tapeflow as tf

HERE = pathlib.Path(__file__).parent
_spec = importlib.util.spec_from_file_location("conversion_calls", HERE / "conversion_calls.py")
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)

# TensorFlow's tables, for the dtypes that differ in kind. `V` is a ValueError, `T` a TypeError.
TABLES = """
[None]
        T    1  big   1.   1j    a   nT ni32 nbig  nu8 nf16 nf32 nf64 nc64 nstr   a0   a1  [1]
   T bool    V    V    V    V    V bool    V    V    V    V    V    V    V    V    V    V    V
   1  i32  i32  i64  f32    V    V    V  i32  i64  i32  f32  f32  f32    V    V  f32    V    V
 big  i64  i64  i64  f32    V    V    V  i64  i64  i64  f32  f32  f32    V    V  f32    V    V
  1.  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
  1j c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
   a    V    V    V    V    V  str    V    V    V    V    V    V    V    V  str    V    V    V
  nT bool    V    V    V    V    V bool    V    V    V    V    V    V    V    V    V    V    V
ni32  i32  i32  i64  f32    V    V    V  i32  i64  i32  f32  f32  f32    V    V  f32    V    V
nbig  i64  i64  i64  f32    V    V    V  i64  i64  i64  f32  f32  f32    V    V  f32    V    V
 nu8  i32  i32  i64  f32    V    V    V  i32  i64  i32  f32  f32  f32    V    V  f32    V    V
nf16  f16  f16  f16  f16    V    V    V  f16  f16  f16  f16  f16  f16    V    V  f16    V    V
nf32  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
nf64  f64  f64  f64  f64    V    V    V  f64  f64  f64  f64  f64  f64    V    V  f64    V    V
nc64 c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
nstr    V    V    V    V    V  str    V    V    V    V    V    V    V    V  str    V    V    V
  a0  f64  f64  f64  f64    V    V    V  f64  f64  f64  f64  f64  f64    V    V  f64    V    V
  a1    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V  f64  f64
 [1]    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V  f32  i32
[float32]
        T    1  big   1.   1j    a   nT ni32 nbig  nu8 nf16 nf32 nf64 nc64 nstr   a0   a1  [1]
   T  f32  f32  f32  f32    V    V    T  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
   1  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
 big  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
  1.  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
  1j    T    T    T    T    T    V    V    T    T    T    T    T    T    T    V    T    V    V
   a    V    V    V    V    V    T    V    V    V    V    V    V    V    V    T    V    V    V
  nT    T    V    V    V    V    V    T    V    V    V    V    V    V    V    V    V    V    V
ni32  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
nbig  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
 nu8  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
nf16  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
nf32  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
nf64  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
nc64    T    T    T    T    T    V    V    T    T    T    T    T    T    T    V    T    V    V
nstr    V    V    V    V    V    T    V    V    V    V    V    V    V    V    T    V    V    V
  a0  f32  f32  f32  f32    V    V    V  f32  f32  f32  f32  f32  f32    V    V  f32    V    V
  a1    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V  f32  f32
 [1]    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V  f32  f32
[int32]
        T    1  big   1.   1j    a   nT ni32 nbig  nu8 nf16 nf32 nf64 nc64 nstr   a0   a1  [1]
   T  i32  i32    V    V    V    V    T  i32    V  i32    V    V    V    V    V    V    V    V
   1  i32  i32  i32    T    V    V    V  i32  i32  i32    T    T    T    V    V    T    V    V
 big  i32  i32  i32    T    V    V    V  i32  i32  i32    T    T    T    V    V    T    V    V
  1.    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
  1j    T    T    T    T    T    V    V    T    T    T    T    T    T    T    V    T    V    V
   a    V    V    V    V    V    T    V    V    V    V    V    V    V    V    T    V    V    V
  nT    T    V    V    V    V    V    T    V    V    V    V    V    V    V    V    V    V    V
ni32  i32  i32  i32    T    V    V    V  i32  i32  i32    T    T    T    V    V    T    V    V
nbig  i32  i32  i32    T    V    V    V  i32  i32  i32    T    T    T    V    V    T    V    V
 nu8  i32  i32  i32    T    V    V    V  i32  i32  i32    T    T    T    V    V    T    V    V
nf16    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nf32    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nf64    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nc64    T    T    T    T    T    V    V    T    T    T    T    T    T    T    V    T    V    V
nstr    V    V    V    V    V    T    V    V    V    V    V    V    V    V    T    V    V    V
  a0    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
  a1    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    T    T
 [1]    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    T  i32
[int8]
        T    1  big   1.   1j    a   nT ni32 nbig  nu8 nf16 nf32 nf64 nc64 nstr   a0   a1  [1]
   T    T    V    V    V    V    V    T    V    V    V    V    V    V    V    V    V    V    V
   1   i8   i8   i8    T    V    V    V   i8   i8   i8    T    T    T    V    V    T    V    V
 big   i8   i8   i8    T    V    V    V   i8   i8   i8    T    T    T    V    V    T    V    V
  1.    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
  1j    T    T    T    T    T    V    V    T    T    T    T    T    T    T    V    T    V    V
   a    V    V    V    V    V    T    V    V    V    V    V    V    V    V    T    V    V    V
  nT    T    V    V    V    V    V    T    V    V    V    V    V    V    V    V    V    V    V
ni32   i8   i8   i8    T    V    V    V   i8   i8   i8    T    T    T    V    V    T    V    V
nbig   i8   i8   i8    T    V    V    V   i8   i8   i8    T    T    T    V    V    T    V    V
 nu8   i8   i8   i8    T    V    V    V   i8   i8   i8    T    T    T    V    V    T    V    V
nf16    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nf32    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nf64    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nc64    T    T    T    T    T    V    V    T    T    T    T    T    T    T    V    T    V    V
nstr    V    V    V    V    V    T    V    V    V    V    V    V    V    V    T    V    V    V
  a0    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
  a1    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    T    T
 [1]    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    T   i8
[complex128]
        T    1  big   1.   1j    a   nT ni32 nbig  nu8 nf16 nf32 nf64 nc64 nstr   a0   a1  [1]
   T c128 c128 c128 c128 c128    V    T c128 c128 c128 c128 c128 c128 c128    V c128    V    V
   1 c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
 big c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
  1. c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
  1j c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
   a    V    V    V    V    V    T    V    V    V    V    V    V    V    V    T    V    V    V
  nT    T    V    V    V    V    V    T    V    V    V    V    V    V    V    V    V    V    V
ni32 c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
nbig c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
 nu8 c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
nf16 c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
nf32 c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
nf64 c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
nc64 c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
nstr    V    V    V    V    V    T    V    V    V    V    V    V    V    V    T    V    V    V
  a0 c128 c128 c128 c128 c128    V    V c128 c128 c128 c128 c128 c128 c128    V c128    V    V
  a1    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V c128 c128
 [1]    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V c128 c128
[bool]
        T    1  big   1.   1j    a   nT ni32 nbig  nu8 nf16 nf32 nf64 nc64 nstr   a0   a1  [1]
   T bool    V    V    V    V    V bool    V    V    V    V    V    V    V    V    V    V    V
   1    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
 big    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
  1.    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
  1j    T    T    T    T    T    V    V    T    T    T    T    T    T    T    V    T    V    V
   a    V    V    V    V    V    T    V    V    V    V    V    V    V    V    T    V    V    V
  nT bool    V    V    V    V    V bool    V    V    V    V    V    V    V    V    V    V    V
ni32    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nbig    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
 nu8    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nf16    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nf32    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nf64    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nc64    T    T    T    T    T    V    V    T    T    T    T    T    T    T    V    T    V    V
nstr    V    V    V    V    V    T    V    V    V    V    V    V    V    V    T    V    V    V
  a0    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
  a1    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    T    T
 [1]    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    T    T
[string]
        T    1  big   1.   1j    a   nT ni32 nbig  nu8 nf16 nf32 nf64 nc64 nstr   a0   a1  [1]
   T    T    V    V    V    V    V    T    V    V    V    V    V    V    V    V    V    V    V
   1    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
 big    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
  1.    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
  1j    T    T    T    T    T    V    V    T    T    T    T    T    T    T    V    T    V    V
   a    V    V    V    V    V  str    V    V    V    V    V    V    V    V  str    V    V    V
  nT    T    V    V    V    V    V    T    V    V    V    V    V    V    V    V    V    V    V
ni32    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nbig    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
 nu8    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nf16    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nf32    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nf64    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
nc64    T    T    T    T    T    V    V    T    T    T    T    T    T    T    V    T    V    V
nstr    V    V    V    V    V  str    V    V    V    V    V    V    V    V  str    V    V    V
  a0    T    T    T    T    V    V    V    T    T    T    T    T    T    V    V    T    V    V
  a1    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    T    T
 [1]    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    T    T
"""

# The same while a graph is built, where NumPy makes an array of a list.
TABLES_IN_GRAPH = """
[None]
        T    1  big   1.   1j    a   nT ni32 nbig  nu8 nf16 nf32 nf64 nc64 nstr   a0   a1  [1]
   T bool  i32  i64  f32 c128    T bool  i32  i64   u8  f16  f32  f32  c64    T  f32    V    V
   1  i32  i32  i64  f32 c128    T  i32  i32  i64  i32  f32  f32  f32 c128    T  f32    V    V
 big  i64  i64  i64  f32 c128    T  i64  i64  i64  i64  f32  f32  f32 c128    T  f32    V    V
  1.  f32  f32  f32  f32 c128    T  f32  f32  f32  f32  f32  f32  f32 c128    T  f32    V    V
  1j c128 c128 c128 c128 c128    T c128 c128 c128 c128 c128 c128 c128 c128    T c128    V    V
   a    T    T    T    T    T  str    T    T    T    T    T    T    T    T  str    T    V    V
  nT bool  i32  i64  f32 c128    T bool  i32  i64   u8  f16  f32  f32  c64    T  f32    V    V
ni32  i32  i32  i64  f32 c128    T  i32  i32  i64  i32  f32  f32  f32 c128    T  f32    V    V
nbig  i64  i64  i64  f32 c128    T  i64  i64  i64  i64  f32  f32  f32 c128    T  f32    V    V
 nu8   u8  i32  i64  f32 c128    T   u8  i32  i64   u8  f16  f32  f32  c64    T  f32    V    V
nf16  f16  f32  f32  f32 c128    T  f16  f32  f32  f16  f16  f32  f32  c64    T  f32    V    V
nf32  f32  f32  f32  f32 c128    T  f32  f32  f32  f32  f32  f32  f32  c64    T  f32    V    V
nf64  f32  f32  f32  f32 c128    T  f32  f32  f32  f32  f32  f32  f32 c128    T  f32    V    V
nc64  c64 c128 c128 c128 c128    T  c64 c128 c128  c64  c64  c64 c128  c64    T c128    V    V
nstr    T    T    T    T    T  str    T    T    T    T    T    T    T    T  str    T    V    V
  a0  f32  f32  f32  f32 c128    T  f32  f32  f32  f32  f32  f32  f32 c128    T  f32    V    V
  a1    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V
 [1]    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V    V  f32  i32
[float32]
        T    1  big   1.   1j    a   nT ni32 nbig  nu8 nf16 nf32 nf64 nc64 nstr   a0   a1  [1]
   T  f32  f32  f32  f32    T    T    T  f32  f32  f32  f32  f32  f32    T    T  f32    V    V
   1  f32  f32  f32  f32    T    T    T  f32  f32  f32  f32  f32  f32    T    T  f32    V    V
 big  f32  f32  f32  f32    T    T    T  f32  f32  f32  f32  f32  f32    T    T  f32    V    V
  1.  f32  f32  f32  f32    T    T    T  f32  f32  f32  f32  f32  f32    T    T  f32    V    V
  1j    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
   a    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
  nT    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
ni32  f32  f32  f32  f32    T    T    T  f32  f32  f32  f32  f32  f32    T    T  f32    V    V
nbig  f32  f32  f32  f32    T    T    T  f32  f32  f32  f32  f32  f32    T    T  f32    V    V
 nu8  f32  f32  f32  f32    T    T    T  f32  f32  f32  f32  f32  f32    T    T  f32    V    V
nf16  f32  f32  f32  f32    T    T    T  f32  f32  f32  f32  f32  f32    T    T  f32    V    V
nf32  f32  f32  f32  f32    T    T    T  f32  f32  f32  f32  f32  f32    T    T  f32    V    V
nf64  f32  f32  f32  f32    T    T    T  f32  f32  f32  f32  f32  f32    T    T  f32    V    V
nc64    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
nstr    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
  a0  f32  f32  f32  f32    T    T    T  f32  f32  f32  f32  f32  f32    T    T  f32    V    V
  a1    V    V    V    V    T    T    T    V    V    V    V    V    V    T    T    V    V    V
 [1]    V    V    V    V    T    T    T    V    V    V    V    V    V    T    T    V  f32  f32
[string]
        T    1  big   1.   1j    a   nT ni32 nbig  nu8 nf16 nf32 nf64 nc64 nstr   a0   a1  [1]
   T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
   1    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
 big    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
  1.    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
  1j    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
   a    T    T    T    T    T  str    T    T    T    T    T    T    T    T  str    T    T    T
  nT    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
ni32    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
nbig    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
 nu8    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
nf16    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
nf32    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
nf64    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
nc64    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
nstr    T    T    T    T    T  str    T    T    T    T    T    T    T    T  str    T    T    T
  a0    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
  a1    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
 [1]    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T    T
"""


def parsed(text):
    """{dtype: {(first, second): cell}}"""
    tables = {}
    for name, body in re.findall(r"\[(\w+)\]\n([^\[]*(?:\[1\][^\[]*)*)", text):
        header, *rows = (line.split() for line in body.strip("\n").splitlines())
        tables[name] = {(row[0], column): c for row in rows for column, c in zip(header, row[1:], strict=True)}
    return tables


def compare(theirs, dtype):
    ours = parsed(f"[{dtype}]\n" + calls.table(tf, None if dtype == "None" else dtype))[dtype]
    assert ours.keys() == theirs.keys()
    for labels, cell in ours.items():
        # TensorFlow wraps integers that do not fit; here they raise.
        wraps = dtype.startswith(("int", "uint")) and {"big", "nbig"} & set(labels)
        assert cell == theirs[labels] or (wraps and cell == "T"), (dtype, labels, cell, theirs[labels])


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize(("dtype", "theirs"), parsed(TABLES).items())
def test_lists(dtype, theirs):
    compare(theirs, dtype)


@pytest.mark.parametrize(("dtype", "theirs"), parsed(TABLES_IN_GRAPH).items())
def test_lists_in_a_graph(dtype, theirs):
    with tf.Graph().as_default():
        ours = parsed(f"[{dtype}]\n" + calls.table(tf, None if dtype == "None" else dtype))[dtype]
    for labels, cell in ours.items():
        # Arrays with axes are taken in lists here; other lists beside them are refused, if by another error.
        if not {"a1", "[1]"} & set(labels):
            assert cell == theirs[labels], labels


def test_lists_in_a_function_keep_their_values():
    @tf.function
    def made():
        return (
            tf.constant([[np.float64(1.5), 2], [True, np.float32(4)]]), tf.convert_to_tensor([np.uint8(3), 200]),
            tf.constant([2**40, np.int8(1)]), tf.constant(["a", b"b"]), tf.stack([np.float64(0.5), 1.0]),
        )

    wanted = ([[1.5, 2], [1, 4]], [3, 200], [2**40, 1], [b"a", b"b"], [0.5, 1])
    kinds = (tf.float32, tf.int32, tf.int64, tf.string, tf.float32)
    for tensor, value, kind in zip(made(), wanted, kinds, strict=True):
        assert tensor.dtype == kind
        assert tensor.numpy().tolist() == value


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_tables_are_tensorflows():
    done = subprocess.run(
        [os.environ["TF_PYTHON"], HERE / "conversion_calls.py"], capture_output=True, text=True, check=True
    )
    theirs = parsed(done.stdout)
    assert len(theirs) == len(calls.DTYPES)
    for dtype, table in parsed(TABLES).items():
        assert table == theirs[dtype]
    for dtype, table in theirs.items():
        compare(table, dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "uint64", "complex128"])
@pytest.mark.parametrize("value", [True, [True, False], [[1, True], [False, 0]]])
def test_bools_are_numbers_where_a_dtype_asks_for_them(value, dtype):
    for result in (tf.constant(value, dtype), tf.function(lambda: tf.constant(value, dtype))()):
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, np.array(value, dtype))


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.constant(2.0) * True,
        lambda: True * tf.constant(2.0),
        lambda: tf.add(1.0, True) * (3 > 2),
        lambda: tf.stack([1.0, True])[0] + tf.constant(1.0),
        lambda: tf.concat([[2.0], [True]], 0)[0],
        lambda: tf.maximum(tf.constant(2.0), True),
        lambda: tf.constant([np.float32(2.0), True])[0],
        lambda: tf.reduce_sum([[2.0]], axis=True)[0],
        lambda: tf.reshape([2.0], [True])[0],
    ],
)
def test_bools_beside_floats(call):
    for result in (call(), tf.function(call)()):
        assert result.dtype == tf.float32
        assert result.numpy() == 2.0


def test_bools_assigned_to_variables():
    v = tf.Variable(True, dtype=tf.float32)
    v.assign_add(True)
    assert v.numpy() == 2.0
    v.assign(False)
    assert v.numpy() == 0.0


@pytest.mark.parametrize("dtype", [tf.int8, tf.bfloat16, tf.string])
def test_bools_that_stay_bools(dtype):
    with pytest.raises(TypeError, match="Cannot convert True to EagerTensor"):
        tf.constant(True, dtype)


def test_bools_have_no_arithmetic():
    with pytest.raises(tf.errors.InvalidArgumentError, match="of bool is not in the list of allowed values"):
        tf.constant(True) + 1


def test_values_of_lists_of_arrays():
    """Nothing is cut off: the dtype is one that holds all numbers."""
    assert tf.constant([1, np.float32(2.5)]).numpy().tolist() == [1, 2.5]
    assert tf.constant([[1, 2], np.array([1.5, 2])]).numpy().tolist() == [[1, 2], [1.5, 2]]
    assert tf.constant([np.array([1], np.uint8), np.array([300])]).numpy().tolist() == [[1], [300]]
    assert tf.constant([1, np.int64(2**40)]).numpy().tolist() == [1, 2**40]
    with pytest.raises(TypeError, match="to EagerTensor of dtype int32"):
        tf.constant([np.array([1.5])], tf.int32)
    with pytest.raises(ValueError, match="out-of-range"):
        tf.constant([np.array([2**40])], tf.int32)


# What an op's scalars, arrays and lists become where it prefers a dtype and no tensor decides.
@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, "float32"), (True, "float32"), (np.float64(1), "float32"), (np.array([1.0]), "float32"),
        (np.array([1]), "float32"), (np.array([True]), "float32"), ([1], "float32"), ([1.0], "float32"),
        ([np.float64(1)], "float64"),
    ],
)  # fmt: skip
def test_preferred_dtypes(value, dtype):
    assert tf.raw_ops.LeakyRelu(features=value).dtype == dtype


def test_arrays_of_whole_numbers_are_indices():
    assert tf.one_hot(np.array([1.0]), 2).numpy().tolist() == [[0, 1]]
    assert tf.reduce_sum(np.ones([2, 3]), np.float64(1)).numpy().tolist() == [3, 3]
    assert tf.tile(tf.constant([1]), np.array([True])).numpy().tolist() == [1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="of double is not in the list of allowed values"):
        tf.one_hot(np.array([1.5]), 2)


def test_integers_that_the_preferred_dtype_cannot_hold():
    with pytest.raises(tf.errors.InvalidArgumentError, match="1099511627776"):
        tf.reshape([1.0], np.array([2**40]))
    assert tf.raw_ops.UnravelIndex(indices=np.array([1]), dims=[3, 3]).dtype == tf.int64
    assert tf.raw_ops.InvertPermutation(x=np.array([0])).dtype == tf.int32


def test_a_sequence_that_refuses_its_length_is_not_shown():
    class Endless:
        def __len__(self):
            raise KeyError("no length")

        def __getitem__(self, i):
            return 1.0

        def __repr__(self):
            raise AssertionError("its text may be as long as it is")

    for value in (Endless(), [Endless()]):
        with pytest.raises(ValueError, match=r"^KeyError: 'no length'\n$"):
            tf.convert_to_tensor(value)
    with pytest.raises(ValueError, match="object of type 'RaggedTensor' has no len"):
        tf.convert_to_tensor(tf.ragged.constant([[1], []]))


@pytest.mark.parametrize("values", [[b"a", b"b"], [1.0, 2.0]])
def test_what_is_not_copied_cannot_be_written_to(values):
    tensor = tf.constant(values)
    with pytest.raises(ValueError, match="read-only"):
        tensor.__array__(copy=False)[0] = 7
    assert tensor.numpy().tolist() == values


@pytest.mark.parametrize("convert", [tf.constant, tf.convert_to_tensor])
@pytest.mark.parametrize("graph", [False, True])
def test_an_array_of_no_objects_is_one_of_strings(convert, graph):
    empty = np.zeros([2, 0], object)
    with tf.Graph().as_default() if graph else contextlib.nullcontext():
        assert convert(empty).dtype == tf.string
        assert convert(empty, tf.float32).dtype == tf.float32
        assert convert(empty).shape == (2, 0)
        assert tf.convert_to_tensor(empty, dtype_hint=tf.float32).dtype == tf.float32
        assert tf.concat([empty, empty], 0).dtype == tf.raw_ops.Identity(input=empty).dtype == tf.string
