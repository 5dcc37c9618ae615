! Functions of a Fortran program as A, M and progress, for tests/fortran/solve.f90.
module operators
  use krylocl
  implicit none
  integer(c_int), target :: calls(2) = 0 ! of laplace, of halve

contains
  ! y = A x: 3 on the diagonal, -1 beside it. user: the number of calls
  integer(c_int) function laplace(user, adjoint, x, y, queue) bind(C) result(status)
    type(c_ptr), value :: user, queue
    integer(c_int), value :: adjoint
    type(kcl_vectors), intent(in) :: x
    type(kcl_vectors), intent(inout) :: y
    real(c_double), pointer :: u(:), v(:)
    integer(c_int), pointer :: count
    call c_f_pointer(user, count)
    call c_f_pointer(x%data, u, [x%rows])
    call c_f_pointer(y%data, v, [y%rows])
    count = count + 1
    v = 3*u
    v(2:) = v(2:) - u(:size(u) - 1)
    v(:size(u) - 1) = v(:size(u) - 1) - u(2:)
    status = merge(KCL_OK, KCL_USAGE, adjoint == 0 .and. .not. c_associated(queue))
  end function

  ! z = r / (3 + mod(calls, 2)): another M each time
  integer(c_int) function scale_by_turns(user, adjoint, x, y, queue) bind(C) result(status)
    type(c_ptr), value :: user, queue
    integer(c_int), value :: adjoint
    type(kcl_vectors), intent(in) :: x
    type(kcl_vectors), intent(inout) :: y
    real(c_double), pointer :: r(:), z(:)
    integer(c_int), pointer :: count
    call c_f_pointer(user, count)
    call c_f_pointer(x%data, r, [x%rows])
    call c_f_pointer(y%data, z, [y%rows])
    count = count + 1
    z = r/(3 + mod(count, 2))
    status = merge(KCL_OK, KCL_USAGE, adjoint == 0 .and. .not. c_associated(queue))
  end function

  ! Stops the solve of user, a solver, once an iteration is done and the residual is above the target.
  integer(c_int) function stop_early(user, p) bind(C) result(status)
    type(c_ptr), value :: user
    type(kcl_progress), intent(in) :: p
    if (p%iteration > 0 .and. p%running == 1 .and. p%relative_residual > p%target) call kcl_solver_stop(user)
    status = 0
  end function

  ! Asks for a checkpoint of user, a solver, where stop_early stops.
  integer(c_int) function save_early(user, p) bind(C) result(status)
    type(c_ptr), value :: user
    type(kcl_progress), intent(in) :: p
    if (p%iteration > 0 .and. p%running == 1 .and. p%relative_residual > p%target) call kcl_solver_save(user)
    status = 0
  end function
end module
