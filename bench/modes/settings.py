# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modes and settings of the benchmark: those that docs/Modes.md recommends, and others that show
the effect of the recommended ones."""

import dataclasses
import re
import subprocess


@dataclasses.dataclass(frozen=True)
class Setting:
    """A mode with its flags. Words of flags may contain {trainers}, {quorum} (all trainers except
    one) and {half} (half of the trainers)."""
    name: str
    mode: str
    trainer_flags: tuple = ()
    server_flags: tuple = ()
    # True if the groups of tables have merge(sum), unless all trainers meet most keys.
    sums_tables: bool = False
    # Number of steps that suffices to show the mode, such as those of some exchanges.
    min_steps: int = 1
    # Smallest number of steps for which the mode is recommended.
    recommended_steps: int = 1
    # True if there are servers, and if trainers get the addresses of each other.
    servers: bool = True
    peers: bool = False

    @property
    def program(self):
        """Returns the name of its program. Settings with the same text share a program."""
        return self.mode + ("-sums" if self.sums_tables else "")

    def words(self, flags, trainers):
        return [word.format(trainers=trainers, quorum=max(1, trainers - 1),
                            half=max(1, trainers // 2)) for word in flags]


SETTINGS = (
    Setting("sync", "sync"),
    Setting("half-async", "half-async"),
    Setting("half-async, staleness 2", "half-async", server_flags=("--max-staleness", "2")),
    Setting("async", "async"),
    Setting("async, staleness 2", "async", server_flags=("--max-staleness", "2")),
    Setting("async, pushes in the background", "async", trainer_flags=("--push-queue", "1")),
    Setting("async, merged", "async", trainer_flags=("--push-queue", "1", "--max-merge", "4"),
            recommended_steps=1000),
    Setting("quorum, all but one", "quorum", server_flags=("--quorum", "{quorum}")),
    Setting("quorum, all but one, late dropped", "quorum",
            server_flags=("--quorum", "{quorum}", "--late-gradients", "drop")),
    Setting("quorum, half", "quorum", server_flags=("--quorum", "{half}")),
    Setting("geo, 8 steps", "geo", trainer_flags=("--geo-steps", "8"), min_steps=80,
            recommended_steps=5000),
    Setting("geo, 8 steps, tables summed", "geo", trainer_flags=("--geo-steps", "8"),
            min_steps=80, recommended_steps=5000, sums_tables=True),
    Setting("geo, 100 steps", "geo", trainer_flags=("--geo-steps", "100"), min_steps=200,
            recommended_steps=5000),
    Setting("geo, 100 steps, tables summed", "geo", trainer_flags=("--geo-steps", "100"),
            min_steps=200, recommended_steps=5000, sums_tables=True),
    Setting("collective", "collective", servers=False, peers=True),
    Setting("hybrid", "hybrid", peers=True),
)


def known_modes(translate, source):
    """Returns the modes that a pdl-translate knows, from its error message for an unknown one."""
    refused = subprocess.run([translate, source, "--mode=none-such", "-o", "/dev/null"],
                             capture_output=True, text=True).stderr
    listed = re.search(r"use (.*)", refused)
    return re.split(r", | or ", listed[1].strip()) if listed else ["local"]


def missing_flag(programs, setting):
    """Returns a flag of the setting that the programs do not know, or None."""
    for program, arguments, flags in (("trainer", ["train"], setting.trainer_flags +
                                       (("--peers",) if setting.peers else ())),
                                      ("pserver", [], setting.server_flags)):
        wanted = [flag for flag in flags if flag.startswith("--")]
        if wanted and (programs / program).exists():
            text = subprocess.run([programs / program, *arguments, "--help"],
                                  capture_output=True, text=True).stdout
            for flag in wanted:
                if not re.search(rf"^\s+{flag}\b", text, re.M):
                    return flag
    return None
