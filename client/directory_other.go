//go:build !linux

package client

import (
	"context"
	"errors"
	"net"
)

// errNoDirectory: servers, and so their data directories, are on Linux only.
var errNoDirectory = errors.New("client: a data directory is of use on Linux only; name the server's address")

const socketName = ""

// DirectoryID tells a directory from its copies; "" where nothing does.
func DirectoryID(string) string { return "" }

func checkDirectory(string) error { return errNoDirectory }

func dialOwn(context.Context, net.Dialer, string) (net.Conn, error) { return nil, errNoDirectory }
