package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// serverFile is the file in the data directory that says where its server is.
const serverFile = "server.json"

// maxToken bounds the token file, in bytes; a larger file is not a token.
const maxToken = 4096

// Place is where a server is: what DIR/server.json says.
type Place struct {
	URL       string `json:"url"`
	PID       int    `json:"pid"`
	TokenFile string `json:"token_file"` // "" when the server asks for no token
	// Directory is the DirectoryID of the data directory, "" when it is not known.
	Directory string `json:"directory,omitempty"`
}

// Find reads dataDir/server.json. Its absence matches ErrNoServer, and so does a file that was
// copied: it names the server of another directory.
func Find(dataDir string) (Place, error) {
	var p Place
	name := filepath.Join(dataDir, serverFile)
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("%w: there is no %s (start one with: evertty serve)", ErrNoServer, name)
	}
	if err != nil {
		return p, fmt.Errorf("client: %w", err)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("client: %s: %w", name, err)
	}
	if here := DirectoryID(dataDir); here != "" && p.Directory != "" && here != p.Directory {
		return p, fmt.Errorf("%w: %s names the server of the directory that this one is a copy of (start one with: "+
			"evertty serve)", ErrNoServer, name)
	}
	if p.TokenFile != "" && !filepath.IsAbs(p.TokenFile) {
		p.TokenFile = filepath.Join(dataDir, p.TokenFile)
	}
	return p, nil
}

// Discover returns a client of the server that serves dataDir. It reads
// server.json and the token file; no connection is opened.
func Discover(dataDir string) (*Client, error) {
	p, err := Find(dataDir)
	if err != nil {
		return nil, err
	}
	token := ""
	if p.TokenFile != "" {
		if token, err = ReadToken(p.TokenFile); err != nil {
			return nil, err
		}
	}
	return New(p.URL, token)
}

// ReadToken returns the token in a file, without the white space around it.
func ReadToken(name string) (string, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("client: token: %w", err)
	}
	t := strings.TrimSpace(string(b))
	if t == "" || len(t) > maxToken || strings.ContainsAny(t, "\r\n") {
		return "", fmt.Errorf("client: %s holds no token", name)
	}
	return t, nil
}
