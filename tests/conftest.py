"""Settings shared by all tests."""

from hypothesis import HealthCheck, settings

# Numba compiles on first use, so the first example of a test can take seconds: no deadline. Examples are derandomised:
# a failure must be the same on every machine.
settings.register_profile(
    "mapdag", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("mapdag")
