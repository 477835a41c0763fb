"""Machines: queues, memories, barriers, and the variants that the sensitivity compares."""

import pickle
from fractions import Fraction

import pytest

from syncopt.hwmodel import Cost, Machine, MemoryFacts, figures, load_machine, sensitivity_machines
from syncopt.hwmodel.figures import QUEUED_PIPES, SPECS
from syncopt.ir.pipes import Memory, Pipe, SectionKind
from syncopt.ir.types import DType
from syncopt.ir.work import Operand, Work


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def add(rows: int, cols: int = 64) -> Work:
    operand = Operand(Memory.VEC, DType.F32, rows, cols)
    return Work("pto.tadd", Pipe.V, (operand, operand), (operand,))


def matmul(m: int, n: int) -> Work:
    left, right = Operand(Memory.LEFT, DType.F16, m, 64), Operand(Memory.RIGHT, DType.F16, 64, n)
    acc = Operand(Memory.ACC, DType.F32, m, n)
    return Work("pto.tmatmul.acc", Pipe.M, (acc, left, right), (acc,))


def load() -> Work:
    view = Operand(Memory.GM, DType.F16, 128, 512)
    return Work("pto.tload", Pipe.MTE2, (view,), (Operand(Memory.MAT, DType.F16, 128, 512),))


@pytest.mark.parametrize(
    ("name", "cube", "vector", "clock", "l2"),
    [
        ("910b1", 24, 48, Fraction(185, 100), 192),
        ("910b2", 24, 48, Fraction(180, 100), 192),
        ("910b3", 20, 40, Fraction(180, 100), 192),
        ("910b4", 20, 40, Fraction(150, 100), 96),
    ],
)
def test_chips(name: str, cube: int, vector: int, clock: Fraction, l2: int):
    chip = load_machine(name)
    assert str(chip) == name
    assert (chip.cores(SectionKind.CUBE), chip.cores(SectionKind.VECTOR), chip.block_num) == (cube, vector, cube)
    assert (chip.clock_ghz, chip.l2_bytes, chip.load_rate) == (clock, l2 * 1024 * 1024, 85)


@pytest.mark.parametrize(
    ("memory", "size", "alignment"),
    [
        (Memory.MAT, 524288, 32),
        (Memory.LEFT, 65536, 512),
        (Memory.RIGHT, 65536, 512),
        (Memory.ACC, 131072, 512),
        (Memory.VEC, 196608, 32),
        (Memory.BIAS, 1024, 64),
        (Memory.SCALING, 7168, 128),
    ],
)
def test_memories(machine: Machine, memory: Memory, size: int, alignment: int):
    assert machine.memory(memory) == MemoryFacts(size, alignment)


def test_dispatch_and_flags(machine: Machine):
    assert (machine.issue, machine.scalar_op, machine.hop, machine.event_ids) == (2, 0, 8, 8)
    assert [machine.queue_depth(pipe) for pipe in QUEUED_PIPES] == [32] * 6


def test_barriers(machine: Machine):
    """M 20, V 0, the rest and ALL 5."""
    pipes = (Pipe.M, Pipe.V, Pipe.MTE1, Pipe.MTE2, Pipe.FIX, Pipe.MTE3, Pipe.ALL)
    assert [machine.barrier_cost(pipe) for pipe in pipes] == [20, 0, 5, 5, 5, 5, 5]


def test_dependent_vector_ops_need_a_barrier(machine: Machine):
    assert machine.same_pipe_barrier_needed(add(64), add(64))


@pytest.mark.parametrize(("m", "n", "needed"), [(128, 256, False), (16, 160, False), (16, 144, True), (48, 48, True)])
def test_small_accumulators_need_a_barrier(machine: Machine, m: int, n: int, needed: bool):
    """Below 10 fractals: 1 x 10 needs none, 1 x 9 and 3 x 3 do."""
    assert machine.same_pipe_barrier_needed(matmul(m, n), matmul(m, n)) is needed


def test_the_smaller_of_two_matmuls_decides(machine: Machine):
    assert machine.same_pipe_barrier_needed(matmul(128, 256), matmul(16, 16))


def test_parts_of_a_fractal_count_whole(machine: Machine):
    assert not machine.same_pipe_barrier_needed(matmul(1, 145), matmul(1, 145))


def test_other_pipes_complete_in_order(machine: Machine):
    assert not machine.same_pipe_barrier_needed(load(), load())


def test_barrier_question_is_about_one_pipe(machine: Machine):
    with pytest.raises(ValueError, match=r"pto\.tload and pto\.tadd run on different pipes"):
        machine.same_pipe_barrier_needed(load(), add(1))


def test_with_queue_depth(machine: Machine):
    every, one = machine.with_queue_depth(16), machine.with_queue_depth(2, Pipe.M)
    assert {every.queue_depth(pipe) for pipe in QUEUED_PIPES} == {16}
    assert (one.queue_depth(Pipe.M), one.queue_depth(Pipe.MTE1)) == (2, 32)
    assert machine.queue_depth(Pipe.M) == 32


def test_with_load_rate_changes_loads_to_l1_only(machine: Machine):
    """131072 B at 64 B/cycle = 2048; costs of the machine it came from stay."""
    assert machine.cost(load()) == Cost(1543, 270)
    slower = machine.with_load_rate(64)
    assert slower.cost(load()) == Cost(2048, 270)
    assert machine.cost(load()) == Cost(1543, 270)
    assert slower.value("gm_to_vec.bytes_per_cycle") == machine.value("gm_to_vec.bytes_per_cycle")


def test_with_issue(machine: Machine):
    assert machine.with_issue(1).issue == 1


def test_changed_figures_say_so(machine: Machine):
    changed = {figure.key: figure.source for figure in machine.with_issue(1).figures}
    assert changed["dispatch.issue"] == "set by the caller"


def test_impossible_changes(machine: Machine):
    with pytest.raises(ValueError, match=r"queue\.M is not at least 1: 0"):
        machine.with_queue_depth(0, Pipe.M)
    with pytest.raises(ValueError, match=r"gm_to_mat\.bytes_per_cycle is not above 0: 0"):
        machine.with_load_rate(0)
    with pytest.raises(ValueError, match=r"dispatch\.issue is not an integer: 3/2"):
        machine.with_figure("dispatch.issue", Fraction(3, 2))
    with pytest.raises(ValueError, match=r"no such figure: queue\.S"):
        machine.with_figure("queue.S", 1)
    with pytest.raises(ValueError, match=r"gm_to_mat\.few_cores is not a text in quotes: 3"):
        machine.with_figure("gm_to_mat.few_cores", 3)
    with pytest.raises(ValueError, match=r"910b2 does not have exactly the figures"):
        Machine("910b2", machine.figures[1:])


def test_sensitivity(machine: Machine):
    """The points that docs/plan.md names; depth means every pipe."""
    points = {
        label: (point.load_rate, {point.queue_depth(pipe) for pipe in QUEUED_PIPES})
        for label, point in sensitivity_machines(machine)
    }
    assert points == {
        "default": (85, {32}),
        "depth 16": (85, {16}),
        "depth 40": (85, {40}),
        "60 B/cycle": (60, {32}),
        "110 B/cycle": (110, {32}),
        "75 B/cycle, depth 40": (75, {40}),
    }
    assert sensitivity_machines(machine)[0][1] is machine


def test_seconds(machine: Machine):
    """1.8 million cycles at 1.8 GHz are 1 ms; the launch adds 10 microseconds."""
    assert machine.seconds(1_800_000, launch=False) == pytest.approx(1e-3)
    assert machine.seconds(1_800_000) == pytest.approx(1.01e-3)


@pytest.mark.parametrize("name", ["910b1", "910b2", "910b3", "910b4"])
def test_every_figure_has_a_source(name: str):
    shown = figures(load_machine(name))
    assert [figure.key for figure in shown] == list(SPECS)
    for figure in shown:
        assert figure.source.startswith(("[O]", "[M]", "[S]", "[D]", "[?]")), figure
        assert figure.unit == SPECS[figure.key].unit
    assert {f.key for f in shown if f.informational} == {
        "gm_to_mat.few_cores",
        "gm_to_mat.hbm_bound",
        "gm_to_vec.alone",
    }


def test_figures_print_in_decimals(machine: Machine):
    shown = {figure.key: str(figure) for figure in figures(machine)}
    assert (
        shown["gm_to_vec.bytes_per_cycle"]
        == "gm_to_vec.bytes_per_cycle = 58.6 bytes/cycle  [O] all vector cores loading"
    )
    assert shown["queue.M"] == "queue.M = 32 entries  [O] CCE intrinsics"
    assert shown["gm_to_vec.alone"] == "gm_to_vec.alone = 128 bytes/cycle  [S] one vector core loading"


def test_machines_are_values(machine: Machine):
    """Equal figures make equal machines, costs computed or not; a sweep can send them to other processes."""
    machine.cost(load())
    assert machine == load_machine("910b2")
    assert hash(machine) == hash(load_machine("910b2"))
    assert machine.with_issue(1) != machine
    assert pickle.loads(pickle.dumps(machine)).cost(load()) == Cost(1543, 270)
