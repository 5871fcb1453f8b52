// Package thread has the rows of threads, sessions, terminals and leases, and the tables of their
// allowed changes. Package service changes them, package sqlite keeps them.
//
//	Thread (durable)
//	 ├─ Session   the policy window: how long processes may live; closed, never deleted
//	 ├─ Terminal  durable state: directory, environment, versions of both; several, one of them active
//	 │   └─ Runtime  one generation of a process that visits the terminal
//	 └─ Lease     durable handle of the compute that processes run on; may be shared
//	     └─ Instance  the machine, container or VM that is behind the lease now
//
// Expiry closes a session and ends its processes. It never touches the state of terminals: the
// next use goes on in the same directory with the same environment.
package thread
