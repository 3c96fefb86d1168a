# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batching in pdl-serve: requests are combined, and results are separated again. Also tests the
end of a server with waiting requests, and rejected flags."""

import contextlib
import json
import pathlib
import resource
import select
import socket
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_server import (ServedModels, Server, UnixConnection, inputs_of, single, small_inputs,
                          tensor)
from programs import PDL_SERVE, fails
from waiting import LONG, wait_until


class ServeBatching(ServedModels):
    def test_put_together(self):
        """Requests of many clients, some with keys and some with texts, and a wrong one among
        them, are scored together, and each client gets its own results."""
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
                        status, message = server.refused(
                            "POST", "/v2/models/small/infer", {"inputs": texts},
                            connection=connection)
                        if status != 400 or "is not a decimal integer" not in message:
                            failures.append(f"{status} {message}")
                    connection.close()
                except Exception as error:  # pylint: disable=broad-except
                    failures.append(repr(error))

            clients = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            self.assertEqual(failures, [])
            samples = server.metric("pdl_serve_batch_samples_sum", model="ctr")
            self.assertEqual(samples, sum(1 + begin % 3 for begin in range(120)))
            self.assertEqual(server.metric("pdl_serve_requests_total", model="ctr", outcome="ok"),
                             120)
            self.assertEqual(server.metric("pdl_serve_requests_total", model="small",
                                           outcome="bad_request"), 120)
            # Item 7 does not occur in the data. Counts appear when the thread that watches the
            # folder updates them.
            for outcome, count in ("known", 7 + 105), ("unknown", 1 + 15):
                wait_until(lambda outcome=outcome, count=count: server.metric(
                    "pdl_serve_ids_total", model="small", outcome=outcome) == count)
            self.assertEqual(server.metric("pdl_serve_waiting_samples"), 0)

    def test_full_batches_do_not_wait(self):
        """A batch is scored when it is full, here with the requests of eight clients. If one of
        them is wrong, only that client gets an error."""
        self.deploy()
        self.deploy("small")
        sizes, rounds, failures = [1, 2, 3, 2, 1, 3, 2, 2], 5, []
        with Server(self.models, "--batch-delay", "600", "--max-batch", sum(sizes)) as server:

            def check(got, wanted):
                if got != wanted:
                    failures.append(f"{got}, not {wanted}")

            def ask(client):
                try:
                    connection = server.connect()
                    size = sizes[client]
                    for turn in range(rounds):
                        begin = sum(sizes[:client]) + turn * sum(sizes)
                        got = server.infer(inputs_of(self.lines[begin:begin + size]),
                                           connection=connection)["output0"]
                        check([single(number) for number in got],
                              self.expected[begin:begin + size])
                        given = small_inputs(size, client)
                        keys = server.infer(given, "small", connection)
                        text = "no number" if client % 2 else str(client)
                        given[1] = tensor("item", "BYTES", [size, 1], [text] * size)
                        if client % 2:
                            status, message = server.refused(
                                "POST", "/v2/models/small/infer", {"inputs": given},
                                connection=connection)
                            check((status, "is not a decimal integer" in message), (400, True))
                        else:
                            check(server.infer(given, "small", connection), keys)
                    connection.close()
                except Exception as error:  # pylint: disable=broad-except
                    failures.append(repr(error))

            clients = [threading.Thread(target=ask, args=(i,)) for i in range(len(sizes))]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            self.assertEqual(failures, [])
            for name, kinds in ("ctr", 1), ("small", 2):
                self.assertEqual(server.metric("pdl_serve_requests_total", model=name),
                                 kinds * rounds * len(sizes))
            self.assertEqual(server.metric("pdl_serve_batch_samples_count", model="ctr"), rounds)
            self.assertEqual(server.metric("pdl_serve_batch_samples_sum", model="ctr"),
                             rounds * sum(sizes))

    def test_taken_requests_are_finished(self):
        self.deploy()
        path = self.own / "socket"
        # Requests wait for others until the server is stopped, and are then scored.
        server = Server(self.models, "--batch-delay", "600", unix=path)
        with server:
            idle = server.connect()
            server.ask("GET", "/v2", connection=idle)
            waiting = [UnixConnection(path) for _ in range(10)]
            for i, connection in enumerate(waiting):
                connection.request("POST", "/v2/models/ctr/infer",
                                   json.dumps({"inputs": inputs_of(self.lines[i:i + 1])}))
            wait_until(lambda: server.metric("pdl_serve_waiting_samples") == 10)
            server.end()
            server.wait_for("finishes the requests that were taken")
            wait_until(lambda: not path.exists() or not self.can_connect(server))
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

    def test_idle_connections(self):
        """Idle connections are closed; connections with a slow request are not."""
        self.deploy("small")
        # Blanks after the text are a part of the request.
        body = json.dumps({"inputs": small_inputs()}).encode().ljust(4096)
        head = (b"POST /v2/models/small/infer HTTP/1.1\r\nHost: x\r\n"
                b"Content-Length: %d\r\n\r\n" % len(body))
        whole = head + body
        # The time is long enough for a client on a loaded machine, which may pause for seconds.
        with Server(self.models, "--idle-timeout", "8", "--request-timeout", 2 * LONG) as server:
            def connect():
                return contextlib.closing(
                    socket.create_connection(("127.0.0.1", server.port), LONG))

            with connect() as slow, connect() as idle:
                # A part of the next request follows at once, so the connection is never idle.
                slow.sendall(whole + whole[:1])
                self.assertIn(b"200 OK", slow.recv(1 << 16))
                closed = select.poll()
                closed.register(idle, select.POLLIN)
                sent = 1
                while not closed.poll(100):
                    slow.sendall(whole[sent:sent + 1])
                    sent += 1
                self.assertEqual(idle.recv(1), b"")
                slow.sendall(whole[sent:])
                self.assertIn(b"200 OK", slow.recv(1 << 16))
                # Then it is idle, and is closed.
                self.assertEqual(slow.recv(1), b"")

    def test_more_than_may_wait(self):
        self.deploy("small")
        with Server(self.models, "--batch-delay", "600", "--max-waiting", "2") as server:
            waiting = [server.connect() for _ in range(2)]
            for connection in waiting:
                connection.request("POST", "/v2/models/small/infer",
                                   json.dumps({"inputs": small_inputs()}))
            wait_until(lambda: server.metric("pdl_serve_waiting_samples") == 2)
            status, message = server.refused("POST", "/v2/models/small/infer",
                                              {"inputs": small_inputs()})
            self.assertEqual(status, 503)
            self.assertIn("2 requests wait already", message)
            server.end()
            for connection in waiting:
                self.assertEqual(connection.getresponse().status, 200)
                connection.close()

    def test_flags(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        port = taken.getsockname()[1]
        for flags, message in (
                ([self.own / "none"], "is no folder of models"),
                ([self.models, "--http", "nowhere"], "'nowhere' is no address"),
                ([self.models, "--http", f"127.0.0.1:{port}"], "in use"),
                ([self.models, "--grpc", f"127.0.0.1:{port}"], "in use"),
                ([self.models, "--http", f"unix:{self.own}/a/b"], "No such file"),
                ([self.models, "--max-batch", "0"], "--max-batch"),
                ([self.models, "--batch-delay", "soon"], "no number of seconds"),
                ([], "models is required")):
            with self.subTest(message):
                done = subprocess.run([str(PDL_SERVE), *map(str, flags)], capture_output=True,
                                      text=True, timeout=60, check=False)
                # Another process may release the address, so a retry may succeed. A missing folder
                # is not an error in the flags.
                status = {"in use": 3, "No such file": 1, "is no folder of models": 1}
                self.assertEqual(done.returncode, status.get(message, 2), done.stderr)
                self.assertIn(message, done.stderr)
        # A socket of a killed process is replaced; a socket with a listener is not.
        path = self.own / "socket"
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as left:
            left.bind(str(path))
        by_grpc = self.own / "grpc"
        with Server(self.models, "--grpc", f"unix:{by_grpc}", unix=path) as server:
            server.wait_for("answers gRPC at unix:")
            self.assertEqual(server.ask("GET", "/v2", connection=UnixConnection(path))[0], 200)
            for flag, other in (("--http", path), ("--http", by_grpc), ("--grpc", by_grpc),
                                ("--grpc", path)):
                with self.subTest(flag, at=other.name):
                    self.assertIn("another process listens there",
                                  self.does_not_start(flag, f"unix:{other}", status=3))
            self.assertEqual(server.ask("GET", "/v2", connection=UnixConnection(path))[0], 200)
            with contextlib.closing(socket.socket(socket.AF_UNIX)) as client:
                client.connect(str(by_grpc))
        # A file that is not a socket is not replaced.
        path.write_text("precious")
        for flag in "--http", "--grpc":
            self.assertIn("a file that is no socket",
                          self.does_not_start(flag, f"unix:{path}", status=1))
        self.assertEqual(path.read_text(), "precious")

    def test_as_many_files_as_may_be_open(self):
        self.deploy("small")
        with Server(self.models, grpc=True) as server:
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (40, 40))
            with contextlib.ExitStack() as all_of_them:
                for _ in range(60):
                    all_of_them.enter_context(contextlib.closing(socket.create_connection(
                        ("127.0.0.1", server.grpc_port))))
                server.wait_for("no connection of gRPC can be taken for now")
            wait_until(lambda: self.can_connect(server))
            self.assertEqual(server.ask("GET", "/v2/health/ready")[0], 200)
            # The gRPC address is still served: settings of HTTP/2 are received.
            with contextlib.closing(socket.create_connection(
                    ("127.0.0.1", server.grpc_port), LONG)) as client:
                client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
                self.assertEqual(client.recv(9)[3], 4)

    def does_not_start(self, *flags, status=2):
        """Returns the errors of a server that must end with `status`."""
        return fails(PDL_SERVE, self.models, *flags, status=status, timeout=60)


if __name__ == "__main__":
    unittest.main()
