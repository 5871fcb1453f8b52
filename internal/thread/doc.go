// Package thread holds the durable layer: what threads, sessions, terminals and leases are, and which changes of them are allowed.
//
//	Thread (durable)
//	 ├─ Session   the policy window: how long processes may live; closed, never deleted
//	 ├─ Terminal  durable state: directory, environment, versions of both; several, one of them active
//	 │   └─ Runtime  one generation of a process that visits the terminal
//	 └─ Lease     durable handle of the compute that processes run on; may be shared
//	     └─ Instance  the machine, container or VM that is behind the lease now
//
// Expiry closes a session and ends runtimes. It never touches the state of terminals, so whatever comes next goes on in the same directory with
// the same environment.
//
// The package does no I/O of its own: rows go through the Store it declares, compute through the Provider it declares, time through a Clock.
// Manager joins them and is safe for concurrent use.
package thread
