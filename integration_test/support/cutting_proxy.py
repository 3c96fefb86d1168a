# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A proxy on this host that breaks connections at random points."""

import random
import socket
import struct
import threading

from proxy import Proxy


class CuttingProxy(Proxy):
    """Listens at a unix socket and forwards to another one. Breaks each connection after a random
    number of bytes of both directions, at most `longest`. It may have forwarded the last bytes in
    part, so that messages end half-way. After `cuts` of them it breaks no more."""

    def __init__(self, path, target, seed, cuts, longest):
        self.random = random.Random(seed)
        self.cuts = cuts
        self.longest = longest
        self.done = 0
        self.open = set()
        self.threads = []
        super().__init__(f"unix:{path}", f"unix:{target}")

    def connected(self, client, server):
        _Pair(self, client, server)

    def budget(self):
        """Bytes that a new connection may carry; none: all of them."""
        with self.lock:
            if self.done >= self.cuts:
                return None
            # Mostly few bytes: in a handshake, or in a head.
            return int(self.longest ** self.random.random())

    def close(self):
        super().close()
        with self.lock:
            pairs = list(self.open)
        for pair in pairs:
            pair.cut(reset=False)
        for thread in self.threads:
            thread.join()


class _Pair:
    """One connection through the proxy, with a thread for each direction."""

    def __init__(self, proxy, client, server):
        self.proxy = proxy
        self.ends = client, server
        self.left = proxy.budget()
        self.lock = threading.Lock()
        self.is_cut = False
        with proxy.lock:
            proxy.open.add(self)
        for source, sink in ((client, server), (server, client)):
            thread = threading.Thread(target=self._forward,
                                      args=(source, sink))
            proxy.threads.append(thread)
            thread.start()

    def _forward(self, source, sink):
        try:
            while True:
                data = source.recv(1 << 16)
                if not data:
                    break
                with self.lock:
                    cuts = self.left is not None and len(data) >= self.left
                    if self.left is not None:
                        data = data[:self.left]
                        self.left -= len(data)
                sink.sendall(data)
                if cuts:
                    with self.proxy.lock:
                        self.proxy.done += 1
                    break
        except OSError:
            pass
        self.cut(reset=True)

    def cut(self, reset):
        with self.lock:
            if self.is_cut:
                return
            self.is_cut = True
        for end in self.ends:
            try:
                if reset:
                    # What is still on its way is dropped.
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                   struct.pack("ii", 1, 0))
                # Wakes the thread that reads it.
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
        with self.proxy.lock:
            self.proxy.open.discard(self)
