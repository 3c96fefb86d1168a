# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Network namespaces that are joined by links of a given rate and delay. pdl-bench-router shapes
the traffic of the links.

Requires Linux, root and iproute2, and only the standard library. All addresses are within the
created namespaces; the network of this machine is not changed."""

import contextlib
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys

from programs import BUILD

ROUTER = BUILD / "bin" / "pdl-bench-router"
DEVICE = "pdl0"
PORT = 7101


def ip(*words):
    return subprocess.run(["ip", *map(str, words)], check=True, capture_output=True,
                          text=True).stdout


def unavailable(router=ROUTER):
    """Returns the reason why no network can be created here, or None if it can."""
    if not pathlib.Path(router).exists():
        return f"{router} is not built"
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not os.path.exists("/dev/net/tun"):
        return "this system has no /dev/net/tun"
    try:
        with Network(1, router=router):
            pass
    except (OSError, subprocess.CalledProcessError, RuntimeError) as error:
        return (f"network namespaces cannot be made here "
                f"({getattr(error, 'stderr', None) or error})").replace("\n", " ")
    return None


class Network:
    """Network of `count` places. Each place is a namespace with one address. `rate`: bits per
    second of the link of each place, in each direction (0: unlimited). `delay`: seconds from one
    place to another. At the end of `with`, the namespaces are removed, and `carried` contains the
    counts of each link."""

    def __init__(self, count, rate=0, delay=0.0, mtu=9000, room=4 << 20, router=ROUTER):
        self.names = [f"pdl{os.getpid()}-{place}" for place in range(count)]
        self.rate, self.delay, self.mtu = rate, delay, mtu
        self.command = [str(router), str(mtu), str(int(rate)), str(round(delay * 1e9)), str(room),
                        *(f"/run/netns/{name}" for name in self.names)]
        self.stack = contextlib.ExitStack()
        # `carried`: for each place, the tuple (bytes up, bytes down, dropped packets).
        # `router_seconds`: CPU time of the router.
        self.carried, self.router_seconds = [], 0.0

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    def build(self):
        for name in self.names:
            ip("netns", "add", name)
            self.stack.callback(subprocess.run, ["ip", "netns", "del", name])
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.stack.callback(self.stop)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(self.process.stderr.read().strip())
        for place, name in enumerate(self.names):
            ip("-n", name, "addr", "add", f"{self.address(place)}/16", "dev", DEVICE)
            for link in ("lo", DEVICE):
                ip("-n", name, "link", "set", link, "up")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        text, _ = self.process.communicate(timeout=10)
        self.carried = [tuple(map(int, row)) for row in re.findall(
            r"link \d+: (\d+) bytes up, (\d+) bytes down, (\d+) packets", text)]
        used = re.search(r"router: ([\d.]+) s", text)
        self.router_seconds = float(used[1]) if used else 0.0

    @staticmethod
    def address(place):
        return f"10.77.{(place + 1) // 256}.{(place + 1) % 256}"

    def address_of(self, place):
        """Returns the address at which a process of the place listens."""
        return f"{self.address(place)}:{PORT}"

    def inside(self, place, words):
        """Returns a command that runs the words in the place."""
        return ["ip", "netns", "exec", self.names[place], *map(str, words)]

    def counts(self):
        """Returns the numbers of bytes that each place has sent and received so far, including TCP
        and IP headers."""
        rows = []
        for name in self.names:
            folder = f"/sys/class/net/{DEVICE}/statistics"
            text = subprocess.run(["ip", "netns", "exec", name, "cat", f"{folder}/tx_bytes",
                                   f"{folder}/rx_bytes"], check=True, capture_output=True,
                                  text=True).stdout
            rows.append(tuple(map(int, text.split())))
        return rows

    def round_trip(self, samples=300):
        """Returns the median time in seconds for sending a byte and receiving a byte in response,
        over TCP between the first two places."""
        return statistics.median(float(word) for word in self.talk(
            ANSWER, PING, samples).split())

    def bandwidth(self, megabytes=64):
        """Returns the rate of a plain TCP stream between the first two places, in bits per second.
        """
        return float(self.talk(SWALLOW, STREAM, megabytes))

    def talk(self, server, client, number):
        head = (f"import socket, sys, time\nNUMBER = {number}\n"
                f"PLACE = ({self.address(0)!r}, {PORT})\n")
        listening = subprocess.Popen(
            self.inside(0, [sys.executable, "-c", head + server]), stdout=subprocess.PIPE,
            text=True)
        try:
            listening.stdout.readline()
            return subprocess.run(
                self.inside(1, [sys.executable, "-c", head + client]), check=True,
                capture_output=True, text=True, timeout=60).stdout
        finally:
            listening.kill()
            listening.wait()
            listening.stdout.close()


ACCEPT = """
listener = socket.create_server(PLACE)
print("ready", flush=True)
link, _ = listener.accept()
link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
"""
ANSWER = ACCEPT + """
while link.recv(1):
    link.sendall(b"a")
"""
PING = """
link = socket.create_connection(PLACE)
link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(NUMBER):
    begin = time.perf_counter()
    link.sendall(b"q")
    link.recv(1)
    print(time.perf_counter() - begin)
"""
SWALLOW = ACCEPT + """
left = NUMBER << 20
while left > 0:
    left -= len(link.recv(1 << 20))
link.sendall(b"d")
time.sleep(60)
"""
# The first quarter is not measured, because TCP adapts its rate in that time.
STREAM = """
link = socket.create_connection(PLACE)
data = bytes(1 << 18)
sent, begin, already = 0, None, 0
while sent < NUMBER << 20:
    link.sendall(data)
    sent += len(data)
    if begin is None and sent >= NUMBER << 18:
        begin, already = time.perf_counter(), sent
link.recv(1)
print(8 * (sent - already) / (time.perf_counter() - begin))
"""
