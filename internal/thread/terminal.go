package thread

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind says what the processes of a terminal are.
type Kind string

// The kinds.
const (
	PTY   Kind = "pty"   // a program on a pseudo-terminal; its bytes feed a screen
	Shell Kind = "shell" // a bash behind FIFOs; its bytes feed the logs of commands
)

// Ends of a state: more of it is refused, not cut.
const (
	MaxCwd = 4096    // bytes, Linux's own end of a path
	maxEnv = 1 << 20 // bytes of names and values together
)

// State is what of a terminal outlives its processes. A State is never changed, the next version is
// another one.
type State struct {
	Cwd     string            `json:"cwd"`
	Env     map[string]string `json:"env_delta"` // what was changed or added against the environment at the first start
	Unset   []string          `json:"env_unset"` // what was removed, ascending
	Version int64             `json:"state_version"`
	At      time.Time         `json:"at"`
}

// NewState is the first one: version 0 in a directory.
func NewState(cwd string) State { return State{Cwd: cwd, Env: map[string]string{}, Unset: []string{}} }

// Same reports whether two states differ in nothing but version and time.
func (s State) Same(o State) bool {
	return s.Cwd == o.Cwd && maps.Equal(s.Env, o.Env) && slices.Equal(s.Unset, o.Unset)
}

// UnmarshalJSON takes what older records and other programs wrote: "version" for the version, and
// whatever is absent or null is empty. Errors: ErrInvalid.
func (s *State) UnmarshalJSON(b []byte) error {
	var j struct {
		Cwd     string            `json:"cwd"`
		Env     map[string]string `json:"env_delta"`
		Unset   []string          `json:"env_unset"`
		Version int64             `json:"state_version"`
		Older   int64             `json:"version"`
		At      time.Time         `json:"at"`
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("%w: terminal state: %w", ErrInvalid, err)
	}
	if j.Version == 0 {
		j.Version = j.Older
	}
	n, err := State{Cwd: j.Cwd, Env: j.Env, Unset: j.Unset, Version: j.Version, At: j.At}.Normal()
	if err != nil {
		return err
	}
	*s = n
	return nil
}

// Normal is the state with nothing nil, removals ascending and once. Variables whose name is not
// UTF-8 are left out: no shell can export them. Values may be any bytes but NUL. Errors:
// ErrInvalid.
func (s State) Normal() (State, error) {
	s.Env = maps.Clone(s.Env)
	if s.Env == nil {
		s.Env = map[string]string{}
	}
	size := 0
	for k, v := range s.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.Contains(v, "\x00") {
			return s, fmt.Errorf("%w: %.80q is no environment variable", ErrInvalid, k)
		}
		if !utf8.ValidString(k) {
			delete(s.Env, k)
		}
		size += len(k) + len(v)
	}
	unset := []string{}
	for _, k := range s.Unset {
		if k == "" || strings.ContainsAny(k, "=\x00") {
			return s, fmt.Errorf("%w: %.80q is no environment variable", ErrInvalid, k)
		}
		if _, set := s.Env[k]; !set && utf8.ValidString(k) {
			unset = append(unset, k)
		}
		size += len(k)
	}
	slices.Sort(unset)
	s.Unset = slices.Compact(unset)
	if size > maxEnv || len(s.Cwd) > MaxCwd || strings.Contains(s.Cwd, "\x00") {
		return s, fmt.Errorf("%w: a directory has at most %d bytes, an environment %d", ErrInvalid, MaxCwd, maxEnv)
	}
	if s.Cwd != "" && !path.IsAbs(s.Cwd) {
		return s, fmt.Errorf("%w: directory %.80q is not absolute", ErrInvalid, s.Cwd)
	}
	if s.Version < 0 {
		return s, fmt.Errorf("%w: version %d", ErrInvalid, s.Version)
	}
	return s, nil
}

// Terminal is the durable record of a terminal.
type Terminal struct {
	ID        string
	Thread    string
	Lease     string
	Kind      Kind
	Name      string   // unique in the thread
	Cmd       []string // what it starts; empty is the default shell
	Cols      int      // of a PTY
	Rows      int
	Title     string
	State     State
	CreatedAt time.Time
	UpdatedAt time.Time // of the state
}
