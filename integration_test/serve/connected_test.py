# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Libraries that request rows from the servers of a running job. Their predictions equal those of
the servers' state, bit for bit, and the job is not affected. Also tests lost servers and readers,
and rejected connections."""

import array
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import made_up_clicks
import stored_rows_model
from cluster import Cluster
from model_server import Server, array_inputs_of, inputs_of, public_inputs, single
from programs import PDL_SERVE, PDL_TRANSLATE, SOURCE, checkpoints_in, model, run
from waiting import suspend, wait_until, wait_until_idle

sys.path.insert(0, str(SOURCE / "python"))
from pdl import serving

BATCH, LONG = 16, 120
# Time limit of calls that must succeed, in milliseconds.
PATIENCE = 1000 * LONG
# Reader that sends requests until it is killed.
READER = """
import sys
sys.path[:0] = sys.argv[1:3]
from model_server import array_inputs_of
from pdl import serving
lines = [line.rstrip("\\n").split("\\t") for line in open(sys.argv[5])]
model = serving.Library(sys.argv[3]).connect(sys.argv[4], row_age_ms=0, timeout_ms=120000)
while True:
    model.run("predict", array_inputs_of(lines))
    print("answered", flush=True)
"""


def free_addresses(count):
    """Returns TCP addresses at which no process listens. Their host is a loopback address that only
    this process uses, so that no other process takes the ports meanwhile."""
    number = os.getpid()
    host = f"127.{number >> 16 & 63 | 64}.{number >> 8 & 255}.{number & 255}"
    sockets = [socket.create_server((host, 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return [f"{host}:{port}" for port in ports]


class Feed:
    """Pipe that trainers read. It gets lines from `write`, and stays open until it is closed."""

    def __init__(self, path):
        os.mkfifo(path)
        self.path, self.file = path, None

    def write(self, lines):
        if self.file is None:
            # This does not wait for a reader.
            self.file = open(os.open(self.path, os.O_RDWR), "w")
        self.file.write("".join(lines))
        self.file.flush()

    def close(self):
        if self.file:
            self.file.close()
            self.file = None


class Connected(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="pdlconnected")
        cls.addClassCleanup(folder.cleanup)
        cls.programs = pathlib.Path(folder.name)
        for name, source, flags in (
                ("sync", "ctr_dnn", ["--mode=sync"]), ("async", "ctr_dnn", ["--mode=async"]),
                ("hybrid", "ctr_dnn", ["--mode=hybrid"]),
                ("library", "ctr_dnn", ["--emit=library", "--servers"]),
                ("plain", "ctr_dnn", ["--emit=library"]),
                ("other", "fm", ["--emit=library", "--servers"])):
            run(PDL_TRANSLATE, model(source), "--numerics=strict", *flags, "-o",
                cls.programs / name)
        source = cls.programs / "stored.mlir"
        source.write_text(stored_rows_model.MODEL)
        for name, flags in ("stored_async", ["--mode=async"]), (
                "stored_library", ["--emit=library", "--servers"]):
            run(PDL_TRANSLATE, source, "--numerics=strict", *flags, "-o", cls.programs / name)
        cls.library = serving.Library(cls.programs / "library" / "libctr_dnn.so")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pdlconnected")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.jobs = 0
        self.draw = random.Random(5)
        # Some of these ids occur in no training.
        self.asked = [line.rstrip("\n").split("\t") for line in self.clicks(100)]

    def clicks(self, count):
        return [made_up_clicks.click_line(self.draw) for _ in range(count)]

    def wait_until(self, holds, what):
        return wait_until(holds, LONG, lambda: f"no {what}:\n" + "\n".join(
            process.output[-2000:] for process in self.job.processes()))

    def start(self, mode="sync", addresses=None, server_flags=()):
        """Starts a job of two trainers, which read pipes, and two servers."""
        self.jobs += 1
        self.saved = self.root / f"saved{self.jobs}"
        self.feeds = [Feed(self.root / f"feed{self.jobs}.{i}.tsv") for i in range(2)]
        for feed in self.feeds:
            self.addCleanup(feed.close)
        saves = ["--checkpoint", self.saved, "--resume"]
        self.job = Cluster(self.programs / mode, 2, 2,
                           ["--data", *(feed.path for feed in self.feeds), "--batch-size", BATCH,
                            "--checkpoint-steps", 1, "--checkpoint-keep", 0, *saves],
                           [*saves, *server_flags], peers=mode == "hybrid")
        self.job.addresses = addresses or self.job.addresses
        self.addCleanup(self.end, self.job)
        self.job.start()

    def end(self, job=None):
        for process in (job or self.job).processes():
            if process.popen.poll() is None:
                process.popen.kill()
            process.popen.wait()

    def feed(self, steps):
        for feed in self.feeds:
            feed.write(self.clicks(steps * BATCH))

    def connect(self, **options):
        """Connects to the servers, which may still be starting."""
        options = {"row_age_ms": 0, "timeout_ms": PATIENCE, **options}
        return self.library.connect(self.job.addresses, **options)

    def scores(self, loaded, batch=100):
        found = []
        for begin in range(0, len(self.asked), batch):
            inputs = array_inputs_of(self.asked[begin:begin + batch])
            found += loaded.run("predict", inputs)["output0"]
        return found

    def steps(self):
        found = checkpoints_in(self.saved)
        return int(found[-1].name[len("step-"):]) if found else -1

    def stand_still(self):
        """Waits until all written rows are trained and saved. Returns the last checkpoint."""
        wait_until_idle([process.popen.pid for process in self.job.processes()], self.steps,
                        self.job.said)
        return checkpoints_in(self.saved)[-1]

    def expected(self, checkpoint):
        with self.library.open(checkpoint) as loaded:
            return self.scores(loaded)

    def ids(self, loaded):
        """Returns the number of requested ids, and the number of those without a row."""
        before = loaded.row_counts()
        self.scores(loaded)
        after = loaded.row_counts()
        return [after[name] - before[name] for name in ("ids", "unknown_ids")]

    def test_bits_of_the_checkpoint_of_that_step(self):
        self.start()
        seen = set()
        with self.connect() as loaded, self.connect(row_age_ms=3600000) as hot:
            seen.add(tuple(self.scores(loaded)))
            for _ in range(3):
                self.feed(4)
                before = len(seen)

                def moved():
                    loaded.refresh()
                    seen.add(tuple(self.scores(loaded)))
                    return len(seen) > before
                self.wait_until(moved, "predictions that move")
            checkpoint = self.stand_still()
            expected = self.expected(checkpoint)
            loaded.refresh()
            for batch in 1, 7, 100:
                self.assertEqual(self.scores(loaded, batch), expected)
            # With a cache, the first call sends requests and the second one does not.
            hot.refresh()
            self.assertEqual(self.scores(hot), expected)
            asked = hot.row_counts()
            self.assertGreater(asked["misses"], 0)
            self.assertEqual(self.scores(hot), expected)
            again = hot.row_counts()
            self.assertEqual(again["misses"], asked["misses"])
            self.assertEqual(again["requests"], asked["requests"])
            self.assertGreater(again["hits"], asked["hits"])
            self.assertEqual(loaded.row_counts()["hits"], 0)
            # The counts are equal with requests, with the cache, and with tables in memory.
            with self.library.open(checkpoint) as in_memory:
                ids = self.ids(in_memory)
            self.assertTrue(0 < ids[1] < ids[0], ids)
            self.assertEqual([self.ids(loaded), self.ids(hot)], [ids, ids])
            # The predictions are the same with the parameters of the checkpoint.
            with self.connect(parameters=checkpoint) as beside:
                self.assertEqual(self.scores(beside), expected)
            self.assertEqual(loaded.state()["rows"], 0)
        # The job continues and ends successfully.
        self.feed(3)
        later = self.stand_still()
        self.assertGreater(later, checkpoint)
        for feed in self.feeds:
            feed.close()
        self.job.finish(LONG)

    def test_over_tcp(self):
        """For TCP, the library opens the gRPC library in its folder."""
        addresses = ",".join(free_addresses(2))
        self.start(addresses=addresses)
        with self.connect() as loaded:
            self.feed(3)
            checkpoint = self.stand_still()
            loaded.refresh()
            self.assertEqual(self.scores(loaded), self.expected(checkpoint))
            self.job.servers[1].popen.kill()
            self.job.servers[1].popen.wait()
            with self.assertRaisesRegex(serving.ServersUnavailable, r"^server 127\.[0-9.]+:"):
                self.scores(loaded)
        # Without the gRPC library there is an error message, and unix sockets still work.
        alone = self.root / "alone.so"
        shutil.copy(self.programs / "library" / "libctr_dnn.so", alone)
        with self.assertRaisesRegex(serving.ServingError, "need libpdl-grpc.so.1 next to the library"):
            serving.Library(alone).connect("127.0.0.1:1", timeout_ms=100)

    def test_stored_rows(self):
        """Values in 16 bits with odd widths; a slot that frozen programs read; unknown keys that
        read zeros, and others."""
        self.start("stored_async")
        for feed in self.feeds:
            feed.write("\t".join(str(self.draw.randrange(40)) for _ in range(3)) +
                       f"\t{self.draw.random():.3f}\n" for _ in range(6 * BATCH))
        self.wait_until(lambda: self.steps() > 3, "steps")
        checkpoint = self.stand_still()
        library = serving.Library(self.programs / "stored_library" / "libstored.so")
        program = library.programs["predict"]
        inputs = {"id": array.array("q", [self.draw.randrange(60) for _ in range(300)])}
        if any(tensor.name == "label" for tensor in program.inputs):
            inputs["label"] = array.array("f", bytes(400))
        with library.open(checkpoint) as loaded:
            expected = loaded.run("predict", inputs)["output0"]
        self.assertGreater(len(set(expected)), 50)
        for age in 0, 3600000:
            with library.connect(self.job.addresses, row_age_ms=age,
                                 timeout_ms=PATIENCE) as loaded:
                for _ in range(2):
                    self.assertEqual(loaded.run("predict", inputs)["output0"], expected)

    def test_spilled_rows(self):
        """Servers have fewer rows in memory than in total."""
        self.start(server_flags=["--max-table-memory", "256KiB",
                                 "--table-spill", self.root / "spilled"])
        lines = [self.clicks(12 * BATCH) for _ in self.feeds]
        for feed, own in zip(self.feeds, lines):
            feed.write(own)
        self.wait_until(lambda: self.steps() > 9, "steps")
        # Rows of the first lines have been out of memory for the longest time.
        self.asked = [line.rstrip("\n").split("\t") for line in (*lines[0], *lines[1])]
        checkpoint = self.stand_still()
        expected = self.expected(checkpoint)
        with self.connect() as loaded:
            for batch in 16, len(self.asked):
                self.assertEqual(self.scores(loaded, batch), expected)

    def test_where_trainers_own_parameters(self):
        self.start("hybrid")
        self.feed(3)
        self.wait_until(lambda: self.steps() > 0, "steps")
        checkpoint = self.stand_still()
        with self.assertRaisesRegex(serving.ServingError, "mode hybrid"):
            self.connect()
        with self.connect(parameters=checkpoint) as loaded:
            self.assertEqual(self.scores(loaded), self.expected(checkpoint))
            self.feed(3)
            checkpoint = self.stand_still()
            expected = self.expected(checkpoint)
            with self.assertRaisesRegex(serving.ServingError, "reload it instead"):
                loaded.refresh()
            loaded.reload(checkpoint)
            self.assertEqual(self.scores(loaded), expected)
        if not PDL_SERVE.exists():
            return
        # pdl-serve uses the parameters of the newest checkpoint.
        version = self.put("clicks", {"servers": self.job.addresses.split(","), "row_age_ms": 0,
                                      "timeout_ms": PATIENCE, "refresh_ms": 50,
                                      "parameters": "saved"})
        (version / "saved").symlink_to(self.saved)
        with Server(self.root / "served") as server:
            server.wait_for("version 1: loaded")
            inputs = inputs_of(self.asked)

            def scores():
                return [single(x) for x in server.infer(inputs, "clicks")["output0"]]
            self.assertEqual(scores(), expected)
            self.feed(3)
            expected = self.expected(self.stand_still())
            self.wait_until(lambda: scores() == expected, "parameters of the newest checkpoint")

    def put(self, name, servers, version=1):
        """Adds a version to the served models."""
        made = self.root / "served" / name / f".{version}"
        made.mkdir(parents=True)
        for library in "libctr_dnn.so", "libpdl-grpc.so.1":
            shutil.copy(self.programs / "library" / library, made)
        (made / "servers.json").write_text(json.dumps(servers))
        return made.rename(made.with_name(str(version)))

    @unittest.skipUnless(PDL_SERVE.exists(), "pdl-serve was not built: its packages are missing")
    def test_a_stopped_server_holds_up_no_other_model(self):
        self.start()
        self.feed(3)
        self.wait_until(lambda: self.steps() > 0, "steps")
        self.stand_still()
        asks = {"servers": self.job.addresses.split(","), "row_age_ms": 0,
                "timeout_ms": 1000 * 10 * LONG}
        self.put("clicks", asks)
        plain = self.put("plain", {})
        (plain / "servers.json").unlink()
        (plain / "checkpoints").symlink_to(self.saved)
        inputs = inputs_of(self.asked[:3])
        answers = []

        def ask():
            answers.append(server.ask("POST", "/v2/models/clicks/infer", {"inputs": inputs})[0])
        # Each batch has one request.
        with Server(self.root / "served", "--workers", 1, "--max-waiting", 4,
                    "--max-batch", 3) as server:
            expected = server.infer(inputs, "plain")
            self.assertEqual(server.infer(inputs, "clicks"), expected)
            stopped = self.job.servers[0].popen
            suspend(stopped.pid)
            self.addCleanup(stopped.send_signal, signal.SIGCONT)

            def taken():
                return server.metric("pdl_serve_waiting_samples") // 3
            # Have one request scored and four waiting, which is the maximum. Each request must be
            # taken before the next one is sent.
            threads = []
            while (before := taken()) < 5:
                threads.append(threading.Thread(target=ask))
                threads[-1].start()
                self.wait_until(lambda: taken() > before or not threads[-1].is_alive(),
                                "requests that are taken or refused")
            for _ in range(2):
                ask()
            refused = [503] * (len(threads) - 3)
            self.assertEqual(answers, refused)
            for _ in range(10):
                self.assertEqual(server.infer(inputs, "plain"), expected)
            # New versions are loaded too, even if they use the same server.
            self.put("clicks", asks, 2)
            shutil.copytree(plain, plain.with_name(".2"), symlinks=True).rename(
                plain.with_name("2"))
            server.wait_for("model plain, version 2: loaded")
            self.assertEqual(answers, refused)
            stopped.send_signal(signal.SIGCONT)
            for thread in threads:
                thread.join()
            self.assertEqual(answers, refused + [200] * 5)
            server.wait_for("model clicks, version 2: loaded")
            suspend(stopped.pid)
        # pdl-serve starts and ends, although some servers do not respond.
        with Server(self.root / "served", waits=False) as server:
            self.wait_until(lambda: server.ask("GET", "/v2/models/plain/ready")[0] == 200, "plain")
            self.assertEqual(server.infer(inputs, "plain"), expected)
            status, message = server.refused("POST", "/v2/models/clicks/infer",
                                              {"inputs": inputs})
            self.assertEqual(status, 503, message)
            self.assertIn("is being loaded", message)
            # pdl-serve is live, but not ready.
            self.assertEqual(server.ask("GET", "/v2/health/live")[0], 200)
            self.assertEqual(server.refused("GET", "/v2/health/ready")[0], 503)
        # A request that waits for the server has as much time as --grace allows.
        for protocol, request_lost in (("http", self.request_lost),
                                       ("grpc", self.request_lost_by_grpc)):
            with self.subTest(protocol):
                stopped.send_signal(signal.SIGCONT)
                server = Server(self.root / "served", "--grace", 0.5, grpc=True)
                self.addCleanup(server.kill)
                server.wait_for("model clicks, version 2: loaded")
                suspend(stopped.pid)
                lost = threading.Thread(target=request_lost, args=(server, inputs))
                lost.start()
                self.wait_until(lambda: not lost.is_alive() or server.metric(
                    "pdl_serve_waiting_samples") == 3, "a request that waits")
                if not lost.is_alive():
                    self.skipTest("tritonclient[grpc] is not installed")
                server.end()
                self.assertEqual(server.process.wait(LONG), 3)
                server.wait_for("requests were not finished within 0.5 seconds")
                lost.join()

    def request_lost(self, server, inputs):
        self.assertRaises((OSError, http.client.HTTPException), server.infer, inputs, "clicks")

    def request_lost_by_grpc(self, server, inputs):
        """Sends a request that must fail. Does nothing if the client library is not installed."""
        try:
            import tritonclient.grpc as module  # pylint: disable=import-outside-toplevel
        except (ImportError, RuntimeError):
            return
        with module.InferenceServerClient(f"127.0.0.1:{server.grpc_port}") as client:
            self.assertRaises(Exception, client.infer, "clicks", public_inputs(module, inputs))

    def test_a_fault_after_a_lost_server(self):
        """A wrong request is reported as such, even if the previous request failed because servers
        did not respond."""
        self.start()
        with self.connect() as loaded:
            self.scores(loaded)
            self.end()
            for _ in range(2):
                with self.assertRaises(serving.ServersUnavailable):
                    self.scores(loaded)
                inputs = array_inputs_of(self.asked[:2])
                name = next(name for name, value in inputs.items() if isinstance(value, list))
                del inputs[name][1]
                with self.assertRaises(serving.ServingError) as caught:
                    loaded.run("predict", inputs, batch=2)
                self.assertNotIsInstance(caught.exception, serving.ServersUnavailable)

    def test_many_threads_while_a_job_of_pushes_trains(self):
        self.start("async")
        failures = []
        with self.connect(row_age_ms=20) as loaded:
            stops = threading.Event()

            def ask():
                try:
                    while not stops.is_set():
                        self.scores(loaded, 25)
                except serving.ServingError as error:
                    failures.append(str(error))
            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for _ in range(5):
                self.feed(2)
                loaded.refresh()
                time.sleep(0.1)
            self.wait_until(lambda: self.steps() > 3, "steps")
            # A row is found in the cache if another thread has needed it shortly before.
            self.wait_until(lambda: loaded.row_counts()["hits"] > 0, "hits")
            stops.set()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])
            checkpoint = self.stand_still()
            # Rows in the cache are now older than 20 ms.
            time.sleep(0.05)
            loaded.refresh()
            self.assertEqual(self.scores(loaded), self.expected(checkpoint))
            counts = loaded.row_counts()
            self.assertGreater(counts["hits"], 0)
            self.assertGreater(counts["misses"], 0)

    def test_kills(self):
        self.start()
        with self.connect(timeout_ms=10000) as loaded, \
                self.connect(row_age_ms=3600000) as hot:
            lines = self.root / "asked.tsv"
            lines.write_text("".join("\t".join(line) + "\n" for line in self.asked))
            reader = subprocess.Popen(
                [sys.executable, "-c", READER, SOURCE / "python",
                 SOURCE / "integration_test" / "support",
                 self.programs / "library" / "libctr_dnn.so", self.job.addresses, lines],
                stdout=subprocess.PIPE, text=True)
            self.addCleanup(reader.stdout.close)
            self.addCleanup(reader.wait)
            self.addCleanup(reader.kill)
            self.assertEqual(reader.stdout.readline(), "answered\n")
            self.feed(3)
            # If a reader is killed during a call, the job continues.
            reader.kill()
            reader.wait()
            before = self.steps()
            self.feed(5)
            self.wait_until(lambda: self.steps() > before, "steps")
            checkpoint = self.stand_still()
            hot.refresh()
            self.assertEqual(self.scores(hot), self.expected(checkpoint))
            # A suspended server does not respond, and calls end at their time limit.
            suspend(self.job.servers[0].popen.pid)
            with self.assertRaisesRegex(serving.ServersUnavailable, "did not respond within 10000"):
                self.scores(loaded)
            self.job.servers[0].popen.send_signal(signal.SIGCONT)
            self.wait_until(lambda: self.answers(loaded), "answers")
            # If a server dies, its job ends. Each call then fails immediately with one message,
            # until there is another job.
            self.job.servers[1].popen.kill()
            self.job.servers[1].popen.wait()
            with self.assertRaisesRegex(serving.ServersUnavailable,
                                        "^server unix:.*/s1 does not respond"):
                self.scores(loaded)
            addresses = self.job.addresses
            self.end()
            with self.assertRaises(serving.ServersUnavailable):
                loaded.refresh()
            folder = self.job.folder
            self.start(addresses=addresses)
            self.wait_until(lambda: self.answers(loaded), "answers of the next job")
            self.feed(3)
            checkpoint = self.stand_still()
            expected = self.expected(checkpoint)
            loaded.refresh()
            self.assertEqual(self.scores(loaded), expected)
            # Cached rows of the previous job are not used any more.
            hot.refresh()
            self.assertEqual(self.scores(hot), expected)
            folder.cleanup()

    def answers(self, loaded):
        try:
            return self.scores(loaded)
        except serving.ServersUnavailable:
            return None

    @unittest.skipUnless(PDL_SERVE.exists(), "pdl-serve was not built: its packages are missing")
    def test_pdl_serve(self):
        self.start()
        self.feed(3)
        self.wait_until(lambda: self.steps() > 0, "steps")
        checkpoint = self.stand_still()
        expected = self.expected(checkpoint)
        version = self.put("clicks", {})

        def say(**more):
            (version / "next").write_text(json.dumps(
                {"servers": self.job.addresses.split(","), **more}))
            (version / "next").rename(version / "servers.json")

        def infer():
            answer = server.ask("POST", "/v2/models/clicks/infer", body)
            content = json.loads(answer[1])
            if answer[0] != 200:
                return answer[0], content["error"]
            [output] = content["outputs"]
            return 200, [single(number) for number in output["data"]]
        body = json.dumps({"inputs": inputs_of(self.asked)})
        say(refresh_ms=50, row_age_ms=0, color="red")
        with Server(self.root / "served") as server:
            server.wait_for("has 'color', which is none of servers")
            say(refresh_ms=50, row_age_ms=0, timeout_ms=PATIENCE)
            server.wait_for("version 1: loaded")
            self.assertEqual(infer(), (200, expected))
            # pdl-serve follows the job automatically.
            self.feed(3)
            later = self.expected(self.stand_still())
            self.assertNotEqual(later, expected)
            self.wait_until(lambda: infer() == (200, later), "predictions of the last step")
            metrics = server.metrics()
            self.assertRegex(metrics, r'pdl_serve_rows_total\{.*outcome="miss".*\} [1-9]')
            self.assertRegex(metrics, r"pdl_serve_row_requests_total\{.*\} [1-9]")
            # A server is lost. Requests, log and metrics report this until it is back.
            addresses = self.job.addresses
            self.end()
            status, message = infer()
            self.assertEqual(status, 503)
            self.assertRegex(message, "^server unix:.* does not respond")
            server.wait_for("does not respond: no process listens there.*; what was loaded before "
                            "goes on")
            # It stays like this.
            for _ in range(5):
                self.assertEqual(server.metric("pdl_serve_model_broken"), 1)
                time.sleep(0.1)
            self.assertEqual(sum("does not respond" in line for line in server.lines), 1)
            self.assertEqual(server.refused("GET", "/v2/health/ready"),
                             (503, "model clicks, version 1 does not respond: its servers do not "
                                   "respond"))
            self.assertEqual(server.ask("GET", "/v2/models/clicks/ready")[0], 503)
            folder = self.job.folder
            self.start(addresses=addresses)
            self.wait_until(lambda: infer()[0] == 200, "answers of the next job")
            self.feed(2)
            expected = self.expected(self.stand_still())
            self.wait_until(lambda: infer() == (200, expected), "predictions of the last step")
            folder.cleanup()

    def test_refused(self):
        self.start()
        with self.connect():
            pass
        other = serving.Library(self.programs / "other" / "libfm.so")
        with self.assertRaisesRegex(serving.ServingError, "the library is of model fm, the server "
                                                          "of ctr_dnn"):
            other.connect(self.job.addresses, timeout_ms=PATIENCE)
        first, second = self.job.addresses.split(",")
        for addresses, limit, message in (
                (first, PATIENCE,
                 "none of the 1 given servers has .* all servers of the job, which has 2"),
                ([first, first], PATIENCE, "twice"), ([], PATIENCE, "needs the addresses"),
                ("here", 300, "here"),
                (f"unix:{self.root}/nobody", 300,
                 "nobody did not respond within 300 ms; check the address and whether the server")):
            with self.subTest(addresses), self.assertRaisesRegex(serving.ServingError, message):
                self.library.connect(addresses, timeout_ms=limit)
        with self.assertRaisesRegex(serving.ServingError, "different tokens"):
            self.connect(token="guess")
        with self.assertRaisesRegex(serving.ServingError, "--emit=library --servers"):
            serving.Library(self.programs / "plain" / "libctr_dnn.so").connect(
                second, timeout_ms=PATIENCE)
        with self.assertRaisesRegex(serving.ServingError, "not below zero"):
            self.connect(cache_bytes=-1)
        # The servers belong to two jobs with the same model and seed, but with different trainers.
        self.feed(3)
        self.wait_until(lambda: self.steps() > 0, "steps")
        self.start()
        self.feed(3)
        self.wait_until(lambda: self.steps() > 0, "steps")
        mixed = [first, self.job.addresses.split(",")[1]]
        with self.assertRaisesRegex(serving.ServingError, "s1: is of another job than .*s0; give"):
            self.library.connect(mixed, timeout_ms=PATIENCE)

    def test_readers_have_a_secret_of_their_own(self):
        secret = self.root / "readers"
        secret.write_text("a secret for readers\n")
        secret.chmod(0o600)
        self.start(server_flags=["--reader-token-file", secret])
        with self.connect(token="a secret for readers"):
            pass
        for token in "", "a secret for writers":
            with self.assertRaisesRegex(serving.ServingError, "different tokens.*"
                                        "--reader-token-file"):
                self.connect(token=token)


if __name__ == "__main__":
    unittest.main()
