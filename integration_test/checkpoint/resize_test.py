# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training resumes in the middle of an epoch with other replicas or another number of trainers.
Each remaining row is trained exactly once in every mode, and the counts of the epoch continue. If
a mode promises the bits of one process, the results have them."""

import gzip
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster, Slowed
from folders import SharedFolderTest
from job_modes import MODES
from programs import BUILD, PDL_CHECKPOINT, SOURCE, checkpoints_in, compile_model, run
from waiting import wait_until

KEEP_TRAINING = SOURCE / "examples" / "online" / "keep_training.py"
ROWS, BATCH = 1000, 8
# Number of rows for jobs that must still run when the test acts on them.
MANY = 40000

# Each row has an id of its own, so the keys of the table show which rows were trained.
MODEL = """
module @rows {
  nn.record @r {
    nn.field @id : tensor<?x1xi64>
    nn.field @user : tensor<?x1xi64>
    nn.field @y : tensor<?x1xf32>
  }
  nn.group @g rule(@adagrad) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.uniform<-0.1, 0.1>)
  nn.param @w : tensor<4x1xf32> in @g init(#nn.constant<0.5>)
  nn.metric @mean : #nn.mean
  nn.metric @auc : #nn.auc<buckets = 64>
  nn.metric @grouped : #nn.grouped_auc
  nn.func private @score(%id: tensor<?x1xi64>) -> tensor<?x1xf32> {
    %e = nn.lookup @t[%id] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x4xf32>
    %f = nn.flatten %e from 1 : tensor<?x1x4xf32>
    %z = nn.linear %f, @w : (tensor<?x4xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @train reads(@r) {
  ^bb0(%id: tensor<?x1xi64>, %user: tensor<?x1xi64>, %y: tensor<?x1xf32>):
    %z = nn.call @score(%id) : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @mean(%y) : tensor<?x1xf32>
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
    nn.observe @grouped(%p, %y) group %user : tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@r) {
  ^bb0(%id: tensor<?x1xi64>, %user: tensor<?x1xi64>, %y: tensor<?x1xf32>):
    %z = nn.call @score(%id) : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
  }
}
"""


class Resize(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.root / "rows.mlir"
        source.write_text(MODEL)
        cls.programs = {}
        for mode in ("local", *MODES):
            cls.programs[mode] = cls.root / mode
            compile_model(source, cls.root / mode, "--numerics=strict", f"--mode={mode}")
        draw = random.Random(3)
        cls.lines = [f"{i},{i % 7},{draw.randrange(2)}\n" for i in range(ROWS)]
        cls.layouts = {"one file": cls.write("one", [ROWS]),
                       "files": cls.write("of5", [250, 90, 400, 160, 100])}

    @classmethod
    def plain(cls, mode):
        """Returns the folder of programs without a metric of groups. The samples of such a metric
        are lost if a trainer is lost."""
        source, folder = cls.root / "plain.mlir", cls.root / f"plain-{mode}"
        if not folder.exists():
            source.write_text(re.sub(r".*nn.observe @grouped.*\n", "", MODEL))
            compile_model(source, folder, "--numerics=strict", f"--mode={mode}")
        return folder

    @classmethod
    def many(cls):
        path = cls.root / "many.csv"
        path.write_text("".join(f"{i},0,{i % 2}\n" for i in range(MANY)))
        return [path]

    @classmethod
    def write(cls, name, sizes):
        """Writes files with the given numbers of rows. Some files are compressed, and some rows
        are bad."""
        files, begin = [], 0
        for number, size in enumerate(sizes):
            text = "".join(cls.lines[begin:begin + size])
            path = cls.root / f"{name}.{number}.csv"
            if number % 2:
                path = path.with_suffix(".csv.gz")
                path.write_bytes(gzip.compress(text.encode()))
            else:
                path.write_text(text)
            files.append(path)
            begin += size
        return files

    def flags(self, saved, files, *more):
        return ["--data", *files, "--batch-size", BATCH, "--seed", 5, "--epochs", 1,
                "--checkpoint", saved, "--resume", "--log-losses", saved.with_suffix(".losses"),
                *more]

    def train(self, mode, trainers, workers, flags, server_flags=(), act=None):
        """Trains, and returns the output of the first trainer."""
        if mode == "local":
            return run(self.programs[mode] / "trainer", "train", *flags, "--replicas",
                       f"{trainers}x{workers}").stdout
        how = MODES[mode]
        more = {"peers": True} if how.peers else {}
        servers = min(how.servers, 2)
        saved = flags[flags.index("--checkpoint") + 1]
        with Cluster(self.programs[mode], trainers, servers,
                     [*flags, "--replicas", f"1x{workers}", *how.trainer_flags],
                     ["--seed", 5, "--checkpoint", saved, "--resume", *how.server_flags,
                      *server_flags], **more) as job:
            job.start()
            if act:
                act(job)
            return job.finish(leave_may_be_lost=act is not None)[0]

    def inspect(self, saved):
        """Returns the number of samples in all epochs, the number of finished epochs, and the
        number of keys of the table."""
        said = run(PDL_CHECKPOINT, "inspect", saved).stdout
        find = lambda what: int(re.search(what, said)[1])
        return find(r"samples +(\d+)"), find(r"epochs ended +(\d+)"), find(r" (\d+) keys")

    def report(self, output):
        """Returns the metrics of the epoch, except the losses and those that depend on parameter
        values."""
        return re.findall(r"^train mean .*$", output, re.M)

    def phases(self, name, mode, files, phases, *flags, server_flags=(), act=None):
        """Trains an epoch in several phases. Each phase is a tuple (trainers, workers, steps of
        the job), and the last phase trains to the end. Returns the folder of checkpoints and the
        output of the last phase."""
        saved = self.root / f"{name}.saved"
        output, steps = "", 0
        for trainers, workers, more in phases:
            steps += more or 0
            limit = ("--steps", steps) if more else ()
            output = self.train(mode, trainers, workers, self.flags(saved, files, *flags, *limit),
                                server_flags, act)
        self.assertEqual(self.inspect(saved), (ROWS, 1, ROWS), f"{name}: {output}")
        return saved, output

    def test_local(self):
        """Replicas of one process, for each order of rows and division into files."""
        reports = set()
        for layout, files in self.layouts.items():
            for window in (0, 50, 300):
                for number, phases in enumerate((
                        [(2, 2, 5), (1, 3, 7), (3, 1, 9), (2, 1, None)],
                        [(1, 1, 1), (4, 1, 20), (1, 4, None)],
                        [(3, 2, 20), (1, 1, None)],
                        # The first phase leaves no rows.
                        [(1, 1, 125), (3, 1, None)])):
                    with self.subTest(layout=layout, window=window, phases=phases):
                        _, output = self.phases(
                            f"local-{len(files)}-{window}-{number}", "local", files, phases,
                            "--shuffle-window", window)
                        reports.update(self.report(output))
        # These sums are stored in checkpoints.
        self.assertEqual(len(reports), 1)

    def test_hogwild(self):
        files = self.layouts["one file"]
        self.phases("hogwild", "local", files, [(1, 3, 9), (1, 2, 7), (1, 4, None)], "--hogwild")

    def check_mode(self, mode):
        """Resizes jobs of a mode. In modes that have the bits of one process, compares them with a
        process that resumes with as many replicas."""
        for layout, files in self.layouts.items():
            for window, phases in ((0, [(2, 2, 6), (3, 1, 8), (1, 2, None)]),
                                   (60, [(3, 1, 7), (1, 2, 9), (2, 1, None)])):
                with self.subTest(layout=layout, window=window):
                    name = f"{len(files)}-{window}"
                    flags = "--shuffle-window", window
                    saved, output = self.phases(f"{mode}-{name}", mode, files, phases, *flags)
                    local, expected = self.phases(f"of-{mode}-{name}", "local", files, phases,
                                                  *flags)
                    self.assertEqual(self.report(output), self.report(expected))
                    if not MODES[mode].exact:
                        continue
                    run(PDL_CHECKPOINT, "diff", saved, local)
                    self.assertEqual(*(path.with_suffix(".losses").read_text()
                                       for path in (saved, local)))
                    self.assertEqual(*(re.findall("^train .*$", text, re.M)
                                       for text in (output, expected)))

    def test_a_mode_goes_on_in_another(self):
        files = self.layouts["files"]
        saved = self.root / "modes.saved"
        steps = 0
        for mode, trainers, workers, more in (("sync", 2, 1, 9), ("local", 1, 3, 8),
                                              ("async", 3, 1, 7), ("geo", 1, 2, 6),
                                              ("collective", 2, 2, None)):
            steps += more or 0
            limit = ("--steps", steps) if more else ()
            self.train(mode, trainers, workers, self.flags(saved, files, *limit))
        self.assertEqual(self.inspect(saved), (ROWS, 1, ROWS))

    def test_another_epoch_is_whole_again(self):
        """The remaining rows are those of one epoch. The next epoch has all rows, in its own
        order."""
        files = self.layouts["one file"]
        flags = ["--shuffle-window", 60]
        saved, _ = self.phases("epochs", "local", files, [(3, 1, 7), (2, 1, None)], *flags)
        plain = self.root / "plain.saved"
        shutil.copytree(saved, plain)
        more = [self.flags(folder, files, *flags) for folder in (saved, plain)]
        for command in more:
            command[command.index("--epochs") + 1] = 2
        self.train("local", 2, 1, [*more[0], "--steps", 90])
        self.train("local", 2, 1, more[0])
        self.train("local", 2, 1, more[1])
        self.assertEqual(self.inspect(saved), (2 * ROWS, 2, ROWS))
        run(PDL_CHECKPOINT, "diff", saved, plain)

    def test_the_rest_is_in_later_checkpoints(self):
        """If a job with another size is interrupted, it resumes as it would have continued."""
        files = self.layouts["files"]
        flags = ["--shuffle-window", 60]
        phases = [(3, 1, 7), (2, 2, 5)]
        whole, _ = self.phases("whole", "sync", files, [*phases, (2, 2, None)], *flags)
        once, _ = self.phases("once", "sync", files, [phases[0], (2, 2, None)], *flags)
        run(PDL_CHECKPOINT, "diff", whole, once)
        self.assertEqual(*(path.with_suffix(".losses").read_text() for path in (whole, once)))

    def test_a_killed_trainer_rejoins(self):
        """A trainer rejoins in an epoch that was divided again. It gets the rows of that epoch
        from a checkpoint."""
        files = self.many()
        draw = random.Random(7)
        outputs = []

        def kill(job):
            for _ in range(4):
                time.sleep(draw.uniform(0.2, 0.8))
                job.kill_and_restart_trainer(draw.randrange(len(job.trainers)), "train ")

        def keep(job):
            kill(job)
            for trainer in job.trainers:
                trainer.wait()
                outputs.append(trainer.output)

        self.programs = {mode: self.plain(mode)
                         for mode in ("local", "sync", "async", "half-async")}
        wait = "--on-failure", "wait"
        for mode in ("sync", "async", "half-async"):
            with self.subTest(mode=mode):
                saved = self.root / f"killed-{mode}.saved"
                flags = self.flags(saved, files, "--shuffle-window", 600, *wait)
                self.train(mode, 2, 1, [*flags, "--steps", 300], wait)
                if mode == "sync":
                    begun = self.root / "begun.saved"
                    shutil.copytree(saved, begun)
                self.train(mode, 3, 1, [*flags, "--checkpoint-steps", 200], wait, keep)
                self.assertEqual(self.inspect(saved), (MANY, 1, MANY))
        self.assertTrue(any("came back to the job" in output for output in outputs))
        self.train("local", 3, 1, self.flags(begun, files, "--shuffle-window", 600))
        run(PDL_CHECKPOINT, "diff", begun, self.root / "killed-sync.saved")

    def test_servers_save_what_is_left(self):
        """Servers that save without a lost trainer get the remaining rows from a checkpoint."""
        files = self.many()
        saved, begun = self.root / "lost.saved", self.root / "lost-begun.saved"
        flags = self.flags(saved, files, "--shuffle-window", 60, "--replicas", "1x1")
        wait = ["--on-failure", "wait", "--silence-limit", 2]
        self.programs = {"sync": self.plain("sync"), "local": self.plain("local")}
        self.train("sync", 2, 1, [*flags[:-2], *wait, "--steps", 90], wait)
        shutil.copytree(saved, begun)
        servers = ["--seed", 5, "--checkpoint", saved, "--resume", *wait]
        with Cluster(self.programs["sync"], 3, 1, [*flags, *wait, "--checkpoint-steps", 50],
                     servers) as job:
            job.start()
            # The job must not end before the trainer is killed.
            Slowed(job.trainers[2])
            # The job saves while all trainers are present.
            wait_until(lambda: len(checkpoints_in(saved)) >= 2, said=job.said)
            self.assertIsNone(job.trainers[0].popen.poll(), job.trainers[0].output)
            job.trainers[1].popen.kill()
            time.sleep(1)
            job.servers[0].popen.send_signal(signal.SIGINT)
            for process in job.processes():
                process.wait()
            said = job.servers[0].output
        self.assertIn(f"have saved {checkpoints_in(saved)[-1]}", said)
        self.train("sync", 3, 1, [*flags[:-2], *wait], wait)
        self.assertEqual(self.inspect(saved), (MANY, 1, MANY))
        self.train("local", 3, 1, self.flags(begun, files, "--shuffle-window", 60))
        run(PDL_CHECKPOINT, "diff", begun, saved)

    def test_streams(self):
        """A feeder distributes a log to pipes in turn, and to other pipes after a stop in the
        middle of the epoch. Each line is trained exactly once."""
        log = self.root / "log.csv"
        log.write_text("".join(self.lines))
        saved = self.root / "stream.saved"
        for mode in ("local", "sync"):
            shutil.rmtree(saved, ignore_errors=True)
            for pipes, limit in ((2, ("--steps", 13)), (3, ("--steps", 31)), (1, ())):
                names = [self.root / f"pipe{i}.csv" for i in range(pipes)]
                flags = [*self.flags(saved, names, "--files-in-turn"), *limit]
                program = self.programs[mode]
                command = ([program / "trainer", "train", *flags, "--replicas", f"{pipes}x1"]
                           if mode == "local" else
                           [BUILD / "bin" / "pdl-launch", "--unix", "--trainers", pipes,
                            "--servers", 2, program, "--", *flags, "--replicas", "1x1",
                            "--", "--seed", 5, "--checkpoint", saved, "--resume"])
                run(sys.executable, KEEP_TRAINING, "--to-end", log, *names, "--", *command)
            self.assertEqual(self.inspect(saved), (ROWS, 1, ROWS), mode)
            # The results have the bits of a training that reads files with the same replicas.
            if mode == "local":
                shutil.copytree(saved, self.root / "stream.local")
        run(PDL_CHECKPOINT, "diff", saved, self.root / "stream.local")

    def test_a_file_is_no_stream(self):
        files = self.layouts["one file"]
        command = [self.programs["local"] / "trainer", "train",
                   *self.flags(self.root / "none.saved", files), "--files-in-turn"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"--files-in-turn is for pipes, and {files[0]} is none", done.stderr)

    def test_errors_for_other_versions_and_flags(self):
        files = self.layouts["one file"]
        saved = self.root / "told.saved"
        self.train("local", 2, 1, self.flags(saved, files, "--steps", 9))
        self.train("local", 3, 1, self.flags(saved, files, "--steps", 12))
        # Previous versions compare this text, and reject the positions.
        manifest = (checkpoints_in(saved)[-1] / "manifest.json").read_text()
        self.assertIn('"3x1 from step 9 on"', manifest)
        said = run(PDL_CHECKPOINT, "inspect", saved).stdout
        self.assertIn("running epoch 1 is divided among 3x1 from step 9 on\n", said)
        command = [self.programs["local"] / "trainer", "train", *self.flags(saved, files),
                   "--shuffle-window", 60]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--shuffle-window 0, but this run has 60", done.stderr)


def add_tests(mode):
    setattr(Resize, f"test_{mode.replace('-', '_')}", lambda self: self.check_mode(mode))


for one in MODES:
    add_tests(one)

if __name__ == "__main__":
    unittest.main()
