//go:build unix && !linux

package main

// prepare begins this process.
func prepare() error { return nil }

// parentOf is the parent of a process: unknown but for this one's own.
func parentOf(int) (parent int, ok bool) { return 0, false }
