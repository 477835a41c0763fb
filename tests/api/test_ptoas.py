"""`--ptoas`: what a binary that behaves as ptoas does adds to a comparison, and what happens when it fails."""

from pathlib import Path

import pytest

from syncopt.api import CompareRequest, InputError, VersionKind, compare
from tests.api.binaries import fake, writing
from tests.api.kernels import BARRIERS, CPP, CPP_BARRIERS, CPP_PLAIN, FLAGS, PLAIN, job


def test_what_it_writes_is_compared(tmp_path: Path) -> None:
    """Without flags of its own it leaves the kernel as it is; with them it puts a barrier behind every op."""
    found = compare([job(tmp_path / "k.pto", PLAIN)], CompareRequest(ptoas=writing(tmp_path, PLAIN, BARRIERS)))
    assert [(version.name, version.maker, version.kind, version.cycles) for version in found.versions] == [
        ("k.pto", "file", VersionKind.FIXED_ORDER, 974),
        ("k.pto (ptoas)", "ptoas", VersionKind.FIXED_ORDER, 974),
        ("k.pto (ptoas --enable-insert-sync)", "ptoas --enable-insert-sync", VersionKind.AS_WRITTEN, 1431),
    ]
    source = str(tmp_path / "k.pto")
    assert (tmp_path / "log").read_text().splitlines() == [f"{source} -o", f"{source} --enable-insert-sync -o"]


def test_cpp_that_it_writes_is_read(tmp_path: Path) -> None:
    """In the places of the arguments, whose names are others in C++."""
    request = CompareRequest(ptoas=writing(tmp_path, CPP_PLAIN, CPP_BARRIERS))
    found = compare([job(tmp_path / "k.pto", FLAGS, named={"n": 7})], request)
    assert [(version.maker, version.kind, version.cycles) for version in found.versions] == [
        ("file", VersionKind.AS_WRITTEN, 974),
        ("ptoas", VersionKind.FIXED_ORDER, 974),
        ("ptoas --enable-insert-sync", VersionKind.AS_WRITTEN, 1431),
    ]
    assert dict(found.versions[2].subject.setting.arguments) == {"v5": 7}
    assert found.differences == ()


def test_first_file_must_be_pto(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--ptoas needs a \.pto file first, .*k\.cpp is none"):
        compare([job(tmp_path / "k.cpp", CPP)], CompareRequest(ptoas=fake(tmp_path, "pass")))


def test_arguments_keep_their_places(tmp_path: Path) -> None:
    """What ptoas writes has other names for the arguments."""
    other = FLAGS.replace("%n", "%v5")
    request = CompareRequest(ptoas=writing(tmp_path, other, other))
    found = compare([job(tmp_path / "k.pto", FLAGS, named={"n": 7})], request)
    assert [dict(version.subject.setting.arguments) for version in found.versions] == [{"n": 7}, {"v5": 7}, {"v5": 7}]
    assert found.differences == ()


def test_tiles_with_addresses_need_level_3(tmp_path: Path) -> None:
    address = "%at = arith.constant 0 : i64\n"
    placed = FLAGS.replace("%a = pto.alloc_tile :", f"{address}    %a = pto.alloc_tile addr = %at :")
    compare([job(tmp_path / "k.pto", placed)], CompareRequest(ptoas=writing(tmp_path, placed, placed)))
    assert [line.split()[1] for line in (tmp_path / "log").read_text().splitlines()] == ["--pto-level=level3"] * 2


@pytest.mark.parametrize(
    ("body", "message", "help"),
    [
        ("sys.exit(1)", "exit status 1, 0 files written", "its last words were: warning: debug on stderr"),
        ("pass", "exit status 0, 0 files written", "its last words were: warning: debug on stderr"),
        ("output.write_text('')", "exit status 0, 0 files written", "its last words were: warning: debug on stderr"),
        (
            "output.write_text('x'); sys.exit('error: no such op')",
            "exit status 1, 1 file written",
            "its last words were: error: no such op",
        ),
        (
            "[output.with_name(name).write_text('x') for name in 'ab']",
            "exit status 0, 2 files written",
            "its last words were: warning: debug on stderr",
        ),
    ],
)
def test_failure_is_one_error(tmp_path: Path, body: str, message: str, help: str) -> None:
    ptoas = fake(tmp_path, body)
    with pytest.raises(InputError) as error:
        compare([job(tmp_path / "k.pto", FLAGS)], CompareRequest(ptoas=ptoas))
    assert error.value.message == f"{ptoas} {tmp_path}/k.pto: {message}"
    assert error.value.help == help


def test_failure_with_the_second_option_names_it(tmp_path: Path) -> None:
    ptoas = fake(tmp_path, "output.write_text('func.func') if not with_sync else sys.exit(3)")
    with pytest.raises(InputError, match=r"k\.pto --enable-insert-sync: exit status 3, 0 files written"):
        compare([job(tmp_path / "k.pto", FLAGS)], CompareRequest(ptoas=ptoas))


@pytest.mark.parametrize(("name", "reason"), [("none", "No such file or directory"), ("k.pto", "Permission denied")])
def test_binary_that_cannot_be_run(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(InputError, match=f"cannot run {tmp_path}/{name}: {reason}"):
        compare([job(tmp_path / "k.pto", FLAGS)], CompareRequest(ptoas=tmp_path / name))


def test_text_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    ptoas = fake(tmp_path, "output.write_text('func.func nonsense')")
    with pytest.raises(InputError, match="error: "):
        compare([job(tmp_path / "k.pto", FLAGS)], CompareRequest(ptoas=ptoas))
