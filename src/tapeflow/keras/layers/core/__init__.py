"""Dense, and the layers without weights: activations, masks, dropout, and shapes; and the entry of a model."""
