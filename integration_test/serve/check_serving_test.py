# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pdl-check-serving: models agree in all forms, fused and not fused. A wrong checkpoint, model,
hash or record is reported by one message."""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from model_data import model_data
from model_server import UnixConnection
from older_layout import without_layout
from programs import BUILD, PDL_CHECKPOINT, PDL_SERVE, PDL_TRANSLATE, checkpoints_in, model, run
from waiting import LONG, wait_until

PDL_CHECK = BUILD / "bin" / "pdl-check-serving"
ROWS = 700
# Matches a number with its bits, twice.
TWO_VALUES = (r"-?[0-9.e-]+ \(0x[0-9a-f]{8}\) instead of -?[0-9.e-]+ \(0x[0-9a-f]{8}\); "
              r"\d+ of \d+ rows differ")


def commands():
    """Yields the command lines of all processes."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_text(errors="replace")


class Changed(http.server.BaseHTTPRequestHandler):
    """Server in front of another server. It changes a text of sample 5 of the request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for tensor in body["inputs"]:
            if tensor["datatype"] == "BYTES" and len(tensor["data"]) > 5 * 26:
                tensor["data"][5 * 26] = "another"
        path = self.server.behind
        connection = http.client.HTTPConnection("behind")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(path))
        connection.request("POST", self.path, json.dumps(body))
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@unittest.skipUnless(PDL_SERVE.exists(), "pdl-serve was not built: its packages are missing")
class CheckServingTest(SharedFolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.source = model("ctr_dnn")
        cls.data = model_data("ctr_dnn", cls.root, ROWS)
        cls.out = cls.root / "ctr_dnn"
        cls.compile(cls.source, cls.out)
        cls.checkpoint = cls.train(cls.out, cls.data, 2)
        cls.earlier = cls.train(cls.out, cls.data, 1)
        cls.compiled = ["--trainer", cls.out / "trainer", "--library", cls.out / "libctr_dnn.so"]

    @staticmethod
    def compile(source, folder, *flags):
        for emit in [], ["--emit=library"]:
            run(PDL_TRANSLATE, source, "--numerics=strict", *flags, *emit, "-o", folder)

    @staticmethod
    def train(out, data, epochs):
        folder = out / f"checkpoints-{epochs}"
        run(out / "trainer", "train", "--data", data, "--batch-size", "64", "--epochs", epochs,
            "--checkpoint", folder, "--rows", f":{ROWS}")
        return folder

    def check(self, *arguments, data=None):
        return subprocess.run(
            [str(word) for word in (PDL_CHECK, *arguments, "--data", data or self.data, "--rows",
                                    f":{ROWS}")], capture_output=True, text=True, check=False)

    def agrees(self, *arguments, **more):
        done = self.check(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertTrue(done.stdout.endswith("what is served is what was trained, to the bit\n"))
        return done.stdout

    def differs(self, *arguments, status=1, **more):
        """Runs a check that must fail. Returns its error message."""
        done = self.check(*arguments, **more)
        self.assertEqual(done.returncode, status, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertNotIn("to the bit", done.stdout)
        return done.stderr

    def changed_library(self, name, *changes):
        """Returns a library of the model with changes in its text."""
        text = self.source.read_text()
        for before, after in changes:
            self.assertIn(before, text)
            text = text.replace(before, after, 1)
        path = self.root / f"{name}.mlir"
        path.write_text(text)
        made = self.root / name
        run(PDL_TRANSLATE, path, "--numerics=strict", "--emit=library", "-o", made)
        return made / "libctr_dnn.so"

    #===------------------------------------------------------------------===#
    # What agrees
    #===------------------------------------------------------------------===#

    def test_hashed_ids(self):
        told = self.agrees(self.source, "--checkpoint", self.checkpoint)
        for leg in ("trainer predict ", "trainer evaluate", "library ", "server (HTTP) "):
            self.assertRegex(told, rf"(?m)^{re.escape(leg)} *equal: fused, unfused; batches of "
                                   r"1, 7, 512")
        self.assertIn("@auc, @copc, @log_loss of it", told)
        self.assertIn(f"{ROWS} rows", told)

    def test_other_models(self):
        """Several outputs; a sequence whose bags are lists in cells; metrics that also observe
        other candidates, and a metric of a value that is not predicted."""
        for name, told, flags in (
                ("esmm", "@ctcvr_auc, @ctr_auc, @cvr_auc of it", []),
                ("din", "@auc, @log_loss of it", []), ("dssm", "@auc of it", []),
                ("gru4rec", "no metric of it", ["--not-predicted", "auc", "--not-predicted",
                                                "log_loss"])):
            with self.subTest(name):
                data = model_data(name, self.root, ROWS)
                out = self.root / name
                self.compile(model(name), out)
                checkpoint = self.train(out, data, 1)
                self.assertIn(told, self.agrees(model(name), "--checkpoint", checkpoint, *flags,
                                                "--batch-sizes", "1,512", data=data))

    def test_forms_of_values(self):
        """One of several checkpoints; a delta; a dump; an export with its checkpoint."""
        deltas = self.root / "deltas"
        run(self.out / "trainer", "train", "--data", self.data, "--batch-size", "64",
            "--checkpoint", deltas, "--checkpoint-steps", "3", "--checkpoint-deltas", "9",
            "--checkpoint-keep", "0")
        dump, exported = self.root / "values.safetensors", self.root / "exported"
        run(PDL_CHECKPOINT, "dump", self.checkpoint, "-o", dump)
        run(PDL_CHECKPOINT, "export", self.checkpoint, "-o", exported)
        for values in ([checkpoints_in(deltas)[1]], [dump],
                       [self.checkpoint, "--served", exported]):
            with self.subTest(values=values):
                told = self.agrees(*self.compiled, "--batch-sizes", "512", "--checkpoint", *values)
                self.assertIn(f"library           equal: {self.out}/libctr_dnn.so", told)

    def test_bad_rows_and_ranges(self):
        """Row numbers are those of the data, whatever is skipped."""
        lines = self.data.read_text().splitlines()
        cells = lines[3].split("\t")
        cells[2] = "x1"
        broken = self.root / "broken.tsv"
        broken.write_text("\n".join([*lines[:3], "\t".join(cells), *lines[4:]]) + "\n")
        message = self.differs(*self.compiled, "--checkpoint", self.checkpoint, data=broken)
        self.assertIn("broken.tsv:4:3: field `numbers`", message)
        told = self.agrees(*self.compiled, "--checkpoint", self.checkpoint, "--max-bad-rows", "1",
                           "--batch-sizes", "512", data=broken)
        self.assertIn(f"{ROWS - 1} rows", told)

    #===------------------------------------------------------------------===#
    # What does not
    #===------------------------------------------------------------------===#

    def test_another_checkpoint(self):
        message = self.differs(*self.compiled, "--checkpoint", self.checkpoint, "--served",
                                self.earlier)
        self.assertRegex(message, r"library \(.*libctr_dnn.so, batches of 1\) disagrees with "
                                   r"trainer predict \(.*/trainer, batches of 512\): row 0 of the "
                                   r"data \(from 0\), output 'output0', column 0: " + TWO_VALUES)
        self.assertIn(f"; the library reads {self.earlier} (step 11), the trainer "
                      f"{self.checkpoint}", message)

    def test_another_model(self):
        library = self.changed_library("tanh", ("act(relu)", "act(tanh)"))
        message = self.differs(*self.compiled, "--library", library, "--checkpoint",
                                self.checkpoint)
        self.assertRegex(message, re.escape(f"library ({library}, batches of 1) disagrees with ") +
                         ".*" + TWO_VALUES)
        shape = self.changed_library("wider", ("400x400xf32> in @dense", "400x512xf32> in @dense"),
                                     ("@b2 : tensor<400xf32>", "@b2 : tensor<512xf32>"),
                                     ("@w3 : tensor<400x400xf32>", "@w3 : tensor<512x400xf32>"),
                                     ("-> tensor<?x400xf32>\n    %h3", "-> tensor<?x512xf32>\n    %h3"),
                                     ("nn.linear %h2, @w3, @b3 act(relu) : (tensor<?x400xf32>)",
                                      "nn.linear %h2, @w3, @b3 act(relu) : (tensor<?x512xf32>)"))
        message = self.differs(*self.compiled[:2], "--library", shape, "--checkpoint",
                                self.checkpoint)
        self.assertIn(f"library ({shape}) cannot take the values of {self.checkpoint}: ", message)
        self.assertIn("shape of @w2", message)

    def test_another_hash(self):
        library = self.changed_library("salted", ("salt = slot", "salt = 7"))
        message = self.differs(*self.compiled[:2], "--library", library, "--checkpoint",
                                self.checkpoint)
        self.assertIn(f"library ({library}) cannot take the values of {self.checkpoint}: ", message)
        self.assertIn("the checkpoint makes some of `text by xxh64 salt slot`, this program of "
                      "`text by xxh64 salt 7`", message)
        # If the values do not describe how their keys were computed, predictions show the
        # difference.
        dump, older = self.root / "values.safetensors", self.root / "older.safetensors"
        run(PDL_CHECKPOINT, "dump", self.checkpoint, "-o", dump)
        without_layout(dump, older)
        message = self.differs(*self.compiled[:2], "--library", library, "--checkpoint", older,
                                "--accept-old-layout")
        self.assertRegex(message, TWO_VALUES)
        self.assertIn("the library makes other keys of texts: the model's hash differs", message)

    def test_evaluation_of_something_else(self):
        """@evaluate and @predict differ."""
        text = self.source.read_text()
        at = text.index("nn.program @evaluate")
        changed = text[:at] + text[at:].replace("nn.sigmoid", "nn.tanh", 1)
        source = self.root / "evaluated.mlir"
        source.write_text(changed)
        message = self.differs(source, "--checkpoint", self.checkpoint)
        self.assertRegex(message, r"trainer evaluate \(fused, batches of 1\) disagrees with "
                                   r"trainer predict \(fused, batches of 512\): row \d+ of the "
                                   r"data \(from 0\), what metric @auc observes of output "
                                   r"'output0', column 0: " + TWO_VALUES)
        self.assertIn("--not-predicted auc", message)
        self.agrees(source, "--checkpoint", self.checkpoint, "--batch-sizes", "512",
                    "--not-predicted", "auc", "--not-predicted", "log_loss", "--not-predicted",
                    "copc")

    @staticmethod
    def is_ready(path):
        """Returns true if a server at a unix socket has loaded its models."""
        with contextlib.closing(UnixConnection(path)) as connection:
            try:
                connection.request("GET", "/v2/health/ready")
                return connection.getresponse().status == 200
            except OSError:
                return False

    def test_another_record_on_the_way(self):
        """A running server, and one that receives another text in one sample."""
        version = self.root / "models" / "clicks" / "1"
        version.mkdir(parents=True)
        shutil.copy(self.out / "libctr_dnn.so", version)
        shutil.copytree(self.checkpoint, version / "checkpoints")
        path = self.root / "socket"
        with subprocess.Popen([PDL_SERVE, self.root / "models", "--http", f"unix:{path}"],
                              stderr=subprocess.DEVNULL) as server:
            self.addCleanup(server.terminate)
            wait_until(lambda: server.poll() is not None or self.is_ready(path))
            self.assertIsNone(server.poll())
            command = [*self.compiled[:2], "--checkpoint", self.checkpoint, "--server-model",
                       "clicks", "--batch-sizes", "1,16"]
            self.assertIn(f"server (HTTP)     equal: unix:{path}",
                          self.agrees(*command, "--server", f"unix:{path}"))
            with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Changed) as proxy:
                proxy.behind = path
                threading.Thread(target=proxy.serve_forever, daemon=True).start()
                address = f"127.0.0.1:{proxy.server_port}"
                message = self.differs(*command, "--server", address)
                proxy.shutdown()
            self.assertRegex(message, re.escape(f"server ({address}, batches of 16) disagrees "
                                                 "with") + r".* row 5 of the data \(from 0\)")
            server.terminate()

    def test_what_cannot_be_compared(self):
        fast = self.root / "fast"
        run(PDL_TRANSLATE, self.source, "--emit=library", "-o", fast)
        for arguments, told in (
                ([*self.compiled[:2], "--library", fast / "libctr_dnn.so"],
                 "is of numerics fast, whose last digits may differ with the batch"),
                ([*self.compiled[:2], "--library", self.data], "is no library"),
                ([*self.compiled, "--program", "rank"], "has no program @rank"),
                (["--trainer", self.root / "none", *self.compiled[2:]], "none cannot be started: No "
                                                                        "such file"),
                (["--trainer", "/bin/true", *self.compiled[2:]], "/bin/true is no trainer"),
                ([*self.compiled, "--server", f"unix:{self.root}/none"], "does not respond"),
                ([*self.compiled, "--served", self.root / "none"], "there are no values at"),
                ([*self.compiled, "--tools", self.root], "there is no pdl-serve in"),
                ([*self.compiled, "--keep", self.root], "File exists")):
            with self.subTest(told):
                # A server that cannot be reached may be available later.
                status = 3 if told == "does not respond" else 1
                self.assertIn(told, self.differs("--checkpoint", self.checkpoint, *arguments,
                                                 "--batch-sizes", "512", status=status))

    def test_stopped(self):
        """Started processes are ended, and written files are removed."""
        for number, name in (signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "SIGINT"):
            # The last server never responds, so the comparison does not end before the signal.
            with (self.subTest(name), tempfile.TemporaryDirectory(dir="/tmp") as folder,
                  socket.create_server(("127.0.0.1", 0)) as silent):
                with subprocess.Popen(
                        [PDL_CHECK, *self.compiled, "--checkpoint", self.checkpoint, "--data",
                         self.data, "--no-evaluate", "--rows", ":50", "--batch-sizes",
                         ",".join(["1"] * 30), "--server",
                         f"127.0.0.1:{silent.getsockname()[1]}"],
                        env={**os.environ, "TMPDIR": folder}, stdout=subprocess.DEVNULL,
                        stderr=subprocess.PIPE, text=True) as process:
                    found = pathlib.Path(folder)
                    silent.setblocking(False)
                    wait_until(lambda: (list(found.glob("*/server-0/socket")) or
                                        select.select([silent], [], [], 0)[0] or
                                        process.poll() is not None), pause=0.01)
                    self.assertIsNone(process.poll())
                    process.send_signal(number)
                    said = process.communicate(timeout=LONG)[1]
                self.assertEqual(process.returncode, 128 + number, said)
                self.assertEqual(said, f"pdl-check-serving: stopped by {name} before all was "
                                       "compared\n")
                self.assertEqual(list(found.iterdir()), [])
                self.assertEqual([words for words in commands() if folder in words], [])

    def test_a_signal_inside_of_a_destructor(self):
        """Python ignores exceptions in destructors, but the next batch does not start."""
        script = """
import signal
from check_serving import inputs, stopping

class Falling:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

class Three(inputs.Inputs):
    def __init__(self):
        self.rows = range(3)

stopping.watch()
done = []
try:
    for batch in Three().batches(1):
        done.append(batch)
        Falling()
except stopping.Stopped as stopped:
    print(done, stopped.number)
"""
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONPATH": str(PDL_CHECK.resolve().parent)})
        self.assertEqual(done.stdout, f"[(0, 1)] {int(signal.SIGTERM)}\n", done.stderr)
        self.assertIn("Exception ignored", done.stderr)

    def test_a_full_disk(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [PDL_CHECK, *self.compiled, "--checkpoint", self.checkpoint, "--data", self.data,
                 "--rows", ":50", "--no-servers", "--no-evaluate"], stdout=full,
                stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (
            3, "pdl-check-serving: what it writes to: No space left on device; nothing more was "
               "compared\n"))

    def test_flags(self):
        for arguments, told in (
                (["--checkpoint", "x"], "nothing to compare"),
                (["m.mlir"], "--checkpoint"),
                (["m.mlir", "--checkpoint", "x", "--batch-sizes", "0"], "lists no batch sizes"),
                (["m.mlir", "--checkpoint", "x", "--server-model", "y"], "--server, which is")):
            with self.subTest(told):
                done = self.check(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(told, done.stderr)

    def test_kept_files(self):
        kept = self.root / "kept"
        self.agrees(*self.compiled, "--checkpoint", self.checkpoint, "--batch-sizes", "512",
                    "--keep", kept, "--no-servers", "--no-evaluate")
        self.assertTrue((kept / "inputs.safetensors").exists())


if __name__ == "__main__":
    unittest.main()
