"""Recurrent cells and layers as single operations, and the CTC loss and decoders of their outputs."""
