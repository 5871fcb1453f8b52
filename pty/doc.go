// Package pty runs one child on one pseudo-terminal, on Linux.
//
// It has three types, so that they may live in different processes. A [Master] is the near end of a terminal pair: bytes, size,
// foreground group; it can be made from a descriptor that another process handed over. A [Child] is the program on the far end:
// it is spawned, reaped and killed together with everything it started. A [Process] joins one of each and is what most callers want.
//
// # The end of a terminal
//
// The exit status of a [Process] is told only when two things are true: the child was reaped, and its output was read to the end
// (Read returned io.EOF, or Close made further reading impossible). So somebody has to read, and whoever learns the exit status has every byte.
//
// The end of the output is not the moment the master answers EIO. A living child may close its terminal and open /dev/tty again
// (login and getty do), so EIO before the child's exit makes Read wait. After the exit, EIO is the end. When other processes still hold
// the terminal (sleep 1000 & in a shell that exits) EIO would never come: then everything the child wrote is read first,
// and the output ends once the terminal was silent for quietAfterExit, or at the latest maxAfterExit after the exit.
//
// # Threads and goroutines
//
// Masters and pidfds wait in Go's network poller: an idle terminal costs one goroutine here and one in its reader, and no thread.
// The master must stay non-blocking for that. O_NONBLOCK sits on the open file description, which all duplicates share: nobody who holds
// a duplicate may clear it, and os.File.Fd must not be called on a file it was not made for (it clears it).
//
// # Locks
//
// Child.life is taken under no other lock of this package, and only short system calls run under it. The lock of the process table is held while
// /proc is read, the one for forking (below a place in maxStarting) until the new program runs. Read waits under a lock and Write
// holds a place while it waits: these exclude another Read or Write and nothing else.
//
// # What is needed
//
// Linux 5.3 or newer (pidfd_open, 2019) and /proc. Reaping is done by process id: no other part of the program may wait for children it did not
// start (wait4 with -1). Such a thief makes an exit status unknown (Exit.Code -1) and harms nothing else.
package pty
