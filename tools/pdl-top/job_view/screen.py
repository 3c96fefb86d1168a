# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interactive view: draws the table in a terminal, and handles keys."""

import curses
import threading
import time

from job_view import table
from job_view.endpoints import TargetsError
from job_view.processes import NO_ANSWER, NOT_READY, JobState, sum_of

HELP = "q quit   < > sort by another column   r reverse"
CONTROL_L = 12
# Keys are handled at least this often.
KEY_MILLISECONDS = 100


class Poller:
    """Reads the endpoints in the background, so that keys never wait for a process. The thread
    ends with the program."""

    def __init__(self, endpoints, interval):
        self.endpoints, self.interval = endpoints, interval
        self.lock = threading.Lock()
        self.rows, self.error, self.time = None, "", ""
        self.stopped = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        """Reads until the program ends."""
        job = JobState()
        while not self.stopped.is_set():
            error = ""
            try:
                job.update(self.endpoints.read())
            except TargetsError as failure:
                error = str(failure)
            with self.lock:
                self.rows, self.error, self.time = job.rows, error, time.strftime("%H:%M:%S")
            self.stopped.wait(self.interval)

    def latest(self):
        """Returns the rows of the last refresh, an error message, and the time. Rows are None
        before the first refresh."""
        with self.lock:
            return self.rows, self.error, self.time


class Screen:
    """The table on the screen, with its order."""

    def __init__(self, window, poller, sort):
        self.window, self.poller = window, poller
        self.sort, self.is_reversed = sort, False
        self.first = 0

    def handle(self, key):
        """Handles a key. Returns false if the program must end."""
        if key in (ord("q"), ord("Q")):
            return False
        headings = table.HEADINGS
        if key in (ord("<"), ord(","), curses.KEY_LEFT):
            self.sort = headings[headings.index(self.sort) - 1]
        elif key in (ord(">"), ord("."), curses.KEY_RIGHT):
            self.sort = headings[(headings.index(self.sort) + 1) % len(headings)]
        elif key in (ord("r"), ord("R")):
            self.is_reversed = not self.is_reversed
        elif key == CONTROL_L:
            # Repaints everything, after another program has written to the terminal.
            self.window.clearok(True)
        elif key in (curses.KEY_DOWN, curses.KEY_NPAGE):
            self.first += 1 if key == curses.KEY_DOWN else 10
        elif key in (curses.KEY_UP, curses.KEY_PPAGE):
            self.first -= 1 if key == curses.KEY_UP else 10
        return True

    def put(self, y, text, attribute=curses.A_NORMAL):
        """Writes a line, as far as the terminal is wide."""
        height, width = self.window.getmaxyx()
        if y < height and width > 1:
            self.window.addnstr(y, 0, text, width - 1, attribute)

    def draw(self):
        """Draws everything."""
        self.window.erase()
        rows, error, at = self.poller.latest()
        height, _ = self.window.getmaxyx()
        if rows is None:
            self.put(0, "reading the endpoints ...")
        elif not rows:
            self.put(0, f"pdl-top  {at}  no processes yet")
        else:
            self.draw_rows(rows, at, height)
        if error:
            self.put(height - 2, f"error: {error}", curses.A_BOLD)
        self.put(height - 1, HELP, curses.A_DIM)
        self.window.refresh()

    def draw_rows(self, rows, at, height):
        """Draws the table, and the reasons below it."""
        rows = table.sort_rows(rows, self.sort, self.is_reversed)
        self.first = max(0, min(self.first, len(rows) - 1))
        shown = [sum_of(rows), *rows]
        head, total, *lines = table.lines_of(shown, self.sort)
        self.put(0, f"pdl-top  {at}  {len(rows)} processes, {shown[0].state}", curses.A_BOLD)
        self.put(1, head, curses.A_REVERSE)
        self.put(2, total, curses.A_BOLD)
        reasons = table.reasons_of(rows)[:max(0, (height - 5) // 2)]
        room = height - 4 - len(reasons)
        y = 3
        for row, line in list(zip(rows, lines))[self.first:self.first + max(1, room)]:
            faded = curses.A_DIM if row.state == NO_ANSWER else curses.A_NORMAL
            self.put(y, line, curses.A_BOLD if row.state == NOT_READY else faded)
            y += 1
        for reason in reasons:
            self.put(y, reason)
            y += 1

    def run(self):
        """Draws and handles keys until the user quits."""
        for prepare in curses.use_default_colors, lambda: curses.curs_set(0):
            try:
                prepare()
            except curses.error:
                # The terminal has no colors, or cannot hide the cursor.
                pass
        self.window.timeout(KEY_MILLISECONDS)
        drawn = None
        while True:
            key = self.window.getch()
            if not self.handle(key):
                return
            latest = self.poller.latest()
            if key != -1 or latest != drawn:
                drawn = latest
                self.draw()


def show(endpoints, interval, sort):
    """Shows the job until the user quits. Restores the terminal, also after an exception."""
    poller = Poller(endpoints, interval)
    try:
        curses.wrapper(lambda window: Screen(window, poller, sort).run())
    finally:
        poller.stopped.set()
