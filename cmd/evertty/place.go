//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/datadir"
)

// placeName is the file in the data directory that says where its server is.
const placeName = "server.json"

// writePlace writes DIR/server.json so that a reader finds it complete or not
// at all.
func (d *daemon) writePlace() error {
	p := client.Place{URL: d.at, PID: os.Getpid(), Directory: client.DirectoryID(d.dir)}
	if file := d.auth.TokenFile(); file != "" {
		p.TokenFile = filepath.Join(d.dir, file)
	}
	root, err := os.OpenRoot(d.dir)
	if err == nil {
		defer root.Close()
		err = datadir.WriteFileBy(root, placeName, func(w io.Writer) error { return json.NewEncoder(w).Encode(p) })
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", d.placeFile(), err)
	}
	return nil
}

func (d *daemon) placeFile() string { return filepath.Join(d.dir, placeName) }
