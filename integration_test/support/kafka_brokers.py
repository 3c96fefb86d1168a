# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brokers of Kafka for tests: librdkafka's mock cluster in a process of its own, which speaks the
real protocol (kafka/kafka_broker.cpp)."""

import subprocess

from programs import BUILD

PROGRAM = BUILD / "integration_test" / "kafka_broker"

# Numbers of the protocol.
FETCH = 1
NOT_LEADER = 6


class Brokers:
    """Process with `count` brokers, which ends with the object. `linger_ms`: time for which
    messages are collected; the brokers deliver one such collection for each request."""

    def __init__(self, count=1, linger_ms=5):
        self.popen = subprocess.Popen([PROGRAM, str(count), str(linger_ms)], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addresses = self.popen.stdout.readline().decode().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.popen.stdin.close()
        self.popen.wait(30)
        self.popen.stdout.close()

    def tell(self, command, content=b""):
        """Executes a command, which must succeed."""
        self.popen.stdin.write(command.encode() + b"\n" + content)
        self.popen.stdin.flush()
        answer = self.popen.stdout.readline().decode().strip()
        if answer != "ok":
            raise AssertionError(f"{command}: {answer}")

    def topic(self, name, partitions):
        self.tell(f"topic {name} {partitions}")

    def send(self, topic, partition, content, time=0):
        """Sends a message of text or bytes. `content` None: a message without content. `time`:
        milliseconds since 1970; 0: now."""
        data = b"" if content is None else content
        data = data if isinstance(data, bytes) else data.encode()
        size = -1 if content is None else len(data)
        self.tell(f"send {topic} {partition} {time} {size}", data)

    def send_in_turn(self, topic, partitions, rows, first=0, begin=1_760_000_000_000, step=10):
        """Sends row i to partition i % `partitions`, with timestamps in the order of the rows.
        `first`: number of the first row."""
        for i, row in enumerate(rows, first):
            self.send(topic, i % partitions, row, begin + i * step)
        self.tell("flush")

    def address(self, topic, *parameters):
        """Returns the address for --data."""
        return (f"kafka://{self.addresses}/{topic}" +
                ("?" + "&".join(parameters) if parameters else ""))
