"""Tools that work on whole graphs: transforms, freezing, stripping, carving, and a look into checkpoints."""
