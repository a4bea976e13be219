"""Queues, barriers, staging areas, accumulators and readers of 1.x, and batching of calls."""
