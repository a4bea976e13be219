"""Variables, resources, and the updates of optimizers."""
