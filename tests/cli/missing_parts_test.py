"""Each part that the program can do without is named where it is missing, with the Debian package that
has it."""

import os

from program_case import CHAIN, ProgramCase, main

NETWORK = "star:rate=1Gbps"
STUDY = 'schedule = "chain:ranks={ranks},bytes=1MiB"\n[values]\nranks = [2, 3]\n'
# What mpirun of Open MPI tells a rank.
OPEN_MPI = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
            "PMIX_RANK": "0", "PMIX_NAMESPACE": "job", "PMIX_SERVER_URI2": "none"}


class MissingParts(ProgramCase):
    def without(self, code, package, *arguments, **environment):
        done = self.run_program(*arguments, environment={**os.environ, **environment})
        self.assertEqual((done.code, done.out), (code, ""), done)
        self.assertRegex(done.err, rf"^slackline: [^\n]*\(Debian: {package}\)[^\n]*\n$")

    def test_programs(self):
        self.good("simulate", CHAIN, "--trace", "t")
        self.write("hosts", "".join(f"node{i} slots=1\n" for i in range(3)))
        self.write("study.toml", STUDY)
        for package, *arguments in (
                ("gnuplot-nox", "slack", CHAIN, "--heat-map", "x.svg"),
                ("gnuplot-nox", "validate", CHAIN, "--plot", "x.svg"),
                ("gnuplot-nox", "sweep", "study.toml", "-o", "study", "--plot", "x.svg", "--axes",
                 "ranks,mean_s"),
                ("openssh-client", "run", CHAIN, "--transport", "tcp", "--hosts", "hosts"),
                ("qemu-system-x86", "testbed", NETWORK, "--hosts", "3", "--guests", ".", "--", "run", CHAIN),
                ("slurm-client", "sweep", "study.toml", "-o", "s", "--submit", "slurm", "--shards", "2"),
                ("xdg-utils", "view", "t")):
            with self.subTest(arguments):
                self.without(3, package, *arguments, PATH="", TMPDIR=str(self.folder))
                self.assertNotIn("x.svg", self.files())

    def hidden(self, library):
        """A folder where the loader finds something else under the library's name."""
        folder = self.folder / "hidden"
        folder.mkdir(exist_ok=True)
        (folder / library).touch()
        return str(folder)

    def test_libraries(self):
        # Whether it is built with libfabric, or without.
        fabric = "(libfabric1|libfabric-dev)"
        for transport in ("shm", "tcp"):
            self.without(3, fabric, "run", CHAIN, "--transport", transport,
                         LD_LIBRARY_PATH=self.hidden("libfabric.so.1"))
        # PMIx is not the only way for ranks to meet.
        self.without(2, r"libpmix2\)\)?|Debian: libfabric-dev", "run", CHAIN, "--transport", "tcp",
                     LD_LIBRARY_PATH=self.hidden("libpmix.so.2"), **OPEN_MPI)


if __name__ == "__main__":
    main()
