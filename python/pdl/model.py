# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model: what it declares, its functions and programs, and its text."""

from __future__ import annotations

import contextlib
import inspect
import keyword
import pathlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from pdl import checks, scalars
from pdl.body import Body, building, current
from pdl.errors import ModelError
from pdl.source import Place, place_of
from pdl.symbols import (Clip, Dense, Group, Metric, Named, Parameter, Record, Rule, Scalars,
                         Schedule, State, Symbol, Table, location)
from pdl.text import (Attribute, did_you_mean, is_number, is_whole, number, string,
                      symbol)
from pdl.types import FLOATS, TensorType, Type
from pdl.values import Operand, Value

# Stands after the message about a second declaration, which a notebook makes by chance.
_RAN_AGAIN = "; if a cell of a notebook ran again, run the one with pdl.Model(...) first"


class Model:
    """A recommendation model, whose text `print(model)` shows and `pdl.compile` compiles.

    `element` is the type of numbers, f32 or f64; `description` a comment at the top.
    """

    def __init__(self, name: str, *, element: str = "f32", description: str | None = None):
        if element not in FLOATS:
            raise ModelError(f"numbers of type {element}; they are f32 or f64")
        self.name = name
        self.element = element
        self.description = description
        self.place = Place.of_user()
        self._symbols: dict[str, Symbol] = {}

    # What a model declares.

    def declare(self, new: Symbol) -> None:
        """Takes a symbol into the model; its name has to be free."""
        old = self._symbols.get(new.name)
        if old is not None:
            is_rerun = old.kind == new.kind and old.place[:2] == new.place[:2]
            again = _RAN_AGAIN if is_rerun or old.place.is_of_notebook else ""
            raise ModelError(
                f"{new.kind} {new} has the name of an {old.kind} of {old.place.file}:"
                f"{old.place.line}; give it another name, or, if programs are to share it, "
                f"declare it once, outside of them or in a @model.function{again}")
        self._symbols[new.name] = new

    @contextlib.contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Takes back what is declared inside, if that fails, so that it can be run again."""
        before = dict(self._symbols)
        try:
            yield
        except BaseException:
            self._symbols = before
            raise

    def record(self, name: str, *, missing_texts: Sequence[str] | None = None) -> Record:
        """What one sample is; fields are added to the result.

        `missing_texts` are the texts that say in all fields that a value is missing, as
        the empty text always does (default: `?`).
        """
        for one in self._symbols.values():
            if isinstance(one, Record):
                again = _RAN_AGAIN if one.place.is_of_notebook else ""
                raise ModelError(f"{self.name} has record {one} already, of line "
                                 f"{one.place.line}; add the fields to that, since a model "
                                 f"has one record{again}")
        return Record(self, name, missing_texts)

    def clip(self, name: str, **limit: float) -> Clip:
        """A limit for gradients of groups: `global_norm=10.0`, `norm=...` or `value=...`."""
        if len(limit) != 1:
            raise ModelError(f"clip @{name} has {len(limit)} limits; it has one, such as "
                             "global_norm=10.0")
        [(kind, value)] = limit.items()
        checks.real(f"{kind} of clip @{name}", value)
        return Clip(self, name, f" : {kind}({number(value)})")

    def rule(self, name: str, *, each: Callable, once: Callable | None = None,
             hyper: Mapping[str, float] | None = None,
             slots: Mapping[str, float] | None = None,
             sum: Callable | None = None, row: Callable | None = None,
             param: Callable | None = None,
             row_slots: Mapping[str, float] | None = None,
             counts: Sequence[str] = (), undivided: bool = False,
             of: str = "gradients", element: str | None = None) -> Rule:
        """An optimizer, from Python functions of `pdl.scalars`.

        `once(step, rate, *hyper)` runs for a group and step in f64, and returns what
        `each` needs of it; without it those are the rate and the hyper-parameters.
        `each(value, gradient, *slots, *scalars)` runs for an element and returns the new
        value and the new slots. `hyper` and `slots` have names with first values.

        A rule that has to know of a whole row has two more: `sum`, with the arguments of
        `each`, returns numbers in f64 (`pdl.scalars.wide`) that are added over the row;
        `row(width, *sums, *row_slots, *counts, *scalars)`, whose width and sums are f64, returns the
        new row slots and behind them scalars of the row, which `each` gets behind those of
        `once`. `param(width, *sums, *scalars)` in the place of `row` takes all of a
        parameter as one row; it has no row slots, and trains no tables.

        `counts` are names of what `pdl.count` adds up of each row of a table in a step.
        With `undivided` gradients are not divided by the summed weight.

        A rule `of` "states" is for what pdl.accumulate writes, one of "averages" for the
        `average` of a group; they have means (or the new value) in the place of the gradient.
        One "delays" is for the `compensate` of a group: `each(value, gradient, seen, *scalars)`,
        with the value that the gradient was computed on, returns the gradient that counts; it
        has no slots, and knows of no whole row.
        `element` is the type of what it trains, f32 or f64; without it that of the model.
        """
        purposes = ("gradients", "states", "averages", "delays")
        if of not in purposes:
            raise ModelError(f"rule '{name}' is of '{of}'; expected one of "
                             + ", ".join(purposes))
        purpose = "" if of == "gradients" else f" of {of}"
        hyper, slots, row_slots = dict(hyper or {}), dict(slots or {}), dict(row_slots or {})
        word, reduced = self._reduction_of(name, sum, row, param, row_slots, counts)
        element = element or self.element
        if element not in FLOATS:
            raise ModelError(f"rule @{name} is for elements of {element}; they are f32 or f64")

        def typed(type: str, meanings: Sequence[str]) -> list[tuple[str, str]]:
            return [(meaning, type) for meaning in meanings]

        inputs = ["step", "rate", *hyper]
        if once is None:
            head = ", ".join(f"%{one}: f64" for one in inputs)
            yielded = inputs[1:]
            first = [f"^bb0({head}):", f"  nn.yield {', '.join(f'%{one}' for one in yielded)}"
                                       f" : {', '.join(['f64'] * len(yielded))}"]
        else:
            first, count = scalars.trace(f"`once` of rule @{name}", once, "f64",
                                         typed("f64", inputs), None)
            yielded = _returned("once", count)
        delays = of == "delays"
        if delays and (slots or row_slots or counts or sum or undivided):
            raise ModelError(f"rule @{name} is of delays: it has no slots and counts, no `sum`, "
                             "and is never undivided")
        seen = ["seen"] if delays else []
        of_element = typed(element, ["value", "gradient", *seen, *slots, *yielded])
        between: list[str] = []
        if sum is not None and reduced is not None:
            added, sums = scalars.trace(f"`sum` of rule @{name}", sum, element, of_element,
                                        None, gives="f64")
            joined, count = scalars.trace(
                f"`{word}` of rule @{name}", reduced, element,
                typed("f64", ["width", *_returned("sum", sums)]) +
                typed(element, [*row_slots, *counts, *yielded]), None, least=len(row_slots))
            of_element += typed(element, _returned(word, count)[len(row_slots):])
            between = ["} sum {", *added, f"}} {word} {{", *joined]
        second, _ = scalars.trace(f"`each` of rule @{name}", each, element, of_element,
                                  1 + len(slots))
        of_rows = f" row_slots({_list(row_slots)})" if row_slots else ""
        if counts:
            of_rows += f" counts({', '.join(counts)})"
        if undivided:
            purpose += " undivided"
        return Rule(self, name, hyper, [
            f"nn.rule {symbol(name)}{purpose} hyper({_list(hyper)}) slots({_list(slots)})"
            f"{of_rows} once {{", *first, *between, "} each {", *second, "}"])

    @staticmethod
    def _reduction_of(name: str, sum: Callable | None, row: Callable | None,
                      param: Callable | None, row_slots: Mapping[str, float],
                      counts: Sequence[str]
                      ) -> tuple[str, Callable | None]:
        """The word of the region behind `sum`, and its function."""
        if row is not None and param is not None:
            raise ModelError(f"rule @{name} has `row` and `param`; give it one of them: what "
                             "it knows is a row or a parameter")
        word, reduced = ("row", row) if param is None else ("param", param)
        if (sum is None) != (reduced is None):
            raise ModelError(f"rule @{name} has `{word if sum is None else 'sum'}` alone; `sum` "
                             "says what is added, and `row` or `param` what is made of it")
        if row_slots and row is None:
            raise ModelError(f"rule @{name} has row slots and no `row`, which returns the new "
                             "ones; give it `sum` and `row`, or name them in `slots`")
        if counts and row is None:
            raise ModelError(f"rule @{name} has counts and no `row`, which is told of them; give "
                             "it `sum` and `row`")
        return word, reduced

    def schedule(self, name: str, function: Callable,
                 hyper: Mapping[str, float] | None = None) -> Schedule:
        """A learning rate: `function(step, rate, *hyper)` returns it, in f64."""
        hyper = dict(hyper or {})
        lines, _ = scalars.trace(f"schedule @{name}", function, "f64",
                                 [(one, "f64") for one in ("step", "rate", *hyper)], 1)
        return Schedule(self, name, hyper, [
            f"nn.schedule {symbol(name)} hyper({_list(hyper)}) {{", *lines, "}"])

    def group(self, name: str, *, rule: str | Named | Rule, rate: float,
              schedule: str | Named | Schedule | None = None,
              decay: Attribute | Sequence[Attribute] = (), clip: Clip | None = None,
              untouched: str | None = None, average: str | Named | Rule | None = None,
              merge: str | None = None, rate_over: str | None = None,
              compensate: str | Named | Rule | None = None) -> Group:
        """Symbols that are trained alike.

        A rule or schedule is one of the standard library by its name, with
        hyper-parameters `pdl.rule("adam", beta1=0.8)`, or one of the model's own.
        `untouched` says whether rows that a batch does not hold stay as they are ("lazy")
        or are updated with a zero gradient ("dense"). With `average="ema"` frozen programs
        read an average of the steps. `merge` says what steps that a worker of mode async
        sends as one count: their "mean", or their "sum". With `rate_over="pushers"` the rate is
        divided by the number of those whose gradients are each a step by itself: of workers in
        mode async, of trainers in mode half-async, else 1. With
        `compensate="delay_compensation"` a gradient that is late in these modes is made up for.
        """
        checks.real(f"the rate of group @{name}", rate)
        clauses = [f"rule({_reference('rule', name, rule)})", f"rate({number(rate)})"]
        if schedule is not None:
            clauses.append(f"schedule({_reference('schedule', name, schedule)})")
        decays = list(decay) if isinstance(decay, (list, tuple)) else [decay]
        for one in decays:
            checks.attribute(f"decay of group @{name}", one,
                             f"decay=pdl.decay.l2({one if is_number(one) else '1.0e-6'})")
        if decays:
            clauses.append(f"decay({', '.join(map(str, decays))})")
        if clip is not None:
            if not isinstance(clip, Clip):
                limit = clip if is_number(clip) else 10.0
                raise ModelError(f"clip of group @{name} is {clip!r}; declare a limit, which "
                                 f"groups can share, and write clip=model.clip(\"{name}_clip\", "
                                 f"global_norm={limit})")
            clauses.append(f"clip({clip})")
        if untouched is not None:
            if untouched not in ("lazy", "dense"):
                raise ModelError(f"untouched='{untouched}'"
                                 + did_you_mean(untouched, ["lazy", "dense"]))
            clauses.append(f"untouched({untouched})")
        if average is not None:
            clauses.append(f"average({_reference('average', name, average)})")
        if merge is not None:
            if merge not in ("mean", "sum"):
                raise ModelError(f"merge='{merge}'" + did_you_mean(merge, ["mean", "sum"]))
            clauses.append(f"merge({merge})")
        if rate_over is not None:
            if rate_over != "pushers":
                raise ModelError(f"rate_over='{rate_over}'"
                                 + did_you_mean(rate_over, ["pushers"]))
            clauses.append(f"rate_over({rate_over})")
        if compensate is not None:
            clauses.append(f"compensate({_reference('compensate', name, compensate)})")
        return Group(self, name, "".join(f" {clause}" for clause in clauses))

    def table(self, name: str, width: int, *, init: Attribute, group: Group | None = None,
              unknown: str | None = None, element: str | None = None,
              stored: str | None = None, admit_count: int | None = None,
              admit_probability: float | None = None, admit_score: float | None = None,
              shrink_every: int | None = None, shrink_unseen: int | None = None,
              shrink_decay: float | None = None, shrink_least: float | None = None,
              score: Mapping[str, float] | None = None, widen_from: int | None = None,
              widen_score: float | None = None,
              widen_init: Attribute | None = None) -> Table:
        """Rows of `width` numbers by 64-bit keys; `init` is what a new row holds.

        With `unknown="zero"` a frozen program sees zeros for keys that were not trained. With
        `stored="bf16"` or `"f16"` the values of rows are held in 16 bits each.

        A key gets a row once it has occurred `admit_count` times, or if it is of the part
        `admit_probability` of all keys, or once its counts, times the weights of `score`, have
        come to `admit_score`. Each `shrink_every` updates of the group end a period;
        rows go that were not updated in the last `shrink_unseen` periods. With `score`, weights
        of row slots of the rule such as {"show": 0.1, "click": 0.9}, these slots are then
        multiplied by `shrink_decay`, and rows go whose score is below `shrink_least`.

        With `widen_from=1` a row has its first column from the start, and the others, its vector,
        only once the key's counts, times the weights of `score`, have come to `widen_score`.
        The vector begins as `widen_init`, without it as `init`. In dumps it is a table of its own,
        of this name with `.vector` behind it.
        """
        row = TensorType(self._sizes(name, (width,)), element or self.element)
        last = "" if unknown is None else f" unknown({unknown})"
        if stored is not None:
            if stored not in ("bf16", "f16"):
                raise ModelError(f"stored='{stored}'" + did_you_mean(stored, ["bf16", "f16"]))
            last += f" stored({stored})"
        last += _life(name, admit_count, admit_probability, admit_score, shrink_every,
                      shrink_unseen, shrink_decay, shrink_least, score)
        last += _widening(name, width, widen_from, widen_score, widen_init)
        return Table(self, name, row, _in(group) + _init(name, init) + last)

    def param(self, name: str, shape: Sequence[int], *, init: Attribute,
              group: Group | None = None, element: str | None = None) -> Parameter:
        """A dense tensor; without a group it is never trained."""
        type = TensorType(self._sizes(name, shape), element or self.element)
        return Parameter(self, name, type, _in(group) + _init(name, init))

    def state(self, name: str, shape: Sequence[int], *, init: Attribute,
              element: str | None = None) -> State:
        """A dense tensor that comes from outside and is not trained."""
        type = TensorType(self._sizes(name, shape), element or self.element)
        return State(self, name, type, _init(name, init))

    def metric(self, name: str, kind: Attribute) -> Metric:
        """A figure of merit over many batches, such as `pdl.metrics.auc()`."""
        checks.attribute(f"the kind of metric @{name}", kind, "pdl.metrics.auc()")
        return Metric(self, name, f" : {kind}")

    def _sizes(self, name: str, shape: Sequence[int]) -> tuple[int, ...]:
        sizes = tuple(shape) if isinstance(shape, Sequence) else (shape,)
        if any(size is None for size in sizes):
            raise ModelError(f"@{name} has shape {shape!r}; its sizes are whole numbers above "
                             "0, since what holds state does not depend on the batch")
        return tuple(checks.whole(f"a size of @{name}", size, 1) for size in sizes)

    # Functions and programs.

    def function(self, function: Callable) -> Function:
        """Makes a Python function one of the model, which its programs share.

        It runs once, at the first call, with the types of that call.
        """
        return Function(self, function)

    def program(self, function: Callable | None = None, *, frozen: bool | None = None):
        """Makes a Python function a program of its name: train, evaluate or predict.

        Its arguments are fields of the record, by name and in any order, where `user.id`
        is `user_id`; fields that it does not name are not read. It runs at once. A program
        that minimizes nothing is frozen, unless `frozen` says otherwise.
        """
        if function is None:
            return lambda real: Program(self, real, frozen)
        return Program(self, function, frozen)

    def cycle(self, name: str, *turns: Program | tuple[Program, int]) -> Cycle:
        """Lets programs that train take turns, under the name of a program.

        A turn is a program that does one step, or one and how many steps it does:
        `model.cycle("train", (train_critic, 5), train_generator)`.
        """
        return Cycle(self, name, turns)

    def only_record(self) -> Record:
        """The record that programs read."""
        for one in self._symbols.values():
            if isinstance(one, Record):
                return one
        raise ModelError("the model has no record; declare one with model.record and add its "
                         "fields before the first program")

    # The text.

    def text(self, *, locations: bool = False) -> str:
        """The model as `.mlir`, with `locations` of the Python lines behind each op."""
        lines = [f"// {line}".rstrip() for line in _comment(self.description)]
        lines += [f"module {symbol(self.name)} {{"]
        is_first = True
        for kinds in _SECTIONS:
            section: list[str] = []
            for one in (one for kind in kinds for one in self._symbols.values()
                        if isinstance(one, kind)):
                own = one.text_lines(locations) if isinstance(one, _Region) else (
                    one.lines(locations))
                if locations and own:
                    own[-1] += location(one.place)
                if section and len(own) > 1:
                    section.append("")
                section += own
            if section and not is_first:
                lines.append("")
            is_first = is_first and not section
            lines += [f"  {line}".rstrip() for line in section]
        return "\n".join([*lines, f"}}{location(self.place) if locations else ''}"]) + "\n"

    def __str__(self) -> str:
        return self.text()

    def write(self, path: str | pathlib.Path, *, locations: bool = False) -> None:
        """Writes the text into a file."""
        pathlib.Path(path).write_text(self.text(locations=locations), encoding="utf-8")


class _Region(Symbol):
    """A function or a program."""

    body: Body
    returned: tuple[Value, ...] = ()
    # Of what it returns; none where it has no names.
    names: tuple[str, ...] = ()
    comment: str | None

    def text_lines(self, locations: bool) -> list[str]:
        """The text; operations have the places of their Python lines with `locations`."""
        inner = list(self.body.lines(locations))
        if self.returned or isinstance(self, Function):
            types = ", ".join(str(value.type) for value in self.returned)
            names = [f" as {string(name)}" for name in self.names] or [""] * len(self.returned)
            values = ", ".join(f"{value}{name}" for value, name in zip(self.returned, names))
            inner.append(f"nn.return {values} : {types}" if values else "nn.return")
        return [*(f"// {line}".rstrip() for line in _comment(self.comment)),
                *self.head(), *(f"  {line}" for line in inner), "}"]

    def head(self) -> list[str]:
        """What stands before the ops."""
        raise NotImplementedError

    def run(self, function: Callable, arguments: Sequence[Value]) -> None:
        """Lets the Python function build the body."""
        with building(self.body):
            returned = function(*arguments)
            if isinstance(returned, Mapping):
                self.names = self._checked(list(returned))
                returned = list(returned.values())
            several = returned if isinstance(returned, (tuple, list)) else (returned,)
            if returned is None:
                several = ()
            # What is not a value yet becomes one inside of the body.
            self.returned = tuple(
                self.body.value_of(one, self.model.element, f"what {self.body.title} returns")
                for one in several)


    def _checked(self, names: list) -> tuple[str, ...]:
        """The names of outputs, of which programs have some."""
        if not isinstance(self, Program):
            raise ModelError(f"{self.body.title} returns names; names are for outputs of "
                             "programs: return a tuple")
        for name in names:
            if not isinstance(name, str):
                raise ModelError(f"{self.body.title} names an output {name!r}; a name is a "
                                 "str")
        return tuple(names)


class Function(_Region):
    """A function of the model: called with values, it gives what it returns."""

    kind = "nn.func"

    def __init__(self, model: Model, function: Callable):
        _fixed_arguments(f"function @{function.__name__}", function, "each value that it uses")
        self._function = function
        self._types: tuple[Type, ...] | None = None
        self.comment = function.__doc__
        super().__init__(model, function.__name__)
        self.place = place_of(function)

    def __call__(self, *positional: Operand, **named: Operand):
        caller = current(f"a call of {self}")
        try:
            bound = inspect.signature(self._function).bind(*positional, **named)
        except TypeError as error:
            raise ModelError(f"a call of {self}: {error}") from None
        bound.apply_defaults()
        values = [caller.value_of(operand, self.model.element, f"argument '{name}' of {self}")
                  for name, operand in bound.arguments.items()]
        self._trace(list(bound.arguments), values)
        operands = [part for value in values for part in (", ", value)][1:]
        types = [value.type for value in self.returned]
        signature = (f") : ({', '.join(str(value.type) for value in values)}) -> "
                     + _results(types))
        results = caller.emit([f"nn.call {self}(", *operands, signature], types)
        return results[0] if len(results) == 1 else tuple(results)

    def _trace(self, names: Sequence[str], values: Sequence[Value]) -> None:
        types = tuple(value.type for value in values)
        if self._types is None:
            self.body = Body(self.model, f"function {self}")
            arguments = [self.body.argument(*pair) for pair in zip(names, types)]
            with self.model.all_or_nothing():
                self.run(self._function, arguments)
            self._types = types
        elif types != self._types:
            raise ModelError(
                f"{self} takes ({', '.join(map(str, self._types))}) since its first call, and "
                f"is called with ({', '.join(map(str, types))}); without @model.function it "
                "is built anew at each call")

    def head(self) -> list[str]:
        arguments = ", ".join(f"{value}: {value.type}" for value in self.body.arguments)
        types = [value.type for value in self.returned]
        result = f" -> {_results(types)}" if types else ""
        return [f"nn.func private {self}({arguments}){result} {{"]

    def text_lines(self, locations: bool) -> list[str]:
        # Nobody knows the types of one that is never called.
        return super().text_lines(locations) if self._types is not None else []


class Program(_Region):
    """What the executable does with a batch."""

    kind = "nn.program"

    def __init__(self, model: Model, function: Callable, frozen: bool | None):
        self._record = model.only_record()
        _fixed_arguments(f"program @{function.__name__}", function, "each field that it reads")
        known = {_variable(name): field for name, field in self._record.fields.items()}
        names = list(inspect.signature(function).parameters)
        for name in names:
            if name not in known:
                raise ModelError(
                    f"program @{function.__name__} takes '{name}', which is no field of "
                    f"{self._record}" + did_you_mean(name, list(known)), place_of(function))
        with model.all_or_nothing():
            super().__init__(model, function.__name__)
            self.place = place_of(function)
            self.comment = function.__doc__
            self.body = Body(model, f"program {self}")
            arguments = {name: self.body.argument(name, field.type)
                         for name, field in known.items() if name in names}
            self._fields = [known[name] for name in arguments]
            self.run(function, [arguments[name] for name in names])
        self.frozen = not self.body.trains if frozen is None else frozen

    def head(self) -> list[str]:
        left_out = [field for field in self._record.fields.values()
                    if field not in self._fields]
        reads = str(self._record)
        if left_out:
            names = [symbol(field.name) for field in left_out]
            listed = names[0] if len(names) == 1 else f"[{', '.join(names)}]"
            reads += f" except {listed}"
        head = [f"nn.program {self} {'frozen ' if self.frozen else ''}reads({reads}) {{"]
        if self.body.arguments:
            arguments = ", ".join(f"{value}: {value.type}" for value in self.body.arguments)
            head.append(f"^bb0({arguments}):")
        return head


class Cycle(Symbol):
    """Programs that take turns in a training."""

    kind = "nn.cycle"

    def __init__(self, model: Model, name: str, turns: Sequence[Program | tuple[Program, int]]):
        texts = []
        for turn in turns:
            program, steps = turn if isinstance(turn, tuple) else (turn, 1)
            if not isinstance(program, Program) or program.model is not model:
                raise ModelError(f"cycle @{name} has a turn of {program!r}; a turn is a program "
                                 "of the model, or a pair of one and its steps")
            if program.frozen:
                raise ModelError(f"cycle @{name} has a turn of program {program}, which "
                                 "minimizes nothing")
            if not is_whole(steps) or steps < 1:
                raise ModelError(f"cycle @{name} has a turn of {steps!r} steps; expected a whole "
                                 "number above 0")
            texts.append(f"{program} * {steps}" if steps != 1 else str(program))
        if not texts:
            raise ModelError(f"cycle @{name} has no turns; give it programs that train")
        super().__init__(model, name, f" [{', '.join(texts)}]")


def _fixed_arguments(title: str, function: Callable, named: str) -> None:
    """Refuses *args and **kwargs, since the text has a name for each argument."""
    for one in inspect.signature(function).parameters.values():
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise ModelError(f"{title} takes {one}; name {named}. A Python function without "
                             "@model.function may take any arguments", place_of(function))


# What stands in which order in the text, with a line between two entries; kinds that
# stand together as they were declared.
_SECTIONS = ((Record,), (Rule,), (Schedule,), (Clip, Group), ((Table, Dense), Metric),
             (Function,), (Program,), (Cycle,))


def _variable(name: str) -> str:
    """What a field is called in Python."""
    word = re.sub(r"\W", "_", name)
    return f"{word}_" if keyword.iskeyword(word) else word


def _comment(text: str | None) -> list[str]:
    return inspect.cleandoc(text).splitlines() if text else []


def _returned(word: str, count: int) -> list[str]:
    """What messages call the numbers that a function of a rule returns."""
    return [f"what `{word}` returns at {index}" for index in range(count)]


def _list(numbers: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {number(value)}" for name, value in numbers.items())


def _reference(what: str, group: str, named: str | Named | Symbol) -> str:
    if isinstance(named, str):
        return symbol(named)
    if not isinstance(named, (Named, Scalars)):
        raise ModelError(f"{what} of group @{group} is {named!r}; give the name of one of the "
                         "standard library, pdl.rule(name, ...) or pdl.schedule(name, ...), or "
                         "what model.rule or model.schedule has returned")
    return str(named)


def _init(name: str, init: Attribute) -> str:
    number = init if is_number(init) else 0.0
    return f" init({checks.attribute(f'init of @{name}', init, f'init=pdl.init.constant({number})')})"


def _in(group: Group | None) -> str:
    if group is not None and not isinstance(group, Group):
        raise ModelError(f"group={group!r} is no group; give what model.group returned")
    return f" in {group}" if group is not None else ""


def _results(types: Sequence[Type]) -> str:
    text = ", ".join(map(str, types))
    return text if len(types) == 1 else f"({text})"


def rule(name: str, **hyper: float) -> Named:
    """A rule of the standard library with other hyper-parameters than its own."""
    return _named(name, hyper)


def schedule(name: str, **hyper: float) -> Named:
    """A schedule of the standard library with other hyper-parameters than its own."""
    return _named(name, hyper)


def _named(name: str, hyper: Mapping[str, float]) -> Named:
    for key, value in hyper.items():
        if not is_number(value):
            raise ModelError(f"hyper-parameter {key} of @{name} is {value!r}; it has to be a "
                             "number")
    return Named(name, hyper)


def _widening(name: str, width: int, first: int | None, score: float | None,
              init: Attribute | None) -> str:
    """The clause of a table whose rows get some columns later."""
    if first is None and score is None and init is None:
        return ""
    if first is None or score is None:
        raise ModelError(f"@{name} widens only with both widen_from, the first column of the "
                         "vector, and widen_score, what a key scores before it has one")
    if not is_whole(first) or not 1 <= first < width:
        raise ModelError(f"@{name} has widen_from={first!r}; expected a whole number from 1 to "
                         f"{width - 1}")
    if not is_number(score):
        raise ModelError(f"@{name} has widen_score={score!r}; expected a number")
    last = "" if init is None else f", init = {init}"
    return f" widen(from = {first}, score = {number(score)}{last})"


def _life(name: str, admit_count: int | None, admit_probability: float | None,
          admit_score: float | None, shrink_every: int | None, shrink_unseen: int | None, shrink_decay: float | None,
          shrink_least: float | None, score: Mapping[str, float] | None) -> str:
    """The clauses of a table whose keys come and go."""
    for what, value in (("admit_count", admit_count), ("shrink_every", shrink_every),
                        ("shrink_unseen", shrink_unseen)):
        if value is not None and not is_whole(value):
            raise ModelError(f"@{name} has {what}={value!r}; expected a whole number")
    for what, value in (("admit_probability", admit_probability), ("admit_score", admit_score),
                        ("shrink_decay", shrink_decay), ("shrink_least", shrink_least)):
        if value is not None and not is_number(value):
            raise ModelError(f"@{name} has {what}={value!r}; expected a number")
    if sum(value is not None for value in (admit_count, admit_probability, admit_score)) > 1:
        raise ModelError(f"@{name} admits keys by more than one of count, probability and score; "
                         "give one of admit_count, admit_probability and admit_score")
    if (shrink_every is None) != (shrink_unseen is None):
        raise ModelError(f"@{name} shrinks only with both shrink_every, the updates of a period, "
                         "and shrink_unseen, how many periods rows may go without update")
    if shrink_every is None and (shrink_decay is not None or shrink_least is not None):
        raise ModelError(f"@{name} has shrink_decay or shrink_least, which are for the end of a "
                         "period; give shrink_every and shrink_unseen too")
    text = ""
    if admit_count is not None:
        text += f" admit(count = {admit_count})"
    if admit_probability is not None:
        text += f" admit(probability = {number(admit_probability)})"
    if admit_score is not None:
        text += f" admit(score = {number(admit_score)})"
    if shrink_every is not None:
        shrinks = f"every = {shrink_every}, unseen = {shrink_unseen}"
        if shrink_decay is not None:
            shrinks += f", decay = {number(shrink_decay)}"
        if shrink_least is not None:
            shrinks += f", least = {number(shrink_least)}"
        text += f" shrink({shrinks})"
    if score is not None:
        if not isinstance(score, Mapping) or not score or not all(
                isinstance(slot, str) and slot.isidentifier() and is_number(weight)
                for slot, weight in score.items()):
            raise ModelError(f"@{name} has score={score!r}; expected weights of counts, such "
                             'as {"show": 0.1, "click": 0.9}')
        weights = ", ".join(f"{slot} = {number(weight)}" for slot, weight in score.items())
        text += f" score({weights})"
    return text
