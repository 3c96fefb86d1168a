# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Environment in which tests run the commands of the documentation: a checkout, a network, and
stand-ins for the tools of a cluster."""

import os
import random

import made_up_clicks
import programs
from programs import SOURCE

NODES = [f"10.0.0.{node}" for node in range(1, 5)]

# Run in a network namespace, so that no data leaves this machine.
NETWORK = "ip link set lo up && " + " && ".join(
    f"ip address add {node}/32 dev lo" for node in NODES)


def blocks(page):
    """Returns the pair (info string, text) of each fenced block. Fails on code that is only
    indented, because the test would not run it."""
    fence, text, found = None, [], []
    lines = page.read_text().split("\n")
    for number, line in enumerate(lines):
        if fence is None and line.startswith("```"):
            fence, text = line[3:].strip(), []
        elif line.startswith("```"):
            found.append((fence, "\n".join(text) + "\n"))
            fence = None
        elif fence is not None:
            text.append(line)
        elif line.startswith("    ") and number and not lines[number - 1]:
            raise AssertionError(f"{page}:{number + 1}: code without a fence")
    assert fence is None, f"{page}: a fence does not end"
    return found


def write_clicks(folder):
    """Writes the files that the pages call clicks/day*.tsv and criteo.tsv.gz, with synthetic data.
    """
    draw = random.Random(1)
    (folder / "clicks").mkdir()
    for day in range(4):
        made_up_clicks.write_clicks(folder / "clicks" / f"day{day}.tsv", 1500, draw)
    made_up_clicks.write_clicks(folder / "criteo.tsv.gz", 2000, draw)


def prepare(folder):
    """Creates a checkout in which commands run, and the root folder of the machine that the pages
    describe."""
    for name in ("models", "data", "scripts", "docs", "bench", "python", "examples"):
        (folder / name).symlink_to(SOURCE / name)
    (folder / "build").symlink_to(programs.BUILD)
    tools = folder / "stand-ins"
    tools.mkdir()
    for name in ("srun", "scontrol", "systemctl"):
        (tools / name).symlink_to(
            SOURCE / "integration_test" / "support" / "docs_stand_ins.py")
    root = folder / "root"
    for name in ("etc/pdl", "etc/systemd/system", "opt/pdl", "data"):
        (root / name).mkdir(parents=True)
    (root / "opt/pdl/out").symlink_to(folder / "out")
    (root / "data/clicks.tsv").symlink_to(folder / "clicks/day0.tsv")
    (root / "etc/pdl/token").write_text("a secret of this test\n")
    (root / "etc/pdl/token").chmod(0o600)
    write_clicks(folder)
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(tools), str(programs.BUILD / "bin"),
                                 os.environ["PATH"], "/usr/sbin"]),
        "PDL_DOCS_ROOT": str(root),
        "SLURM_JOB_NODELIST": ",".join(NODES),
        "SLURM_JOB_ID": "17",
    }
