// Package holder is the keeper's process: it owns terminals and other programs while servers come and go.
//
// It ([Run], the verb `evertty keeper`) forks programs, reaps them, and holds three descriptors of each terminal (the
// master and both ends of the pipe its output waits in) together with the pidfd. It reads no output, knows no screen,
// opens no port and writes no file but its log, so it hardly ever has to change. It imports the protocol and package
// proc, and nothing of terminals. Package keeper is the server's side.
//
// # Orphans
//
// The keeper is a subreaper (PR_SET_CHILD_SUBREAPER(2const)): what a program leaves behind becomes the keeper's child,
// is reaped by it, and can be told from the rest of the system. It ends no orphan: that is for pty.Child.Kill, which
// spares the keeper like init. Whose an orphan is that has left everything else is told by the tag of its program
// (proc.Plan).
//
// # One keeper per data directory
//
// The keeper has flock(2) on DIR/keeper.lock as long as it lives, also over its own replacement. A process that does
// not get the lock is too many and ends; the one that gets it replaces the socket. So any number of servers may start
// keepers at once. One that does not get it and finds no socket either, because it was removed, sends SIGUSR1 to
// the keeper that has it, whose process id is in the file: it makes the socket again. An ending keeper removes the
// socket only if it is its own: a directory that was removed and made again has another keeper.
//
// Every few seconds the keeper checks that socket and lock are there, and makes them again. When its directory is gone
// for [Options.Gone], or another keeper's, no server can find it: unless one is connected, it ends its programs as a
// server's delete does, and exits. A directory that was renamed is not gone.
//
// # Servers
//
// The keeper serves one server at a time; another one gets its process id, is disconnected, and tries again.
// A program of a sandbox is no server (proc.CheckUnmarked).
//
// # Secrets
//
// The keeper is the parent of programs, which may read what /proc shows of it. It is started with the variables that
// programs inherit and no others, overwrites those that a keeper of an older release hands on, and is not dumpable
// (proc.Private).
//
// # Replacement
//
// Asked by a server of another release, the keeper becomes that server's program (execve(2)). The process stays the
// same, so its children stay its children; what it holds is described in a memfd, and descriptors survive. When exec
// fails, the keeper stays what it is. A program of before there were programs without terminals leaves these alone, and
// the next new one finds them again.
//
// # Signals
//
// SIGHUP, SIGINT and SIGPIPE are ignored. SIGTERM ends a keeper that holds nothing, and with its programs one whose
// directory is gone; otherwise it is logged and ignored, because terminals should not end by accident. SIGUSR1 makes a
// missing socket again. SIGKILL always works. A service manager that kills all processes of a unit kills the programs
// in the terminals too, keeper or not: with systemd use KillMode=process.
//
// # Locks
//
// dirLock.checking, then keeper.mu, then the other locks of dirLock and socket. keeper.mu guards tables; only system
// calls that cannot wait run under it. Sending and receiving happen under no lock.
package holder
