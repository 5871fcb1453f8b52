package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrTokenFile is a token file that cannot be trusted or used; the error says
// what to do about it.
var ErrTokenFile = errors.New("the token file cannot be used")

const (
	tokenFile = "token" // inside the data directory
	// secretBytes is the length of tokens and tickets before base64url: 256
	// bits, beyond guessing.
	secretBytes = 32
	// minToken and maxToken bound a token, in characters. Somebody may put an
	// own one into the file; a short one could be guessed.
	minToken, maxToken = 32, 512
	tokenMode          = 0o600
)

// NewSecret returns a fresh secret in base64url without padding.
func NewSecret() string {
	var secret [secretBytes]byte
	rand.Read(secret[:])
	return base64.RawURLEncoding.EncodeToString(secret[:])
}

// loadToken returns the long-lived token of the data directory dir, which it
// makes when there is none. It fails with ErrTokenFile when the file is not a
// plain file of ours that nobody else can read, or holds no token.
func loadToken(dir string) (string, error) {
	path := filepath.Join(dir, tokenFile)
	token, err := ReadToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := createToken(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return ReadToken(path)
}

// createToken writes a new token to path. The file appears there complete or
// not at all, and never in place of another: it is written under another name
// and then linked, which fails with fs.ErrExist when path is taken.
func createToken(path string) error {
	var suffix [4]byte
	rand.Read(suffix[:])
	temporary := fmt.Sprintf("%s.%x.tmp", path, suffix)
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, tokenMode)
	if err != nil {
		return fmt.Errorf("server: create token: %w", err)
	}
	defer os.Remove(temporary)
	_, err = io.WriteString(file, NewSecret()+"\n")
	// The umask can only take bits away, which would lock us out.
	if err := errors.Join(err, file.Chmod(tokenMode), file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("server: create token: %w", err)
	}
	if err := os.Link(temporary, path); err != nil {
		return fmt.Errorf("server: create token: %w", err)
	}
	return nil
}

// ReadToken reads and checks the file. A missing one is fs.ErrNotExist.
func ReadToken(path string) (string, error) {
	// O_NONBLOCK: opening a FIFO that somebody put there must not hang.
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("server: read token: %w", err)
	case errors.Is(err, unix.ELOOP):
		return "", fmt.Errorf("%w: %s is a symbolic link; remove it and start again", ErrTokenFile, path)
	case err != nil:
		return "", fmt.Errorf("%w: %w; make it readable for the user who runs the server, or remove it", ErrTokenFile,
			err)
	}
	defer file.Close()
	if err := checkTokenFile(file); err != nil {
		return "", err
	}
	content, err := io.ReadAll(io.LimitReader(file, maxToken+2))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrTokenFile, err)
	}
	token := strings.TrimSuffix(string(content), "\n")
	if len(token) < minToken || len(token) > maxToken || strings.ContainsFunc(token, notTokenRune) {
		return "", fmt.Errorf("%w: %s must hold one line of %d to %d letters, digits and -._~+/=; remove it to get a "+
			"new one",
			ErrTokenFile, path, minToken, maxToken)
	}
	return token, nil
}

// checkTokenFile refuses what somebody else could have read or written.
func checkTokenFile(file *os.File) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		return fmt.Errorf("%w: stat %s: %w", ErrTokenFile, file.Name(), err)
	}
	switch {
	case stat.Mode&unix.S_IFMT != unix.S_IFREG:
		return fmt.Errorf("%w: %s is not a regular file; remove it and start again", ErrTokenFile, file.Name())
	case int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%w: %s belongs to user %d and the server runs as user %d; remove it and start again",
			ErrTokenFile, file.Name(), stat.Uid, os.Geteuid())
	case stat.Mode&0o077 != 0:
		return fmt.Errorf("%w: others may use %s (mode %04o) and may know the token; remove it and start again, or "+
			"run chmod 600 if they do not",
			ErrTokenFile, file.Name(), stat.Mode&0o777)
	}
	return nil
}

// notTokenRune is what RFC 6750 section 2.1 does not let a bearer token contain.
func notTokenRune(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~+/=", r))
}

// digest is what secrets are kept and compared as: its length tells nothing,
// and looking one up takes no time that depends on the secret.
type digest [sha256.Size]byte

// DigestOf returns the digest that is stored and compared instead of a secret.
func DigestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// equal compares in constant time.
func (d digest) equal(other digest) bool { return subtle.ConstantTimeCompare(d[:], other[:]) == 1 }
