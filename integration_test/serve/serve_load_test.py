# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Costs of large requests and many models: the latency of health checks and metrics meanwhile, and
the peak memory of the server. Bounds are several times the values of a machine with one idle core.
The numbers are printed. Latencies depend on the other load of the machine, so they are compared at
night only."""

import contextlib
import os
import pathlib
import re
import selectors
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_server import ServedModels, Server
from programs import is_nightly
from waiting import LONG, cpu_ticks, wait_until

HEAD = b"POST /v2/models/small/infer HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"

INTERVAL = 2  # ms
MAX_P99 = 500  # ms; a server that reads bodies in the thread of connections takes 900
MAX_PAGE = 1.0  # seconds of CPU time for a page of metrics and the health checks meanwhile


def numbers(mebibytes, form=b"0.25,"):
    """Returns a request of that size, with more samples than a request may have."""
    begin = b'{"inputs":[{"name":"x","datatype":"FP32","shape":[%d,2],"data":['
    count = (mebibytes << 20) // len(form) // 2 * 2
    return begin % (count // 2) + (form * count)[:-1] + b"]}]}"


def quantile(sorted_values, part):
    return sorted_values[min(len(sorted_values) - 1, int(part * len(sorted_values)))]


class ServeLoad(ServedModels):
    saved = {"small": (1,)}

    @contextlib.contextmanager
    def latencies(self, server, what):
        """Yields a list that gets the latencies of /v2/health/live in ms while the block runs. If
        a request waits, the list also gets latencies for those requests that a client would have
        sent every INTERVAL ms meanwhile."""
        found, is_over = [], threading.Event()

        def ask():
            connection = server.connect()
            while not is_over.is_set():
                begun = time.perf_counter()
                status, _ = server.ask("GET", "/v2/health/live", connection=connection)
                latency = (time.perf_counter() - begun) * 1000 if status == 200 else LONG * 1000
                found.append(latency)
                found.extend(latency - INTERVAL * i for i in range(1, int(latency / INTERVAL)))
                time.sleep(INTERVAL / 1000)
            connection.close()

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            yield found
        finally:
            is_over.set()
            thread.join()
        found.sort()
        print(f"{what}: health of {len(found)} requests p50 {quantile(found, 0.5):.1f} ms, "
              f"p99 {quantile(found, 0.99):.1f} ms, max {found[-1]:.1f} ms", flush=True)

    def check_latencies(self, found):
        if is_nightly():
            self.assertLess(quantile(found, 0.99), MAX_P99)

    def test_health_while_large_requests_come(self):
        self.deploy("small")
        body = numbers(60)
        path = self.own / "body"
        path.write_bytes(HEAD % len(body) + body)
        with Server(self.models, "--http-threads", "1") as server:
            with self.latencies(server, "60 MB of JSON") as found:
                for _ in range(5):
                    # sendfile() sends the file without work in Python.
                    with open(path, "rb") as file, contextlib.closing(socket.create_connection(
                            ("127.0.0.1", server.port), LONG)) as used:
                        used.sendfile(file)
                        self.assertIn(b" 413 ", used.recv(1 << 16))
            self.assertGreater(len(found), 20)
            self.check_latencies(found)

    def test_metrics_of_many_models(self):
        first = self.deploy("small")
        [library] = first.glob("*.so")
        for i in range(299):
            made = self.models / f"small{i}" / "1"
            made.mkdir(parents=True)
            os.link(library, made / library.name)
            (made / "checkpoints").symlink_to(self.checkpoints("small", 1))
        with Server(self.models) as server:
            times = []
            before = cpu_ticks(server.process.pid)
            with self.latencies(server, "metrics of 300 models") as found:
                connection = server.connect()
                for _ in range(20):
                    begun = time.perf_counter()
                    status, content = server.ask("GET", "/metrics", connection=connection)
                    times.append((time.perf_counter() - begun) * 1000)
                    self.assertEqual(status, 200)
                connection.close()
            used = (cpu_ticks(server.process.pid) - before) / os.sysconf("SC_CLK_TCK")
            self.assertIn(b'model="small298"', content)
            times.sort()
            print(f"/metrics: {len(content) >> 10} KiB, p50 {quantile(times, 0.5):.0f} ms, "
                  f"max {times[-1]:.0f} ms, {used / len(times) * 1000:.0f} ms of the server's CPUs",
                  flush=True)
            self.assertLess(used / len(times), MAX_PAGE)
            self.check_latencies(found)

    def test_memory_of_many_large_requests(self):
        """60 connections with 60 MiB each need at most --max-memory and a constant."""
        self.deploy("small")
        body = numbers(60)
        whole = memoryview(HEAD % len(body) + body)
        with Server(self.models, "--max-memory", "512") as server:
            def status(name):
                text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
                return int(re.search(rf"{name}:\s+(\d+)", text)[1]) / 1024

            before = status("VmRSS")
            pathlib.Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
            statuses = []
            with selectors.DefaultSelector() as selector, contextlib.ExitStack() as stack:
                for _ in range(60):
                    used = stack.enter_context(contextlib.closing(socket.create_connection(
                        ("127.0.0.1", server.port), LONG)))
                    used.setblocking(False)
                    selector.register(used, selectors.EVENT_READ | selectors.EVENT_WRITE, [0])
                while selector.get_map():
                    for key, events in selector.select(LONG):
                        used, sent = key.fileobj, key.data
                        try:
                            if events & selectors.EVENT_READ:
                                statuses.append(used.recv(1 << 16)[9:12])
                                selector.unregister(used)
                            elif events & selectors.EVENT_WRITE:
                                sent[0] += used.send(whole[sent[0]:sent[0] + (1 << 20)])
                                if sent[0] == len(whole):
                                    selector.modify(used, selectors.EVENT_READ, sent)
                        except (BrokenPipeError, ConnectionResetError):
                            selector.unregister(used)
            grown = status("VmHWM") - before
            print(f"60 requests of 60 MiB: {grown:.0f} MiB more at the peak; answers "
                  f"{sorted(map(bytes.decode, statuses))}", flush=True)
            self.assertLess(grown, 512 + 64)
            self.assertIn(b"503", statuses)
            self.assertLessEqual(set(statuses), {b"", b"413", b"503"})
            wait_until(lambda: server.metric("pdl_serve_memory_bytes", kind="taken") < 1 << 20)
            self.assertEqual(server.ask("GET", "/v2/health/ready")[0], 200)


if __name__ == "__main__":
    unittest.main()
