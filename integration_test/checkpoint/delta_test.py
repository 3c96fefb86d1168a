# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints with only the changes (deltas). Together with their predecessors, they equal byte
for byte the checkpoints that are written without deltas: in one process and with servers, after
kill -9, and with damage to any file."""

import filecmp
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from programs import ADULT, PDL_CHECKPOINT, checkpoints_in, compile_model, model, run

import tensorfile

DATA = ["--data", ADULT, "--rows", "0:6000", "--batch-size", 16, "--seed", 5]
STEPS = 90


def is_delta(checkpoint):
    return '"after"' in (checkpoint / "manifest.json").read_text()


class Deltas(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.programs = {}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def program(self, mode):
        if mode not in self.programs:
            path = self.root / mode
            compile_model(model("wide_deep"), path, "--numerics=strict",
                          f"--mode={mode}")
            self.programs[mode] = path
        return self.programs[mode]

    def flags(self, saved, *more):
        flags = [*DATA, "--checkpoint", saved]
        for flag, value in (("--checkpoint-steps", 10), ("--checkpoint-keep", 0)):
            if flag not in more:
                flags += [flag, value]
        return [*flags, *more]

    def train(self, saved, *more, steps=STEPS):
        return run(self.program("local") / "trainer", "train",
                   *self.flags(saved, "--steps", steps, *more))

    def check_same(self, whole, deltas):
        """Checks that each checkpoint, when merged, equals that of a run without deltas."""
        names = [c.name for c in checkpoints_in(whole)]
        self.assertEqual(names, [c.name for c in checkpoints_in(deltas)])
        for name in names:
            merged = self.root / f"{deltas.name}-{name}-merged"
            run(PDL_CHECKPOINT, "merge", deltas / name, merged)
            files = sorted(os.listdir(whole / name))
            self.assertEqual(files, sorted(os.listdir(merged)))
            _, differ, failed = filecmp.cmpfiles(whole / name, merged, files,
                                                 shallow=False)
            self.assertEqual(([], []), (differ, failed), name)
            run(PDL_CHECKPOINT, "diff", whole / name, deltas / name)
            shutil.rmtree(merged)

    def whole(self):
        saved = self.root / "whole"
        if not saved.exists():
            self.train(saved)
        return saved

    def test_one_process(self):
        saved = self.root / "one"
        self.train(saved, "--checkpoint-deltas", 3, "--replicas", "1x1")
        found = checkpoints_in(saved)
        # Of the checkpoints after 10, 20, ... 90 steps, every fourth one is complete.
        self.assertEqual([is_delta(c) for c in found],
                         [i % 4 != 0 for i in range(9)])
        sizes = [sum(f.stat().st_size for f in c.glob("table-*"))
                 for c in found]
        self.assertLess(sizes[-2], 0.7 * sizes[-1])
        self.check_same(self.whole(), saved)
        # Everything that reads a checkpoint can read a delta.
        told = {}
        for one in (self.whole(), saved):
            for command in ("evaluate", "predict"):
                told.setdefault(command, []).append(re.sub(
                    r"\d+\.?\d* s\b|.*samples/s.*", "", run(
                        self.program("local") / "trainer", command, "--data",
                        ADULT, "--rows", "7000:7300", "--checkpoint",
                        one / "step-000000000080").stdout))
        for command, texts in told.items():
            self.assertEqual(*texts, command)
        text = run(PDL_CHECKPOINT, "inspect", found[-2]).stdout
        self.assertIn(f"{saved}/step-000000000050", text)
        self.assertRegex(text, r"table @\w+.*changed keys")
        self.assertIn("of the checkpoints that it needs", text)
        changes = subprocess.run([PDL_CHECKPOINT, "diff", found[-3],
                                  found[-2]], capture_output=True, text=True)
        self.assertEqual(changes.returncode, 1)
        self.assertRegex(changes.stdout, r"table @\w+: \d+ rows differ, 0 of ")

    def test_tables_on_a_device(self):
        """On a device, the same rows are recorded as changed."""
        path = self.root / "device"
        compile_model(model("wide_deep"), path, "--numerics=strict",
                      "--target=cuda")
        saved = {}
        for name, program, flags in (
                ("on-host", self.program("local"), []),
                ("on-device", path, ["--device", "fake", "--table-placement",
                                     "device"])):
            saved[name] = self.root / name
            for more in (["--steps", 40], ["--steps", 70, "--resume"]):
                run(program / "trainer", "train", *self.flags(
                    saved[name], "--checkpoint-deltas", 3, *more, *flags))
        self.assertEqual(len(checkpoints_in(saved["on-device"])), 7)
        for one, other in zip(*map(checkpoints_in, saved.values())):
            self.assertEqual(is_delta(one), is_delta(other))
            run(PDL_CHECKPOINT, "diff", one, other)
            for file in one.glob("table-*"):
                self.assertEqual(file.read_bytes(),
                                 (other / file.name).read_bytes())

    def test_resumes_after_kills(self):
        draw = random.Random(time.time_ns())
        often = ["--checkpoint-steps", 1]
        whole, saved = self.root / "often", self.root / "kill"
        self.train(whole, *often)
        kills = 0
        for _ in range(30):
            process = subprocess.Popen(
                [str(a) for a in (
                    self.program("local") / "trainer", "train",
                    *self.flags(saved, "--steps", STEPS, "--checkpoint-deltas",
                                4, "--resume", *often))],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            # The time of the kill differs between runs: while the trainer reads, steps, writes a
            # part, or renames.
            while process.poll() is None and not checkpoints_in(saved):
                time.sleep(0.001)
            time.sleep(draw.uniform(0, 0.15))
            process.kill()
            _, errors = process.communicate()
            self.assertIn(process.returncode, (0, -signal.SIGKILL), errors)
            kills += process.returncode != 0
            run(PDL_CHECKPOINT, "inspect", saved)
            if process.returncode == 0 and kills == 0:
                # The training has ended before the kill, so it has to begin anew.
                shutil.rmtree(saved)
                continue
            if process.returncode == 0 or kills == 8:
                break
        self.assertGreater(kills, 0)
        self.train(saved, "--checkpoint-deltas", 4, "--resume", *often)
        self.assertTrue(any(map(is_delta, checkpoints_in(saved))))
        self.check_same(whole, saved)

    def test_keeps_what_is_needed(self):
        saved = self.root / "kept"
        self.train(saved, "--checkpoint-deltas", 5, "--checkpoint-keep", 2)
        # Checkpoints 10 and 70 are complete; 80 and 90 are to be kept.
        self.assertEqual([c.name[-2:] for c in checkpoints_in(saved)],
                         ["70", "80", "90"])
        self.train(saved, "--checkpoint-deltas", 5, "--resume", steps=100)
        [*_, newest] = checkpoints_in(saved)
        refused = subprocess.run([PDL_CHECKPOINT, "prune", newest], capture_output=True, text=True)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("is one checkpoint; name the folder", refused.stderr)
        done = run(PDL_CHECKPOINT, "prune", saved, "--keep", 1)
        self.assertIn("kept 1 checkpoints, and 3 that these need", done.stdout)
        # Training can continue from a merged checkpoint in a folder of its own, which is created.
        merged = self.root / "kept-merged" / newest.name
        run(PDL_CHECKPOINT, "merge", saved, f"{merged}//")
        run(PDL_CHECKPOINT, "diff", saved, merged)
        self.assertEqual([c.name for c in merged.parent.iterdir()], [newest.name])
        refused = subprocess.run(
            [self.program("local") / "trainer", "train",
             *map(str, self.flags(merged, "--steps", 110, "--resume"))],
            capture_output=True, text=True)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"{merged}: is one checkpoint, not a folder of them", refused.stderr)
        said = self.train(merged.parent, "--resume", steps=110).stdout
        self.assertIn("resumed after 100 steps", said)
        shutil.rmtree(merged.parent)

    def test_damage_is_named(self):
        saved = self.root / "damaged"
        self.train(saved, "--checkpoint-deltas", 9, steps=30)
        last = checkpoints_in(saved)[-1]
        for checkpoint in checkpoints_in(saved):
            for file in sorted(checkpoint.iterdir()):
                # Except for tables, a delta contains everything itself.
                if checkpoint != last and not (
                        file.name.startswith("table-") or
                        file.name == "manifest.json"):
                    continue
                before = file.read_bytes()
                for damage in (before[:-1], before[:-9] + b"x" + before[-8:],
                               None):
                    with self.subTest(file=file, cut=damage and len(damage)):
                        if damage is None:
                            file.unlink()
                        else:
                            file.write_bytes(damage)
                        done = subprocess.run(
                            [PDL_CHECKPOINT, "inspect", last],
                            capture_output=True, text=True)
                        self.assertEqual(done.returncode, 1)
                        self.assertEqual(done.stderr.strip().count("\n"), 0)
                        self.assertIn(file.name, done.stderr)
                        self.assertIn(checkpoint.name, done.stderr)
                        self.assertRegex(done.stderr, "use another")
                        file.write_bytes(before)
        run(PDL_CHECKPOINT, "inspect", last)
        # A delta without its predecessors.
        alone = self.root / "alone"
        shutil.copytree(last, alone / last.name)
        for command in ([PDL_CHECKPOINT, "inspect", alone / last.name],
                        [self.program("local") / "trainer", "train",
                         *self.flags(alone, "--resume")]):
            done = subprocess.run([str(a) for a in command],
                                  capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("is not next to it; bring it back", done.stderr)
        done = subprocess.run([PDL_CHECKPOINT, "merge", last, alone],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("something of that name already", done.stderr)

    def train_job(self, mode, servers, saved, *more, steps=60,
                  server_flags=()):
        peers = mode in ("collective", "hybrid")
        server_flags = ["--checkpoint", saved, "--seed", 5, *server_flags]
        if "--resume" in more:
            server_flags.append("--resume")
        cluster = Cluster(self.program(mode), 2, servers,
                          self.flags(saved, "--steps", steps, *more),
                          server_flags, peers=peers)
        try:
            cluster.start().finish()
        finally:
            for process in cluster.processes():
                if process.popen.poll() is None:
                    process.popen.kill()
                    process.popen.wait()
            cluster.folder.cleanup()

    def check_mode(self, mode, servers, *more):
        whole = self.root / f"{mode}-whole"
        deltas = self.root / f"{mode}-deltas"
        # One job is stopped. The keys that the other one has requested for a later step are not
        # saved.
        self.train_job(mode, servers, whole, *more, steps=40)
        self.train_job(mode, servers, whole, *more, "--resume")
        self.train_job(mode, servers, deltas, "--checkpoint-deltas", 3, *more)
        self.assertEqual([is_delta(c) for c in checkpoints_in(deltas)],
                         [i % 4 != 0 for i in range(6)])
        self.check_same(whole, deltas)

    def test_mode_sync(self):
        self.check_mode("sync", 2)

    def test_saves_have_no_rows_of_later_steps(self):
        """Checks saves during and at the end of training, in one process and on servers, with
        updates that change all rows, and with keys that read zeros if they have no row."""
        source = self.root / "life.mlir"
        text = model("wide_deep").read_text()
        for old, new in (("rate(5.0e-2)", "rate(5.0e-2) decay(#nn.l2<0.0078125>) untouched(dense)"),
                         ("init(#nn.uniform<-0.05, 0.05>)",
                          "init(#nn.uniform<-0.05, 0.05>) unknown(zero)")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        source.write_text(text)
        lazy = self.root / "lazy.mlir"
        lazy.write_text(text.replace("untouched(dense)", "untouched(lazy)"))
        for name, path in (("dense", source), ("lazy", lazy)):
            folders = {}
            for mode in ("local", "sync"):
                self.programs[f"{name}-{mode}"] = folder = self.root / f"{name}-{mode}"
                compile_model(path, folder, "--numerics=strict", f"--mode={mode}")
            with self.subTest(name):
                for run_name, steps in (("goes-on", 60), ("ends", 30)):
                    folders[run_name] = self.root / f"{name}-{run_name}"
                    run(self.program(f"{name}-local") / "trainer", "train", *self.flags(
                        folders[run_name], "--steps", steps, "--replicas", "2x1",
                        "--checkpoint-deltas", 1))
                folders["servers"] = self.root / f"{name}-servers"
                self.train_job(f"{name}-sync", 2, folders["servers"], "--checkpoint-deltas", 3)
                one, ends, servers = map(checkpoints_in, folders.values())
                self.assertEqual(len(one), 6)
                for other in (ends, servers):
                    for a, b in zip(one, other):
                        run(PDL_CHECKPOINT, "diff", a, b)
                # Steps between the checkpoints have new keys.
                rows = []
                for each in one[:2]:
                    dump = self.root / f"{name}-{each.name}.dump"
                    run(PDL_CHECKPOINT, "dump", each, "-o", dump)
                    rows.append(len(tensorfile.read(dump)["embedding.keys"].data))
                self.assertLess(*rows)

    def test_by_the_clock(self):
        """Trainers agree on the step of a checkpoint, whether they step together or not."""
        for mode, servers in (("sync", 2), ("async", 2), ("geo", 1), ("hybrid", 1)):
            with self.subTest(mode):
                saved = self.root / f"{mode}-clock"
                self.train_job(mode, servers, saved, "--checkpoint-minutes", 0.002,
                               "--checkpoint-steps", 10 ** 6, "--checkpoint-deltas", 2, steps=800)
                found = checkpoints_in(saved)
                self.assertGreater(len(found), 2)
                for one in found[-3:]:
                    run(PDL_CHECKPOINT, "inspect", one)

    def test_a_server_whose_disk_is_full_for_a_while(self):
        for mode in ("sync", "async"):
            with self.subTest(mode):
                saved = self.root / f"{mode}-full"
                cluster = Cluster(
                    self.program(mode), 2, 2,
                    self.flags(saved, "--steps", 400, "--max-failed-saves", 1000),
                    ["--checkpoint", saved, "--seed", 5])
                for rank in range(2):
                    cluster.start_server(rank)
                server = cluster.servers[1].popen.pid
                none = resource.RLIM_INFINITY
                resource.prlimit(server, resource.RLIMIT_FSIZE, (4096, none))
                for rank in range(2):
                    cluster.start_trainer(rank)
                while ("was not saved" not in cluster.trainers[0].output and
                       cluster.trainers[0].popen.poll() is None):
                    time.sleep(0.001)
                resource.prlimit(server, resource.RLIMIT_FSIZE, (none, none))
                outputs = cluster.finish()
                self.assertIn("was not saved", outputs[0])
                cluster.folder.cleanup()
                self.assertEqual(checkpoints_in(saved)[-1].name, "step-000000000400")
                run(PDL_CHECKPOINT, "inspect", saved)

    def test_mode_sync_that_waits(self):
        """Servers save before they send the response."""
        mode = "sync"
        whole, deltas = self.root / "wait-whole", self.root / "wait-deltas"
        for saved, flags in ((whole, []), (deltas, ["--checkpoint-deltas", 3])):
            cluster = Cluster(self.program(mode), 2, 2,
                              self.flags(saved, "--steps", 60, "--on-failure",
                                         "wait", *flags),
                              ["--checkpoint", saved, "--seed", 5,
                               "--on-failure", "wait"])
            cluster.start()
            if flags:
                # A restarted trainer does not know the requests of its previous incarnation.
                while len(checkpoints_in(saved)) < 2:
                    time.sleep(0.01)
                cluster.kill_and_restart_trainer(0, "trained ")
            cluster.finish()
            cluster.folder.cleanup()
        self.assertTrue(any(map(is_delta, checkpoints_in(deltas))))
        for one, other in zip(checkpoints_in(whole), checkpoints_in(deltas)):
            run(PDL_CHECKPOINT, "diff", one, other)

    def test_mode_collective(self):
        self.check_mode("collective", 0)

    def test_mode_hybrid(self):
        self.check_mode("hybrid", 2)

    def test_modes_that_differ_from_run_to_run(self):
        """A replay of the requests that servers have applied gives the state of the delta."""
        for mode, flags in (("async", []), ("half-async", []),
                            ("quorum", ["--quorum", 1])):
            with self.subTest(mode=mode):
                saved = self.root / f"{mode}-saved"
                logs = [self.root / f"{mode}-logs-{i}" for i in range(2)]
                for folder in logs:
                    folder.mkdir()
                self.train_job(mode, 2, saved, "--checkpoint-deltas", 9,
                               server_flags=["--log-applied", logs[0], *flags])
                middle = self.root / f"{mode}-middle"
                shutil.copytree(saved, middle)
                self.train_job(mode, 2, saved, "--checkpoint-deltas", 9,
                               "--resume", steps=80,
                               server_flags=["--log-applied", logs[1], *flags])
                found = checkpoints_in(saved)
                self.assertGreater(len(found), 5)
                self.assertEqual([is_delta(c) for c in found],
                                 [i > 0 for i in range(len(found))])
                for folder, told, begun in (
                        (middle, logs[0], []),
                        (saved, logs[1], ["--checkpoint", middle])):
                    again = told / "again"
                    run(self.program(mode) / "pserver", "replay",
                        *(told / f"applied-{rank}.log" for rank in range(2)),
                        "-o", again, *begun)
                    run(PDL_CHECKPOINT, "diff", folder, again)

    def test_mode_geo(self):
        """Trainer 0 saves its copy. The values, but not the slots, equal those that each trainer
        dumps at the end."""
        saved, dump = self.root / "geo-saved", self.root / "geo-dump"
        self.train_job("geo", 2, saved, "--checkpoint-deltas", 9)
        self.train_job("geo", 2, saved, "--checkpoint-deltas", 9, "--resume",
                       steps=80)
        self.train_job("geo", 2, saved, "--checkpoint-deltas", 9, "--resume",
                       "--dump", dump, steps=100)
        self.assertTrue(is_delta(checkpoints_in(saved)[-1]))
        whole = self.root / "geo-whole"
        run(PDL_CHECKPOINT, "dump", saved, "-o", whole)
        found, expected = tensorfile.read(whole), tensorfile.read(dump)
        self.assertGreater(len(expected), 5)
        for name, tensor in expected.items():
            self.assertEqual(found[name].data, tensor.data, name)

    def test_workers_that_do_not_wait(self):
        saved, dump = self.root / "hogwild", self.root / "hogwild-dump"
        more = ["--replicas", "1x2", "--hogwild", "--checkpoint-deltas", 9,
                "--dump", dump, "--dump-slots"]
        self.train(saved, *more, steps=50)
        run(PDL_CHECKPOINT, "diff", saved, dump)
        self.train(saved, *more, "--resume")
        self.assertTrue(is_delta(checkpoints_in(saved)[-1]))
        run(PDL_CHECKPOINT, "diff", saved, dump)


if __name__ == "__main__":
    unittest.main()
