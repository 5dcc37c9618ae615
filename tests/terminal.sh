#!/bin/sh
# The program on a terminal of 60, then of 40 columns: the status line fits, no line is wider, colours end with NO_COLOR
# and in pipes.
# Usage: tests/terminal.sh build/krylocl
. "$(dirname "$0")/program.inc"
[ -n "$python" ] || { echo "skipped: terminals: no python3"; exit 0; }
unset NO_COLOR COLUMNS
export TERM=xterm

# in_terminal COLUMNS LATER COMMAND...: in a terminal so wide, LATER columns once its status line was drawn five times; its output to out
cat >terminal.py <<'END'
import fcntl, os, pty, struct, sys, termios
def size(columns): fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
read_end, write_end = os.pipe()
pid, fd = pty.fork()
if pid == 0:
    os.read(read_end, 1) # until the terminal has its size
    os.execv(sys.argv[3], sys.argv[3:])
size(int(sys.argv[1]))
os.write(write_end, b'x')
redraws, later = 0, False
while True:
    try: data = os.read(fd, 65536)
    except OSError: break
    redraws += data.count(b'\033[K')
    if not later and redraws > 5:
        size(int(sys.argv[2]))
        later = True
        data += b'\nRESIZED\n'
    os.write(1, data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
in_terminal() { "$python" terminal.py "$@" >out 2>err; }
# redraws BEFORE|AFTER: the widest redraw of the status line before or after the new size, in columns; nothing: none
redraws() {
  # what was on its way when the size changed does not count
  tr '\r' '\n' <out | awk -v part="$1" '/^RESIZED/ { after = 1 } after { after++ } part == "AFTER" ? after > 4 : !after' |
    grep "$(printf '\033\\[K$')" | sed "s/$(printf '\033')\\[K//g" | awk 'length > w { w = length } END { if (NR) print w }'
}

# A solve of some seconds, also with sanitizers.
"$prog" generate poisson2d:$(if [ -n "$SAN" ]; then echo 100; else echo 300; fi) -o A.mtx -q
in_terminal 60 40 "$prog" solve A.mtx --solver gmres --restart 1 --max-iter 9000 --tol 1e-14
[ $? -eq 1 ]; verdict $? "solve on a terminal"
wide=$(redraws BEFORE)
[ "${wide:-99}" -le 59 ] && [ "$wide" -ge 40 ]; verdict $? "redraws fit 60 columns: $wide"
tr '\r' '\n' <out | grep -q '^[0-9,]* iterations  residual .* to 1e-14'; verdict $? "iterations and the residual"
if grep -q RESIZED out; then
  wide=$(redraws AFTER)
  [ "${wide:-39}" -le 39 ]; verdict $? "redraws fit 40 columns: $wide"
else
  echo "skipped: the new size: the solve was over before"
fi
# lines COMMAND...: on 60 columns none is wider, and continued lines begin below the text
lines() {
  in_terminal 60 60 "$prog" "$@"
  widest=$(tr -d '\r' <out | sed "s/.*$(printf '\033')\[K//; s/$(printf '\033')\[[0-9;]*m//g" | awk 'length > w { w = length } END { print w + 0 }')
  [ "$widest" -le 60 ] && [ "$widest" -gt 40 ]; verdict $? "$1 $2: lines fit 60 columns: $widest"
}
"$prog" generate poisson2d:30 -o S.mtx -q
lines solve S.mtx; grep -q '^             *[a-z]' out; verdict $? "  and continue below the text"
for c in solve bench tune list -h; do lines $c -h; done
lines list formats
lines explain S.mtx -d cpu
lines info S.mtx -d cpu
lines bench S.mtx -d cpu --iterations 5 -f csr-scalar,ell
lines tune S.mtx -d cpu --seconds 1 -o tune.txt
tr '\r' '\n' <out | sed "s/$(printf '\033')\[K//g" | grep -Eq '^  block +(skipped: |[a-z0-9-]*, before .*;)'; verdict $? "  no status line over a line of the report"
lines devices
in_terminal 60 60 "$prog" solve A.mtx --max-iter 3
grep -q "$(printf '\033\\[1;31m')NOT CONVERGED" out; verdict $? "the result is coloured"
export NO_COLOR=1
in_terminal 100 100 "$prog" solve A.mtx --max-iter 3
grep -q 'NOT CONVERGED' out && ! grep -q "$(printf '\033\\[[0-9;]*m')" out; verdict $? "NO_COLOR"
unset NO_COLOR
export TERM=dumb
in_terminal 100 100 "$prog" solve A.mtx --max-iter 3
grep -q 'NOT CONVERGED' out && ! grep -q "$(printf '\033')" out; verdict $? "a terminal that can do nothing"
export TERM=xterm
run 1 "pipes" solve A.mtx --max-iter 3
! cat out err | grep -q "$(printf '\033')"; verdict $? "no colours in pipes"
if ldd "$prog" | grep -q libmpi && mpirun=$(command -v mpirun); then
  # As in mpi.inc; Open MPI 5 has no option -q.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  "$mpirun" -n 2 "$prog" solve S.mtx -d cpu >out 2>err
  grep -q 'converged' out && ! grep -q "$(printf '\033')" out; verdict $? "ranks: no colours in files"
  awk 'length > 80 { wide = 1 } END { exit !wide }' out; verdict $? "  and whole lines"
  in_terminal 60 60 "$mpirun" -n 2 "$prog" solve S.mtx -d cpu
  grep -q "$(printf '\033\\[32m')converged" out; verdict $? "  colours on a terminal"
else
  echo "skipped: ranks: no mpirun"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
