"""Machine files and settings: what they change, and what each wrong one is answered with."""

from fractions import Fraction
from pathlib import Path

import pytest

from syncopt.hwmodel import load_machine, machine_names
from syncopt.hwmodel.figures import QUEUED_PIPES
from syncopt.ir.pipes import Pipe
from syncopt.ir.source import InputError


def written(folder: Path, text: str, name: str = "mine.toml") -> str:
    path = folder / name
    path.write_bytes(text.encode("utf-8"))
    return str(path)


def refusal(name: str, *settings: str) -> str:
    with pytest.raises(InputError) as error:
        load_machine(name, settings)
    return str(error.value)


def test_names():
    assert machine_names() == ("910b1", "910b2", "910b3", "910b4")


def pointed_at(error: InputError) -> str | None:
    """The text that the error underlines."""
    if error.source is None or error.span is None:
        return None
    return error.source.data[error.span.start : error.span.end].decode("utf-8")


# A user's file


def test_file_extends_a_machine(tmp_path: Path):
    mine = load_machine(
        written(
            tmp_path,
            'extends = "910b2"\n'
            "[gm_to_mat]\n"
            'bytes_per_cycle = { value = 75.5, unit = "bytes/cycle", source = "[M] our rack" }\n'
            "[queue]\n"
            "M = 40\n",
        )
    )
    assert mine.name == "mine"
    assert mine.load_rate == Fraction(151, 2)
    assert (mine.queue_depth(Pipe.M), mine.queue_depth(Pipe.MTE1), mine.block_num) == (40, 32, 24)
    sources = {figure.key: figure.source for figure in mine.figures}
    assert sources["gm_to_mat.bytes_per_cycle"] == "[M] our rack"
    assert sources["queue.M"] == f"set in {tmp_path / 'mine.toml'}"
    assert sources["queue.MTE1"] == "[O] CCE intrinsics"


def test_file_extends_a_file_beside_it(tmp_path: Path):
    written(tmp_path, 'extends = "910b3"\nqueue_depth = 16\n', "site.toml")
    mine = load_machine(
        written(tmp_path, 'name = "node 7"\nextends = "site.toml"\n[queue.M]\nvalue = 8\nsource = "[M]"\n')
    )
    assert mine.name == "node 7"
    assert mine.block_num == 20
    assert [mine.queue_depth(pipe) for pipe in QUEUED_PIPES] == [16, 16, 8, 16, 16, 16]


def test_dotted_keys(tmp_path: Path):
    mine = load_machine(written(tmp_path, 'extends = "910b2"\nvector.binary.slope = 1.5\n'))
    assert mine.value("vector.binary.slope") == Fraction(3, 2)


def test_crlf(tmp_path: Path):
    assert load_machine(written(tmp_path, 'extends = "910b2"\r\n[queue]\r\nM = 40\r\n')).queue_depth(Pipe.M) == 40


# Settings


def test_settings():
    machine = load_machine("910b2", ("gm_to_mat.bytes_per_cycle=75", "queue_depth=16", "queue.M = 40"))
    assert machine.load_rate == 75
    assert [machine.queue_depth(pipe) for pipe in QUEUED_PIPES] == [16, 16, 40, 16, 16, 16]
    sources = {figure.key: figure.source for figure in machine.figures}
    assert sources["queue.M"] == sources["queue.V"] == "set by --machine-set"


def test_settings_are_exact():
    assert load_machine("910b2", ("gm_to_vec.bytes_per_cycle=58.7",)).value("gm_to_vec.bytes_per_cycle") == Fraction(
        587, 10
    )


@pytest.mark.parametrize("setting", ["queue.M", "=3", "queue.M=", ""])
def test_setting_without_key_or_value(setting: str):
    assert refusal("910b2", setting) == (
        f"error: machine setting {setting!r} is not KEY=VALUE\n"
        "   help: for example --machine-set gm_to_mat.bytes_per_cycle=75"
    )


@pytest.mark.parametrize(
    ("setting", "message", "advice"),
    [
        ("gm_to_mat.byte_per_cycle=75", "unknown figure gm_to_mat.byte_per_cycle", "near: gm_to_mat.bytes_per_cycle"),
        ("flag.zzzzz=1", "unknown figure flag.zzzzz", "near: flag.event_ids, flag.hop"),
        ("hop=1", "unknown figure hop", "near: flag.hop"),
        ("zzzzz=1", "unknown figure zzzzz", "syncopt machine 910b2 lists all figures"),
        ("queue.M=deep", "queue.M is 'deep', expected an integer", "unit: entries"),
        ("queue.M=2.5", "queue.M is 2.5, expected an integer", "unit: entries"),
        ("queue.M=0", "queue.M is 0, expected at least 1", "unit: entries"),
        ("queue_depth=0", "queue_depth is 0, expected at least 1", "unit: entries"),
        ("dispatch.issue=-2", "dispatch.issue is -2, expected at least 0", "unit: cycles/entry"),
        ("flag.event_ids=9", "flag.event_ids is 9, expected 1 to 8", "unit: ids/pair"),
        ("vec_to_gm.bytes_per_cycle=0", "vec_to_gm.bytes_per_cycle is 0, expected above 0", "unit: bytes/cycle"),
        ("matmul.base=nan", "matmul.base is NaN, expected a number", "unit: cycles"),
        ("matmul.base=1e999999999", "matmul.base is 1E+999999999, expected a number", "unit: cycles"),
        (
            "gm_to_vec.alone=100",
            "gm_to_vec.alone is informational: the model does not use it",
            "near: gm_to_vec.base, gm_to_vec.bytes_per_cycle, gm_to_vec.latency",
        ),
    ],
)
def test_wrong_settings(setting: str, message: str, advice: str):
    assert refusal("910b2", setting) == f"error: {message}\n   help: {advice}"


# Names and files that are not there


def test_unknown_machine():
    assert refusal("910b5") == (
        "error: unknown machine '910b5'\n"
        "   help: known machines: 910b1, 910b2, 910b3, 910b4; or give a file that ends in .toml"
    )


def test_common_figures_are_no_machine():
    assert refusal("ascend910b").startswith("error: unknown machine 'ascend910b'")


def test_missing_file(tmp_path: Path):
    path = tmp_path / "gone.toml"
    assert refusal(str(path)) == f"error: cannot read machine file {path}: No such file or directory"


def test_folder(tmp_path: Path):
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    assert refusal(str(folder)) == f"error: cannot read machine file {folder}: Is a directory"


# Files that are wrong: where, what was found and expected, what to do


def test_wrong_file_as_printed(tmp_path: Path):
    file = written(tmp_path, 'extends = "910b2"\n[queue]\nM = 1.5  # deep\n')
    assert refusal(file) == (
        f"{file}:3:1: error: queue.M is 1.5, expected an integer\n"
        "    3 | M = 1.5  # deep\n"
        "      | ^\n"
        "   help: unit: entries"
    )


ENTRY = 'write queue.M = { value = ..., unit = "entries", source = "..." }'


@pytest.mark.parametrize(
    ("text", "place", "message", "advice"),
    [
        ("N = 3", "N", "unknown figure queue.N", "near: queue.V, queue.M"),
        ('M = "deep"', "M", "queue.M is 'deep', expected an integer", "unit: entries"),
        ("M = true", "M", "queue.M is true, expected an integer", "unit: entries"),
        ("M = [1]", "M", "queue.M is a list, expected an integer", "unit: entries"),
        ("M = { value = {}, source = 'x' }", "M", "queue.M is a table, expected an integer", "unit: entries"),
        ("M = 0", "M", "queue.M is 0, expected at least 1", "unit: entries"),
        ("M = { value = 3 }", "M", "queue.M has no source", ENTRY),
        ("M = { source = '[M]' }", "M", "queue.M has no value", ENTRY),
        ("M = { value = 3, source = '[M]', note = 1 }", "M", "queue.M has an unknown entry note", ENTRY),
        ("M = { value = 3, source = ' ' }", "M", "queue.M has an empty source", "say where the value comes from"),
        ("M = { value = 3, source = 1 }", "M", "queue.M has an empty source", "say where the value comes from"),
        (
            "M = { value = 3, unit = 'ops', source = '[M]' }",
            "M",
            "queue.M has the unit 'ops', expected 'entries'",
            "give the value in entries",
        ),
        (
            "M = { value = 3, source = '[M]', informational = true }",
            "M",
            "queue.M is used by the model, the file says otherwise",
            "leave informational out",
        ),
        ("[matmul]\nbase = inf", "base", "matmul.base is Infinity, expected a number", "unit: cycles"),
        ("[matmul]\n'base' = inf", "matmul", "matmul.base is Infinity, expected a number", "unit: cycles"),
        ("[vector]\nexp.tail = -1", "exp.tail", "vector.exp.tail is -1, expected at least 0", "unit: cycles"),
        ("[vector.exp]\ntail = -1", "tail", "vector.exp.tail is -1, expected at least 0", "unit: cycles"),
        ("[gm_to_vec]\nalone = 1", "alone", "gm_to_vec.alone is 1, expected a text in quotes", ""),
        ("[speed]\nM = 3", "speed", "unknown figure speed", "syncopt machine 910b2 lists all figures"),
        ("[matmul.base.x]\ny = 3", "matmul.base.x", "matmul.base has no value", None),
    ],
)
def test_wrong_figures(tmp_path: Path, text: str, place: str, message: str, advice: str | None):
    """The message, and the name in the file that it points at."""
    with pytest.raises(InputError) as error:
        load_machine(written(tmp_path, f'extends = "910b2"\n[queue]\n{text}\n'))
    assert error.value.message == message
    assert advice is None or error.value.help == advice
    assert pointed_at(error.value) == place


@pytest.mark.parametrize(
    ("text", "place", "message", "advice"),
    [
        ("extends = 3", "extends", "extends is 3, expected a text in quotes", ""),
        ("name = 3", "name", "name is 3, expected a text in quotes", ""),
        (
            "queue = 3",
            "queue",
            "unknown figure queue",
            "near: queue.MTE2, queue.MTE1, queue.M, queue.V, queue.FIX, queue.MTE3",
        ),
        (
            'extends = "910b9"',
            "extends",
            "unknown machine '910b9'",
            "known machines: 910b1, 910b2, 910b3, 910b4; or give a file that ends in .toml",
        ),
        ('extends = "mine.toml"', "extends", "mine.toml extends itself", "extend a machine such as 910b2"),
        (
            "queue.M = 3",
            None,
            "chip.cube_cores and 87 more figures are missing",
            'add extends = "910b2" to take what is missing from there',
        ),
    ],
)
def test_wrong_top_level(tmp_path: Path, text: str, place: str | None, message: str, advice: str):
    with pytest.raises(InputError) as error:
        load_machine(written(tmp_path, text))
    assert (error.value.message, error.value.help) == (message, advice)
    assert pointed_at(error.value) == place


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("[queue]\nM = = 3\n", "2:5", "invalid value"),
        ("[queue]\r\nM = = 3\r\n", "2:5", "invalid value"),
        ('name = "机器" x\n', "1:13", "expected newline or end of document after a statement"),
        ("queue.M = ", "1:11", "invalid value"),
        ("[queue]\nM = 3\nM = 4\n", "3:6", "cannot overwrite a value"),
        ("[queue]\nM = 1e99999999999999999999\n", "3:1", "1e99999999999999999999 is out of every range"),
    ],
)
def test_not_toml(tmp_path: Path, text: str, place: str, message: str):
    file = written(tmp_path, text)
    shown = refusal(file)
    assert shown.startswith(f"{file}:{place}: error: not TOML: {message}\n")
    assert shown.endswith("   help: see toml.io for the syntax")


def test_two_files_that_extend_each_other(tmp_path: Path):
    written(tmp_path, 'extends = "mine.toml"\n', "other.toml")
    assert "mine.toml extends itself" in refusal(written(tmp_path, 'extends = "other.toml"\n'))


def test_file_that_is_not_text(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_bytes(b"[queue]\nM = \xff\n")
    assert refusal(str(path)).startswith(f"{path}:2:5: error: not UTF-8 text\n")


@pytest.mark.parametrize("text", ["a=" + "[" * 3000, "a=" + "1" * 5000, 'name = "x"\n[[queue]]\nM = 1\n', "x\0"])
def test_strange_files_are_refused(tmp_path: Path, text: str):
    assert refusal(written(tmp_path, text)).startswith(str(tmp_path))
