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
	URL string `json:"url"` // where it listens, for browsers: http://ADDRESS:PORT or unix:///PATH
	PID int    `json:"pid"`
	// TokenFile is a file in the data directory, "" when the server asks for no token; Find gives its name.
	TokenFile string `json:"token_file"`
	// Directory is the DirectoryID of the data directory, "" when it is not known.
	Directory string `json:"directory,omitempty"`
}

// Find reads dataDir/server.json. Its absence matches ErrNoServer, and so does a file that is
// damaged, or was copied: it names the server of another directory. A directory that another user has or could
// change, and a token file outside of it, are refused.
func Find(dataDir string) (Place, error) {
	var p Place
	name := filepath.Join(dataDir, serverFile)
	err := checkDirectory(dataDir)
	var b []byte
	if err == nil {
		b, err = os.ReadFile(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("%w: there is no %s (start one with: evertty serve)", ErrNoServer, name)
	}
	if err != nil {
		return p, fmt.Errorf("client: %w", err)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("%w: %s is damaged (start one with: evertty serve): %w", ErrNoServer, name, err)
	}
	if here := DirectoryID(dataDir); here != "" && p.Directory != "" && here != p.Directory {
		return p, fmt.Errorf("%w: %s names the server of the directory that this one is a copy of (start one with: "+
			"evertty serve)", ErrNoServer, name)
	}
	dir, file := filepath.Split(p.TokenFile)
	if dir != "" && (!filepath.IsAbs(dir) || DirectoryID(dir) != DirectoryID(dataDir)) || file == ".." {
		return p, fmt.Errorf("client: %s: token_file %q is no file in the directory", name, p.TokenFile)
	}
	p.TokenFile = file
	return p, nil
}

// Discover returns a client of the server that serves dataDir. It reads server.json and the token
// file; no connection is opened. The client speaks over the socket in the directory, to a server of
// this user or root only: whoever has the address of server.json by now is never asked. Linux only.
func Discover(dataDir string) (*Client, error) { return DiscoverAs(dataDir, "") }

// DiscoverAs is Discover with a token of its own; "" is the one of the directory.
func DiscoverAs(dataDir, token string) (*Client, error) {
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	p, err := Find(dataDir)
	if err != nil {
		return nil, err
	}
	if p.TokenFile != "" && token == "" {
		root, err := os.OpenRoot(dataDir) // no link leads out of it
		if err != nil {
			return nil, fmt.Errorf("client: token: %w", err)
		}
		defer root.Close()
		b, err := root.ReadFile(p.TokenFile)
		if token, err = tokenIn(filepath.Join(dataDir, p.TokenFile), b, err); err != nil {
			return nil, err
		}
	}
	c, err := New(p.URL, token)
	if err != nil {
		return nil, err
	}
	c.base.Scheme, c.socket, c.own = "http", filepath.Join(dataDir, socketName), true
	return c, nil
}

// ReadToken returns the token in a file, without the white space around it.
func ReadToken(name string) (string, error) {
	b, err := os.ReadFile(name)
	return tokenIn(name, b, err)
}

// tokenIn is the token in what was read from a file, or why there is none.
func tokenIn(name string, b []byte, err error) (string, error) {
	if err != nil {
		return "", fmt.Errorf("client: token: %w", err)
	}
	t := strings.TrimSpace(string(b))
	if t == "" || len(t) > maxToken || strings.ContainsAny(t, "\r\n") {
		return "", fmt.Errorf("client: %s holds no token", name)
	}
	return t, nil
}
