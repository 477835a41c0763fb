"""What a file offers before and when a function is asked for."""

from pathlib import Path

import pytest

from syncopt.frontend import parse_module, read_module
from syncopt.ir.source import InputError, Source

TILE = "%t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>\n"
ADD = "pto.tadd ins(%t, %t : !t, !t) outs(%t : !t)\n"


def message_of(text: str | bytes, name: str | None = None) -> str:
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(InputError) as caught:
        parse_module(Source("k.pto", data)).kernel(name)
    return str(caught.value).splitlines()[0]


def test_functions_are_listed_without_being_converted() -> None:
    module = parse_module(
        Source(
            "k.pto",
            (
                "func.func private @far(memref<4xf32>) -> i32\n"
                f"func.func @work() {{ {TILE} {ADD} return }}\n"
                "func.func @caller(%x: !llvm.ptr) { func.call @work() : () -> () return }\n"
                "func.func @cores() { scf.while { pto.section.cube { } } return }\n"
            ).encode(),
        )
    )
    listed = [(function.name, function.has_body, function.is_kernel) for function in module.functions]
    assert listed == [
        ("far", False, False),
        ("work", True, True),
        ("caller", True, False),
        ("cores", True, True),
    ]
    span = module.functions[0].span
    assert module.source.data[span.start : span.end] == b"func.func private @far(memref<4xf32>) -> i32"


def test_only_the_function_asked_for_is_converted() -> None:
    text = f"func.func @bad() {{ scf.while {{ }} return }}\nfunc.func @good() {{ {TILE} {ADD} return }}"
    module = parse_module(Source("k.pto", text.encode()))
    assert module.kernel().name == "good"
    assert module.kernel("good").name == "good"
    with pytest.raises(InputError, match=r"scf\.while is not modelled"):
        module.kernel("bad")


def test_a_function_without_tile_ops_is_taken_if_it_is_the_only_one() -> None:
    module = parse_module(Source("k.pto", b"func.func private @f()\nfunc.func @g() { return }"))
    assert module.kernel().name == "g"


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (b"", None, "k.pto:1:1: error: the file is empty"),
        (b" \r\n ", None, "k.pto:1:1: error: the file is empty"),
        (b"// only a comment\n", None, "k.pto:1:1: error: no func.func in this file: not a .pto kernel"),
        (b"dear reader", None, "k.pto:1:1: error: no func.func in this file: not a .pto kernel"),
        (b"module {\n}\n", None, "k.pto:1:1: error: no func.func in this file: not a .pto kernel"),
        (b"func.func @k() {\n  \xff\n}", None, "k.pto:2:3: error: the file is not UTF-8"),
        (b"module {\n  func.func private @f()\n}", None, "k.pto:2:3: error: no function with a body"),
        (b"func.func @k() { return }", "other", "k.pto:1:1: error: no function @other"),
        (b"\nfunc.func private @k()", "k", "k.pto:2:1: error: @k is declared here without a body"),
        (
            b"func.func @k() { return }\n func.func @k() { return }",
            "k",
            "k.pto:2:2: error: 2 functions are named @k",
        ),
        (
            b"func.func @a() { return }\nfunc.func @b() { return }",
            None,
            "k.pto:2:1: error: 2 functions, none with tile ops, in this file: @a, @b",
        ),
        (
            b"func.func @a() { pto.section.cube { } return }\nfunc.func @b() { pto.section.cube { } return }",
            None,
            "k.pto:2:1: error: 2 kernels in this file: @a, @b",
        ),
    ],
)
def test_file_without_the_kernel_is_refused(text: bytes, name: str | None, message: str) -> None:
    assert message_of(text, name) == message


def test_choice_of_kernels_tells_how_to_choose() -> None:
    with pytest.raises(InputError) as caught:
        parse_module(Source("k.pto", b"func.func @a() { return }\nfunc.func @b() { return }")).kernel()
    assert caught.value.help == "choose one with --func"


def test_missing_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.pto"
    with pytest.raises(InputError) as caught:
        read_module(path)
    assert str(caught.value) == f"error: no such file: {path}"


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_module(tmp_path)
    assert str(caught.value) == f"error: {tmp_path} is a folder, expected a .pto or C++ file"


def test_path_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_module(Path("a\0b"))
    with pytest.raises(InputError, match="cannot read"):
        read_module(Path("a" * 5000))


def test_deep_nesting_is_refused() -> None:
    text = "func.func @k(%c: i1) {\n" + "scf.if %c {\n" * 400 + "}\n" * 400 + "return\n}\n"
    assert message_of(text) == "k.pto:66:11: error: regions are nested deeper than 64"
