# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trainers and servers of one job as processes of this host."""

import pathlib
import signal
import subprocess
import tempfile
import threading
import time

from waiting import LONG, wait_until


class Process:
    """Program whose output goes to a file, so that it never blocks."""

    def __init__(self, name, arguments, folder, environment=None):
        self.name = name
        self.path = pathlib.Path(folder, name + ".log")
        # If the same process is started again, its output is appended to the file.
        with open(self.path, "a") as log:
            self.popen = subprocess.Popen([str(a) for a in arguments],
                                          stdin=subprocess.DEVNULL, stdout=log,
                                          stderr=subprocess.STDOUT, env=environment)

    @property
    def output(self):
        return self.path.read_text()

    def wait(self, seconds=LONG):
        """Returns the exit status. Fails if the program runs longer than `seconds`."""
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} still runs after {seconds} s:\n"
                                 f"{self.output}") from None


class Cluster:
    """Processes of one job. Addresses are unix sockets in its folder, so that jobs of several
    tests never connect to each other. At the end, all processes that still run are killed.

    `peers`: trainers own state, and so have addresses too. `figures`: each trainer reports the
    figures of the job, which tests compare; else trainer 0 alone does. `environment`: variables of
    all processes, if they are not those of the test."""

    def __init__(self, programs, trainers, servers, trainer_flags,
                 server_flags=(), trainer_command="train", peers=False, figures=True,
                 environment=None):
        self.programs = pathlib.Path(programs)
        # The path of a unix socket must be short.
        self.folder = tempfile.TemporaryDirectory(prefix="pdl")
        self.counts = trainers, servers
        self.environment = environment
        self.addresses = ",".join(f"unix:{self.folder.name}/s{rank}"
                                  for rank in range(servers))
        self.peers = ",".join(f"unix:{self.folder.name}/t{rank}"
                              for rank in range(trainers if peers else 0))
        # `trainer_addresses`: addresses of servers that are passed to trainers, if they are not
        # those at which the servers listen. `binds`: for each trainer, the address at which it
        # listens, if it is not the one in `peers`.
        self.trainer_addresses = None
        self.binds = []
        self.trainer_flags = [trainer_command, *(["--print-figures"] if figures else []),
                              *trainer_flags]
        self.server_flags = list(server_flags)
        self.trainers = []
        self.servers = []

    def start_server(self, rank):
        process = Process(f"server{rank}", [
            self.programs / "pserver", "--rank", rank, "--servers",
            self.addresses, "--trainers", self.counts[0], *self.server_flags],
            self.folder.name, self.environment)
        self.servers.append(process)
        return process

    def start_trainer(self, rank):
        servers = self.trainer_addresses or self.addresses
        process = Process(f"trainer{rank}", [
            self.programs / "trainer", *self.trainer_flags, "--rank", rank,
            "--trainers", self.counts[0],
            *(("--servers", servers) if servers else ()),
            *(("--peers", self.peers) if self.peers else ()),
            *(("--bind", self.binds[rank]) if self.binds else ())],
            self.folder.name, self.environment)
        self.trainers.append(process)
        return process

    def kill_and_restart_trainer(self, rank, too_late):
        """Kills a trainer and runs its command again. Does nothing if it has printed `too_late` or
        has ended: a trainer that dies while it leaves may find that the servers have ended
        (docs/Protocol.md)."""
        old = next(t for t in self.trainers if t.name == f"trainer{rank}")
        if too_late in old.output:
            return
        old.popen.kill()
        if old.popen.wait() == 0:
            return
        place = self.trainers.index(old)
        self.start_trainer(rank)
        self.trainers[place] = self.trainers.pop()

    def start(self):
        for rank in range(self.counts[1]):
            self.start_server(rank)
        for rank in range(self.counts[0]):
            self.start_trainer(rank)
        return self

    def processes(self):
        return self.trainers + self.servers

    def said(self):
        """Returns the output of all processes."""
        return "\n".join(f"--- {p.name}\n{p.output}" for p in self.processes())

    def finish(self, seconds=LONG, leave_may_be_lost=False):
        """Waits until all processes have ended successfully. Returns the outputs of the trainers.

        `leave_may_be_lost`: true if the test breaks connections. If the response to a Leave is
        lost, the server may have ended (docs/Protocol.md)."""
        end = time.monotonic() + seconds
        for process in self.processes():
            status = process.wait(max(0.1, end - time.monotonic()))
            if status != 0:
                raise AssertionError(f"{process.name} exited with {status}:\n{self.said()}")
            # Fail if a trainer has waited for servers that ended before it, because this would
            # delay the end of each job.
            if (not leave_may_be_lost and
                    "did not respond to this trainer's leave" in process.output):
                raise AssertionError(f"{process.name} waited for the answer "
                                     f"to its leave:\n{process.output}")
        return [trainer.output for trainer in self.trainers]

    def wait_for_steps(self, losses, steps):
        """Waits until the log of losses has lines for at least `steps` steps."""
        wait_until(lambda: losses.exists() and losses.read_text().count("\n") >= steps,
                   said=self.said, pause=0.05)

    def interrupt_when(self, ready):
        """Waits until `ready()` is true, and sends SIGTERM to trainer 1. Waits until all trainers
        have ended with the status of this signal, and all servers successfully."""
        wait_until(ready, said=self.said)
        self.trainers[1].popen.send_signal(signal.SIGTERM)
        for processes, due in ((self.trainers, 128 + signal.SIGTERM), (self.servers, 0)):
            for process in processes:
                status = process.wait()
                if status != due:
                    raise AssertionError(f"{process.name} exited with {status}:\n{process.output}")

    def refuse_another(self, flags):
        """Starts two trainers and a server, trainer 1 with the additional `flags`. Waits until
        both trainers are refused. Returns their output."""
        self.start_server(0)
        self.start_trainer(0)
        self.trainer_flags += flags
        self.start_trainer(1)
        for trainer in self.trainers:
            status = trainer.wait()
            if status != 1:
                raise AssertionError(f"{trainer.name} exited with {status}:\n{trainer.output}")
        return "".join(trainer.output for trainer in self.trainers)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes():
            if process.popen.poll() is None:
                process.popen.send_signal(signal.SIGCONT)
                process.popen.kill()
                process.popen.wait()
        self.folder.cleanup()


class Slowed:
    """Suspends a process for most of the time."""

    def __init__(self, process, stopped=0.12):
        self.process = process
        self.stopped = stopped
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while self.process.popen.poll() is None:
            for signal_, seconds in ((signal.SIGSTOP, self.stopped),
                                     (signal.SIGCONT, 0.01)):
                try:
                    self.process.popen.send_signal(signal_)
                except ProcessLookupError:
                    return
                time.sleep(seconds)
