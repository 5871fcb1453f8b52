package terminal

import "time"

// MaxWaitsOf is how many waits a terminal has at once.
const MaxWaitsOf = maxWaitsOf

// WaitsOf is how many waits for t go on.
func WaitsOf(t *Terminal) int { return int(t.waits.Load()) }

// FollowersOf is how many copies of the emulator waits for t share.
func FollowersOf(t *Terminal) int {
	t.followers.mu.Lock()
	defer t.followers.mu.Unlock()
	return len(t.followers.list)
}

// HoldFollower has the newest of them apply nothing until release is called.
func HoldFollower(t *Terminal) (release func()) {
	o := t.followers.newest()
	o.drive <- struct{}{}
	return o.drive.leave
}

// ListenersOf is how many waits share the newest of them, and how many of those it has not come to yet.
func ListenersOf(t *Terminal) (all, early int) {
	o := t.followers.newest()
	if o == nil {
		return 0, 0
	}
	o.turn <- struct{}{}
	defer o.turn.leave()
	for _, a := range o.waits {
		if !a.told {
			early++
		}
	}
	return len(o.waits), early
}

// PauseOf is how long a wait for t rests now after work that took so long.
func PauseOf(t *Terminal, worked time.Duration) time.Duration { return (&follower{t: t}).pause(worked) }
