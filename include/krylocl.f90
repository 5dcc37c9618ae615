! krylocl for Fortran 2008: the interface of krylocl.h over ISO_C_BINDING. Compile this file with the program and link with libkrylocl.
!
! Handles are type(c_ptr), c_null_ptr before they are created; a function returns a kcl_status, 0 on success, and kcl_message() is
! the message of a failure. Arguments are those of C, documented in krylocl.h: handles to be created or freed by reference, texts
! as Fortran strings. Arrays get target and c_loc. Every function has the name of C.
module krylocl
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: KCL_OK = 0, KCL_USAGE = 2, KCL_INPUT = 3, KCL_DEVICE = 4, KCL_MEMORY = 5, KCL_BUSY = 8, &
                               KCL_REFUSED = 9, KCL_CHANGED = 10
  integer(c_int32_t), parameter :: KCL_GENERAL = 0, KCL_SYMMETRIC = 1, KCL_SKEW = 2, KCL_HERMITIAN = 3
  integer(c_int32_t), parameter :: KCL_CSR = 1, KCL_CSC = 2, KCL_COO = 3, KCL_LOWER = 1, KCL_UPPER = 2
  integer(c_int32_t), parameter :: KCL_HOST = 0, KCL_OPENCL = 1
  integer(c_int), parameter :: KCL_KEEP_NOTHING = 0, KCL_KEEP_CHOICES = 1, KCL_KEEP_HIERARCHY = 2, KCL_KEEP_PRECOND = 3
  integer(c_int), parameter :: KCL_SHELL_HERMITIAN = 1, KCL_SHELL_POSITIVE = 2, KCL_SHELL_ADJOINT = 4
  integer(c_int), parameter :: KCL_PRECOND_HERMITIAN = 1, KCL_PRECOND_ADJOINT = 2, KCL_PRECOND_VARIES = 4
  integer(c_int32_t), parameter :: KCL_CERTIFY_DEFAULT = 0, KCL_CERTIFY_FULL = 1, KCL_CERTIFY_RESIDUALS = 2, KCL_CERTIFY_NOTHING = 3
  ! Values of `type`: the letters s, d, c, z of real(c_float), real(c_double) and their complex types.
  integer(c_int32_t), parameter :: KCL_S = iachar('s'), KCL_D = iachar('d'), KCL_C = iachar('c'), KCL_Z = iachar('z')

  ! A matrix in arrays of the program. The defaults are those of Fortran programs: 32-bit indices from 1, compressed rows, double.
  type, bind(C) :: kcl_entries
    integer(c_size_t) :: size = 96
    integer(c_int64_t) :: rows = 0, cols = 0, nnz = 0
    type(c_ptr) :: row = c_null_ptr, col = c_null_ptr, val = c_null_ptr
    integer(c_int32_t) :: layout = KCL_CSR, row_bits = 32, col_bits = 32, base = 1, type = KCL_D
    integer(c_int32_t) :: symmetry = 0, half = 0, borrow = 0, block = 0
  end type

  ! Columns of numbers; zero is the default of each field, data is needed.
  type, bind(C) :: kcl_vectors
    integer(c_size_t) :: size = 64
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: offset = 0, rows = 0, cols = 0, ld = 0, inc = 0
    integer(c_int32_t) :: type = 0, place = KCL_HOST
  end type

  ! State of a running solve, for a progress function. x: c_null_ptr, or the solution so far where kcl_call has `every`.
  type, bind(C) :: kcl_progress
    integer(c_int64_t) :: iteration, max_iter
    real(c_double) :: relative_residual, target, seconds
    integer(c_int) :: running
    type(c_ptr) :: x
  end type

  ! Settings of one solve; progress: c_funloc of a kcl_progress_function.
  type, bind(C) :: kcl_call
    integer(c_size_t) :: size = 64
    real(c_double) :: tol = 0, atol = 0
    integer(c_int64_t) :: max_iter = 0
    integer(c_int32_t) :: zero_guess = 0, certify = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: user = c_null_ptr
    integer(c_int64_t) :: every = 0
  end type

  ! Result of a solve, for one right-hand side.
  type, bind(C) :: kcl_result
    integer(c_size_t) :: size = 56
    integer(c_int64_t) :: iterations = 0
    integer(c_int32_t) :: reason = 0, converged = 0
    real(c_double) :: relative_residual = 0, true_relative_residual = 0, backward_error = 0, seconds = 0
  end type

  ! y = A x, or z = M^-1 r, of this program: a bind(C) function; c_f_pointer makes arrays of x%data and y%data, [x%rows] and [y%rows].
  abstract interface
    integer(c_int) function kcl_apply_function(user, adjoint, x, y, queue) bind(C)
      import :: c_int, c_ptr, kcl_vectors
      type(c_ptr), value :: user, queue
      integer(c_int), value :: adjoint
      type(kcl_vectors), intent(in) :: x
      type(kcl_vectors), intent(inout) :: y
    end function
    ! Not 0 stops the solve.
    integer(c_int) function kcl_progress_function(user, p) bind(C)
      import :: c_int, c_ptr, kcl_progress
      type(c_ptr), value :: user
      type(kcl_progress), intent(in) :: p
    end function
  end interface

  interface
    integer(c_int) function kcl_options_create(o) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: o
    end function
    subroutine kcl_options_free(o) bind(C)
      import :: c_ptr
      type(c_ptr), intent(inout) :: o
    end subroutine
    subroutine kcl_context_free(c) bind(C)
      import :: c_ptr
      type(c_ptr), intent(inout) :: c
    end subroutine
    integer(c_int) function kcl_matrix_create(c, entries, A) bind(C)
      import :: c_int, c_ptr, kcl_entries
      type(c_ptr), value :: c
      type(kcl_entries), intent(in) :: entries
      type(c_ptr), intent(out) :: A
    end function
    ! user: c_loc of what apply needs, or c_null_ptr; properties: the sum of KCL_SHELL_...
    integer(c_int) function kcl_matrix_create_shell(c, rows, cols, type, apply, user, place, properties, A) bind(C)
      import :: c_int, c_int64_t, c_ptr, kcl_apply_function
      type(c_ptr), value :: c, user
      integer(c_int64_t), value :: rows, cols
      integer(c_int), value :: type, place, properties
      procedure(kcl_apply_function) :: apply
      type(c_ptr), intent(out) :: A
    end function
    integer(c_int) function kcl_matrix_update(A, entries) bind(C)
      import :: c_int, c_ptr, kcl_entries
      type(c_ptr), value :: A
      type(kcl_entries), intent(in) :: entries
    end function
    ! alpha, beta: c_loc of a number of the matrix's type, or c_null_ptr: 1 and 0
    integer(c_int) function kcl_matrix_apply(A, adjoint, alpha, x, beta, y) bind(C)
      import :: c_int, c_ptr, kcl_vectors
      type(c_ptr), value :: A, alpha, beta
      integer(c_int), value :: adjoint
      type(kcl_vectors), intent(in) :: x
      type(kcl_vectors), intent(inout) :: y
    end function
    subroutine kcl_matrix_free(A) bind(C)
      import :: c_ptr
      type(c_ptr), intent(inout) :: A
    end subroutine
    ! o: options or c_null_ptr
    integer(c_int) function kcl_precond_create(A, o, M) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: A, o
      type(c_ptr), intent(out) :: M
    end function
    ! user, properties: as above, of KCL_PRECOND_...
    integer(c_int) function kcl_precond_create_shell(c, rows, type, apply, user, place, properties, M) bind(C)
      import :: c_int, c_int64_t, c_ptr, kcl_apply_function
      type(c_ptr), value :: c, user
      integer(c_int64_t), value :: rows
      integer(c_int), value :: type, place, properties
      procedure(kcl_apply_function) :: apply
      type(c_ptr), intent(out) :: M
    end function
    subroutine kcl_precond_free(M) bind(C)
      import :: c_ptr
      type(c_ptr), intent(inout) :: M
    end subroutine
    ! M, o: a preconditioner and options, or c_null_ptr
    integer(c_int) function kcl_solver_create(A, M, o, s) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: A, M, o
      type(c_ptr), intent(out) :: s
    end function
    integer(c_int) function kcl_solver_update(s, A, keep) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: s, A
      integer(c_int), value :: keep
    end function
    subroutine kcl_solver_free(s) bind(C)
      import :: c_ptr
      type(c_ptr), intent(inout) :: s
    end subroutine
    ! results: one per column of b
    integer(c_int) function kcl_solve(s, b, x, call, results) bind(C)
      import :: c_int, c_ptr, kcl_vectors, kcl_call, kcl_result
      type(c_ptr), value :: s
      type(kcl_vectors), intent(in) :: b
      type(kcl_vectors), intent(inout) :: x
      type(kcl_call), intent(in) :: call
      type(kcl_result), intent(inout) :: results(*)
    end function
    ! b, x: c_loc of arrays of the matrix's type; x: initial guess, then solution
    integer(c_int) function kcl_solve_array(s, b, x, result) bind(C)
      import :: c_int, c_ptr, kcl_result
      type(c_ptr), value :: s, b, x
      type(kcl_result), intent(inout) :: result
    end function
    subroutine kcl_solver_stop(s) bind(C)
      import :: c_ptr
      type(c_ptr), value :: s
    end subroutine
    subroutine kcl_solver_save(s) bind(C)
      import :: c_ptr
      type(c_ptr), value :: s
    end subroutine
  end interface

  ! C functions that take or return texts; for the functions below, which have those of Fortran.
  interface
    integer(c_int) function c_context_create(device, threads, c) bind(C, name="kcl_context_create")
      import :: c_int, c_ptr
      type(c_ptr), value :: device
      integer(c_int), value :: threads
      type(c_ptr), intent(out) :: c
    end function
    integer(c_int) function c_options_set(o, name, value) bind(C, name="kcl_options_set")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: o
      character(kind=c_char), intent(in) :: name(*), value(*)
    end function
    integer(c_int) function c_options_parse(o, text) bind(C, name="kcl_options_parse")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: o
      character(kind=c_char), intent(in) :: text(*)
    end function
    integer(c_int) function c_matrix_number(A, name, value) bind(C, name="kcl_matrix_number")
      import :: c_int, c_ptr, c_char, c_double
      type(c_ptr), value :: A
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: value
    end function
    integer(c_int) function c_solver_number(s, name, value) bind(C, name="kcl_solver_number")
      import :: c_int, c_ptr, c_char, c_double
      type(c_ptr), value :: s
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: value
    end function
    type(c_ptr) function c_solver_text(s, name) bind(C, name="kcl_solver_text")
      import :: c_ptr, c_char
      type(c_ptr), value :: s
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_solver_checkpoint(s, path, seconds) bind(C, name="kcl_solver_checkpoint")
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: s, path
      real(c_double), value :: seconds
    end function
    integer(c_int) function c_solver_resume(s, path) bind(C, name="kcl_solver_resume")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: s
      character(kind=c_char), intent(in) :: path(*)
    end function
    type(c_ptr) function c_reason_text(reason) bind(C, name="kcl_reason_text")
      import :: c_ptr, c_int
      integer(c_int), value :: reason
    end function
    type(c_ptr) function c_error() bind(C, name="kcl_error")
      import :: c_ptr
    end function
    integer(c_size_t) function c_length(text) bind(C, name="strlen")
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
  end interface
  private :: string

contains

  ! device: a name, or "" for $KRYLOCL_DEVICE; threads: 0 for all.
  integer(c_int) function kcl_context_create(device, threads, c) result(status)
    character(*), intent(in) :: device
    integer, intent(in) :: threads
    type(c_ptr), intent(out) :: c
    character(kind=c_char), target :: name(len(device) + 1)
    name = transfer(device//c_null_char, name)
    status = c_context_create(merge(c_loc(name), c_null_ptr, len(device) > 0), int(threads, c_int), c)
  end function

  integer(c_int) function kcl_options_set(o, name, value) result(status)
    type(c_ptr), intent(in) :: o
    character(*), intent(in) :: name, value
    status = c_options_set(o, name//c_null_char, value//c_null_char)
  end function

  integer(c_int) function kcl_options_parse(o, text) result(status)
    type(c_ptr), intent(in) :: o
    character(*), intent(in) :: text
    status = c_options_parse(o, text//c_null_char)
  end function

  integer(c_int) function kcl_matrix_number(A, name, value) result(status)
    type(c_ptr), intent(in) :: A
    character(*), intent(in) :: name
    real(c_double), intent(out) :: value
    status = c_matrix_number(A, name//c_null_char, value)
  end function

  integer(c_int) function kcl_solver_number(s, name, value) result(status)
    type(c_ptr), intent(in) :: s
    character(*), intent(in) :: name
    real(c_double), intent(out) :: value
    status = c_solver_number(s, name//c_null_char, value)
  end function

  function kcl_solver_text(s, name) result(text)
    type(c_ptr), intent(in) :: s
    character(*), intent(in) :: name
    character(:), allocatable :: text
    text = string(c_solver_text(s, name//c_null_char))
  end function

  ! path: "" for no more checkpoints.
  integer(c_int) function kcl_solver_checkpoint(s, path, seconds) result(status)
    type(c_ptr), intent(in) :: s
    character(*), intent(in) :: path
    real(c_double), intent(in) :: seconds
    character(kind=c_char), target :: name(len(path) + 1)
    name = transfer(path//c_null_char, name)
    status = c_solver_checkpoint(s, merge(c_loc(name), c_null_ptr, len(path) > 0), seconds)
  end function

  integer(c_int) function kcl_solver_resume(s, path) result(status)
    type(c_ptr), intent(in) :: s
    character(*), intent(in) :: path
    status = c_solver_resume(s, path//c_null_char)
  end function

  function kcl_reason_text(reason) result(text)
    integer(c_int32_t), intent(in) :: reason
    character(:), allocatable :: text
    text = string(c_reason_text(int(reason, c_int)))
  end function

  ! Message of the last failure in this thread: kcl_error of C.
  function kcl_message() result(text)
    character(:), allocatable :: text
    text = string(c_error())
  end function

  function string(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: copy
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(text, letters, [c_length(text)])
    allocate (character(size(letters)) :: copy)
    do i = 1, size(letters)
      copy(i:i) = letters(i)
    end do
  end function
end module
