# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common parts of the tests of pdl-serve: a running server, models to serve, and requests."""

import array
import ctypes
import http.client
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

from model_data import model_data
from programs import PDL_SERVE, PDL_TRANSLATE, model, run
from waiting import LONG, wait_until

ROWS = 600

# This model has ids that are not hashed, inputs without values for missing ones, and two programs
# with named outputs.
SMALL = """
module @small {
  nn.record @r {
    nn.field @label : tensor<?x1xf32>
    nn.field @x : tensor<?x2xf32>
    nn.field @item : tensor<?x1xi64>
  }
  nn.group @all rule(@adagrad) rate(0.1)
  nn.table @rows : i64 -> tensor<1xf32> in @all init(#nn.uniform<-0.5, 0.5>)
  nn.param @w : tensor<2x1xf32> in @all init(#nn.constant<0.5>)
  nn.param @b : tensor<1xf32> in @all init(#nn.zeros)
  nn.func private @logit(%x: tensor<?x2xf32>, %item: tensor<?x1xi64>) -> tensor<?x1xf32> {
    %row = nn.lookup @rows[%item] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %flat = nn.flatten %row from 1 : tensor<?x1x1xf32>
    %linear = nn.linear %x, @w, @b : (tensor<?x2xf32>) -> tensor<?x1xf32>
    %z = nn.add %flat, %linear : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @train reads(@r) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x2xf32>, %item: tensor<?x1xi64>):
    %z = nn.call @logit(%x, %item) : (tensor<?x2xf32>, tensor<?x1xi64>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    nn.minimize %l over [@all] : tensor<?x1xf32>
  }
  nn.program @linear frozen reads(@r except [@label, @item]) {
  ^bb0(%x: tensor<?x2xf32>):
    %linear = nn.linear %x, @w, @b : (tensor<?x2xf32>) -> tensor<?x1xf32>
    nn.return %linear as "linear" : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r except @label) {
  ^bb0(%x: tensor<?x2xf32>, %item: tensor<?x1xi64>):
    %z = nn.call @logit(%x, %item) : (tensor<?x2xf32>, tensor<?x1xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.return %p as "score", %x as "echo" : tensor<?x1xf32>, tensor<?x2xf32>
  }
}
"""


def single(number):
    """Returns a number rounded to f32."""
    return ctypes.c_float(float(number)).value


def tensor(name, datatype, shape, data):
    return {"name": name, "datatype": datatype, "shape": shape, "data": data}


def inputs_of(lines):
    """Returns the inputs of @predict of ctr_dnn for lines of clicks. Each bag has one text."""
    return [tensor("numbers", "FP32", [len(lines), 13],
                   [float(cell or 0) for line in lines for cell in line[1:14]]),
            tensor("categories", "BYTES", [len(lines), 26],
                   [cell for line in lines for cell in line[14:40]])]


def array_inputs_of(lines):
    """Returns the inputs of `inputs_of` in the form that pdl.serving accepts."""
    return {"numbers": array.array("f", [float(cell or 0) for line in lines for cell in line[1:14]]),
            "categories": [[cell] for line in lines for cell in line[14:40]]}


def small_inputs(count=1, item=3):
    return [tensor("x", "FP32", [count, 2], [0.25] * (2 * count)),
            tensor("item", "INT64", [count, 1], [item] * count)]


def public_inputs(module, inputs, **how):
    """Returns such inputs in the form that a public client accepts. `module`: http or grpc of
    tritonclient. `how`: arguments of its set_data_from_numpy."""
    import numpy  # pylint: disable=import-outside-toplevel
    made = []
    for each in inputs:
        kind = numpy.object_ if each["datatype"] == "BYTES" else numpy.float32
        made.append(module.InferInput(each["name"], each["shape"], each["datatype"]))
        made[-1].set_data_from_numpy(numpy.array(each["data"], kind).reshape(each["shape"]), **how)
    return made


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("unix")
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(LONG)
        self.sock.connect(self.path)


class Server:
    """Running pdl-serve. At the end of `with` it is stopped by SIGTERM, and must end successfully.
    """

    def __init__(self, models, *flags, grpc=False, unix=None, waits=True, interval="0.05",
                 **process):
        places = ["--http", "127.0.0.1:0" + (f",unix:{unix}" if unix else "")]
        places += ["--grpc", "127.0.0.1:0"] if grpc else []
        self.process = subprocess.Popen(
            [str(PDL_SERVE), str(models), *places, "--interval", interval, *map(str, flags)],
            stderr=subprocess.PIPE, text=True, **process)
        self.lines = []
        self.is_ending = False
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        try:
            self.port = int(self.wait_for(r"answers HTTP at 127.0.0.1:(\d+)")[1])
            if unix:
                self.wait_for("answers HTTP at unix:")
            if grpc:
                self.grpc_port = int(self.wait_for(r"answers gRPC at 127.0.0.1:(\d+)")[1])
            if waits:
                self.wait_until_loaded()
        except BaseException:
            self.kill()
            raise

    def wait_until_loaded(self):
        """Waits until each version that was in the folder at the start has been loaded or refused.
        """
        wait_until(lambda: b"not been read yet" not in self.ask("GET", "/v2/health/ready")[1]
                   and b'"LOADING"' not in self.ask("POST", "/v2/repository/index")[1],
                   said=lambda: "".join(self.lines), pause=0.01)

    def _read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()

    def wait_for(self, pattern, since=0, seconds=LONG):
        """Waits for a line of the log that matches `pattern`. Returns the match."""
        def found():
            return next(filter(None, (re.search(pattern, line) for line in self.lines[since:])),
                        None)
        with self.changed:
            if not self.changed.wait_for(found, seconds):
                raise AssertionError(f"no line like '{pattern}' in:\n{''.join(self.lines)}")
            return found()

    def end(self):
        self.is_ending = True
        self.process.send_signal(signal.SIGTERM)

    def kill(self):
        """Kills the server if it still runs."""
        self.is_ending = True
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if not self.is_ending:
            self.end()
        try:
            status = self.process.wait(LONG)
        finally:
            self.kill()
        if kind is None and status != 0:
            raise AssertionError(f"pdl-serve ended with {status}:\n{''.join(self.lines)}")

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONG)

    def ask(self, method, path, body=None, headers=None, connection=None):
        """Sends a request. Returns the status and the body of the response."""
        used = connection or self.connect()
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        used.request(method, path, body, headers or {})
        answer = used.getresponse()
        content = answer.read()
        if not connection:
            used.close()
        self.headers = answer.headers
        return answer.status, content

    def infer(self, inputs, name="ctr", connection=None, **more):
        """Sends an inference request, whose response must have the status 200. Returns its outputs
        by name."""
        status, content = self.ask("POST", f"/v2/models/{name}/infer",
                                   {"inputs": inputs, **more}, connection=connection)
        if status != 200:
            raise AssertionError(f"{status}: {content}")
        answer = json.loads(content)
        return {output["name"]: output["data"] for output in answer["outputs"]}

    def refused(self, *arguments, **more):
        status, content = self.ask(*arguments, **more)
        return status, json.loads(content)["error"]

    def metrics(self):
        """Returns the text of the metrics."""
        return self.ask("GET", "/metrics")[1].decode()

    def metric(self, name, page=None, **labels):
        """Returns the sum of the values with these labels. `page`: a text of metrics; None: ask
        for one."""
        total = 0.0
        for found in re.finditer(rf"^{name}(?:{{(.*)}})? (\S+)$", page or self.metrics(), re.M):
            have = dict(re.findall(r'(\w+)="([^"]*)"', found[1] or ""))
            if all(have.get(key) == value for key, value in labels.items()):
                total += float(found[2])
        return total


@unittest.skipUnless(PDL_SERVE.exists(), "pdl-serve was not built: its packages are missing")
class ServedModels(unittest.TestCase):
    """Tests of a folder with the models ctr_dnn (`ctr`) and SMALL (`small`) in strict numerics.
    `saved`: for each model, the numbers of epochs after which checkpoints are written."""

    saved = {"ctr": (1,), "small": (1,)}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.addClassCleanup(cls.folder.cleanup)
        cls.data = model_data("ctr_dnn", cls.root, ROWS)
        cls.small_data = cls.root / "small.tsv"
        cls.small_data.write_text("".join(f"{i % 2}\t0.{i}\t1.5\t{i % 7}\n" for i in range(64)))
        (cls.root / "small.mlir").write_text(SMALL)
        cls.sources = {"ctr": model("ctr_dnn"), "small": cls.root / "small.mlir"}
        cls.trainers = {}
        for name, epochs in cls.saved.items():
            cls.trainers[name] = cls.root / name
            for flags, folder in ((), ""), (("--emit=library",), "library"):
                run(PDL_TRANSLATE, cls.sources[name], "--numerics=strict", *flags, "-o",
                    cls.trainers[name] / folder)
            for count in epochs:
                cls.train(name, count)
        cls.lines = [line.split("\t") for line in cls.data.read_text().splitlines()]
        # Predictions of checkpoints by their number of epochs.
        cls.predicted = {epochs: cls.predictions("ctr", epochs)
                         for epochs in cls.saved.get("ctr", ())}
        cls.expected = cls.predicted.get(1)

    @classmethod
    def train(cls, name, epochs):
        run(cls.trainers[name] / "trainer", "train", "--data",
            cls.data if name == "ctr" else cls.small_data, "--batch-size", "64", "--epochs",
            epochs, "--checkpoint", cls.checkpoints(name, epochs))

    @classmethod
    def checkpoints(cls, name, epochs):
        return cls.root / f"{name}-{epochs}"

    @classmethod
    def predictions(cls, name, epochs):
        path = cls.root / "predictions.tsv"
        run(cls.trainers[name] / "trainer", "predict", "--data", cls.data, "--output", path,
            "--checkpoint", cls.checkpoints(name, epochs))
        return [single(line) for line in path.read_text().splitlines()[1:]]

    def setUp(self):
        own = tempfile.TemporaryDirectory()
        self.addCleanup(own.cleanup)
        self.own = pathlib.Path(own.name)
        self.models = self.own / "models"
        self.models.mkdir()

    def deploy(self, name="ctr", version=1, epochs=1, link=False):
        """Copies a version to a temporary name in the folder of models, then renames it to its
        final name."""
        made = self.models / name / f".{version}"
        made.mkdir(parents=True)
        [library] = (self.trainers[name] / "library").glob("*.so")
        shutil.copy(library, made)
        if link:
            (made / "checkpoints").symlink_to(self.checkpoints(name, epochs))
        else:
            shutil.copytree(self.checkpoints(name, epochs), made / "checkpoints")
        return made.rename(made.with_name(str(version)))

    def score(self, server, batch, form=inputs_of, lines=None, **more):
        lines = self.lines if lines is None else lines
        found = []
        connection = server.connect()
        for begin in range(0, len(lines), batch):
            found += server.infer(form(lines[begin:begin + batch]), connection=connection,
                                  **more)["output0"]
        connection.close()
        return [single(number) for number in found]

    def first(self, epochs):
        return tuple(self.predicted[epochs][:8])
