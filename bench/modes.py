#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures every mode, and writes bench/modes.md: quality, throughput, traffic, staleness.

    python3 bench/modes.py [--quick | --full] [--data FOLDER] [--build FOLDER] [--only SET[,SET]]
                           [--modes MODE[,MODE]] [--trainers N[,N]] [--servers N]
                           [--seeds N] [--rows N]
                           [--folder FOLDER [--compiled]] [--output FILE]
                           [--network | --network-alone] [--host | --host-alone]

Data sets: criteo and avazu are the first rows of data that are not shipped; --data or PDL_TEST_DATA
names the folder. The set known has clicks from scripts/make_known_clicks.py, whose optimum is known
(10 million rows with --full). The set word2vec has synthetic pairs. Models: CTR-DNN, with smaller layers for
avazu and known, and models/word2vec. Each runs in each mode with 1, 2 and 4 trainers of one worker
and one thread, and at most two servers of one thread (--servers). The last rows are the test, after
each epoch; the last test counts.

All trainers together have one batch size. For each seed, local has as many replicas, the same
initial values and the same batches. "Difference from local" is the mean of the differences, with
its standard error in parentheses. The bound, 0.003, applies to that mean. The column samples/s is
the best run of all seeds. "Of local" is its ratio to the best run of local in the same minutes.
Local then has as many threads as trainers, but at most as many as cores. Bytes are those that trainers send and receive, with tests. The column "steps ahead" says for
responses of servers how many steps their trainer was ahead of the slowest one. The column "late"
counts gradients that arrived after their round (mode quorum).

A mode or flag that the build does not know is left out, and the page lists it. --quick takes some
minutes; its figures only show that everything works.

--network adds a section (--network-alone writes only this one): models/ctr_dnn, with each process
in a network namespace at the end of a link of --link-rate, with a delay of --link-delay between
processes. Each pair of these values has a section. Needs root; without it the page says so. --host
adds another section (--host-alone writes only this one): the same model and numbers of trainers on
this host, without links. It means little on a host with fewer cores than processes.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))
from jobs import JobFailed  # noqa: E402
from modes import data, job, report, settings  # noqa: E402

BOUND = 0.003
HOST = "One host: as many cores as it has"
SUMMARY = "Summary"


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_const", const="quick", dest="size",
                      help="few rows, one seed, 1 and 2 trainers")
    size.add_argument("--full", action="store_const", const="full", dest="size",
                      help="five seeds, ten million rows of known clicks (default: three, one "
                      "million)")
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("PDL_TEST_DATA"),
                        metavar="FOLDER", help="data that are not shipped")
    parser.add_argument("--build", type=pathlib.Path, default=BENCH.parent / "build",
                        metavar="FOLDER", help="build folder (default: build)")
    parser.add_argument("--only", metavar="SET[,SET]", help="these data sets; the page keeps "
                        "the sections of the others")
    parser.add_argument("--modes", metavar="MODE[,MODE]",
                        help="settings of these modes alone; or SETTING[;SETTING]")
    parser.add_argument("--trainers", metavar="N[,N]", help="default: 1,2,4; in networks and "
                        "on one host 8 too")
    parser.add_argument("--servers", type=int, default=2, metavar="N",
                        help="at most so many servers (default: 2)")
    parser.add_argument("--seeds", type=int, metavar="N")
    parser.add_argument("--rows", type=int, metavar="N", help="rows of known clicks")
    parser.add_argument("--folder", type=pathlib.Path, metavar="FOLDER",
                        help="keep data and programs here (default: a temporary folder)")
    parser.add_argument("--compiled", action="store_true", help="take the programs that are "
                        "there already, such as on a machine without the build")
    parser.add_argument("--output", type=pathlib.Path, default=BENCH / "modes.md",
                        metavar="FILE", help="the page (default: bench/modes.md)")
    parser.add_argument("--network", action="store_true", help="measure the network too")
    parser.add_argument("--network-alone", action="store_true", help="measure it alone")
    parser.add_argument("--host", action="store_true",
                        help="measure how jobs grow on this host, too")
    parser.add_argument("--host-alone", action="store_true", help="measure that alone")
    parser.add_argument("--link-rate", type=float, default=1e9, metavar="BITS",
                        help="bits a second of a link (default: 1e9)")
    parser.add_argument("--link-delay", type=float, default=0.5, metavar="MS",
                        help="milliseconds from one process to another (default: 0.5)")
    parser.add_argument("--router", type=pathlib.Path, metavar="FILE",
                        help="pdl-bench-router (default: that of the build)")
    given = parser.parse_args()
    given.size = given.size or "usual"
    given.only = given.only.split(",") if given.only else list(data.ALL)
    for name in given.only:
        if name not in data.ALL:
            parser.error(f"{name} is no data set; there are {', '.join(data.ALL)}")
    given.translate = given.build / "bin" / "pdl-translate"
    if given.servers < 1:
        parser.error("--servers must be at least 1")
    if given.compiled and not given.folder:
        parser.error("--compiled asks for --folder, where the programs are")
    if not given.compiled and not given.translate.exists():
        parser.error(f"{given.translate} is not there; build the project, or give --build")
    given.router = given.router or given.build / "bin" / "pdl-bench-router"
    given.settings = list(settings.SETTINGS)
    if given.modes:
        # Names of settings have commas in them.
        wanted = given.modes.split(";" if ";" in given.modes else ",") + [given.modes]
        given.settings = [one for one in settings.SETTINGS
                          if one.mode in wanted or one.name in wanted]
        if not given.settings:
            parser.error(f"--modes {given.modes} is none of "
                         f"{', '.join(sorted({one.mode for one in settings.SETTINGS}))}")
    default = (1, 2) if given.size == "quick" else (1, 2, 4)
    named = [int(word) for word in given.trainers.split(",")] if given.trainers else None
    given.trainers = named or default
    given.scaled = named or ((1, 2) if given.size == "quick" else (1, 2, 4, 8))
    return given


LOCAL = settings.Setting("local", "local")


class Programs:
    """A model that is compiled once for each mode and for each variant that settings need, or that
    is compiled already. `text(setting)` returns the model."""

    def __init__(self, given, folder, text):
        self.given, self.folder, self.text = given, folder, text
        self.made = {}
        if given.compiled and not folder.is_dir():
            raise SystemExit(f"--compiled: there are no programs in {folder}")
        if given.compiled:
            self.made = {path.name: path for path in folder.iterdir() if path.is_dir()}
        else:
            folder.mkdir(exist_ok=True)

    def source_of(self, setting):
        source = self.folder / f"{setting.program}.mlir"
        source.write_text(self.text(setting))
        return source

    def modes(self):
        """Returns the modes for which there are programs, or which the build knows."""
        if self.given.compiled:
            return [name.removesuffix("-sums") for name in self.made]
        return settings.known_modes(self.given.translate, self.source_of(LOCAL))

    def of(self, setting):
        name = setting.program
        if name not in self.made and self.given.compiled:
            raise JobFailed(f"--compiled: there are no programs in {self.folder / name}")
        if name not in self.made:
            done = subprocess.run([self.given.translate, self.source_of(setting),
                                   f"--mode={setting.mode}", "-o", self.folder / name],
                                  capture_output=True, text=True)
            if done.returncode:
                raise JobFailed(f"pdl-translate --mode={setting.mode}: {done.stderr[-1000:]}")
            self.made[name] = self.folder / name
        return self.made[name]


def known_settings(given, programs):
    """Returns the settings that the build knows, and messages about the others."""
    modes = programs.modes()
    known, left = [], []
    for setting in given.settings:
        if setting.mode not in modes:
            left.append(f"{setting.name}: this build has no mode {setting.mode}.")
            continue
        try:
            flag = settings.missing_flag(programs.of(setting), setting)
        except JobFailed as failed:
            left.append(f"{setting.name}: {failed}".replace("\n", " "))
            continue
        if flag:
            left.append(f"{setting.name}: this build has no {flag} in mode {setting.mode}.")
        else:
            known.append(setting)
    return known, left


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


class Quality:
    """Runs a data set with all settings, and makes its section."""

    def __init__(self, given, name, folder):
        more = {"rows": given.rows} if name == "known" and given.rows else {}
        say(f"{name}: data")
        self.data = data.ALL[name](folder, given.size, given.data, **more)
        self.given, self.name = given, name
        self.seeds = range(1, 1 + (given.seeds or self.data.seeds))
        self.lines, self.left, self.differences = [], [], {}
        self.heading = self.data.title

    def base(self, programs, trainers):
        flags = self.data.flags(trainers)
        threads = min(trainers, len(os.sched_getaffinity(0)))
        return [job.local_run(programs.of(LOCAL), flags, seed, trainers, threads,
                              self.data.limit)
                for seed in self.seeds]

    def measure(self, programs, write):
        known, self.left = known_settings(self.given, programs)
        for trainers in self.given.trainers:
            servers = min(self.given.servers, trainers)
            say(f"{self.name}: local, {trainers} replicas")
            base = self.base(programs, trainers)
            self.lines.append(report.quality_rows("local", trainers, 0, base, None, self.data))
            for setting in known:
                say(f"{self.name}: {setting.name}, {trainers} trainers")
                try:
                    self.one(programs, setting, trainers, servers, base)
                except JobFailed as failed:
                    say(str(failed))
                    self.left.append(f"{setting.name}, {trainers} trainers, failed: "
                                     f"{str(failed)[:500]}".replace("\n", " "))
                write()

    def one(self, programs, setting, trainers, servers, base):
        built = programs.of(setting)
        runs = [job.cluster_run(built, setting, self.data.flags(trainers), seed, trainers,
                                servers, self.data.limit)
                for seed in self.seeds]
        mean, _ = report.mean_and_error(report.differences(runs, base, self.data.score))
        self.differences[setting.name, trainers] = mean
        self.lines.append(report.quality_rows(
            setting.name, trainers, servers if setting.servers else 0, runs, base, self.data))

    def section(self):
        data = self.data
        text = (f"{data.rows:,} rows for training, {data.end - data.rows:,} for the test; "
                f"{data.epochs} epoch{'s' * (data.epochs > 1)}; batches of {data.batch} for all "
                "trainers together; "
                f"seed{'s' * (len(self.seeds) > 1)} {', '.join(map(str, self.seeds))}. ")
        text += (data.optimum() or "") + "\n\n" + report.quality_head(data) + "\n"
        text += "\n".join(self.lines) + "\n"
        return text + not_run([one for one in self.left if "this build has no" not in one])


def not_run(left):
    return "\nNot run:\n\n" + "".join(f"- {one}\n" for one in left) if left else ""


def summary_cell(setting, quality):
    """Returns the largest loss of a setting on a data set."""
    worst = min((value for (name, _), value in quality.differences.items()
                 if name == setting.name), default=None)
    if worst is None:
        return ""
    loss = f"{max(0.0, -worst):.4f}"
    if -worst > BOUND:
        loss += " **above**"
    few = setting.recommended_steps > quality.data.steps()
    return loss + (f" (from {setting.recommended_steps:,} steps on)" if few else "")


def summary(given, all_of, began, sets_left):
    """Returns which settings are within the bound, over all data sets."""
    counts = ", ".join(map(str, given.trainers))
    text = (f"Size: {given.size}. {began}\n\nThe table shows the largest loss of {data.DataSet.score} "
            f"compared with local with as many replicas, over jobs of {counts} trainers. A "
            f"loss of more than {BOUND}, the bound that PDL sets itself, is marked \"above\". Some "
            "settings are recommended only from a number of steps on; the table names it if a data "
            "set has fewer steps.\n\n")
    names = [setting.name for setting in settings.SETTINGS
             if any(setting.name == key[0] for one in all_of for key in one.differences)]
    text += "| mode | " + " | ".join(f"{one.name}, {one.data.steps():,} steps"
                                     for one in all_of) + " |\n"
    text += "|" + "---|" * (1 + len(all_of)) + "\n"
    for setting in settings.SETTINGS:
        if setting.name in names:
            cells = " | ".join(summary_cell(setting, one) for one in all_of)
            text += f"| {setting.name} | {cells} |\n"
    # Settings that all data sets leave out are reported once, here.
    common = [one for one in all_of[0].left if all(one in of.left for of in all_of)]
    return text + not_run(sets_left + common)


def measure_quality(given, folder, write):
    all_of, new, left = [], {}, []
    began = report.machine()
    for name in given.only:
        if name in data.NOT_SHIPPED and not given.data:
            left.append(f"{name}: its data are not shipped, and neither --data nor "
                        "PDL_TEST_DATA says where they are.")
            continue
        one = Quality(given, name, folder)
        all_of.append(one)
        programs = Programs(given, folder / name, one.data.text)

        def update(one=one):
            new[one.heading] = one.section()
            new[SUMMARY] = summary(given, all_of, began, left)
            write(new)
        one.measure(programs, update)
        update()


def measure_network(given, folder, write):
    from modes import scaling
    heading = f"Networks: links of {given.link_rate / 1e6:g} Mbit/s, {given.link_delay:g} ms"
    reason = scaling.network.unavailable(given.router)
    if reason:
        say(f"network: not run: {reason}")
        write({heading: f"Not run: {reason}\n"})
        return
    began = report.machine()
    links = scaling.Links(given.link_rate, given.link_delay / 1000.0, given.router)
    programs = Programs(given, folder / "ctr_dnn", scaling.text)
    known, left = known_settings(given, programs)
    steps = {"quick": 5, "usual": 20, "full": 40}[given.size]
    counts = given.scaled
    samples = scaling.write_data(folder, known, counts, steps)
    rows, checked = [], [links.measured()]

    def update():
        write({heading: network_section(began, links, checked, steps, rows, left)})

    for trainers in counts:
        servers = min(given.servers, trainers)
        for setting in known:
            say(f"network: {setting.name}, {trainers} trainers")
            try:
                row = scaling.measure(programs.of(setting), setting, samples, trainers,
                                      servers, steps, links)
                rows.append(report.network_row(setting.name, trainers,
                                               servers if setting.servers else 0, row))
            except JobFailed as failed:
                say(str(failed))
                left.append(f"{setting.name}, {trainers} trainers, failed: "
                            f"{str(failed)[:500]}".replace("\n", " "))
            update()
    checked.append(links.measured())
    update()


def measure_host(given, folder, write):
    from modes import scaling
    began = report.machine()
    programs = Programs(given, folder / "ctr_dnn", scaling.text)
    known, left = known_settings(given, programs)
    steps = {"quick": 10, "usual": 100, "full": 400}[given.size]
    counts = given.scaled
    samples = scaling.write_data(folder, known, counts, steps)
    rows, firsts = [], {}

    def update():
        write({HOST: host_section(began, steps, rows, left)})

    def row(name, trainers, servers, run):
        firsts.setdefault(name, run.rate)
        rows.append(report.host_row(name, trainers, servers, run, firsts[name]))
        update()

    for trainers in counts:
        say(f"host: local, {trainers} replicas")
        row("local", trainers, 0, scaling.measure_local(programs.of(LOCAL), samples, trainers,
                                                        steps))
        for setting in known:
            say(f"host: {setting.name}, {trainers} trainers")
            servers = min(given.servers, trainers) if setting.servers else 0
            try:
                row(setting.name, trainers, servers, scaling.measure_on_host(
                    programs.of(setting), setting, samples, trainers, servers, steps))
            except JobFailed as failed:
                say(str(failed))
                left.append(f"{setting.name}, {trainers} trainers, failed: "
                            f"{str(failed)[:500]}".replace("\n", " "))
                update()


def host_section(began, steps, rows, left):
    from modes import scaling
    return (f"{began}\n\nmodels/ctr_dnn over unix sockets: each trainer has one thread, batches "
            f"of {scaling.BATCH}, and {steps} steps (geo at least 80 and 200). Local has replicas "
            "in one process, with as many threads. \"Of one\" is the throughput relative to the "
            "first line of the mode. \"Busy cores\" counts trainers and servers.\n\n" + report.host_head() + "\n" +
            "\n".join(rows) + "\n" + not_run(left))


def network_section(began, links, checked, steps, rows, left):
    from modes import scaling
    text = (f"{began}\n\nmodels/ctr_dnn: each trainer has one thread, batches of {scaling.BATCH}, "
            f"and {steps} steps (geo 80 and 200). Each process has a link to a switch with "
            f"{links.rate / 1e6:g} Mbit/s in each direction. The delay between two processes is "
            f"{1e3 * links.delay:g} ms. Before all runs {checked[0]}.")
    text += f" After them {checked[1]}.\n\n" if len(checked) > 1 else "\n\n"
    text += ("MB/s are those of the busiest link of its kind, in its busier direction, including "
             "headers of TCP and IP. A router process shapes the links. All processes share the "
             "cores of this machine. \"Cores in use\" is the share that all processes use, and the "
             "number of cores that the router uses. The last column is calculated from CPU time and "
             "bytes per sample. It shows the "
             "bottleneck if each process had a core of its own and never waited.\n\n")
    return text + report.network_head() + "\n" + "\n".join(rows) + "\n" + not_run(left)


def main():
    given = parse()
    order = [SUMMARY, *(kind.title for kind in data.ALL.values()), HOST]
    is_alone = given.network_alone or given.host_alone

    def write(new):
        report.write(given.output, new, order)

    with tempfile.TemporaryDirectory(prefix="pdl") as temporary:
        folder = given.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not is_alone:
            measure_quality(given, folder, write)
        if given.network or given.network_alone:
            measure_network(given, folder, write)
        if given.host or given.host_alone:
            measure_host(given, folder, write)
    say(f"wrote {given.output}")


if __name__ == "__main__":
    main()
