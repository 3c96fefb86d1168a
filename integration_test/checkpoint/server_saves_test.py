# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints that servers write without trainers. A trainer of a job that waits
(`--on-failure=wait`) is lost and not restarted, and the servers save what was trained. Real
processes; every wait is bounded."""

import contextlib
import gzip
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import waiting
from cluster import Cluster, Process
from programs import ADULT, BUILD, PDL_CHECKPOINT, checkpoints_in, nightly, run
from server_saves import SILENCE, Relay, ServerSavesTest
from waiting import suspend, wait_until

PDL_LAUNCH = BUILD / "bin" / "pdl-launch"
LONG = 10**9  # steps that no test sees the end of


def steps_of(checkpoint):
    return int(checkpoint.name.removeprefix("step-"))


class ServerSaves(ServerSavesTest):

    modes = 2 * (("local", "sync"),)

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

    def stop_awaited(self, number, servers):
        """Stops process `number`, a trainer, when all servers wait for its request. `servers`: for
        each server, a function that returns its output, and the pattern of its line."""
        end = time.monotonic() + waiting.LONG
        while True:
            suspend(number)
            # Servers repeat their lines. An earlier line may be of another wait.
            lengths = [len(output()) for output, _ in servers]
            # A request may have reached only one server when its sender was stopped. Then the
            # servers wait for different trainers, and the trainer must be stopped at another
            # moment.
            pause = time.monotonic() + 15
            while time.monotonic() < pause:
                if all(awaited.search(output(), length)
                       for (output, awaited), length in zip(servers, lengths)):
                    return
                time.sleep(0.05)
            os.kill(number, signal.SIGCONT)
            self.assertLess(time.monotonic(), end, "".join(output() for output, _ in servers))
            time.sleep(0.1)

    def lose_trainer(self, cluster, rank, act=lambda: None):
        """Kills a trainer of mode sync when all servers have its last request and wait for the
        other trainer, which is stopped until then. Calls `act` before the other one continues."""
        other = cluster.trainers[1 - rank].popen
        awaited = re.compile(rf"waiting for the \w+ of trainer {1 - rank} ")
        self.stop_awaited(other.pid, [(lambda server=server: server.output, awaited)
                                      for server in cluster.servers])
        self.kill_trainer(cluster, rank)
        act()
        other.send_signal(signal.SIGCONT)

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

    @nightly
    def test_stopped_by_the_other_trainer(self):
        self.check_lost_trainer("other", True, 1, lambda cluster: cluster.trainers[0])

    @nightly
    def test_one_server(self):
        self.check_lost_trainer("one", False, 1, lambda cluster: cluster.servers[0], servers=1)

    def saves_of_trainers(self, cluster, name):
        """Returns checkpoints that trainers have saved."""
        found = checkpoints_in(self.root / f"{name}.saved")
        # Servers report a checkpoint after it is complete, and before they save the next one.
        output = cluster.servers[0].output
        return [path for path in found[:-1] if f"have saved {path} " not in output]

    def test_by_the_clock_while_a_trainer_is_waited_for(self):
        name = "clock"
        with self.job(name, False, LONG, server_flags=("--checkpoint-minutes", 0.05)) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 20)
            # If trainers make progress, they save themselves. On a busy machine they may stand
            # still for a while.
            self.wait_until(cluster, lambda: self.saves_of_trainers(cluster, name))
            self.lose_trainer(cluster, 1)

            def saved_by_servers():
                newest = checkpoints_in(self.root / f"{name}.saved")[-1]
                is_reported = f"have saved {newest} without trainers" in cluster.servers[0].output
                return newest if is_reported else None

            run(PDL_CHECKPOINT, "inspect", wait_until(saved_by_servers, said=cluster.said))
            # The trainer is restarted, and the first one saves again.
            before = (self.root / f"{name}.losses").read_text().count("\n")
            self.rejoin(cluster, 1)
            cluster.wait_for_steps(self.root / f"{name}.losses", before + 20)
            cluster.trainers[0].popen.send_signal(signal.SIGTERM)
            for trainer in cluster.trainers:
                self.assertEqual(trainer.wait(), 128 + signal.SIGTERM, trainer.output)
            for server in cluster.servers:
                self.assertEqual(server.wait(), 0, server.output)
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
            saves = self.count_of_server_saves(cluster)
            self.lose_trainer(cluster, 0)
            cluster.servers[0].popen.send_signal(signal.SIGUSR2)
            self.wait_until(cluster, lambda: self.count_of_server_saves(cluster) > saves)
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
            saves = self.request_until(cluster, process(cluster), begun.is_set)
            # While trainer 0 lives, the save may still end.
            time.sleep(0.5)
            self.kill_trainer(cluster, 0)
            self.wait_until(cluster, lambda: self.count_of_server_saves(cluster) > saves)
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

    @nightly
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

    @nightly
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
                self.assertEqual(trainer.wait(), 128 + signal.SIGTERM, trainer.output)
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
            self.assertNotEqual(cluster.servers[1].wait(), 0)
            # The server that notices the loss first reports it.
            self.assertRegex(cluster.servers[1].output,
                             "server 0, which saves for all servers, is lost too|/s0 has (died|ended)")
            self.assertNotEqual(cluster.trainers[0].wait(), 0)
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

    @nightly
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

            def spoil():
                saved.rename(aside)
                saved.write_text("no folder")

            self.lose_trainer(cluster, 1, spoil)
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, ("trainer1",))
        self.assertIn("the servers could not save the state", said)
        saved.unlink()
        aside.rename(saved)
        steps = steps_of(checkpoints_in(saved)[-1]) + 10
        self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    @nightly
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

    @nightly
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

    @nightly
    def test_emergency_folder(self):
        name = "emergency"
        saved, elsewhere = self.root / f"{name}.saved", self.root / f"{name}.elsewhere"
        with self.job(name, False, LONG,
                      server_flags=("--emergency-checkpoint", elsewhere)) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 30)

            def spoil():
                # The first trainer may write there when it continues.
                saved.rename(self.root / f"{name}.aside")
                saved.write_text("no folder")

            self.lose_trainer(cluster, 1, spoil)
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, ("trainer1",))
        self.assertIn(f"have saved {checkpoints_in(elsewhere)[-1]}", said)
        saved.unlink()
        elsewhere.rename(saved)
        steps = steps_of(checkpoints_in(saved)[-1]) + 10
        self.check_as_undisturbed(name, False, steps, self.resume(name, False, steps))

    @nightly
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

    def test_ctrl_c_of_a_launcher(self):
        name = "launched"
        flags = ["--silence-limit", SILENCE, "--on-failure", "wait"]
        launcher = Process("launcher", [
            PDL_LAUNCH, "--unix", "--trainers", 2, "--servers", 2, self.root / "syncFalse", "--",
            *self.flags(name, LONG), "--replicas", "1x2", *flags, "--", *flags], self.root)
        try:
            losses = self.root / f"{name}.losses"
            wait_until(lambda: losses.exists() and losses.read_text().count("\n") >= 20,
                       said=lambda: launcher.output)
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
            self.assertNotEqual(launcher.wait(), 0)
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

    @nightly
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
                self.assertEqual(server.wait(), 1, server.output)
            self.assertIn("server 1 has no checkpoint to resume from", cluster.servers[1].output)


if __name__ == "__main__":
    unittest.main()
