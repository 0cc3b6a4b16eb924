"""Every small change that mutmut's operators make in a module, but for what nobody can notice.

Left out are annotations and aliases of types, docstrings, decorators, imports, assertions (which
are for our own bugs; ``zip``'s ``strict`` is one), the text of messages (all of ``raise``,
warnings, logging, texts with a space in them, ``__repr__`` and ``__str__``), blocks for type
checkers, and what ``len`` and ``isinstance`` are called with, as mutmut does.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

from mutants.mutant import Mutant
from mutants.rooms import SOURCE

_UNNOTICED = ("strict", "repr")  # arguments that only guard or word something
_SKIPPED = (
    m.Annotation()
    | m.Decorator()
    | m.Raise()
    | m.Assert()
    | m.Import()
    | m.ImportFrom()
    | m.If(test=m.Name("TYPE_CHECKING"))
    | m.Expr(value=m.SimpleString() | m.ConcatenatedString())
    | m.FunctionDef(name=m.Name("__repr__") | m.Name("__str__"))
    | m.Call(func=m.Name("cast") | m.Name("TypeVar") | m.Name("isinstance") | m.Name("len"))
    | m.Call(func=m.Attribute(value=m.Name("logger") | m.Name("logging") | m.Name("warnings")))
    | m.Arg(keyword=m.OneOf(*map(m.Name, _UNNOTICED)))
)
_ALIAS = m.Assign(value=m.Subscript() | m.BinaryOperation(operator=m.BitOr()))


@dataclass(frozen=True)
class _Place:
    """Where a node stands: in which function, and in which statement."""

    function: str
    first_line: int
    lines: tuple[int, int]
    column: int


class _Finder(cst.CSTVisitor):
    """Collects what can be changed: the node, what it becomes, by which operator, and where."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[cst.CSTNode, cst.CSTNode, str, _Place]] = []
        self._scopes: list[cst.FunctionDef | cst.ClassDef] = []
        self._statements: list[cst.CSTNode] = []
        self._parameters = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        if m.matches(node, _SKIPPED) or (not self._scopes and m.matches(node, _ALIAS)):
            return False
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._scopes.append(node)
        if isinstance(node, cst.BaseSmallStatement | cst.BaseCompoundStatement):
            self._statements.append(node)
        self._parameters += self._is_outermost_parameters(node)
        if not (isinstance(node, cst.SimpleString) and " " in node.value):
            for kind, operator in mutation_operators:
                if isinstance(node, kind):
                    name = operator.__name__.removeprefix("operator_")
                    self.found += [(node, new, name, self._place(node)) for new in operator(node)]
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if self._scopes and self._scopes[-1] is original_node:
            self._scopes.pop()
        if self._statements and self._statements[-1] is original_node:
            self._statements.pop()
        self._parameters -= self._is_outermost_parameters(original_node)

    def _functions(self) -> list[cst.FunctionDef]:
        return [scope for scope in self._scopes if isinstance(scope, cst.FunctionDef)]

    def _is_outermost_parameters(self, node: cst.CSTNode) -> bool:
        functions = self._functions()
        return len(functions) == 1 and node is functions[0].params

    def _place(self, node: cst.CSTNode) -> _Place:
        own = self.get_metadata(PositionProvider, node)
        lines = (own.start.line, own.end.line)
        if self._statements:
            whole = self.get_metadata(PositionProvider, self._statements[-1])
            is_small = isinstance(self._statements[-1], cst.BaseSmallStatement)
            lines = (whole.start.line, whole.end.line if is_small else lines[1])
        functions = self._functions()
        if not functions or self._parameters:
            return _Place("", 0, lines, own.start.column)
        outermost = self._scopes[: self._scopes.index(functions[0]) + 1]
        first = functions[0].decorators[0] if functions[0].decorators else functions[0]
        line = self.get_metadata(PositionProvider, first).start.line
        name = ".".join(scope.name.value for scope in outermost)
        return _Place(name, line, lines, own.start.column)


@dataclass(frozen=True, eq=False)
class Change:
    """A change that could be made; :meth:`mutant` makes it."""

    path: Path
    module: cst.Module
    node: cst.CSTNode
    new: cst.CSTNode
    operator: str
    place: _Place

    def mutant(self) -> Mutant | None:
        """Return the module with this change; ``None`` where that is no Python, or unnoticeable."""
        if _is_unnoticed(self.node, self.new):
            return None
        changed = self.module.deep_replace(self.node, self.new)
        assert isinstance(changed, cst.Module)
        try:
            compile(changed.code, "mutant", "exec")
        except SyntaxError:
            return None
        codes = (self.module.code_for_node(own) for own in (self.node, self.new))
        before, after = (" ".join(code.split()) for code in codes)
        line, _ = self.place.lines
        return Mutant(
            module=self.path.relative_to(SOURCE / "proce").as_posix(),
            function=self.place.function,
            statement=self.module.code.splitlines()[line - 1].strip(),
            before=before,
            after=after,
            column=self.place.column,
            operator=self.operator,
            lines=self.place.lines,
            first_line=self.place.first_line,
            source=changed.code,
        )


def _is_unnoticed(node: cst.CSTNode, new: cst.CSTNode) -> bool:
    """Whether a call loses, or changes, an argument that only guards or words something."""
    if not (isinstance(node, cst.Call) and isinstance(new, cst.Call)):
        return False
    guards = [arg for arg in node.args if arg.keyword and arg.keyword.value in _UNNOTICED]
    return any(all(arg is not kept for kept in new.args) for arg in guards)


def changes_of(path: Path) -> list[Change]:
    """Return every change of a module, in the order of its lines."""
    wrapper, finder = MetadataWrapper(cst.parse_module(path.read_text("utf-8"))), _Finder()
    wrapper.visit(finder)
    return [Change(path, wrapper.module, *found) for found in finder.found]


def sample_of(paths: Sequence[Path], size: int, seed: int) -> list[Mutant]:
    """Return a sample of the mutants of some modules; all of them where they are fewer."""
    changes = [change for path in paths for change in changes_of(path)]
    random.Random(seed).shuffle(changes)
    mutants = (change.mutant() for change in changes)
    return list(islice((mutant for mutant in mutants if mutant is not None), size))
