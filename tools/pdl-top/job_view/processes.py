# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes rows of numbers from readings of endpoints. A rate needs two readings."""

import dataclasses
import math
import time

# What a row shows that has a state but no numbers.
NO_ANSWER, NOT_READY, READY = "no answer", "not ready", "ready"


@dataclasses.dataclass
class Row:
    """The numbers of one process, or of all. None: the process has no such number."""
    name: str
    role: str = ""
    rank: int = -1
    state: str = ""
    reasons: list = dataclasses.field(default_factory=list)
    step: float | None = None
    epoch: float | None = None
    samples: float | None = None
    loss: float | None = None
    metrics: dict = dataclasses.field(default_factory=dict)
    staleness: float | None = None
    queue: float | None = None
    sent: float | None = None
    received: float | None = None
    keys: float | None = None
    memory: float | None = None
    cpu: float | None = None
    checkpoint: float | None = None


def rate(before, now, *names):
    """Returns the growth of counters per second, summed over `names`; None if it is not known. A
    process that has restarted counts from 0 again, so its rate is not known."""
    if before is None or not before.is_up or not now.is_up or now.at <= before.at:
        return None
    total, is_known = 0.0, False
    for name in names:
        old, new = before.sum(name), now.sum(name)
        if new is None:
            continue
        # A counter appears with its first event.
        grown = new - (old or 0.0)
        if grown < 0:
            return None
        total, is_known = total + grown, True
    return total / (now.at - before.at) if is_known else None


def mean_staleness(before, now):
    """Returns the mean staleness of the responses between two readings, in steps. Without such
    responses, returns that since the start of the process."""
    names = "pdl_server_staleness_steps_sum", "pdl_server_staleness_steps_count"
    total, count = (now.sum(name) for name in names)
    if not count:
        return None
    if before is not None and before.is_up:
        old_total, old_count = (before.sum(name) or 0.0 for name in names)
        if old_count < count and old_total <= total:
            return (total - old_total) / (count - old_count)
    return total / count


def row_of(before, now, wall=None):
    """Returns the row of a process. `before`: an earlier reading, or None. `wall`: the time since
    1970, in seconds."""
    [(build, _), *_] = now.find("pdl_build_info") or [({}, 1.0)]
    name_role, _, name_rank = now.process.rpartition(" ")
    # pdl-launch names processes after their programs.
    role = build.get("role") or name_role.removeprefix("p")
    rank = build.get("rank") or name_rank
    row = Row(f"{role} {rank}" if role else now.address, role,
              int(rank) if rank.isdecimal() else -1)
    row.state = (NO_ANSWER if not now.is_up else NOT_READY if now.reasons else READY)
    row.reasons = now.reasons
    if not now.is_up:
        return row
    row.step = now.sum("pdl_trainer_training_steps")
    if row.step is None:
        row.step = now.sum("pdl_server_steps_total")
    row.epoch = now.sum("pdl_trainer_epoch")
    row.samples = rate(before, now, "pdl_trainer_samples_total")
    losses = now.find("pdl_trainer_loss")
    row.loss = losses[0][1] if len(losses) == 1 else None
    row.metrics = {labels.get("metric", ""): value
                   for labels, value in now.find("pdl_trainer_metric")}
    if len(losses) > 1:
        # Alternating training programs have a loss each.
        row.metrics |= {f"loss {labels.get('program', '')}": value for labels, value in losses}
    row.staleness = mean_staleness(before, now)
    row.queue = now.sum("pdl_data_kafka_lag_messages")
    row.sent = rate(before, now, "pdl_trainer_sent_bytes_total", "pdl_server_sent_bytes_total")
    row.received = rate(before, now, "pdl_trainer_received_bytes_total",
                        "pdl_server_received_bytes_total")
    row.keys = now.sum("pdl_table_rows")
    row.memory = now.sum("process_resident_memory_bytes")
    row.cpu = rate(before, now, "process_cpu_seconds_total")
    saved = now.sum("pdl_checkpoint_last_success_timestamp_seconds")
    if saved:
        row.checkpoint = max(0.0, (time.time() if wall is None else wall) - saved)
    return row


def _known(rows, name):
    return [value for row in rows if (value := getattr(row, name)) is not None]


def sum_of(rows):
    """Returns the row of the whole job. Throughput, traffic, keys and memory are sums. The loss and
    the metrics are means over the trainers, the staleness is that over the servers, the step and
    the epoch are the highest of the trainers, and the checkpoint is the newest one."""
    job = Row("all")
    up = sum(row.state != NO_ANSWER for row in rows)
    ready = sum(row.state == READY for row in rows)
    job.state = f"{ready}/{len(rows)} ready" if up == len(rows) else f"{up}/{len(rows)} up"
    for name in "samples", "queue", "sent", "received", "keys", "memory", "cpu":
        values = _known(rows, name)
        setattr(job, name, math.fsum(values) if values else None)
    for name in "loss", "staleness":
        values = _known(rows, name)
        setattr(job, name, math.fsum(values) / len(values) if values else None)
    trainers = [row for row in rows if row.epoch is not None] or rows
    for name in "step", "epoch":
        job_values = _known(trainers, name)
        setattr(job, name, max(job_values, default=None))
    job.checkpoint = min(_known(rows, "checkpoint"), default=None)
    for name in dict.fromkeys(name for row in rows for name in row.metrics):
        values = [row.metrics[name] for row in rows if name in row.metrics]
        job.metrics[name] = math.fsum(values) / len(values)
    return job


class JobState:
    """The rows of a job, from one refresh to the next."""

    def __init__(self):
        self.before = {}
        self.rows = []
        # Last role and rank of each address, for processes that no longer answer.
        self.names = {}

    def update(self, readings, wall=None):
        """Makes the rows of new readings."""
        self.rows = []
        for now in readings:
            row = row_of(self.before.get(now.address), now, wall)
            if row.role:
                self.names[now.address] = row.name, row.role, row.rank
            elif now.address in self.names:
                row.name, row.role, row.rank = self.names[now.address]
            self.before[now.address] = now
            self.rows.append(row)
