# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints that servers write without trainers. A trainer of a job that waits
(`--on-failure=wait`) is lost and not restarted, and the servers save what was trained. Real
processes; every wait is bounded."""

import contextlib
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster, Process
from folders import SharedFolderTest
from programs import ADULT, BUILD, PDL_CHECKPOINT, PDL_TRANSLATE, checkpoints_in, run
from proxy import Proxy
from row_model import ROW_MODEL
from small_model import METRICS, OBSERVATIONS, small_model
from waiting import suspend, wait_until

PDL_LAUNCH = BUILD / "bin" / "pdl-launch"
SILENCE = 2  # seconds after which a peer counts as dead
PATIENCE = 60
LONG = 10**9  # steps that no test sees the end of
SPLIT = ("--min-block-elements=1024", "--target-block-bytes=16384")


def with_test(text):
    """Returns the model with a test program for the trained values."""
    at = text.index("  nn.program @train")
    body = text[at:text.index("    nn.minimize")]
    loss = body.index("    %l = ")
    tests = body[:loss].replace("@train", "@evaluate frozen")
    observed = "    %p = nn.sigmoid %z : tensor<?x1xf32>\n" \
               "    nn.observe @auc(%p, %label) : tensor<?x1xf32>\n  }\n"
    return text[:at] + tests + observed + text[at:]


def group_steps(saved):
    """Returns the number of applied updates of each group of parameters in the newest
    checkpoint."""
    manifest = json.loads((checkpoints_in(saved)[-1] / "manifest.json").read_text())["checkpoint"]
    return {group["name"]: group["steps"] for group in manifest["groups"]}


def steps_of(checkpoint):
    return int(checkpoint.name.removeprefix("step-"))


class Relay(Proxy):
    """Forwards bytes from a unix socket to a server, except for those of the processes in `held`.
    These are lost, as in a network. Calls `seen` with all bytes before it forwards them to the
    server, and with the number of their process."""

    def __init__(self, path, server, seen=lambda data, number: None):
        self.seen = seen
        self.held = set()  # numbers of processes
        super().__init__(f"unix:{path}", f"unix:{server}")

    def change(self, data, client):
        if client is None:
            return data
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED,
                                        struct.calcsize("3i"))
        number = struct.unpack("3i", credentials)[0]
        if number not in self.held:
            self.seen(data, number)
        # `seen` may have added the process.
        return b"" if number in self.held else data


class ServerSaves(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for clip in (False, True):
            source = cls.root / f"small{clip}.mlir"
            text = small_model("@adam", clip=clip, decay=True, warm_up=True)
            text = text.replace("  nn.program", METRICS + "  nn.program", 1).replace(
                "    nn.minimize", OBSERVATIONS + "    nn.minimize", 1)
            source.write_text(with_test(text))
            run(PDL_TRANSLATE, source, "-o", cls.root / f"local{clip}", "--numerics=strict")
            run(PDL_TRANSLATE, source, "-o", cls.root / f"sync{clip}", "--numerics=strict",
                "--mode=sync", *SPLIT)
        for mode in ("async", "half-async", "quorum"):
            run(PDL_TRANSLATE, cls.root / "smallFalse.mlir", "-o", cls.root / mode,
                "--numerics=strict", f"--mode={mode}", *SPLIT)

    def flags(self, name, steps):
        return ["--data", ADULT, "--rows", "0:5888", "--batch-size", 64, "--seed", 7,
                "--shuffle-window", 1000, "--steps", steps, "--checkpoint",
                self.root / f"{name}.saved", "--log-losses", self.root / f"{name}.losses"]

    def job(self, name, clip, steps, *more, trainers=2, servers=2, server_flags=()):
        waits = ["--silence-limit", SILENCE, "--on-failure", "wait"]
        return Cluster(self.root / f"sync{clip}", trainers, servers,
                       [*self.flags(name, steps), "--replicas", f"1x{4 // trainers}", *waits,
                        *more],
                       ["--seed", 7, *waits, *server_flags])

    @contextlib.contextmanager
    def servers_that_resume(self, places):
        """Two servers without trainers. Both have the same name of the folder, which refers to
        another folder for each."""
        with Cluster(self.root / "syncFalse", 1, 2, []) as cluster:
            for rank, place in enumerate(places):
                cluster.servers.append(Process(f"server{rank}", [
                    "env", "-C", place, cluster.programs / "pserver", "--rank", rank, "--servers",
                    cluster.addresses, "--resume", "--checkpoint", "/proc/self/cwd/saved"],
                    cluster.folder.name))
            yield cluster

    def kill_trainer(self, cluster, rank):
        cluster.trainers[rank].popen.send_signal(signal.SIGKILL)
        cluster.trainers[rank].popen.wait()

    def stop_awaited(self, number, servers):
        """Stops process `number`, a trainer, when all servers wait for its request. `servers`: for
        each server, a function that returns its output, and the pattern of its line."""
        end = time.monotonic() + PATIENCE
        while True:
            lengths = [len(output()) for output, _ in servers]
            suspend(number)
            # A request may have reached only one server when its sender was stopped. Then the
            # servers wait for different trainers, and the trainer must be stopped at another
            # moment.
            pause = time.monotonic() + 10
            while time.monotonic() < pause:
                if all(awaited.search(output(), length)
                       for (output, awaited), length in zip(servers, lengths)):
                    return
                time.sleep(0.05)
            os.kill(number, signal.SIGCONT)
            self.assertLess(time.monotonic(), end, "".join(output() for output, _ in servers))
            time.sleep(0.1)

    def lose_trainer(self, cluster, rank):
        """Kills a trainer of mode sync when all servers have its last request and wait for the
        other trainer, which is stopped until then."""
        other = cluster.trainers[1 - rank].popen
        awaited = re.compile(rf"waiting for the \w+ of trainer {1 - rank} ")
        self.stop_awaited(other.pid, [(lambda server=server: server.output, awaited)
                                      for server in cluster.servers])
        self.kill_trainer(cluster, rank)
        other.send_signal(signal.SIGCONT)

    def ends(self, cluster, but=()):
        """Waits until all processes have ended, except for killed trainers. Returns their
        output."""
        for process in cluster.processes():
            if process.name not in but:
                self.assertNotEqual(process.wait(PATIENCE), 0, process.output)
        return "".join(server.output for server in cluster.servers)

    def resume(self, name, clip, steps, trainers=2):
        """Resumes the job with all trainers. Returns the output of the first one."""
        with self.job(name, clip, steps, "--resume", trainers=trainers,
                      server_flags=("--resume", "--checkpoint",
                                    self.root / f"{name}.saved")) as cluster:
            return cluster.start().finish()[0]

    def check_as_undisturbed(self, name, clip, steps, output):
        """Checks that the job has the bits of one process after the same number of steps, with its
        losses and metrics."""
        alone = f"{name}.alone"
        said = run(self.root / f"local{clip}" / "trainer", "train", *self.flags(alone, steps),
                   "--replicas", "2x2").stdout
        run(PDL_CHECKPOINT, "diff", self.root / f"{alone}.saved", self.root / f"{name}.saved")
        self.assertEqual((self.root / f"{alone}.losses").read_text(),
                         (self.root / f"{name}.losses").read_text())
        of_epoch = re.compile(r"^train .*", re.MULTILINE)
        self.assertEqual(of_epoch.findall(said), of_epoch.findall(output))

    def check_lost_trainer(self, name, clip, lost, signaled, servers=2):
        with self.job(name, clip, LONG, servers=servers) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 60)
            self.lose_trainer(cluster, lost)
            signaled(cluster).popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, (f"trainer{lost}",))
        self.assertIn(f"trainer {lost} has died", said)
        saved = checkpoints_in(self.root / f"{name}.saved")
        self.assertTrue(saved, said)
        self.assertIn(f"have saved {saved[-1]}", said)
        steps = steps_of(saved[-1]) + 70
        self.check_as_undisturbed(name, clip, steps, self.resume(name, clip, steps))

    def test_lost_trainer(self):
        self.check_lost_trainer("lost", False, 1, lambda cluster: cluster.servers[0])

    def test_lost_first_trainer_with_norms(self):
        self.check_lost_trainer("norms", True, 0, lambda cluster: cluster.servers[1])

    def test_stopped_by_the_other_trainer(self):
        self.check_lost_trainer("other", True, 1, lambda cluster: cluster.trainers[0])

    def test_one_server(self):
        self.check_lost_trainer("one", False, 1, lambda cluster: cluster.servers[0], servers=1)

    def wait_until(self, cluster, ready):
        wait_until(ready, PATIENCE, cluster.said)

    def rejoin(self, cluster, rank):
        """Restarts the lost trainer."""
        cluster.start_trainer(rank)
        cluster.trainers[rank] = cluster.trainers.pop()

    def test_by_the_clock_while_a_trainer_is_waited_for(self):
        name = "clock"
        with self.job(name, False, LONG, server_flags=("--checkpoint-minutes", 0.05)) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 20)
            # If trainers make progress, they save themselves.
            self.wait_until(cluster, lambda: checkpoints_in(self.root / f"{name}.saved"))
            self.assertNotIn("without trainers", cluster.servers[0].output)
            self.lose_trainer(cluster, 1)
            self.wait_until(cluster, lambda: "without trainers" in cluster.servers[0].output)
            saved = checkpoints_in(self.root / f"{name}.saved")[-1]
            self.assertIn(f"have saved {saved}", cluster.servers[0].output)
            run(PDL_CHECKPOINT, "inspect", saved)
            # The trainer is restarted, and the first one saves again.
            before = (self.root / f"{name}.losses").read_text().count("\n")
            self.rejoin(cluster, 1)
            cluster.wait_for_steps(self.root / f"{name}.losses", before + 20)
            cluster.trainers[0].popen.send_signal(signal.SIGTERM)
            for trainer in cluster.trainers:
                self.assertEqual(trainer.wait(PATIENCE), 128 + signal.SIGTERM, trainer.output)
            for server in cluster.servers:
                self.assertEqual(server.wait(PATIENCE), 0, server.output)
        steps = steps_of(checkpoints_in(self.root / f"{name}.saved")[-1]) + 10
        self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    def test_on_request(self):
        name = "request"
        with self.job(name, False, LONG) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 20)
            before = checkpoints_in(self.root / f"{name}.saved")
            # A request to any server is passed to trainers, which save while they make progress.
            cluster.servers[1].popen.send_signal(signal.SIGUSR2)
            self.wait_until(cluster,
                            lambda: checkpoints_in(self.root / f"{name}.saved") != before)
            self.lose_trainer(cluster, 0)
            cluster.servers[0].popen.send_signal(signal.SIGUSR2)
            self.wait_until(cluster, lambda: "without trainers" in cluster.servers[0].output)
            # All remaining processes die. The checkpoint suffices.
            for process in cluster.processes():
                process.popen.kill()
                process.popen.wait()
        steps = steps_of(checkpoints_in(self.root / f"{name}.saved")[-1]) + 10
        self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    def check_request_whose_save_cannot_end(self, name, process, resumes):
        """Trainer 0 dies when server 0 has written its part of the requested save, but server 1 has
        not. The servers save instead, so the request is fulfilled."""
        with self.job(name, False, LONG, "--checkpoint-at-end") as cluster:
            folder = cluster.folder.name
            begun = threading.Event()

            def seen(data, number):
                if b".tmp." in data and number == cluster.trainers[0].popen.pid:
                    relay.held.add(number)
                    begun.set()

            relay = Relay(f"{folder}/p1", f"{folder}/s1", seen)
            cluster.trainer_addresses = f"unix:{folder}/s0,unix:{folder}/p1"
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 20)
            process(cluster).popen.send_signal(signal.SIGUSR2)
            self.assertTrue(begun.wait(PATIENCE), cluster.said())
            # While trainer 0 lives, the save may still end.
            time.sleep(0.5)
            self.kill_trainer(cluster, 0)
            self.wait_until(cluster, lambda: "without trainers" in cluster.servers[0].output)
            saved = checkpoints_in(self.root / f"{name}.saved")
            self.assertIn(f"have saved {saved[-1]}", cluster.servers[0].output)
            for process in cluster.processes():
                process.popen.kill()
                process.popen.wait()
            relay.close()
        if resumes:
            steps = steps_of(saved[-1]) + 10
            self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    def test_request_of_a_server_whose_save_cannot_end(self):
        self.check_request_whose_save_cannot_end("begun", lambda cluster: cluster.servers[0],
                                                 resumes=True)

    def test_request_of_a_trainer_whose_save_cannot_end(self):
        self.check_request_whose_save_cannot_end("asked", lambda cluster: cluster.trainers[1],
                                                 resumes=False)

    def test_request_that_server_0_hears_late(self):
        """The other server repeats the request until server 0 has received it."""
        name = "unheard"
        with self.job(name, False, LONG, "--checkpoint-at-end") as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 20)
            suspend(cluster.servers[0].popen.pid)
            cluster.servers[1].popen.send_signal(signal.SIGUSR2)
            self.wait_until(cluster, lambda: "was not told yet" in cluster.servers[1].output)
            cluster.servers[0].popen.send_signal(signal.SIGCONT)
            self.wait_until(cluster, lambda: checkpoints_in(self.root / f"{name}.saved"))

    def test_trainer_that_rejoins_while_servers_save(self):
        name = "back"
        with self.job(name, True, LONG) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 20)
            self.lose_trainer(cluster, 1)
            time.sleep(0.5)
            # The save does not end before the trainer has joined.
            suspend(cluster.servers[1].popen.pid)
            cluster.servers[0].popen.send_signal(signal.SIGUSR2)
            time.sleep(3)
            self.rejoin(cluster, 1)
            time.sleep(1)
            cluster.servers[1].popen.send_signal(signal.SIGCONT)
            before = (self.root / f"{name}.losses").read_text().count("\n")
            cluster.wait_for_steps(self.root / f"{name}.losses", before + 50)
            cluster.trainers[1].popen.send_signal(signal.SIGTERM)
            for trainer in cluster.trainers:
                self.assertEqual(trainer.wait(PATIENCE), 128 + signal.SIGTERM, trainer.output)
        steps = steps_of(checkpoints_in(self.root / f"{name}.saved")[-1]) + 10
        self.check_as_undisturbed(name, True, steps, self.resume(name, True, steps))

    def test_first_server_dies_while_it_saves(self):
        name = "killed"
        with self.job(name, False, LONG, "--checkpoint-steps", 10) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 30)
            self.lose_trainer(cluster, 1)
            suspend(cluster.servers[1].popen.pid)
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            self.wait_until(cluster, lambda: "servers save what was trained" in cluster.servers[0].output)
            cluster.servers[0].popen.kill()
            cluster.servers[0].popen.wait()
            cluster.servers[1].popen.send_signal(signal.SIGCONT)
            cluster.servers[1].popen.send_signal(signal.SIGINT)
            self.assertNotEqual(cluster.servers[1].wait(PATIENCE), 0)
            # The server that notices the loss first reports it.
            self.assertRegex(cluster.servers[1].output,
                             "server 0, which saves for all servers, is lost too|/s0 has (died|ended)")
            self.assertNotEqual(cluster.trainers[0].wait(PATIENCE), 0)
        saved = checkpoints_in(self.root / f"{name}.saved")
        steps = steps_of(saved[-1]) + 10
        self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    def loses_trainer_behind(self, relay, cluster):
        """Kills trainer 1 when server 1 waits for its request, which the relay holds. Then requests
        a stop, and returns the output of the servers."""
        self.wait_until(cluster, lambda: relay.held)
        # On a slow machine, server 1 has waited before.
        before = len(cluster.servers[1].output)
        self.wait_until(cluster, lambda: "waiting for the exchange of trainer 1"
                        in cluster.servers[1].output[before:])
        self.kill_trainer(cluster, 1)
        cluster.servers[0].popen.send_signal(signal.SIGINT)
        said = self.ends(cluster, ("trainer1",))
        relay.close()
        return said

    def test_request_that_reached_one_server_alone(self):
        """No server can undo a step. So the job resumes from the last checkpoint, unless the
        trainer is restarted."""
        name = "apart"
        with self.job(name, False, LONG, "--checkpoint-steps", 10) as cluster:
            folder = cluster.folder.name
            relay = Relay(f"{folder}/p1", f"{folder}/s1")
            cluster.trainer_addresses = f"unix:{folder}/s0,unix:{folder}/p1"
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 30)
            relay.held.add(cluster.trainers[1].popen.pid)
            said = self.loses_trainer_behind(relay, cluster)
        self.assertIn("servers 0 and 1 are at different steps", said)
        steps = steps_of(checkpoints_in(self.root / f"{name}.saved")[-1]) + 10
        self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    def test_gradients_without_norms_that_reached_one_server_alone(self):
        """No server has applied these gradients, so nothing is lost."""
        name = "halfway"
        losses = self.root / f"{name}.losses"
        with self.job(name, True, LONG) as cluster:
            folder = cluster.folder.name

            def seen(data, number):
                # The header of an exchange: mark, version, kind.
                if (b"PDLM\x07\x00\x02\x00" in data and losses.exists() and
                        losses.read_text().count("\n") >= 30 and
                        number == cluster.trainers[1].popen.pid):
                    relay.held.add(number)

            relay = Relay(f"{folder}/p1", f"{folder}/s1", seen)
            cluster.trainer_addresses = f"unix:{folder}/s0,unix:{folder}/p1"
            cluster.start()
            said = self.loses_trainer_behind(relay, cluster)
        saved = checkpoints_in(self.root / f"{name}.saved")
        self.assertTrue(saved, said)
        self.assertIn(f"have saved {saved[-1]}", said)
        steps = steps_of(saved[-1]) + 10
        self.check_as_undisturbed(name, True, steps, self.resume(name, True, steps))

    def test_folder_that_cannot_be_written(self):
        name = "full"
        saved, aside = self.root / f"{name}.saved", self.root / f"{name}.aside"
        with self.job(name, False, LONG, "--checkpoint-steps", 10) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 30)
            self.lose_trainer(cluster, 1)
            saved.rename(aside)
            saved.write_text("no folder")
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, ("trainer1",))
        self.assertIn("the servers could not save the state", said)
        saved.unlink()
        aside.rename(saved)
        steps = steps_of(checkpoints_in(saved)[-1]) + 10
        self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    def test_damaged_checkpoint_is_saved_again(self):
        name = "damaged"
        saved = self.root / f"{name}.saved"
        with self.job(name, False, LONG) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 20)
            self.lose_trainer(cluster, 1)
            # Before that, trainers may begin the save, and the lost one does not finish it.
            self.wait_until(cluster, lambda: "trainer 1 has died" in cluster.servers[0].output)
            cluster.servers[0].popen.send_signal(signal.SIGUSR2)
            self.wait_until(cluster, lambda: "without trainers" in cluster.servers[0].output)
            part = checkpoints_in(saved)[-1] / "dense-0.safetensors"
            content = bytearray(part.read_bytes())
            content[-1] ^= 1
            part.write_bytes(content)
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, ("trainer1",))
        self.assertIn("the servers save it anew", said)
        self.assertIn(f"have saved {checkpoints_in(saved)[-1]}", said)
        steps = steps_of(checkpoints_in(saved)[-1]) + 10
        self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    def test_by_the_clock_when_trainers_come_late(self):
        """The request for a save is older than the first step. The response that opens the first
        step contains it, but trainers do not save then."""
        name = "late"
        with self.job(name, False, LONG, "--checkpoint-at-end",
                      server_flags=("--checkpoint-minutes", 0.03)) as cluster:
            for rank in range(2):
                cluster.start_server(rank)
            time.sleep(4)
            for rank in range(2):
                cluster.start_trainer(rank)
            self.wait_until(cluster, lambda: checkpoints_in(self.root / f"{name}.saved"))

    def test_emergency_folder(self):
        name = "emergency"
        saved, elsewhere = self.root / f"{name}.saved", self.root / f"{name}.elsewhere"
        with self.job(name, False, LONG,
                      server_flags=("--emergency-checkpoint", elsewhere)) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 30)
            self.lose_trainer(cluster, 1)
            # Rename it immediately, because the first trainer may write there.
            saved.rename(self.root / f"{name}.aside")
            saved.write_text("no folder")
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, ("trainer1",))
        self.assertIn(f"have saved {checkpoints_in(elsewhere)[-1]}", said)
        saved.unlink()
        elsewhere.rename(saved)
        steps = steps_of(checkpoints_in(saved)[-1]) + 10
        self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    def test_test_that_fails_on_one_trainer(self):
        """With --checkpoint-at-end, no other save contains the previous epoch."""
        name = "tested"
        rows = gzip.open(ADULT, "rt").read().splitlines()[:1500]
        good, bad = self.root / "good.csv", self.root / "bad.csv"
        good.write_text("\n".join(rows) + "\n")
        bad.write_text("\n".join([*rows, "no row"]) + "\n")
        with self.job(name, False, LONG, "--epochs", 3, "--checkpoint-at-end",
                      "--evaluate-data", good, bad) as cluster:
            cluster.start()
            self.wait_until(cluster, lambda: "trainer 1 failed" in cluster.trainers[0].output)
            self.assertEqual(checkpoints_in(self.root / f"{name}.saved"), [])
            cluster.trainers[0].popen.send_signal(signal.SIGTERM)
            said = self.ends(cluster)
        saved = checkpoints_in(self.root / f"{name}.saved")
        self.assertEqual(len(saved), 1, said)
        self.assertIn(f"have saved {saved[0]}", said)
        steps = steps_of(saved[0]) + 10
        self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    def check_without_rounds(self, mode, workers, server_flags=()):
        """Trainer 1 is lost, and the other one continues. The checkpoint contains the progress of
        each. No batch is skipped. With one worker per trainer, no batch is trained twice, except
        for the last push of the lost trainer, if it has reached only the second server."""
        name = f"{mode}{workers}"
        flags = ["--data", ADULT, "--rows", "0:11776", "--batch-size", 64, "--seed", 7,
                 "--replicas", f"1x{workers}", "--checkpoint", self.root / f"{name}.saved"]
        waits = ["--silence-limit", SILENCE, "--on-failure", "wait"]
        losses = [self.root / f"{name}.losses{rank}" for rank in range(2)]
        with Cluster(self.root / mode, 2, 2, [*flags, *waits],
                     ["--seed", 7, *waits, *server_flags]) as cluster:
            shared = cluster.trainer_flags
            for rank in range(2):
                cluster.start_server(rank)
            for rank in range(2):
                cluster.trainer_flags = [*shared, "--log-losses", losses[rank]]
                cluster.start_trainer(rank)
            cluster.wait_for_steps(losses[0], 10)
            # Before its first step, servers know nothing about a trainer that they could save.
            cluster.wait_for_steps(losses[1], 2)
            self.kill_trainer(cluster, 1)
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, ("trainer1",))
        saved = checkpoints_in(self.root / f"{name}.saved")
        self.assertTrue(saved, said)
        self.assertIn(f"have saved {saved[-1]}", said)
        with Cluster(self.root / mode, 2, 2, [*flags, *waits, "--resume"],
                     ["--seed", 7, *waits, *server_flags, "--resume", "--checkpoint",
                      self.root / f"{name}.saved"]) as cluster:
            output = cluster.start().finish()[0]
        before = int(re.search(r"resumed after \d+ steps, (\d+) samples", output)[1])
        after = int(re.search(r"trained \d+ steps, (\d+) samples", output)[1])
        self.assertEqual(before + after, 11776, output)
        return group_steps(self.root / f"{name}.saved")

    def test_async(self):
        # Each of the 184 batches is a push.
        for steps in self.check_without_rounds("async", 1).values():
            self.assertIn(steps, (184, 185))

    def test_async_with_workers(self):
        # The workers of a trainer may differ by some steps.
        for steps in self.check_without_rounds("async", 2).values():
            self.assertIn(steps, range(184, 184 + 12))

    def test_async_by_the_clock(self):
        """The other trainer ends its epoch and waits. Then servers save without both."""
        name = "clock.async"
        saved = self.root / f"{name}.saved"
        waits = ["--silence-limit", SILENCE, "--on-failure", "wait"]
        losses = self.root / f"{name}.losses"
        with Cluster(self.root / "async", 2, 2, [
                "--data", ADULT, "--rows", "0:11776", "--batch-size", 64, "--seed", 7,
                "--replicas", "1x1", "--checkpoint", saved, "--log-losses", losses, *waits],
                     ["--seed", 7, *waits, "--checkpoint-minutes", 0.05]) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 10)
            self.kill_trainer(cluster, 1)
            self.wait_until(cluster, lambda: "without trainers" in cluster.servers[0].output)
            self.assertIn(f"have saved {checkpoints_in(saved)[-1]}", cluster.servers[0].output)
            # The trainer is restarted, and the job ends as if it had not been lost.
            self.rejoin(cluster, 1)
            cluster.finish()
        self.assertEqual(set(group_steps(saved).values()), {184})

    def test_trainer_that_goes_on_while_servers_save(self):
        """A trainer in a long step looks as if it had stopped. It continues before server 1 writes
        its part, so the servers save again."""
        name = "goes_on"
        saved = self.root / f"{name}.saved"
        flags = ["--data", ADULT, "--rows", "0:11776", "--batch-size", 64, "--seed", 7,
                 "--replicas", "1x1", "--checkpoint", saved]
        waits = ["--silence-limit", 30, "--on-failure", "wait"]
        with Cluster(self.root / "async", 2, 2,
                     [*flags, *waits, "--log-losses", self.root / f"{name}.losses"],
                     ["--seed", 7, *waits]) as cluster:
            folder = cluster.folder.name
            relayed = threading.Event()

            def seen(data, _):
                if b'"do":"save"' in data and not relayed.is_set():
                    relayed.set()
                    cluster.trainers[0].popen.send_signal(signal.SIGCONT)
                    time.sleep(2)

            relay = Relay(f"{folder}/p1", f"{folder}/s1", seen)
            addresses = cluster.addresses
            cluster.addresses = f"unix:{folder}/s0,unix:{folder}/p1"
            cluster.start_server(0)
            cluster.addresses = addresses
            cluster.start_server(1)
            for rank in range(2):
                cluster.start_trainer(rank)
            cluster.wait_for_steps(self.root / f"{name}.losses", 10)
            suspend(cluster.trainers[0].popen.pid)
            self.kill_trainer(cluster, 1)
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, ("trainer1",))
            relay.close()
        self.assertTrue(relayed.is_set(), said)
        self.assertIn("because trainers go on", said)
        self.assertIn(f"have saved {checkpoints_in(saved)[-1]}", said)
        with Cluster(self.root / "async", 2, 2, [*flags, *waits, "--resume"],
                     ["--seed", 7, *waits, "--resume", "--checkpoint", saved]) as cluster:
            cluster.start().finish()

    def test_request_that_comes_to_nothing(self):
        """Servers of mode async cannot request a checkpoint from trainers that make progress."""
        waits = ["--silence-limit", SILENCE, "--on-failure", "wait"]
        name = "dropped"
        with Cluster(self.root / "async", 2, 1, [
                "--data", ADULT, "--rows", "0:11776", "--batch-size", 64, "--seed", 7,
                "--epochs", 10**6, "--log-losses", self.root / f"{name}.losses", *waits],
                     ["--seed", 7, *waits]) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 10)
            cluster.servers[0].popen.send_signal(signal.SIGUSR2)
            self.wait_until(cluster, lambda: "a request for a checkpoint is dropped"
                            in cluster.servers[0].output)

    def test_half_async(self):
        for steps in self.check_without_rounds("half-async", 1).values():
            self.assertIn(steps, (184, 185))

    def test_quorum(self):
        self.check_without_rounds("quorum", 1, ("--quorum", 1))

    def rows_of(self, saved):
        """Returns the first slot of each row of @t in the newest checkpoint, by key."""
        dump = saved.with_suffix(".dump")
        run(PDL_CHECKPOINT, "dump", saved, "-o", dump)
        content = dump.read_bytes()
        begin = 8 + struct.unpack_from("<Q", content)[0]
        tensors = json.loads(content[8:begin])

        def values(name, kind):
            first, last = tensors[name]["data_offsets"]
            return struct.unpack(f"<{(last - first) // struct.calcsize(kind)}{kind}",
                                 content[begin + first:begin + last])

        slot, = (name for name in tensors if name.startswith("t.slot"))
        width = tensors[slot]["shape"][1]
        return dict(zip(values("t.keys", "q"), values(slot, "f")[::width]))

    def test_quorum_applies_requests_with_responses(self):
        """A trainer that catches up with the others fills rounds alone. The server responds to all
        its gradients, and applies as many at a time as there are trainers. Gradients that are
        collected when the trainer is lost are part of the records, so they must be in the table
        too."""
        name, trainers, rows = "gathered", 3, 8000
        source = self.root / f"{name}.mlir"
        source.write_text(ROW_MODEL)
        run(PDL_TRANSLATE, source, "-o", self.root / name, "--mode=quorum")
        files = []
        for rank in range(trainers):
            files.append(self.root / f"{name}{rank}.csv")
            files[-1].write_text("".join(f"{rank * 100000 + i},{i % 2}\n" for i in range(rows)))
        saved = self.root / f"{name}.saved"
        waits = ["--silence-limit", 60, "--on-failure", "wait"]
        flags = ["--data", *files, "--batch-size", 1, "--seed", 7, "--checkpoint", saved, *waits]
        server = ["--seed", 7, "--quorum", 1, *waits]
        with Cluster(self.root / name, trainers, 1,
                     [*flags, "--log-losses", self.root / f"{name}.losses"], server) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 10)
            last = cluster.trainers[-1].popen
            suspend(last.pid)
            self.wait_until(cluster, lambda: f"waiting for the reduce of trainer {trainers - 1}"
                            in cluster.servers[0].output)
            last.send_signal(signal.SIGCONT)
            time.sleep(0.3)
            self.kill_trainer(cluster, trainers - 1)
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, (f"trainer{trainers - 1}",))
        self.assertIn(f"have saved {checkpoints_in(saved)[-1]}", said)
        with Cluster(self.root / name, trainers, 1, [*flags, "--resume"],
                     [*server, "--resume", "--checkpoint", saved]) as cluster:
            cluster.start().finish()
        sums_of_squares = self.rows_of(saved)
        self.assertEqual(len(sums_of_squares), trainers * rows)
        self.assertEqual([key for key, squares in sums_of_squares.items() if squares == 0], [])

    def test_ctrl_c_of_a_launcher(self):
        name = "launched"
        flags = ["--silence-limit", SILENCE, "--on-failure", "wait"]
        launcher = Process("launcher", [
            PDL_LAUNCH, "--unix", "--trainers", 2, "--servers", 2, self.root / "syncFalse", "--",
            *self.flags(name, LONG), "--replicas", "1x2", *flags, "--", *flags], self.root)
        try:
            losses = self.root / f"{name}.losses"
            wait_until(lambda: losses.exists() and losses.read_text().count("\n") >= 20, PATIENCE,
                       lambda: launcher.output)
            children = [int(subprocess.run(
                ["pgrep", "-P", str(launcher.popen.pid), "-f", f"trainer train .*--rank {rank}"],
                capture_output=True, text=True, check=True).stdout) for rank in range(2)]
            # As in `lose_trainer`.
            self.stop_awaited(children[0], [
                (lambda: launcher.output,
                 re.compile(rf"pserver {rank} .*waiting for the \w+ of trainer 0 "))
                for rank in range(2)])
            os.kill(children[1], signal.SIGKILL)
            os.kill(children[0], signal.SIGCONT)
            time.sleep(0.5)
            launcher.popen.send_signal(signal.SIGINT)
            self.assertNotEqual(launcher.wait(PATIENCE), 0)
        finally:
            if launcher.popen.poll() is None:
                launcher.popen.kill()
                launcher.popen.wait()
        saved = checkpoints_in(self.root / f"{name}.saved")
        self.assertTrue(saved, launcher.output)
        self.assertIn(f"have saved {saved[-1]}", launcher.output)
        steps = steps_of(saved[-1]) + 10
        self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    def test_servers_agree_on_what_is_whole_everywhere(self):
        """If a server finds its files of the newest checkpoint damaged, all resume from an older
        one."""
        name = "agree"
        with self.job(name, False, 40, "--checkpoint-steps", 10, "--checkpoint-keep",
                      0) as cluster:
            cluster.start().finish()
        places = [self.root / f"{name}.place{rank}" for rank in range(2)]
        for place in places:
            shutil.copytree(self.root / f"{name}.saved", place / "saved")
        newest, older = checkpoints_in(places[1] / "saved")[:-3:-1]
        part = newest / "dense-1.safetensors"
        content = bytearray(part.read_bytes())
        content[-1] ^= 1
        part.write_bytes(content)
        with self.servers_that_resume(places) as cluster:
            for server in cluster.servers:
                self.wait_until(cluster, lambda server=server:
                                f"going on from /proc/self/cwd/saved/{older.name}"
                                in server.output)
            self.assertIn(f"{newest.name}, which is not whole on all servers",
                          cluster.servers[0].output)
        shutil.rmtree(places[1] / "saved")
        (places[1] / "saved").mkdir()
        with self.servers_that_resume(places) as cluster:
            for server in cluster.servers:
                self.wait_until(cluster, lambda server=server:
                                "server 1 finds no checkpoint" in server.output)

    def test_server_0_hears_why_another_one_cannot_resume(self):
        """Server 0 may listen only after the other server has looked for a checkpoint."""
        name = "faulty"
        with self.job(name, False, 10) as cluster:
            cluster.start().finish()
        places = [self.root / f"{name}.place{rank}" for rank in range(2)]
        for place in places:
            shutil.copytree(self.root / f"{name}.saved", place / "saved")
        for manifest in places[1].glob("saved/*/manifest.json"):
            manifest.write_text("no manifest")
        with Cluster(self.root / "syncFalse", 1, 2, []) as cluster:
            for rank in (1, 0):
                cluster.servers.append(Process(f"server{rank}", [
                    "env", "-C", places[rank], cluster.programs / "pserver", "--rank", rank,
                    "--servers", cluster.addresses, "--resume", "--checkpoint",
                    "/proc/self/cwd/saved"], cluster.folder.name))
                time.sleep(3)
            for server in cluster.servers:
                self.assertEqual(server.wait(PATIENCE), 1, server.output)
            self.assertIn("server 1 has no checkpoint to resume from", cluster.servers[1].output)


if __name__ == "__main__":
    unittest.main()
