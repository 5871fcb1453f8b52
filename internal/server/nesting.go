package server

import (
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

// insideOf is where the viewer's process runs.
func insideOf(n wire.Nesting) terminal.Inside {
	return terminal.Inside{Terminals: n.Inside, Devices: n.TTY, Allowed: n.Nested}
}
