package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/strictmodes"
)

// readUpTo reads a file. One that is longer than most, in bytes, is cut behind the first that is too many.
func readUpTo(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// readChecked is readUpTo of a file that check finds safe.
func readChecked(file string, most int64, check func(string) error) ([]byte, error) {
	if err := check(file); err != nil {
		return nil, err
	}
	return readUpTo(file, most)
}

// readRules reads the rules for all threads; no file has none.
func readRules(file string) (permission.Rules, error) {
	if file == "" {
		return permission.Rules{}, nil
	}
	b, err := readChecked(file, permission.MaxRulesFile, strictmodes.Check)
	if err != nil {
		return permission.Rules{}, fmt.Errorf("permission_rules: %w", err)
	}
	rules, err := permission.ParseRules(b)
	if err != nil {
		return permission.Rules{}, fmt.Errorf("permission_rules: %s: %w", file, err)
	}
	return rules, nil
}

const (
	// minSecret is the least length of a secret, in bytes: a shorter one could be guessed.
	minSecret = 32
	// maxSecret bounds the file of a secret, in bytes: a larger one is not one.
	maxSecret = 4096
)

// readSecret reads a secret of one line from a file that no other user may read; no file has none.
func readSecret(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	b, err := readChecked(file, maxSecret, strictmodes.CheckSecret)
	if err != nil {
		return "", fmt.Errorf("webhook_secret_file: %w", err)
	}
	secret := strings.TrimSpace(string(b))
	if len(secret) < minSecret || len(b) > maxSecret || strings.ContainsAny(secret, "\r\n\x00") {
		return "", fmt.Errorf("webhook_secret_file: %s: want one line of %d to %d bytes", file, minSecret, maxSecret)
	}
	return secret, nil
}
