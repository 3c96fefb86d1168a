# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Responses of pdl-serve over HTTP and gRPC equal the trainer's predictions (bit for bit in strict
numerics), and wrong requests are rejected, one by one. Public clients of the protocol,
tritonclient and KServe's, are used if they are installed."""

import asyncio
import concurrent.futures
import json
import multiprocessing
import pathlib
import random
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_server import ServedModels, Server, inputs_of, public_inputs, small_inputs, tensor
from waiting import LONG, wait_until


def but_data(given):
    """Returns a tensor of a request without its data."""
    return {key: value for key, value in given.items() if key != "data"}


def request_by_kserve(port, grpc_port, given):
    """Returns the responses of KServe's clients for HTTP and gRPC; None if they are not installed.
    """
    try:
        import kserve  # pylint: disable=import-outside-toplevel
        import numpy  # pylint: disable=import-outside-toplevel
    except ImportError:
        return None

    async def ask():
        rest = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2", timeout=LONG))
        by_grpc = kserve.InferenceGRPCClient(f"127.0.0.1:{grpc_port}")
        url = f"http://127.0.0.1:{port}"
        are_ready, answers = [], []
        for client, place in (rest, (url,)), (by_grpc, ()):
            are_ready.append([await client.is_server_live(*place),
                              await client.is_server_ready(*place),
                              await client.is_model_ready(*place, "ctr"),
                              await client.is_model_ready(*place, "ctr2")])
        for is_binary in False, True:
            inputs = []
            for each in given:
                kind = numpy.object_ if each["datatype"] == "BYTES" else numpy.float32
                inputs.append(kserve.InferInput(each["name"], each["shape"], each["datatype"]))
                inputs[-1].set_data_from_numpy(
                    numpy.array(each["data"], kind).reshape(each["shape"]), binary_data=is_binary)
            request = kserve.InferRequest(model_name="ctr", infer_inputs=inputs)
            for answer in (await rest.infer(url, request, model_name="ctr"),
                           await by_grpc.infer(request)):
                answers.append(answer.outputs[0].as_numpy().ravel().tolist())
        await rest.close()
        await by_grpc.close()
        return are_ready, answers

    return asyncio.run(ask())


def wrong_bodies():
    """Returns pairs of an error message and a body that is rejected with it."""
    x, item = small_inputs()
    good = [x, item]

    def but(given, **more):
        return {key: value for key, value in {**given, **more}.items() if value is not None}

    return [
        ("the body is no JSON", "{"), ("the body is empty", ""), ("the body is no JSON", "\xff"),
        ("no JSON that can be read (at byte 12)", '{"inputs": [}'),
        ("has to be a JSON object", "[]"), ("has to be a JSON object", "7"),
        ("has no inputs", "{}"), ("more after", '{"inputs": []} {}'),
        ("inputs 'x', 'item' are missing; the model requires them", {"inputs": []}),
        ("input 'item' is missing; the model requires it", {"inputs": [x]}),
        ("inputs has to be an array, but is an object", {"inputs": {}}),
        ("inputs[0] has to be an object, but is 7", {"inputs": [7]}),
        ("inputs[1].name has to be a string, but is 7", {"inputs": [x, but(item, name=7)]}),
        ("inputs[0].datatype has to be a string, but is an array",
         {"inputs": [but(x, datatype=[])]}),
        ("inputs[0].shape has to be an array, but is a string",
         {"inputs": [but(x, shape="1,2")]}),
        ("inputs[0].shape[1] has to be a whole number, but is 2.5",
         {"inputs": [but(x, shape=[1, 2.5])]}),
        ("inputs[0].data has to be an array, but is 1.0", {"inputs": [but(x, data=1.0)]}),
        ("inputs[0].parameters has to be an object, but is true",
         {"inputs": [but(x, parameters=True)]}),
        ("inputs[0].parameters.binary_data_size has to be a number of bytes, but is -1",
         {"inputs": [but(x, data=None, parameters={"binary_data_size": -1})]}),
        ("id has to be a string, but is 3", {"inputs": good, "id": 3}),
        ("parameters.binary_data_output has to be true or false, but is a string",
         {"inputs": good, "parameters": {"binary_data_output": "yes"}}),
        ("outputs[0] has no name", {"inputs": good, "outputs": [{}]}),
        ("outputs[1].name has to be a string, but is null",
         {"inputs": good, "outputs": [{"name": "echo"}, {"name": None}]}),
        ("inputs[0] has no name", {"inputs": [but(x, name=None)]}),
        ("inputs[0] has no datatype", {"inputs": [but(x, datatype=None)]}),
        ("inputs[0] has no shape", {"inputs": [but(x, shape=None)]}),
        ("inputs[0] has no data", {"inputs": [but(x, data=None)]}),
        ("inputs[0]: the datatype 'FP16' is none of", {"inputs": [but(x, datatype="FP16")]}),
        ("is FP64, but the model takes FP32", {"inputs": [but(x, datatype="FP64"), item]}),
        ("is INT32, but the model takes INT64 or BYTES",
         {"inputs": [x, but(item, datatype="INT32")]}),
        ("which do not make the shape [1, 2]", {"inputs": [but(x, data=[1.0]), item]}),
        ("inputs[0].shape[0] is -1", {"inputs": [but(x, shape=[-1, -2]), item]}),
        ("which do not make the shape", {"inputs": [but(x, shape=[2 ** 62, 2 ** 62]), item]}),
        ("more than 16 dimensions", {"inputs": [but(x, shape=[1] * 17), item]}),
        ("inputs[0].data[0][0] (input 'x') is a list, but the shape is [1, 2]",
         {"inputs": [but(x, data=json.loads("[" * 20 + "]" * 20)), item]}),
        # Each list of nested data must have the form of the shape.
        ("inputs[0].data[0] (input 'x') has 4 elements, but the shape is [2, 2]",
         {"inputs": [but(x, shape=[2, 2], data=[[1, 2, 3, 4], []]), item]}),
        ("inputs[0].data[1] (input 'x') has 0 elements, but the shape is [2, 2]",
         {"inputs": [but(x, shape=[2, 2], data=[[1, 2], []]), item]}),
        ("inputs[0].data (input 'x') has 1 elements, but the shape is [2, 2]",
         {"inputs": [but(x, shape=[2, 2], data=[[1, 2]]), item]}),
        ("inputs[0].data (input 'x') has 2 elements, but the shape is [1, 2]",
         {"inputs": [but(x, data=[[1, 2], [3, 4]]), item]}),
        ("inputs[0].data[1] (input 'x') is no list, but the shape is [1, 2]",
         {"inputs": [but(x, data=[[1, 2], 3]), item]}),
        ("inputs[0].data[1] (input 'x') is a list, but the shape is [1, 2]",
         {"inputs": [but(x, data=[1, [2]]), item]}),
        ("inputs[1].data[1] (input 'item') has 0 elements, but the shape is [2, 1]",
         {"inputs": [but(x, shape=[2, 2], data=[1, 2, 3, 4]),
                     but(item, shape=[2, 1], datatype="BYTES", data=[["1"], []])]}),
        ("inputs[0].data[1] (input 'x') has 0 elements, but the shape is [2, 2]",
         {"inputs": [dict(reversed(but(x, shape=[2, 2], data=[[1, 2], []]).items())), item]}),
        ("the model takes [batch, 2]", {"inputs": [but(x, shape=[2, 1]), item]}),
        ("the model takes [batch, 2]", {"inputs": [but(x, shape=[1, 1, 2]), item]}),
        ("has 0 samples", {"inputs": [but(x, shape=[0, 2], data=[]), item]}),
        ("has 2 samples, but others have 1",
         {"inputs": [x, but(item, shape=[2, 1], data=[1, 2])]}),
        ("is given twice", {"inputs": [x, x]}),
        ("'y' is none of the model's, which are 'x', 'item'",
         {"inputs": [*good, but(x, name="y")]}),
        ("inputs[0].data[1] (input 'x') is a string, but FP32 has finite numbers",
         {"inputs": [but(x, data=[1.0, "a"]), item]}),
        ("inputs[0].data[0][1] (input 'x') is true, but FP32 has finite numbers",
         {"inputs": [but(x, data=[[1.0, True]]), item]}),
        ("inputs[0].data[0] (input 'x') is 1e+300, which is too large for FP32",
         {"inputs": [but(x, data=[1e300, 0]), item]}),
        ("inputs[1].data[0] (input 'item') is 0.5, but INT64 has whole numbers",
         {"inputs": [x, but(item, data=[0.5])]}),
        ("inputs[1].data[0] (input 'item') is 1180591620717411303424, but INT64 has",
         {"inputs": [x, but(item, data=[2 ** 70])]}),
        ("inputs[1].data[0] (input 'item') is 3, but BYTES has strings",
         {"inputs": [x, but(item, datatype="BYTES", data=[3])]}),
        ("inputs[1].data[0] (input 'item') is null, which UINT64 cannot be",
         {"inputs": [x, but(item, datatype="UINT64", data=[None])]}),
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


# Status, message, method and path.
WRONG_PATHS = [
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
WRONG_HEADERS = [("Content-Length is 9999", {"Inference-Header-Content-Length": "9999"}),
                 ("is no whole number", {"Inference-Header-Content-Length": "-1"}),
                 ("encoded as 'gzip'", {"Content-Encoding": "gzip"})]


class ServeProtocol(ServedModels):
    def test_batches_of_any_size(self):
        self.deploy()
        with Server(self.models) as server:
            for batch in 1, 7, 512:
                with self.subTest(batch):
                    self.assertEqual(self.score(server, batch), self.expected)

    def test_forms_of_inputs(self):
        """Ragged inputs as values and splits, as bags of one length, and as keys; nested data, and
        data before their datatype."""
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
            # Empty texts do not count as elements.
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
            keys = [inputs_of(lines[:1])[0],
                    tensor("categories", "UINT64", [1, 26], [*range(25), 2 ** 64 - 1])]
            self.assertEqual(len(server.infer(keys)["output0"]), 1)
            # Integers that are not declared as keys could mean anything, so they are rejected.
            status, message = server.refused("POST", "/v2/models/ctr/infer", json.dumps({
                "inputs": [keys[0], {**keys[1], "datatype": "INT64", "data": list(range(26))}]}))
            self.assertEqual(status, 400)
            self.assertIn("input 'categories' is INT64, but the model hashes texts", message)

    def test_missing_elements(self):
        """NaN, null and omitted inputs are handled like an empty cell by the trainer."""
        self.deploy()
        numbers, texts = inputs_of(self.lines[:3])
        empty = {**texts, "data": [""] * len(texts["data"])}
        zeros = {**numbers, "data": [0.0] * len(numbers["data"])}
        with Server(self.models) as server:
            expected = server.infer([zeros, empty])
            nulls = {**numbers, "data": [None] * len(numbers["data"])}
            for inputs in ([nulls, {**texts, "data": [None] * len(texts["data"])}],
                           [nulls], [empty]):
                with self.subTest(names=[each["name"] for each in inputs]):
                    self.assertEqual(server.infer(inputs), expected)
            raw = struct.pack(f"<{len(numbers['data'])}f", *[float("nan")] * len(numbers["data"]))
            binary = {**but_data(numbers), "parameters": {"binary_data_size": len(raw)}}
            head = json.dumps({"inputs": [empty, binary]}).encode()
            status, content = server.ask("POST", "/v2/models/ctr/infer", head + raw,
                                         {"Inference-Header-Content-Length": str(len(head))})
            self.assertEqual(status, 200, content)
            self.assertEqual(json.loads(content)["outputs"][0]["data"], expected["output0"])
            # Without any input, the number of samples is unknown.
            status, message = server.refused("POST", "/v2/models/ctr/infer", {"inputs": []})
            self.assertEqual(status, 400)
            self.assertIn("has none of the model's inputs, which are 'numbers', 'categories'",
                          message)
            about = json.loads(server.ask("GET", "/v2/models/ctr")[1])
            self.assertEqual(
                {each["name"]: each.get("parameters") for each in about["inputs"]},
                {"numbers": {"optional": True, "missing": 0.0},
                 "categories.values": {"optional": True},
                 "categories.splits": {"optional": True}})

    def test_binary_data(self):
        """Triton's extension: tensors as bytes after the JSON, in requests and in responses."""
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
            # In any order. The parameter of an output takes precedence.
            wanted = [{"name": "output0", "parameters": {"other": 1}}]
            for body, own, is_binary in (
                    (lambda **one: {**one, "outputs": wanted}, None, True),
                    (lambda **one: {"outputs": wanted, **one}, None, True),
                    (lambda **one: {"outputs": wanted, **one}, False, False)):
                if own is not None:
                    wanted[0]["parameters"]["binary_data"] = own
                head = json.dumps(body(inputs=[numbers, texts], parameters={
                    "binary_data_output": True})).encode()
                status, content = server.ask("POST", "/v2/models/ctr/infer",
                                             head + b"".join(parts), {size: str(len(head))})
                self.assertEqual((status, size in server.headers), (200, is_binary), content)
            head = json.dumps({"inputs": [numbers, texts]}).encode()
            for wrong, message in (
                    (head + parts[0], "there are only"),
                    (head + b"".join(parts) + b"x", "1 bytes after the last binary tensor"),
                    (head + parts[0] + struct.pack("<I", 9000) + parts[1][4:], "has 9000 bytes")):
                status, found = server.refused("POST", "/v2/models/ctr/infer", wrong,
                                               {size: str(len(head))})
                self.assertEqual(status, 400)
                self.assertIn(message, found)

    def test_metadata_and_health(self):
        self.deploy("small", 1)
        self.deploy("small", 12)
        with Server(self.models) as server:
            # KServe's client expects this form.
            for path, body in (("/v2/health/live", {"live": True}),
                               ("/v2/health/ready", {"ready": True}),
                               ("/v2/models/small/ready", {"name": "small", "ready": True})):
                status, content = server.ask("GET", path)
                self.assertEqual((status, json.loads(content)), (200, body))
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
            # Keys and their texts give the same results.
            texts = [inputs[0], tensor("item", "BYTES", [3, 1], ["3", " 3 ", "3"])]
            self.assertEqual(server.infer(texts, "small"), whole)

    def check_public_client(self, module, client):
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
        inputs = public_inputs(module, inputs_of(self.lines[:50]))
        for more in {}, {"outputs": [module.InferRequestedOutput("output0")]}, {
                "model_version": "1", "request_id": "seven"}:
            answer = client.infer("ctr", inputs, **more)
            self.assertEqual(answer.as_numpy("output0").ravel().tolist(), self.expected[:50])
        with self.assertRaisesRegex(Exception, "there is no model 'ctr2' that answers"):
            client.infer("ctr2", inputs)
        # Omitted bags are empty.
        left_out = client.infer("ctr", [each for each in inputs if each.name() == "numbers"])
        self.assertEqual(len(left_out.as_numpy("output0")), 50)

    def test_public_client_of_http(self):
        try:
            import tritonclient.http as module  # pylint: disable=import-outside-toplevel
        except (ImportError, RuntimeError):
            self.skipTest("tritonclient[http] is not installed")
        self.deploy()
        with Server(self.models) as server:
            client = module.InferenceServerClient(f"127.0.0.1:{server.port}")
            self.check_public_client(module, client)
            # JSON in both directions.
            inputs = public_inputs(module, inputs_of(self.lines[:2]), binary_data=False)
            answer = client.infer("ctr", inputs, outputs=[
                module.InferRequestedOutput("output0", binary_data=False)])
            self.assertEqual(answer.as_numpy("output0").ravel().tolist(), self.expected[:2])
            client.close()

    def test_clients_of_kserve(self):
        self.deploy()
        with Server(self.models, grpc=True) as server:
            # Its messages have the same names as those of tritonclient, so a process can load only
            # one of them.
            with concurrent.futures.ProcessPoolExecutor(
                    1, multiprocessing.get_context("spawn")) as pool:
                found = pool.submit(request_by_kserve, server.port, server.grpc_port,
                                    inputs_of(self.lines[:5])).result()
        if found is None:
            self.skipTest("kserve is not installed")
        are_ready, answers = found
        self.assertEqual(are_ready, [[True, True, True, False]] * 2)
        self.assertEqual(answers, [self.expected[:5]] * 4)

    def test_public_client_of_grpc(self):
        try:
            import tritonclient.grpc as module  # pylint: disable=import-outside-toplevel
            from tritonclient.grpc import service_pb2 as messages
            from tritonclient.grpc import service_pb2_grpc as stubs
            import grpc  # pylint: disable=import-outside-toplevel
        except (ImportError, RuntimeError):
            self.skipTest("tritonclient[grpc] is not installed")
        self.deploy()
        with Server(self.models, grpc=True) as server:
            address = f"127.0.0.1:{server.grpc_port}"
            client = module.InferenceServerClient(address)
            self.check_public_client(module, client)
            client.close()
            # Typed contents, which that client does not send.
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
                # Packed data may become much larger when they are unpacked.
                del request.inputs[0].contents.fp32_contents[-1]
                with self.assertRaises(grpc.RpcError) as caught:
                    stub.ModelInfer(request, compression=grpc.Compression.Gzip)
                self.assertEqual(caught.exception.code(), grpc.StatusCode.UNIMPLEMENTED)
                request.inputs[0].contents.fp32_contents.append(1)
                # The name is as long as a client may send it.
                with self.assertRaises(grpc.RpcError) as caught:
                    stub.ModelInfer(messages.ModelInferRequest(model_name="x" * 100000))
                self.assertEqual(caught.exception.code(), grpc.StatusCode.NOT_FOUND)
            self.assertGreater(server.metric("pdl_serve_requests_total", protocol="grpc",
                                             outcome="ok"), 3)
            # A call ends after its response.
            wait_until(lambda: server.metric("pdl_serve_connections", protocol="grpc") == 0)
        del request.inputs[0].contents.fp32_contents[-1]
        # A canceled request is not scored, but another one in the same batch is.
        with Server(self.models, "--batch-delay", "600", "--max-batch", "9", grpc=True) as server:
            with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
                stub = stubs.GRPCInferenceServiceStub(channel)
                other, canceled = (stub.ModelInfer.future(request) for _ in range(2))
                wait_until(lambda: server.metric("pdl_serve_waiting_samples") == 6)
                canceled.cancel()
                # The server reads these requests after the cancellation.
                for _ in range(10):
                    self.assertTrue(stub.ServerLive(messages.ServerLiveRequest()).live)
                # The last one fills the batch.
                for each in stub.ModelInfer(request), other.result():
                    self.assertEqual(list(each.outputs[0].contents.fp32_contents),
                                     self.expected[:3])
                self.assertEqual(server.metric("pdl_serve_requests_total", protocol="grpc",
                                               outcome="cancelled"), 1)
                self.assertEqual(server.metric("pdl_serve_batch_samples_sum"), 6)
                self.assertEqual(server.metric("pdl_serve_waiting_samples"), 0)
        # Accepted calls are finished during shutdown.
        with Server(self.models, "--batch-delay", "600", grpc=True) as server:
            with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
                stub = stubs.GRPCInferenceServiceStub(channel)
                waiting = [stub.ModelInfer.future(request) for _ in range(3)]
                wait_until(lambda: server.metric("pdl_serve_waiting_samples") == 9)
                server.end()
                server.wait_for("finishes the requests that were taken")
                for call in waiting:
                    self.assertEqual(list(call.result().outputs[0].contents.fp32_contents),
                                     self.expected[:3])

    def test_wrong_requests(self):
        """Each error has one message, and no other effect."""
        self.deploy("small")
        x, item = small_inputs()
        good = [x, item]

        bodies = wrong_bodies()
        with Server(self.models) as server:
            connection = server.connect()
            for message, body in bodies:
                with self.subTest(message, body=body):
                    if isinstance(body, str):
                        body = body.encode("latin-1")
                    status, found = server.refused("POST", "/v2/models/small/infer", body,
                                                   connection=connection)
                    self.assertEqual(status, 400, found)
                    self.assertIn(message, found)
                    self.assertNotIn("\n", found)
            for expected, message, method, path in WRONG_PATHS:
                with self.subTest(path=path):
                    status, found = server.refused(
                        method, path, {"inputs": good} if method == "POST" else None,
                        connection=connection)
                    self.assertEqual((status, message in found), (expected, True), found)
            for message, more in WRONG_HEADERS:
                with self.subTest(message):
                    status, found = server.refused("POST", "/v2/models/small/infer",
                                                   {"inputs": good}, more, connection)
                    self.assertEqual(status, 400)
                    self.assertIn(message, found)
            # The first connection is still open and usable.
            self.assertIn("score", server.infer(good, "small", connection))
            connection.close()
            self.assertEqual(server.metric("pdl_serve_requests_total", outcome="not_found"), 3)
            self.assertEqual(server.metric("pdl_serve_requests_total", outcome="bad_request",
                                           model="small"), len(bodies) + 1)

    def test_names_that_are_no_text(self):
        self.deploy("small")
        with Server(self.models) as server:
            for path in "/v2/models/a%ff/infer", "/v2/models/small@%ff/infer":
                status, message = server.refused("POST", path, {"inputs": small_inputs()})
                self.assertEqual(status, 404)
                self.assertIn("?", message)

    def test_random_damage(self):
        """Valid requests whose bytes are changed, removed or repeated get a response or an error
        message."""
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


if __name__ == "__main__":
    unittest.main()
