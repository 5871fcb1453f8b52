package sshd

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/strictmodes"
)

// HostKeyFile is the file in the data directory with the key by which clients know the server again.
const HostKeyFile = "ssh_host_ed25519_key"

// maxHostKey bounds the file, in bytes; one has 400.
const maxHostKey = 16 << 10

// ErrHostKey is a host key that cannot be used; the error says what to do about it.
var ErrHostKey = errors.New("the host key of SSH cannot be used")

// hostKey reads the host key of a data directory, which it makes when there is none.
func hostKey(dir string) (ssh.Signer, error) {
	path := filepath.Join(dir, HostKeyFile)
	err := strictmodes.CheckSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = makeHostKey(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHostKey, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHostKey, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxHostKey))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHostKey, err)
	}
	key, err := ssh.ParsePrivateKey(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w; put the one of before in its place, or remove it for a new one, which "+
			"clients do not know", ErrHostKey, path, err)
	}
	return key, nil
}

// makeHostKey writes a new one, whole or not at all.
func makeHostKey(dir string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, "evertty")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return datadir.WriteFileBy(root, HostKeyFile, func(w io.Writer) error { return pem.Encode(w, block) })
}
