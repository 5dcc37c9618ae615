#!/bin/sh
# The manual page and the completions that the program writes: the page is checked and formatted, the completions are
# asked by the shells themselves, as far as they are installed. Usage: tests/shell.sh build/krylocl
. "$(dirname "$0")/program.inc"

run 0 "man" man; cp out krylocl.1
if command -v mandoc >/dev/null 2>&1; then
  mandoc -T lint -W warning krylocl.1 2>&1 | grep -v 'missing date' >out; [ ! -s out ]; verdict $? "mandoc finds no fault"
else
  echo "skipped: mandoc is not installed"
fi
if command -v groff >/dev/null 2>&1; then
  groff -man -Tascii -ww -P-c krylocl.1 >page 2>err; [ -s page ] && [ ! -s err ]; verdict $? "groff finds no fault"
  sed 's/.\x08//g' page >out
  for w in SYNOPSIS "krylocl solve" "--precond" "true_relative_residual" "EXIT STATUS" "csr-scalar" "KRYLOCL_DEVICE"; do says "$w"; done
else
  echo "skipped: groff is not installed"
fi

run 2 "completion for no shell" completion tcsh; says "bash zsh fish"
for s in bash zsh fish; do run 0 "completion $s" completion $s; cp out complete.$s; done
touch A.mtx b.rhs

# asks LINE WORD...: in the shell of $ask, completing LINE offers each WORD; !WORD: does not offer it
asks() {
  line=$1; shift
  $ask "$line" >out 2>err
  for w in "$@"; do
    case $w in
      !*) grep -qx -e "${w#!}" out; [ $? -ne 0 ]; verdict $? "$ask: '$line' does not offer ${w#!}" ;;
      *) grep -qx -e "$w" out; verdict $? "$ask: '$line' offers $w" ;;
    esac
  done
}
questions() {
  asks "krylocl s" solve !check
  asks "krylocl " bench generate
  asks "krylocl solve --pre" --precond --precision !--plot
  asks "krylocl solve --sec" !--seconds
  asks "krylocl solve A.mtx --solver bicg" bicg bicgstab !cg
  asks "krylocl solve A.mtx -s c" cg cgls !minres
  asks "krylocl tune --precond j" jacobi
  asks "krylocl solve A.mtx --symmetry e" exact !rounding
  asks "krylocl solve A.mtx --format m" measure model !ell
  asks "krylocl solve A" A.mtx !b.rhs
  asks "krylocl list f" formats
  asks "krylocl completion z" zsh
}

cat >ask.bash <<'END'
source ./complete.bash
COMP_LINE=$1 COMP_POINT=${#1}
read -ra COMP_WORDS <<<"$1"
[[ $1 != *' ' ]] || COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_krylocl
printf '%s\n' "${COMPREPLY[@]}"
END
ask_bash() { bash ask.bash "$1"; }
ask_fish() { HOME=$dir XDG_CONFIG_HOME=$dir fish -c "source complete.fish; complete -C '$1'" | cut -f1; }
# In a terminal of its own: zsh lists what it would offer.
cat >ask.zsh <<'END'
zmodload zsh/zpty
zpty shell 'TERM=dumb zsh -f -i'
zpty -w shell 'PS1=; autoload -U compinit; compinit -u -d ./dump; source ./complete.zsh; zstyle ":completion:*" list-prompt ""; LISTMAX=0; setopt no_list_beep'
zpty -w shell 'offer() { compadd() { builtin compadd -O found "$@" 2>/dev/null; print -rl -- "[${^found[@]}]" >>offered; builtin compadd "$@" }; _main_complete }; zle -C offer complete-word offer; bindkey "^X" offer; print ready'
until zpty -r shell text '*ready*'; do sleep 0.1; done
zpty -n -w shell "$1"$'\C-X'
sleep 1
zpty -d shell
END
ask_zsh() { rm -f offered; zsh -f ask.zsh "$1" >/dev/null; sed -n 's/^\[\(.*\)\]$/\1/p' offered | sed 's/=$//'; }
for s in bash fish zsh; do
  ask=ask_$s
  if command -v $s >/dev/null 2>&1; then questions; else echo "skipped: $s is not installed"; fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
