// Package keeper is the small process that owns terminals, and the server's way to it.
//
// The keeper ([Run], the verb `evertty keeper`) forks programs, reaps them, and holds three descriptors of each terminal (the master and both ends of the
// pipe its output waits in) together with the pidfd. It reads no output, knows no screen, opens no port and writes no file but its log, so it hardly ever
// has to change, and a server can crash, be killed or be replaced meanwhile: the next one ([Connect]) receives the same descriptors.
// The server holds duplicates, so the keeper may die too: the server's [Client] starts another one and hands them over.
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
// who gets it replaces the socket. So any number of servers may start keepers at once.
//
// # Replacement
//
// A server of another release asks the keeper to become its own program (execve(2)). The process stays the same, so its children stay its children; what
// it holds is described in a memfd, and descriptors survive. When exec fails, the keeper stays what it is. The client takes everything before it asks, so
// that a program that is no keeper costs nothing but the exit statuses of the programs that end in that moment.
//
// # Signals
//
// SIGHUP, SIGINT and SIGPIPE are ignored. SIGTERM ends a keeper that holds nothing; otherwise it is logged and ignored, because terminals should
// not end by accident. SIGKILL always works. A service manager that kills all processes of a unit kills the programs in the terminals too, keeper or not:
// with systemd use KillMode=process.
//
// # Locks
//
// keeper.mu and Client.mu guard tables; only system calls that cannot wait run under them. Sending and receiving happen under no lock.
package keeper
