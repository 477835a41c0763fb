"""Shapes from ranges, lists and CSV files."""

from pathlib import Path

import pytest

from syncopt.api import InputError
from syncopt.sweep.axes import shapes, shapes_of_file, values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("128:4224:512", (128, 640, 1152, 1664, 2176, 2688, 3200, 3712, 4224)),
        ("128:4223:512", (128, 640, 1152, 1664, 2176, 2688, 3200, 3712)),
        ("3:5", (3, 4, 5)),
        ("7", (7,)),
        (" 128 , 640 ", (128, 640)),
        ("8,1:3,2", (8, 1, 2, 3)),
        ("-4:4:4", (-4, 0, 4)),
        ("5:5:9", (5,)),
    ],
)
def test_values(text: str, expected: tuple[int, ...]) -> None:
    """The last value of a range is included where its step meets it; every value is there once."""
    assert values(text, "--m") == expected


@pytest.mark.parametrize("text", ["", "a", "1,", "1:", "1:2:", "1.5", "1:2:3:4", "0x10"])
def test_what_is_neither_a_value_nor_a_range_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is neither an integer nor a range"):
        values(text, "--m")


@pytest.mark.parametrize("text", ["5:1:1", "1:5:0", "1:5:-1"])
def test_range_goes_up(text: str) -> None:
    with pytest.raises(InputError, match="does not go up"):
        values(text, "--m")


def test_endless_sweep_is_refused() -> None:
    with pytest.raises(InputError, match="more than 100,000 values"):
        values("0:1000000000", "--m")
    with pytest.raises(InputError, match="1,000,000 shapes are more than"):
        shapes({"M": range(1000), "N": range(1000)})


def test_all_combinations_with_the_last_axis_fastest() -> None:
    assert shapes({"M": (1, 2), "K": (3, 4)}) == (
        {"M": 1, "K": 3},
        {"M": 1, "K": 4},
        {"M": 2, "K": 3},
        {"M": 2, "K": 4},
    )


def test_rows_go_with_every_value_of_the_axes() -> None:
    rows = [{"M": 1, "N": 2}, {"M": 3, "N": 4}, {"M": 1, "N": 2}]
    assert shapes({"K": (5,)}, rows) == ({"M": 1, "N": 2, "K": 5}, {"M": 3, "N": 4, "K": 5})


def test_no_axis_is_one_shape_with_nothing_set() -> None:
    assert shapes({}) == ({},)


def test_argument_with_axis_and_column_is_refused() -> None:
    with pytest.raises(InputError, match="argument M has values of its own and a column"):
        shapes({"M": (1,)}, [{"M": 1}])


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "shapes.csv"
    path.write_text(text)
    return path


def test_file_of_shapes(tmp_path: Path) -> None:
    path = file(tmp_path, "M, %N,K\r\n128,8192,8192\r\n\r\n 640, 4096 ,4096\r\n")
    assert shapes_of_file(path) == ({"M": 128, "N": 8192, "K": 8192}, {"M": 640, "N": 4096, "K": 4096})


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("M,N\n1,2\n3,x\n", "3:3", "N = 'x' is not an integer"),
        ("M,N\n1\n", "2:1", "1 values, the first line has 2 names"),
        ("\nM,M\n1,2\n", "2:1", "a column has no name, or that of another one"),
        ("M,\n", "1:1", "a column has no name"),
        ("M,N,K\n\n", "1:1", "no shapes below the names of the arguments"),
        ("M;N\n1;2\n", "1:2", "';' between names"),
        ("M\tN\n1\t2\n", "1:2", "'\\t' between names"),
        ("", "1:1", "no shapes in this file"),
    ],
)
def test_file_that_is_none_of_shapes_is_refused_at_its_place(
    tmp_path: Path, text: str, place: str, message: str
) -> None:
    path = file(tmp_path, text)
    with pytest.raises(InputError) as refused:
        shapes_of_file(path)
    assert str(refused.value).startswith(f"{path}:{place}: error: {message}")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        shapes_of_file(tmp_path / "none.csv")
