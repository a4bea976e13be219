"""Layers that turn raw data into numbers for the layers that learn."""
