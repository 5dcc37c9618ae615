"""A script of petsc4py that knows nothing of krylocl: two systems on a grid, the second with other values. It prints per system
"step K reason R iterations N residual |b - A x| / |b|"."""
import sys
import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

n = 20
A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
ksp = PETSc.KSP().create()
for step in range(2):
    for row in range(*A.getOwnershipRange()):
        i, j = divmod(row, n)
        A[row, row] = 4 + step / 64
        for inside, col in ((i > 0, row - n), (i < n - 1, row + n), (j > 0, row - 1), (j < n - 1, row + 1)):
            if inside:
                A[row, col] = -1
    A.assemble()
    x, b = A.createVecs()
    b.set(1)
    ksp.setOperators(A)
    ksp.setTolerances(rtol=1e-8)
    ksp.setFromOptions()
    ksp.solve(b, x)
    r = b - A * x
    PETSc.Sys.Print(f"step {step} reason {int(ksp.getConvergedReason())} iterations {ksp.getIterationNumber()} residual {r.norm() / b.norm():.3e}")
