# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options with which a job of each mode is started."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Mode:
    """Options with which a job of a mode is started."""
    servers: int = 2
    peers: bool = False
    trainer_flags: tuple = ()
    server_flags: tuple = ()
    # True if, with strict numerics, the losses equal those of one process with as many replicas.
    exact: bool = False


MODES = {
    "sync": Mode(exact=True),
    "async": Mode(),
    "half-async": Mode(),
    "quorum": Mode(server_flags=("--quorum", 1)),
    "geo": Mode(trainer_flags=("--geo-steps", 3)),
    "collective": Mode(servers=0, peers=True, exact=True),
    "hybrid": Mode(peers=True, exact=True),
}
