# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Synthetic clicks in Criteo's layout. The license of Criteo's own data does not permit shipping
them."""

import gzip
import random


def click_line(draw):
    """Returns one line in Criteo's layout. The label depends on the first category."""
    category = draw.randrange(50)
    label = int(draw.random() < 0.1 + 0.6 * (category % 2))
    numbers = [str(draw.randrange(-2, 400)) if draw.random() < 0.9 else ""
               for _ in range(13)]
    categories = [f"{category:08x}"] + [
        f"{draw.randrange(1000):08x}" if draw.random() < 0.9 else ""
        for _ in range(25)]
    return "\t".join([str(label), *numbers, *categories]) + "\n"


def write_clicks(path, count, draw=None):
    """Writes `count` lines, compressed if the name ends with .gz. Without `draw`, all calls write
    the same lines; otherwise a call writes the next lines of `draw`."""
    draw = draw or random.Random(1)
    with (gzip.open if path.suffix == ".gz" else open)(path, "wt") as file:
        file.writelines(click_line(draw) for _ in range(count))
