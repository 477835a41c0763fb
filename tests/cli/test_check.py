"""`check`: verdict, findings, exit status."""

from tests.cli.running import GUARDED, HAND, STREAM, document, refusal, syncopt

GEMM_ARGUMENTS = ("--args", "2176,8192,8192")


def test_document_has_the_keys_of_the_contract() -> None:
    result = syncopt("check", GUARDED, "--json")
    assert result.exit_code == 1
    found = document(result)
    assert found.keys() >= {"verdict", "findings", "executions", "covers", "assumptions"}
    assert found["verdict"] == "deadlock"
    assert found["findings"] == [
        {
            "kind": "deadlock",
            "severity": "error",
            "line": 18,
            "message": "hangs: no set answers wait_flag MTE2->V id 0 (line 18)",
            "execution": "%some false",
            "iteration": "",
            "hint": "set the flag on every path that leads here (before the loop, if the first round waits for it),"
            " or take the wait away",
        }
    ]
    assert result.stderr == ""


def test_findings_are_printed_with_their_execution() -> None:
    text = syncopt("check", GUARDED).stdout
    assert "deadlock: 1 error in 2 executions" in text
    row = next(line for line in text.splitlines() if line.strip().startswith("18 "))
    assert row.split()[1] == "error"
    assert row.rstrip().endswith("%some false")


def test_assumption_rules_the_fault_out() -> None:
    result = syncopt("check", GUARDED, "--assume", "n>=1")
    assert result.exit_code == 0
    assert "clean: no race, no deadlock" in result.stdout
    assert "- n>=1" in result.stdout


def test_kernel_without_flags_has_races() -> None:
    result = syncopt("check", STREAM, "--json")
    assert result.exit_code == 1
    assert document(result)["verdict"] == "race"


def test_hand_synchronised_gemm_hangs_without_k_iterations() -> None:
    result = syncopt("check", HAND, *GEMM_ARGUMENTS)
    assert result.exit_code == 1
    assert "deadlock: 2 errors in 109 executions" in result.stdout
    assert "and 12 more; -v prints all" in result.stdout
    assert "more; -v prints all" not in syncopt("check", HAND, *GEMM_ARGUMENTS, "-v").stdout


def test_reused_ids_are_errors_when_strict() -> None:
    assumed = syncopt("check", HAND, *GEMM_ARGUMENTS, "--assume", "K>=512", "--json")
    assert assumed.exit_code == 0
    assert {finding["kind"] for finding in document(assumed)["findings"]} == {"id-reuse"}
    strict = syncopt("check", HAND, *GEMM_ARGUMENTS, "--assume", "K>=512", "--strict", "--json")
    assert strict.exit_code == 1
    assert document(strict)["verdict"] == "double-set"


def test_all_cores_are_refused() -> None:
    message = refusal(syncopt("check", GUARDED, "--core", "all")).splitlines()
    assert message[0] == "error: --core all: a check covers the loop counts of every core already"


def test_rules_are_options() -> None:
    """Ids by source alone and other costs only add to what is found in a kernel that is wrong anyway."""
    plain = document(syncopt("check", GUARDED, "--json"))
    cautious = document(syncopt("check", GUARDED, "--strict-events", "--stress", "2", "--json"))
    assert cautious["verdict"] == plain["verdict"] == "deadlock"


def test_what_is_proven_is_printed() -> None:
    result = syncopt("check", HAND, *GEMM_ARGUMENTS, "--assume", "K>=512")
    assert "proven: all trip counts >= 0 of the tile loop, period 1" in result.stdout
    assert "proven: all trip counts >= 1 of the k loop, period 2" in result.stdout
    found = document(syncopt("check", HAND, *GEMM_ARGUMENTS, "--assume", "K>=512", "--json"))
    assert found["unproven"] == []
