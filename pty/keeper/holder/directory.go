package holder

import "time"

// watchDirectory looks after the directory until the process ends. It has a goroutine of its own: a file system that
// hangs must not keep the keeper from reaping.
func (k *keeper) watchDirectory() {
	before := k.memory.acts.Load()
	for now := range time.Tick(checkEvery) {
		k.checkDirectory(now)
		acts := k.memory.acts.Load()
		if acts == before { // nothing else happens: the look should not cost memory
			releaseProgram()
		}
		before = acts
	}
}

// checkDirectory is what the keeper does every checkEvery: it makes its socket again when that was removed, and
// ends when its directory has been gone for Options.Gone and no server is there. now is the time of the look. Only
// watchDirectory calls it.
func (k *keeper) checkDirectory(now time.Time) {
	// A lock is not made again while another process may be removing the rest of the directory.
	k.unlocked = k.lock.lost(k.unlocked)
	lost := k.unlocked
	hidden := !lost && k.socket.gone()
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.leaving:
	case !lost || k.server != nil:
		k.missing = time.Time{}
		if hidden {
			k.asked = true
			k.socket.wake(time.Now())
		}
	case k.missing.IsZero():
		k.missing = now
		k.log.Warn("the data directory is gone; programs end unless it comes back", "directory", k.Dir, "after", k.Gone)
	case now.Sub(k.missing) >= k.Gone:
		k.leave("the data directory is gone")
	}
}
