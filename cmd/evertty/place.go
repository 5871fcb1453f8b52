package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evertty/evertty/client"
)

// writePlace writes DIR/server.json so that a reader finds it complete or not
// at all.
func (s *daemon) writePlace() error {
	p := client.Place{URL: s.at, PID: os.Getpid(), Directory: client.DirectoryID(s.dir)}
	if file := s.auth.TokenFile(); file != "" {
		p.TokenFile = filepath.Join(s.dir, file)
	}
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, ".server-*") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", s.placeFile(), err)
	}
	_, err = f.Write(append(b, '\n'))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), s.placeFile())
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", s.placeFile(), err)
	}
	return nil
}
