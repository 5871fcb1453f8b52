//go:build !linux

package main

import "github.com/evertty/evertty/client"

// surroundings says in which terminals this program runs: in none, servers and their programs are on Linux.
func (a *app) surroundings() client.Inside { return client.Inside{} }

// clientDir is dir: no program here runs in a terminal of a server of this machine.
func (a *app) clientDir() (string, error) { return a.dir() }
