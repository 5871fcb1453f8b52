package proc

import "time"

// KillGrace is the time between SIGHUP and SIGKILL: enough for a shell to write its history and for an editor to save
// its swap file.
const KillGrace = 3 * time.Second

// Killing.
const (
	// killConfirm is how long processes may take to be gone after SIGKILL before Kill reports ErrSurvived.
	killConfirm = 2 * time.Second
	// scanPauseMin is the first pause between two scans of /proc while a tree does not end; it doubles each time.
	scanPauseMin = 100 * time.Millisecond
	// endPoll is the pause between two looks at a process that is to end, where no descriptor tells of its end.
	endPoll = 10 * time.Millisecond
)

// Stop and Continue.
const (
	// settleLimit is how long a process may take to stop or to continue: it needs to be scheduled once.
	settleLimit = 100 * time.Millisecond
	// lateLimit is the limit for all processes together on a machine where they are not scheduled for so long.
	lateLimit  = 2 * time.Second
	settlePoll = 500 * time.Microsecond
)

// Tick is the unit of start times in /proc/PID/stat, field 22: USER_HZ, 100 on every Linux of Go.
const Tick = 10 * time.Millisecond

// statSize is more than the length of /proc/PID/stat, in bytes: 52 numbers and a name of at most 64.
const statSize = 2048

// maxEnviron bounds the environment of a process, in bytes: the kernel takes arguments and environment of up to 6 MiB
// (execve(2)).
const maxEnviron = 6 << 20
