"""Metrics of an answer, pure functions; `registry.METRICS` has them by name."""
