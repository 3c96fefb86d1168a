# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Event files of TensorBoard (--tensorboard)."""

import collections
import json
import pathlib
import re
import resource
import shutil
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import test_packages
import tfrecord
from folders import SharedFolderTest
from programs import ADULT, BUILD, PDL_TRANSLATE, fails, metric, nightly, run
from small_model import observed_model

# An epoch of these rows has 40 steps.
ROWS = ["--rows", "0:20480", "--evaluate-rows", "20480:"]
START = 1

Value = collections.namedtuple("Value", "step content plugin")


def events(path):
    """Returns the version of a file, the steps at which sessions start, and the values by tag. A
    value is a float, or the fields of a histogram or tensor."""
    first, *others = [tfrecord.fields(record) for record in tfrecord.read(path)]
    starts, values = [], {}
    for event in others:
        (step,) = event[2]
        if 7 in event:
            if tfrecord.fields(event[7][0]) != {1: [START]}:
                raise ValueError("unknown status of a session")
            starts.append(step)
            continue
        for each in tfrecord.fields(event[5][0])[1]:
            value = tfrecord.fields(each)
            plugin = tfrecord.fields(tfrecord.fields(value[9][0])[1][0]) if 9 in value else None
            content = value[2][0] if 2 in value else tfrecord.fields(value.get(5, value.get(8))[0])
            values.setdefault(value[1][0].decode(), []).append(Value(step, content, plugin))
    return first[3][0], starts, values


def doubles(data):
    return struct.unpack(f"<{len(data) // 8}d", data)


class Events(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        model = cls.root / "small.mlir"
        model.write_text(observed_model())
        run(PDL_TRANSLATE, model, "-o", cls.root / "local")
        run(PDL_TRANSLATE, model, "--mode=sync", "-o", cls.root / "sync")
        cls.trainer = cls.root / "local/trainer"

    def setUp(self):
        super().setUp()
        self.folder = self.root / self.id().rpartition(".")[2]
        self.folder.mkdir()
        self.board = self.folder / "board"

    def train(self, *flags, **options):
        return run(self.trainer, "train", "--data", ADULT, "--batch-size", 512, *flags, **options)

    def files(self):
        return sorted(self.board.iterdir())

    def test_scalars(self):
        """The figures are those of --log-metrics, at the same steps."""
        log = self.folder / "metrics.jsonl"
        self.train("--epochs", 2, *ROWS, "--log-metrics", log, "--log-metrics-steps", 15,
                   "--tensorboard", self.board)
        (path,) = self.files()
        self.assertTrue(path.name.startswith("events.out.tfevents."), path.name)
        version, starts, values = events(path)
        self.assertEqual((version, starts), (b"brain.Event:2", [1]))
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        expected = {}
        for line in lines:
            for name, value in line.items():
                members = value if isinstance(value, dict) else {None: value}
                for member, number in members.items():
                    if type(number) in (int, float) and name not in ("step", "epoch"):
                        tag = "/".join(filter(None, (line["kind"], name, member)))
                        expected.setdefault(tag, []).append(
                            (line["step"], struct.unpack("f", struct.pack("f", number))[0]))
        found = {tag: [(each.step, each.content) for each in all_of]
                 for tag, all_of in values.items() if isinstance(all_of[0].content, float)}
        self.assertEqual(found, expected)
        for tag in ("steps/loss", "steps/samples_per_second", "steps/metrics/auc",
                    "epoch/loss", "test/metrics/auc"):
            self.assertIn(tag, found)

    def test_learning_rates(self):
        """The schedule gives the rate of the latest step."""
        model = self.folder / "warm.mlir"
        model.write_text(observed_model(warm_up=True))
        run(PDL_TRANSLATE, model, "-o", self.folder)
        run(self.folder / "trainer", "train", "--data", ADULT, "--batch-size", 512, "--steps", 20,
            "--tensorboard", self.board, "--log-metrics-steps", 10)
        rates = events(self.files()[0])[2]["steps/learning_rates/dense"]
        self.assertEqual([each.step for each in rates], [10, 20])
        # The rate rises to 0.002 in 50 steps.
        self.assertAlmostEqual(rates[0].content, 0.002 * 10 / 50, delta=1e-8)
        self.assertAlmostEqual(rates[1].content, 0.002 * 20 / 50, delta=1e-8)

    def test_histograms(self):
        dump = self.folder / "model.safetensors"
        done = self.train("--epochs", 2, *ROWS, "--tensorboard", self.board, "--dump", dump)
        keys = int(re.search(r"table @emb keys (\d+)", done.stdout)[1])
        values = events(self.files()[0])[2]
        for tag, count in (("parameters/w1", 133 * 70), ("parameters/scale", 5),
                           ("embedding_norms/emb", keys)):
            with self.subTest(tag=tag):
                self.assertEqual([each.step for each in values[tag]], [40, 80])
                histogram = values[tag][-1].content
                low, high, number, total, squares = (histogram[i][0] for i in range(1, 6))
                limits, counts = doubles(histogram[6][0]), doubles(histogram[7][0])
                self.assertEqual(sum(counts), number)
                self.assertTrue(low <= high == limits[-1] and list(limits) == sorted(limits))
                self.assertTrue(number * squares >= total * total * (1 - 1e-9))
                self.assertEqual(number, count)
                self.assertEqual(low >= 0, tag != "parameters/w1")
        data = dump.read_bytes()
        (size,) = struct.unpack_from("<Q", data)
        begin, end = json.loads(data[8:8 + size])["w1"]["data_offsets"]
        elements = struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin:8 + size + end])
        low, high, _, total, _ = (values["parameters/w1"][-1].content[i][0] for i in range(1, 6))
        self.assertEqual((low, high), (min(elements), max(elements)))
        self.assertAlmostEqual(total, sum(elements), places=6)

    def test_curves(self):
        """The curve of the test has its AUC of precision and recall."""
        saved = self.folder / "saved"
        done = self.train("--epochs", 1, *ROWS, "--checkpoint", saved, "--tensorboard", self.board)
        (curve,) = events(self.files()[0])[2]["test/precision_recall/auc"]
        self.assertEqual(curve.plugin[1], [b"pr_curves"])
        (thresholds,) = tfrecord.fields(curve.plugin[2][0])[2]
        shape = [tfrecord.fields(each)[1][0] for each in tfrecord.fields(curve.content[2][0])[2]]
        self.assertEqual((curve.content[1], shape), ([1], [6, thresholds]))
        numbers = struct.unpack(f"<{6 * thresholds}f", curve.content[5][0])
        hits, alarms, quiet, misses, precision, recall = (
            numbers[row * thresholds:(row + 1) * thresholds] for row in range(6))
        samples = int(re.search(r"(\d+) samples", run(
            self.trainer, "evaluate", "--data", ADULT, "--rows", "20480:", "--checkpoint",
            saved).stdout)[1])
        self.assertEqual({sum(row) for row in zip(hits, alarms, quiet, misses)}, {samples})
        self.assertEqual(recall[0], 1)
        self.assertEqual(list(recall), sorted(recall, reverse=True))
        self.assertAlmostEqual(precision[0], hits[0] / (hits[0] + alarms[0]), places=6)
        # The area under the ROC curve of the same counts.
        area = sum((hits[i] + hits[i + 1]) / 2 * (alarms[i] - alarms[i + 1])
                   for i in range(thresholds - 1)) + hits[-1] / 2 * alarms[-1]
        self.assertAlmostEqual(area / (hits[0] * alarms[0]), metric(done.stdout, "test AUC"),
                               delta=2e-3)

    def test_resume(self):
        """Each start has a file, whose first step hides later steps of other files."""
        flags = [*ROWS, "--checkpoint", self.folder / "saved", "--checkpoint-steps", 20,
                 "--tensorboard", self.board, "--log-metrics-steps", 10, "--resume"]
        self.train("--steps", 30, *flags)
        self.train("--steps", 50, "--epochs", 2, *flags)
        found = [events(path) for path in self.files()]
        self.assertEqual([starts for _, starts, _ in found], [[1], [31]])
        self.assertEqual([[each.step for each in values["steps/loss"]] for _, _, values in found],
                         [[10, 20, 30], [40, 50]])

    def test_evaluate(self):
        """A test of a checkpoint belongs to its step, and hides no file."""
        saved = self.folder / "saved"
        self.train("--steps", 30, "--checkpoint", saved, "--tensorboard", self.board)
        run(self.trainer, "evaluate", "--data", ADULT, "--checkpoint", saved, "--tensorboard",
            self.board)
        _, starts, values = events(self.files()[-1])
        self.assertEqual(starts, [])
        self.assertEqual({each.step for each in values["test/metrics/auc"]}, {30})
        for tag in ("test/precision_recall/auc", "parameters/w1", "embedding_norms/emb"):
            self.assertIn(tag, values)

    @nightly
    def test_tensorboard(self):
        """TensorBoard reads the same values."""
        test_packages.require("tensorboard", requirements=test_packages.TENSORBOARD)
        from tensorboard.backend.event_processing import event_accumulator
        from tensorboard.plugins.pr_curve import metadata
        flags = [*ROWS, "--checkpoint", self.folder / "saved", "--checkpoint-steps", 20,
                 "--tensorboard", self.board, "--log-metrics-steps", 10, "--resume"]
        # As after a kill, the second run repeats steps of the first one.
        self.train("--steps", 40, *flags)
        for name in ("step-000000000040",):
            shutil.rmtree(self.folder / "saved" / name)
        self.train("--steps", 80, "--epochs", 2, *flags)
        own = [events(path)[2] for path in self.files()]
        read = event_accumulator.EventAccumulator(
            str(self.board), size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
        read.Reload()
        for tag in read.Tags()["scalars"]:
            kept = [(each.step, each.content) for each in own[0][tag] if each.step <= 20]
            kept += [(each.step, each.content) for each in own[1].get(tag, [])]
            self.assertEqual([(each.step, each.value) for each in read.Scalars(tag)], kept, tag)
        self.assertEqual([each.step for each in read.Scalars("steps/loss")],
                         list(range(10, 81, 10)))
        for tag in ("parameters/w1", "embedding_norms/emb"):
            values = read.Histograms(tag)
            self.assertEqual([each.step for each in values], [40, 80])
            self.assertEqual(sum(values[-1].histogram_value.bucket), values[-1].histogram_value.num)
        tag = "test/precision_recall/auc"
        # This reader does not hide tensors of repeated steps.
        self.assertEqual(sorted({each.step for each in read.Tensors(tag)}), [40, 80])
        content = read.SummaryMetadata(tag).plugin_data.content
        self.assertEqual(metadata.parse_plugin_metadata(content).num_thresholds, 201)

    def test_job(self):
        """Trainer 0 alone writes a file."""
        run(BUILD / "bin/pdl-launch", "--unix", "--trainers", 2, "--servers", 1, self.root / "sync", "--",
            "--data", ADULT, "--batch-size", 512, "--steps", 10, "--tensorboard", self.board,
            "--log-metrics-steps", 5)
        (path,) = self.files()
        values = events(path)[2]
        self.assertEqual([each.step for each in values["steps/loss"]], [5, 10])
        self.assertIn("parameters/w1", values)
        self.assertNotIn("embedding_norms/emb", values)

    def test_full_disk(self):
        """The training continues, with one warning."""

        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

        done = self.train("--steps", 20, "--tensorboard", self.board, "--log-metrics-steps", 1,
                          preexec_fn=limit_files)
        self.assertIn("trained 20 steps", done.stdout)
        self.assertEqual(done.stderr.count("continues without --tensorboard"), 1, done.stderr)

    def test_refusals(self):
        blocked = self.folder / "file"
        blocked.write_text("")
        self.assertIn("cannot create the folder",
                      fails(self.trainer, "train", "--data", ADULT, "--steps", 1, "--tensorboard",
                            blocked / "board", status=3))
        self.assertIn("must be a path of this host",
                      fails(self.trainer, "train", "--data", ADULT, "--steps", 1, "--tensorboard",
                            "s3://bucket/board", status=2))
        self.assertIn("sets the interval of --log-metrics and --tensorboard",
                      fails(self.trainer, "train", "--data", ADULT, "--steps", 1,
                            "--log-metrics-steps", 5, status=2))


if __name__ == "__main__":
    unittest.main()
