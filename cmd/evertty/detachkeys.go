package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// defaultDetachKeys lie on one finger and are typed by no program's user.
	defaultDetachKeys = `C-\ C-\`
	// maxDetachKeys bounds the sequence, in keys.
	maxDetachKeys = 8
	// detachPause is how long the first keys of the sequence are kept back for the
	// rest of it. Whoever means the key itself has it after that.
	detachPause = time.Second
)

// errDetached is the end of a viewer by the detach keys.
var errDetached = errors.New("detached")

// parseDetachKeys reads a sequence of keys in tmux's notation, separated by
// blanks. "none" is no sequence.
func parseDetachKeys(s string) ([]key, error) {
	words := strings.Fields(s)
	if len(words) == 1 && words[0] == "none" {
		return nil, nil
	}
	if len(words) == 0 || len(words) > maxDetachKeys {
		return nil, fmt.Errorf("--detach-keys: got %q, allowed is 1 to %d keys such as %q, or none", s, maxDetachKeys,
			"C-b d")
	}
	keys := make([]key, len(words))
	for i, w := range words {
		var ok bool
		if keys[i], ok = parseKey(w); !ok {
			return nil, fmt.Errorf("--detach-keys: got %q, allowed are tmux's names of keys (C-b, M-x, F12, Enter, d)",
				w)
		}
	}
	return keys, nil
}

// detacher lets typed bytes pass until it sees the detach keys. The zero value
// lets everything pass.
type detacher struct {
	keys []key
	held []press // what was typed of the sequence so far
}

// press is one key and its bytes.
type press struct {
	key   key
	bytes []byte
}

// pass returns what of p goes on to the program, and whether the sequence is
// complete; the rest of p is dropped then. The result is the caller's.
func (d *detacher) pass(p []byte) (out []byte, detached bool) {
	for len(p) > 0 {
		k, pressed, n := readKey(p)
		b := p[:n]
		p = p[n:]
		switch {
		case len(d.keys) == 0:
			out = append(out, b...)
		case !pressed && len(d.held) > 0:
			last := &d.held[len(d.held)-1]
			last.bytes = append(last.bytes, b...)
		case !pressed:
			out = append(out, b...)
		default:
			d.held = append(d.held, press{k, append([]byte(nil), b...)})
			out = d.settle(out)
			if len(d.held) == len(d.keys) {
				d.held = nil
				return out, true
			}
		}
	}
	return out, false
}

// settle gives up the oldest keys until the held ones are a beginning of the
// sequence.
func (d *detacher) settle(out []byte) []byte {
	for !d.begins() {
		out = append(out, d.held[0].bytes...)
		d.held = d.held[1:]
	}
	return out
}

func (d *detacher) begins() bool {
	return slices.EqualFunc(d.held, d.keys[:len(d.held)], func(h press, k key) bool { return h.key == k })
}

// waiting reports whether keys are kept back.
func (d *detacher) waiting() bool { return len(d.held) > 0 }

// release gives up the keys kept back: the sequence was not meant.
func (d *detacher) release() []byte {
	var out []byte
	for _, h := range d.held {
		out = append(out, h.bytes...)
	}
	d.held = nil
	return out
}
