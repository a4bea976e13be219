"""What a SavedModel becomes when it is loaded: objects, functions, gradients, and the values of variables."""
