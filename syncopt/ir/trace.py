"""The trace of a kernel: its pipe instructions in program order, for concrete arguments."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from syncopt.ir.binding import Binder
from syncopt.ir.footprint import Access
from syncopt.ir.kernel import (
    AllocMultiTile,
    AllocTile,
    Barrier,
    Block,
    For,
    If,
    Kernel,
    Op,
    Return,
    Scalar,
    Section,
    SetFlag,
    TileOp,
    Value,
    WaitFlag,
    Yield,
    walk,
)
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.runtime import Environment, PointerRef, RuntimeValue, number, numbers
from syncopt.ir.scalars import UNKNOWN, Rule, ScalarValue, Unknown, rule_of, wrapped
from syncopt.ir.source import InputError, Language
from syncopt.ir.types import PointerType, ScalarType
from syncopt.ir.views import Views
from syncopt.ir.work import Work

__all__ = ["Access", "Environment", "Instance", "Iteration", "Overrides", "Setting", "Tracer"]

Iteration = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Instance:
    """One execution of a tile op, flag or barrier.

    Parameters
    ----------
    op : TileOp, SetFlag, WaitFlag or Barrier
        What is executed.
    pipe : Pipe
        The pipe whose queue takes it.
    iteration : tuple of int
        How often each enclosing loop has gone round before, outermost first.
    scalars : int
        Scalar steps between the instruction before and this one.
    work : Work or None
        Operands of a tile op, the same object for equal ones.
    accesses : tuple of Access
        Bytes a tile op touches.
    event : int
        Id of a flag, as in the kernel even if the hardware has no such id; -1 for others.
    numbers : tuple of ScalarValue
        Scalar operands of a tile op, in order.
    """

    op: TileOp | SetFlag | WaitFlag | Barrier
    pipe: Pipe
    iteration: Iteration
    scalars: int
    work: Work | None = None
    accesses: tuple[Access, ...] = ()
    event: int = -1
    numbers: tuple[ScalarValue, ...] = ()


@dataclass(frozen=True)
class Setting:
    """The world a kernel runs in.

    Parameters
    ----------
    arguments : mapping of argument name (without `%`) to int
        The kernel's integer arguments.
    block_idx, block_num, subblock_idx, subblock_num : int
        Which core of how many it runs on.
    addresses : mapping of uid to int
        Byte address of every allocation that carries none in the text.
    alignment : mapping of Memory to int
        Multiple, in bytes, of the slots of rotating tiles; 1 where a memory is left out.
    """

    arguments: Mapping[str, int]
    block_idx: int
    block_num: int
    subblock_idx: int = 0
    subblock_num: int = 1
    addresses: Mapping[int, int] = field(default_factory=dict[int, int])
    alignment: Mapping[Memory, int] = field(default_factory=dict[Memory, int])


class Overrides:
    """What a trace does otherwise than the arguments say. The methods here change nothing; subclasses do."""

    def value(self, value: Value, computed: RuntimeValue, env: Environment) -> RuntimeValue:
        """Value that `value` takes instead of what was `computed`."""
        del value, env
        return computed

    def unknown_branch(self, op: If, iteration: Iteration) -> bool:
        """Which way an `if` goes whose condition is not known."""
        del iteration
        raise LookupError(op)

    def head(self, loop: For, iteration: Iteration, carried: Sequence[RuntimeValue], env: Environment) -> None:
        """`loop` is about to start an iteration, or to end after its last one.

        Everything before it has been yielded. `iteration` ends with the number of iterations behind it.
        """
        del loop, iteration, carried, env

    def skips(self, loop: For, ordinal: int) -> bool:
        """Whether iteration number `ordinal` of `loop` is left out of the trace."""
        del loop, ordinal
        return False


_IN_TEXT = {Language.PTO: "scf.", Language.CPP: ""}
"""What stands before the names of loops and branches."""

_Step = Callable[[Environment, Iteration, list[Instance]], None]
"""Runs an op: binds what it makes, adds the instructions that it executes to the list."""


MOST_ROUNDS = 1_000_000
"""Iterations of all loops of a trace together: more are refused, since every pass over them would take minutes."""


class Tracer:
    """Evaluates the scalars of a kernel and yields its pipe instructions; holds nothing of what it has yielded.

    A block without loops is run in one go before its first instruction is yielded, so at most one such block is held.
    Every op is turned into a step when its block is first run.
    """

    def __init__(self, kernel: Kernel, setting: Setting, overrides: Overrides | None = None) -> None:
        self._kernel = kernel
        self._setting = setting
        self._overrides = overrides
        self._scalars = 0
        self._rounds = 0
        self._binder = Binder(kernel.source)
        self._views = Views(kernel.source, setting.addresses, setting.alignment)
        self._steps: dict[Block, tuple[_Step, ...]] = {}
        self._with_loops: dict[Block, bool] = {}

    def __iter__(self) -> Iterator[Instance]:
        """The instances in program order."""
        self._scalars = self._rounds = 0
        env: Environment = {}
        for argument in self._kernel.arguments:
            self._bind(argument, self._argument(argument), env)
        return chain.from_iterable(self._pieces(self._kernel.body, env, ()))

    def _argument(self, argument: Value) -> RuntimeValue:
        if isinstance(argument.type, PointerType):
            return PointerRef(argument, 0)
        given = self._setting.arguments.get(argument.name.removeprefix("%"))
        if given is None or not isinstance(argument.type, ScalarType):
            return UNKNOWN
        return wrapped(given, argument.type.name)

    def _bind(self, value: Value, computed: RuntimeValue, env: Environment) -> None:
        env[value] = computed if self._overrides is None else self._overrides.value(value, computed, env)

    def _refusal(self, op: Op, message: str, help: str = "") -> InputError:
        return InputError(message, self._kernel.source, op.span, help)

    # -- blocks with loops -----------------------------------------------------------------------------------------

    def _pieces(self, block: Block, env: Environment, iteration: Iteration) -> Iterator[list[Instance]]:
        """What a block executes, piece by piece."""
        if not self._has_loop(block):
            done: list[Instance] = []
            self._run(block, env, iteration, done)
            yield done
            return
        for op, step in zip(block.ops, self._steps_of(block), strict=True):
            match op:
                case For():
                    yield from self._for(op, env, iteration)
                case If():
                    taken = self._taken(op, env, iteration)
                    if taken is not None:
                        yield from self._pieces(taken, env, iteration)
                        self._hand_over(op.results, _yielded(taken, env), env)
                case Section():
                    yield from self._pieces(op.body, env, iteration)
                case _:
                    done = []
                    step(env, iteration, done)
                    yield done

    def _has_loop(self, block: Block) -> bool:
        found = self._with_loops.get(block)
        if found is None:
            found = self._with_loops[block] = any(isinstance(op, For) for op in walk(block))
        return found

    def _for(self, op: For, env: Environment, iteration: Iteration) -> Iterator[list[Instance]]:
        carried = tuple(env[value] for value in op.inits)
        ordinals = self._inductions(op, env)
        for ordinal, induction in enumerate(ordinals):
            self._head(op, (*iteration, ordinal), carried, env)
            skipped = self._overrides is not None and self._overrides.skips(op, ordinal)
            if skipped and not op.carried:
                continue
            before = self._scalars
            self._scalars += 1
            self._bind(op.induction, induction, env)
            self._hand_over(op.carried, carried, env)
            pieces = self._pieces(op.body, env, (*iteration, ordinal))
            if skipped:
                for _ in pieces:
                    pass
                self._scalars = before
            else:
                yield from pieces
            carried = _yielded(op.body, env)
        self._head(op, (*iteration, len(ordinals)), carried, env)
        self._hand_over(op.results, carried, env)

    def _head(self, op: For, iteration: Iteration, carried: Sequence[RuntimeValue], env: Environment) -> None:
        if self._overrides is not None:
            self._overrides.head(op, iteration, carried, env)

    def _inductions(self, op: For, env: Environment) -> range:
        bounds = numbers((op.lower, op.upper, op.step), env)
        known = tuple(int(bound) for bound in bounds if not isinstance(bound, Unknown))
        if len(known) == len(bounds) and known[2] > 0:
            return self._within_reach(op, range(*known))
        what = f"has step {known[2]}" if len(known) == len(bounds) else "is not known from the arguments"
        help = "loop bounds must follow from integer arguments, with a step > 0"
        raise self._refusal(op, f"{_IN_TEXT[self._kernel.source.language]}for {what}", help)

    def _within_reach(self, op: For, inductions: range) -> range:
        """The values of a loop variable, if all loops so far do not go round more often than can be followed."""
        # The length of a range that is too long for the machine cannot be asked for.
        self._rounds += max(0, -((inductions.start - inductions.stop) // inductions.step))
        if self._rounds > MOST_ROUNDS:
            message = f"with these arguments the loops go round more than {MOST_ROUNDS:,} times"
            raise self._refusal(op, message, "choose smaller arguments: what repeats takes as long every time")
        return inductions

    def _hand_over(self, values: Sequence[Value], now: Sequence[RuntimeValue], env: Environment) -> None:
        for value, computed in zip(values, now, strict=True):
            self._bind(value, computed, env)

    # -- blocks without loops --------------------------------------------------------------------------------------

    def _run(self, block: Block, env: Environment, iteration: Iteration, done: list[Instance]) -> None:
        for step in self._steps_of(block):
            step(env, iteration, done)

    def _steps_of(self, block: Block) -> tuple[_Step, ...]:
        steps = self._steps.get(block)
        if steps is None:
            steps = self._steps[block] = tuple(self._step(op) for op in block.ops)
        return steps

    def _step(self, op: Op) -> _Step:
        match op:
            case Scalar():
                return self._scalar(op)
            case TileOp():
                return self._tile_op(op)
            case SetFlag() | WaitFlag():
                return self._flag(op)
            case Barrier():
                return self._barrier(op)
            case If():
                return self._if(op)
            case Section():
                return self._section(op)
            case For() | Yield() | Return():
                return _nothing
            case _:
                return self._view(op)

    def _if(self, op: If) -> _Step:
        def step(env: Environment, iteration: Iteration, done: list[Instance]) -> None:
            taken = self._taken(op, env, iteration)
            if taken is not None:
                self._run(taken, env, iteration, done)
                if op.results:
                    self._hand_over(op.results, _yielded(taken, env), env)

        return step

    def _section(self, op: Section) -> _Step:
        return lambda env, iteration, done: self._run(op.body, env, iteration, done)

    def _taken(self, op: If, env: Environment, iteration: Iteration) -> Block | None:
        """The branch that an `if` takes."""
        condition = number(op.condition, env)
        self._scalars += 1
        if isinstance(condition, Unknown):
            if self._overrides is None:
                name = f"{_IN_TEXT[self._kernel.source.language]}if"
                raise self._refusal(op, f"the condition of {name} is not known from the arguments")
            condition = self._overrides.unknown_branch(op, iteration)
        return op.then if condition else op.orelse

    def _scalar(self, op: Scalar) -> _Step:
        rule, operands, results = self._rule(op), op.operands, op.results

        def step(env: Environment, _iteration: Iteration, _done: list[Instance]) -> None:
            self._scalars += 1
            computed = rule(numbers(operands, env))
            for result in results:
                self._bind(result, computed, env)

        return step

    def _rule(self, op: Scalar) -> Rule:
        setting = self._setting
        launch = {
            "pto.get_block_idx": setting.block_idx,
            "pto.get_block_num": setting.block_num,
            "pto.get_subblock_idx": setting.subblock_idx,
            "pto.get_subblock_num": setting.subblock_num,
        }
        return (lambda _: launch[op.name]) if op.name in launch else rule_of(op)

    def _view(self, op: Op) -> _Step:
        rule = self._views.rules.get(type(op))
        if rule is None:
            raise self._refusal(op, f"{type(op).__name__} is not modelled here")
        scalars = int(not isinstance(op, AllocTile | AllocMultiTile))

        def step(env: Environment, _iteration: Iteration, _done: list[Instance]) -> None:
            self._scalars += scalars
            rule(op, env)

        return step

    # -- instructions ----------------------------------------------------------------------------------------------

    def _tile_op(self, op: TileOp) -> _Step:
        bound = self._binder.bound(op)

        def step(env: Environment, iteration: Iteration, done: list[Instance]) -> None:
            pipe, work, accesses, numbers = bound(env)
            done.append(Instance(op, pipe, iteration, self._scalars, work, accesses, numbers=numbers))
            self._scalars = 0

        return step

    def _flag(self, op: SetFlag | WaitFlag) -> _Step:
        pipe = op.pair.source if isinstance(op, SetFlag) else op.pair.target
        fixed = op.event if isinstance(op.event, int) else None

        def step(env: Environment, iteration: Iteration, done: list[Instance]) -> None:
            event = self._event(op, env) if fixed is None else fixed
            done.append(Instance(op, pipe, iteration, self._scalars, None, (), event))
            self._scalars = 0

        return step

    def _event(self, op: SetFlag | WaitFlag, env: Environment) -> int:
        event = op.event if isinstance(op.event, int) else number(op.event, env)
        if isinstance(event, Unknown):
            raise self._refusal(op, "the event id is not known from the arguments")
        return int(event)

    def _barrier(self, op: Barrier) -> _Step:
        def step(_env: Environment, iteration: Iteration, done: list[Instance]) -> None:
            done.append(Instance(op, op.pipe, iteration, self._scalars))
            self._scalars = 0

        return step


def _nothing(_env: Environment, _iteration: Iteration, _done: list[Instance]) -> None:
    """What a terminator does, and a loop, which is run piece by piece."""


def _yielded(block: Block, env: Environment) -> tuple[RuntimeValue, ...]:
    last = block.ops[-1] if block.ops else None
    return tuple(env[value] for value in last.operands) if isinstance(last, Yield) else ()
