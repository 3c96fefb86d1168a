# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pdl-measure writes the file that pdl-opt --ps-report=machine= reads, with measurements of this
host or of two processes that connect to each other."""

import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import ADULT, BUILD, PDL_OPT, PDL_TRANSLATE, model, run

MEASURE = BUILD / "bin" / "pdl-measure"
# Bounds of each measurement on a current machine.
BOUNDS = {"flops_per_second": (1e9, 1e13),
          "memory_bytes_per_second": (1e8, 1e13),
          "network_bytes_per_second": (1e6, 1e12),
          "round_trip_seconds": (1e-7, 1),
          "find_key_seconds": (1e-10, 1e-5),
          "new_key_seconds": (1e-9, 1e-4),
          "new_byte_seconds": (1e-13, 1e-7),
          "message_seconds": (1e-6, 1e-1),
          "message_byte_seconds": (1e-12, 1e-6),
          "local_message_seconds": (1e-7, 1e-1),
          "local_message_byte_seconds": (1e-13, 1e-6),
          "cores": (0.5, 1e4),
          "process_bytes": (1e6, 1e9)}


class Measure(unittest.TestCase):

    def check(self, path):
        constants = json.loads(pathlib.Path(path).read_text())
        for name, (least, most) in BOUNDS.items():
            self.assertGreater(constants[name], least, name)
            self.assertLess(constants[name], most, name)

    def test_loopback_and_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/machine.json"
            run(MEASURE, "-o", path)
            self.check(path)
            report = run(PDL_OPT, model("ctr_dnn"),
                         "--pdl-pipeline=to=placed mode=sync",
                         f"--ps-report=servers=2 machine={path}", "-o",
                         "/dev/null").stdout
            self.assertIn("predicted step", report)

    def test_costs_of_a_step(self):
        with tempfile.TemporaryDirectory() as folder:
            machine, costs = f"{folder}/machine.json", f"{folder}/costs.json"
            run(MEASURE, "-o", machine)
            run(PDL_TRANSLATE, model("wide_deep"), "-o", f"{folder}/one")
            run(f"{folder}/one/trainer", "train", "--data", ADULT, "--steps", "40",
                "--batch-size", "64", "--costs", costs)
            measured = json.loads(pathlib.Path(costs).read_text())
            self.assertEqual(measured["model"], "wide_deep")
            self.assertEqual(measured["batch_size"], 64)
            self.assertEqual(measured["steps"], 40)
            self.assertGreater(measured["table_keys"]["embedding"], 50)
            self.assertLess(measured["keys"], measured["ids"])
            self.assertLess(measured["compute_seconds"],
                            measured["step_seconds"])
            report = run(PDL_OPT, model("wide_deep"),
                         "--pdl-pipeline=to=placed mode=sync",
                         f"--ps-report=servers=2 batch-size=64 hosts=shared "
                         f"machine={machine} costs={costs}", "-o",
                         "/dev/null").stdout
            self.assertIn("predicted memory", report)
            nothing = subprocess.run(
                [f"{folder}/one/trainer", "train", "--data", ADULT, "--steps", "0",
                 "--costs", costs], capture_output=True, text=True)
            self.assertEqual(nothing.returncode, 1)
            self.assertIn("nothing was trained", nothing.stderr)

    def test_two_processes(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        listener = subprocess.Popen([MEASURE, "--listen", str(port)])
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/machine.json"
            end = time.monotonic() + 60
            while True:
                done = subprocess.run(
                    [MEASURE, "--peer", f"127.0.0.1:{port}", "-o", path],
                    capture_output=True, text=True)
                if done.returncode == 0 or time.monotonic() > end:
                    break
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check(path)
        self.assertEqual(listener.wait(timeout=60), 0)

    def test_no_listener(self):
        done = subprocess.run([MEASURE, "--peer", "127.0.0.1:1"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot connect to the other side", done.stderr)


if __name__ == "__main__":
    unittest.main()
