# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generation of a model's text from a recipe or a seed."""

import random

import pdl

from smith import groups, lives, samples
from smith.generators import bags
from smith.recipe import BAGS, FIXED, IDS, PLACES, RAGGED, SAMPLES, Recipe, Step
from smith.table import GENERATORS, Chooser, TooLarge, elements

LOSSES = ("square", "square", "square", "sigmoid_cross_entropy", "huber_loss", "hinge_loss",
          "bpr_loss", "log_loss", "softmax_cross_entropy", "rank_loss")
METRICS = ("auc", "log_loss", "copc", "mean", "mae", "rmse", "accuracy", "bucket_error",
           "grouped_auc")
LIST_METRICS = ("accuracy_at", "recall_at", "ndcg_at", "mrr")
INITS = (pdl.init.uniform(-0.5, 0.5), pdl.init.uniform(-0.5, 0.5), pdl.init.constant(0.25),
         pdl.init.normal(0.0, 0.25), pdl.init.truncated_normal(0.0, 0.25))
MATRIX_INITS = (pdl.init.xavier(), pdl.init.xavier_normal(), pdl.init.msra_uniform(),
                pdl.init.msra_normal("fan_out"))
# Storage of the rows of some tables, by the number of their step.
STORED = {2: "bf16", 5: "f16"}


class Builder:
    """Builds one recipe step by step while its function is traced. `plain`: true for models whose
    gradients are compared with differences of losses; ops without a gradient are then written in
    another way, so that no slope is hidden. `mixing`: steps that depend on other samples.
    `written`: states that programs write. `accumulated`: states that are accumulated; for each,
    the state, a value, and whether the samples are weighted. `counted`: tables whose rows are
    counted; for each, the table, the field with the ids, and the step."""

    def __init__(self, model, groups, training, fields, plain):
        self.model, self.groups, self.training = model, groups, training
        self.fields, self.plain = fields, plain
        self.values, self.step = {}, None
        self.mixing, self.written_states, self.accumulated = set(), [], []
        self._state_groups, self.counter = {}, None
        self.counted, self.counted_group = [], None
        self.wide_group = None

    # Declarations for generators.

    def param(self, name, shape):
        """Declares a parameter of the step that is being built."""
        number = self.step.number
        choices = INITS + (MATRIX_INITS if len(shape) == 2 else ())
        return self.model.param(f"p{number}{name}", shape,
                                group=self._group(self.groups),
                                init=choices[number % len(choices)])

    def wide_param(self, shape):
        """Declares an f64 parameter of the step that is being built, while others are f32."""
        if self.wide_group is None:
            self.wide_group = self.model.group(
                "wide", rule="sgd" if self.plain else "adam", rate=1.0 if self.plain else 0.03125)
        return self.model.param(f"p{self.step.number}wide", shape, group=self.wide_group,
                                element="f64", init=pdl.init.uniform(-0.5, 0.5))

    def state(self, name, shape):
        """Declares a tensor that is not trained."""
        return self.model.state(f"p{self.step.number}{name}", shape,
                                init=pdl.init.uniform(-0.5, 0.5))

    def table(self, width, name=""):
        """Declares a table of the step that is being built."""
        number = self.step.number
        group, settings = self._group(
            [pair for pair in zip(self.groups, self.training.groups)
             if groups.trains_tables(pair[1])])
        # If values are rounded, servers do not know from which value a gradient was computed.
        exact = self.plain or "compensate" in settings
        return self.model.table(f"t{number}{name}", width, group=group,
                                init=INITS[number % len(INITS)],
                                unknown="zero" if number % 5 == 4 else None,
                                stored=None if exact else STORED.get(number % 7),
                                **self._life(width))

    def counted_table(self, width, field):
        """Declares a table whose rows a program counts, if the program trains it by a rule with
        counts."""
        if self.plain or self.training.form == "cycle":
            return self.table(width)
        number = self.step.number
        table = self.model.table(f"t{number}", width, group=self._counted_group(),
                                 init=INITS[number % len(INITS)],
                                 **self._life(width, counts=True))
        self.counted.append((table, field, number))
        return table

    def cross(self, number, crossing):
        """Looks up a table of `training.crossings`. Returns the value, and the numbers of the
        losses that use it (of split groups, below)."""
        name, is_trained, which = crossing
        width = 2
        if name in lives.CROSSED:
            life = lives.CROSSED[name]
            fitting = [i for i, one in enumerate(self.training.groups)
                       if groups.trains_tables(one)]
            chosen = fitting[which % len(fitting)]
            group, part = self.groups[chosen], min(chosen, 1)
        else:
            life = lives.CROSSED_BY_SCORE[name]
            group, part = self._counted_group(), 0
        table = self.model.table(f"cross{number}", width, group=group,
                                 init=INITS[number % len(INITS)],
                                 unknown="zero" if number % 2 else None, **life)
        field = self.fields["ids" if number % 2 else "item"]
        return (pdl.tanh(pdl.lookup(table, field, "sum")),
                (0, 1) if is_trained else (1 - part,))

    def _counted_group(self):
        """Returns the group whose rule uses counts of rows."""
        if self.counted_group is None:
            self.counted_group = self.model.group(
                "counted", rule=pdl.rule("click_adagrad", bound=0.5), rate=0.125,
                untouched="lazy")
        return self.counted_group

    def _life(self, width, counts=False):
        """Returns random clauses for the admission and removal of keys of a table."""
        return {} if self.plain else lives.life_of(self.training.lives, self.step.number, width,
                                                   counts)

    def _group(self, fitting):
        return fitting[self.step.settings.get("group", 0) % len(fitting)]

    def written(self, name, shape, rule, start, weighted=False):
        """Declares a state that the program writes. Its rule computes a "mean" or a "sum" of
        values. States of one group have one weight (nn.accumulate, C3)."""
        if (rule, weighted) not in self._state_groups:
            named, rate = {"mean": ("moving_average", 0.125),
                           "sum": (pdl.rule("running_sum", decay=0.75), 1.0)}[rule]
            self._state_groups[rule, weighted] = self.model.group(
                f"{'weighted_' * weighted}{rule}s", rule=named, rate=rate)
        state = self.model.param(f"s{self.step.number}{name}", shape,
                                 group=self._state_groups[rule, weighted],
                                 init=pdl.init.constant(start))
        self.written_states.append(state.name)
        return state

    def accumulate(self, state, value, weighted):
        """Records a value that programs accumulate in training."""
        self.accumulated.append((state, value, weighted))

    def steps(self):
        """Returns the number of steps so far."""
        if self.counter is None:
            if self.training.counter:
                group = self.model.group("counter", rule="step_counter", rate=1.0)
                self.counter = self.model.param("steps", (1,), group=group,
                                                init=pdl.init.zeros())
                self.written_states.append("steps")
            else:  # Where a smaller model has none.
                self.counter = self.model.state("steps", (1,), init=pdl.init.zeros())
        return pdl.read(self.counter)

    # Building of steps.

    def add(self, step):
        """Builds one step, whose inputs have been built."""
        self.step = step
        inputs = [self.values[i] for i in step.inputs]
        entry = GENERATORS[step.op]
        value = entry.build(self, step, inputs, step.settings)
        if step.settings.get("squash"):
            value = pdl.tanh(value)
        self.values[step.number] = value
        step.shape = tuple(value.type.shape)
        if entry.mixes or self.mixing.intersection(step.inputs):
            self.mixing.add(step.number)

    def forget(self, step):
        """Removes a step from the steps that can be used. Its text stays."""
        del self.values[step.number]
        self.counted = [one for one in self.counted if one[2] != step.number]


class Written:
    """A model: its text, its recipe, and the properties that checks need."""

    def __init__(self, text, recipe, mixing, written):
        self.text, self.recipe = text, recipe
        # `mixing`: outputs that depend on other samples. `written`: states without a gradient.
        self.mixing, self.written = mixing, written


def generate(chooser, builder, reject):
    """Builds random steps. Returns the outputs."""
    for name, kind in samples.FIELDS.items():
        chooser.put(builder, Step("field", (), kind, name=name,
                                  bags=name if kind == "ragged" else None))
    r = chooser.random
    wanted, tries = r.randint(6, 30), 0
    while wanted and tries < 600:
        tries += 1
        step = chooser.choose()
        if step is None:
            continue
        try:
            chooser.put(builder, step)
            wanted -= 1
        except (pdl.ModelError, TooLarge) as error:
            reject(f"{step.op}: {error}")
    close(chooser, builder)
    found = [n for n, s in chooser.steps.items()
             if s.kind == SAMPLES and s.op != "field" and len(s.shape) > 1]
    used = {i for s in chooser.steps.values() for i in s.inputs}
    ends = [n for n in found if n not in used] or found or [0]
    ends = r.sample(ends, min(len(ends), 7))
    return [(n, r.choice(LOSSES)) for n in ends]


def close(chooser, builder):
    """Reduces some unused values that do not belong to samples to values of samples."""
    r, used = chooser.random, {i for s in chooser.steps.values() for i in s.inputs}
    ends = [s for s in chooser.steps.values()
            if s.number not in used and s.op != "field" and s.kind != SAMPLES]
    for step in r.sample(ends, min(len(ends), 4)):
        more = []
        if step.kind in BAGS:
            more = [Step("segment", (step.number, chooser.bags(step.kind).number),
                         name=r.choice(bags.REDUCTIONS))]
        elif step.kind in (IDS, RAGGED):
            more = [Step("lookup", (step.number,), width=2, group=chooser.group(),
                         pooling=r.choice(("sum", "mean", "sqrtn")))]
        elif step.kind == PLACES:
            more = [Step("numbers_of_ids", (step.number,), squash=True)]
        else:
            axes = list(range(len(step.shape)))
            more = [Step("reduce", (step.number,), FIXED, name="sum", axes=axes, keep=True,
                         squash=True),
                    Step("reshape", (), FIXED, shape=(1,)),
                    Step("scaled", (chooser.all((SAMPLES,))[0].number,), name="mul")]
        for index, one in enumerate(more):
            if index:
                one.inputs += (chooser.last,)
            try:
                chooser.put(builder, one)
            except TooLarge:
                break


def _flat(value):
    return pdl.reshape(value, (None, elements(value.type.shape)))


def _mean(value):
    return pdl.reduce("mean", _flat(value), [1], keep=True)


def loss_of(kind, value, label):
    """Returns a loss of a sample that is computed from any of its values."""
    if kind == "square":
        flat = _flat(value)
        return pdl.reduce("mean", pdl.mul(flat, flat), [1], keep=True)
    if kind == "softmax_cross_entropy":
        flat = _flat(value)
        return pdl.softmax_cross_entropy(flat, pdl.softmax(pdl.neg(flat), axis=1))
    mean = _mean(value)
    if kind == "bpr_loss":
        return pdl.bpr_loss(mean, label)
    if kind == "rank_loss":
        return pdl.rank_loss(mean, pdl.neg(mean), label)
    if kind == "log_loss":
        return pdl.log_loss(pdl.sigmoid(mean), label)
    return getattr(pdl, kind)(mean, label)


def _metrics(seed, model):
    """Declares some metrics of samples and one of lists. Returns them by name."""
    r = random.Random(f"metrics {seed}")
    made = {}
    for name in (*r.sample(METRICS, 3), r.choice(LIST_METRICS)):
        parameters = {"accuracy_at": {"k": 2}, "recall_at": {"k": 1}, "ndcg_at": {"k": 3}}
        made[name] = model.metric(name, getattr(pdl.metrics, name)(**parameters.get(name, {})))
    return made


def _observe(metrics, outputs, label, item, weights):
    for index, (name, metric) in enumerate(metrics.items()):
        value = outputs[index % len(outputs)]
        if name in LIST_METRICS:
            scores = _flat(value)
            pdl.observe(metric, pdl.concat([scores, pdl.neg(scores)], axis=1), label,
                        weights=weights)
            continue
        p = pdl.sigmoid(_mean(value))
        more = {"group": item} if name == "grouped_auc" else {}
        pdl.observe(metric, p, None if name == "mean" else label, weights=weights, **more)


def model_of(seed, recipe=None, plain=False, reject=lambda why: None):
    """Returns the model of a recipe, or of the recipe that is generated from `seed`. `reject` is
    called with the reason for each rejected step during generation."""
    model = pdl.Model(f"seed{seed}")
    samples.declare(model)
    training = recipe.training if recipe else groups.random_training(seed)
    declared = groups.declare(model, training.groups, plain)
    form = "one" if plain else training.form
    made, builder, crossed = recipe, None, []

    @model.function
    def compute(x, y, z, ids, item, bags, more, other, shares):
        nonlocal made, builder, crossed
        builder = Builder(model, declared, training, dict(
            x=x, y=y, z=z, ids=ids, item=item, bags=bags, more=more, other=other, shares=shares),
            plain)
        if made is None:
            chooser = Chooser(seed, training)
            outputs = generate(chooser, builder, reject)
            made = Recipe(chooser.steps, outputs, training)
        else:
            for _, step in sorted(made.steps.items()):
                builder.add(step)
        # Each trained group needs a symbol that is trained.
        first = pdl.tanh(z)
        for i, group in enumerate(declared):
            first = pdl.add(first, pdl.read(model.param(
                f"bias{i}", (1,), group=group, init=pdl.init.constant(0.25))))
        for _, _, number in builder.counted:
            first = pdl.add(first, pdl.tanh(_mean(builder.values[number])))
        if builder.wide_group:
            bias = model.param("wide_bias", (1,), group=builder.wide_group, element="f64",
                               init=pdl.init.constant(0.25))
            first = pdl.add(first, pdl.cast(pdl.read(bias), "f32"))
        # With a single loss, no table belongs to another loss.
        crossed = [builder.cross(i, one) for i, one in enumerate(training.crossings)
                   if form != "one"]
        return [first, *(builder.values[number] for number, _ in made.outputs),
                *(value for value, _ in crossed),
                *(value for _, value, _ in builder.accumulated)]

    def train_over(part, label, rest):
        """Adds losses of groups to a program that trains."""
        results = compute(*rest)
        weights = pdl.add(label, 0.5) if training.weighted else None
        for (state, _, weighted), value in zip(builder.accumulated,
                                               results[1 + len(made.outputs) + len(crossed):]):
            pdl.accumulate(state, value, pdl.add(label, 0.25) if weighted else None)
        if builder.counter is not None and training.counter:
            pdl.accumulate(builder.counter, label)
        fields = dict(zip(samples.FIELDS, rest))
        for table, field, _ in builder.counted:
            pdl.count(table, fields[field], click=label, show=1)
        for mine, which in part:
            if which == 0:
                mine = [*mine, *filter(None, (builder.counted and builder.counted_group,
                                              builder.wide_group))]
            total = loss_of("square", results[0], label)
            for index, (value, (_, kind)) in enumerate(zip(results[1:], made.outputs)):
                if len(part) == 1 or index % len(part) == which:
                    total = pdl.add(total, loss_of(kind, value, label))
            for value, (_, losses) in zip(results[1 + len(made.outputs):], crossed):
                if which in losses:
                    total = pdl.add(total, loss_of("square", value, label))
            pdl.minimize(total, mine, weights=weights)

    split = [(declared[:1], 0), (declared[1:], 1)]
    if form == "cycle":
        @model.program
        def train_first(label, x, y, z, ids, item, bags, more, other, shares):
            train_over(split[:1], label, (x, y, z, ids, item, bags, more, other, shares))

        @model.program
        def train_second(label, x, y, z, ids, item, bags, more, other, shares):
            train_over(split[1:], label, (x, y, z, ids, item, bags, more, other, shares))
        model.cycle("train", (train_first, 1 + seed % 2), train_second)
    else:
        @model.program
        def train(label, x, y, z, ids, item, bags, more, other, shares):
            train_over(split if form == "several" else [(declared, 0)], label,
                       (x, y, z, ids, item, bags, more, other, shares))

    metrics = _metrics(seed, model)

    @model.program
    def evaluate(label, x, y, z, ids, item, bags, more, other, shares):
        results = compute(x, y, z, ids, item, bags, more, other, shares)
        _observe(metrics, results[:1 + len(made.outputs)], label, item,
                 pdl.add(label, 0.5) if training.weighted else None)

    @model.program
    def predict(x, y, z, ids, item, bags, more, other, shares):
        results = compute(x, y, z, ids, item, bags, more, other, shares)
        return dict(zip(["first", *(f"step{n}" for n, _ in made.outputs),
                         *(f"cross{i}" for i in range(len(crossed)))], results))

    return Written(str(model), made,
                   {f"step{n}" for n, _ in made.outputs if n in builder.mixing},
                   builder.written_states)
