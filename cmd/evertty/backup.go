//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/backup"
)

func newBackup(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all terminals, shells and threads to one file",
		Long: `Writes what the server keeps into FILE (tar, zstd), also while programs run: screens
and output of all terminals, exec shells with the output of their commands, threads,
permissions, settings of providers. It has the secrets of threads: the file is
readable for you alone. The token, logins and the audit log are not in it.
FILE gets its name when it is complete and was read again; - is standard output.
Without a running server the data directory is read. "evertty restore" makes a new
data directory of the file.`,
		Example: `  evertty backup evertty.tar.zst
  evertty backup - | ssh other 'cat > evertty.tar.zst'`,
		Args: cobra.ExactArgs(1),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx, heard := endBySignal(c.Context())
		defer heard()
		if args[0] == "-" && *asJSON {
			return usage(errors.New("backup: --json goes with the name of a FILE"))
		}
		if args[0] == "-" {
			return signalled(ctx, a.writeBackup(ctx, a.stdout))
		}
		s, err := backup.WriteFile(ctx, args[0], func(w io.Writer) error { return a.writeBackup(ctx, w) })
		if err != nil {
			return signalled(ctx, err)
		}
		return a.tellBackup(args[0], s, *asJSON)
	}
	return a.talks(c)
}

// writeBackup writes the backup of the server, or of the data directory when none runs.
func (a *app) writeBackup(ctx context.Context, w io.Writer) error {
	err := a.copyBackup(ctx, w)
	if !errors.Is(err, client.ErrNoServer) || cmp.Or(a.server, os.Getenv(envServer)) != "" {
		return err
	}
	dir, e := a.dir()
	if e != nil {
		return e
	}
	if _, e := os.Stat(filepath.Join(dir, "terminals")); errors.Is(e, fs.ErrNotExist) {
		return fmt.Errorf("backup: %s is no data directory, and no server runs there", dir)
	}
	return backup.Write(ctx, w, dir, programVersion())
}

// copyBackup writes the backup of the server.
func (a *app) copyBackup(ctx context.Context, w io.Writer) error {
	server, err := a.client()
	if err != nil {
		return err
	}
	defer server.Close()
	in, err := server.Backup(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err = io.Copy(w, in); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

func newRestore(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a new data directory of a backup",
		Long: `Makes the data directory of --data-dir, which must be absent or empty, from a file
of "evertty backup". The file is checked first; the directory appears complete or
not at all. "evertty serve" on it makes a new token and shows the terminals with
their last screens and all their output. Their programs run only where they ran:
"evertty restart" starts them anew.`,
		Example: `  evertty restore evertty.tar.zst --data-dir /var/lib/evertty`,
		Args:    cobra.ExactArgs(1),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx, heard := endBySignal(c.Context())
		defer heard()
		dir, err := a.dir()
		if err != nil {
			return err
		}
		s, err := backup.Restore(ctx, args[0], dir)
		if err != nil {
			return signalled(ctx, err)
		}
		return a.tellBackup(dir, s, *asJSON)
	}
	return c
}

// written is what backup and restore say of what they wrote.
type written struct {
	To        string    `json:"to"` // file or directory
	Terminals int       `json:"terminals"`
	Shells    int       `json:"shells"`
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"` // of the files
	Created   time.Time `json:"created_at"`
}

// tellBackup says what was written.
func (a *app) tellBackup(to string, s backup.Summary, asJSON bool) error {
	const mebi = 1 << 20
	w := written{to, s.Terminals, s.Shells, s.Files, s.Bytes, s.Created}
	return printReply(a.stdout, asJSON, w, line(func(w written) string {
		return fmt.Sprintf("%s: terminals %d, shells %d, files %d, %.1f MiB, of %s", w.To, w.Terminals, w.Shells,
			w.Files, float64(w.Bytes)/mebi, w.Created.Local().Format("2006-01-02 15:04:05"))
	}))
}
