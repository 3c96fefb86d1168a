# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random models, and checks that their programs agree; see `pdl-smith --help`."""

import pathlib
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[3]
for part in ("python", "integration_test/support", "integration_test/oracles"):
    sys.path.insert(0, str(SOURCE / part))
