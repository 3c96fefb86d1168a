# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests in which programs of ROW_MODEL read topics of Kafka."""

import random

from folders import SharedFolderTest
from kafka_brokers import Brokers
from programs import PDL_TRANSLATE, run
from row_model import ROW_MODEL


class TopicRowsTest(SharedFolderTest):
    """Each test has a folder of its own, and a topic with the name of this folder.

    `programs`: for each name of a program, the flags with which it is compiled. `row_count`: number
    of rows, of which each is a message."""

    programs = {"sync": ("--mode=sync",)}
    row_count = 0

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.root / "rows.mlir"
        source.write_text(ROW_MODEL)
        for name, flags in cls.programs.items():
            run(PDL_TRANSLATE, source, "-o", cls.root / name, "--numerics=strict", *flags)
        draw = random.Random(3)
        cls.rows = [f"{i},{draw.randrange(2)}" for i in range(cls.row_count)]
        cls.brokers = cls.enterClassContext(Brokers())

    def setUp(self):
        self.folder = self.root / self.id().rsplit(".", maxsplit=1)[-1]
        self.folder.mkdir()
        self.topic = self.folder.name

    def address(self, *parameters):
        return self.brokers.address(self.topic, "format=csv", "idle=200ms", *parameters)
