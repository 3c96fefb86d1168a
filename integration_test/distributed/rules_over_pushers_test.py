# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clauses of groups for modes in which each push is a step: a learning rate that is divided by the
number of senders (`rate_over(pushers)`), and compensation of late gradients
(`compensate(@delay_compensation)`). A counter shows the number of senders exactly. The compensated
gradients are computed again from the servers' logs in plain Python. A replay of the logs gives the
servers' state. Real processes."""

import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from applied_log import (ALL_VALUES, ANSWERED, CONTRIBUTES, HAS_NEXT_BATCH, OWN_KEYS, REQUEST,
                         flags_of, push_of, records, sender_of)
from by_hand import by_hand
from cluster import Cluster
from folders import FolderTest
from programs import ADULT, PDL_CHECKPOINT, PDL_TRANSLATE, run
from waiting import wait_until

import tensorfile

# The counter adds the number of samples of each push, multiplied by 1 / senders.
MODEL = """module @counted {
  nn.record @person {
    nn.field @numbers : tensor<?x5xf32> columns([0, 2, 10, 11, 12])
    nn.field @job : !nn.ragged<?x1x*xi64> hash(#nn.hash<xxh64, salt = 1>) columns([6])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
  }
  nn.group @counters rule(@running_sum) rate(1.0) rate_over(pushers)
  nn.group @whole rule(@running_sum) rate(1.0)
  nn.group @dense rule(DENSE) rate(0.02) rate_over(pushers)
  nn.group @sparse rule(SPARSE) rate(0.02) untouched(lazy)
  nn.param @divided : tensor<1xf32> in @counters init(#nn.zeros)
  nn.param @counted : tensor<1xf32> in @whole init(#nn.zeros)
  nn.param @w : tensor<9x1xf32> in @dense init(#nn.xavier)
  nn.table @emb : i64 -> tensor<4xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @scale : tensor<5xf32> init(#nn.constant<0.001>)
  nn.program @train reads(@person) {
  ^bb0(%numbers: tensor<?x5xf32>, %job: !nn.ragged<?x1x*xi64>, %label: tensor<?x1xf32>):
    %s = nn.read @scale : tensor<5xf32>
    %n = nn.mul %numbers, %s : tensor<?x5xf32>, tensor<5xf32>
    %t = nn.signed_log1p %n : tensor<?x5xf32>
    %rows = nn.lookup @emb[%job] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x4xf32>
    %e = nn.reshape %rows : (tensor<?x1x4xf32>) -> tensor<?x4xf32>
    %x = nn.concat %t, %e axis 1 : tensor<?x5xf32>, tensor<?x4xf32>
    %z = nn.linear %x, @w : (tensor<?x9xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %ones = nn.broadcast %one like %label : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.accumulate @divided(%ones) : tensor<?x1xf32>
    nn.accumulate @counted(%ones) : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }
}
"""
ROWS, BATCH = 6400, 64
RATE, STRENGTH = 0.05, 8.0
LATE = f" compensate(@delay_compensation {{strength = {STRENGTH}}})"


def computed_again(log, workers, strength):
    """Returns @w of the model of by_hand.py after the steps in a log."""
    w = [0.0] * 5
    # For each sender: the values in the response to each step whose gradient has not arrived.
    seen, asks = {}, {}
    for kind, body in records(log):
        if kind == REQUEST:
            flags = flags_of(body)
            trainer, worker = sender = sender_of(body)
            asks[sender] = bool(flags & HAS_NEXT_BATCH)
            if not flags & CONTRIBUTES:
                if flags & ALL_VALUES:
                    # The sender starts an epoch, or was restarted.
                    seen.pop(sender, None)
                continue
            steps, weight, gradient = push_of(body)
            if flags & OWN_KEYS:
                sender = trainer, worker - workers - 2
            else:
                steps = 1
            before = seen[sender][steps - 1]
            del seen[sender][:steps]
            for i, total in enumerate(gradient):
                g = total / weight
                g += strength * g * g * (w[i] - before[i])
                w[i] -= RATE * g
        elif kind == ANSWERED:
            for at in range(0, len(body), 40):
                sender = sender_of(body[at:at + 40])
                if asks[sender]:
                    seen.setdefault(sender, []).append(list(w))
    return w


def compensated(text):
    """Returns the model in which groups with gradients compensate delays."""
    return (text.replace("rate(0.02) rate_over(pushers)",
                         f"rate(0.02) rate_over(pushers){LATE}")
            .replace("untouched(lazy)", f"untouched(lazy){LATE}"))


class RulesOverPushers(FolderTest):

    def translate(self, mode, dense="@sgd", sparse="@sgd", edit=lambda text: text):
        source = self.root / "model.mlir"
        source.write_text(edit(MODEL.replace("DENSE", dense)
                               .replace("SPARSE", sparse)))
        run(PDL_TRANSLATE, source, "-o", self.root / mode, "--numerics=strict",
            f"--mode={mode}")

    def flags(self, name, replicas):
        return ["--data", ADULT, "--rows", f"0:{ROWS}", "--batch-size", BATCH,
                "--seed", 7, "--shuffle-window", 1000, "--replicas", replicas,
                "--checkpoint", self.root / name]

    def job(self, name, mode, trainers, workers, *flags, server_flags=(),
            servers=2):
        """Runs a job. Returns the logs of its servers."""
        logs = self.root / f"{name}.logs{trainers}x{workers}"
        logs.mkdir()
        logged = () if mode == "sync" else ("--log-applied", logs)
        with Cluster(self.root / mode, trainers, servers,
                     [*self.flags(name, f"1x{workers}"), *flags],
                     ["--seed", 7, *server_flags, *logged]) as cluster:
            cluster.start().finish()
            self.served = [server.output for server in cluster.servers]
        return [logs / f"applied-{rank}.log" for rank in range(servers)]

    def replay(self, name, mode, logs, *flags):
        again = self.root / f"{name}.again"
        run(self.root / mode / "pserver", "replay", *logs, "-o", again, *flags)
        run(PDL_CHECKPOINT, "diff", self.root / name, again)

    def counts(self, name):
        """Returns the values of the divided counter and of the undivided counter."""
        dump = self.root / f"{name}.safetensors"
        run(PDL_CHECKPOINT, "dump", self.root / name, "-o", dump)
        held = tensorfile.read(dump)
        return held["divided"].data[0], held["counted"].data[0]

    def local(self, name, replicas, *flags):
        run(self.root / "local" / "trainer", "train",
            *self.flags(name, replicas), *flags)

    def test_one_process(self):
        """Replicas join, so there is one sender. With --hogwild, each worker is a sender."""
        self.translate("local")
        for replicas in ("1x1", "2x2"):
            self.local(f"local{replicas}", replicas)
            self.assertEqual(self.counts(f"local{replicas}"), (ROWS, ROWS))
        # With one thread, no update is lost.
        self.local("hogwild", "1x4", "--hogwild", "--threads", 1)
        self.assertEqual(self.counts("hogwild"), (ROWS / 4, ROWS))

    def test_modes(self):
        for mode, trainers, workers, pushers in (
                ("async", 2, 2, 4), ("half-async", 2, 2, 2), ("sync", 2, 2, 1),
                ("quorum", 2, 2, 1)):
            with self.subTest(mode):
                self.translate(mode)
                quorum = ("--quorum", 2) if mode == "quorum" else ()
                logs = self.job(mode, mode, trainers, workers,
                                server_flags=quorum)
                self.assertEqual(self.counts(mode), (ROWS / pushers, ROWS))
                if mode != "sync":
                    self.replay(mode, mode, logs)

    def test_pushes_during_steps(self):
        """A merged push counts as a push of its worker."""
        self.translate("async", "@adam", "@adagrad")
        logs = self.job("queued", "async", 2, 2, "--push-queue", 1,
                        "--max-merge", 4)
        self.assertEqual(self.counts("queued"), (ROWS / 4, ROWS))
        self.replay("queued", "async", logs)

    def test_one_sender_is_local(self):
        """One sender gives the bits of mode local, and those of a model that does not divide."""
        for dense, sparse in (("@sgd", "@adagrad"), ("@adam", "@adam")):
            with self.subTest(dense):
                name = dense[1:]
                self.translate("local", dense, sparse)
                self.local(f"{name}.local", "1x1")
                self.translate("async", dense, sparse)
                self.job(f"{name}.async", "async", 1, 1)
                run(PDL_CHECKPOINT, "diff", self.root / f"{name}.local",
                    self.root / f"{name}.async")
                dumps = [self.root / f"{name}.{end}" for end in ("a", "b")]
                run(PDL_CHECKPOINT, "dump", self.root / f"{name}.local", "-o",
                    dumps[0])
                self.translate("local", dense, sparse,
                               lambda text: text.replace(" rate_over(pushers)",
                                                         ""))
                self.local(f"{name}.plain", "1x1")
                run(PDL_CHECKPOINT, "dump", self.root / f"{name}.plain", "-o",
                    dumps[1])
                for symbol in ("w", "emb.values"):
                    self.assertEqual(tensorfile.read(dumps[0])[symbol].data,
                                     tensorfile.read(dumps[1])[symbol].data)

    def test_another_cluster_goes_on(self):
        """The number of senders is that of the job that resumes."""
        self.translate("async", "@adam", "@adagrad")
        self.job("saved", "async", 2, 2)
        before = self.root / "before"
        shutil.copytree(self.root / "saved", before)
        logs = self.job("saved", "async", 1, 2, "--epochs", 2, "--resume",
                        server_flags=["--checkpoint", self.root / "saved",
                                      "--resume"])
        self.assertEqual(self.counts("saved"),
                         (ROWS / 4 + ROWS / 2, 2 * ROWS))
        self.replay("saved", "async", logs, "--checkpoint", before)

    def translate_by_hand(self, mode):
        source = self.root / "by_hand.mlir"
        source.write_text(by_hand(RATE, LATE))
        run(PDL_TRANSLATE, source, "-o", self.root / mode, "--numerics=strict",
            f"--mode={mode}")

    def check_by_hand(self, name, mode, log, workers, delta=2e-6):
        """Checks that @w equals the value computed from the log. Returns true if the compensation
        of late gradients has changed the value noticeably."""
        self.replay(name, mode, [log])
        dump = self.root / f"{name}.safetensors"
        run(PDL_CHECKPOINT, "dump", self.root / name, "-o", dump)
        trained = tuple(tensorfile.read(dump)["w"].data)
        for own, expected in zip(trained, computed_again(log, workers, STRENGTH)):
            self.assertAlmostEqual(own, expected, delta=delta)
        plain = computed_again(log, workers, 0)
        return max(abs(own - other) for own, other
                   in zip(trained, plain)) > 10 * delta

    def test_late_gradients_by_hand(self):
        for mode, workers, flags, server_flags in (
                ("async", 2, (), ()), ("half-async", 2, (), ()),
                ("async", 2, (), ("--max-staleness", 1)),
                ("half-async", 2, (), ("--max-staleness", 1)),
                ("async", 2, ("--push-queue", 2), ()),
                ("async", 3, ("--push-queue", 1, "--max-merge", 4), ())):
            with self.subTest(mode=mode, flags=flags + server_flags):
                self.translate_by_hand(mode)
                # The lateness of gradients depends on timing. On a busy host, two trainers may
                # take turns during a whole job.
                for _ in range(10):
                    name = f"late{len(list(self.root.iterdir()))}"
                    logs = self.job(name, mode, 2, workers, *flags, servers=1,
                                    server_flags=server_flags)
                    if self.check_by_hand(name, mode, logs[0], workers):
                        break
                else:
                    self.fail("no gradient was late enough in 10 jobs")

    def test_late_gradients_are_replayed(self):
        """Any rule, and rows of tables. Servers report the values that they store."""
        for dense, sparse in (("@momentum", "@adagrad"), ("@adam", "@adam"),
                              ("@lamb", "@rowwise_adagrad")):
            with self.subTest(dense):
                self.translate("async", dense, sparse, compensated)
                for flags in ((), ("--push-queue", 2, "--max-merge", 3)):
                    name = f"{dense[1:]}{len(flags)}"
                    logs = self.job(name, "async", 2, 2, *flags)
                    self.replay(name, "async", logs)
                    for served in self.served:
                        self.assertRegex(
                            served, "kept up to [0-9]+ bytes of values that "
                            "senders have seen, to compensate delays")

    def train_with_restarts(self, name, mode, servers, epochs, server_flags=()):
        """Trains with two trainers, which are killed and restarted. Returns the folder of
        the servers' logs."""
        logs = self.root / f"{name}.logs"
        logs.mkdir()
        with Cluster(self.root / mode, 2, servers,
                     [*self.flags(name, "1x2"), "--epochs", epochs, "--on-failure", "wait"],
                     ["--seed", 7, "--on-failure", "wait", "--log-applied", logs,
                      *server_flags]) as cluster:
            cluster.start()
            first = list(cluster.trainers)
            for number, rank in enumerate((1, 0, 1), 1):
                # A trainer that has rejoined continues the epochs of its previous incarnation.
                wait_until(lambda at=number, of=rank: f"epoch {at}:" in cluster.trainers[of].output,
                           said=cluster.said)
                cluster.kill_and_restart_trainer(rank, "trained ")
            self.assertNotEqual(cluster.trainers[1], first[1])
            cluster.finish(leave_may_be_lost=True)
        return logs

    def test_a_trainer_that_rejoins(self):
        """The values that a trainer has seen are those in its response, even if a restarted
        process requests that response again."""
        self.translate("async", "@adam", "@adagrad", compensated)
        logs = self.train_with_restarts("killed", "async", servers=2, epochs=40)
        self.replay("killed", "async",
                    [logs / f"applied-{rank}.log" for rank in range(2)])

    def test_a_trainer_restarted_by_hand(self):
        """A restarted process may continue with late gradients after requests of its previous
        incarnation, while other trainers continue, and also if responses are delayed."""
        for mode, server_flags in (("async", ()), ("half-async", ()),
                                   ("async", ("--max-staleness", 2))):
            with self.subTest(mode=mode, flags=server_flags):
                self.translate_by_hand(mode)
                # Trainers may take turns during a whole job (see above), so try again.
                for _ in range(5):
                    if self.rejoins_late(mode, server_flags):
                        break
                else:
                    self.fail("no gradient was late enough in 5 jobs")

    def rejoins_late(self, mode, server_flags):
        """Returns the result of `check_by_hand` for a job whose trainers are killed and restarted.
        """
        name = f"back{len(list(self.root.iterdir()))}"
        logs = self.train_with_restarts(name, mode, servers=1, epochs=60,
                                        server_flags=server_flags)
        # The trainer has done thousands of steps in f32, which the test computes in f64.
        return self.check_by_hand(name, mode, logs / "applied-0.log", 2, delta=1e-4)

    def test_where_nothing_is_late(self):
        """One sender has the bits of mode local, and mode local has those of a model without the
        clause."""
        self.translate("local", "@adam", "@adagrad")
        self.local("plain", "1x1")
        self.local("plain2x2", "2x2")
        self.translate("local", "@adam", "@adagrad", compensated)
        self.local("local", "1x1")
        self.local("local2x2", "2x2")
        for mode, trainers, workers in (
                ("async", 1, 1), ("half-async", 1, 1), ("sync", 2, 2)):
            self.translate(mode, "@adam", "@adagrad", compensated)
            self.job(f"{mode}.late", mode, trainers, workers)
        for a, b in (("local", "async.late"), ("local", "half-async.late"),
                     ("local2x2", "sync.late")):
            run(PDL_CHECKPOINT, "diff", self.root / a, self.root / b)
        # The numbers are the same, but for a checkpoint it is another training.
        for a, b in (("local", "plain"), ("local2x2", "plain2x2")):
            for name in (a, b):
                run(PDL_CHECKPOINT, "dump", self.root / name, "-o",
                    self.root / f"{name}.safetensors")
            for symbol in ("w", "emb.values"):
                self.assertEqual(
                    tensorfile.read(self.root / f"{a}.safetensors")[symbol].data,
                    tensorfile.read(self.root / f"{b}.safetensors")[symbol].data)

    def test_refusals(self):
        self.translate("local", "@sgd", "@sgd", compensated)
        done = subprocess.run(
            [str(each) for each in (
                self.root / "local" / "trainer", "train",
                *self.flags("hogwild", "1x2"), "--hogwild")],
            capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--hogwild cannot compensate delays, as group @dense says",
                      done.stderr)
        done = subprocess.run(
            [str(PDL_TRANSLATE), str(self.root / "model.mlir"), "-o",
             str(self.root / "quorum"), "--mode=quorum"],
            capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr,
                         r"model.mlir:\d+:\d+: error: .*is not for mode quorum")


if __name__ == "__main__":
    unittest.main()
