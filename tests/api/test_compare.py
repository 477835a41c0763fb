"""`compare`: cycles, ratios, kinds, the best version, differences in the work, and what applies to which version."""

from dataclasses import replace
from pathlib import Path

import pytest

from syncopt.api import (
    Budget,
    Compared,
    CompareRequest,
    Difference,
    InputError,
    Verdict,
    VersionKind,
    compare,
)
from tests.api.kernels import (
    ADD_B,
    ALL,
    BARRIERS,
    CPP,
    CPP_BARRIERS,
    FLAGS,
    HANGING,
    LOAD_A,
    PLAIN,
    STORE_B,
    flag,
    job,
    text,
)

ONLY = CompareRequest()


def compared(folder: Path, *kernels: str, request: CompareRequest = ONLY) -> Compared:
    """Kernels in files k0.pto, k1.pto and so on."""
    return compare([job(folder / f"k{place}.pto", kernel) for place, kernel in enumerate(kernels)], request)


def test_cycles_and_ratio_to_the_best(tmp_path: Path) -> None:
    """1431 and 974 cycles, as worked out beside the kernels."""
    found = compared(tmp_path, BARRIERS, FLAGS)
    assert [(version.name, version.cycles) for version in found.versions] == [("k0.pto", 1431), ("k1.pto", 974)]
    assert [found.ratio_to_best(version) for version in found.versions] == [1431 / 974, 1.0]
    assert found.best is found.versions[1]
    assert [found.percent_of_optimum(version) for version in found.versions] == [None, None]
    assert [version.report.verdict for version in found.versions] == [Verdict.CLEAN, Verdict.CLEAN]
    assert found.differences == ()


def test_kernel_without_flags_gets_those_of_its_order(tmp_path: Path) -> None:
    """The same order as with flags by hand, but both loads have the channel of their own that they need: 974 too."""
    found = compared(tmp_path, PLAIN, FLAGS)
    plain, hand = found.versions
    assert (plain.kind, hand.kind) == (VersionKind.FIXED_ORDER, VersionKind.AS_WRITTEN)
    assert plain.cycles == hand.cycles == 974
    assert plain.report.verdict is Verdict.CLEAN
    assert "k0.pto: no flag and no barrier in it; measured in its order as written with flags added" in found.notes


def test_optimum_is_that_of_the_first_file_without_its_flags(tmp_path: Path) -> None:
    """The barriers go, the sums wait for one load each. No order is faster than 974 cycles: dispatch, two loads with a
    set between them, latency, flag, sum, latency, flag, store are 1 + 256 + 1 + 256 + 100 + 8 + 64 + 24 + 8 + 256.
    """
    found = compared(tmp_path, BARRIERS, request=CompareRequest(Budget(600)))
    optimum = found.optimum
    assert optimum is not None
    assert optimum.solved is not None
    assert (optimum.kind, optimum.name, optimum.cycles) == (VersionKind.OPTIMUM, "optimum", 974)
    assert optimum.solved.solution.optimal
    assert found.percent_of_optimum(found.versions[0]) == pytest.approx(100 * 974 / 1431)
    assert found.reference is optimum
    assert [measured.machine for measured in optimum.sensitivity][:2] == ["default", "depth 16"]
    assert found.ratios_on(0) == (1431 / 974, 1.0)
    assert found.range_of(found.versions[0]) == (1431 / 974, 1431 / 974)


def test_version_that_is_faster_than_the_optimum_is_told(tmp_path: Path) -> None:
    """A plan is the best of those that its proof covers: with 10 cycles more on one machine it loses there."""
    found = compared(tmp_path, FLAGS, request=CompareRequest(Budget(600)))
    hand, optimum = found.versions
    assert found.beats_optimum_on(hand) == {}
    first, second, *rest = optimum.sensitivity
    slower = replace(optimum, sensitivity=(first, replace(second, cycles=second.cycles + 10), *rest))
    assert replace(found, versions=(hand, slower)).beats_optimum_on(hand) == {"depth 16": 10}
    wrong = replace(hand, sensitivity=tuple(replace(one, faults=("hangs",)) for one in hand.sensitivity))
    assert replace(found, versions=(wrong, slower)).beats_optimum_on(wrong) == {}


def test_version_that_is_wrong_here_is_not_the_best(tmp_path: Path) -> None:
    """Without the wait before the first sum it races the load: 973 cycles or less are worth nothing."""
    racing = FLAGS.replace(f"    {flag('wait', 'MTE2', 'V', 0)}\n", "").replace(
        f"    {flag('set', 'MTE2', 'V', 0)}\n", ""
    )
    found = compared(tmp_path, racing, BARRIERS)
    wrong, right = found.versions
    assert wrong.cycles < right.cycles
    assert not wrong.valid
    assert wrong.report.verdict is Verdict.RACE
    assert found.best is right
    assert found.ratio_to_best(wrong) == wrong.cycles / right.cycles
    assert wrong.sensitivity[0].faults == ("has a race",)


def test_version_that_hangs_compares_with_nothing(tmp_path: Path) -> None:
    found = compared(tmp_path, HANGING, BARRIERS)
    hanging = found.versions[0]
    assert hanging.hangs
    assert found.ratio_to_best(hanging) is None
    assert found.ratios_on(0) == (None, 1.0)
    assert found.range_of(hanging) is None
    assert hanging.sensitivity[0].faults == ("hangs",)


def test_no_version_is_right(tmp_path: Path) -> None:
    found = compared(tmp_path, HANGING)
    assert found.best is None
    assert found.reference is None
    assert found.ratios_on(0) == (None,)


def test_other_work_is_reported(tmp_path: Path) -> None:
    """A version that leaves one of the two blocks out."""
    half = text(LOAD_A, ALL, ADD_B, ALL, STORE_B, ALL)
    assert compared(tmp_path, FLAGS, half).differences == (
        Difference("k1.pto", "pto.tadd executed: 1 instead of 2"),
        Difference("k1.pto", "pto.tload executed: 1 instead of 2"),
        Difference("k1.pto", "pto.tstore executed: 1 instead of 2"),
        Difference("k1.pto", "bytes loaded: 16,384 instead of 32,768"),
        Difference("k1.pto", "bytes stored: 16,384 instead of 32,768"),
    )


def test_other_ops_of_the_same_number_are_reported(tmp_path: Path) -> None:
    other = FLAGS.replace("pto.tadd ins(%c", "pto.tmul ins(%c")
    assert compared(tmp_path, FLAGS, other).differences == (
        Difference("k1.pto", "pto.tadd executed: 1 instead of 2"),
        Difference("k1.pto", "pto.tmul executed: 1 instead of 0"),
    )


def test_other_cores_are_reported(tmp_path: Path) -> None:
    """A cube kernel has half as many cores; it does other work, too."""
    cube = (Path(__file__).parents[2] / "docs" / "kernels" / "bias.pto").read_text()
    assert Difference("k1.pto", "cores: 24 instead of 48") in compared(tmp_path, FLAGS, cube).differences


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    jobs = [job(tmp_path / folder / "k.pto", FLAGS) for folder in ("one", "two", "one")]
    names = [version.name for version in compare(jobs, ONLY).versions]
    assert names == [f"{tmp_path}/one/k.pto", f"{tmp_path}/two/k.pto", f"{tmp_path}/one/k.pto (2)"]


def test_cpp_stands_beside_pto(tmp_path: Path) -> None:
    """The same kernel in both languages does the same work in the same cycles; arguments in order serve both."""
    (tmp_path / "k.cpp").write_text(CPP)
    pto = job(tmp_path / "k.pto", FLAGS, arguments=(5,))
    found = compare([pto, replace(pto, path=tmp_path / "k.cpp")], ONLY)
    assert [(version.name, version.cycles) for version in found.versions] == [("k.pto", 974), ("k.cpp", 974)]
    assert [dict(version.subject.setting.arguments) for version in found.versions] == [{"n": 5}, {"v5": 5}]
    assert found.differences == ()


def test_optimum_of_cpp(tmp_path: Path) -> None:
    """The barriers go from the C++ as they do from .pto."""
    (tmp_path / "k.cpp").write_text(CPP_BARRIERS)
    cpp = replace(job(tmp_path / "k.pto", PLAIN), path=tmp_path / "k.cpp")
    found = compare([cpp], CompareRequest(Budget(600)))
    assert [(version.name, version.cycles) for version in found.versions] == [("k.cpp", 1431), ("optimum", 974)]


# -- which options apply to which version ------------------------------------------------------------------------------

LOOP = FLAGS.replace("    pto.tload ins(%xp", "    scf.for %i = %c0 to %n step %c1 {\n    }\n    pto.tload ins(%xp")
RENAMED = LOOP.replace("%n", "%v5").replace("@twice", "@other")


def test_arguments_in_order_apply_to_all(tmp_path: Path) -> None:
    jobs = [job(tmp_path / "a.pto", LOOP, arguments=(3,)), job(tmp_path / "b.pto", RENAMED, arguments=(3,))]
    found = compare(jobs, ONLY)
    assert [dict(version.subject.setting.arguments) for version in found.versions] == [{"n": 3}, {"v5": 3}]
    assert found.differences == ()


def test_argument_by_name_applies_to_those_that_have_it(tmp_path: Path) -> None:
    """The other one is left open, so they do not do the same work, which is said."""
    jobs = [job(tmp_path / "a.pto", LOOP, named={"n": 3}), job(tmp_path / "b.pto", RENAMED, named={"n": 3})]
    found = compare(jobs, ONLY)
    assert [dict(version.subject.setting.arguments) for version in found.versions] == [{"n": 3}, {"v5": 4096}]
    assert found.notes == (
        f"{tmp_path}/b.pto: --set n does not apply, its arguments are v5",
        "b.pto: v5 = 4096 (not given)",
    )
    assert found.differences == (Difference("b.pto", "arguments in order: 4096 instead of 3"),)


def test_argument_of_every_version_by_its_own_name(tmp_path: Path) -> None:
    named = {"n": 3, "v5": 3}
    found = compare([job(tmp_path / "a.pto", LOOP, named=named), job(tmp_path / "b.pto", RENAMED, named=named)], ONLY)
    assert [tuple(version.subject.setting.arguments.values()) for version in found.versions] == [(3,), (3,)]
    assert found.differences == ()


def test_argument_that_no_version_has(tmp_path: Path) -> None:
    jobs = [job(tmp_path / name, kernel, named={"k": 3}) for name, kernel in (("a.pto", LOOP), ("b.pto", RENAMED))]
    with pytest.raises(InputError, match="--set k: no kernel has an integer argument k") as error:
        compare(jobs, ONLY)
    assert error.value.help == f"they have {tmp_path}/a.pto: n; {tmp_path}/b.pto: v5"


def test_function_applies_to_the_files_that_have_it(tmp_path: Path) -> None:
    both = LOOP + RENAMED
    jobs = [job(tmp_path / name, kernel, function="other") for name, kernel in (("a.pto", both), ("b.pto", LOOP))]
    assert [version.kernel.name for version in compare(jobs, ONLY).versions] == ["other", "twice"]


def test_function_that_no_file_has(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--func third: no file has a function third"):
        compare([job(tmp_path / "a.pto", LOOP, function="third")], ONLY)


def test_assumption_applies_to_those_that_have_the_argument(tmp_path: Path) -> None:
    assume = ("n>=1", "n<=3")
    given = {"assume": assume, "arguments": (2,)}
    jobs = [job(tmp_path / "a.pto", LOOP, **given), job(tmp_path / "b.pto", RENAMED, **given)]
    found = compare(jobs, ONLY)
    assert [version.job.assume for version in found.versions] == [assume, ()]
    assert f"{tmp_path}/b.pto: does not apply: --assume 'n>=1': no integer argument n" in found.notes


@pytest.mark.parametrize("text", ["k>=1", "n ~ 3"])
def test_assumption_that_applies_to_none(tmp_path: Path, text: str) -> None:
    jobs = [job(tmp_path / "a.pto", LOOP, assume=(text,)), job(tmp_path / "b.pto", RENAMED, assume=(text,))]
    with pytest.raises(InputError, match="--assume"):
        compare(jobs, ONLY)


def test_version_that_does_nothing_is_refused(tmp_path: Path) -> None:
    idle = text(ALL)
    with pytest.raises(InputError, match="executes no tile op"):
        compared(tmp_path, FLAGS, idle)
