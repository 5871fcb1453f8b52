// Package keeper is the small process that owns terminals and other programs, and the server's way to it.
//
// The keeper ([Run], the verb `evertty keeper`) forks programs, reaps them, and holds three descriptors of each terminal (the master and both ends of the
// pipe its output waits in) together with the pidfd. It reads no output, knows no screen, opens no port and writes no file but its log, so it hardly ever
// has to change, and a server can crash, be killed or be replaced meanwhile: the next one ([Connect]) receives the same descriptors.
// The server holds duplicates, so the keeper may die too: the server's [Client] starts another one and hands them over.
//
// Besides terminals ([Kept]) it holds programs without one, with the files that they are driven through ([Client.Run]), and files alone ([Client.Hold]): a
// FIFO that somebody has open for reading and writing has no end of file, and keeps its bytes, while servers come and go.
//
// # Orphans
//
// The keeper is a subreaper (PR_SET_CHILD_SUBREAPER(2const)): what a program leaves behind becomes the keeper's child, is reaped by it, and can be told from
// the rest of the system. It ends no orphan: that is for pty.Child.Kill, for which the keeper is as much a stranger as init. Whose an orphan is that has left
// everything else is told by the brand that its program was started with (proc.Plan).
//
// # Who is told what
//
// How a child ended is kept until the server acknowledges it with [Client.Release], and told to every server that comes before that. A keeper that took a
// terminal over from a dead one is not the parent of its child and does not know how it ends; then the server asks the kernel (pty.Child.Orphaned).
//
// Programs get the resource limits and the file mode creation mask of the keeper, that is of the server that started it; environment and directory
// come from the server that starts the program.
//
// # Protocol
//
// One JSON object per packet of a SOCK_SEQPACKET socket, DIR/keeper.sock, with descriptors as SCM_RIGHTS (unix(7)); packets are in packet.go and, as
// bytes, in testdata. Both sides check that the other one is a process of the same user. The keeper serves one server at a time; another one is told
// which process that is, hung up on, and tries again. What a server says wrong ends its connection and nothing else. Requests are carried
// out in the order in which they were sent, but a start only begins then: a program on a dead file system delays further starts and nothing else.
//
// # One keeper per data directory
//
// The keeper has flock(2) on DIR/keeper.lock as long as it lives, also over its own replacement. Who does not get the lock is too many and ends;
// who gets it replaces the socket. So any number of servers may start keepers at once. Who does not get it and finds no socket either, because somebody
// removed that, sends SIGUSR1 to the one who has it, whose process id is in the file: it makes the socket again. An ending keeper removes the socket
// only if it is its own: a directory that was removed and made again has another keeper.
//
// Every few seconds the keeper looks whether socket and lock are there, and makes them again. When its directory is gone for [Options.Gone], or another keeper's, no server
// can find it: unless one is connected, it ends its programs as a server's delete does, and leaves. A directory that was renamed is not gone.
//
// # Secrets
//
// The keeper is the parent of programs, which may read what /proc shows of it. It is started with the variables that programs inherit and no others, overwrites those that a
// keeper of an older release hands on, and is not dumpable (proc.Private).
//
// # Replacement
//
// A server of another release asks the keeper to become its own program (execve(2)). The process stays the same, so its children stay its children; what
// it holds is described in a memfd, and descriptors survive. When exec fails, the keeper stays what it is. The client takes everything before it asks, so
// that a program that is no keeper costs nothing but the exit statuses of the programs that end in that moment.
//
// A keeper of before there were programs says so in its welcome, by silence. It is replaced even if it is of this release; one that cannot be goes on
// with terminals, and Run fails with [ErrVersion]. A server of that time that replaces a new keeper by its own leaves programs alone, and the
// next new server finds them again.
//
// # Signals
//
// SIGHUP, SIGINT and SIGPIPE are ignored. SIGTERM ends a keeper that holds nothing, and with its programs one whose directory is gone; otherwise it is logged and
// ignored, because terminals should not end by accident. SIGUSR1 makes a missing socket again. SIGKILL always works. A service manager that kills all processes of a unit kills the programs in the terminals too, keeper or not:
// with systemd use KillMode=process.
//
// # Locks
//
// keeper.mu and Client.mu guard tables; only system calls that cannot wait run under them. Sending and receiving happen under no lock.
package keeper
