package e2b

import "time"

// SetKillWait has the provider leave a command that kill does not end after d.
func (e *Provider) SetKillWait(d time.Duration) { e.killWait = d }
