package holder

import "time"

// Times of the keeper.
const (
	// DefaultIdle is how long a keeper that holds nothing waits for a server.
	DefaultIdle = time.Minute
	// DefaultGone is how long the data directory may be gone before the programs are ended: longer than it takes to
	// move a directory to another disk and a link into its place.
	DefaultGone = time.Minute
	// checkEvery is the time between two looks at the directory: an fstat(2) and an lstat(2), which wake the process
	// for some 20 µs.
	checkEvery = 5 * time.Second
	// quietAfter is the silence after which the keeper gives back memory: longer than the pauses in a burst of starts,
	// and it takes 10 ms of a core.
	quietAfter = 200 * time.Millisecond
	// restAfter is the same after the light requests of a shell's commands: longer than the pauses between the commands
	// of a program that runs them.
	restAfter = 5 * time.Second
	// releaseEvery is the number of packets and jobs after which it does so in the middle of a burst: once in some 0.1
	// s then.
	releaseEvery = 128
	// fullPause is the pause after accept failed (no descriptor left): a loop of failures would take a core.
	fullPause = 100 * time.Millisecond
)

// startReserve is how many descriptors a start leaves alone, for files that servers have held, and the next server's
// connection.
const startReserve = 16

// maxJobs is how many starts wait in the keeper; further ones wait in the socket, and then in the server.
const maxJobs = 64

// What keeps the keeper small. The heap of 1000 terminals is below 1 MB, so collecting it early costs nothing.
const (
	gcPercent = 20
	maxProcs  = 2 // one for the connection, one for reaping
)
