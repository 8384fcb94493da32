# Nobody has tried this recipe yet. From the root of a checkout:
#
#   spack repo add packaging/spack
#   spack dev-build slackline@0.1.0
from spack.package import *


class Slackline(CMakePackage):
    """A laboratory for RDMA schedules: compile, prove, simulate, analyse and run them."""

    version("0.1.0")

    license("Apache-2.0")

    variant("simgrid", default=True, description="Simulate by SimGrid, too")
    variant("libfabric", default=True, description="Runs over shared memory and TCP")
    variant("verbs", default=True, description="Runs over RDMA NICs")
    variant("python", default=False, description="The package for Python")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")

    # The libraries that are installed need these, too.
    depends_on("fmt@9:")
    depends_on("tomlplusplus@3:")
    depends_on("libsodium")

    depends_on("boost@1.74: +graph")
    depends_on("nlohmann-json@3.11:")
    depends_on("eigen@3.4:")
    depends_on("cli11@2:")
    depends_on("xxhash@0.8:")
    depends_on("protozero@1.7:")
    depends_on("asio@1.22:")
    depends_on("sqlite@3:")
    depends_on("zlib-api")

    depends_on("simgrid@3.32:", when="+simgrid")
    depends_on("libfabric@1.17: fabrics=shm,tcp,rxm", when="+libfabric")
    depends_on("rdma-core", when="+verbs")

    extends("python", when="+python")
    depends_on("py-pybind11@2.10:", type="build", when="+python")
    depends_on("py-numpy", type=("build", "run"), when="+python")

    # Figures; without it, commands still write numbers.
    depends_on("gnuplot", type="run")

    conflicts("%gcc@:11", msg="needs a compiler with C++20, as g++ 12")

    def cmake_args(self):
        arguments = [
            self.define("SLACKLINE_TESTS", False),
            self.define("SLACKLINE_BENCH", False),
            self.define_from_variant("SLACKLINE_PYTHON", "python"),
        ]
        if self.spec.satisfies("+python"):
            python = self.spec["python"].command.path
            arguments.append(self.define("SLACKLINE_PYTHON_PROGRAM", python))
        return arguments
