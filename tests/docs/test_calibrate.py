"""docs/calibrate.md names the figures of the 910B2 that are not published, all of them and no others."""

import re

from syncopt.api import figures, load_machine
from tests.docs.reading import read


def test_unpublished_figures_are_those_of_the_machine() -> None:
    rows = [line for line in read("docs/calibrate.md").prose.splitlines() if re.match(r"\| [a-z]+ \| `", line)]
    named = set(re.findall(r"`([\w.]+)`", "".join(rows)))
    unpublished = {
        figure.key
        for figure in figures(load_machine("910b2"))
        if figure.source.startswith("[?]") and not figure.informational
    }
    assert named == unpublished


def test_uncalibrated_figures_are_those_of_the_machine() -> None:
    prose = read("docs/calibrate.md").prose
    sentence = re.search(r"\"not calibrated there\"\. These are (.*?)\. Their", prose, re.DOTALL)
    assert sentence is not None
    uncalibrated = {
        figure.key.rpartition(".")[0]
        for figure in figures(load_machine("910b2"))
        if "not calibrated there" in figure.source
    }
    assert set(re.findall(r"`([\w.]+)`", sentence[1])) == uncalibrated
