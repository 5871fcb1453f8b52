package main

import (
	"time"

	"github.com/evertty/evertty/client"
)

const (
	// hintLull is how long the program must print nothing before the hint is shown for the first time: a shell's prompt
	// comes first.
	hintLull = 300 * time.Millisecond
	// hintTime is how long the hint stays, unless the program prints before.
	hintTime = 2 * time.Second
)

// The hint says once, on the last row of the user's terminal, which keys detach. It is in no program's screen: the next
// output, or hintTime, takes it back before anything else is written. All of it has the turn.

// hintAfterLull begins to wait for the moment of the hint, or begins anew.
func (v *viewer) hintAfterLull() {
	if !v.hinted && v.leaveKeys != "" {
		v.hint.Reset(hintLull)
	}
}

// turnHint shows the hint, or takes it back.
func (v *viewer) turnHint() error {
	if v.display.hint != "" {
		return v.hideHint()
	}
	if v.hinted || !v.shown || v.stale || v.lost {
		return nil
	}
	v.hinted = true
	return v.showHint(v.leaveKeys + " detaches")
}

// showHint shows a line for hintTime.
func (v *viewer) showHint(text string) error {
	if !v.shown || v.lost {
		return nil
	}
	v.display.hint, v.stale = text, true
	v.hint.Reset(hintTime)
	return v.redraw()
}

// hideHint shows again what the hint covered.
func (v *viewer) hideHint() error {
	v.display.hint, v.stale = "", true
	return v.redraw()
}

// beforeEvent takes the hint back before e is shown.
func (v *viewer) beforeEvent(e client.Event) error {
	if e.Kind != client.KindData {
		return nil // a whole screen follows, or nothing is drawn
	}
	v.hintAfterLull()
	if v.display.hint == "" {
		return nil
	}
	return v.hideHint()
}
