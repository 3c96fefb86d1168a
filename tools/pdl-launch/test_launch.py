# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of pdl-launch with small programs instead of trainers and servers."""

import json
import os
import pathlib
import pty
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

LAUNCH = os.environ.get("PDL_LAUNCH", "build-runtime/bin/pdl-launch")
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Prints its command, then runs the commands in a file.
SAY = '#!/bin/sh\necho "$0" "$@"\n'


class LaunchTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="pdl-launch-test-")
        self.folder = pathlib.Path(self.scratch.name)
        self.write("trainer", SAY)
        self.write("pserver", SAY)

    def tearDown(self):
        self.scratch.cleanup()

    def write(self, name, script):
        path = self.folder / name
        path.write_text(script)
        path.chmod(0o755)

    def start(self, *words, **options):
        return subprocess.Popen([LAUNCH, *map(str, words)], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                **options)

    def launch(self, *words):
        process = self.start(*words)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def kill_running_launcher(self):
        """Kills the launcher after its trainer has written the file `pid`."""
        process = self.start(self.folder)
        self.waits_for((self.folder / "pid").exists)
        process.kill()
        process.communicate(timeout=60)

    def waits_for(self, condition):
        end = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_each_program_knows_who_it_is(self):
        status, out, err = self.launch(
            "--trainers", 2, "--servers", 3, self.folder, "--", "--data", "a b",
            "--save={rank}of{trainers}", "--", "--part={rank}")
        self.assertEqual((status, err), (0, ""))
        lines = sorted(out.splitlines())
        self.assertEqual(len(lines), 5)
        servers = re.search(r"--servers (\S+)", lines[0])[1]
        token = re.search(r"--token-file (\S+)", lines[0])[1]
        self.assertFalse(pathlib.Path(token).exists())
        addresses = servers.split(",")
        self.assertEqual(len(set(addresses)), 3)
        for address in addresses:
            self.assertRegex(address, r"^127\.0\.0\.1:[1-9]\d*$")
        for rank in range(3):
            self.assertEqual(
                lines[rank],
                f"pserver {rank} | {self.folder}/pserver --part={rank} "
                f"--rank {rank} --trainers 2 --token-file {token} --servers {servers}")
        for rank in range(2):
            self.assertEqual(
                lines[3 + rank],
                f"trainer {rank} | {self.folder}/trainer train --data a b "
                f"--save={rank}of2 --rank {rank} --trainers 2 "
                f"--token-file {token} --servers {servers}")

    def test_each_job_has_a_secret_of_its_own(self):
        self.write("pserver", "#!/usr/bin/env python3\n"
                   "import os, sys\n"
                   "path = sys.argv[sys.argv.index('--token-file') + 1]\n"
                   "print(oct(os.stat(path).st_mode), open(path).read().strip())\n")
        tokens = set()
        for _ in range(2):
            out = self.launch(self.folder)[1]
            mode, token = re.search(r"pserver 0 \| (\S+) (\S+)", out).groups()
            self.assertEqual(mode, "0o100600")
            self.assertRegex(token, "^[0-9a-f]{64}$")
            tokens.add(token)
        self.assertEqual(len(tokens), 2)
        self.write("pserver", SAY)
        for words in (["--", "--token-file", "mine", "--", "--token-file=mine"],
                      ["--", "--", "--token-file", "mine"]):
            out = self.launch(self.folder, *words)[1]
            self.assertEqual(set(re.findall(r"--token-file[ =](\S+)", out)), {"mine"})

    def test_shared_flags_are_given_once(self):
        """A flag with the same meaning for trainers and servers reaches both."""
        out = self.launch(self.folder, "--", "--data", "x", "--seed", 7, "--resume",
                          "--checkpoint=saved", "--", "--job", "j", "--threads", 2)[1]
        trainer, = [line for line in out.splitlines() if line.startswith("trainer")]
        server, = [line for line in out.splitlines() if line.startswith("pserver")]
        self.assertIn("train --data x --seed 7 --resume --checkpoint=saved --job j --rank", trainer)
        for flag in ("--job j", "--threads 2", "--seed 7", "--checkpoint=saved", "--resume"):
            self.assertIn(f" {flag} ", server)
        out = self.launch(self.folder, "--", "--emergency-checkpoint", "other")[1]
        self.assertIn("pserver --emergency-checkpoint other --rank", out)
        out = self.launch(self.folder, "--", "--seed=1", "--", "--seed", 2)[1]
        self.assertIn("pserver --seed 2 --rank", out)
        self.assertIn("train --seed=1 --rank", out)

    # Flags of servers that differ between processes, or that pdl-launch sets itself.
    OF_ONE_PROCESS = {"--bind", "--checkpoint-minutes", "--help", "--list-metrics",
                      "--log-metrics", "--log-metrics-seconds", "--metrics-address", "--rank",
                      "--servers", "--summary", "--threads", "--trace", "--trainers", "--version",
                      "--wait"}
    # Flags that no trainer has in the command `train`.
    OF_SERVERS = {"--late-gradients", "--log-applied", "--max-staleness", "--quorum",
                  "--reader-token-file"}
    # Flags of trainers and servers that only apply to the process with tables or values, which
    # depends on the mode.
    OF_MODES = {"--init-from", "--init-values-only", "--max-table-memory", "--table-eviction",
                "--table-spill"}

    def flags_of_servers(self):
        """Returns the flags in the reference, and for each whether it has a value."""
        text = (ROOT / "docs" / "Reference" / "CommandLine.md").read_text()
        section = text.partition("\n## pserver\n")[2].partition("\n## ")[0]
        return {name: bool(value.strip()) for name, value in re.findall(
            r"^\| `(?:-\w,)?(--[\w-]+)((?: (?!Needs|Excludes|REQUIRED)[A-Z]\w*)?)", section, re.M)}

    def test_each_flag_of_servers_is_given_once(self):
        """If all flags are given to trainers, those of the job reach trainers and servers, and
        those of servers only servers."""
        flags = self.flags_of_servers()
        self.assertGreater(len(flags), 20)
        for name in sorted(flags.keys() - self.OF_ONE_PROCESS - self.OF_MODES):
            for words in ([[name, "7"], [f"{name}=7"]] if flags[name] else [[name]]):
                with self.subTest(words=words):
                    out = self.launch(self.folder, "--", "--data", "x", *words, "--epochs", 2)[1]
                    trainer, server = ([line for line in out.splitlines()
                                        if line.startswith(kind)][0]
                                       for kind in ("trainer", "pserver"))
                    given = " ".join(words)
                    self.assertIn(f"/pserver {given} ", server)
                    if name in self.OF_SERVERS:
                        self.assertIn("train --data x --epochs 2 --rank", trainer)
                    else:
                        self.assertIn(f"train --data x {given} --epochs 2 ", trainer)
        for name in self.OF_ONE_PROCESS - {"--help", "--rank", "--servers", "--trainers",
                                           "--version", "--list-metrics"}:
            out = self.launch(self.folder, "--", name, 7)[1]
            self.assertNotIn(f"/pserver {name}", out)
        help_text = self.launch("--help")[1]
        for name in flags.keys() - self.OF_ONE_PROCESS - self.OF_MODES:
            self.assertRegex(help_text, rf"(?m)^    .*{name}\b")

    def test_a_flag_of_servers_in_both_lists_stays_in_both(self):
        out = self.launch(self.folder, "--", "--quorum", 2, "--", "--quorum", 3)[1]
        self.assertIn("/pserver --quorum 3 --rank", out)
        self.assertIn("train --quorum 2 --rank", out)

    def test_endpoints_are_listed_while_the_job_runs(self):
        targets = self.folder / "targets.json"
        self.write("pserver", f'{SAY}cat {targets}\n')
        status, out, err = self.launch("--unix", "--trainers", 2, "--metrics-targets", targets,
                                       self.folder, "--", "--data", "x")
        self.assertEqual((status, err), (0, ""))
        self.assertFalse(targets.exists())
        lines = out.splitlines()
        listed = json.loads("".join(line.partition("| ")[2] for line in lines
                                    if line.startswith("pserver") and "/pserver" not in line))
        self.assertEqual([each["labels"] for each in listed],
                         [{"process": "pserver 0"}, {"process": "trainer 0"},
                          {"process": "trainer 1"}])
        addresses = [each["targets"][0] for each in listed]
        self.assertEqual(len(set(addresses)), 3)
        for name, address in zip(("pserver 0", "trainer 0", "trainer 1"), addresses):
            self.assertRegex(address, r"^127\.0\.0\.1:[1-9]\d*$")
            command, = [line for line in lines if line.startswith(name) and "--rank" in line]
            self.assertIn(f" --metrics-address {address} --rank ", command)
        status, _, err = self.launch("--metrics-targets", targets, self.folder, "--",
                                     "--metrics-address", "127.0.0.1:1")
        self.assertEqual(status, 2)
        self.assertIn("leave one of the two out", err)
        status, _, err = self.launch("--metrics-targets", "/no/such/file", self.folder)
        self.assertNotEqual(status, 0)
        self.assertIn("give --metrics-targets another path", err)

    def test_a_command_of_the_trainer_stays_first(self):
        out = self.launch(self.folder, "--", "train", "--data", "x")[1]
        self.assertIn("trainer train --data x --rank 0", out)

    def test_only_train_has_servers(self):
        for command in ("evaluate", "predict"):
            status, out, err = self.launch(self.folder, "--", command, "--data", "x")
            self.assertEqual((status, out), (2, ""))
            self.assertIn(f"only the command train has servers, but '{command}'", err)
            self.assertIn(f"run {self.folder}/trainer {command} by itself", err)

    def test_ports_can_be_listened_at(self):
        self.write("pserver", "#!/usr/bin/env python3\n"
                   "import socket, sys\n"
                   "rank = int(sys.argv[sys.argv.index('--rank') + 1])\n"
                   "at = sys.argv[sys.argv.index('--servers') + 1]\n"
                   "host, port = at.split(',')[rank].split(':')\n"
                   "socket.create_server((host, int(port))).listen()\n")
        self.assertEqual(self.launch("--servers", 4, self.folder)[0], 0)

    def test_unix_sockets_go_with_the_job(self):
        self.write("pserver", "#!/usr/bin/env python3\n"
                   "import socket, sys\n"
                   "at = sys.argv[sys.argv.index('--servers') + 1]\n"
                   "s = socket.socket(socket.AF_UNIX)\n"
                   "s.bind(at.removeprefix('unix:'))\n")
        status, out, err = self.launch("--unix", self.folder)
        self.assertEqual((status, err), (0, ""))
        path = pathlib.Path(re.search(r"--servers unix:(\S+)", out)[1])
        self.assertFalse(path.parent.exists())

    def test_what_a_dead_launch_left_is_removed(self):
        self.write("pserver", "#!/bin/sh\necho \"$@\"\n"
                   f"while [ ! -e {self.folder}/go ]; do sleep 0.02; done\n")
        environment = {**os.environ, "TMPDIR": str(self.folder)}

        def launched():
            process = self.start("--unix", self.folder, env=environment)
            line = process.stdout.readline()
            while "pserver" not in line:
                self.assertTrue(line)
                line = process.stdout.readline()
            path = re.search(r"--servers unix:(\S+)", line)[1]
            return process, pathlib.Path(path).parent

        dead, left = launched()
        dead.kill()
        dead.communicate()
        lives, kept = launched()
        self.assertFalse(left.exists())
        second, other = launched()
        # A launch that runs keeps its folder.
        self.assertTrue(kept.exists())
        (self.folder / "go").touch()
        for process in (lives, second):
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
        self.assertFalse(kept.exists() or other.exists())

    def test_a_reader_that_has_gone_ends_no_job(self):
        self.write("trainer", "#!/bin/sh\n"
                   f"while [ ! -e {self.folder}/go ]; do sleep 0.02; done\n"
                   "echo nobody reads this\n"
                   f"touch {self.folder}/done\n")
        process = self.start("--unix", self.folder)
        path = re.search(r"--servers unix:(\S+)", process.stdout.readline())[1]
        process.stdout.close()
        process.stdout = None
        (self.folder / "go").touch()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertTrue((self.folder / "done").exists())
        self.assertFalse(pathlib.Path(path).parent.exists())

    def test_the_first_failure_is_the_status(self):
        self.write("trainer", "#!/bin/sh\n"
                   'if [ "$3" = 1 ]; then echo bad >&2; exit 7; fi\n'
                   f"while [ ! -e {self.folder}/go ]; do sleep 0.02; done\n"
                   "exit 5\n")
        process = self.start("--trainers", 2, self.folder)
        err = ""
        while "trainer 1 ended" not in err:
            line = process.stderr.readline()
            self.assertTrue(line)
            err += line
        (self.folder / "go").touch()
        err += process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 7)
        self.assertIn("trainer 1 | bad\n", err)
        self.assertIn("pdl-launch | trainer 1 ended with status 7\n", err)
        self.assertIn("pdl-launch | trainer 0 ended with status 5\n", err)
        self.assertNotIn("sends", err)

    def test_a_signal_that_ends_a_program(self):
        self.write("trainer", "#!/bin/sh\nkill -9 $$\n")
        status, _, err = self.launch(self.folder)
        self.assertEqual(status, 128 + 9)
        self.assertIn("trainer 0 was ended by signal 9 (Killed)", err)

    def test_who_runs_on_after_a_failure_is_ended_with_a_line(self):
        self.write("trainer", "#!/bin/sh\nexit 3\n")
        # One server ends on SIGTERM, the other does not.
        self.write("pserver", "#!/bin/sh\n"
                   'if [ "$2" = 1 ]; then trap "" TERM; fi\n'
                   "while true; do sleep 0.05; done\n")
        status, _, err = self.launch("--servers", 2, "--grace", 1, self.folder)
        self.assertEqual(status, 3)
        self.assertIn("sends signal 15 (Terminated) to pserver 0, pserver 1, "
                      "still running 1 s after the first failure", err)
        self.assertIn("pserver 0 was ended by signal 15", err)
        self.assertIn("sends signal 9 (Killed) to pserver 1, still running 1 s "
                      "after that", err)
        self.assertIn("pserver 1 was ended by signal 9", err)

    def test_a_refusal_of_flags_ends_the_rest_at_once(self):
        self.write("trainer", "#!/bin/sh\nexit 2\n")
        self.write("pserver", "#!/bin/sh\nwhile true; do sleep 0.05; done\n")
        status, _, err = self.launch("--grace", 600, self.folder)
        self.assertEqual(status, 2)
        self.assertIn("sends signal 15 (Terminated) to pserver 0, because a "
                      "program did not start", err)

    def test_who_stops_in_order_is_given_time(self):
        """A second signal would prevent the last checkpoint."""
        self.write("trainer", "#!/bin/sh\ntrap 'exit 130' INT\n"
                   "echo ready\nwhile true; do sleep 0.05; done\n")
        self.write("pserver", "#!/bin/sh\ntrap 'sleep 3; exit 130' INT\n"
                   "echo ready\nwhile true; do sleep 0.05; done\n")
        process = self.start("--grace", 1, self.folder)
        for _ in range(2):
            self.assertIn("ready", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("pserver 0 ended with status 130", err)
        self.assertNotIn("sends", err)

    def test_who_hears_of_a_stop_from_others_has_not_failed(self):
        self.write("trainer", "#!/bin/sh\ntrap 'exit 138' USR1\n"
                   "echo ready\nwhile true; do sleep 0.05; done\n")
        self.write("pserver", "#!/bin/sh\ntrap 'sleep 1; exit 143' USR1\n"
                   "echo ready\nwhile true; do sleep 0.05; done\n")
        process = self.start("--grace", 60, self.folder)
        for _ in range(2):
            self.assertIn("ready", process.stdout.readline())
        process.send_signal(signal.SIGUSR1)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 138, err)

    def test_a_request_for_a_checkpoint_ends_no_process(self):
        for name in ("trainer", "pserver"):
            self.write(name, "#!/bin/sh\ntrap 'echo saved; asked=1' USR2\necho ready\n"
                       "until [ \"$asked\" ]; do sleep 0.05; done\n")
        process = self.start("--grace", 60, self.folder)
        for _ in range(2):
            self.assertIn("ready", process.stdout.readline())
        process.send_signal(signal.SIGUSR2)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(out.count("saved"), 2)
        self.assertNotIn("ended with status", err)

    def test_a_second_signal_ends_all_at_once(self):
        """All programs end, whatever they do and however long the grace period is."""
        for name in ("trainer", "pserver"):
            self.write(name, "#!/bin/sh\ntrap '' INT TERM\n"
                       "echo ready\nwhile true; do sleep 0.05; done\n")
        process = self.start("--grace", 600, self.folder)
        for _ in range(2):
            self.assertIn("ready", process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        line = process.stderr.readline()
        self.assertIn("passes signal 15", line)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + 9)
        self.assertIn("sends signal 9 (Killed) to pserver 0, trainer 0, still "
                      "running 1 s after the second signal", err)

    def test_a_program_that_hangs_after_a_signal_is_ended(self):
        self.write("trainer", "#!/bin/sh\ntrap 'exit 130' INT\n"
                   "echo ready\nwhile true; do sleep 0.05; done\n")
        # One server ends on SIGTERM, the other does not.
        self.write("pserver", "#!/bin/sh\ntrap '' INT\n"
                   'if [ "$2" = 1 ]; then trap "" TERM; fi\n'
                   "echo ready\nwhile true; do sleep 0.05; done\n")
        process = self.start("--servers", 2, "--grace", 1, self.folder)
        for _ in range(3):
            self.assertIn("ready", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertIn("sends signal 15 (Terminated) to pserver 0, pserver 1, "
                      "still running 10 s after the first one has stopped",
                      err)
        self.assertIn("sends signal 9 (Killed) to pserver 1, still running 1 s "
                      "after that", err)
        self.assertEqual(process.returncode, 128 + 9)

    def test_a_crash_after_a_signal_is_the_status(self):
        self.write("trainer", "#!/bin/sh\ntrap 'exit 130' INT\n"
                   "echo ready\nwhile true; do sleep 0.05; done\n")
        # After the other processes have stopped, one server crashes and one hangs.
        self.write("pserver", "#!/bin/sh\ntrap '' INT\n"
                   "echo ready\n"
                   f'while [ "$2" = 1 ] || [ ! -e {self.folder}/go ]; do '
                   "sleep 0.05; done\nkill -SEGV $$\n")
        process = self.start("--servers", 2, "--grace", 1, self.folder)
        for _ in range(3):
            self.assertIn("ready", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        err = ""
        while "trainer 0 ended" not in err:
            line = process.stderr.readline()
            self.assertTrue(line)
            err += line
        (self.folder / "go").touch()
        err += process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 128 + signal.SIGSEGV)
        self.assertIn("sends signal 15 (Terminated) to pserver 1, still "
                      "running 1 s after the first failure", err)

    def test_signals_are_passed_on_once(self):
        self.write("trainer", "#!/usr/bin/env python3\n"
                   "import signal, time\n"
                   "count = 0\n"
                   "def note(number, frame):\n"
                   "    global count\n"
                   "    count += 1\n"
                   "signal.signal(signal.SIGINT, note)\n"
                   "signal.signal(signal.SIGTERM, lambda *a: exit(4))\n"
                   "print('ready', flush=True)\n"
                   "while not count: time.sleep(0.01)\n"
                   "print('interrupted', flush=True)\n"
                   "while True: time.sleep(0.01)\n")
        self.write("pserver", "#!/bin/sh\nexit 0\n")
        process = self.start(self.folder, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "trainer 0 | ready\n")
        # Send the signal to the whole process group, as a terminal does.
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.stdout.readline(), "trainer 0 | interrupted\n")
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 4)
        self.assertIn("passes signal 2 (Interrupt) on to trainer 0", err)
        self.assertIn("passes signal 15 (Terminated) on to trainer 0", err)

    def test_a_signal_ends_a_program_that_does_not_watch_for_it_yet(self):
        # A shell without job control starts the launcher in this way.
        ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.write("trainer", f"#!/bin/sh\necho > {self.folder}/pid\n"
                       "exec sleep 20\n")
            process = self.start(self.folder)
        finally:
            signal.signal(signal.SIGINT, ignored)
        self.waits_for((self.folder / "pid").exists)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)

    def test_programs_do_not_outlive_a_launcher_that_is_killed(self):
        self.write("trainer", "#!/bin/sh\n"
                   f"echo $$ > {self.folder}/pid.new\n"
                   f"mv {self.folder}/pid.new {self.folder}/pid\n"
                   "exec sleep 600\n")
        self.kill_running_launcher()
        pid = int((self.folder / "pid").read_text())

        def is_gone():
            try:
                with open(f"/proc/{pid}/stat") as file:
                    return file.read().rpartition(")")[2].split()[0] == "Z"
            except FileNotFoundError:
                return True
        self.waits_for(is_gone)

    def test_programs_end_in_order_where_the_launcher_is_killed(self):
        # A line that no process reads must not end the program immediately.
        self.write("trainer", "#!/bin/sh\n"
                   f"trap 'sleep 0.2; echo done > {self.folder}/ended; exit 0' TERM\n"
                   f"echo $$ > {self.folder}/pid\n"
                   "while :; do echo line; sleep 0.01; done\n")
        self.kill_running_launcher()
        self.waits_for((self.folder / "ended").exists)

    def test_lines_stay_whole(self):
        self.write("trainer", "#!/usr/bin/env python3\n"
                   "import sys\n"
                   "for i in range(2000):\n"
                   "    sys.stdout.write(f'{i} ')\n"
                   "    sys.stdout.flush()\n"
                   "    sys.stdout.write('x' * 60 + '\\n')\n"
                   "sys.stdout.write('no end')\n")
        status, out, _ = self.launch("--trainers", 2, self.folder)
        self.assertEqual(status, 0)
        for rank in range(2):
            lines = [line for line in out.splitlines()
                     if line.startswith(f"trainer {rank} | ")]
            expected = [f"trainer {rank} | {i} " + "x" * 60
                        for i in range(2000)] + [f"trainer {rank} | no end"]
            self.assertEqual(lines, expected)

    def test_one_line_of_progress_on_a_terminal(self):
        self.write("trainer", "#!/bin/sh\n"
                   'echo "10:00:00 train  10% step 5, 50 samples, 7 samples/s"\n'
                   "echo proper line\n"
                   "sleep 1\n")
        main, side = pty.openpty()
        process = subprocess.Popen([LAUNCH, str(self.folder)], stdout=side,
                                   stderr=side)
        os.close(side)
        seen = b""
        while True:
            try:
                part = os.read(main, 4096)
            except OSError:
                break
            if not part:
                break
            seen += part
        os.close(main)
        self.assertEqual(process.wait(timeout=60), 0)
        text = seen.decode()
        # Lines that remain, without overwritten text.
        kept = [line.split("\r\x1b[K")[-1].split("\x1b[K")[-1]
                for line in text.replace("\r\n", "\n").split("\n")]
        self.assertIn("trainer 0 | proper line", kept)
        self.assertFalse([line for line in kept if "samples/s" in line])
        self.assertIn("of 2 programs run; trainer 0 | 10:00:00 train  10% "
                      "step 5, 50 samples, 7 samples/s", text)

    def test_what_cannot_work_is_refused(self):
        for words, message in (
                ([], "folder is required"),
                (["--trainers", 0, self.folder], "--trainers"),
                ([self.folder, "--", "--rank", 3], "leave it out"),
                ([self.folder, "--", "x", "--", "--servers=a:1"],
                 "leave it out")):
            status, out, err = self.launch(*words)
            self.assertEqual(status, 2, words)
            self.assertIn(message, err)
            self.assertEqual(out, "")
        # A missing folder is not an error in the flags.
        status, out, err = self.launch(self.folder / "none")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("found no program", err)

    def test_a_program_that_is_none(self):
        self.write("trainer", "#!/no/such/interpreter\n")
        status, _, err = self.launch(self.folder)
        self.assertEqual(status, 127)
        self.assertIn("trainer 0 | cannot start", err)


if __name__ == "__main__":
    unittest.main()
