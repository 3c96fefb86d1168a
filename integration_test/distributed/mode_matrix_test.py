# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each model of models/ in each mode, and each kind of data file in each mode. The model trains
with several processes, or pdl-translate rejects it with a location and the reason. Rejected models
are listed here, so that each change of this list is noticed."""

import concurrent.futures
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from folders import SharedFolderTest
from job_modes import MODES
from model_data import model_data
from programs import PDL_TRANSLATE, SOURCE, known_modes, model, run

import tensorfile

MODELS = sorted(path.name for path in (SOURCE / "models").iterdir() if path.is_dir())
TRAINERS, ROWS, TEST_ROWS, BATCH = 2, 480, 120, 32

ROUNDS = ("sync", "collective", "hybrid")
FLAGS_OF_MODES = {
    "--push-queue": ("async",), "--max-merge": ("async",), "--max-staleness": ("async", "half-async"),
    "--quorum": ("quorum",), "--late-gradients": ("quorum",), "--geo-steps": ("geo",),
    "--overlap": (*ROUNDS, "half-async"), "--part-bytes": (*ROUNDS, "half-async"),
    "--pack-gradients": [mode for mode in MODES if mode != "geo"],
}

# (model, mode): the error message of pdl-translate.
REFUSED = {
    ("gan", "geo"): "its rule counts turns, as a cycle does",
}


def refusal(name, mode, done):
    """Checks a run of pdl-translate that had to fail. Returns a description of the fault, or None.
    """
    expected = REFUSED[name, mode]
    if done.returncode == 0:
        return f"is not refused any more ({expected!r}): take it out of REFUSED"
    if not re.search(rf"{name}\.mlir:\d+:\d+: error: .*{re.escape(expected)}", done.stderr):
        return f"is not refused at its place with {expected!r}:\n{done.stderr}"
    return None


class ModeMatrix(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.known = known_modes()
        cls.data = {}
        for name in MODELS:
            folder = cls.root / "data" / name
            folder.mkdir(parents=True)
            cls.data[name] = model_data(name, folder, ROWS + TEST_ROWS)

    def test_all_modes_are_listed(self):
        self.assertEqual(sorted(self.known), sorted(["local", *MODES]),
                         "say in MODES how a job of the mode is started")
        for name, mode in REFUSED:
            self.assertIn(name, MODELS)
            self.assertIn(mode, MODES)

    def test_help_has_no_flags_of_other_modes(self):
        """The help text of a program does not list flags that the program rejects because of its
        mode."""
        for mode in MODES:
            folder = self.root / f"help-{mode}"
            self.translate(model("logistic_regression"), mode, folder)
            offered = set()
            for program, words in (("trainer", ["train"]), ("pserver", [])):
                if (folder / program).exists():
                    said = run(folder / program, *words, "--help").stdout
                    offered.update(re.findall(r"^ +(--[a-z-]+)", said, re.M))
            self.assertIn("--silence-limit", offered)
            for flag, modes in FLAGS_OF_MODES.items():
                self.assertEqual(flag in offered, mode in modes, f"{flag} in mode {mode}")

    def translate(self, source, mode, folder, *flags):
        return subprocess.run([PDL_TRANSLATE, source, f"--mode={mode}", "-o", folder, *flags],
                              capture_output=True, text=True)

    def job(self, programs, mode, flags):
        """Runs a job. Returns the outputs of its trainers."""
        how = MODES[mode]
        # Only modes whose trainers have addresses need this argument.
        more = {"peers": True} if how.peers else {}
        with Cluster(programs, TRAINERS, how.servers, [*flags, *how.trainer_flags],
                     how.server_flags, **more) as cluster:
            return cluster.start().finish()

    def problem(self, name, mode):
        """Tests a model in a mode. Returns a description of the fault, or None."""
        folder = self.root / f"{name}-{mode}"
        done = self.translate(model(name), mode, folder)
        if (name, mode) in REFUSED:
            return refusal(name, mode, done)
        if done.returncode != 0:
            return f"is refused, and not in REFUSED:\n{done.stderr}"
        data = self.data[name]
        outputs = self.job(folder, mode, [
            "--data", data, "--rows", f"0:{ROWS}", "--evaluate-rows",
            f"{ROWS}:{ROWS + TEST_ROWS}", "--batch-size", BATCH, "--epochs", 2])
        shutil.rmtree(folder)
        return wrong_report(outputs, 2 * ROWS)

    def check(self, mode):
        if mode not in self.known:
            self.skipTest(f"pdl-translate knows no mode {mode}")
        with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
            problems = {name: pool.submit(self.problem, name, mode) for name in MODELS}
        wrong = []
        for name, future in problems.items():
            try:
                said = future.result()
            except AssertionError as error:
                said = f"does not train: {error}"
            if said:
                wrong.append(f"models/{name} in mode {mode} {said}")
        self.assertFalse(wrong, "\n\n".join(wrong))

    def check_readers(self, mode):
        """Trains word2vec with files of all kinds. The rows are equal, so the results must be
        equal."""
        if mode not in self.known:
            self.skipTest(f"pdl-translate knows no mode {mode}")
        folder = self.root / f"readers-{mode}"
        done = self.translate(model("word2vec"), mode, folder, "--numerics=strict")
        self.assertEqual(done.returncode, 0, done.stderr)
        losses = {}
        for kind, flags in self.files(folder).items():
            with self.subTest(file=kind):
                log = folder / f"{len(losses)}.losses"
                outputs = self.job(folder, mode, [
                    *flags, "--rows", f"0:{ROWS}", "--evaluate-rows",
                    f"{ROWS}:{ROWS + TEST_ROWS}", "--batch-size", BATCH, "--epochs", 2,
                    "--shuffle-window", 100, "--seed", 0, "--log-losses", log])
                self.assertIsNone(wrong_report(outputs, 2 * ROWS))
                losses[kind] = log.read_text()
        if MODES[mode].exact:
            local = folder / "local"
            self.assertEqual(self.translate(model("word2vec"), "local", local,
                                            "--numerics=strict").returncode, 0)
            log = folder / "local.losses"
            run(local / "trainer", "train", *self.files(folder)["text"], "--rows",
                f"0:{ROWS}", "--batch-size", BATCH, "--epochs", 2, "--shuffle-window", 100,
                "--seed", 0, "--replicas", f"{TRAINERS}x1", "--log-losses", log)
            for kind, text in losses.items():
                self.assertEqual(text, log.read_text(), kind)

    def files(self, folder):
        """Returns the flags that select a file, by the kind of the file."""
        text = self.data["word2vec"]
        packed = folder / "pairs.tsv.gz"
        packed.write_bytes(gzip.compress(text.read_bytes()))
        tensors = folder / "pairs.safetensors"
        pairs = [line.split() for line in text.read_text().splitlines()]
        tensorfile.write(tensors, {
            name: tensorfile.Tensor("I64", [len(pairs), 1],
                                    tensorfile.array.array("q", (int(pair[place])
                                                                 for pair in pairs)))
            for place, name in enumerate(("word", "neighbor"))})
        files = {"text": ["--data", text], "gzip": ["--data", packed],
                 "tensors": ["--data", tensors],
                 "cache": ["--data", text, "--cache", folder / "cache"],
                 "cache, read again": ["--data", text, "--cache", folder / "cache"]}
        if shutil.which("zstd"):
            run("zstd", "-q", "-f", text, "-o", folder / "pairs.tsv.zst")
            files["zstd"] = ["--data", folder / "pairs.tsv.zst"]
        return files


def wrong_report(outputs, samples):
    """Checks the reports of a job's trainers. Returns a description of the fault, or None."""
    for output in outputs:
        trained = re.search(r"trained (\d+) steps, (\d+) samples", output)
        if not trained or int(trained[2]) != samples:
            return f"has not trained {samples} samples:\n{output}"
        if not re.search(r"^test \S+", output, re.M):
            return f"has no figures of a test:\n{output}"
        if re.search(r"\bnan\b|\binf\b", output):
            return f"has figures that are not finite:\n{output}"
    reports = {"\n".join(re.findall(r"^(?:train|test) .*$", output, re.M))
               for output in outputs}
    if len(reports) != 1:
        return "has trainers that report different figures of all:\n" + "\n".join(outputs)
    return None


def add_tests(mode):
    name = mode.replace("-", "_")
    setattr(ModeMatrix, f"test_models_in_{name}", lambda self: self.check(mode))
    setattr(ModeMatrix, f"test_files_in_{name}", lambda self: self.check_readers(mode))


for one in MODES:
    add_tests(one)

if __name__ == "__main__":
    unittest.main()
