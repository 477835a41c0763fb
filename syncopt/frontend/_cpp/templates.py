"""Parameters of templates: what a call names in `<...>`, what follows from its arguments, and what has a default."""

from collections.abc import Sequence

from tree_sitter import Node

from syncopt.frontend._cpp.bindings import Bound, Constant, Word
from syncopt.frontend._cpp.context import Callee, Context, Entry, Scope
from syncopt.frontend._cpp.text import field, named
from syncopt.frontend._cpp.typenames import HEADER_WORDS, read_type, unqualified, word_text
from syncopt.frontend._cpp.types import ARITHMETIC, CppType, Integer, Pointer
from syncopt.frontend._cpp.types import element as element_of
from syncopt.ir.scalars import wrapped
from syncopt.ir.types import DType

_TYPE_PARAMETERS = ("type_parameter_declaration", "optional_type_parameter_declaration")
_VALUE_PARAMETERS = ("parameter_declaration", "optional_parameter_declaration")
_HINT = "write the body of the called function in its place"


def _template_parameters(callee: Callee) -> list[Node]:
    return named(callee.template) if callee.template is not None else []


def explicit(ctx: Context, callee: Callee, function: Node) -> dict[str, Entry]:
    """What stands between `<` and `>` in a call, by the names of the parameters."""
    while function.type == "qualified_identifier":
        function = unqualified(ctx, function)
    arguments = field(function, "arguments") if function.type == "template_function" else None
    listed, parameters = named(arguments) if arguments is not None else [], _template_parameters(callee)
    if len(listed) > len(parameters):
        ctx.fail(f"{len(listed)} template arguments, expected at most {len(parameters)}", function)
    return {
        _parameter_name(ctx, parameter): _template_argument(ctx, parameter, argument)
        for parameter, argument in zip(parameters, listed, strict=False)
    }


def _parameter_name(ctx: Context, parameter: Node) -> str:
    if parameter.type == "type_parameter_declaration":
        name = next(iter(named(parameter)), None)
    elif parameter.type == "optional_type_parameter_declaration":
        name = field(parameter, "name")
    else:
        name = field(parameter, "declarator") if parameter.type in _VALUE_PARAMETERS else None
    if name is None or name.type not in ("identifier", "type_identifier"):
        ctx.fail(f"the template parameter {ctx.tree.phrase(parameter)} is not modelled", parameter, _HINT)
    return ctx.tree.text(name)


def _template_argument(ctx: Context, parameter: Node, argument: Node) -> Entry:
    if parameter.type in _TYPE_PARAMETERS:
        return read_type(ctx, argument)
    type_node = field(parameter, "type")
    assert type_node is not None
    if ctx.tree.text(type_node).rpartition("::")[2] in HEADER_WORDS:
        return Word(word_text(ctx, argument))
    type_ = ARITHMETIC.get(ctx.tree.phrase(type_node))
    if not isinstance(type_, Integer):
        ctx.fail(f"the template parameter {ctx.tree.phrase(parameter)} is not modelled", parameter, _HINT)
    return Constant(type_, wrapped(ctx.constant(argument), type_.scalar.name))


def deduce(ctx: Context, own: Scope, callee: Callee, arguments: Sequence[Bound], call: Node) -> None:
    """Template parameters that the call does not name: from the arguments, or what the template says."""
    for parameter in _template_parameters(callee):
        name = _parameter_name(ctx, parameter)
        if name in own.entries:
            continue
        found = _deduced(ctx, name, callee, arguments)
        default = field(parameter, "default_type") or field(parameter, "default_value")
        if found is None and default is not None:
            found = _template_argument(ctx, parameter, default)
        if found is None:
            ctx.fail(
                f"the template parameter {name} does not follow from this call",
                call,
                "name it in the call",
            )
        own.entries[name] = found


def _deduced(ctx: Context, name: str, callee: Callee, arguments: Sequence[Bound]) -> CppType | None:
    for parameter, argument in zip(function_parameters(callee), arguments, strict=False):
        type_node, declarator = field(parameter, "type"), field(parameter, "declarator")
        if type_node is None or ctx.tree.text(type_node) != name:
            continue
        found = argument.type
        if declarator is None or declarator.type != "pointer_declarator":
            return found
        return _number_type(found.element) if isinstance(found, Pointer) else None
    return None


def _number_type(dtype: DType) -> CppType | None:
    return next((type_ for type_ in ARITHMETIC.values() if element_of(type_) is dtype), None)


def function_parameters(callee: Callee) -> list[Node]:
    """The parameters of a function; `(void)` has none."""
    declarator = field(callee.node, "declarator")
    parameters = field(declarator, "parameters") if declarator is not None else None
    listed = [] if parameters is None else named(parameters)
    return [one for one in listed if one.type != "parameter_declaration" or one.child_count > 1 or not _is_void(one)]


def is_reference(parameter: Node) -> bool:
    """Whether a function can change what it is given for a parameter."""
    declarator = field(parameter, "declarator")
    return declarator is not None and declarator.type == "reference_declarator"


def _is_void(parameter: Node) -> bool:
    return parameter.text == b"void"
