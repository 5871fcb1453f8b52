//go:build linux

package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// tlsFlags are the files of TLS, both or none.
type tlsFlags struct{ cert, key string }

func (f *tlsFlags) add(c *cobra.Command) {
	addFlags(c,
		flag{"tls-cert", "", &f.cert, "serve https with this `file` of PEM certificates, the server's first"},
		flag{"tls-key", "", &f.key, "`file` with the key of --tls-cert; nobody else may read it"},
	)
}

// config is for connections over TCP; nil is without TLS. Errors are wrong usage.
func (f *tlsFlags) config() (*tls.Config, error) {
	switch {
	case f.cert == "" && f.key == "":
		return nil, nil
	case f.cert == "" || f.key == "":
		return nil, usage(errors.New("tls-cert and tls-key go together: give both, or none"))
	}
	info, err := os.Stat(f.key)
	if err != nil {
		return nil, usage(fmt.Errorf("tls-key: %w", err))
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, usage(fmt.Errorf("tls-key: others may use %s (mode %04o); allowed is 0600: run chmod 600 %s", f.key,
			mode, f.key))
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, usage(fmt.Errorf("tls-cert %s, tls-key %s: %w", f.cert, f.key, err))
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}
