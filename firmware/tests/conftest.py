"""Shared by the boards' tests: the same hypothesis examples in every run, and no deadline on a busy machine."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("firmware", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("firmware")
