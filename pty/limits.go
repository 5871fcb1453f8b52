package pty

import "time"

// Sizes of a terminal, in cells, for columns and rows alike.
const (
	MinSize = 1
	MaxSize = 1000 // as everywhere in evertty: bounds the memory of a screen
)

// maxEnvEntry is the longest NAME=VALUE, in bytes with its closing NUL, and the longest argument: the kernel's
// MAX_ARG_STRLEN, 32 pages of 4 KiB.
const maxEnvEntry = 128 << 10

// maxStarting is how many children are started at the same time, others wait: forks happen one after the other anyway,
// and every system call that takes its time keeps a thread, which Go never gives back.
const maxStarting = 2

// The end of the output after the child's exit, while others hold the terminal open. Both run from facts seen by Read.
const (
	// quietAfterExit is the silence that ends the output: long enough for the last words of a pipeline that outlived
	// its shell.
	quietAfterExit = time.Second
	// maxAfterExit ends the output of a process that goes on writing.
	maxAfterExit = 5 * time.Second
	// heldByKernel is more than the kernel stores between the two ends, in bytes (64 KiB of flip buffers and a 4 KiB
	// line buffer): who has read this much after the exit has read all that was written before it.
	heldByKernel = 128 << 10
)

// Sizes of a Pipe, in bytes.
const (
	// pipeBytes is what a pipe holds: as much as the terminal in front of it, so that one Fill of a flood brings 64 KiB
	// and not half of it. The 16384 pages that a user may have in pipes (pipe-user-pages-soft) are enough for 1024 of
	// them; further ones get 8 KiB and work the same.
	pipeBytes = 64 << 10
	// splicePage is the most that one splice takes from a terminal, and what it uses of a pipe even if it takes less: a
	// page.
	splicePage = 4 << 10
	// heldMax is how much a plain pipe holds before Fill refuses more, beyond one Fill.
	heldMax = pipeBytes
)

// probeLimit is how long ProbeSplice waits for its own few bytes, which a kernel that works has within microseconds.
const probeLimit = 2 * time.Second

// The exit of an adopted child.
const (
	// reportLimit is how long after its end the reaper's word is waited for: the reaper is a small process that does
	// little else, and one that takes longer is dead or stuck.
	reportLimit = 5 * time.Second
	// reapLimit is how long an orphan's new parent may take to reap it when that is needed to learn the status;
	// reapPoll is the time between two looks.
	reapLimit = 200 * time.Millisecond
	reapPoll  = 10 * time.Millisecond
)
