"""Profiles of hypothesis.

Examples are the same in every run, and no clock decides about a test: it may run beside others on a slow machine.
`pytest --hypothesis-profile=long` runs many more examples, other ones each time.
"""

from hypothesis import HealthCheck, settings

settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", settings.get_profile("same"), max_examples=2000, derandomize=False, database=None)
settings.load_profile("same")
