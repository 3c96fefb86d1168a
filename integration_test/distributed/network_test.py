# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pdl-bench-router gives links the requested delay and rate, and reports the transferred bytes.
Requires root and TUN devices."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import network
from waiting import wait_until


class Links(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        reason = network.unavailable()
        if reason:
            raise unittest.SkipTest(reason)

    def test_delay(self):
        """No byte arrives too early. On a busy machine, bytes may arrive late."""
        with network.Network(2, 1e9, 0.004) as made:
            trip = made.round_trip(40)
        self.assertGreaterEqual(trip, 0.008)
        self.assertLess(trip, 0.2)

    def test_rate(self):
        """Two rates. Every machine reaches the lower one, but a busy one not always."""
        megabytes, slow, fast = 8, [], []
        with network.Network(3, 1e8) as made:
            wait_until(lambda: slow.append(made.bandwidth(megabytes)) or slow[-1] > 0.3e8)
            counts = made.counts()
        self.assertLessEqual(max(slow), 1.02e8)
        with network.Network(2, 4e8) as made:
            wait_until(lambda: fast.append(made.bandwidth(megabytes)) or
                       fast[-1] > 1.2 * slow[-1], said=lambda: f"{slow} {fast}")
        megabytes *= len(slow)
        # The stream has only been sent from the second place to the first.
        sent, received = counts[1][0], counts[0][1]
        self.assertGreater(sent, megabytes << 20)
        self.assertLess(sent, 1.1 * (megabytes << 20))
        self.assertGreater(received, megabytes << 20)
        self.assertLess(sum(counts[2]), 10000)

    def test_what_it_carried(self):
        with network.Network(2, 1e9) as made:
            made.bandwidth(1)
            before = made.counts()
        for (up, down, dropped), (sent, received) in zip(made.carried, before):
            # The last packets of a connection may be sent after the counting.
            self.assertLess(abs(up - sent), 2000)
            self.assertLess(abs(down - received), 2000)
            self.assertEqual(dropped, 0)
        self.assertGreater(made.router_seconds, 0.0)

    def test_namespaces_go(self):
        with network.Network(2) as made:
            names = set(made.names)
            self.assertLessEqual(names, set(self.namespaces()))
        self.assertFalse(names & set(self.namespaces()))

    def namespaces(self):
        return [line.split()[0] for line in network.ip("netns", "list").splitlines() if line]

    def test_bad_flags(self):
        done = subprocess.run([network.ROUTER, "100", "0", "0", "1000", "/none"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("MTU is 576 to 65535", done.stderr)
        done = subprocess.run([network.ROUTER, "9000", "0", "0", "100000", "/none"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/none: No such file", done.stderr)


if __name__ == "__main__":
    unittest.main()
