"""scripts/check-includes finds each kind of breach, and nothing else.

Called with the path of the script.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = None

# (file, include, whether it is allowed)
CASES = [
    # the rooms
    ("base/a.cc", '"sched/op.h"', False),
    ("sched/a.cc", '"base/error.h"', True),
    ("hw/a.cc", '"base/error.h"', True),
    ("sched/a.cc", '"machine/platform.h"', False),
    ("sched/a.cc", '"sched/op.h"', True),
    ("machine/a.cc", '"sched/op.h"', True),
    ("machine/a.h", '"sim/simgrid_engine.h"', False),
    ("machine/a.h", '"analysis/slack.h"', False),
    ("analysis/a.cc", '"machine/platform.h"', True),
    ("analysis/a.cc", '"sim/simgrid_engine.h"', False),
    ("analysis/a.cc", '"offload/queue_program.h"', False),
    ("sim/a.cc", '"machine/platform.h"', True),
    ("sim/a.cc", '"offload/queue_program.h"', True),
    ("sim/a.cc", '"offload/compile.h"', False),
    ("sim/a.cc", '"analysis/slack.h"', False),
    ("offload/a.cc", '"machine/platform.h"', True),
    ("offload/a.cc", '"hw/transport.h"', False),
    ("hw/a.cc", '"offload/queue_program.h"', True),
    ("hw/a.cc", '"offload/compile.h"', False),
    ("hw/deep/er/a.cc", '"cli/print.h"', False),
    ("report/a.cc", '"analysis/slack/timed_slack.h"', True),
    ("report/a.cc", '"cli/print.h"', False),
    ("report/a.cc", "<zlib.h>", True),
    ("report/a.h", "<zlib.h>", False),
    ("analysis/a.cc", '"report/report.h"', False),
    ("sched/a.cc", "<zlib.h>", False),
    ("engines/a.cc", '"sim/simgrid_engine.h"', True),
    ("engines/a.cc", '"analysis/engines/flow_engine.h"', True),
    ("engines/a.cc", '"cli/print.h"', False),
    ("analysis/a.cc", '"engines/engines.h"', False),
    ("sim/a.cc", '"engines/engines.h"', False),
    ("cli/a.cc", '"engines/engines.h"', True),
    ("cli/a.cc", '"hw/transport.h"', True),
    ("experiments/fig/a.cc", '"sim/simgrid_engine.h"', True),
    ("tests/unit/sched/a_test.cc", '"analysis/slack.h"', True),
    ("bench/a.cc", '"sim/simgrid_engine.h"', True),
    # inside sched
    ("sched/schedule.cc", '"sched/pattern/pattern.h"', False),
    ("sched/verify.cc", '"sched/pass/lower_credits.h"', False),
    ("sched/text.h", '"sched/export/dot.h"', False),
    ("sched/compile.cc", '"sched/pass/lower_credits.h"', True),
    ("sched/import/json.cc", '"sched/export/json.h"', True),
    ("sched/text.cc", '"sched/import/json.h"', False),
    ("sched/compile_file.h", '"sched/export/dot.h"', True),
    ("sched/pattern/chain.h", '"sched/pattern/pattern.h"', True),
    ("sched/pass/x.cc", '"sched/plan.h"', True),
    ("sched/patterns.cc", '"sched/workloads/calls/call.h"', True),
    ("sched/schedule.cc", '"sched/workloads/calls/call.h"', False),
    # folders of a room
    ("sched/workloads/calls/call.cc", '"sched/pattern/pattern.h"', True),
    ("sched/pattern/spec.cc", '"sched/workloads/calls/call.h"', False),
    ("sched/pass/unroll.cc", '"sched/workloads/calls/call.h"', False),
    ("analysis/slack/a.cc", '"analysis/engines/event_engine.h"', True),
    ("analysis/engines/a.cc", '"analysis/slack/critical_path.h"', False),
    ("analysis/fit/a.cc", '"analysis/engines/event_engine.h"', False),
    ("analysis/advice/a.cc", '"analysis/slack/constraint_graph.h"', True),
    # lists
    ("experiments/fig/a.cc", '"experiments/registry.h"', False),
    ("experiments/fig/a.cc", '"experiments/experiment.h"', True),
    ("experiments/registry.cc", '"experiments/registry.h"', True),
    ("cli/a.cc", '"experiments/registry.h"', True),
    # libraries
    ("sim/a.cc", "<simgrid/s4u.hpp>", True),
    ("bench/a.cc", "<simgrid/s4u.hpp>", True),
    ("analysis/a.cc", "<simgrid/s4u.hpp>", False),
    ("cli/a.cc", "<xbt/log.h>", False),
    ("sim/simgrid_version.cc", "<simgrid/kernel/Timer.hpp>", True),
    ("sim/a.cc", "<simgrid/kernel/Timer.hpp>", False),
    ("sim/a.cc", "<simgrid/version.h>", False),
    ("sched/export/json.cc", "<nlohmann/json.hpp>", True),
    ("sched/import/fields.h", "<nlohmann/json.hpp>", True),
    ("sched/text.h", "<nlohmann/json.hpp>", False),
    ("sched/schedule.cc", "<nlohmann/json.hpp>", False),
    ("cli/a.cc", "<CLI/CLI.hpp>", True),
    ("machine/a.cc", "<CLI/CLI.hpp>", False),
    ("machine/a.cc", "<toml++/toml.h>", True),
    ("machine/a.h", "<toml++/toml.h>", False),
    ("cli/a.cc", '"toml++/toml.h"', False),
    ("sched/export/dot.cc", "<boost/graph/graphviz.hpp>", True),
    ("sched/schedule.h", "<boost/graph/graphviz.hpp>", False),
    ("analysis/fit.h", "<Eigen/Dense>", True),
    ("sim/a.cc", "<Eigen/Dense>", False),
    # spelling
    ("machine/a.cc", "<sched/op.h>", False),
    ("sched/pattern/a.cc", '"pattern.h"', False),
    ("sched/a.cc", '"../machine/platform.h"', False),
    ("sched/a.cc", "<vector>", True),
    ("sched/a.cc", "<fmt/format.h>", True),
]


def run(files):
    """The script's exit code and output on a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        (pathlib.Path(root) / "sched").mkdir()
        for path, text in files.items():
            file = pathlib.Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)
        return done.returncode, done.stdout


class CheckIncludes(unittest.TestCase):
    def test_each_case(self):
        for path, header, allowed in CASES:
            with self.subTest(path=path, header=header):
                code, output = run({path: f"#pragma once\n  #  include {header}\n"})
                self.assertEqual(code, 0 if allowed else 1, output)
                self.assertEqual(f"{path}:2: " in output, not allowed, output)

    def test_every_breach_is_printed(self):
        bad = {path: f"#include {header}\n" for path, header, allowed in CASES if not allowed}
        code, output = run(bad)
        self.assertEqual(code, 1)
        for path in bad:
            self.assertIn(f"{path}:1: ", output)
        self.assertIn(f"{len(bad)} breaches", output)

    def test_private_headers_stay_in_their_room(self):
        files = {"sched/export/graph.h": "#include <boost/graph/adjacency_list.hpp>\n",
                 "sched/export/dot.cc": '#include "sched/export/graph.h"\n',
                 "tests/unit/sched/graph_test.cc": '#include "sched/export/graph.h"\n'}
        self.assertEqual(run(files)[0], 0)
        for path in ("sched/export/dot.h", "machine/x.cc", "cli/main.cc"):
            with self.subTest(path=path):
                code, output = run(files | {path: '#include "sched/export/graph.h"\n'})
                self.assertEqual(code, 1)
                self.assertIn(f"{path}:1: ", output)

    def test_headers_on_demand_stay_with_their_users(self):
        files = {"sched/graph.h": "#include <boost/graph/graph_traits.hpp>\n"}
        include = '#include "sched/graph.h"\n'
        self.assertEqual(run(files | {"machine/x.cc": include, "cli/main.cc": include})[0], 0)
        code, output = run(files | {"sched/x.h": include})
        self.assertEqual(code, 1)
        self.assertIn("sched/x.h:1: ", output)

    def test_comments_are_no_includes(self):
        text = '// #include "sim/a.h"\n/* x\n#include "sim/a.h"\n*/\n#include "cli/a.h"\n'
        code, output = run({"sched/a.cc": text})
        self.assertEqual(code, 1)
        self.assertEqual(output.count("sched/a.cc"), 1)
        self.assertIn("sched/a.cc:5: ", output)

    def test_no_sources(self):
        with tempfile.TemporaryDirectory() as root:
            done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("sched/", done.stderr)


if __name__ == "__main__":
    SCRIPT = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
