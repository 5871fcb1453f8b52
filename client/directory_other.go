//go:build !linux

package client

import (
	"context"
	"fmt"
	"net"
)

// errNoDirectory: servers, and so their data directories, are on Linux only.
var errNoDirectory = fmt.Errorf("%w: servers run on Linux only; name the address of one", ErrNoServer)

const socketName = ""

// DirectoryID tells a directory from its copies; "" where nothing does.
func DirectoryID(string) string { return "" }

func checkDirectory(string) error { return errNoDirectory }

func dialOwn(context.Context, net.Dialer, string) (net.Conn, error) { return nil, errNoDirectory }
