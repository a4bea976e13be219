"""Activations, losses, normalization, dropout, embeddings and sampled softmax."""
