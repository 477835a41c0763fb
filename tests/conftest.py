"""A profile of hypothesis: `pytest --hypothesis-profile=long` runs many more examples, other ones each time."""

from hypothesis import settings

settings.register_profile("long", max_examples=2000, derandomize=False, database=None)
