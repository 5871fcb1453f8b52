# The parent of one exec shell, run as `bash -p launcher.sh DIR INCARNATION ARGS...`. Traps and waits stand here and never in the user's shell.
# With -p nothing that the environment says about bash (BASH_ENV, SHELLOPTS, functions) has an effect here; all of it goes on to the shell.
# Errors go to standard error, a log. The names begin with _evt_ so that no exported variable of the user's changes on its way to the shell.
_evt_dir=$1
_evt_ctl=$1/ctl
_evt_signs=$1/s
_evt_incarnation=$2
_evt_shell=
_evt_mask=$(umask)
shift 2
# What is made here is the user's alone, whatever the mask is that the shell gets.
umask 077

_evt_cleanup() {
	command -p rm -f "$_evt_ctl"
	# The last command has left its FIFOs to the next one, and one that the shell never got to open its own.
	for _evt_fifo in "$_evt_dir"/out "$_evt_dir"/err "$_evt_dir"/c/*/in "$_evt_dir"/c/*/out "$_evt_dir"/c/*/err; do
		[ -p "$_evt_fifo" ] && command -p rm -f "$_evt_fifo"
	done
}

# Whoever ends the launcher ends its shell.
_evt_end() {
	[ -z "$_evt_shell" ] || kill -KILL "$_evt_shell"
	exit "$1"
}

trap _evt_cleanup EXIT
trap '_evt_end 129' HUP
trap '_evt_end 130' INT
trap '_evt_end 143' TERM

# What a killed predecessor left goes first; a directory that takes no FIFO is an error at once.
command -p rm -f "$_evt_ctl" && command -p mkfifo -m 600 "$_evt_ctl" || exit 1
# Held open here, so that the shell does not see an end of file whenever no server is there.
exec 3<>"$_evt_ctl" || exit 1

# Whose session is ours belongs to the shell, whatever becomes of its parents.
>"$_evt_signs/sid.$_evt_incarnation.$$" || exit 1

# Job control for one moment: without it a shell starts what stands before & with SIGINT ignored, and so would be everything in there.
# Not longer: wait would return when the shell is stopped, which the server does to it for moments and others may. It looks after one that stays stopped.
set -m
{ umask "$_evt_mask"; exec -a bash "$BASH" --noediting "$@" +o history -i; } <"$_evt_ctl" >/dev/null 2>&1 3>&- &
_evt_shell=$!
set +m
>"$_evt_signs/pid.$_evt_incarnation.$_evt_shell" || _evt_end 1

wait "$_evt_shell" 2>/dev/null
_evt_code=$?
_evt_shell=
exit "$_evt_code"
