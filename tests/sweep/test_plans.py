"""Plans that several processes share."""

import threading
from pathlib import Path

import pytest

from syncopt.api import InputError
from syncopt.sweep.plans import PlanFolder, default_folder
from syncopt.sweep.versions import Versions
from tests.sweep.commands import PATIENCE

HERE = Versions("1", "a", "9")


def test_what_is_kept_is_found_by_others(tmp_path: Path) -> None:
    PlanFolder(tmp_path, HERE).put("key", "plan")
    assert PlanFolder(tmp_path, HERE).get("key") == "plan"
    assert PlanFolder(tmp_path, HERE).get("other") is None


@pytest.mark.parametrize("other", [Versions("2", "a", "9"), Versions("1", "b", "9"), Versions("1", "a", "8")])
def test_other_code_does_not_find_it(tmp_path: Path, other: Versions) -> None:
    PlanFolder(tmp_path, HERE).put("key", "plan")
    assert PlanFolder(tmp_path, other).get("key") is None


def test_the_same_is_searched_by_one_at_a_time(tmp_path: Path) -> None:
    """The second one waits until the first one has put its plan; what has another key does not wait."""
    found: list[str | None] = []

    def second() -> None:
        plans = PlanFolder(tmp_path, HERE)
        with plans.alone("key"):
            found.append(plans.get("key"))

    plans = PlanFolder(tmp_path, HERE)
    waiting = threading.Thread(target=second)
    with plans.alone("key"):
        waiting.start()
        with plans.alone("other"):
            waiting.join(0.2)
        assert waiting.is_alive()
        plans.put("key", "plan")
    waiting.join(PATIENCE)
    assert found == ["plan"]


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot keep plans in"):
        PlanFolder(tmp_path / "file", HERE)


def test_default_is_the_folder_of_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert default_folder() == Path("/caches/syncopt")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/user")
    assert default_folder() == Path("/home/user/.cache/syncopt")
