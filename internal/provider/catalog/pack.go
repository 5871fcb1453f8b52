package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// packed is settings for another process.
type packed struct {
	Provider string            `json:"provider"`
	Section  json.RawMessage   `json:"section,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
}

// Pack is the settings for Open in another process: the section, and the environment variables that
// stand for missing keys. It has secrets.
func (s Settings) Pack() ([]byte, error) {
	p := packed{Provider: s.Provider, Section: s.section, Env: map[string]string{}}
	for _, pair := range os.Environ() { // only for the names
		name, _, _ := strings.Cut(pair, "=")
		if prefix := strings.ToUpper(s.Provider) + "_"; strings.HasPrefix(name, prefix) ||
			strings.HasPrefix(name, "EVERTTY_"+prefix) {
			if v, ok := s.getenv(name); ok {
				p.Env[name] = v
			}
		}
	}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	return b, nil
}

// Unpack is the reverse of Pack.
func Unpack(b []byte) (Settings, error) {
	var p packed
	if err := json.Unmarshal(b, &p); err != nil {
		return Settings{}, fmt.Errorf("provider: %w", wrongType(err))
	}
	return Settings{Provider: p.Provider, OnExit: OnExitPause, section: p.Section,
		lookup: func(name string) (string, bool) { v, ok := p.Env[name]; return v, ok }}, nil
}
