//go:build !linux

package main

// serveSSH is refused: servers are on Linux.
func (a *app) serveSSH() int { return exitUsage }
