# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each format from each source in each mode and command. The same rows train the same weights, bit
for bit, where the mode promises it, and else each row is trained. Combinations that cannot work
are refused, with the reasons that are listed here. Nightly tests have all combinations."""

import contextlib
import gzip
import itertools
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import kafka_brokers
from bag_rows import (BAG_MODEL, COLUMNS, FORMATS, MESSAGES, STREAMED, bag_rows, messages_of,
                      write_rows)
from cluster import Cluster
from folders import SharedFolderTest
from job_modes import MODES
from object_store import ObjectStore
from programs import (BUILD, PDL_CHECKPOINT, PDL_SERVE, PDL_TRANSLATE, compile_model, fails,
                      is_nightly, known_modes, metric, run)
from waiting import LONG

import tensorfile

PDL_CHECK = BUILD / "bin" / "pdl-check-serving"
ROWS = bag_rows(96)
PARTS = ROWS[:48], ROWS[48:]
BATCH, STEPS = 8, 6
TRAINING = ["--epochs", 1, "--batch-size", BATCH, "--shuffle-window", 16]
SOURCES = "file", "gz", "command", "pipe", "kafka", "s3"


def refusal(form, source):
    """Returns the reason for which a format cannot be read from a source, or None."""
    if source == "kafka":
        if form in MESSAGES:
            return None
        return ("messages hold lines of text" if form == "tfrecord" else
                "are read from a file")
    if form in STREAMED or (source == "s3" and form in COLUMNS):
        return None
    return {"gz": "is compressed as a whole", "command": "not through --data-pipe",
            "pipe": "is a pipe or a device"}.get(source)


def format_flags(form):
    """Returns the flags for data of a format whose names do not tell it."""
    delimiter = {"csv": "comma", "tsv": "tab"}.get(form)
    return ["--delimiter", delimiter] if delimiter else ["--format", form]


class Sources(contextlib.ExitStack):
    """The rows in each format and source, in two files, partitions or objects each."""

    def __init__(self, root):
        super().__init__()
        self.root = root
        self.environment = dict(os.environ)
        self.kinds = [kind for kind in SOURCES if kind not in ("kafka", "s3")]
        if kafka_brokers.PROGRAM.exists():
            self.kinds.append("kafka")
            self.brokers = self.enter_context(kafka_brokers.Brokers())
        with contextlib.suppress(unittest.SkipTest):
            self.store = ObjectStore()
            self.callback(self.store.close)
            self.environment = self.store.environment
            self.kinds.append("s3")
        for form in FORMATS:
            self.write(form)

    def write(self, form):
        for i, part in enumerate(PARTS):
            path = self.path(form, i)
            write_rows(path, form, part)
            packed = self.root / f"part-{i}.{form}.gz"
            packed.write_bytes(gzip.compress(path.read_bytes()))
            os.mkfifo(self.root / f"pipe-{i}.{form}")
            if "s3" in self.kinds:
                self.store.put(f"rows/{path.name}", path)
        if "kafka" in self.kinds and form in MESSAGES:
            self.brokers.topic(form, len(PARTS))
            for i, part in enumerate(PARTS):
                for message in messages_of(form, part):
                    self.brokers.send(form, i, message)
            self.brokers.tell("flush")

    def path(self, form, part):
        return self.root / f"part-{part}.{form}"

    def names(self, kind, form, parts):
        suffix = ".gz" if kind in ("gz", "command") and form in STREAMED else ""
        begin = "pipe" if kind == "pipe" else "part"
        names = [f"{begin}-{i}.{form}{'.gz' if kind == 'gz' else suffix}" for i in parts]
        if kind == "s3":
            return [self.store.address(f"rows/{name}") for name in names]
        return [self.root / name for name in names]

    def flags(self, kind, form, parts):
        """Returns the flags that select the data."""
        if kind == "kafka":
            partitions = ",".join(map(str, parts))
            return ["--data", self.brokers.address(form, f"format={form}", "end=end",
                                                   f"partitions={partitions}")]
        flags = ["--data", *self.names(kind, form, parts)]
        if kind == "command":
            # The names of the files end in .gz: the command unpacks them.
            flags += ["--data-pipe", "gzip -dc", *format_flags(form)]
        return flags

    @contextlib.contextmanager
    def opened(self, kind, form, parts=(0, 1)):
        """Gives the flags that select the data of one run, and writes to pipes until it ends."""
        writers = [subprocess.Popen(["sh", "-c", 'exec cat "$0" > "$1"', self.path(form, i),
                                     self.root / f"pipe-{i}.{form}"], stderr=subprocess.DEVNULL)
                   for i in (parts if kind == "pipe" else ())]
        try:
            yield self.flags(kind, form, parts)
        finally:
            for writer in writers:
                writer.kill()
                writer.wait()


class FormatMatrix(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.source = cls.root / "bags.mlir"
        cls.source.write_text(BAG_MODEL)
        cls.out = cls.root / "local"
        cls.trainer = compile_model(cls.source, cls.out, "--numerics=strict")
        cls.sources = cls.enterClassContext(Sources(cls.root))
        cls.dump = cls.root / "expected.safetensors"
        cls.saved = cls.root / "saved"
        run(cls.trainer, "train", *cls.sources.flags("file", "csv", (0, 1)), *TRAINING,
            "--replicas", "2x1", "--dump", cls.dump, "--checkpoint", cls.saved)
        cls.expected = cls.dump.read_bytes()
        run(PDL_CHECKPOINT, "dump", cls.saved, "-o", cls.root / "whole.safetensors")
        cls.expected_dump = (cls.root / "whole.safetensors").read_bytes()
        cls.keys = sorted({key for _, bag in ROWS for key in bag})

    def execute(self, kind, form, command, *flags, trainer=None):
        """Runs a command of a trainer. Returns the completed process."""
        with self.sources.opened(kind, form) as data:
            return run(trainer or self.trainer, command, *data, *flags,
                       env=self.sources.environment, timeout=LONG)

    def trained(self, kind, form, *flags):
        """Returns the dump of a training with the replicas of two trainers."""
        dump = self.root / "trained.safetensors"
        self.execute(kind, form, "train", *TRAINING, "--replicas", "2x1", "--dump", dump, *flags)
        return dump.read_bytes()

    def readable(self, part=lambda i: True):
        """Returns each format and source that can be read. `part`: takes the number of a
        combination, and returns true if it is in the tests of a landing."""
        every = [(form, kind) for form, kind in itertools.product(FORMATS, self.sources.kinds)
                 if not refusal(form, kind)]
        return [each for i, each in enumerate(every) if is_nightly() or part(i)]

    def test_refusals(self):
        """Sources that a format cannot have are refused with the reason, in one line."""
        for form, kind in itertools.product(FORMATS, self.sources.kinds):
            reason = refusal(form, kind)
            if reason is None:
                continue
            with self.subTest(form=form, source=kind):
                with self.sources.opened(kind, form) as data:
                    said = fails(self.trainer, "train", *data, *TRAINING, status=None, timeout=LONG,
                                 env=self.sources.environment)
                self.assertIn(reason, said)
                self.assertEqual(len(said.strip().splitlines()), 1, said)

    def test_train(self):
        for form, kind in self.readable(lambda i: i % 2 == 0):
            with self.subTest(form=form, source=kind):
                self.assertEqual(self.trained(kind, form), self.expected)

    def test_resume(self):
        for form, kind in self.readable(lambda i: i % 5 == 1):
            with self.subTest(form=form, source=kind):
                flags = "--checkpoint", self.root / f"saved-{form}-{kind}"
                self.trained(kind, form, *flags, "--steps", STEPS // 2)
                self.assertEqual(self.trained(kind, form, *flags, "--resume"), self.expected)

    def test_evaluate_and_predict(self):
        flags = "--init-from", self.dump
        expected = None
        for form, kind in self.readable(lambda i: i % 3 == 0):
            with self.subTest(form=form, source=kind):
                result = (metric(self.execute(kind, form, "evaluate", *flags).stdout, "AUC"),
                          self.execute(kind, form, "predict", *flags).stdout)
                expected = expected or result
                self.assertEqual(result, expected)
        self.assertGreater(expected[0], 0.9)
        self.assertEqual(len(expected[1].splitlines()), len(ROWS) + 1)

    @unittest.skipUnless(PDL_SERVE.exists(), "pdl-serve was not built: its packages are missing")
    def test_check_serving(self):
        run(PDL_TRANSLATE, self.source, "--numerics=strict", "--emit=library", "-o", self.out)
        check = [PDL_CHECK, "--trainer", self.trainer, "--library", self.out / "libbags.so",
                 "--no-servers", "--checkpoint", self.saved, "--batch-sizes", "7"]
        for form, kind in self.readable(lambda i: i % 24 == 2):
            if kind == "pipe":
                continue  # Rows are read several times.
            with self.subTest(form=form, source=kind):
                said = run(*check, *self.sources.flags(kind, form, (0, 1)),
                           env=self.sources.environment, timeout=LONG).stdout
                self.assertTrue(said.endswith("what is served is what was trained, to the bit\n"),
                                said)

    def test_standard_input(self):
        """One replica reads it. Several that share it are refused."""
        dump = self.root / "input.safetensors"
        run(self.trainer, "train", *self.sources.flags("file", "csv", (0,)), *TRAINING, "--dump",
            dump)
        expected = dump.read_bytes()
        for form in FORMATS:
            command = [self.trainer, "train", "--data", "-", *format_flags(form), *TRAINING,
                       "--dump", dump]
            with self.subTest(form=form):
                with open(self.sources.path(form, 0), "rb") as file:
                    if form not in STREAMED:
                        self.assertIn("is a pipe or a device", fails(*command, stdin=file))
                        continue
                    run(*command, stdin=file)
                self.assertEqual(dump.read_bytes(), expected)
                with open(self.sources.path(form, 0), "rb") as file:
                    said = fails(*command, "--replicas", "2x1", stdin=file, status=None)
                self.assertIn("2 groups of replicas share it; write it to a file", said)

    def train_in(self, mode, programs, form, kind):
        """Trains in a mode, resumes, and compares the results."""
        how = MODES[mode]
        saved = self.root / f"saved-{mode}-{form}-{kind}"
        flags = [*TRAINING, *how.trainer_flags, "--checkpoint", saved]
        servers = [*how.server_flags, "--checkpoint", saved] if how.servers else []
        for more in ["--steps", STEPS // 2], ["--resume"]:
            with self.sources.opened(kind, form) as data, Cluster(
                    programs, 2, how.servers, [*data, *flags, *more],
                    servers + [flag for flag in more if flag == "--resume"], peers=how.peers,
                    environment=self.sources.environment) as cluster:
                cluster.start().finish()
        dump = self.root / "mode.safetensors"
        run(PDL_CHECKPOINT, "dump", saved, "-o", dump)
        if how.exact:
            self.assertEqual(dump.read_bytes(), self.expected_dump)
        # Each row has a key of its own.
        keys = tensorfile.read(dump)["emb.keys"].data
        self.assertEqual(sorted(keys), self.keys)

    def check_mode(self, mode):
        programs = self.root / mode
        compile_model(self.source, programs, f"--mode={mode}", "--numerics=strict")
        first = list(MODES).index(mode)
        for form, kind in self.readable(lambda i: i % 29 == 4 * first):
            with self.subTest(form=form, source=kind):
                self.train_in(mode, programs, form, kind)

    def test_all_modes_are_listed(self):
        self.assertEqual(sorted(known_modes()), sorted(["local", *MODES]))


def add_test(mode):
    name = f"test_mode_{mode.replace('-', '_')}"
    setattr(FormatMatrix, name, lambda self: self.check_mode(mode))


for one in MODES:
    add_test(one)

if __name__ == "__main__":
    unittest.main()
