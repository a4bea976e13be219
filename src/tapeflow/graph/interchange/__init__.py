"""Graphs as messages, in and out: `GraphDef`, `MetaGraphDef`, libraries of functions, freezing."""
