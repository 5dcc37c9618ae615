"""A recipe of Spack: spack repo add packaging/spack; spack install krylocl."""
from spack.package import *


class Krylocl(MakefilePackage):
    """Krylov methods on OpenCL: solves large sparse systems on any OpenCL device or on the CPU."""

    homepage = "https://example.org/krylocl"
    license("BSD-3-Clause")
    # The tree that this recipe is part of: spack install krylocl@main, after spack develop --path TREE krylocl@main
    version("main")

    variant("opencl", default=True, description="OpenCL devices")
    variant("mpi", default=False, description="several ranks")
    variant("direct", default=True, description="direct solutions for --check (GPL)")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cjson")
    depends_on("libdeflate")
    depends_on("opencl-c-headers", when="+opencl")
    depends_on("ocl-icd", when="+opencl", type=("link", "run"))
    depends_on("mpi", when="+mpi")
    depends_on("metis", when="+mpi")
    depends_on("suite-sparse", when="+direct")

    def settings(self, prefix):
        words = [f"PREFIX={prefix}", "ARCH=", "LEVELS="]  # Spack's compiler wrapper adds the flags of its target
        words += [] if "+opencl" in self.spec else ["HAVE_OPENCL="]
        words += [] if "+mpi" in self.spec else ["HAVE_MPI="]
        words += [] if "+direct" in self.spec else ["GPL=no"]
        return words

    def build(self, spec, prefix):
        make(*self.settings(prefix))

    def install(self, spec, prefix):
        make("install", *self.settings(prefix))
