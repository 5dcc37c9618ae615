! Through the module: sizes of structs as in C, Poisson in 1-based arrays on a device, tolerances, new values, columns, messages.
program solve
  use operators
  implicit none
  interface
    integer(c_size_t) function size_in_c(which) bind(C)
      import :: c_size_t, c_int
      integer(c_int), value :: which
    end function
  end interface
  integer, parameter :: m = 30, n = m*m
  integer(c_int32_t), target :: row(n + 1), col(5*n)
  integer(c_int64_t), target :: row0(n + 1)
  real(c_double), target :: val(5*n), b(n, 2), x(n, 2), y(n)
  complex(c_double), target :: zval(5*n), zb(n), zx(n)
  type(c_ptr) :: c, A, o, s, M1
  type(kcl_entries) :: entries, wrong
  type(kcl_vectors) :: vb, vx, vy
  type(kcl_call) :: settings
  type(kcl_result) :: r, loose, results(2)
  type(kcl_progress) :: state
  real(c_double) :: number
  integer :: i, k, passed = 0, failed = 0
  character(80) :: device
  character(1000) :: file ! of checkpoints

  call get_command_argument(1, device)
  call get_command_argument(2, file)
  call verify(size_in_c(0) == storage_size(entries)/8 .and. size_in_c(0) == entries%size, "size of kcl_entries")
  call verify(size_in_c(1) == storage_size(vb)/8 .and. size_in_c(1) == vb%size, "size of kcl_vectors")
  call verify(size_in_c(2) == storage_size(settings)/8 .and. size_in_c(2) == settings%size, "size of kcl_call")
  call verify(size_in_c(3) == storage_size(r)/8 .and. size_in_c(3) == r%size, "size of kcl_result")
  call verify(size_in_c(4) == storage_size(state)/8, "size of kcl_progress")

  k = 0
  do i = 1, n
    row(i) = k + 1
    if (i > m) call put(i - m, -1d0)
    if (mod(i, m) /= 1) call put(i - 1, -1d0)
    call put(i, 4d0)
    if (mod(i, m) /= 0) call put(i + 1, -1d0)
    if (i <= n - m) call put(i + m, -1d0)
  end do
  row(n + 1) = k + 1
  entries = kcl_entries(rows=n, cols=n, nnz=k, row=c_loc(row), col=c_loc(col), val=c_loc(val))
  b(:, 1) = 1
  b(:, 2) = [(modulo(i, 7), i=1, n)]
  x = 0

  call verify(kcl_context_create(trim(device), 0, c) == KCL_OK, "a context")
  call verify(kcl_options_create(o) == KCL_OK, "options")
  call verify(kcl_options_parse(o, "solver=cg precond=jacobi") == KCL_OK, "options")
  call verify(kcl_options_set(o, "tol", "1e-9") == KCL_OK, "an option")
  call verify(kcl_options_set(o, "solver", "cgx") == KCL_USAGE, "a message")
  call verify(index(kcl_message(), "did you mean cg") > 0, "a message")
  call verify(kcl_matrix_create(c, entries, A) == KCL_OK, "a matrix")
  call verify(kcl_matrix_number(A, "nnz", number) == KCL_OK, "a number of the matrix")
  call verify(number == k, "a number of the matrix")
  call verify(kcl_solver_create(A, c_null_ptr, o, s) == KCL_OK, "a solver")
  call verify(kcl_solve_array(s, c_loc(b), c_loc(x), r) == KCL_OK, "a solve")
  call verify(r%converged == 1, "a solve")
  call verify(residual(1) <= 1d-9 .and. r%iterations > 10, "the residual")
  call verify(kcl_solver_text(s, "solver") == "cg" .and. kcl_solver_text(s, "precond") == "jacobi", "texts")
  call verify(kcl_solver_number(s, "bytes_stored", number) == KCL_OK, "a number")
  call verify(number > 0, "a number")
  call verify(kcl_solver_number(s, "nosuch", number) == KCL_USAGE, "no such number")
  call verify(index(kcl_message(), "nosuch") > 0, "no such number")
  call verify(kcl_reason_text(r%reason) == "converged", "a reason")

  vb = kcl_vectors(data=c_loc(b), rows=n, cols=2)
  vx = kcl_vectors(data=c_loc(x), rows=n, cols=2)
  settings = kcl_call(zero_guess=1, tol=1d-3)
  call verify(kcl_solve(s, vb, vx, settings, results) == KCL_OK, "two columns")
  call verify(all(results%converged == 1), "two columns")
  loose = results(1)
  call verify(residual(1) <= 1d-3 .and. residual(2) <= 1d-3 .and. loose%iterations < r%iterations, "a tolerance of one solve")

  vx%cols = 1
  vy = kcl_vectors(data=c_loc(y))
  call verify(kcl_matrix_apply(A, 0_c_int, c_null_ptr, vx, c_null_ptr, vy) == KCL_OK, "a product")
  call verify(norm2(y - b(:, 1)) <= 1d-3*norm2(b(:, 1)), "its numbers")

  val(:k) = 3*val(:k)
  call verify(kcl_matrix_update(A, entries) == KCL_OK, "new values")
  call verify(kcl_solver_update(s, A, KCL_KEEP_CHOICES) == KCL_OK, "new values")
  call verify(kcl_solve_array(s, c_loc(b), c_loc(x), r) == KCL_OK, "a solve with them")
  call verify(residual(1) <= 1d-9, "a solve with them")
  wrong = entries
  wrong%nnz = k - 1
  call verify(kcl_matrix_update(A, wrong) == KCL_USAGE, "another pattern")
  call verify(len(kcl_message()) > 10, "another pattern")
  call verify(kcl_precond_create(A, o, M1) == KCL_OK, "a preconditioner")
  call kcl_solver_free(s)
  call verify(.not. c_associated(s), "a solver with it")
  call verify(kcl_solver_create(A, M1, o, s) == KCL_OK, "a solver with it")
  x = 0
  call verify(kcl_solve_array(s, c_loc(b), c_loc(x), r) == KCL_OK, "its solve")
  call verify(residual(1) <= 1d-9, "its solve")
  call kcl_precond_free(M1)
  call kcl_solver_free(s)
  call kcl_matrix_free(A)

  row0 = row - 1 ! complex, 64-bit starts, from 0
  col = col - 1
  zval(:k) = val(:k)
  zb = (1d0, 2d0)
  zx = 0
  entries = kcl_entries(rows=n, cols=n, nnz=k, row=c_loc(row0), col=c_loc(col), val=c_loc(zval), row_bits=64, base=0, type=KCL_Z)
  call verify(kcl_matrix_create(c, entries, A) == KCL_OK, "a complex matrix")
  call verify(kcl_solver_create(A, c_null_ptr, o, s) == KCL_OK, "a complex matrix")
  call verify(kcl_solve_array(s, c_loc(zb), c_loc(zx), r) == KCL_OK, "a complex solve")
  call verify(r%converged == 1, "a complex solve")
  call verify(norm2(abs(zx - (1d0, 2d0)*x(:, 1))) <= 1d-5*norm2(x(:, 1)), "its solution")
  call kcl_solver_free(s)
  call kcl_matrix_free(A)
  call kcl_options_free(o)
  call solve_functions
  call solve_again(stop_early, "a solve that is stopped")
  call solve_again(save_early, "a solve that is saved")
  call kcl_context_free(c)
  print '(i0,a,i0,a)', passed, ' passed, ', failed, ' failed, 0 skipped'
  if (failed > 0) stop 1

contains
  ! A solve whose progress function has a checkpoint written; another solver goes on from it to the bits of a whole solve.
  subroutine solve_again(progress, what)
    procedure(kcl_progress_function) :: progress
    character(*), intent(in) :: what
    logical :: there
    entries = kcl_entries(rows=n, cols=n, nnz=k, row=c_loc(row), col=c_loc(col), val=c_loc(val), base=0)
    row = int(row0)
    call verify(kcl_matrix_create(c, entries, A) == KCL_OK, what)
    call verify(kcl_options_create(o) == KCL_OK .and. kcl_options_parse(o, "solver=cg format=ell") == KCL_OK, what)
    call verify(kcl_solver_create(A, c_null_ptr, o, s) == KCL_OK, what)
    x = 0
    call verify(kcl_solve_array(s, c_loc(b), c_loc(x), r) == KCL_OK, what)
    call verify(kcl_solver_checkpoint(s, trim(file), 1d6) == KCL_OK, what)
    x(:, 2) = 0
    vb = kcl_vectors(data=c_loc(b))
    vx = kcl_vectors(data=c_loc(x(:, 2)))
    settings = kcl_call(progress=c_funloc(progress), user=s)
    call verify(kcl_solve(s, vb, vx, settings, results) == KCL_OK, what)
    call kcl_solver_free(s)
    call verify(kcl_solver_create(A, c_null_ptr, o, s) == KCL_OK, what)
    call verify(kcl_solver_resume(s, trim(file)) == KCL_OK, what)
    x(:, 2) = 0
    call verify(kcl_solve_array(s, c_loc(b), c_loc(x(:, 2)), loose) == KCL_OK, what)
    call verify(loose%iterations == r%iterations .and. all(x(:, 1) == x(:, 2)), what)
    call verify(kcl_solver_number(s, "resumed_at", number) == KCL_OK .and. number > 0, what)
    call verify(kcl_solver_checkpoint(s, "", 0d0) == KCL_OK, "no more checkpoints")
    call verify(kcl_solver_checkpoint(s, trim(file), -1d0) == KCL_USAGE, "seconds below 0")
    call verify(kcl_solver_resume(s, "nosuch.kck") == KCL_INPUT, "no such checkpoint")
    call kcl_solver_free(s)
    call kcl_options_free(o)
    call kcl_matrix_free(A)
    inquire (file=file, exist=there)
    call verify(there, what)
    open (newunit=i, file=file)
    close (i, status="delete")
  end subroutine
  subroutine solve_functions
    call verify(kcl_matrix_create_shell(c, int(n, c_int64_t), int(n, c_int64_t), KCL_D, laplace, c_loc(calls(1)), KCL_HOST, &
                                        KCL_SHELL_HERMITIAN + KCL_SHELL_POSITIVE, A) == KCL_OK, "a function as A")
    call verify(kcl_precond_create_shell(c, int(n, c_int64_t), KCL_D, scale_by_turns, c_loc(calls(2)), KCL_HOST, &
                                         KCL_PRECOND_HERMITIAN + KCL_PRECOND_VARIES, M1) == KCL_OK, "a function as M")
    call verify(kcl_solver_create(A, M1, c_null_ptr, s) == KCL_OK, "a solver of functions")
    x = 0
    call verify(kcl_solve_array(s, c_loc(b), c_loc(x), r) == KCL_OK, "its solve")
    call verify(r%converged == 1 .and. all(calls >= r%iterations) .and. r%iterations > 5, "calls")
    call verify(kcl_solver_text(s, "solver") == "fcg", "a flexible method")
    vx = kcl_vectors(data=c_loc(x))
    call verify(kcl_matrix_apply(A, 0_c_int, c_null_ptr, vx, c_null_ptr, vy) == KCL_OK, "a product by the function")
    call verify(norm2(y - b(:, 1)) <= 1d-7*norm2(b(:, 1)), "its numbers")
    call verify(kcl_matrix_number(A, "nnz", number) == KCL_USAGE, "no entries")
    call verify(index(kcl_message(), "function") > 0, "no entries")
    call kcl_solver_free(s)
    call kcl_precond_free(M1)
    call kcl_matrix_free(A)
  end subroutine
  subroutine put(column, value)
    integer, intent(in) :: column
    real(c_double), intent(in) :: value
    k = k + 1
    col(k) = column
    val(k) = value
  end subroutine
  subroutine verify(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) then
      passed = passed + 1
    else
      failed = failed + 1
      print '(6a)', 'FAIL ', what, ' on ', trim(device), ': ', kcl_message()
    end if
  end subroutine
  real(c_double) function residual(column) ! |b - A x| / |b|
    integer, intent(in) :: column
    integer :: q
    do q = 1, n
      y(q) = b(q, column) - sum(val(row(q):row(q + 1) - 1)*x(col(row(q):row(q + 1) - 1), column))
    end do
    residual = norm2(y)/norm2(b(:, column))
  end function
end program
