package protocol

import "time"

// Sizes of the protocol, in bytes where nothing else is said.
const (
	// maxPacket holds the longest packet: an upgrade with a few paths of PATH_MAX, and reasons of errors.
	maxPacket = 16 << 10
	// maxFiles is how many descriptors one packet carries: the kernel's SCM_MAX_FD.
	maxFiles = 253
	// StartFiles is the number of descriptors of a start before those to hold: plan and terminal.
	StartFiles = 2
	// RunFiles is the same of a run: plan and three files.
	RunFiles = 4
	// MaxHold is how many files are held under one id: what is left of a run.
	MaxHold = maxFiles - RunFiles
	// MaxID bounds the name of a held thing.
	MaxID = 128
	// maxText bounds the reason of an error in a packet.
	maxText = 1 << 10
	// maxPlan bounds what is to be executed: the kernel takes arguments and environment of up to 6 MiB (execve(2), 3/4
	// of 8 MiB of stack).
	maxPlan = 8 << 20
)

// SendTimeout is how long the other side may leave its socket full before it is hung up on.
const SendTimeout = 5 * time.Second

// HelloTimeout is how long a new connection may say nothing, and how long a client waits for the welcome.
const HelloTimeout = 5 * time.Second

// resendPause is the pause after the kernel had too many descriptors on their way (ETOOMANYREFS).
const resendPause = 5 * time.Millisecond

// The files of a keeper in the data directory.
const (
	SocketName = "keeper.sock"
	LockName   = "keeper.lock"
	LogName    = "keeper.log"
)
