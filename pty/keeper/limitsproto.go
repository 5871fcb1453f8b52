package keeper

import "time"

// Sizes of the protocol, in bytes where nothing else is said.
const (
	// maxPacket holds the longest packet: an upgrade with a few paths of PATH_MAX, and reasons of errors.
	maxPacket = 16 << 10
	// maxFiles is how many descriptors one packet carries: the kernel's SCM_MAX_FD.
	maxFiles = 253
	// startFiles and runFiles are the descriptors of a start and a run before those to hold: the plan with a terminal, or with three files.
	startFiles, runFiles = 2, 4
	// maxHold is how many files are held under one id: what is left of a run.
	maxHold = maxFiles - runFiles
	// maxID bounds the name of a held thing.
	maxID = 128
	// maxText bounds the reason of an error in a packet.
	maxText = 1 << 10
	// maxPlan bounds what is to be executed: the kernel takes arguments and environment of up to 6 MiB (execve(2), 3/4 of 8 MiB of stack).
	maxPlan = 8 << 20
)

// sendTimeout is how long the other side may leave its socket full before it is hung up on.
const sendTimeout = 5 * time.Second

// helloTimeout is how long a new connection may say nothing, and how long a client waits for the welcome.
const helloTimeout = 5 * time.Second

// resendPause is the pause after the kernel had too many descriptors on their way (ETOOMANYREFS).
const resendPause = 5 * time.Millisecond

// The files of a keeper in the data directory.
const (
	socketName = "keeper.sock"
	lockName   = "keeper.lock"
	logName    = "keeper.log"
)
