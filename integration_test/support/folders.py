# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test cases with a temporary folder."""

import pathlib
import tempfile
import unittest


class FolderTest(unittest.TestCase):
    """Test case that gives each test a temporary folder, `root`."""

    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))


class SharedFolderTest(unittest.TestCase):
    """Test case whose tests share a temporary folder, `root`."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.root = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
