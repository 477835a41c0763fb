"""`check --execute`: numbers next to the proof."""

from pathlib import Path

import pytest

from tests.cli.running import GEMM, HAND, STREAM, document, refusal, syncopt, without_progress

SMALL = ("--args", "256,512,512", "--cores", "4", "--assume", "K>=512", "--execute", "--orders", "1")


def test_hand_synchronised_gemm_is_equal_in_every_order() -> None:
    result = syncopt("check", HAND, *SMALL)
    assert result.exit_code == 0, result.stdout
    assert "instructions, 3 pointers, compared with program order" in result.stdout
    rows = result.stdout.partition("executed on numbers")[2].splitlines()[2:]
    assert len(rows) == 2 + 2 * 5
    assert all(row.split()[-1] == "equal" for row in rows)


def test_wrong_numbers_are_findings() -> None:
    result = syncopt("check", STREAM, "--set", "n=3", "--execute", "--orders", "0", "--json")
    assert result.exit_code == 1
    found = document(result)
    wrong = [finding for finding in found["findings"] if finding["message"].startswith("wrong number: ")]
    assert {(finding["kind"], finding["severity"]) for finding in wrong} == {("race", "error")}
    assert all(finding["execution"].startswith("the given arguments, ") for finding in wrong)
    orders = {order["order"]: order for order in found["executed"]["orders"]}
    assert orders["late results of MTE2"]["outcome"] == "wrong"
    first, second = orders["late results of MTE2"]["differences"]
    assert (first["pointer"], second["pointer"]) == ("y", "z")
    assert first.keys() == {"pointer", "index", "got", "expected", "elements"}


def test_nothing_is_executed_unless_asked_for() -> None:
    result = syncopt("check", STREAM, "--json")
    assert document(result)["executed"] is None
    assert "executed" not in syncopt("check", STREAM).stdout


def test_hang_is_a_finding(tmp_path: Path) -> None:
    """The store waits for a product that nobody says is there."""
    path = tmp_path / "hangs.pto"
    text = HAND.read_text()
    flag = "pto.record_event[#pto.sync_op_type<TMATMUL>, #pto.sync_op_type<TSTORE_ACC>, <EVENT_ID0>]\n"
    assert text.count(flag) == 1
    path.write_text(text.replace(flag, "\n"))
    result = syncopt("check", path, *SMALL, "--json")
    assert result.exit_code == 1
    hangs = [
        finding for finding in document(result)["findings"] if finding["message"].startswith("hangs when executed")
    ]
    assert {finding["kind"] for finding in hangs} == {"deadlock"}
    assert all("wait_flag M->FIX id 0 (line " in finding["message"] for finding in hangs)
    assert {order["outcome"] for order in document(result)["executed"]["orders"]} == {"hangs"}


def test_too_many_instructions_are_refused() -> None:
    message = without_progress(refusal(syncopt("check", HAND, "--args", "2176,8192,8192", "--execute")))
    assert "more than 20,000 instructions with these arguments: too many to execute" in message
    assert "help: give smaller arguments with --set" in message


def test_order_without_costs_is_left_out(tmp_path: Path) -> None:
    """The replay needs the cost of tgather; the other orders need none."""
    path = tmp_path / "gather.pto"
    tile, box = "!pto.tile_buf<vec, 1x64xf32>", "!pto.partition_tensor_view<1x64xf32>"
    path.write_text(
        "func.func @gather(%x: !pto.ptr<f32>) {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
        f"%c64 = arith.constant 64 : index\n%a = pto.alloc_tile : {tile}\n%b = pto.alloc_tile : {tile}\n"
        "%v = pto.make_tensor_view %x, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>\n"
        f"%p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c64] : !pto.tensor_view<?x?xf32> -> {box}\n"
        f"pto.tload ins(%p : {box}) outs(%a : {tile})\npto.barrier <PIPE_ALL>\n"
        f"pto.tgather ins(%a, {{maskPattern = #pto.mask_pattern<P1111>}} : {tile}) outs(%b : {tile})\n"
        f"pto.barrier <PIPE_ALL>\npto.tstore ins(%b : {tile}) outs(%p : {box})\npto.barrier <PIPE_ALL>\nreturn\n}}\n"
    )
    result = syncopt("check", path, "--execute", "--orders", "1", "--json")
    assert result.exit_code == 0
    first, *others = document(result)["executed"]["orders"]
    assert (first["order"], first["outcome"]) == ("replay", "not executed")
    assert first["message"] == "not executed: pto.tgather (vec -> vec) has no published cost"
    assert {order["outcome"] for order in others} == {"equal"}


@pytest.mark.parametrize("orders", ["-1", "many"])
def test_number_of_orders_that_is_none(orders: str) -> None:
    result = syncopt("check", GEMM / "single_buffered.pto", "--execute", "--orders", orders)
    assert result.exit_code == 2
