package shell

import "time"

// Bounds of one shell.
const (
	// maxQueue commands wait; more are refused, so that a caller who does not wait for answers notices.
	maxQueue = 64
	// maxParallel commands run in the background or isolated at a time: each has up to six descriptors here and in the
	// keeper.
	maxParallel = 64
)

// Times.
const (
	// cancelGrace is how long a command may take to end after SIGINT before its shell is killed.
	cancelGrace = time.Second
	// endGrace is how long processes may take to end after SIGKILL.
	endGrace = time.Second
	// reportGrace is how long a command in the background may take to be reported after the end of its process: the
	// subshell that waits for it has to get its turn on a busy machine.
	reportGrace = 5 * time.Second
	// startLimit is how long a command in the background may take to begin: the machine may be busy.
	startLimit = 30 * time.Second
	// captureLimit is how long a capture of the state may take before the shell counts as stuck (a user's function
	// named declare): 100,000 variables take 2 s.
	captureLimit = 10 * time.Second
	// stoppedLook is the time between two looks at whether the shell is stopped; each costs one read of /proc. A shell
	// that stoppedLooks in a row find stopped, and not by this server, is ended: nothing else would continue it. A
	// command with a timeout has until that.
	stoppedLook  = 250 * time.Millisecond
	stoppedLooks = 3
	// maxStarts is how often in a row a shell may fail to start before it is given up.
	maxStarts = 3
)

// pruneEvery is after how many commands those beyond the history's bounds are removed: looking costs a walk over all.
const pruneEvery = 32
