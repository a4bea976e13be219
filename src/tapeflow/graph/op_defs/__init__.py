"""Definitions of ops as `OpDef` messages."""
