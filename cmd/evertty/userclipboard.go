package main

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// userClipboard hands what a program wants on the clipboard to the user's own
// terminal, as OSC 52 (xterm ctlseqs). In the middle of a sequence it waits for its
// end, or it would become a part of it. A nil one hands nothing.
type userClipboard struct {
	shown   vt.Engine // knows whether a sequence is open on the user's terminal
	waiting []byte    // the last one that waits
}

// newUserClipboard makes one for a terminal that no sequence is open on.
func newUserClipboard() *userClipboard {
	return &userClipboard{shown: vt.NewEngine(vt.Config{Cols: 1, Rows: 1})}
}

// take has a write to the clipboard go out behind the next output, or at once with
// none. A newer one takes the place of one that waits.
func (u *userClipboard) take(c wire.Clipboard) {
	if len(c.DataB64) > vt.MaxClipboard || strings.Trim(c.Selection, "cpqs01234567") != "" {
		return // no server sends this
	}
	u.waiting = []byte("\x1b]52;" + c.Selection + ";" + base64.StdEncoding.EncodeToString(c.DataB64) + "\x1b\\")
}

// behind is output for the terminal with what waited for the end of a sequence or
// character behind it, once that has come.
func (u *userClipboard) behind(output []byte) []byte {
	if u == nil {
		return output
	}
	u.shown.Write(output)
	if len(u.waiting) == 0 || !u.shown.AtRest() || u.shown.Held() > 0 {
		return output
	}
	all := slices.Concat(output, u.waiting)
	u.waiting = nil
	return all
}
