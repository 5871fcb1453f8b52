package bench

import "time"

const (
	// floodBefore is how long a flood goes on before ^C.
	floodBefore = 700 * time.Millisecond
	// interruptLimit is the longest wait for what ^C does, and the figure when it was too short.
	interruptLimit = 10 * time.Second
)

// flood measures how fast a program can print to one viewer.
func flood(r *run) []float64 {
	v := r.attach(r.create(1)...)
	r.settle()
	before := r.cpu()
	ms := r.send(v, "g", finished)
	mega := float64(r.size.flood) / 1e6
	return []float64{1000 * mega / ms, (r.cpu() - before) / mega}
}

// interrupt measures ^C of a viewer that reads all at once, and of one on a slow line.
func interrupt(r *run) []float64 {
	fast := r.each(r.size.presses, func() float64 { return r.pressInFlood(false) })
	return []float64{fast, r.pressInFlood(true)}
}

// pressInFlood is how long it takes from ^C until the viewer sees the program's last words.
func (r *run) pressInFlood(slowly bool) float64 {
	v := r.attach(r.create(1)...)
	if r.err != nil {
		return 0
	}
	defer v.close()
	if slowly {
		v = &slow{viewer: v, began: time.Now()}
	}
	seen := make(chan error, 1)
	r.do(func() error { return v.send([]byte("g")) })
	go func() { seen <- until(v, finished) }()
	r.pause(floodBefore)
	return r.do(func() error {
		if err := v.send([]byte{3}); err != nil {
			return err
		}
		select {
		case err := <-seen:
			return err
		case <-time.After(interruptLimit):
			return nil
		}
	})
}
