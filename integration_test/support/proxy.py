# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The base of proxies on this host, which forward connections and disturb them."""

import contextlib
import socket
import threading


def open_socket(address):
    """Returns a socket for an address such as unix:/path or 127.0.0.1:7101, and what it binds."""
    if address.startswith("unix:"):
        return socket.socket(socket.AF_UNIX), address.removeprefix("unix:")
    host, port = address.rsplit(":", 1)
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made, (host, int(port))


class Proxy:
    """Listens at an address. Connects each client with another address, and calls `connected` with
    both sockets. Closed with its owner. Subclasses set their fields before they call __init__."""

    def __init__(self, address, target):
        self.target = target
        self.stopping = False
        self.lock = threading.Lock()
        self.sockets = []
        self.entry, name = open_socket(address)
        self.entry.bind(name)
        self.entry.listen(64)
        self.accepting = threading.Thread(target=self._accept, daemon=True)
        self.accepting.start()

    def _accept(self):
        while True:
            try:
                client, _ = self.entry.accept()
            except OSError:
                return
            if self.stopping:
                client.close()
                return
            server, name = open_socket(self.target)
            try:
                server.connect(name)
            except OSError:
                # It has not started yet, or has ended.
                client.close()
                server.close()
                continue
            self.connected(client, server)

    def connected(self, client, server):
        """Forwards the bytes of both directions, as `change` returns them. Does not block."""
        with self.lock:
            self.sockets += [client, server]
        for source, sink in ((client, server), (server, client)):
            threading.Thread(target=self._forward, args=(source, sink, source is client),
                             daemon=True).start()

    def change(self, data, client):
        """Returns the bytes to forward instead of `data`. `client`: the socket of the client that
        sent them; none if the server did."""
        return data

    def _forward(self, source, sink, is_client):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(self.change(data, source if is_client else None))
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.stopping = True
        with contextlib.suppress(OSError):
            # Wakes the thread that accepts.
            self.entry.shutdown(socket.SHUT_RDWR)
        self.entry.close()
        self.accepting.join()
        with self.lock:
            for each in self.sockets:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
