package thread

// For tests of the tables.

func SessionArrow(from, to Status) error {
	_, err := Session{Status: from}.to(to)
	return err
}

func LeaseArrow(from, to Observed) error { return Lease{Observed: from}.allowed(to) }

func RuntimeArrow(from, to RuntimeState) error {
	_, err := Runtime{State: from}.to(to)
	return err
}

func CommandArrow(from, to CommandStatus) error {
	_, err := Command{Status: from}.to(to)
	return err
}

func Steady(c Clock) Clock { return (&steady{clock: c}).now }
