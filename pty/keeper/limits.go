package keeper

import "time"

// Times and numbers of the client.
const (
	// connectTimeout bounds Connect when its context has no deadline: a keeper is there within 50 ms, on a slow machine
	// with forty other things to do after more than ten seconds.
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
	// maxStarts is how many starts are on their way at the same time: each has five descriptors in the socket, which
	// count against RLIMIT_NOFILE (unix(7)).
	maxStarts = 64
	// logTail is how much of the keeper's log goes into an error, in bytes.
	logTail = 300
)
