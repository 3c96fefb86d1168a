# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A proxy on this host that corrupts the bytes of connections at random points."""

import contextlib
import random
import socket
import threading

KINDS = "flip", "drop", "double"


def open_socket(address):
    """Returns a socket for an address such as unix:/path or 127.0.0.1:7101, and what it binds."""
    if address.startswith("unix:"):
        return socket.socket(socket.AF_UNIX), address.removeprefix("unix:")
    host, port = address.rsplit(":", 1)
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made, (host, int(port))


class CorruptingProxy:
    """Listens at an address and forwards to another one. It changes, drops or doubles a few bytes
    `faults` times, each of them `shortest` to `longest` bytes of both directions after the one
    before. Connections stay open. Closed with its owner."""

    def __init__(self, address, target, seed, faults, shortest, longest):
        self.target = target
        self.random = random.Random(seed)
        self.between = shortest, longest
        self.left = faults
        self.seen = 0
        self.lock = threading.Lock()
        self.sockets = []
        self.entry, name = open_socket(address)
        self.entry.bind(name)
        self.entry.listen(64)
        self.next = self.random.randint(shortest, longest)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.entry.accept()
            except OSError:
                return
            server, name = open_socket(self.target)
            try:
                server.connect(name)
            except OSError:
                # It has not started yet, or has ended.
                client.close()
                server.close()
                continue
            with self.lock:
                self.sockets += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    def _corrupt(self, data):
        with self.lock:
            self.seen += len(data)
            if self.left == 0 or self.seen < self.next:
                return data
            self.left -= 1
            self.next = self.seen + self.random.randint(*self.between)
            at = self.random.randrange(len(data))
            kind = self.random.choice(KINDS)
            count = self.random.choice((1, 1, 3, 8, 16, 200))
            if kind == "flip":
                bit = bytes([data[at] ^ 1 << self.random.randrange(8)])
                return data[:at] + bit + data[at + 1:]
            if kind == "drop":
                return data[:at] + data[at + count:]
            return data[:at + count] + data[at:]

    def _forward(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(self._corrupt(data))
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        with contextlib.suppress(OSError):
            self.entry.shutdown(socket.SHUT_RDWR)
        self.entry.close()
        with self.lock:
            for each in self.sockets:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
