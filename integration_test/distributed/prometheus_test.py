# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A real Prometheus reads the alert rules and the dashboard that PDL ships, and scrapes a job."""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import prometheus
from folders import SharedFolderTest
from metric_text import get
from programs import ADULT, BUILD, PDL_SERVE, PDL_TRANSLATE, SOURCE, run
from small_model import LOSS, METRICS, OBSERVATIONS, small_model
from waiting import LONG, wait_until

DEPLOY = SOURCE / "deploy"
# Metrics of Prometheus itself.
BUILT_IN = {"up"}


def dashboard_expressions():
    """Returns the expressions of the dashboard, with the variables of Grafana replaced."""
    panels = json.loads((DEPLOY / "grafana/pdl-training.json").read_text())["panels"]
    return [target["expr"].replace("$job", "pdl").replace("$__rate_interval", "10s")
            for panel in panels for target in panel["targets"]]


def rule_expressions():
    return re.findall(r"expr: (.*)", (DEPLOY / "prometheus/pdl-rules.yml").read_text())


class Prometheus(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        model = cls.root / "small.mlir"
        text = small_model("@adam", clip=False, decay=False, warm_up=False)
        model.write_text(text.replace("  nn.program @train", METRICS + "  nn.program @train")
                         .replace(LOSS, LOSS + OBSERVATIONS))
        cls.sync = cls.root / "sync"
        run(PDL_TRANSLATE, model, "--mode=sync", "-o", cls.sync)

    def test_shipped_files(self):
        promtool = prometheus.require("promtool")
        for kind, name in (("rules", "pdl-rules.yml"), ("config", "prometheus.yml")):
            run(promtool, "check", kind, DEPLOY / "prometheus" / name)

    def test_dashboard(self):
        """The expressions of the dashboard are valid: promtool reads them as rules."""
        promtool = prometheus.require("promtool")
        expressions = dashboard_expressions()
        self.assertGreater(len(expressions), 15)
        rules = self.root / "dashboard.yml"
        def write(texts):
            rules.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": [
                {"record": f"panel:{number}", "expr": text}
                for number, text in enumerate(texts)]}]}))
        write(expressions)
        run(promtool, "check", "rules", rules)
        write(["sum by (rate(pdl_trainer_samples_total[1m])"])
        self.assertNotEqual(subprocess.run([promtool, "check", "rules", rules],
                                           capture_output=True).returncode, 0)

    def test_names(self):
        """Rules and dashboard name only metrics that the programs have."""
        known = set(BUILT_IN)
        for program in (self.sync / "trainer", self.sync / "pserver", PDL_SERVE):
            for line in run(program, "--list-metrics").stdout.splitlines():
                name, kind, *_ = line.split("\t")
                known.add(name)
                if kind == "histogram":
                    known |= {name + suffix for suffix in ("_bucket", "_sum", "_count")}
        self.assertGreater(len(known), 40)
        for text in [*rule_expressions(), *dashboard_expressions()]:
            names = re.findall(r"\b(?:pdl|process)_\w+|\bup\b", re.sub(r'"[^"]*"', "", text))
            self.assertTrue(names, text)
            for name in names:
                self.assertIn(name, known, text)

    def scraped_config(self, targets):
        """Writes the configuration that PDL ships, with short intervals and with `targets`."""
        folder = self.root / "prometheus"
        shutil.copytree(DEPLOY / "prometheus", folder)
        (folder / "targets").mkdir()
        # Without the servers of predictions, which do not run.
        config = (folder / "prometheus.yml").read_text().replace("interval: 15s", "interval: 1s")
        config = config[:config.index("  # Servers of predictions")]
        config = config.replace("targets/*.json", str(targets))
        (folder / "prometheus.yml").write_text(config)
        return folder / "prometheus.yml"

    def test_a_job(self):
        """Prometheus scrapes a job of pdl-launch, and answers the queries of operators."""
        promtool = prometheus.require("promtool")
        targets = self.root / "targets.json"
        with subprocess.Popen([str(word) for word in (
                BUILD / "bin/pdl-launch", "--unix", "--trainers", 2, "--servers", 2,
                "--metrics-targets", targets, self.sync, "--", "--data", *[ADULT] * 200,
                "--epochs", 1_000_000, "--batch-size", 64, "--checkpoint", self.root / "saved", "--checkpoint-steps",
                200)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as job:
            try:
                with prometheus.Prometheus(self.scraped_config(targets)) as server:
                    self.check_queries(server)
                    self.check_rules(server)
                    self.check_panels(server)
                self.check_format(promtool, targets)
            finally:
                job.send_signal(signal.SIGTERM)
                _, said = job.communicate(timeout=LONG)
        self.assertEqual(job.returncode, 143, said)

    def check_format(self, promtool, targets):
        """The text of each endpoint has no finding of promtool."""
        for each in json.loads(targets.read_text()):
            _, text = get(each["targets"][0], "/metrics")
            done = subprocess.run([promtool, "check", "metrics"], input=text,
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def check_queries(self, server):
        self.assertEqual(server.wait_for('sum(up{job="pdl"})', lambda found: found == [4]), [4])
        by_role = 'sum by (role) (pdl_build_info * on (instance) group_left () up{job="pdl"})'
        wait_until(lambda: {labels["role"]: value for labels, value in server.query(by_role)} ==
                   {"server": 2, "trainer": 2}, said=lambda: server.query(by_role), pause=0.2)
        server.wait_for("sum(rate(pdl_trainer_samples_total[10s]))", lambda found: found[0] > 0)
        # The first values are those of few samples.
        server.wait_for("pdl_trainer_loss", lambda found: len(found) == 2 and
                        all(0 < value < 1 for value in found))
        server.wait_for('pdl_trainer_metric{metric="auc"}', lambda found: len(found) == 2 and
                        all(0.5 < value <= 1 for value in found))
        # A process that has not saved has no time of a save.
        server.wait_for("time() - pdl_checkpoint_last_success_timestamp_seconds",
                        lambda found: all(-1 <= value < 120 for value in found))

    def check_rules(self, server):
        def rules_of():
            return [rule for group in server.api("rules")["groups"] for rule in group["rules"]]
        # Prometheus evaluates each group for the first time after a delay.
        wait_until(lambda: all(rule["health"] != "unknown" for rule in rules_of()), said=rules_of,
                   pause=0.2)
        rules = rules_of()
        self.assertEqual(len(rules), len(rule_expressions()))
        for rule in rules:
            self.assertEqual((rule["health"], rule.get("lastError", "")), ("ok", ""), rule)
            # Alerts about a healthy job would be false.
            self.assertNotEqual(rule["state"], "firing", rule)

    def check_panels(self, server):
        """Each expression is valid, and most have values in this job."""
        expressions = dashboard_expressions()
        def empty():
            return [text for text in expressions if not server.query(text)]
        def holds():
            # The job has no topics, no staleness limit and no bad rows.
            found = empty()
            return len(found) < len(expressions) / 2 and not any(
                re.search("pdl_trainer_(samples|loss|metric|phase)", text) for text in found)
        # After a late scrape, series are empty for a while.
        wait_until(holds, said=empty, pause=0.2)


if __name__ == "__main__":
    unittest.main()
