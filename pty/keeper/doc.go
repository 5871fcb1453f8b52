// Package keeper is a server's way to the keeper, the small process that owns terminals and other programs.
//
// The keeper (package holder, the verb `evertty keeper`) forks programs, reaps them and holds their descriptors, so a
// server can crash, be killed or be replaced meanwhile: the next one ([Connect]) receives the same descriptors. The
// server holds duplicates, so the keeper may die too: the server's [Client] starts another one and hands them over.
//
// Besides terminals ([Held]) a keeper holds programs without one, with the files that they are driven through
// ([Client.Run]), and files alone ([Client.Hold]): a FIFO that a program has open for reading and writing has no end of
// file, and keeps its bytes, while servers come and go.
//
// How a child ended is kept until the server acknowledges it with [Client.Release], and told to every server that comes
// before that. A keeper that took a terminal over from a dead one is not the parent of its child and does not know how
// it ends; then the server asks the kernel (pty.Child.Orphaned).
//
// Programs get the resource limits and the file mode creation mask of the keeper, which has them from the server that
// started it; environment and directory come from the server that starts the program.
//
// # Replacement
//
// A server of another release asks the keeper to become its own program. The client takes everything before it asks, so
// that a program that is no keeper costs nothing but the exit statuses of the programs that end in that moment. A
// keeper that holds terminals only says so in its welcome, by silence. It is replaced even if it is of this release;
// one that cannot be replaced goes on with terminals, and Run fails with [ErrVersion].
//
// # Locks
//
// Client.mu, then the lock of its holdings or of a link. Only system calls that cannot wait run under them. Sending and
// receiving happen under no lock.
package keeper
