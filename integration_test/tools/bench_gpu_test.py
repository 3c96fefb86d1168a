# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/gpu.py: the numbers that it extracts from models and traces, the measurements of other
systems that it rejects, and its explanation if there is no GPU."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from device_jobs import count_gpus
from programs import SOURCE

sys.path.insert(0, str(SOURCE / "bench"))
import gpu
from peers import click
from peers.gpu_work import Work

BENCH = SOURCE / "bench"


def span(track, begin, end):
    return {"ph": "X", "name": "work", "tid": track, "ts": begin, "dur": end - begin}


def trace(*spans):
    names = ("main", "thread 1", "GPU 0, NVIDIA H100: compute", "GPU 0, NVIDIA H100: batches")
    return {"traceEvents": [
        {"ph": "M", "name": "thread_name", "tid": number, "args": {"name": name}}
        for number, name in enumerate(names)] + list(spans) + [
            {"ph": "M", "name": "process_name", "tid": 0, "args": {"name": "trainer 0 of: it"}}]}


class BenchGpu(unittest.TestCase):

    def test_idle_share(self):
        self.assertIsNone(gpu.idle_share(trace(span(0, 0, 30), span(1, 2, 3))))
        # From 100 on, with overlapping spans that count once and a span within another one: 10 +
        # 90 of 200 are idle.
        found = gpu.idle_share(trace(
            span(0, 0, 300), span(2, 0, 110), span(2, 150, 200), span(3, 180, 240),
            span(3, 190, 195), span(2, 300, 300)))
        self.assertAlmostEqual(found, 1 - 100 / 200)

    def test_work_is_that_of_the_models(self):
        clicks = Work("ctr_dnn", 1_000_000)
        self.assertEqual((clicks.slots, clicks.numbers, clicks.width, clicks.rate),
                         (click.SLOTS, click.NUMBERS, 10, 1e-3))
        self.assertEqual((clicks.sizes[0], clicks.sizes[-1]), (10, 1_000_000))
        self.assertNotIn("clip(", clicks.text)
        self.assertEqual(clicks.parameters["w1"], ((273, 400), "xavier"))
        self.assertEqual(len(clicks.parameters), 8)
        # The gradient of the whole input is computed, as in PDL.
        self.assertEqual(sum(2 * m * n * k * count for m, n, k, count in clicks.products(64)),
                         64 * 2 * 3 * click.WEIGHTS)
        people = Work("dlrm", 1000)
        self.assertEqual((people.slots, people.numbers, people.width), (8, 5, 8))
        products = people.products(32)
        self.assertEqual(len(products), 3 * 5 - 1 + 2)
        self.assertIn((32, 64, 44, 1), products)
        self.assertIn((9, 9, 8, 32), products)
        self.assertNotIn((32, 5, 32, 1), products)

    def test_other_work_is_refused(self):
        wanted = [0.7, 0.6, 0.5]
        gpu.compare_losses("peer", [0.70003, 0.6, 0.5], wanted, 1e-4)
        for found in ([0.7, 0.6, 0.5001], [0.7, 0.6], [0.7, 0.6, float("nan")]):
            with self.subTest(found), self.assertRaises(gpu.OtherWork):
                gpu.compare_losses("peer", found, wanted, 1e-4)
        # Equal losses mean that nothing was trained.
        with self.assertRaises(gpu.OtherWork):
            gpu.compare_losses("peer", [0.7, 0.7], [0.7, 0.7], 1e-4)

    def test_what_was_not_taken_is_empty(self):
        row = {"model": "dlrm", "numerics": "fast", "batch": 64, "ours": 1234.5, "peers": {},
               "best peer": None, "ratio": None, "parts": {"compute": 0.25}, "products": None,
               "share": None, "idle": None}
        self.assertEqual(gpu.table([row]).splitlines()[-1],
                         "| dlrm | fast | 64 | 1,234 |  |  | 0.250 |  |  |  |")

    def test_without_a_gpu(self):
        if not count_gpus()[1]:
            self.skipTest("there is a GPU")
        done = subprocess.run([sys.executable, BENCH / "gpu.py"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^gpu\.py: there is no GPU to measure on: [^\n]+\n$")


if __name__ == "__main__":
    unittest.main()
