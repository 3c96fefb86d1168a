# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules that know of pushers: a rate that is divided by their number
(`rate_over(pushers)`). What is added up tells the number to the last bit; a replay
of the servers' logs gives their state. Real processes."""

import json
import pathlib
import shutil
import struct
import tempfile
import unittest

from cluster import Cluster
from programs import ADULT, BUILD, PDL_TRANSLATE, run

PDL_CHECKPOINT = BUILD / "bin" / "pdl-checkpoint"

# The counter adds the samples of each push, times 1 / pushers.
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
    %x = nn.concat %t, %e axis(1) : tensor<?x5xf32>, tensor<?x4xf32>
    %z = nn.linear %x, @w : (tensor<?x9xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    %ones = nn.ones_like %label : tensor<?x1xf32>
    nn.accumulate @divided(%ones) : tensor<?x1xf32>
    nn.accumulate @counted(%ones) : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }
}
"""
ROWS, BATCH = 6400, 64


def tensor(path, name):
    data = path.read_bytes()
    size, = struct.unpack_from("<Q", data)
    begin, end = json.loads(data[8:8 + size])[name]["data_offsets"]
    raw = data[8 + size + begin:8 + size + end]
    return struct.unpack(f"<{len(raw) // 4}f", raw)


class RulesOverPushers(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

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

    def job(self, name, mode, trainers, workers, *flags, server_flags=()):
        """The logs of its two servers."""
        logs = self.root / f"{name}.logs{trainers}x{workers}"
        logs.mkdir()
        logged = () if mode == "sync" else ("--log-applied", logs)
        with Cluster(self.root / mode, trainers, 2,
                     [*self.flags(name, f"1x{workers}"), *flags],
                     ["--seed", 7, *server_flags, *logged]) as cluster:
            cluster.start().finish()
        return [logs / f"applied-{rank}.log" for rank in range(2)]

    def replay(self, name, mode, logs, *flags):
        again = self.root / f"{name}.again"
        run(self.root / mode / "pserver", "replay", *logs, "-o", again, *flags)
        run(PDL_CHECKPOINT, "diff", self.root / name, again)

    def counts(self, name):
        """What the divided counter has, and the whole one."""
        dump = self.root / f"{name}.safetensors"
        run(PDL_CHECKPOINT, "dump", self.root / name, "-o", dump)
        return tensor(dump, "divided")[0], tensor(dump, "counted")[0]

    def local(self, name, replicas, *flags):
        run(self.root / "local" / "trainer", "train",
            *self.flags(name, replicas), *flags)

    def test_one_process(self):
        """Replicas join, so there is one pusher; workers of --hogwild do not."""
        self.translate("local")
        for replicas in ("1x1", "2x2"):
            self.local(f"local{replicas}", replicas)
            self.assertEqual(self.counts(f"local{replicas}"), (ROWS, ROWS))
        # On one thread no update is lost.
        self.local("hogwild", "1x4", "--hogwild", "--threads", 1)
        self.assertEqual(self.counts("hogwild"), (ROWS / 4, ROWS))

    def test_modes(self):
        for mode, trainers, workers, pushers in (
                ("async", 2, 2, 4), ("half-async", 2, 2, 2), ("sync", 2, 2, 1),
                ("quorum", 2, 2, 1)):
            with self.subTest(mode):
                self.translate(mode)
                logs = self.job(mode, mode, trainers, workers)
                self.assertEqual(self.counts(mode), (ROWS / pushers, ROWS))
                if mode != "sync":
                    self.replay(mode, mode, logs)

    def test_pushes_beside_steps(self):
        """A merged push is one of its worker."""
        self.translate("async", "@adam", "@adagrad")
        logs = self.job("queued", "async", 2, 2, "--push-queue", 1,
                        "--max-merge", 4)
        self.assertEqual(self.counts("queued"), (ROWS / 4, ROWS))
        self.replay("queued", "async", logs)

    def test_one_pusher_is_local(self):
        """The bits of local, and of a model that does not divide."""
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
                    self.assertEqual(tensor(dumps[0], symbol),
                                     tensor(dumps[1], symbol))

    def test_another_cluster_goes_on(self):
        """The number is that of the job which goes on."""
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


if __name__ == "__main__":
    unittest.main()
