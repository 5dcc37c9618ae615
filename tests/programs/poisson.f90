! Fortran: arrays from 1 as they are, options by text, new values in the pattern, and the message of a failure.
program poisson
  use krylocl
  implicit none
  integer, parameter :: m = 60, n = m*m, steps(5) = [-m, -1, 0, 1, m]
  integer(c_int32_t), target :: row(n + 1), col(5*n)
  real(c_double), target :: val(5*n), b(n), x(n), twice(n)
  type(c_ptr) :: c, A, o, s
  type(kcl_entries) :: entries
  type(kcl_result) :: r
  integer :: i, j, k

  k = 0
  do i = 1, n
    row(i) = k + 1
    do j = 1, 5
      if (i + steps(j) < 1 .or. i + steps(j) > n) cycle
      if (abs(steps(j)) == 1 .and. (i + steps(j) - 1)/m /= (i - 1)/m) cycle ! another line of points
      k = k + 1
      col(k) = i + steps(j)
      val(k) = merge(4d0, -1d0, steps(j) == 0)
    end do
  end do
  row(n + 1) = k + 1
  entries = kcl_entries(rows=n, cols=n, nnz=k, row=c_loc(row), col=c_loc(col), val=c_loc(val))
  b = 1
  x = 0

  call must(kcl_context_create("", 0, c)) ! $KRYLOCL_DEVICE, or the best device
  call must(kcl_options_create(o))
  if (kcl_options_parse(o, "sover=cg") /= KCL_USAGE) error stop
  print '(a)', kcl_message()
  call must(kcl_options_parse(o, "solver=cg precond=ic tol=1e-10"))
  call must(kcl_matrix_create(c, entries, A))
  call must(kcl_solver_create(A, c_null_ptr, o, s))
  call must(kcl_solve_array(s, c_loc(b), c_loc(x), r))
  print '(a, a, i0, a)', kcl_reason_text(r%reason), ', ', r%iterations, ' iterations'
  if (r%converged /= 1) error stop

  val(:k) = val(:k)/2 ! A / 2: the solution is twice x
  twice = 0
  call must(kcl_matrix_update(A, entries))
  call must(kcl_solver_update(s, A, KCL_KEEP_CHOICES))
  call must(kcl_solve_array(s, c_loc(b), c_loc(twice), r))
  if (r%converged /= 1 .or. maxval(abs(twice - 2*x)) > 1d-6*maxval(x)) error stop
  call kcl_solver_free(s)
  call kcl_matrix_free(A)
  call kcl_options_free(o)
  call kcl_context_free(c)

contains
  subroutine must(status)
    integer(c_int), intent(in) :: status
    if (status == KCL_OK) return
    print '(a)', kcl_message()
    error stop
  end subroutine
end program
