/* The function that PETSc calls when it loads the plug-in, by the name of the file; output and errors of both types. */
#include "plugin.h"

PetscErrorCode kcl_petsc_code(int status) {
  switch (status) {
  case KCL_USAGE: return PETSC_ERR_USER_INPUT;
  case KCL_INPUT: return PETSC_ERR_ARG_WRONG;
  case KCL_MEMORY: return PETSC_ERR_MEM;
  case KCL_REFUSED: return PETSC_ERR_SUP;
  default: return PETSC_ERR_LIB;
  }
}

PetscErrorCode kcl_petsc_view_solver(kcl_solver *s, kcl_context *c, PetscViewer v) {
  double bytes = 0;
  PetscFunctionBegin;
  KCL_PETSC_CALL(kcl_solver_number(s, "bytes_stored", &bytes));
  PetscCall(PetscViewerASCIIPrintf(v, "  method %s, preconditioner %s, format %s (%.3g MB)\n",
                                   kcl_solver_text(s, "solver"), kcl_solver_text(s, "precond"),
                                   kcl_solver_text(s, "format"), bytes * 1e-6));
  PetscCall(PetscViewerASCIIPrintf(v, "  device %s\n", kcl_context_text(c, "device")));
  PetscFunctionReturn(0);
}

static PetscErrorCode register_types(void) {
  PetscFunctionBegin;
  PetscCall(PCRegister(KCL_PETSC_NAME, kcl_petsc_pc_create));
  PetscCall(KSPRegister(KCL_PETSC_NAME, kcl_petsc_ksp_create));
  PetscFunctionReturn(0);
}

/* PetscDLLibraryRegister_NAME of the file libNAME.so. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petsckrylocl(void) { return register_types(); }
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petsckrylocl_complex(void) {
  return register_types();
}
