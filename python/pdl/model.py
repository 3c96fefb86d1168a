# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model: what it declares, its functions and programs, and its text."""

from __future__ import annotations

import contextlib
import inspect
import keyword
import math
import pathlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from pdl import checks, scalars
from pdl.arguments import COUNT, ELEMENT, INIT, POSITIVE, ROW, Want, check, checked
from pdl.attributes import Attribute
from pdl.body import Body, building, current
from pdl.errors import ModelError
from pdl.later import Declared
from pdl.source import Place, place_of
from pdl.standard import STANDARD
from pdl.symbols import (Clip, Dense, Group, Metric, Named, Parameter, Record, Rule, Scalars,
                         Schedule, State, Symbol, Table, location)
from pdl.text import did_you_mean, is_number, is_whole, number, string, symbol
from pdl.types import FLOATS, TensorType, Type
from pdl.values import Operand, Value

# End of the message about a second declaration, which often comes from a notebook.
_RAN_AGAIN = "; if a cell of a notebook ran again, run the one with pdl.Model(...) first"


# Limits of `Model.clip`.
_LIMITS = Want(choices=("global_norm", "norm", "value"))
_PURPOSES = Want(choices=("gradients", "states", "averages", "delays"))
_PURPOSE_TEXTS = {
    "gradients": "a rule for gradients", "states": 'a rule of "states"',
    "averages": 'a rule of "averages", such as "ema"',
    "delays": 'a rule of "delays", such as "delay_compensation"', "schedule": "a schedule"}


class Model(Declared):
    """A recommendation model. `print(model)` shows its text, and `pdl.compile` compiles it.

    `element` is the float type of the model's numbers, f32 or f64. `description` becomes a
    comment at the top of the text.
    """

    DEFAULT = "its methods declare what it has, print(model) shows it, and pdl.compile compiles it"

    @checked(element=ELEMENT, description=Want(empty=True))
    def __init__(self, name: str, *, element: str = "f32", description: str | None = None):
        self.name = name
        self.element = element
        self.description = description
        self.place = Place.of_user()
        self._symbols: dict[str, Symbol] = {}

    # What a model declares.

    def declare(self, new: Symbol) -> None:
        """Adds a symbol to the model. Its name must not be in use."""
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
        """Removes the declarations made inside if the block fails, so that it can be run again."""
        before = dict(self._symbols)
        try:
            yield
        except BaseException:
            self._symbols = before
            raise

    @checked(title="record @{name}", own=("missing_texts",))
    def record(self, name: str, *, missing_texts: Sequence[str] | None = None) -> Record:
        """Declares a record, the format of one sample. Add fields to the result.

        `missing_texts` are texts that mean "missing" in all fields (default: `?`). The empty text
        always means "missing".
        """
        for one in self._symbols.values():
            if isinstance(one, Record):
                again = _RAN_AGAIN if one.place.is_of_notebook else ""
                raise ModelError(f"{self.name} has record {one} already, of line "
                                 f"{one.place.line}; add the fields to that, since a model "
                                 f"has one record{again}")
        return Record(self, name, missing_texts)

    @checked(title="clip @{name}", limit=POSITIVE)
    def clip(self, name: str, **limit: float) -> Clip:
        """Declares gradient clipping: `global_norm=10.0`, `norm=...` or `value=...`. Groups name
        the result."""
        if len(limit) != 1:
            raise ModelError(f"clip @{name} has {len(limit)} limits; it has one, such as "
                             "global_norm=10.0")
        [(kind, value)] = limit.items()
        check(f"the limit of clip @{name}", kind, str, _LIMITS)
        return Clip(self, name, f" : {kind}({number(value)})")

    @checked(title="rule @{name}", of=_PURPOSES, element=ELEMENT)
    def rule(self, name: str, *, each: Callable, once: Callable | None = None,
             hyper: Mapping[str, float] | None = None,
             slots: Mapping[str, float] | None = None,
             sum: Callable | None = None, row: Callable | None = None,
             param: Callable | None = None,
             row_slots: Mapping[str, float] | None = None,
             counts: Sequence[str] = (), undivided: bool = False,
             of: str = "gradients", element: str | None = None) -> Rule:
        """Declares an optimizer rule from Python functions of `pdl.scalars`.

        - `once(step, rate, *hyper)` runs once per group and step, in f64, and returns the scalars
          for `each`. The default returns the learning rate and the hyper-parameters.
        - `each(value, gradient, *slots, *scalars)` runs for each element. It returns the new
          value and the new slots.
        - `hyper` and `slots` map names to initial values.

        A rule that needs a whole row has two more functions:

        - `sum` takes the arguments of `each` and returns numbers in f64 (`pdl.scalars.wide`).
          They are added over the row.
        - `row(width, *sums, *row_slots, *counts, *scalars)` returns the new row slots, and then
          scalars of the row. `each` receives these scalars after those of `once`. The width and
          the sums are f64.

        With `param(width, *sums, *scalars)` in place of `row`, a whole parameter counts as one
        row. Such a rule has no row slots and cannot train tables.

        `counts` are the names of the values that `pdl.count` adds up for each row of a table in a
        step. With `undivided=True`, gradients are not divided by the sum of the sample weights.

        `of` is the purpose of the rule:

        - "states": the rule updates states that `pdl.accumulate` writes. The gradient is replaced
          by the mean of the batch.
        - "averages": the rule computes the `average` of a group. The gradient is replaced by the
          new value.
        - "delays": the rule corrects stale gradients (`compensate` of a group). `each(value,
          gradient, seen, *scalars)` returns the corrected gradient; `seen` is the value for which
          the gradient was computed. Such a rule has no slots and no `row`.

        `element` is the type of the numbers that the rule trains, f32 or f64 (default: that of
        the model).
        """
        purpose = "" if of == "gradients" else f" of {of}"
        hyper, slots, row_slots = hyper or {}, slots or {}, row_slots or {}
        word, reduced = self._reduction_of(name, sum, row, param, row_slots, counts)
        element = element or self.element

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
        return Rule(self, name, hyper, of, [
            f"nn.rule {symbol(name)}{purpose} hyper({_list(hyper)}) slots({_list(slots)})"
            f"{of_rows} once {{", *first, *between, "} each {", *second, "}"])

    @staticmethod
    def _reduction_of(name: str, sum: Callable | None, row: Callable | None,
                      param: Callable | None, row_slots: Mapping[str, float],
                      counts: Sequence[str]
                      ) -> tuple[str, Callable | None]:
        """Returns the keyword of the region after `sum` ("row" or "param"), and its function."""
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

    @checked(title="schedule @{name}")
    def schedule(self, name: str, function: Callable,
                 hyper: Mapping[str, float] | None = None) -> Schedule:
        """Declares a learning rate schedule: `function(step, rate, *hyper)` returns the learning
        rate, in f64."""
        hyper = hyper or {}
        lines, _ = scalars.trace(f"schedule @{name}", function, "f64",
                                 [(one, "f64") for one in ("step", "rate", *hyper)], 1)
        return Schedule(self, name, hyper, "schedule", [
            f"nn.schedule {symbol(name)} hyper({_list(hyper)}) {{", *lines, "}"])

    @checked(title="group @{name}",
             own=("clip", "decay", "rule", "schedule", "average", "compensate"),
             untouched=Want(choices=("lazy", "dense")), merge=Want(choices=("mean", "sum")),
             rate_over=Want(choices=("pushers",)))
    def group(self, name: str, *, rule: str | Named | Rule, rate: float,
              schedule: str | Named | Schedule | None = None,
              decay: Attribute | Sequence[Attribute] = (), clip: Clip | None = None,
              untouched: str | None = None, average: str | Named | Rule | None = None,
              merge: str | None = None, rate_over: str | None = None,
              compensate: str | Named | Rule | None = None) -> Group:
        """Declares a group of parameters and tables that are trained in the same way.

        - `rule` and `schedule` are names of the standard library, such as "adam", with
          hyper-parameters of your own `pdl.rule("adam", beta1=0.8)`, or rules and schedules of
          this model.
        - `untouched` is for rows that a batch does not use: "lazy" leaves them as they are,
          "dense" updates them with a zero gradient.
        - With `average="ema"`, frozen programs read an average over the steps.
        - `merge` is for mode async, where a worker may send several steps as one: their "mean" or
          their "sum".
        - With `rate_over="pushers"`, the learning rate is divided by the number of processes or
          threads whose gradients are separate steps: workers in mode async, trainers in mode
          half-async, otherwise 1.
        - With `compensate="delay_compensation"`, stale gradients are corrected in these modes.
        """
        clauses = [f"rule({self._reference('rule', name, rule)})", f"rate({number(rate)})"]
        if rate < 0 and self._purpose_of(rule) == "gradients":
            raise ModelError(f"`rate` of group @{name} is {rate}, by which the loss would grow; it "
                             "has to be at least 0. Minimize the negated loss instead")
        if schedule is not None:
            clauses.append(f"schedule({self._reference('schedule', name, schedule)})")
        decays = list(decay) if isinstance(decay, (list, tuple)) else [decay]
        for one in decays:
            check(f"`decay` of group @{name}", one, Attribute, Want(
                family="decay",
                example=f"decay=pdl.decay.l2({one if is_number(one) else '1.0e-6'})"))
        if decays:
            clauses.append(f"decay({', '.join(map(str, decays))})")
        if clip is not None:
            if not isinstance(clip, Clip):
                limit = clip if is_number(clip) else 10.0
                raise ModelError(f"`clip` of group @{name} is {clip!r}; declare a limit, which "
                                 f"groups can share, and write clip=model.clip(\"{name}_clip\", "
                                 f"global_norm={limit})")
            clauses.append(f"clip({clip})")
        if untouched is not None:
            clauses.append(f"untouched({untouched})")
        if average is not None:
            clauses.append(f"average({self._reference('average', name, average)})")
        if merge is not None:
            clauses.append(f"merge({merge})")
        if rate_over is not None:
            clauses.append(f"rate_over({rate_over})")
        if compensate is not None:
            clauses.append(f"compensate({self._reference('compensate', name, compensate)})")
        return Group(self, name, "".join(f" {clause}" for clause in clauses))

    @checked(title="@{name}", own=("init", "group", "widen_from"), width=ROW, element=ELEMENT,
             unknown=Want(choices=("zero",)), stored=Want(choices=("bf16", "f16")),
             admit_count=Want(least=1, most=2**14 - 1), admit_probability=Want(above=0, most=1),
             admit_score=POSITIVE, shrink_every=COUNT, shrink_unseen=Want(least=1, most=2**14),
             shrink_decay=Want(above=0, most=1), widen_score=POSITIVE, widen_init=INIT)
    def table(self, name: str, width: int, *, init: Attribute, group: Group | None = None,
              unknown: str | None = None, element: str | None = None,
              stored: str | None = None, admit_count: int | None = None,
              admit_probability: float | None = None, admit_score: float | None = None,
              shrink_every: int | None = None, shrink_unseen: int | None = None,
              shrink_decay: float | None = None, shrink_least: float | None = None,
              score: Mapping[str, float] | None = None, widen_from: int | None = None,
              widen_score: float | None = None,
              widen_init: Attribute | None = None) -> Table:
        """Declares an embedding table: one row of `width` numbers for each 64-bit key. New rows
        start with `init`.

        With `unknown="zero"`, a frozen program reads zeros for keys that were not trained. With
        `stored="bf16"` or `"f16"`, the values of rows are stored in 16 bits.

        Feature admission: a key gets a row

        - when it occurs for the `admit_count`th time,
        - if a hash of the key selects it, with the probability `admit_probability`, or
        - when its score reaches `admit_score`. The score is the sum of the key's counts, each
          times its weight in `score`.

        Feature eviction: every `shrink_every` updates of the group, a period ends. Rows without
        an update in the last `shrink_unseen` periods are evicted. `score` gives weights of row
        slots of the rule, such as {"show": 0.1, "click": 0.9}. With `score`, these slots are then
        multiplied by `shrink_decay`, and rows whose score is below `shrink_least` are evicted.

        Deferred embedding vectors: with `widen_from=1`, a row has only its first column at the
        start. It gets the other columns, the vector, when its score reaches `widen_score`. The
        vector starts with `widen_init` (default: `init`). In dumps, the vectors are a table of
        their own, with `.vector` after this name.
        """
        row = TensorType(self._sizes(name, (width,)), element or self.element)
        last = "" if unknown is None else f" unknown({unknown})"
        if stored is not None:
            last += f" stored({stored})"
        last += _life(name, admit_count, admit_probability, admit_score, shrink_every,
                      shrink_unseen, shrink_decay, shrink_least, score)
        last += _widening(name, width, widen_from, widen_score, widen_init)
        if group is None and (admit_count, admit_probability, admit_score,
                              shrink_every) != (None,) * 4:
            raise ModelError(f"@{name} admits or shrinks keys, and is in no group, so that nothing "
                             "trains it; write group=...")
        return Table(self, name, row, _in(group) + _init(name, init) + last)

    @checked(title="@{name}", own=("init", "group", "shape"), element=ELEMENT)
    def param(self, name: str, shape: Sequence[int], *, init: Attribute,
              group: Group | None = None, element: str | None = None) -> Parameter:
        """Declares a dense tensor that the optimizer rule of `group` trains. Without a group it
        is never trained."""
        type = TensorType(self._sizes(name, shape), element or self.element)
        return Parameter(self, name, type, _in(group) + _init(name, init))

    @checked(title="@{name}", own=("init", "shape"), element=ELEMENT)
    def state(self, name: str, shape: Sequence[int], *, init: Attribute,
              element: str | None = None) -> State:
        """Declares a dense tensor that is not trained. Its values come from `init` or from a
        file."""
        type = TensorType(self._sizes(name, shape), element or self.element)
        return State(self, name, type, _init(name, init))

    @checked(title="metric @{name}", kind=Want(family="metric", example="pdl.metrics.auc()"))
    def metric(self, name: str, kind: Attribute) -> Metric:
        """Declares a metric, such as `pdl.metrics.auc()`, which is computed over many batches."""
        return Metric(self, name, f" : {kind}")

    def _reference(self, clause: str, group: str, named: str | Named | Scalars) -> str:
        """Returns the text of the rule or schedule that a clause of a group names."""
        if isinstance(named, str):
            named = Named(named, {})
        if not isinstance(named, (Named, Scalars)):
            raise ModelError(f"`{clause}` of group @{group} is {named!r}; give the name of one of "
                             "the standard library, pdl.rule(name, ...) or pdl.schedule(name, "
                             "...), or what model.rule or model.schedule has returned")
        role, purposes = f"`{clause}` of group @{group}", _OF_CLAUSE[clause]
        own = self._symbols.get(named.name)
        if isinstance(own, Scalars):
            if own.purpose not in purposes:
                raise ModelError(f"{role} is {own}, which is {_PURPOSE_TEXTS[own.purpose]}; name "
                                 f"{_PURPOSE_TEXTS[purposes[0]]}")
            known = dict.fromkeys(own.hyper, Want())
        else:
            fitting = [name for name, one in STANDARD.items() if one.purpose in purposes]
            if named.name not in fitting:
                declared = [one.name for one in self._symbols.values()
                            if isinstance(one, Scalars) and one.purpose in purposes]
                raise ModelError(f"{role} is {named.name!r}"
                                 + did_you_mean(named.name, [*fitting, *declared]))
            known = STANDARD[named.name].hyper
        for name, value in named.hyper.items() if isinstance(named, Named) else ():
            if name not in known:
                raise ModelError(f"@{named.name} has no hyper-parameter '{name}'"
                                 + did_you_mean(name, list(known)))
            check(f"`{name}` of @{named.name}", value, float, known[name])
        return str(named)

    def _purpose_of(self, named: str | Named | Scalars) -> str:
        """Returns the purpose of a rule."""
        name = named if isinstance(named, str) else named.name
        own = self._symbols.get(name)
        return own.purpose if isinstance(own, Scalars) else STANDARD[name].purpose

    def _sizes(self, name: str, shape: Sequence[int]) -> tuple[int, ...]:
        sizes = tuple(shape) if isinstance(shape, Sequence) else (shape,)
        if any(size is None for size in sizes):
            raise ModelError(f"@{name} has shape {shape!r}; its sizes are whole numbers above "
                             "0, since what holds state does not depend on the batch")
        sizes = tuple(check(f"a size of @{name}", size, int, COUNT) for size in sizes)
        if math.prod(sizes) > 2**40:
            raise ModelError(f"@{name} has shape {sizes}, of more than 2**40 elements; make it "
                             "smaller")
        return sizes

    # Functions and programs.

    @checked(own=("function",))
    def function(self, function: Callable) -> Function:
        """Decorates a Python function that programs of the model share.

        The function runs once, at its first call, with the types of that call.
        """
        return Function(self, function)

    @checked(own=("function",))
    def program(self, function: Callable | None = None, *, frozen: bool | None = None):
        """Decorates a Python function that defines a program: `train`, `evaluate`, `predict`, or
        a frozen program of another name.

        The arguments are fields of the record, by name and in any order; field `user.id` is
        `user_id`. The program does not read other fields. The function runs immediately. A
        program without `pdl.minimize` is frozen, unless `frozen` says otherwise.
        """
        if function is None:
            return lambda real: Program(self, real, frozen)
        return Program(self, function, frozen)

    @checked(title="cycle @{name}", own=("turns",))
    def cycle(self, name: str, *turns: Program | tuple[Program, int]) -> Cycle:
        """Declares alternating training programs, which run as one program called `name`.

        Each of `turns` is a program that runs for one step, or a pair of a program and its number
        of steps: `model.cycle("train", (train_critic, 5), train_generator)`.
        """
        return Cycle(self, name, turns)

    def only_record(self) -> Record:
        """Returns the record that programs read."""
        for one in self._symbols.values():
            if isinstance(one, Record):
                return one
        raise ModelError("the model has no record; declare one with model.record and add its "
                         "fields before the first program")

    # The text.

    @checked
    def text(self, *, locations: bool = False) -> str:
        """Returns the model as `.mlir`. With `locations`, each op has the Python line that wrote
        it."""
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

    def __repr__(self) -> str:
        return f"model '{self.name}'"

    def __setattr__(self, name: str, value: object) -> None:
        # Users may add attributes of their own to a model.
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)

    @checked
    def write(self, path: str | pathlib.Path, *, locations: bool = False) -> None:
        """Writes the text of the model to a file."""
        pathlib.Path(path).write_text(self.text(locations=locations), encoding="utf-8")


class _Region(Symbol):
    """A function or a program."""

    body: Body
    returned: tuple[Value, ...] = ()
    # Names of the results; empty if they have none.
    names: tuple[str, ...] = ()
    comment: str | None

    def text_lines(self, locations: bool) -> list[str]:
        """Returns the lines of the text. With `locations`, each op has the Python line that wrote
        it."""
        inner = list(self.body.lines(locations))
        if self.returned or isinstance(self, Function):
            types = ", ".join(str(value.type) for value in self.returned)
            names = [f" as {string(name)}" for name in self.names] or [""] * len(self.returned)
            values = ", ".join(f"{value}{name}" for value, name in zip(self.returned, names))
            inner.append(f"nn.return {values} : {types}" if values else "nn.return")
        return [*(f"// {line}".rstrip() for line in _comment(self.comment)),
                *self.head(), *(f"  {line}" for line in inner), "}"]

    def head(self) -> list[str]:
        """Returns the lines before the ops."""
        raise NotImplementedError

    def run(self, function: Callable, arguments: Sequence[Value]) -> None:
        """Runs the Python function, which builds the body."""
        with building(self.body):
            returned = function(*arguments)
            if isinstance(returned, Mapping):
                self.names = self._checked(list(returned))
                returned = list(returned.values())
            several = returned if isinstance(returned, (tuple, list)) else (returned,)
            if returned is None:
                several = ()
            # Numbers and parameters become values inside of the body.
            self.returned = tuple(
                self.body.value_of(one, self.model.element, f"what {self.body.title} returns")
                for one in several)


    def _checked(self, names: list) -> tuple[str, ...]:
        """Checks and returns the names of outputs. Only programs have some."""
        if not isinstance(self, Program):
            raise ModelError(f"{self.body.title} returns names; names are for outputs of "
                             "programs: return a tuple")
        for name in names:
            if not isinstance(name, str):
                raise ModelError(f"{self.body.title} names an output {name!r}; a name is a "
                                 "str")
        return tuple(names)


class Function(_Region):
    """A function of the model. A call with values returns the results as values."""

    kind = "nn.func"
    DEFAULT = "call it in a program with the values that it takes"

    def __init__(self, model: Model, function: Callable):
        checks.function("what model.function makes one of the model", function)
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
        # The types of a function that is never called are not known.
        return super().text_lines(locations) if self._types is not None else []


class Program(_Region):
    """A program of the model, which the executable runs for each batch."""

    kind = "nn.program"
    DEFAULT = "model.cycle lets programs take turns, and pdl.compile makes what runs them; what " \
              "programs share is a @model.function"

    def __init__(self, model: Model, function: Callable, frozen: bool | None):
        checks.function("what model.program makes a program", function)
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
    """Alternating training programs."""

    kind = "nn.cycle"
    DEFAULT = "pdl.compile makes what runs it"

    def __init__(self, model: Model, name: str, turns: Sequence[Program | tuple[Program, int]]):
        texts = []
        for turn in turns:
            pair = turn if isinstance(turn, tuple) and len(turn) == 2 else (turn, 1)
            program, steps = pair
            if not isinstance(program, Program) or program.model is not model:
                raise ModelError(f"cycle @{name} has a turn of {program!r}; a turn is a program "
                                 "of the model, or a pair of one and its steps")
            if program.frozen:
                raise ModelError(f"cycle @{name} has a turn of program {program}, which "
                                 "minimizes nothing")
            check(f"the number of steps of a turn of cycle @{name}", steps, int, COUNT)
            texts.append(f"{program} * {steps}" if steps != 1 else str(program))
        if not texts:
            raise ModelError(f"cycle @{name} has no turns; give it programs that train")
        super().__init__(model, name, f" [{', '.join(texts)}]")


def _fixed_arguments(title: str, function: Callable, named: str) -> None:
    """Rejects *args and **kwargs, because the text needs a name for each argument."""
    for one in inspect.signature(function).parameters.values():
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise ModelError(f"{title} takes {one}; name {named}. A Python function without "
                             "@model.function may take any arguments", place_of(function))


# Order of the declarations in the text, with an empty line between two entries. Declarations of
# one entry are in the order in which the user made them.
_SECTIONS = ((Record,), (Rule,), (Schedule,), (Clip, Group), ((Table, Dense), Metric),
             (Function,), (Program,), (Cycle,))


def _variable(name: str) -> str:
    """Returns the Python name of a field."""
    word = re.sub(r"\W", "_", name)
    return f"{word}_" if keyword.iskeyword(word) else word


def _comment(text: str | None) -> list[str]:
    return inspect.cleandoc(text).splitlines() if text else []


def _returned(word: str, count: int) -> list[str]:
    """Returns names, for error messages, of the numbers that a function of a rule returns."""
    return [f"what `{word}` returns at {index}" for index in range(count)]


def _list(numbers: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {number(value)}" for name, value in numbers.items())


# Purposes of the rules and schedules that each clause of a group may name.
_OF_CLAUSE = {"rule": ("gradients", "states"), "schedule": ("schedule",),
              "average": ("averages",), "compensate": ("delays",)}


def _init(name: str, init: Attribute) -> str:
    number = init if is_number(init) else 0.0
    check(f"`init` of @{name}", init, Attribute,
          Want(family="init", example=f"init=pdl.init.constant({number})"))
    return f" init({init})"


def _in(group: Group | None) -> str:
    check("`group`", group, Group | None)
    return f" in {group}" if group is not None else ""


def _results(types: Sequence[Type]) -> str:
    text = ", ".join(map(str, types))
    return text if len(types) == 1 else f"({text})"


@checked(title="@{name}")
def rule(name: str, **hyper: float) -> Named:
    """Returns a rule of the standard library with other hyper-parameters than the defaults."""
    return Named(name, hyper)


@checked(title="@{name}")
def schedule(name: str, **hyper: float) -> Named:
    """Returns a schedule of the standard library with other hyper-parameters than the defaults."""
    return Named(name, hyper)


def _widening(name: str, width: int, first: int | None, score: float | None,
              init: Attribute | None) -> str:
    """Returns the clause of a table with deferred embedding vectors."""
    if first is None and score is None and init is None:
        return ""
    if first is None or score is None:
        raise ModelError(f"@{name} widens only with both widen_from, the first column of the "
                         "vector, and widen_score, what a key scores before it has one")
    if not is_whole(first) or not 1 <= first < width:
        raise ModelError(f"@{name} has widen_from={first!r}; expected a whole number from 1 to "
                         f"{width - 1}")
    last = "" if init is None else f", init = {init}"
    return f" widen(from = {first}, score = {number(score)}{last})"


def _life(name: str, admit_count: int | None, admit_probability: float | None,
          admit_score: float | None, shrink_every: int | None, shrink_unseen: int | None,
          shrink_decay: float | None, shrink_least: float | None, score: Mapping[str, float] | None) -> str:
    """Returns the clauses for feature admission and eviction of a table."""
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
