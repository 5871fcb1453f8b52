package bench

import (
	"errors"
	"slices"
	"strings"
	"time"
)

const (
	// alphabet has the keys, which are in no sequence that tmux paints with.
	alphabet = "jkvwyz"
	// keyPause is between two keys, so that each finds the server at rest.
	keyPause = 2 * time.Millisecond
	// warmKeys come before those that count.
	warmKeys = 20
)

// echo measures keys of one viewer.
func echo(r *run) []float64 {
	return r.typeKeys(r.attach(r.create(1)...), r.size.keys)
}

// echoOfCrowd measures keys of the last of many viewers.
func echoOfCrowd(r *run) []float64 {
	return r.typeKeys(r.attach(slices.Repeat(r.create(1), crowd)...), r.size.crowdKeys)
}

// typeKeys types n keys and returns the median of the echoes, in ms, and the server's processor time for a key, in µs.
func (r *run) typeKeys(v viewer, n int) []float64 {
	if r.err != nil {
		return nil
	}
	echoes := make(chan byte, 64)
	go readKeys(v, echoes)
	typed := 0
	one := func() float64 {
		key := alphabet[typed%len(alphabet)]
		typed++
		r.pause(keyPause)
		return r.do(func() error {
			if err := v.send([]byte{key}); err != nil {
				return err
			}
			for b := range echoes {
				if b == key {
					return nil
				}
			}
			return errors.New("the viewer ended")
		})
	}
	r.settle()
	r.each(warmKeys, one)
	before := r.cpu()
	p50 := r.each(n, one)
	return []float64{p50, 1000 * (r.cpu() - before) / float64(n)}
}

// readKeys takes the keys out of what a viewer shows.
func readKeys(v viewer, echoes chan<- byte) {
	defer close(echoes)
	for {
		p, err := v.read()
		if err != nil {
			return
		}
		for _, b := range p {
			if strings.IndexByte(alphabet, b) >= 0 {
				echoes <- b
			}
		}
	}
}
