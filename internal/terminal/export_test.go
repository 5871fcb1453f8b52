package terminal

// Rest is what is done with a terminal that has long been quiet.
func (t *Terminal) Rest() { t.rest() }
