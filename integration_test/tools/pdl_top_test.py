# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pdl-top shows what the endpoints of a job say: as a plain table, and in a terminal."""

import contextlib
import fcntl
import http.server
import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from folders import SharedFolderTest
from metric_text import get, parse, value_of
from programs import ADULT, PDL_TRANSLATE, SOURCE, run
from small_model import LOSS, METRICS, OBSERVATIONS, small_model
from waiting import wait_until

PDL_TOP = SOURCE / "tools" / "pdl-top" / "pdl-top"
sys.path.insert(0, str(PDL_TOP.parent))
from job_view import endpoints, processes, table

ENDPOINT = re.compile(r"metrics at (\S+)")


class FixedProcess:
    """An endpoint with fixed pages."""

    def __init__(self, metrics, readiness="ready\n"):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                page = metrics if self.path == "/metrics" else readiness
                self.send_response(503 if page.startswith("not ready") else 200)
                self.end_headers()
                self.wfile.write(page.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=[0.01], daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Terminal:
    """pdl-top in a terminal of its own."""

    def __init__(self, *arguments):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 250, 0, 0))
        self.popen = subprocess.Popen(
            [sys.executable, PDL_TOP, "--interval", "0.2", "--timeout", "60",
             *map(str, arguments)], stdin=slave, stdout=slave, stderr=slave,
            env={**os.environ, "TERM": "xterm"}, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.text = b""
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with contextlib.suppress(OSError):
            while piece := os.read(self.master, 1 << 16):
                self.text += piece

    def press(self, keys):
        """Presses keys, and then Ctrl-L, which repaints the screen. Returns the number of bytes
        that were shown before."""
        shown = len(self.text)
        os.write(self.master, keys + b"\x0c")
        return shown

    def wait_for(self, text, after=0):
        wait_until(lambda: text in self.text[after:], said=lambda: self.text.decode())

    def end(self):
        """Returns the exit status, after all output has been read."""
        status = self.popen.wait(60)
        wait_until(lambda: b"\x1b[?1049l" in self.text, said=lambda: self.text.decode())
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()
        os.close(self.master)


def once(*arguments, status=0):
    """Returns the rows of a plain table by process, each with texts by heading, and the lines after
    the table."""
    done = subprocess.run([sys.executable, PDL_TOP, "--once", "--interval", "0.1", "--timeout",
                           "60", *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    if done.returncode != status or done.stderr:
        raise AssertionError(f"status {done.returncode}:\n{done.stdout}\n{done.stderr}")
    head, *lines = done.stdout.splitlines()
    headings, rows = re.split("  +", head.strip()), {}
    while lines:
        cells = re.split("  +", lines.pop(0).strip())
        rows[cells[0]] = dict(zip(headings, cells, strict=True))
        if cells[0] == "all":
            return rows, lines
    raise AssertionError(f"no line of all processes:\n{done.stdout}")


class TopOfAJob(SharedFolderTest):
    """A job of two trainers and a server."""

    STEPS = {"trainer 0": "pdl_trainer_training_steps", "trainer 1": "pdl_trainer_training_steps",
             "server 0": "pdl_server_steps_total"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        text = small_model("@adam", clip=False, decay=False, warm_up=False)
        model = cls.root / "small.mlir"
        model.write_text(text.replace("  nn.program @train", METRICS + "  nn.program @train")
                         .replace(LOSS, LOSS + OBSERVATIONS))
        cls.sync = cls.root / "sync"
        run(PDL_TRANSLATE, model, "--mode=sync", "-o", cls.sync)

    def metric(self, process, name, **labels):
        return value_of(parse(get(self.addresses[process], "/metrics")[1]), name, **labels)

    def wait_for_metrics(self, cluster):
        """Waits until all processes have all numbers that are compared."""
        for address in self.addresses.values():
            wait_until(lambda: get(address, "/readyz")[0] == 200, said=cluster.said)
        for process, name in (("trainer 0", "pdl_trainer_metric"),
                              ("trainer 1", "pdl_trainer_metric"), ("server 0", "pdl_table_rows"),
                              ("server 0", "pdl_checkpoint_last_success_timestamp_seconds")):
            wait_until(lambda: self.metric(process, name), said=cluster.said)

    def test_a_job(self):
        monitored = ["--metrics-address", "127.0.0.1:0"]
        with Cluster(self.sync, 2, 1, [
                "--data", ADULT, "--batch-size", 64, "--epochs", 10000, "--checkpoint",
                self.root / "saved", "--checkpoint-steps", 50, *monitored], monitored) as cluster:
            cluster.start()
            self.addresses = {
                name: wait_until(lambda: ENDPOINT.search(process.output), said=cluster.said)[1]
                for name, process in zip(("server 0", "trainer 0", "trainer 1"),
                                         [*cluster.servers, *cluster.trainers])}
            self.wait_for_metrics(cluster)
            before = {name: self.metric(name, metric) for name, metric in self.STEPS.items()}
            rows, reasons = once(*self.addresses.values())
            after = {name: self.metric(name, metric) for name, metric in self.STEPS.items()}
            with Terminal(*self.addresses.values()) as top:
                top.wait_for(b"3/3 ready")
                shown = top.press(b"")
                for name in self.addresses:
                    top.wait_for(name.encode(), shown)
                os.write(top.master, b"q")
                self.assertEqual(top.end(), 0)
            pages = {name: get(address, "/metrics")[1] for name, address in self.addresses.items()}
        self.check_running(rows, reasons, before, after)
        self.check_pages(pages)

    def check_running(self, rows, reasons, before, after):
        """Checks a table whose numbers must lie between two readings."""
        self.assertEqual(set(rows), {*self.STEPS, "all"})
        self.assertEqual(reasons, [])
        for name, row in rows.items():
            self.assertEqual(row["state"], "3/3 ready" if name == "all" else "ready")
            if name != "all":
                self.assertTrue(before[name] <= float(row["step"]) <= after[name], row)
        self.assertRegex(rows["all"]["samples/s"], r"^\d+(\.\d)?[kM]?$")
        self.assertNotEqual(rows["trainer 0"]["sent/s"], "-")
        self.assertNotEqual(rows["server 0"]["recv/s"], "-")

    def check_pages(self, pages):
        """Checks that a table has the numbers of these pages."""
        with contextlib.ExitStack() as stack:
            fixed = {}
            for name, page in pages.items():
                fixed[name] = FixedProcess(page)
                stack.callback(fixed[name].close)
            rows, _ = once(*(each.address for each in fixed.values()))
        values = {name: parse(page) for name, page in pages.items()}
        memory = {name: value_of(each, "process_resident_memory_bytes")
                  for name, each in values.items()}
        for name in "trainer 0", "trainer 1":
            row, each = rows[name], values[name]
            self.assertEqual(float(row["step"]), value_of(each, "pdl_trainer_training_steps"))
            self.assertEqual(float(row["epoch"]), value_of(each, "pdl_trainer_epoch"))
            self.assertAlmostEqual(float(row["loss"]), value_of(each, "pdl_trainer_loss"),
                                   delta=1e-4)
            shown = dict(pair.split("=") for pair in row["metrics"].split(" "))
            self.assertIn("auc", shown)
            for metric, text in shown.items():
                self.assertAlmostEqual(float(text), value_of(each, "pdl_trainer_metric",
                                                             metric=metric), delta=1e-4)
            # The counters of a fixed page do not grow.
            self.assertEqual(row["samples/s"], "0")
        server = rows["server 0"]
        self.assertEqual(float(server["keys"]),
                         value_of(values["server 0"], "pdl_table_rows"))
        self.assertRegex(server["saved"], r"^\d+s$|^\d+m$")
        for name, size in memory.items():
            self.assertEqual(rows[name]["memory"], table.bytes_text(size))
        self.assertEqual(rows["all"]["memory"], table.bytes_text(sum(memory.values())))
        self.assertEqual(float(rows["all"]["step"]),
                         max(float(rows[name]["step"]) for name in ("trainer 0", "trainer 1")))


class TopWithoutAJob(unittest.TestCase):

    PAGE = ('pdl_build_info{role="trainer",rank="3",mode="sync",model="m"} 1\n'
            'pdl_trainer_training_steps 7\n')

    def test_a_terminal(self):
        with contextlib.ExitStack() as stack:
            targets = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()), "job.json")
            process, other = FixedProcess(self.PAGE), FixedProcess("pdl_table_rows 5\n")
            stack.callback(process.close)
            stack.callback(other.close)
            top = stack.enter_context(Terminal("--targets", targets))
            top.wait_for(b"no processes yet")
            targets.write_text(json.dumps(
                [{"targets": [process.address], "labels": {"process": "trainer 3"}},
                 {"targets": [other.address], "labels": {"process": "pserver 0"}}]))
            top.wait_for(b"trainer 3")
            top.wait_for(b"2/2 ready", top.press(b""))
            top.wait_for(b"server 0", top.press(b""))
            top.wait_for(b"process*", top.press(b""))
            top.wait_for(b"state*", top.press(b">"))
            top.wait_for(b"process*", top.press(b"<"))
            # pdl-launch removes the file at the end of the job.
            targets.unlink()
            top.wait_for(b"2/2 ready", top.press(b""))
            os.write(top.master, b"q")
            self.assertEqual(top.end(), 0)

    def test_ends_of_a_terminal(self):
        for end, status in ((lambda top: os.write(top.master, b"\x03"), 0),
                            (lambda top: top.popen.send_signal(signal.SIGTERM), 143)):
            with self.subTest(status), contextlib.closing(FixedProcess(self.PAGE)) as process, \
                    Terminal(process.address) as top:
                top.wait_for(b"trainer 3")
                end(top)
                self.assertEqual(top.end(), status)
                self.assertNotIn(b"Traceback", top.text)

    def test_a_process_that_ends_keeps_its_name(self):
        process, other = FixedProcess(self.PAGE), FixedProcess(self.PAGE.replace('"3"', '"4"'))
        try:
            with Terminal(process.address, other.address) as top:
                top.wait_for(b"2/2 ready")
                process.close()
                top.wait_for(b"1/2 up", top.press(b""))
                shown = top.press(b"")
                top.wait_for(b"no answer", shown)
                top.wait_for(b"trainer 3: ", shown)
                os.write(top.master, b"q")
                self.assertEqual(top.end(), 0)
        finally:
            other.close()

    def test_reasons(self):
        reason = "not ready since 2026-11-30T12:00:03Z (71 s): waiting for trainer 1 to join (70 s)"
        process = FixedProcess(self.PAGE, reason + "\n")
        try:
            rows, reasons = once(process.address)
        finally:
            process.close()
        self.assertEqual(rows["trainer 3"]["state"], "not ready")
        self.assertEqual(reasons, [f"trainer 3: {reason}"])

    def test_nothing_answers(self):
        process = FixedProcess(self.PAGE)
        process.close()
        rows, reasons = once(process.address, status=1)
        self.assertEqual(rows[process.address]["state"], "no answer")
        self.assertEqual(reasons, [f"{process.address}: Connection refused"])

    def test_wrong_flags(self):
        for flags, message in (([], "give the addresses"), (["host"], "'host' is no address"),
                               (["127.0.0.1:1"], "give --once"),
                               (["--once", "--interval", "0", "127.0.0.1:1"], "'0' is no number")):
            done = subprocess.run([sys.executable, PDL_TOP, *flags], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def reading(self, at, text, process=""):
        return endpoints.Reading("a:1", process, at, True, [], endpoints.parse_metrics(text))

    def test_rates(self):
        page = ('pdl_trainer_samples_total{{program="train"}} {}\n'
                'pdl_trainer_samples_total{{program="other"}} 5\n'
                'pdl_server_staleness_steps_sum {}\npdl_server_staleness_steps_count {}\n')
        job = processes.JobState()
        job.update([self.reading(10.0, page.format(100, 30, 10))])
        self.assertIsNone(job.rows[0].samples)
        self.assertEqual(job.rows[0].staleness, 3.0)
        job.update([self.reading(14.0, page.format(300, 40, 30))])
        self.assertEqual((job.rows[0].samples, job.rows[0].staleness), (50.0, 0.5))
        # A restarted process counts from 0.
        job.update([self.reading(16.0, page.format(7, 0, 0))])
        self.assertEqual((job.rows[0].samples, job.rows[0].staleness), (None, None))

    def test_labels_and_unknown_lines(self):
        metrics = endpoints.parse_metrics(
            '# HELP a b\na{x="1,}",y="q\\"\\n\\\\"} 2.5\nb +Inf\nc x\n?\n')
        self.assertEqual(metrics, {"a": [({"x": "1,}", "y": 'q"\n\\'}, 2.5)],
                                   "b": [({}, float("inf"))]})

    def test_order(self):
        rows = [processes.Row("server 0", "server", 0, samples=None),
                processes.Row("trainer 10", "trainer", 10, samples=1.0),
                processes.Row("trainer 9", "trainer", 9, samples=2.0)]
        for heading, is_reversed, ranks in (("process", False, [9, 10, 0]),
                                            ("samples/s", False, [9, 10, 0]),
                                            ("samples/s", True, [10, 9, 0])):
            found = table.sort_rows(rows, heading, is_reversed)
            self.assertEqual([row.rank for row in found], ranks, heading)


if __name__ == "__main__":
    unittest.main()
