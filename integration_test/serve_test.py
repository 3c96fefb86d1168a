# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pdl-serve: what it answers is what the trainer predicts, to the bit in strict, over HTTP and
gRPC, however requests are put together; its folder of models while clients ask; what it refuses;
how it ends. A public client of the protocol, tritonclient, is used where it is installed."""

import contextlib
import ctypes
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from model_data import model_data
from programs import BUILD, PDL_TRANSLATE, checkpoints_in, model, run

PDL_SERVE = BUILD / "bin" / "pdl-serve"
ROWS = 600

# Ids that are no hashes, no values for missing ones, two programs with named outputs.
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
    """A number as a float of 32 bits."""
    return ctypes.c_float(float(number)).value


def tensor(name, datatype, shape, data):
    return {"name": name, "datatype": datatype, "shape": shape, "data": data}


def inputs_of(lines):
    """What @predict of ctr_dnn takes of lines of clicks: one text a bag."""
    return [tensor("numbers", "FP32", [len(lines), 13],
                   [float(cell or 0) for line in lines for cell in line[1:14]]),
            tensor("categories", "BYTES", [len(lines), 26],
                   [cell for line in lines for cell in line[14:40]])]


def small_inputs(count=1, item=3):
    return [tensor("x", "FP32", [count, 2], [0.25] * (2 * count)),
            tensor("item", "INT64", [count, 1], [item] * count)]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("unix")
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Server:
    """A running pdl-serve. At the end it is stopped by SIGTERM, and ends well."""

    def __init__(self, models, *flags, grpc=False, unix=None):
        places = ["--http", "127.0.0.1:0" + (f",unix:{unix}" if unix else "")]
        places += ["--grpc", "127.0.0.1:0"] if grpc else []
        self.process = subprocess.Popen(
            [str(PDL_SERVE), str(models), *places, "--interval", "0.05", *map(str, flags)],
            stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.is_ending = False
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        self.port = int(self.wait_for(r"answers HTTP at 127.0.0.1:(\d+)")[1])
        if unix:
            self.wait_for("answers HTTP at unix:")
        if grpc:
            self.grpc_port = int(self.wait_for(r"answers gRPC at 127.0.0.1:(\d+)")[1])

    def _read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()

    def wait_for(self, pattern, since=0, seconds=60):
        """The first line of the log that matches."""
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

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if not self.is_ending:
            self.end()
        status = self.process.wait(60)
        self.reader.join()
        self.process.stderr.close()
        if kind is None and status != 0:
            raise AssertionError(f"pdl-serve ended with {status}:\n{''.join(self.lines)}")

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method, path, body=None, headers=None, connection=None):
        """The status and the body of an answer."""
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
        """The outputs of an answer that is 200, by name."""
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
        """Values by name and labels, summed over labels that are not named."""
        return self.ask("GET", "/metrics")[1].decode()

    def metric(self, name, **labels):
        total = 0.0
        for found in re.finditer(rf"^{name}(?:{{(.*)}})? (\S+)$", self.metrics(), re.M):
            have = dict(re.findall(r'(\w+)="([^"]*)"', found[1] or ""))
            if all(have.get(key) == value for key, value in labels.items()):
                total += float(found[2])
        return total


@unittest.skipUnless(PDL_SERVE.exists(), "pdl-serve was not built: its packages are missing")
class ServeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.data = model_data("ctr_dnn", cls.root, ROWS)
        cls.trainers = {}
        for name, source in ("ctr", model("ctr_dnn")), ("small", cls.root / "small.mlir"):
            if name == "small":
                source.write_text(SMALL)
            cls.trainers[name] = cls.root / name
            run(PDL_TRANSLATE, source, "--numerics=strict", "-o", cls.trainers[name])
            run(PDL_TRANSLATE, source, "--numerics=strict", "--emit=library", "-o",
                cls.trainers[name] / "library")
        cls.small_data = cls.root / "small.tsv"
        cls.small_data.write_text("".join(f"{i % 2}\t0.{i}\t1.5\t{i % 7}\n" for i in range(64)))
        cls.train("ctr", 1)
        cls.train("ctr", 2)
        cls.train("small", 1)
        cls.lines = [line.split("\t") for line in cls.data.read_text().splitlines()]
        # By the number of epochs.
        cls.predicted = {epochs: cls.predictions("ctr", epochs) for epochs in (1, 2)}
        cls.expected = cls.predicted[1]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

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
        """Puts a version beside, then renames it to where it is served."""
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

    #===------------------------------------------------------------------===#
    # What is answered
    #===------------------------------------------------------------------===#

    def test_batches_of_any_size(self):
        self.deploy()
        with Server(self.models) as server:
            for batch in 1, 7, 512:
                with self.subTest(batch):
                    self.assertEqual(self.score(server, batch), self.expected)

    def test_forms_of_inputs(self):
        """Ragged inputs as values and splits, as bags of one length, as keys; data nested, and
        before their datatype."""
        self.deploy()
        lines = self.lines[:20]

        def with_splits(lines):
            numbers, plain = inputs_of(lines)
            texts = [[text] if text else [] for text in plain["data"]]
            ends = [0]
            for bag in texts:
                ends.append(ends[-1] + len(bag))
            return [tensor("categories.splits", "INT32", [len(ends)], ends), numbers,
                    tensor("categories.values", "BYTES", [ends[-1]], sum(texts, []))]

        def with_lengths(lines):
            numbers, plain = inputs_of(lines)
            # Empty texts are no elements.
            return [numbers, tensor("categories", "BYTES", [len(lines), 26, 2],
                                    [each for text in plain["data"] for each in (text, "")])]

        def nested(lines):
            numbers, plain = inputs_of(lines)
            data = numbers["data"]
            return [{"data": [data[i:i + 13] for i in range(0, len(data), 13)], **{
                key: numbers[key] for key in ("shape", "name", "datatype")}}, plain]

        with Server(self.models) as server:
            for form in with_splits, with_lengths, nested:
                with self.subTest(form.__name__):
                    self.assertEqual(self.score(server, 7, form, lines), self.expected[:20])
            keys = [inputs_of(lines[:1])[0], tensor("categories", "INT64", [1, 26], list(range(26)))]
            self.assertEqual(len(server.infer(keys)["output0"]), 1)

    def test_binary_data(self):
        """Triton's extension: tensors as bytes behind the JSON, both ways."""
        self.deploy()
        numbers, texts = inputs_of(self.lines[:5])
        parts = [struct.pack(f"<{len(numbers['data'])}f", *numbers.pop("data")),
                 b"".join(struct.pack("<I", len(text)) + text.encode()
                          for text in texts.pop("data"))]
        for each, part in zip((numbers, texts), parts):
            each["parameters"] = {"binary_data_size": len(part)}
        head = json.dumps({"inputs": [numbers, texts], "id": 'a "b"',
                           "parameters": {"binary_data_output": True}}).encode()
        with Server(self.models) as server:
            size = "Inference-Header-Content-Length"
            status, content = server.ask("POST", "/v2/models/ctr/versions/1/infer",
                                         head + b"".join(parts), {size: str(len(head))})
            self.assertEqual(status, 200, content)
            cut = int(server.headers[size])
            answer = json.loads(content[:cut])
            self.assertEqual(answer["id"], 'a "b"')
            [output] = answer["outputs"]
            self.assertEqual((output["shape"], output["datatype"]), ([5, 1], "FP32"))
            self.assertEqual(output["parameters"]["binary_data_size"], 20)
            self.assertEqual(list(struct.unpack("<5f", content[cut:])), self.expected[:5])
            for wrong, sentence in (
                    (head + parts[0], "there are only"),
                    (head + b"".join(parts) + b"x", "1 bytes behind the last binary tensor"),
                    (head + parts[0] + struct.pack("<I", 9000) + parts[1][4:], "has 9000 bytes")):
                status, found = server.refused("POST", "/v2/models/ctr/infer", wrong,
                                               {size: str(len(head))})
                self.assertEqual(status, 400)
                self.assertIn(sentence, found)

    def test_metadata_and_health(self):
        self.deploy("small", 1)
        self.deploy("small", 12)
        with Server(self.models) as server:
            for path in "/v2/health/live", "/v2/health/ready", "/v2/models/small/ready":
                self.assertEqual(server.ask("GET", path), (200, b""))
            about = json.loads(server.ask("GET", "/v2")[1])
            self.assertEqual(about["name"], "pdl-serve")
            self.assertIn("binary_tensor_data", about["extensions"])
            about = json.loads(server.ask("GET", "/v2/models/small/versions/1")[1])
            self.assertEqual(about, {
                "name": "small", "versions": ["1", "12"], "platform": "pdl",
                "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 2]},
                           {"name": "item", "datatype": "BYTES", "shape": [-1, 1]}],
                "outputs": [{"name": "score", "datatype": "FP32", "shape": [-1, 1]},
                            {"name": "echo", "datatype": "FP32", "shape": [-1, 2]}]})
            linear = json.loads(server.ask("GET", "/v2/models/small%40linear")[1])
            self.assertEqual([each["name"] for each in linear["inputs"]], ["x"])
            index = json.loads(server.ask("POST", "/v2/repository/index")[1])
            self.assertEqual([(each["name"], each["version"], each["state"]) for each in index],
                             [(name, version, "READY") for version in ("1", "12")
                              for name in ("small@linear", "small")])
            _, answer = server.ask("POST", "/v2/models/small/infer", {"inputs": small_inputs()})
            self.assertEqual(json.loads(answer)["model_version"], "12")

    def test_programs_and_outputs(self):
        self.deploy("small")
        with Server(self.models) as server:
            inputs = small_inputs(3)
            whole = server.infer(inputs, "small")
            self.assertEqual(list(whole), ["score", "echo"])
            self.assertEqual(whole["echo"], [0.25] * 6)
            chosen = server.infer(inputs, "small", outputs=[{"name": "echo"}, {"name": "score"}])
            self.assertEqual(list(chosen.items()), list(whole.items())[::-1])
            self.assertEqual(list(server.infer(inputs[:1], "small@linear")), ["linear"])
            # Keys and their texts are the same.
            texts = [inputs[0], tensor("item", "BYTES", [3, 1], ["3", " 3 ", "3"])]
            self.assertEqual(server.infer(texts, "small"), whole)

    def test_put_together(self):
        """Requests of many clients, some with keys and some with texts, and a faulty one in
        between, are scored together and cut apart again."""
        self.deploy()
        self.deploy("small")
        failures = []
        with Server(self.models, "--batch-delay", "0.02", "--max-batch", "32",
                    "--workers", "2") as server:
            alone = {item: server.infer(small_inputs(1, item), "small") for item in range(8)}

            def ask(client):
                try:
                    connection = server.connect()
                    for begin in range(client, 120, 8):
                        size = 1 + begin % 3
                        got = server.infer(inputs_of(self.lines[begin:begin + size]),
                                           connection=connection)["output0"]
                        if [single(number) for number in got] != self.expected[begin:begin + size]:
                            failures.append(f"lines from {begin} on: {got}")
                        item = begin % 8
                        texts = small_inputs(1, item)
                        if begin % 2:
                            texts[1] = tensor("item", "BYTES", [1, 1], [str(item)])
                        got = server.infer(texts, "small", connection)
                        if got != alone[item]:
                            failures.append(f"item {item}: {got}, not {alone[item]}")
                        texts[1] = tensor("item", "BYTES", [1, 1], ["no number"])
                        status, sentence = server.refused(
                            "POST", "/v2/models/small/infer", {"inputs": texts},
                            connection=connection)
                        if status != 400 or "is not a decimal integer" not in sentence:
                            failures.append(f"{status} {sentence}")
                    connection.close()
                except Exception as error:  # pylint: disable=broad-except
                    failures.append(repr(error))

            clients = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            self.assertEqual(failures, [])
            batches = server.metric("pdl_serve_batch_samples_count", model="ctr")
            samples = server.metric("pdl_serve_batch_samples_sum", model="ctr")
            self.assertEqual(samples, sum(1 + begin % 3 for begin in range(120)))
            self.assertLess(batches, 100)
            self.assertEqual(server.metric("pdl_serve_requests_total", model="ctr", outcome="ok"),
                             120)
            self.assertEqual(server.metric("pdl_serve_requests_total", model="small",
                                           outcome="bad_request"), 120)
            self.assertEqual(server.metric("pdl_serve_waiting_samples"), 0)

    #===------------------------------------------------------------------===#
    # A public client
    #===------------------------------------------------------------------===#

    def check_public_client(self, module, client):
        import numpy  # pylint: disable=import-outside-toplevel
        self.assertTrue(client.is_server_live())
        self.assertTrue(client.is_server_ready())
        self.assertTrue(client.is_model_ready("ctr"))
        self.assertFalse(client.is_model_ready("ctr", "7"))
        as_json = {"as_json": True} if module.__name__.endswith("grpc") else {}
        self.assertEqual(client.get_server_metadata(**as_json)["name"], "pdl-serve")
        about = client.get_model_metadata("ctr", **as_json)
        self.assertEqual(about["outputs"][0]["name"], "output0")
        index = client.get_model_repository_index(**as_json)
        index = index["models"] if as_json else index
        self.assertEqual([each["name"] for each in index], ["ctr"])
        lines = self.lines[:50]
        numbers, texts = inputs_of(lines)
        arrays = [("numbers", "FP32", numpy.array(numbers["data"], numpy.float32).reshape(50, 13)),
                  ("categories", "BYTES",
                   numpy.array([text.encode() for text in texts["data"]],
                               numpy.object_).reshape(50, 26))]
        inputs = []
        for name, datatype, array in arrays:
            inputs.append(module.InferInput(name, array.shape, datatype))
            inputs[-1].set_data_from_numpy(array)
        for more in {}, {"outputs": [module.InferRequestedOutput("output0")]}, {
                "model_version": "1", "request_id": "seven"}:
            answer = client.infer("ctr", inputs, **more)
            self.assertEqual(answer.as_numpy("output0").ravel().tolist(), self.expected[:50])
        with self.assertRaisesRegex(Exception, "there is no model 'ctr2' that answers"):
            client.infer("ctr2", inputs)
        with self.assertRaisesRegex(Exception, "input 'categories' is missing"):
            client.infer("ctr", inputs[:1])

    def test_public_client_of_http(self):
        try:
            import tritonclient.http as module  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("tritonclient[http] is not installed")
        self.deploy()
        with Server(self.models) as server:
            client = module.InferenceServerClient(f"127.0.0.1:{server.port}")
            self.check_public_client(module, client)
            # As JSON both ways.
            numbers, texts = inputs_of(self.lines[:2])
            import numpy  # pylint: disable=import-outside-toplevel
            inputs = [module.InferInput("numbers", [2, 13], "FP32"),
                      module.InferInput("categories", [2, 26], "BYTES")]
            inputs[0].set_data_from_numpy(
                numpy.array(numbers["data"], numpy.float32).reshape(2, 13), binary_data=False)
            inputs[1].set_data_from_numpy(
                numpy.array(texts["data"], numpy.object_).reshape(2, 26), binary_data=False)
            answer = client.infer("ctr", inputs, outputs=[
                module.InferRequestedOutput("output0", binary_data=False)])
            self.assertEqual(answer.as_numpy("output0").ravel().tolist(), self.expected[:2])
            client.close()

    def test_public_client_of_grpc(self):
        try:
            import tritonclient.grpc as module  # pylint: disable=import-outside-toplevel
            from tritonclient.grpc import service_pb2 as messages
            from tritonclient.grpc import service_pb2_grpc as stubs
            import grpc  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("tritonclient[grpc] is not installed")
        self.deploy()
        with Server(self.models, grpc=True) as server:
            address = f"127.0.0.1:{server.grpc_port}"
            client = module.InferenceServerClient(address)
            self.check_public_client(module, client)
            client.close()
            # Contents by type, which that client does not send.
            with grpc.insecure_channel(address) as channel:
                stub = stubs.GRPCInferenceServiceStub(channel)
                request = messages.ModelInferRequest(model_name="ctr", id="a")
                for given in inputs_of(self.lines[:3]):
                    added = request.inputs.add(name=given["name"], datatype=given["datatype"],
                                               shape=given["shape"])
                    if given["datatype"] == "FP32":
                        added.contents.fp32_contents.extend(given["data"])
                    else:
                        added.contents.bytes_contents.extend(
                            text.encode() for text in given["data"])
                answer = stub.ModelInfer(request)
                self.assertEqual(list(answer.outputs[0].contents.fp32_contents),
                                 self.expected[:3])
                self.assertEqual((answer.id, answer.model_version), ("a", "1"))
                request.inputs[0].contents.fp32_contents.append(1)
                with self.assertRaises(grpc.RpcError) as caught:
                    stub.ModelInfer(request)
                self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
                self.assertIn("has 40 elements", caught.exception.details())
            self.assertGreater(server.metric("pdl_serve_requests_total", protocol="grpc",
                                             outcome="ok"), 3)
            self.assertEqual(server.metric("pdl_serve_connections", protocol="grpc"), 0)
        # Calls that were taken are finished at the end.
        with Server(self.models, "--batch-delay", "1", grpc=True) as server:
            with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
                stub = stubs.GRPCInferenceServiceStub(channel)
                del request.inputs[0].contents.fp32_contents[-1]
                waiting = [stub.ModelInfer.future(request) for _ in range(3)]
                self.wait_until(lambda: server.metric("pdl_serve_waiting_samples") == 9)
                server.end()
                server.wait_for("finishes the requests that were taken")
                for call in waiting:
                    self.assertEqual(list(call.result().outputs[0].contents.fp32_contents),
                                     self.expected[:3])

    #===------------------------------------------------------------------===#
    # The folder
    #===------------------------------------------------------------------===#

    @contextlib.contextmanager
    def asking(self, server, allowed):
        """Clients that ask all the while; each answer is one of `allowed`."""
        failures, seen, ends = [], set(), threading.Event()
        inputs = inputs_of(self.lines[:8])

        def ask():
            connection = server.connect()
            while not ends.is_set():
                try:
                    answer = tuple(single(number) for number in
                                   server.infer(inputs, connection=connection)["output0"])
                    seen.add(answer)
                    if answer not in allowed:
                        failures.append(answer)
                except Exception as error:  # pylint: disable=broad-except
                    failures.append(repr(error))
                    return
            connection.close()

        clients = [threading.Thread(target=ask) for _ in range(3)]
        for client in clients:
            client.start()
        try:
            yield seen
        finally:
            ends.set()
            for client in clients:
                client.join()
        self.assertEqual(failures, [])

    def first(self, epochs):
        return tuple(self.predicted[epochs][:8])

    def test_checkpoints_are_followed(self):
        """A newer checkpoint is taken while clients ask; a damaged one is told of, and what was
        there before goes on."""
        one, two = self.first(1), self.first(2)
        self.assertNotEqual(one, two)
        version = self.deploy()
        followed = version / "checkpoints"
        newer = checkpoints_in(self.checkpoints("ctr", 2))[-1]
        with Server(self.models) as server, self.asking(server, {one, two}) as seen:
            shutil.copytree(newer, followed / ".newer")
            (followed / ".newer").rename(followed / newer.name)
            server.wait_for(f"took the values of .*{newer.name}")
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(two))
            self.assertEqual(seen, {one, two})
            self.assertEqual(server.metric("pdl_serve_model_values"), 2)
            # Damaged.
            damaged = followed / "step-000000999999"
            shutil.copytree(newer, followed / ".damaged")
            table = next((followed / ".damaged").glob("table-*"))
            content = bytearray(table.read_bytes())
            content[-1] ^= 1
            table.write_bytes(content)
            (followed / ".damaged").rename(damaged)
            told = server.wait_for("warning: .*damaged.*")[0]
            self.assertIn("model ctr, version 1: ", told)
            self.assertIn("what was loaded before goes on", told)
            self.wait_until(lambda: server.metric("pdl_serve_model_broken") == 1)
            self.assertEqual(server.metric("pdl_serve_loads_total", outcome="failed"), 1)
            self.assertEqual(server.ask("GET", "/v2/health/ready")[0], 200)
            index = json.loads(server.ask("POST", "/v2/repository/index")[1])
            self.assertEqual(index[0]["state"], "READY")
            self.assertIn("damaged", index[0]["reason"])
            # By one rename: half removed it would be damaged in another way, and told of again.
            damaged.rename(followed / ".gone")
            self.wait_until(lambda: server.metric("pdl_serve_model_broken") == 0)
            # Told once.
            self.assertEqual(sum("warning: " in line for line in server.lines), 1)
            # Without the newer one, back to the older one.
            before = len(server.lines)
            (followed / newer.name).rename(followed / ".newer")
            server.wait_for("took the values of .*", before)
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(one))

    def wait_until(self, holds, seconds=30):
        end = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), end, "it did not become so")
            time.sleep(0.02)

    def test_damaged_at_the_begin(self):
        """An older checkpoint is better than none."""
        version = self.deploy()
        broken = version / "checkpoints" / "step-000000999999"
        broken.mkdir()
        with Server(self.models) as server:
            server.wait_for("warning: .*step-000000999999")
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(self.first(1)))

    def test_versions_come_and_go(self):
        one, two = self.first(1), self.first(2)
        with Server(self.models) as server:
            self.assertEqual(server.ask("GET", "/v2/health/live")[0], 200)
            self.assertEqual(server.refused("GET", "/v2/health/ready"),
                             (503, "no model answers yet"))
            self.deploy()
            server.wait_for("model ctr, version 1: loaded")
            self.wait_until(lambda: server.ask("GET", "/v2/health/ready")[0] == 200)
            with self.asking(server, {one, two}) as seen:
                second = self.deploy(version=2, epochs=2, link=True)
                server.wait_for("model ctr, version 2: loaded")
                self.wait_until(lambda: two in seen)
                # A library that is cut off would end the process if it was mapped.
                third = self.deploy(version=3)
                [library] = third.glob("*.so")
                server.wait_for("model ctr, version 3: loaded")
                shutil.rmtree(third)
                server.wait_for("model ctr, version 3: is gone")
                self.assertEqual(server.refused("GET", "/v2/models/ctr/versions/3"),
                                 (404, "model 'ctr' has no version '3' that answers"))
                third.mkdir()
                [whole] = (self.trainers["ctr"] / "library").glob("*.so")
                library.write_bytes(whole.read_bytes()[:1 << 20])
                server.wait_for("model ctr, version 3: .*needs one of a folder")
                shutil.copytree(self.checkpoints("ctr", 1), third / "checkpoints")
                server.wait_for("model ctr, version 3: .*is cut off")
                self.assertEqual(server.infer(inputs_of(self.lines[:1]))["output0"],
                                 server.infer(inputs_of(self.lines[:1]),
                                              "ctr/versions/2")["output0"])
                shutil.copy(whole, third / ".whole")
                before = len(server.lines)
                (third / ".whole").rename(library)
                server.wait_for("model ctr, version 3: loaded", before)
                shutil.rmtree(third)
                server.wait_for("model ctr, version 3: is gone", before)
                shutil.rmtree(second)
                server.wait_for("model ctr, version 2: is gone")
                self.wait_until(lambda: server.metric("pdl_serve_model_rows", version="2") == 0)
                self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(one))
            shutil.rmtree(self.models / "ctr")
            self.wait_until(lambda: server.ask("GET", "/v2/models/ctr/ready")[0] == 404)

    def test_a_library_is_replaced(self):
        """Another one of the same name, with other outputs."""
        version = self.deploy("small")
        other = self.own / "other.mlir"
        other.write_text(SMALL.replace('"score"', '"rating"'))
        run(PDL_TRANSLATE, other, "--numerics=strict", "--emit=library", "-o", self.own / "other")
        with Server(self.models) as server:
            before = server.infer(small_inputs(), "small")
            shutil.copy(self.own / "other" / "libsmall.so", version / ".other")
            lines = len(server.lines)
            (version / ".other").rename(version / "libsmall.so")
            server.wait_for("model small, version 1: loaded", lines)
            after = server.infer(small_inputs(), "small")
            self.assertEqual(list(after), ["rating", "echo"])
            self.assertEqual(list(after.values()), list(before.values()))

    def test_exports(self):
        version = self.deploy()
        shutil.rmtree(version / "checkpoints")
        tool = BUILD / "bin" / "pdl-checkpoint"
        for epochs in 1, 2:
            run(tool, "export", self.checkpoints("ctr", epochs), "-o", self.own / str(epochs))
        (version / "export").symlink_to(self.own / "1")
        with Server(self.models) as server:
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(self.first(1)))
            (version / ".next").symlink_to(self.own / "2")
            (version / ".next").rename(version / "export")
            server.wait_for("took the values of .*export")
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(self.first(2)))

    def test_dumps(self):
        version = self.deploy()
        shutil.rmtree(version / "checkpoints")
        dump = version / "values.safetensors"
        tool = BUILD / "bin" / "pdl-checkpoint"
        run(tool, "dump", self.checkpoints("ctr", 1), "-o", dump)
        with Server(self.models) as server:
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(self.first(1)))
            run(tool, "dump", self.checkpoints("ctr", 2), "-o", version / ".new")
            (version / ".new").rename(dump)
            server.wait_for("took the values of .*values.safetensors")
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(self.first(2)))

    def test_what_lies_beside(self):
        """A library of numerics fast finds the oneDNN beside it."""
        made = self.models / "fast" / "1"
        run(PDL_TRANSLATE, self.root / "small.mlir", "--numerics=fast", "--emit=library", "-o",
            made)
        if not (made / "libdnnl.so.2").exists():
            self.skipTest("PDL was built without oneDNN")
        shutil.copytree(self.checkpoints("small", 1), made / "checkpoints")
        with Server(self.models) as server:
            self.assertIn("score", server.infer(small_inputs(), "fast"))
            maps = pathlib.Path(f"/proc/{server.process.pid}/maps").read_text()
            self.assertIn(f"{made}/libdnnl.so.2", maps)

    #===------------------------------------------------------------------===#
    # The end
    #===------------------------------------------------------------------===#

    def test_taken_requests_are_finished(self):
        self.deploy()
        path = self.own / "socket"
        # So long that they wait for their batch when the end is asked for.
        server = Server(self.models, "--batch-delay", "1", unix=path)
        with server:
            idle = server.connect()
            server.ask("GET", "/v2", connection=idle)
            waiting = [UnixConnection(path) for _ in range(10)]
            for i, connection in enumerate(waiting):
                connection.request("POST", "/v2/models/ctr/infer",
                                   json.dumps({"inputs": inputs_of(self.lines[i:i + 1])}))
            self.wait_until(lambda: server.metric("pdl_serve_waiting_samples") == 10)
            server.end()
            server.wait_for("finishes the requests that were taken")
            self.wait_until(lambda: not path.exists() or not self.can_connect(server))
            for i, connection in enumerate(waiting):
                answer = connection.getresponse()
                content = json.loads(answer.read())
                self.assertEqual(answer.status, 200)
                self.assertEqual(answer.headers["Connection"], "close")
                self.assertEqual(single(content["outputs"][0]["data"][0]), self.expected[i])
                connection.close()
            idle.close()
        self.assertFalse(path.exists())

    def can_connect(self, server):
        with contextlib.closing(socket.socket()) as probe:
            return probe.connect_ex(("127.0.0.1", server.port)) == 0

    def test_more_than_may_wait(self):
        self.deploy("small")
        with Server(self.models, "--batch-delay", "1", "--max-waiting", "2") as server:
            waiting = [server.connect() for _ in range(2)]
            for connection in waiting:
                connection.request("POST", "/v2/models/small/infer",
                                   json.dumps({"inputs": small_inputs()}))
            self.wait_until(lambda: server.metric("pdl_serve_waiting_samples") == 2)
            status, sentence = server.refused("POST", "/v2/models/small/infer",
                                              {"inputs": small_inputs()})
            self.assertEqual(status, 503)
            self.assertIn("2 requests wait already", sentence)
            for connection in waiting:
                self.assertEqual(connection.getresponse().status, 200)
                connection.close()

    #===------------------------------------------------------------------===#
    # What is refused
    #===------------------------------------------------------------------===#

    def test_wrong_requests(self):
        """One sentence each, and nothing else happens."""
        self.deploy("small")
        x, item = small_inputs()
        good = [x, item]

        def but(given, **more):
            return {key: value for key, value in {**given, **more}.items() if value is not None}

        bodies = [
            ("no JSON", "{"), ("no JSON", ""), ("no JSON", "\xff"), ("JSON type", "[]"),
            ("JSON type", "7"), ("has no inputs", "{}"), ("more behind", '{"inputs": []} {}'),
            ("input 'x' is missing", {"inputs": []}),
            ("JSON type", {"inputs": {}}), ("JSON type", {"inputs": [7]}),
            ("input 0 ('') has no name", {"inputs": [but(x, name=None)]}),
            ("has no datatype", {"inputs": [but(x, datatype=None)]}),
            ("has no shape", {"inputs": [but(x, shape=None)]}),
            ("has no data", {"inputs": [but(x, data=None)]}),
            ("'FP16' is none of", {"inputs": [but(x, datatype="FP16")]}),
            ("is FP64, but the model takes FP32", {"inputs": [but(x, datatype="FP64"), item]}),
            ("is INT32, but the model takes INT64 or BYTES",
             {"inputs": [x, but(item, datatype="INT32")]}),
            ("which do not make the shape [1, 2]", {"inputs": [but(x, data=[1.0]), item]}),
            ("which do not make the shape [-1, -2]", {"inputs": [but(x, shape=[-1, -2]), item]}),
            ("which do not make the shape", {"inputs": [but(x, shape=[2 ** 62, 2 ** 62]), item]}),
            ("more than 16 dimensions", {"inputs": [but(x, shape=[1] * 17), item]}),
            ("nested more than 16 deep",
             {"inputs": [but(x, data=json.loads("[" * 20 + "]" * 20)), item]}),
            ("the model takes [batch, 2]", {"inputs": [but(x, shape=[2, 1]), item]}),
            ("the model takes [batch, 2]", {"inputs": [but(x, shape=[1, 1, 2]), item]}),
            ("has 0 samples", {"inputs": [but(x, shape=[0, 2], data=[]), item]}),
            ("has 2 samples, but others have 1",
             {"inputs": [x, but(item, shape=[2, 1], data=[1, 2])]}),
            ("is given twice", {"inputs": [x, x]}),
            ("'y' is none of the model's, which are 'x', 'item'",
             {"inputs": [*good, but(x, name="y")]}),
            ("element 1 of its data is no number of FP32",
             {"inputs": [but(x, data=[1.0, "a"]), item]}),
            ("too large for FP32", {"inputs": [but(x, data=[1e300, 0]), item]}),
            ("element 0 of its data is no number of INT64", {"inputs": [x, but(item, data=[0.5])]}),
            ("element 0 of its data is no number of INT64", {"inputs": [x, but(item, data=[2 ** 70])]}),
            ("element 0 of its data is no text",
             {"inputs": [x, but(item, datatype="BYTES", data=[3])]}),
            ("is not a decimal integer", {"inputs": [x, but(item, datatype="BYTES", data=["a"])]}),
            ("is empty, and the field has no missing",
             {"inputs": [x, but(item, datatype="BYTES", data=[" "])]}),
            ("no output 'z'", {"inputs": good, "outputs": [{"name": "z"}]}),
            ("asked for twice", {"inputs": good, "outputs": [{"name": "echo"}] * 2}),
            ("there are only 0 bytes",
             {"inputs": [but(x, data=None, parameters={"binary_data_size": 8}), item]}),
            ("has data and binary_data_size",
             {"inputs": [but(x, parameters={"binary_data_size": 8}), item]}),
        ]
        paths = [
            (404, "there is no model 'none'", "POST", "/v2/models/none/infer"),
            (404, "no program '@none', only @linear, @predict", "POST",
             "/v2/models/small@none/infer"),
            (404, "no program '@'", "GET", "/v2/models/small@"),
            (404, "no version '2'", "POST", "/v2/models/small/versions/2/infer"),
            (404, "no version '01'", "GET", "/v2/models/small/versions/01/ready"),
            (404, "below it /ready and /infer", "GET", "/v2/models/small/stats"),
            (404, "nothing at this path", "GET", "/v3"),
            (400, "no name of a model", "GET", "/v2/models/%zz"),
            (405, "this path takes POST", "GET", "/v2/models/small/infer"),
            (405, "this path takes GET", "DELETE", "/v2/models/small"),
            (405, "this path takes GET", "POST", "/metrics"),
        ]
        headers = [("Content-Length is 9999", {"Inference-Header-Content-Length": "9999"}),
                   ("is no whole number", {"Inference-Header-Content-Length": "-1"}),
                   ("encoded as 'gzip'", {"Content-Encoding": "gzip"})]
        with Server(self.models) as server:
            connection = server.connect()
            for sentence, body in bodies:
                with self.subTest(sentence, body=body):
                    if isinstance(body, str):
                        body = body.encode("latin-1")
                    status, found = server.refused("POST", "/v2/models/small/infer", body,
                                                   connection=connection)
                    self.assertEqual(status, 400, found)
                    self.assertIn(sentence, found)
                    self.assertNotIn("\n", found)
            for expected, sentence, method, path in paths:
                with self.subTest(path=path):
                    status, found = server.refused(
                        method, path, {"inputs": good} if method == "POST" else None,
                        connection=connection)
                    self.assertEqual((status, sentence in found), (expected, True), found)
            for sentence, more in headers:
                with self.subTest(sentence):
                    status, found = server.refused("POST", "/v2/models/small/infer",
                                                   {"inputs": good}, more, connection)
                    self.assertEqual(status, 400)
                    self.assertIn(sentence, found)
            # The connection is the first one still, and answers.
            self.assertIn("score", server.infer(good, "small", connection))
            connection.close()
            self.assertEqual(server.metric("pdl_serve_requests_total", outcome="not_found"), 3)
            self.assertEqual(server.metric("pdl_serve_requests_total", outcome="bad_request",
                                           model="small"), len(bodies) + 1)

    def raw(self, server, sent):
        """What comes back for bytes, until the connection ends."""
        with contextlib.closing(socket.create_connection(("127.0.0.1", server.port))) as used:
            used.settimeout(30)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                used.sendall(sent)
            used.shutdown(socket.SHUT_WR)
            received = b""
            while part := used.recv(65536):
                received += part
            return received

    def test_what_is_no_http(self):
        self.deploy("small")
        post = "POST /v2/models/small/infer HTTP/1.1\r\nHost: a\r\n"
        with Server(self.models, "--max-request", "1") as server:
            for sent, expected in (
                    (b"\0\1\2\3\r\n\r\n", b" 400 "), (b"GET\r\n\r\n", b" 400 "),
                    (b"GET /v2 HTTP/7.7\r\n\r\n", b" 400 "),
                    (f"{post}Content-Length: -5\r\n\r\n".encode(), b" 400 "),
                    (f"{post}Content-Length: 99999999999\r\n\r\n".encode(), b" 413 "),
                    (f"{post}Content-Length: 2000000\r\n\r\n".encode() + b" " * 2000000, b" 413 "),
                    (f"{post}Transfer-Encoding: chunked\r\n\r\n".encode()
                     + b"ffff0\r\n" + b" " * 0xffff0 + b"\r\nffff\r\n" + b" " * 0xffff, b" 413 "),
                    (f"{post}Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode(), b" 400 "),
                    (b"GET /v2 HTTP/1.1\r\nA: " + b"a" * 70000 + b"\r\n\r\n", b" 431 "),
                    (f"{post}Content-Length: 50\r\n\r\nshort".encode(), b""),
                    (b"", b"")):
                with self.subTest(sent[:80]):
                    received = self.raw(server, sent)
                    self.assertIn(expected, received[:20])
                    self.assertEqual(bool(expected), bool(received))
            # Asked whether it may send, a client gets a yes, then its answer.
            body = json.dumps({"inputs": small_inputs()})
            received = self.raw(server, f"{post}Expect: 100-continue\r\nContent-Length: "
                                        f"{len(body)}\r\n\r\n".encode() + body.encode())
            self.assertTrue(received.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"),
                            received)
            self.assertEqual(server.ask("HEAD", "/v2"), (200, b""))
            self.assertGreater(int(server.headers["Content-Length"]), 10)
            # HTTP/1.0 closes, two requests at once are answered one after the other.
            self.assertEqual(self.raw(server, b"GET /v2 HTTP/1.0\r\n\r\n").count(b"HTTP/1.1 200"),
                             1)
            self.assertEqual(self.raw(server, b"GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n" * 2).count(
                b"HTTP/1.1 200"), 2)
            self.assertIn("score", server.infer(small_inputs(), "small"))
            self.wait_until(lambda: server.metric("pdl_serve_connections", protocol="http") == 1)

    def test_random_damage(self):
        """Good requests with bytes changed, cut or repeated: an answer, or a sentence."""
        self.deploy()
        numbers, texts = inputs_of(self.lines[:1])
        ends = list(range(27))
        good = [json.dumps({"id": "x", "inputs": [numbers, texts], "outputs": [
                    {"name": "output0", "parameters": {"binary_data": True}}]}).encode(),
                json.dumps({"inputs": [numbers, tensor("categories.splits", "INT32", [27], ends),
                                       tensor("categories.values", "BYTES", [26],
                                              texts["data"])]}).encode()]
        draw = random.Random(7)
        seen = set()
        with Server(self.models) as server:
            connection = server.connect()
            for i in range(600):
                body = bytearray(draw.choice(good))
                for _ in range(draw.randint(1, 4)):
                    at = draw.randrange(len(body))
                    end = min(len(body), at + draw.randint(1, 20))
                    kind = draw.randrange(4)
                    if kind == 0:
                        body[at] = draw.randrange(256)
                    elif kind == 1:
                        del body[at:end]
                    elif kind == 2:
                        body[at:at] = body[at:end]
                    else:
                        body[at:end] = draw.choice([b"[", b"]", b"-1", b"null", b'"', b"1e99", b"{}"])
                status, content = server.ask("POST", "/v2/models/ctr/infer", bytes(body),
                                             connection=connection)
                seen.add(status)
                self.assertIn(status, (200, 400), content)
                if status == 400:
                    self.assertTrue(json.loads(content.decode("utf-8", "replace"))["error"], body)
            connection.close()
            self.assertEqual(seen, {200, 400})
            self.assertEqual(self.score(server, 8, lines=self.lines[:8]), list(self.first(1)))

    def test_flags(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        port = taken.getsockname()[1]
        for flags, sentence in (
                ([self.own / "none"], "is no folder of models"),
                ([self.models, "--http", "nowhere"], "'nowhere' is no address"),
                ([self.models, "--http", f"127.0.0.1:{port}"], "in use"),
                ([self.models, "--grpc", f"127.0.0.1:{port}"], "gRPC cannot listen there"),
                ([self.models, "--http", f"unix:{self.own}/a/b"], "No such file"),
                ([self.models, "--max-batch", "0"], "--max-batch"),
                ([self.models, "--batch-delay", "soon"], "no number of seconds"),
                ([], "models is required")):
            with self.subTest(sentence):
                done = subprocess.run([str(PDL_SERVE), *map(str, flags)], capture_output=True,
                                      text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(sentence, done.stderr)
        # A socket that a killed process left is taken, one that answers is not.
        path = self.own / "socket"
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as left:
            left.bind(str(path))
        with Server(self.models, unix=path) as server:
            self.assertEqual(server.ask("GET", "/v2", connection=UnixConnection(path))[0], 200)
            done = subprocess.run([str(PDL_SERVE), str(self.models), "--http", f"unix:{path}"],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("in use", done.stderr)
            self.assertEqual(server.ask("GET", "/v2", connection=UnixConnection(path))[0], 200)


if __name__ == "__main__":
    unittest.main()
