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

// Times of the keeper.
const (
	// DefaultIdle is how long a keeper that holds nothing waits for a server.
	DefaultIdle = time.Minute
	// DefaultGone is how long the data directory may be gone before the programs are ended: longer than it takes to move a directory to another disk and a link
	// into its place.
	DefaultGone = time.Minute
	// lookEvery is the time between two looks at the directory: an fstat(2) and an lstat(2), which wake the process for some 20 µs.
	lookEvery = 5 * time.Second
	// sendTimeout is how long the other side may leave its socket full before it is hung up on.
	sendTimeout = 5 * time.Second
	// helloTimeout is how long a new connection may say nothing, and how long a client waits for the welcome.
	helloTimeout = 5 * time.Second
	// calmAfter is the silence after which the keeper gives back memory: longer than the pauses in a burst of starts, and it takes 10 ms of a core.
	calmAfter = 200 * time.Millisecond
	// restAfter is the same after the light requests of a shell's commands: longer than the pauses between the commands of a program that runs them.
	restAfter = 5 * time.Second
	// shrinkEvery is the number of packets and jobs after which it does so in the middle of a burst: once in some 0.1 s then.
	shrinkEvery = 128
	// fullPause is the pause after accept failed (no descriptor left): a loop of failures would take a core.
	fullPause = 100 * time.Millisecond
)

// startReserve is how many descriptors a start leaves alone, for files that servers have held, and the next server's connection.
const startReserve = 16

// maxJobs is how many starts wait in the keeper; further ones wait in the socket, and then in the server.
const maxJobs = 64

// What keeps the keeper small. The heap of 1000 terminals is below 1 MB, so collecting it early costs nothing.
const (
	gcPercent = 20
	maxProcs  = 2 // one for the connection, one for reaping
)

// Times and numbers of the client.
const (
	// connectTimeout bounds Connect when its context has no deadline: a keeper is there within 50 ms, on a slow machine with forty
	// other things to do after more than ten seconds.
	connectTimeout = 30 * time.Second
	// answerTimeout is how long a start may take: a program on a slow file system, behind 63 others.
	answerTimeout = 30 * time.Second
	// awayTimeout is how long Start waits for a keeper to come back.
	awayTimeout = 5 * time.Second
	// dialPauseMin and dialPauseMax bound the pauses between two attempts to find a keeper; they double.
	dialPauseMin = 5 * time.Millisecond
	dialPauseMax = 100 * time.Millisecond
	// regainPause is the pause between two rounds of attempts to get a keeper back.
	regainPause = time.Second
	// maxFailedLaunches is how many keepers may end with an error, one after the other, before the client says why.
	maxFailedLaunches = 3
	// maxStarts is how many starts are on their way at the same time: each has five descriptors in the socket, which count against RLIMIT_NOFILE (unix(7)).
	maxStarts = 64
	// logTail is how much of the keeper's log goes into an error, in bytes.
	logTail = 300
)
