"""What docs/versions.md promises: files of every version are read for ever, and newer ones are refused.

tests/data/versions has one file of each version of each format, made by the program that had it. Whoever
raises a version adds the file of the new one, and leaves the others as they are.
"""

import json
import pathlib
import re
import shutil
import unittest

from program_case import ProgramCase, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ROOT / "tests/data/versions"
ROOMS = ("base", "sched", "machine", "analysis", "sim", "engines", "offload", "hw", "report", "sweep", "cli",
         "experiments", "python")
CONSTANT = re.compile(r"constexpr (?:int|std::uint32_t) (k\w*(?:Schema|Version|Format)) = (\d+);")

# What holds each version, and how the file of version N is called. None: no file of the user's.
FORMATS = {
    "kTextVersion": "schedule_text.{}",
    "kJsonSchema": "schedule_json.{}",
    "kTraceSchema": "trace.{}",
    "kPlatformSchema": "platform.{}.toml",
    "kDelayPlanSchema": "delays.{}.toml",
    "kWorkloadSchema": "workload.{}.toml",
    "kStudySchema": "study.{}.toml",
    "kModelVersion": "results.{}.sqlite",
    "kSlackVersion": None,  # of a point's slack in results: older answers are not found, and made anew
    "kQueueTextVersion": "queues.{}",
    "kOutputSchema": "answers.{}.json",
    "kDigestVersion": "schedule_text.{}",  # which has its digest
    "kFormat": None,  # of a report's page, which nothing of ours reads
    "kSchema": None,  # of the experiments' facts, which stand in this repository
}

ALLREDUCE, ALLREDUCE_DIGEST = "allreduce:ranks=3,bytes=1000,by=ring", "c4abf010e412e7876cdcbe84013d398b"
CHAIN, CHAIN_DIGEST = "chain:ranks=3,bytes=64KiB,block=32KiB", "df4e25d828c45142c1206fc1707799dd"
PLATFORM = str(FILES / "platform.1.toml")
# Answers whose keys other programs rely on.
ANSWERS = {
    "compile": ["compile", CHAIN],
    "check": ["check", CHAIN],
    "simulate": ["simulate", CHAIN, "-p", PLATFORM, "--engine", "event"],
    "samples": ["simulate", CHAIN, "-p", PLATFORM, "--engine", "event", "--noise", "exponential,mean=2us",
                "--samples", "3"],
    "workload": ["simulate", "--workload", str(FILES / "workload.1.toml"), "-p", PLATFORM, "--engine", "event"],
    "slack": ["slack", CHAIN, "-p", PLATFORM, "--engine", "event", "--tolerance", "latency"],
    "compare": ["compare", str(FILES / "trace.1"), str(FILES / "trace.1")],
    "advise": ["advise", "--ranks", "3", "--bytes", "64KiB", "-p", PLATFORM, "--confirm", "1"],
    "offload": ["offload", CHAIN],
    "sweep": ["sweep", str(FILES / "study.1.toml"), "-o", "study"],
}


def versions():
    """Each constant that holds a version, with its value."""
    found = {}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*"):
            if path.suffix in (".h", ".cc"):
                found |= dict(CONSTANT.findall(path.read_text(encoding="utf-8")))
    return {name: int(value) for name, value in found.items()}


def files_of(constant):
    """The path of each version's file."""
    return [FILES / FORMATS[constant].format(version)
            for version in range(1, versions()[constant] + 1)]


def lacks(old, new, place="answer"):
    """The keys that a document had and has no more, or with another type of value."""
    if isinstance(old, dict):
        if not isinstance(new, dict):
            return [place]
        return [key for name in old for key in
                (lacks(old[name], new[name], f"{place}.{name}") if name in new else [f"{place}.{name}"])]
    if isinstance(old, list):
        if not isinstance(new, list):
            return [place]
        return lacks(old[0], new[0], f"{place}[0]") if old and new else []
    numbers = (int, float)
    if isinstance(old, numbers) and isinstance(new, numbers):
        return [] if isinstance(old, bool) == isinstance(new, bool) else [place]
    return [] if old is None or new is None or type(old) is type(new) else [place]


class Versions(ProgramCase):
    def test_each_version_is_known_and_has_its_files(self):
        self.assertEqual(set(versions()), set(FORMATS),
                         "name in this test's FORMATS what holds a version, and how its files are called")
        for constant, form in FORMATS.items():
            for path in files_of(constant) if form else []:
                self.assertTrue(path.is_file(), f"{constant}: there is no {path.relative_to(ROOT)}: "
                                "add one that the program of that version has made")

    def test_schedules(self):
        for path in files_of("kTextVersion") + files_of("kJsonSchema"):
            with self.subTest(path=path.name):
                self.assertEqual(self.document("check", path)["digest"], ALLREDUCE_DIGEST)

    def test_traces(self):
        self.compiled(CHAIN, "c.slackline")
        for path in files_of("kTraceSchema"):
            with self.subTest(path=path.name):
                self.assertEqual(self.document("compare", path, path)["digest"], CHAIN_DIGEST)
                self.good("convert", path, "--to", "svg", "-o", "a.svg")
                self.good("report", path, "-o", "a.html")
                slack = self.document("slack", "c.slackline", "--trace", path)
                self.assertAlmostEqual(slack["makespan_s"], 9.19052e-05, 12)

    def test_platforms_and_delay_plans(self):
        for platform in files_of("kPlatformSchema"):
            for plan in files_of("kDelayPlanSchema"):
                with self.subTest(platform=platform.name, plan=plan.name):
                    run = self.document("simulate", ALLREDUCE, "-p", platform, "--delays", plan,
                                        "--engine", "event")
                    self.assertAlmostEqual(run["makespan_s"], 0.000115569625, 12)
                    self.assertEqual(run["platform"], "two racks")

    def test_workloads(self):
        for path in files_of("kWorkloadSchema"):
            with self.subTest(path=path.name):
                run = self.document("simulate", "--workload", path, "-p", PLATFORM, "--engine", "event")
                self.assertAlmostEqual(run["makespan_s"], 0.000262088, 9)

    def test_studies_and_what_they_came_to(self):
        latest = files_of("kModelVersion")[-1]
        for path in files_of("kStudySchema"):
            with self.subTest(path=path.name):
                folder = self.folder / path.stem
                folder.mkdir()
                shutil.copy(latest, folder / "part-0.sqlite")
                swept = self.document("sweep", path, "-o", folder, "--csv", "rows.csv")
                self.assertEqual((swept["points"], swept["answered"], swept["answered_now"]), (3, 3, 0))
                self.assertIn(",2,0.0008478608", self.read("rows.csv"))

    def test_queues(self):
        for path in files_of("kQueueTextVersion"):
            with self.subTest(path=path.name):
                self.assertIn("a06a17e5f284ba949d30a8daa277ceda",
                              self.good("offload", path, "--schedule", CHAIN))

    def test_answers_have_the_keys_that_they_had(self):
        old = json.loads(files_of("kOutputSchema")[-1].read_text(encoding="utf-8"))
        self.assertEqual(set(old), set(ANSWERS))
        for name, command in ANSWERS.items():
            with self.subTest(answer=name):
                self.assertEqual(lacks(old[name], self.document(*command)), [])

    def test_what_lacks_is_found(self):
        old = {"a": 1, "b": [{"c": "x"}], "d": None, "e": True}
        self.assertEqual(lacks(old, {"a": 2.5, "b": [{"c": "y", "f": 0}], "d": 3, "e": False, "g": 1}), [])
        self.assertEqual(lacks(old, {"a": "1", "b": [{}], "d": 3, "e": 1}),
                         ["answer.a", "answer.b[0].c", "answer.e"])

    def test_newer_files_are_refused_by_both_versions(self):
        readers = {
            "kTextVersion": (r"(?<=slackline schedule )\d+", ["check", "f"]),
            "kJsonSchema": (r'(?<="schema": )\d+', ["check", "f"]),
            "kTraceSchema": (r'(?<="schema": )\d+', ["compare", "f", "f"]),
            "kPlatformSchema": (r"(?<=schema = )\d+", ["simulate", CHAIN, "-p", "./f"]),
            "kDelayPlanSchema": (r"(?<=schema = )\d+", ["simulate", CHAIN, "--delays", "f"]),
            "kWorkloadSchema": (r"(?<=schema = )\d+", ["simulate", "--workload", "f"]),
            "kStudySchema": (r"(?<=schema = )\d+", ["sweep", "f", "-o", "s"]),
            "kQueueTextVersion": (r"(?<=slackline queues )\d+", ["offload", "f", "--schedule", CHAIN]),
        }
        for constant, (where, command) in readers.items():
            newest = versions()[constant]
            text, changed = re.subn(where, str(newest + 1),
                                    files_of(constant)[-1].read_text(encoding="utf-8"), count=1)
            self.write("f", text)
            with self.subTest(constant=constant):
                self.assertEqual(changed, 1)
                error = self.bad(*command)
                self.assertRegex(error, rf"\b{newest + 1}\b")
                self.assertRegex(error, rf"\b{newest}\b")

    def test_what_names_no_schema_has_the_first(self):
        for constant, command in (("kPlatformSchema", ["simulate", CHAIN, "-p", "./f"]),
                                  ("kDelayPlanSchema", ["simulate", ALLREDUCE, "--delays", "f"]),
                                  ("kWorkloadSchema", ["simulate", "--workload", "f"])):
            with self.subTest(constant=constant):
                text = files_of(constant)[0].read_text(encoding="utf-8")
                self.write("f", text)
                named = self.good(*command)
                self.write("f", text.replace("schema = 1\n", "# none\n"))
                self.assertEqual(self.good(*command), named)

    def test_the_changelog_has_this_version_first(self):
        changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        number = self.good("--version").split()[1]
        self.assertEqual(re.findall(r"^## \[(.+?)\]", changelog, re.M)[0], number)

    def test_the_page_names_every_format(self):
        page = (ROOT / "docs/versions.md").read_text(encoding="utf-8")
        for word in ("schedules as text", "as JSON", "traces", "platform files", "delay plans", "workloads",
                     "studies", "the digest", "--json", "`model`", "queue programs"):
            self.assertIn(word, page)


if __name__ == "__main__":
    main()
