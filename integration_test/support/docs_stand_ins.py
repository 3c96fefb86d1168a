#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stand-ins for the tools of a cluster, for the commands of the documentation that
docs_commands_test.py runs. This file is found under the names `srun`, `scontrol` and `systemctl`.
Each stand-in does on this machine as much as the commands in docs/Slurm.md and docs/Systemd.md
need.

PDL_DOCS_ROOT is the folder that replaces `/` in unit files."""

import configparser
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys


def scontrol(arguments):
    """`scontrol show hostnames A,B` prints one name per line. `scontrol requeue JOB` fails,
    because no job of the documentation requeues."""
    assert arguments[:2] == ["show", "hostnames"], arguments
    print("\n".join(arguments[2].split(",")))
    return 0


def srun(arguments):
    """Starts --ntasks tasks with SLURM_PROCID. Returns the exit code of the first task that fails.
    If --kill-on-bad-exit=1 is given, ends the other tasks then."""
    flags = {}
    while arguments[0].startswith("--"):
        name, _, value = arguments.pop(0)[2:].partition("=")
        flags[name] = value
    known = {"overlap", "nodes", "ntasks", "ntasks-per-node", "kill-on-bad-exit"}
    assert set(flags) <= known, f"srun: {set(flags) - known}"
    assert int(flags["nodes"]) * int(flags["ntasks-per-node"]) == int(
        flags["ntasks"]), flags
    tasks = [subprocess.Popen(arguments,
                              env={**os.environ, "SLURM_PROCID": str(rank)})
             for rank in range(int(flags["ntasks"]))]
    running = {task.pid for task in tasks}
    worst = 0
    while running:
        pid, status = os.wait()
        running.discard(pid)
        code = os.waitstatus_to_exitcode(status)
        worst = worst or code
        if code != 0 and flags.get("kill-on-bad-exit") == "1":
            for other in running:
                os.kill(other, signal.SIGTERM)
    return worst if worst >= 0 else 128 - worst


def systemctl(arguments):
    """`systemctl start NAME@I ...` runs ExecStart of the units in the background. `systemctl
    wait-for-all`, which only the test uses, waits for all started units, and fails if one has
    failed."""
    root = pathlib.Path(os.environ["PDL_DOCS_ROOT"])
    started = root / "started-units"
    started.mkdir(exist_ok=True)
    if arguments == ["wait-for-all"]:
        failed = 0
        for unit in sorted(started.iterdir()):
            end = os.read(os.open(unit / "end", os.O_RDONLY), 16).decode()
            if end != "0":
                print(f"{unit.name} ended with {end}:\n"
                      f"{(unit / 'log').read_text()}", file=sys.stderr)
                failed = 1
            shutil.rmtree(unit)
        return failed
    assert arguments[0] == "start", arguments
    for unit in arguments[1:]:
        start(root, unit, started / unit)
    return 0


def start(root, unit, folder):
    name, _, instance = unit.partition("@")
    file = configparser.ConfigParser(interpolation=None, strict=True)
    file.optionxform = str
    file.read_string((root / "etc/systemd/system" / f"{name}@.service").read_text())
    service = file["Service"]
    environment = dict(
        line.split("=", 1)
        for line in (root / service["EnvironmentFile"][1:]).read_text().split())
    command = service["ExecStart"].replace("%i", instance)
    for key, value in environment.items():
        command = command.replace("${" + key + "}", value)
    # Absolute paths in the unit are relative to the root folder of the test.
    words = [str(root / word[1:]) if word.startswith("/") else word
             for word in shlex.split(command)]
    folder.mkdir()
    os.mkfifo(folder / "end")
    if os.fork() == 0:
        os.setsid()
        with open(folder / "log", "w") as log:
            code = subprocess.call(words, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT)
        (folder / "end").write_text(str(code))
        os._exit(0)


if __name__ == "__main__":
    sys.exit({"srun": srun, "scontrol": scontrol, "systemctl": systemctl}[
        pathlib.Path(sys.argv[0]).name](sys.argv[1:]))
