// Package proc finds, starts, tells apart and ends processes of this machine, on Linux. Of terminals it knows only
// their device numbers.
//
// A [Process] is one row of /proc; its number and start time together never mean another process. A [Tree] is a process
// and everything it started. A tag ([TagOf]) marks a program and everything it starts, wherever that goes. A [Plan] is
// what is left to execute when everything was checked.
//
// # Locks
//
// The lock of the process table is held while /proc is listed and new processes are read, the one of a row while
// something of its process is read, the one for forking until the new program runs. The lock of the list of children
// is a leaf.
//
// # What is needed
//
// Linux 5.3 or newer (pidfd_open, 2019) and /proc.
package proc
