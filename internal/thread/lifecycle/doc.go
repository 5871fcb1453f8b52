// Package lifecycle opens, pauses, resumes and closes threads with their sessions, terminals
// and leases. Manager holds the rules of package thread over its Store, keeps the activity of
// open sessions in memory, and has one writer at a time.
package lifecycle
