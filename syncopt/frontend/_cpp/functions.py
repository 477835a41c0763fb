"""A file: its functions, the names that they can use, and the kernel of one function."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from syncopt.frontend._cpp.bindings import Bound, Constant, Operand, Variable
from syncopt.frontend._cpp.context import Callee, Context, Readers, Refused, Scope
from syncopt.frontend._cpp.declarations import DECLARATIONS, FIXED
from syncopt.frontend._cpp.directives import Directives, first_line, outside_functions
from syncopt.frontend._cpp.expressions import read_expression
from syncopt.frontend._cpp.finishing import finished
from syncopt.frontend._cpp.loops import assigned_names
from syncopt.frontend._cpp.statements import read_block
from syncopt.frontend._cpp.text import ENTRY, Tree, declared, descendants, field, named
from syncopt.frontend._cpp.typenames import pointee, pointer_to, read_type
from syncopt.frontend._cpp.types import INT, Float, Integer, Pointer, Space, describe
from syncopt.ir.kernel import Kernel, Value
from syncopt.ir.source import InputError, Span
from syncopt.ir.types import PointerType

_READERS = Readers(read_expression, read_block)
_MACRO_NUMBER = re.compile(r"\(?\s*(-?(?:0[xX][0-9a-fA-F]+|[1-9]\d*|0))[uUlL]*\s*\)?")
_CHECKS = frozenset({"static_assert_declaration"})


@dataclass(frozen=True, eq=False, slots=True)
class FunctionText:
    """A function before it is converted; `body` is None for a declaration, `under` are the directives around it."""

    name: str
    node: Node
    declarator: Node
    body: Node | None
    is_entry: bool
    is_template: bool
    under: Directives


class File:
    """The functions and names of a file.

    Parameters
    ----------
    tree : Tree
        The parsed file.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.scope = Scope()
        self._macros: dict[str, Refused] = {}
        found: list[FunctionText] = []
        for node, under in outside_functions(tree.root):
            function = _function(tree, node, under)
            if function is not None:
                found.append(function)
            else:
                self._read_names(node, under)
        self.functions = tuple(found)

    def kernel(self, function: FunctionText) -> Kernel:
        """Converts one function."""
        tree, node, body = self.tree, function.node, function.body
        assert body is not None
        error = next((span for span in tree.errors() if node.start_byte <= span.start < node.end_byte), None)
        if error is not None:
            raise InputError("syntax error", tree.source, error)
        if function.is_template:
            hint = "write the kernel for one set of template arguments"
            raise tree.refusal(f"{function.name} is a template, which is not modelled", function.declarator, hint)
        macro = self._macro_in(node)
        if macro is not None:
            raise macro.error
        ctx = Context(tree, Scope(self.scope), _READERS, self._callees(function))
        ctx.assigned = assigned_names(ctx, body)
        arguments = _parameters(ctx, function.declarator)
        block = finished(ctx.readers.block(ctx, body))
        return Kernel(function.name, arguments, block, tree.source, tree.span(node))

    def error_outside_functions(self) -> Span | None:
        """Where the text around the functions is no C++, if it is not."""
        spans = [self.tree.span(text.node) for text in self.functions]
        return next(
            (error for error in self.tree.errors() if not any(s.start <= error.start < s.end for s in spans)), None
        )

    def _callees(self, caller: FunctionText) -> Mapping[str, Callee]:
        """The functions of the file as one of them can call them."""
        named_alike: dict[str, list[FunctionText]] = {}
        for text in self.functions:
            named_alike.setdefault(text.name, []).append(text)
        return {name: self._callee(texts, caller) for name, texts in named_alike.items()}

    def _callee(self, texts: Sequence[FunctionText], caller: FunctionText) -> Callee:
        bodies = [text for text in texts if text.body is not None]
        first = (bodies or texts)[0]
        if not bodies:
            return Callee(first.node, "it is declared without a body")
        if len(bodies) > 1:
            return Callee(first.node, f"{len(bodies)} functions have this name")
        template = field(first.node, "parameters") if first.is_template else None
        node = named(first.node)[-1] if first.is_template else first.node
        if first.under != caller.under[: len(first.under)]:
            return Callee(node, f"it stands under {first_line(self.tree, first.under)}", template)
        macro = self._macro_in(first.node)
        return Callee(node, "" if macro is None else macro.error.message, template)

    # -- names of the file -----------------------------------------------------------------------------------------

    def _read_names(self, node: Node, under: Directives) -> None:
        """Constants, types and macros in front of the functions; what is not modelled is refused when it is used."""
        if node.type in ("preproc_def", "preproc_function_def"):
            self._read_macro(node, under)
        elif node.type == "preproc_call":
            self._take_back_macro(node)
        elif node.type in DECLARATIONS:
            macro = self._macro_in(node)
            if macro is not None:
                self.scope.entries.update(dict.fromkeys(_declared_names(self.tree, node), macro))
                return
            if under:
                self._refuse(node, f"a definition under {first_line(self.tree, under)} is not modelled")
                return
            if node.type == "declaration" and not _is_fixed(self.tree, node):
                self._refuse(node, "a variable of the file is not modelled", "declare it constexpr")
                return
            ctx, before = Context(self.tree, self.scope, _READERS), frozenset(self.scope.entries)
            try:
                DECLARATIONS[node.type](ctx, node)
            except InputError as error:
                for name in _declared_names(self.tree, node):
                    # Two namespaces may each have a name: which of them is meant is not known.
                    if name in before or name not in self.scope.entries:
                        self.scope.entries[name] = Refused(error)
            self._fix_numbers(ctx, node)

    def _fix_numbers(self, ctx: Context, node: Node) -> None:
        """Variables of the file as the constants that they are."""
        for name, entry in self.scope.entries.items():
            if isinstance(entry, Variable):
                error = self.tree.refusal(f"{name} has no value that is known", node)
                self.scope.entries[name] = _constant(ctx, ctx.bound.get(entry)) or Refused(error)

    def _refuse(self, node: Node, message: str, hint: str = "") -> None:
        error = self.tree.refusal(message, node, hint)
        for name in _declared_names(self.tree, node):
            self.scope.entries[name] = Refused(error)

    def _read_macro(self, node: Node, under: Directives) -> None:
        name, value = field(node, "name"), field(node, "value")
        assert name is not None
        macro, number = self.tree.text(name), None
        if node.type == "preproc_def" and not under:
            number = _macro_number(self.tree.text(value) if value is not None else "")
        before = self.scope.entries.get(macro)
        if macro in self._macros or (before is not None and before != number):
            self._refuse_macro(node, macro, f"the macro {macro} is not the same everywhere")
        elif number is not None:
            self.scope.entries[macro] = number
        else:
            self._refuse_macro(node, macro, f"the macro {macro} is not modelled")

    def _take_back_macro(self, node: Node) -> None:
        """`#undef NAME`: in front of it the name is something else than behind it."""
        directive, argument = field(node, "directive"), field(node, "argument")
        macro = self.tree.text(argument).strip() if argument is not None else ""
        is_known = macro in self._macros or macro in self.scope.entries
        if directive is not None and self.tree.text(directive) == "#undef" and is_known:
            self._refuse_macro(node, macro, f"the macro {macro} is not the same everywhere")

    def _refuse_macro(self, node: Node, macro: str, message: str) -> None:
        """Nothing that the name stands in is read, whatever else the name is."""
        refused = self._macros.setdefault(macro, Refused(self.tree.refusal(message, node)))
        self.scope.entries[macro] = refused

    def _macro_in(self, node: Node) -> Refused | None:
        """The first macro that is not modelled in a piece of text; what only the compiler checks does not matter."""
        if not self._macros:
            return None
        leaves = (inner for inner in descendants(node, _CHECKS) if not inner.child_count)
        return next((self._macros[word] for word in map(self.tree.text, leaves) if word in self._macros), None)


def _macro_number(text: str) -> Constant | None:
    match = _MACRO_NUMBER.fullmatch(text.strip())
    if match is None or abs(int(match[1], 0)) >= 1 << (INT.bits - 1):
        return None
    return Constant(INT, int(match[1], 0))


def _is_fixed(tree: Tree, node: Node) -> bool:
    """Whether a declaration is one of constants."""
    words = {tree.text(child) for child in node.children if child.type == "type_qualifier"}
    kind = field(node, "type")
    return bool(words & FIXED) or (kind is not None and kind.type == "enum_specifier")


def _constant(ctx: Context, bound: Bound | None) -> Constant | None:
    number = ctx.number(bound.value) if isinstance(bound, Operand) else None
    if number is None or not isinstance(bound, Operand) or not isinstance(bound.type, Integer | Float):
        return None
    return Constant(bound.type, number)


def _declared_names(tree: Tree, node: Node) -> Iterator[str]:
    for inner in descendants(node):
        if inner.type in ("identifier", "type_identifier") and _is_declared(inner):
            yield tree.text(inner)


def _is_declared(node: Node) -> bool:
    parent = node.parent
    return parent is not None and node in (field(parent, "name"), field(parent, "declarator"))


# -- functions ---------------------------------------------------------------------------------------------------------


def _function(tree: Tree, node: Node, under: Directives) -> FunctionText | None:
    """A function, or None if the node is something else."""
    is_template = node.type == "template_declaration"
    inner = named(node)[-1] if is_template else node
    declarator = field(inner, "declarator")
    if inner.type not in ("function_definition", "declaration") or declarator is None:
        return None
    while declarator.type == "pointer_declarator":
        declarator = named(declarator)[-1]
    name = field(declarator, "declarator")
    if declarator.type != "function_declarator" or name is None:
        return None
    start = node.prev_sibling.end_byte if node.prev_sibling is not None else 0
    head = tree.source.data[start : declarator.start_byte].decode()
    body = field(inner, "body") if inner.type == "function_definition" else None
    return FunctionText(tree.text(name), node, declarator, body, ENTRY in head, is_template, under)


def _parameters(ctx: Context, declarator: Node) -> tuple[Value, ...]:
    parameters = field(declarator, "parameters")
    assert parameters is not None
    return tuple(_parameter(ctx, node) for node in named(parameters))


def _parameter(ctx: Context, node: Node) -> Value:
    type_node, name = field(node, "type"), field(node, "declarator")
    is_pointer = name is not None and name.type == "pointer_declarator"
    if is_pointer and name is not None and len(declared(name)) == 1:
        name = declared(name)[0]
    if node.type != "parameter_declaration" or type_node is None or name is None or name.type != "identifier":
        ctx.fail(f"the parameter {ctx.tree.phrase(node)} is not modelled", node, "pass a pointer or a scalar")
    type_ = pointer_to(ctx, pointee(ctx, type_node), type_node) if is_pointer else read_type(ctx, type_node)
    text = ctx.tree.text(name)
    if isinstance(type_, Pointer) and type_.space is Space.GLOBAL:
        value = Value(text, PointerType(type_.element))
    elif isinstance(type_, Integer | Float):
        value = Value(text, type_.scalar)
    else:
        ctx.fail(f"a parameter that is {describe(type_)} is not modelled", node, "pass a pointer or a scalar")
    variable = Variable(text, type_)
    ctx.declare(text, variable, name)
    ctx.bound[variable] = Operand(type_, value)
    return value
