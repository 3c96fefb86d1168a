# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pdl-serve with clients that violate protocols: the requirements of HTTP/1.1 (RFC 9110 and 9112)
for servers, request by request, and the limits for memory, connections, samples and time."""

import contextlib
import json
import pathlib
import re
import resource
import select
import socket
import struct
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_server import ServedModels, Server, small_inputs, tensor
from waiting import LONG, wait_until

BODY = json.dumps({"inputs": small_inputs()}).encode()
POST = b"POST /v2/models/small/infer HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"


def chunks(*parts, end=b"0\r\n\r\n"):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + end


def post(*lines, body=b""):
    return POST + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body


def get(target=b"/v2", *lines, method=b"GET", version=b"HTTP/1.1"):
    return b"".join(line + b"\r\n" for line in (
        method + b" " + target + b" " + version, *lines, b"Connection: close", b""))


CHUNKED = b"Transfer-Encoding: chunked"
LENGTH = b"Content-Length: %d" % len(BODY)
# (description, sent bytes, status of the response).
CONFORMANCE = [
    # Forms of a request.
    ("a request", get(b"/v2", b"Host: a"), 200),
    ("a name of a header in other letters", get(b"/v2", b"hOsT: a"), 200),
    ("blanks around a value", get(b"/v2", b"Host: \t a \t"), 200),
    ("no blank before a value", get(b"/v2", b"Host:a"), 200),
    ("a port", get(b"/v2", b"Host: a:8000"), 200),
    ("an address of IPv6", get(b"/v2", b"Host: [::1]:8000"), 200),
    ("an empty host", get(b"/v2", b"Host:"), 200),
    ("HTTP/1.0", get(version=b"HTTP/1.0"), 200),
    ("a query", get(b"/v2?a=b/c", b"Host: a"), 200),
    ("an escaped path", get(b"/v2/models/sm%61ll", b"Host: a"), 200),
    ("the whole address", get(b"http://a.example:80/v2", b"Host: a"), 200),
    ("the whole address, of another scheme", get(b"HTTPS://a.example/v2", b"Host: a"), 200),
    ("the whole address, with another host", get(b"http://b/v2/models/small", b"Host: a"), 200),
    ("the whole address without a path", get(b"http://a", b"Host: a"), 404),
    ("HEAD", get(b"/v2", b"Host: a", method=b"HEAD"), 200),
    ("no method", get(b"/v2", b"Host: a", method=b""), 400),
    ("a method that is no token", get(b"/v2", b"Host: a", method=b"G@T("), 400),
    ("a method that nobody knows", get(b"/v2", b"Host: a", method=b"FETCH"), 501),
    ("a method in other letters", get(b"/v2", b"Host: a", method=b"get"), 501),
    ("no version", b"GET /v2\r\nHost: a\r\n\r\n", 400),
    ("a version of HTTP/2", get(b"/v2", b"Host: a", version=b"HTTP/2.0"), 400),
    ("a version in other letters", get(b"/v2", b"Host: a", version=b"http/1.1"), 400),
    ("a version that goes on", get(b"/v2", b"Host: a", version=b"HTTP/1.11"), 400),
    ("a target that is no path", get(b"v2", b"Host: a"), 400),
    ("a blank in the target", get(b"/v2 /v2", b"Host: a"), 400),
    ("a control character in the target", get(b"/v\x012", b"Host: a"), 400),
    ("a header without a colon", get(b"/v2", b"Host: a", b"Bad"), 400),
    ("a header without a name", get(b"/v2", b"Host: a", b": b"), 400),
    ("a blank before the colon", get(b"/v2", b"Host : a"), 400),
    ("a blank in a name", get(b"/v2", b"Host: a", b"X Y: b"), 400),
    ("a zero byte in a value", get(b"/v2", b"Host: a", b"X: a\0b"), 400),
    ("a return in a value", get(b"/v2", b"Host: a", b"X: a\rb"), 400),
    ("a line end without a return", b"GET /v2 HTTP/1.1\nHost: a\n\n", 400),
    ("no text", b"\0\1\2\3\r\n\r\n", 400),
    ("a header of 70 kB", get(b"/v2", b"Host: a", b"A: " + b"a" * 70000), 431),
    ("many headers", get(b"/v2", b"Host: a", *[b"A%d: a" % i for i in range(9000)]), 431),
    ("an empty line before a request", b"\r\n" + get(b"/v2", b"Host: a"), 200),
    ("several empty lines before a request", b"\r\n" * 3 + get(b"/v2", b"Host: a"), 200),
    ("an empty line without a return", b"\n" + get(b"/v2", b"Host: a"), 400),
    ("a folded line", get(b"/v2", b"Host: a", b"X: a", b" b"), 200),
    ("a folded first line", get(b"/v2", b" Host: a"), 400),
    ("tabs between the words of a request", get(b"/v2", b"Host: a").replace(b" ", b"\t", 2), 400),
    ("a blank behind the version", get(b"/v2", b"Host: a", version=b"HTTP/1.1 "), 400),
    ("a fragment", get(b"/v2#a", b"Host: a"), 400),
    ("a byte above 127 in a name", get(b"/v2", b"Host: a", b"X\xff: a"), 400),
    ("a control character in a value", get(b"/v2", b"Host: a", b"X: \x01"), 400),
    ("the whole address without a host", get(b"http:///v2", b"Host: a"), 400),
    ("the whole address with somebody", get(b"http://me@a/v2", b"Host: a"), 400),
    # Headers with the host.
    ("no host", get(), 400),
    ("a port that is no number", get(b"/v2", b"Host: a:b"), 400),
    ("an empty port", get(b"/v2", b"Host: a:"), 200),
    ("an address of IPv6 that does not end", get(b"/v2", b"Host: [::1"), 400),
    ("an address of IPv6 that goes on", get(b"/v2", b"Host: [::1]a"), 400),
    ("two colons in the host", get(b"/v2", b"Host: a:1:2"), 400),
    ("two hosts", get(b"/v2", b"Host: a", b"Host: b"), 400),
    ("a host twice", get(b"/v2", b"Host: a", b"Host: a"), 400),
    ("two hosts of HTTP/1.0", get(b"/v2", b"Host: a", b"Host: b", version=b"HTTP/1.0"), 400),
    ("a blank in the host", get(b"/v2", b"Host: a b"), 400),
    ("a path in the host", get(b"/v2", b"Host: a/b"), 400),
    ("a list of hosts", get(b"/v2", b"Host: a, b"), 400),
    ("somebody in the host", get(b"/v2", b"Host: me@a"), 400),
    ("no host, with the whole address", get(b"http://a/v2"), 400),
    # Methods.
    ("OPTIONS of all", get(b"*", b"Host: a", method=b"OPTIONS"), 200),
    ("OPTIONS of a path", get(b"/v2", b"Host: a", method=b"OPTIONS"), 200),
    ("OPTIONS of no path", get(b"/none", b"Host: a", method=b"OPTIONS"), 404),
    ("all of another method", get(b"*", b"Host: a"), 400),
    ("CONNECT", get(b"a:80", b"Host: a", method=b"CONNECT"), 400),
    ("another method", get(b"/v2", b"Host: a", method=b"DELETE"), 405),
    ("TRACE", get(b"/metrics", b"Host: a", method=b"TRACE"), 405),
    ("GET of infer", get(b"/v2/models/small/infer", b"Host: a"), 405),
    ("POST of ready", get(b"/v2/models/small/ready", b"Host: a", method=b"POST"), 405),
    ("a method that nobody knows, of infer",
     get(b"/v2/models/small/infer", b"Host: a", method=b"SEND"), 501),
    # Length of the body.
    ("a length", post(LENGTH, body=BODY), 200),
    ("chunks", post(CHUNKED, body=chunks(BODY[:9], BODY[9:])), 200),
    ("chunks in other letters", post(b"TRANSFER-encoding: Chunked", body=chunks(BODY)), 200),
    ("chunks with empty elements of the list",
     post(b"Transfer-Encoding: , chunked,", body=chunks(BODY)), 200),
    ("extensions of chunks",
     post(CHUNKED, body=b"%x;a=b;c\r\n%s\r\n0;d\r\n\r\n" % (len(BODY), BODY)), 200),
    ("a trailer", post(CHUNKED, body=chunks(BODY, end=b"0\r\nA: b\r\n\r\n")), 200),
    ("a length of a chunk in front of zeros",
     post(CHUNKED, body=b"000%x\r\n%s\r\n000\r\n\r\n" % (len(BODY), BODY)), 200),
    ("a chunk whose size ends without a return",
     post(CHUNKED, body=b"%x\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)), 400),
    ("a chunk whose extension ends without a return",
     post(CHUNKED, body=b"%x;a\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)), 400),
    ("a chunk that ends without a return",
     post(CHUNKED, body=b"%x\r\n%s\n0\r\n\r\n" % (len(BODY), BODY)), 400),
    ("a chunk without a size", post(CHUNKED, body=b";a\r\n%s\r\n0\r\n\r\n" % BODY), 400),
    ("a trailer that is a length", post(CHUNKED, body=chunks(
        BODY, end=b"0\r\nContent-Length: 3\r\n\r\n")), 400),
    # Trailers do not count as headers.
    ("a trailer that is the size of the JSON", post(CHUNKED, body=chunks(
        BODY, end=b"0\r\nInference-Header-Content-Length: 3\r\n\r\n")), 200),
    ("a trailer that is a coding of the content", post(CHUNKED, body=chunks(
        BODY, end=b"0\r\nContent-Encoding: gzip\r\n\r\n")), 200),
    ("two sizes of the JSON", post(
        LENGTH, b"Inference-Header-Content-Length: %d" % len(BODY),
        b"Inference-Header-Content-Length: 3", body=BODY), 400),
    ("two codings of the content",
     post(LENGTH, b"Content-Encoding: identity", b"Content-Encoding: gzip", body=BODY), 400),
    ("a length in front of zeros", post(b"Content-Length: 000%d" % len(BODY), body=BODY), 200),
    ("a coding that ends like chunked",
     post(b"Transfer-Encoding: xchunked", body=chunks(BODY)), 400),
    ("a coding that begins like chunked",
     post(b"Transfer-Encoding: chunkedx", body=chunks(BODY)), 400),
    ("a coding with a parameter", post(b"Transfer-Encoding: chunked;a=b", body=chunks(BODY)), 400),
    ("a coding in quotes", post(b'Transfer-Encoding: "chunked"', body=chunks(BODY)), 400),
    ("a coding behind chunks", post(b"Transfer-Encoding: chunked, gzip", body=chunks(BODY)), 400),
    ("chunks of chunks", post(b"Transfer-Encoding: chunked, chunked", body=chunks(BODY)), 400),
    ("chunks of chunks in two lines", post(CHUNKED, CHUNKED, body=chunks(BODY)), 400),
    ("no coding", post(b"Transfer-Encoding: identity", body=BODY), 400),
    ("an empty coding", post(b"Transfer-Encoding:", body=BODY), 400),
    ("a coding without chunks", post(b"Transfer-Encoding: gzip", body=BODY), 400),
    ("a coding before chunks", post(b"Transfer-Encoding: gzip, chunked", body=chunks(BODY)), 501),
    ("a coding before chunks in two lines",
     post(b"Transfer-Encoding: gzip", CHUNKED, body=chunks(BODY)), 501),
    ("chunks of HTTP/1.0",
     post(CHUNKED, body=chunks(BODY)).replace(b"HTTP/1.1", b"HTTP/1.0"), 400),
    ("a length and chunks", post(LENGTH, CHUNKED, body=chunks(BODY)), 400),
    ("chunks and a length", post(CHUNKED, LENGTH, body=chunks(BODY)), 400),
    ("a length and another coding", post(LENGTH, b"Transfer-Encoding: x", body=BODY), 400),
    ("two lengths", post(LENGTH, b"Content-Length: 3", body=BODY), 400),
    ("a length twice", post(LENGTH, LENGTH, body=BODY), 400),
    ("a list of lengths", post(b"Content-Length: 5, 5", body=BODY), 400),
    ("a length below zero", post(b"Content-Length: -5"), 400),
    ("a length with a sign", post(b"Content-Length: +5", body=b"12345"), 400),
    ("a length in another base", post(b"Content-Length: 0x5", body=b"12345"), 400),
    ("a length with a blank", post(b"Content-Length: 5 5", body=b"12345"), 400),
    ("a length that is no number", post(b"Content-Length: five", body=b"12345"), 400),
    ("an empty length", post(b"Content-Length:", body=b"12345"), 400),
    ("a length of 65 bits", post(b"Content-Length: 18446744073709551616"), 400),
    ("a length that is too large", post(b"Content-Length: 99999999999"), 413),
    ("a size of a chunk that is no number", post(CHUNKED, body=b"zz\r\n"), 400),
    ("a size of a chunk below zero", post(CHUNKED, body=b"-1\r\n"), 400),
    ("a size of a chunk with a prefix", post(CHUNKED, body=b"0x5\r\n12345\r\n0\r\n\r\n"), 400),
    ("a size of a chunk of 68 bits", post(CHUNKED, body=b"FFFFFFFFFFFFFFFFF\r\n"), 400),
    ("a chunk that is longer than it says", post(CHUNKED, body=b"5\r\n123456\r\n0\r\n\r\n"), 400),
    ("chunks that are too large",
     post(CHUNKED, body=chunks(*[b" " * 100000] * 45)), 413),
    ("an extension of 10 MB", post(CHUNKED, body=b"5;" + b"a" * 10_000_000), 431),
    ("a trailer of 10 MB", post(CHUNKED, body=b"0\r\nA: " + b"a" * 10_000_000), 431),
    ("trailers of 10 MB", post(CHUNKED, body=b"0\r\n" + b"A: a\r\n" * 1_700_000), 431),
    # Expectations before a body is sent.
    ("an expectation", post(LENGTH, b"Expect: 100-continue", body=BODY), 100),
    ("two expectations", post(LENGTH, b"Expect: 100-continue", b"Expect: gold", body=BODY), 417),
    ("an expectation in other letters", post(LENGTH, b"Expect: 100-Continue", body=BODY), 100),
    ("another expectation", post(LENGTH, b"Expect: gold", body=BODY), 417),
    ("an expectation of HTTP/1.0",
     post(LENGTH, b"Expect: 100-continue", body=BODY).replace(b"HTTP/1.1", b"HTTP/1.0"), 200),
]


class ServeLimits(ServedModels):
    saved = {"small": (1,)}

    def exchange(self, server, sent):
        """Sends bytes. Returns all received bytes until the server closes the connection."""
        with contextlib.closing(socket.create_connection(
                ("127.0.0.1", server.port), LONG)) as used:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                used.sendall(sent)
            received = b""
            with contextlib.suppress(ConnectionResetError):
                while part := used.recv(65536):
                    received += part
            return received

    def resident(self, server):
        """Returns the resident memory of the server in MiB."""
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def check_conformance(self, server):
        for what, sent, status in CONFORMANCE:
            with self.subTest(what):
                received = self.exchange(server, sent)
                statuses = [int(each) for each in
                            re.findall(rb"^HTTP/1\.1 (\d+) ", received, re.M)]
                # There is one response: no part of a body is parsed as another request.
                self.assertEqual(statuses, [100, 200] if status == 100 else [status], received)
                if status in (405, 501) and b"ransfer-Enc" not in sent:
                    self.assertRegex(received, rb"\r\nAllow: \w")
                if status != 100:
                    self.assertRegex(received, rb"\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT")
        self.assertRegex(self.exchange(server, get(b"*", b"Host: a", method=b"OPTIONS")),
                         rb"\r\nAllow: GET, HEAD, POST, OPTIONS\r\n")
        # No response to HEAD has a body.
        for sent in (get(b"/v2", b"Host: a", method=b"HEAD"), get(b"/v2", method=b"HEAD"),
                     get(b"/none", b"Host: a", method=b"HEAD")):
            self.assertTrue(self.exchange(server, sent).endswith(b"\r\n\r\n"), sent)
        # Bytes after a rejected request are not read.
        smuggled = post(b"Transfer-Encoding: xchunked", body=chunks(BODY) + get(b"/v2", b"Host: a"))
        self.assertEqual(self.exchange(server, smuggled).count(b"HTTP/1.1 "), 1)
        # Bytes after an accepted request are read.
        both = (get(b"/v2", b"Host: a").replace(b"Connection: close\r\n", b"")
                + get(b"/metrics", b"Host: a"))
        self.assertEqual(self.exchange(server, both).count(b"HTTP/1.1 200"), 2)

        # A request that ends too early has no response.
        for sent in post(b"Content-Length: 50", body=b"short"), b"GET /v2", b"":
            with contextlib.closing(socket.create_connection(
                    ("127.0.0.1", server.port), LONG)) as used:
                used.sendall(sent)
                used.shutdown(socket.SHUT_WR)
                self.assertEqual(used.recv(1 << 16), b"")

    def check_samples(self, server):
        status, message = server.refused("POST", "/v2/models/small/infer",
                                          {"inputs": small_inputs(1001)})
        self.assertEqual(status, 413)
        self.assertIn("has 1001 samples; a request has 1 to 1000", message)
        splits = [tensor("x", "FP32", [1000, 2], [0.5] * 2000),
                  tensor("item", "INT64", [1000, 1], [3] * 1000)]
        self.assertEqual(len(server.infer(splits, "small")["score"]), 1000)

    def check_memory(self, server):
        """Checks that announced bodies use no memory, and that bodies are rejected if there are
        too many bytes of them."""
        before = self.resident(server)
        with contextlib.ExitStack() as stack:
            def connect():
                used = stack.enter_context(contextlib.closing(
                    socket.create_connection(("127.0.0.1", server.port), LONG)))
                used.sendall(post(b"Content-Length: %d" % (4 << 20)))
                return used

            all_of_them = [connect() for _ in range(20)]
            wait_until(lambda: server.metric("pdl_serve_connections", protocol="http") > 20)
            self.assertLess(self.resident(server) - before, 16)
            part = b" " * (3 << 20)
            for used in all_of_them:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    used.sendall(part)
                used.setblocking(False)
            refused = []

            def collect():
                for used in all_of_them:
                    with contextlib.suppress(BlockingIOError, ConnectionResetError):
                        answer = used.recv(1 << 16)
                        refused.extend([answer] if b" 503 " in answer else [])
                return len(refused) > 5

            wait_until(collect)
            self.assertIn(b"--max-memory", refused[0])
            self.assertLess(self.resident(server) - before, 100)
        wait_until(lambda: server.metric("pdl_serve_memory_bytes", kind="taken") < 1 << 20)

    def check_slow_requests(self, server):
        """Checks that a header or a body that arrives slowly is ended by the time limit."""
        for sent in get(b"/v2", b"Host: a")[:-2], post(LENGTH):
            with contextlib.closing(socket.create_connection(
                    ("127.0.0.1", server.port), LONG)) as used:
                used.sendall(sent)
                answered = select.poll()
                answered.register(used, select.POLLIN)
                end = time.monotonic() + LONG
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    while not answered.poll(100):
                        self.assertLess(time.monotonic(), end, "no response")
                        used.sendall(b"A: b\r\n" if sent.startswith(b"GET") else b" ")
                self.assertIn(b" 408 ", used.recv(1 << 16))
        # Connections of requests that were rejected while they were sent have been closed.
        wait_until(lambda: server.metric("pdl_serve_connections", protocol="http") < 2)

    def check_connections(self, server):
        """Checks that a new connection replaces the one that has been idle longest."""
        with contextlib.ExitStack() as stack:
            def connect():
                return stack.enter_context(contextlib.closing(
                    socket.create_connection(("127.0.0.1", server.port), LONG)))

            idle = [connect() for _ in range(24)]
            used = connect()
            used.sendall(get(b"/v2/health/live", b"Host: a"))
            self.assertIn(b" 200 ", used.recv(1 << 16))
            self.assertEqual(idle[0].recv(1), b"")
            # Connections with a request that has begun are not closed.
            begun = [connect() for _ in range(24)]
            for each in begun:
                each.sendall(b"GET /v2")
            deadline = time.monotonic() + LONG
            while b" 503 " not in (answer := self.exchange(server, get(b"/v2", b"Host: a"))):
                self.assertLess(time.monotonic(), deadline)
            self.assertIn(b"--max-connections", answer)
        wait_until(lambda: b" 200 " in self.exchange(server, get(b"/v2", b"Host: a")))

    def check_half_closed(self, server):
        """Checks that a client that closes its sending side after its request gets the response.
        """
        both = get(b"/v2", b"Host: a").replace(b"Connection: close\r\n", b"")
        for sent, answers in ((post(LENGTH, body=BODY), 1), (get(b"/v2", b"Host: a"), 1),
                              (both + post(LENGTH, body=BODY), 2)):
            with contextlib.closing(socket.create_connection(
                    ("127.0.0.1", server.port), LONG)) as used:
                used.sendall(sent)
                used.shutdown(socket.SHUT_WR)
                received = b""
                while part := used.recv(1 << 16):
                    received += part
            self.assertEqual(re.findall(rb"HTTP/1.1 (\d+)", received), [b"200"] * answers)

    def check_without_memory(self, server):
        """Checks that requests fail if the system has no more memory, and that the server
        continues."""
        pid = server.process.pid
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        used = int(re.search(r"VmSize:\s+(\d+)", status)[1]) << 10
        resource.prlimit(pid, resource.RLIMIT_AS, (used + (2 << 20), resource.RLIM_INFINITY))
        seen = set()
        for _ in range(30):
            answer = self.exchange(server, post(b"Content-Length: %d" % (4 << 20),
                                                body=b"[" * (4 << 20)))
            seen.add(answer[9:12])
        # A connection may be lost, or get an error response.
        self.assertLessEqual(seen, {b"", b"400", b"413", b"503"})
        resource.prlimit(pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        wait_until(lambda: b" 200 " in self.exchange(server, get(b"/v2", b"Host: a")))
        self.assertIn("score", server.infer(small_inputs(), "small"))

    def test_one_server(self):
        """One server handles all of these clients, and responds at the end as at the beginning."""
        self.deploy("small")
        with Server(self.models, "--max-request", "4", "--max-memory", "32", "--max-samples",
                    "1000", "--max-connections", "24", "--request-timeout", 2 * LONG,
                    "--http-threads", "1") as server:
            before = server.infer(small_inputs(), "small")
            for check in (self.check_conformance, self.check_samples, self.check_memory,
                          self.check_connections, self.check_half_closed,
                          self.check_without_memory):
                check(server)
                self.assertEqual(server.infer(small_inputs(), "small"), before, check.__name__)
            wait_until(lambda: server.metric("pdl_serve_connections", protocol="http") == 1)

    def test_slow_requests(self):
        self.deploy("small")
        with Server(self.models, "--request-timeout", "2") as server:
            self.check_slow_requests(server)

    def test_clients_that_leave(self):
        """Requests of clients that have left are not scored, and not counted as successful."""
        self.deploy("small")
        with Server(self.models, "--batch-delay", "600", "--max-batch", "2") as server:
            with contextlib.closing(socket.create_connection(
                    ("127.0.0.1", server.port), LONG)) as used:
                used.sendall(post(LENGTH, body=BODY))
                # With this option, closing the socket resets the connection.
                used.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                wait_until(lambda: server.metric("pdl_serve_waiting_samples") == 1)
            # This request fills the batch.
            self.assertIn("score", server.infer(small_inputs(), "small"))
            for outcome in "ok", "cancelled":
                self.assertEqual(server.metric("pdl_serve_requests_total", model="small",
                                               outcome=outcome), 1)
            self.assertEqual(server.metric("pdl_serve_batch_samples_sum"), 1)

    def test_clients_that_close(self):
        """With TCP, an interim response distinguishes a closed connection from a half-closed one.
        With unix sockets, this is detected immediately."""
        self.deploy("small")
        path = self.own / "socket"
        with Server(self.models, "--batch-delay", "600", "--max-batch", "5", "--http-threads", "1",
                    unix=path) as server:
            clients = {}
            for name in "closed", "half", "old", "unix":
                clients[name] = used = socket.socket(
                    socket.AF_UNIX if name == "unix" else socket.AF_INET)
                self.addCleanup(used.close)
                used.settimeout(LONG)
                used.connect(str(path) if name == "unix" else ("127.0.0.1", server.port))
                sent = post(LENGTH, body=BODY)
                used.sendall(sent.replace(b"HTTP/1.1", b"HTTP/1.0") if name == "old" else sent)
                wait_until(lambda: server.metric("pdl_serve_waiting_samples") == len(clients))
            clients["closed"].close()
            clients["unix"].close()
            received = {}
            for name in "half", "old":
                clients[name].shutdown(socket.SHUT_WR)
            # The only thread sends interim responses to all clients before it responds.
            received["half"] = clients["half"].recv(1 << 16)
            server.metrics()
            # This request fills the batch.
            self.assertIn("score", server.infer(small_inputs(), "small"))
            for name in "half", "old":
                received.setdefault(name, b"")
                while part := clients[name].recv(1 << 16):
                    received[name] += part
            self.assertEqual(re.findall(rb"HTTP/1.1 (\d+)", received["half"]), [b"100", b"200"])
            # HTTP/1.0 has no interim responses.
            self.assertEqual(re.findall(rb"HTTP/1.1 (\d+)", received["old"]), [b"200"])
            self.assertEqual(server.metric("pdl_serve_requests_total", outcome="cancelled"), 2)
            self.assertEqual(server.metric("pdl_serve_batch_samples_sum"), 3)


if __name__ == "__main__":
    unittest.main()
