# Spack's own packages may lack it. Nobody has tried this recipe yet.
from spack.package import *


class Protozero(CMakePackage):
    """Reads and writes protocol buffers, in headers alone."""

    homepage = "https://github.com/mapbox/protozero"
    git = "https://github.com/mapbox/protozero.git"

    version("1.7.1", tag="v1.7.1")

    license("BSD-2-Clause")

    depends_on("cxx", type="build")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False)]
