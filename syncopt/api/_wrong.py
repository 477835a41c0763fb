"""What stops a plan from being handed out."""


class WrongPlan(Exception):  # noqa: N818 - it says what is wrong
    """A plan failed its own check: nothing is handed out."""
