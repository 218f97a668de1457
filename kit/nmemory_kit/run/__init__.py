"""Doing cases against a target: order, isolation, concurrency, results."""
