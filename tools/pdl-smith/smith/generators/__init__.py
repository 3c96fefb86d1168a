# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All generators, by family. Importing them fills the table."""

from smith.generators import (bags, control, draws, elementwise, ids, mixing, moving,  # noqa: F401
                              normalizing, products)
