package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// awaitInput is select(2) here: poll(2) knows no terminals.
func awaitInput(in, wake, milliseconds int) (n int, ended bool, err error) {
	if max(in, wake) >= unix.FD_SETSIZE {
		return 0, false, fmt.Errorf("descriptor %d is too large for select(2)", max(in, wake))
	}
	var set unix.FdSet
	set.Set(in)
	set.Set(wake)
	var limit *unix.Timeval
	if milliseconds >= 0 {
		t := unix.NsecToTimeval((time.Duration(milliseconds) * time.Millisecond).Nanoseconds())
		limit = &t
	}
	n, err = unix.Select(max(in, wake)+1, &set, nil, nil, limit)
	return n, n > 0 && set.IsSet(wake), err
}
