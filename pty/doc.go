// Package pty runs one child on one pseudo-terminal, on Linux.
//
// It has three types of its own and one for their output, so that they may live in different processes. A [Master] is
// the near end of a terminal pair: bytes, size, foreground group; it can be made from a descriptor that another process
// handed over. A [Child] is the program on the far end: it is spawned, reaped and killed together with everything it
// started. A [Process] joins one of each and is what most callers want. A [Pipe] is where output waits that must
// outlive the process that moves it.
//
// # The end of a terminal
//
// The exit status of a [Process] is told only when two things are true: the child was reaped, and its output was read
// to the end (Read returned io.EOF, or Close made further reading impossible). So somebody has to read, and whoever
// learns the exit status has every byte.
//
// The end of the output is not the moment the master answers EIO. A living child may close its terminal and open
// /dev/tty again (login and getty do), so EIO before the child's exit makes Read wait. After the exit, EIO is the end.
// When other processes still hold the terminal (sleep 1000 & in a shell that exits) EIO would never come: then
// everything the child wrote is read first, and the output ends once the terminal was silent for quietAfterExit, or at
// the latest maxAfterExit after the exit.
//
// # Output that is not lost
//
// Read takes output into the memory of this process, where it dies with it. [Master.Fill] moves it from the terminal
// into a [Pipe] and [Pipe.MoveTo] from there into a file, both by splice(2): a byte is in the terminal, in the pipe or
// in the file, and each of them is the kernel's. When another process holds descriptors of terminal and pipe too, this
// one may be killed at any instant, and the next goes on where it was: first it moves what [Pipe.Buffered] tells of to
// the end of the file, then it fills again. Fill ends by the same rules as Read, for both wait in the same loop. Where
// [ProbeSplice] says that the kernel or the file system cannot do it, [Pipe.Plain] makes the same calls work through
// memory.
//
// # Children of another process
//
// [Adopt] makes a Child of a process that another one (the reaper) has started with proc.Plan.Exec and reaps. Its exit
// status is what the reaper reports to [Child.Exited]. When the reaper is gone ([Child.Orphaned]) or silent for
// reportLimit after the end, the kernel is asked: PIDFD_GET_INFO with PIDFD_INFO_EXIT of a reaped process (Linux 6.15),
// or the field exit_code of a zombie, as in a container whose first process does not reap; else the Code is -1.
//
// The number of an adopted child may be given to another process once it is reaped, which can be at any time. So its
// group is signalled through the pidfd (Linux 6.9), and its tree is found by numbers together with start times. Neither
// this process, the reaper, those they descend from, the other children of this process nor the sessions of these are
// ever part of a tree.
//
// # Threads and goroutines
//
// Masters and pidfds wait in Go's network poller: an idle terminal costs one goroutine in its reader, and no thread.
// One goroutine waits for the end of all children, and for the output of terminals whose reader has called
// [Master.Await] instead. The master must stay non-blocking for that. O_NONBLOCK sits on the open file description,
// which all duplicates share: nobody who holds a duplicate may clear it, and os.File.Fd must not be called on a file it
// was not made for (it clears it).
//
// # Locks
//
// Child.life is taken under no other lock of this package, and only short system calls run under it. The locks of a
// Pipe and of an adoption are leaves. Read waits under a lock and Write holds a place while it waits: these exclude
// another Read or Write and nothing else.
//
// # What is needed
//
// Linux 5.3 or newer (pidfd_open, 2019) and /proc; splicing takes 5.11. Start and Spawn reap by process id: no other
// part of the program may wait for children it did not start (wait4 with -1). If one does, an exit status is unknown
// (Exit.Code -1) and nothing else is harmed.
package pty
