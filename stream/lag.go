package stream

import "time"

// A viewer that is behind its output is shown the screen instead of the output, as often as it can take it, and all of
// the terminal once it keeps up again. So what it sees is as new as its line is fast: a key that ends a flood shows its
// effect at once, not behind everything that was printed before.

const (
	// screenPace is the shortest time between two screens for a viewer that is behind. A person sees no more of a
	// flood.
	screenPace = 100 * time.Millisecond
	// keepsUpWith is how much output may come within screenPace for a viewer that keeps up, in bytes: about what a
	// screen takes. With more, screens are the cheaper way.
	keepsUpWith = 4 << 10
	// firstTrial is after how long a viewer gets all of the terminal though output goes on: its line may be fast
	// enough, and something else have held it once. Each time that it falls behind again doubles that, up to
	// lastTrial.
	firstTrial = 5 * time.Second
	lastTrial  = 80 * time.Second
	// trialQueue is MaxQueue of a viewer that was behind and has not kept up since: a trial costs a line of 1 MB/s a
	// quarter of a second, and not a whole one without anything new.
	trialQueue = 256 << 10
)

// lag is the state of a viewer that is behind. The hub's lock guards it.
type lag struct {
	behind bool
	held   bool   // a screen was taken less than screenPace ago, or is not sent: the next one has to wait
	taken  bool   // a screen was taken that is not sent
	seq    uint64 // position of that screen

	since time.Time     // when it fell behind, and behind that when it got all
	trial time.Duration // after how long it gets all; 0 before it was behind, and when it kept up since
}

// lately is the trial of a viewer that was behind not long ago, else 0: it has kept up since.
func (l *lag) lately() time.Duration {
	if l.trial > 0 && time.Since(l.since) > lastTrial {
		return 0
	}
	return l.trial
}

// mayWait is how much may wait for the viewer, see MaxQueue. The hub's lock is held.
func (s *Subscription) mayWait() int {
	if s.lag.lately() > 0 {
		return trialQueue
	}
	return MaxQueue
}

// fallBehind makes the viewer one that is behind. The hub's lock is held.
func (s *Subscription) fallBehind() {
	s.lag = lag{behind: true, since: time.Now(), trial: min(max(2*s.lag.lately(), firstTrial), lastTrial)}
	s.makeStale(ReasonLag)
}

// showsLater notes output for a viewer that is behind: it is on its next screen. The hub's lock is held.
func (s *Subscription) showsLater() {
	s.stale = ReasonLag
	s.waits()
	if !s.lag.held {
		s.due()
	}
}

// takeScreen is takeSnapshot of a viewer that is behind. The hub's lock is held.
func (s *Subscription) takeScreen() []*Message {
	h := s.hub
	s.lag.held, s.lag.taken, s.lag.seq = true, true, h.seq
	s.screens.Store(true)
	time.AfterFunc(screenPace, s.look)
	s.resynced(ReasonLag)
	return []*Message{h.snapshotLocked().screen(ReasonLag), metaMessage(h.id, h.currentMeta())}
}

// look is called screenPace after each screen: the viewer gets the next one, or all when it keeps up. While the last
// one is not sent it is called again.
func (s *Subscription) look() {
	h := s.hub
	h.mu.Lock()
	defer h.unlock()
	switch {
	case s.closed || !s.lag.held:
		return
	case s.lag.taken:
		time.AfterFunc(screenPace, s.look)
		return
	case h.seq-s.lag.seq <= keepsUpWith:
		s.lag.trial = 0
		s.catchUp()
	case time.Since(s.lag.since) >= s.lag.trial:
		s.catchUp()
	default:
		s.lag.held = false
		s.due()
	}
}

// catchUp gives a viewer that was behind all of the terminal. The hub's lock is held.
func (s *Subscription) catchUp() {
	s.lag = lag{since: time.Now(), trial: s.lag.trial}
	s.makeStale(ReasonLag)
}

// screenSent notes that a screen was sent.
func (s *Subscription) screenSent() {
	if !s.screens.CompareAndSwap(true, false) {
		return
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.lag.taken = false
}
