# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check: requests predictions in all ways, compares them with those of the first trainer, and
reports differences."""

import contextlib
import pathlib

from check_serving.columns import difference, text_of
from check_serving.failure import Failure
from check_serving.inputs import Inputs
from check_serving.programs import Library, Trainer, compile_model
from check_serving.server import Server, started_server


class Reference:
    """Reference for all comparisons: predictions of the first trainer, and the content of its
    rows."""

    def __init__(self, options, trainer, folder):
        batch = options.batch_sizes[-1]
        self.who = f"trainer predict ({trainer.name}, batches of {batch})"
        self.trainer = trainer
        file = folder / "inputs.safetensors"
        # The file has a row for each row of the data, including bad ones.
        self.by_row = trainer.predict(options, batch, folder, file)
        self.inputs = Inputs(file)
        if not len(self.inputs):
            raise Failure("no row of the data is good, so that there is nothing to compare")
        self.columns = self.of_good_rows(self.by_row)

    def of_good_rows(self, columns):
        return {name: column.of_samples(self.inputs.rows) for name, column in columns.items()}

    def row_text(self, sample):
        return f"row {self.inputs.samples[sample]} of the data (from 0)"

    def compare(self, who, found, cause=None):
        """Raises a Failure that names the first sample for which `found` differs. `cause()`
        returns a possible reason."""
        if set(found) != set(self.columns):
            raise Failure(f"{who} has the outputs {', '.join(sorted(found))}, but {self.who} has "
                          f"{', '.join(sorted(self.columns))}")
        for name, expected in self.columns.items():
            column = found[name]
            if (column.width, column.data.typecode, len(column.data)) != (
                    expected.width, expected.data.typecode, len(expected.data)):
                raise Failure(f"output '{name}' of {who} has {column.width} numbers a sample of "
                              f"{8 * column.data.itemsize} bits, but that of {self.who} "
                              f"{expected.width} of {8 * expected.data.itemsize}")
        differing = {name: difference(self.columns[name], column)
                     for name, column in found.items()}
        first = min((at.sample, name) for name, at in differing.items() if at) if any(
            differing.values()) else None
        if not first:
            return
        sample, name = first
        at = differing[name]
        raise Failure(f"{who} disagrees with {self.who}: {self.row_text(sample)}, output '{name}', "
                      f"column {at.place}: " + self.values_text(found[name], name, at) +
                      f"; {at.count} of {len(self.inputs)} rows differ" +
                      (cause() if cause else ""))

    def values_text(self, column, name, at):
        code, place = column.data.typecode, at.sample * column.width + at.place
        return (f"{text_of(column.data[place], code)} instead of "
                f"{text_of(self.columns[name].data[place], code)}")


def good_in(rows, columns, reference):
    """Selects the samples of the reference from the values that metrics observed in rows. Returns
    the selected values and the samples."""
    places = {row: place for place, row in enumerate(rows)}
    samples = [i for i, row in enumerate(reference.inputs.rows) if row in places]
    chosen = [places[reference.inputs.rows[i]] for i in samples]
    return {name: column.of_samples(chosen) for name, column in columns.items()}, samples


def check_observed(options, reference, who, rows, columns):
    """Checks that each metric with labels observes an output. Returns the names of outputs by
    metric."""
    columns, samples = good_in(rows, columns, reference)
    outputs = {name: column.of_samples(samples) for name, column in reference.columns.items()}
    candidates = [(name, place, column.part(place)) for name, column in outputs.items()
                  for place in range(column.width)]
    candidates += [(name, 0, column) for name, column in outputs.items() if column.width > 1]
    observed = {}
    for name, column in columns.items():
        if not name.endswith(".prediction"):
            continue
        metric = name.removesuffix(".prediction")
        # In a second observation, a metric observes other candidates than the predicted ones.
        head, _, time = metric.rpartition(".")
        metric = head if time.isdecimal() and f"{head}.prediction" in columns else metric
        if metric in options.not_predicted:
            continue
        for output, place, other in candidates:
            if other.width != column.width or other.data.typecode != column.data.typecode:
                continue
            at = difference(other, column)
            best = observed.get(metric)
            if not best or (at.count if at else 0) < (best[0].count if best[0] else 0):
                observed[metric] = at, output, place, column, other
    for metric, (at, output, place, column, other) in observed.items():
        if not at:
            continue
        code, where = column.data.typecode, at.sample * column.width + at.place
        raise Failure(
            f"{who} disagrees with {reference.who}: {reference.row_text(samples[at.sample])}, "
            f"what metric @{metric} observes of output '{output}', column {place + at.place}: "
            f"{text_of(column.data[where], code)} instead of {text_of(other.data[where], code)}; "
            f"{at.count} of {len(samples)} rows differ (if the metric observes nothing that "
            f"@{options.program} returns, say --not-predicted {metric})")
    return sorted(observed)


class Evaluation:
    """Values that the metrics of one trainer observed in batches of one size, and the results."""

    def __init__(self, options, trainer, batch, folder):
        self.who = f"trainer evaluate ({trainer.name}, batches of {batch})"
        self.rows, self.columns, self.lines = trainer.evaluate(options, batch, folder)

    def compare(self, other, except_for=()):
        """Raises a Failure if it differs from another evaluation in a column that is not in
        `except_for`."""
        if (list(self.rows), set(self.columns)) != (list(other.rows), set(other.columns)):
            raise Failure(f"{self.who} observes other rows or metrics than {other.who}")
        for name, column in self.columns.items():
            at = difference(other.columns[name], column)
            if not at or name in except_for:
                continue
            code, where = column.data.typecode, at.sample * column.width + at.place
            raise Failure(
                f"{self.who} disagrees with {other.who}: row {self.rows[at.sample]} of those that "
                f"were read (from 0), '{name}', column {at.place}: "
                f"{text_of(column.data[where], code)} instead of "
                f"{text_of(other.columns[name].data[where], code)}")
        pairs = zip(self.lines.splitlines(), other.lines.splitlines())
        changed = next((pair for pair in pairs if pair[0] != pair[1]), None)
        if changed and not except_for:
            raise Failure(f"{self.who} prints '{changed[0]}', but {other.who} '{changed[1]}'")


def check_evaluation(options, reference, trainers, folder):
    """Checks that metrics observe the predicted values, which must be equal for all trainers and,
    unless the metric mixes samples, for all batch sizes."""
    first = None
    for batch in options.batch_sizes:
        of_batch = None
        for trainer in trainers:
            found = Evaluation(options, trainer, batch, folder)
            metrics = check_observed(options, reference, found.who, found.rows, found.columns)
            if of_batch:
                found.compare(of_batch)
            of_batch = of_batch or found
        if first:
            # For example, a loss of a whole batch. Differences of predictions would have been
            # reported above.
            mixing = [name for name, column in of_batch.columns.items()
                      if difference(first.columns[name], column)]
            of_batch.compare(first, mixing)
        first = first or of_batch
    told = ", ".join("@" + metric for metric in metrics) or "no metric"
    report(options, "trainer evaluate", trainers, f"; {told} of it")


def report(options, who, names, more=""):
    told = ", ".join(each.name for each in names)
    sizes = ", ".join(map(str, options.batch_sizes))
    print(f"{who:17} equal: {told}; batches of {sizes}{more}", flush=True)


def cause_of(options, reference, library, served):
    """Returns a function that finds out why a library may differ."""
    def cause():
        told = ""
        if reference.inputs.has_texts():
            answers = library.answer(options.program, reference.inputs, options.batch_sizes[-1],
                                     with_keys=True)
            if not any(difference(column, answers[name])
                       for name, column in reference.columns.items()):
                told = ("; with the trainer's keys in the place of texts they agree, so the "
                        "library makes other keys of texts: the model's hash differs")
        if served != options.checkpoint:
            told += (f"; the library reads {served} (step {library.steps()}), the trainer "
                     f"{options.checkpoint}")
        return told
    return cause


def check(options, folder):
    """Raises a Failure if two ways differ. Prints the equal ones."""
    trainers, libraries = compile_model(options, folder) if options.model else ([], [])
    trainers += [Trainer(path, path) for path in options.trainer]
    libraries += [Library(path, path) for path in options.library]
    served = options.served or options.checkpoint
    for path in {options.checkpoint, served}:
        if not pathlib.Path(path).exists():
            raise Failure(f"there are no values at {path}")
    reference = Reference(options, trainers[0], folder)
    count, outputs = len(reference.inputs), ", ".join(sorted(reference.columns))
    print(f"model {trainers[0].model}, @{options.program}: {outputs}; {count} rows", flush=True)
    for trainer in trainers:
        for batch in options.batch_sizes:
            reference.compare(
                f"trainer predict ({trainer.name}, batches of {batch})",
                reference.of_good_rows(trainer.predict(options, batch, folder)))
    report(options, "trainer predict", trainers)
    if not options.no_evaluate:
        check_evaluation(options, reference, trainers, folder)
    with contextlib.ExitStack() as stack:
        for library in libraries:
            stack.callback(library.close)
            library.open(served, options.accept_old_layout)
            for batch in options.batch_sizes:
                reference.compare(f"library ({library.name}, batches of {batch})",
                                  library.answer(options.program, reference.inputs, batch),
                                  cause_of(options, reference, library, served))
        if libraries:
            report(options, "library", libraries)
    check_servers(options, reference, libraries, served, folder)
    print("what is served is what was trained, to the bit", flush=True)


def check_servers(options, reference, libraries, served, folder):
    # Each server runs only while it is checked.
    servers = [started_server(options, library, served, folder)
               for library in libraries if not options.no_servers]
    if options.server:
        model = options.server_model or reference.trainer.model
        servers.append(contextlib.closing(Server(options.server, options.server, model)))
    asked = []
    for each in servers:
        with each as server:
            for batch in options.batch_sizes:
                reference.compare(f"server ({server.name}, batches of {batch})",
                                  server.answer(options.program, reference.inputs, batch))
            asked.append(server)
    if asked:
        report(options, "server (HTTP)", asked)
    else:
        print("server (HTTP)     not asked", flush=True)
