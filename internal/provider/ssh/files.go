package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/internal/provider"
)

// files runs f with an sftp session, which ends with ctx. Errors: ErrNotFound when the instance is
// gone.
func (s *Provider) files(ctx context.Context, id string, f func(c *sftp.Client, at func(string) string) error) error {
	i, err := s.at(id)
	if err != nil {
		return err
	}
	ch, err := i.session(ctx, channelRequest{name: "subsystem", text: "sftp"})
	if err != nil {
		return fmt.Errorf("ssh: sftp: %w", err)
	}
	defer ch.release()
	go ssh.DiscardRequests(ch.requests) // these two end with the channel
	go func() { _, _ = io.Copy(io.Discard, ch.Stderr()) }()
	over := make(chan struct{})
	defer close(over)
	stop := context.AfterFunc(ctx, func() {
		_ = ch.Close()
		select { // the server answers a close at once, or it is gone
		case <-time.After(silenceLimit):
			_ = ch.conn.client.Close()
		case <-over:
		}
	})
	defer stop()
	c, err := sftp.NewClientPipe(ch, ch) // which closes the channel when it fails
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("ssh: %w", context.Cause(ctx))
		}
		return fmt.Errorf("ssh: sftp: %w: %w", provider.ErrUnreachable, err)
	}
	defer c.Close()
	if _, err = c.Stat(i.file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ssh: %w: its directory is not there", provider.ErrNotFound)
	}
	if err == nil {
		err = f(c, func(name string) string {
			if path.IsAbs(name) {
				return path.Clean(name)
			}
			return path.Join(i.file, name)
		})
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("ssh: %w", context.Cause(ctx))
	}
	return fileError(err)
}

// fileError gives the errors of files their sentinels.
func fileError(err error) error {
	var st *sftp.StatusError
	switch {
	case err == nil, errors.Is(err, provider.ErrTooLarge), errors.Is(err, provider.ErrProvider):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("ssh: %w: %w", provider.ErrNoFile, err)
	case errors.As(err, &st), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("ssh: %w: %w", provider.ErrProvider, err)
	}
	return fmt.Errorf("ssh: %w: %w", provider.ErrUnreachable, err)
}

// ReadFile reads a regular file by sftp.
func (s *Provider) ReadFile(ctx context.Context, id, name string, most int64) (data []byte, err error) {
	err = s.files(ctx, id, func(c *sftp.Client, at func(string) string) error {
		info, err := c.Stat(at(name))
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%w: %s is no regular file", provider.ErrProvider, name)
		}
		f, err := c.Open(at(name))
		if err != nil {
			return err
		}
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, most+1))
		if int64(len(data)) > most {
			return fmt.Errorf("%w: %s has more than %d bytes", provider.ErrTooLarge, name, most)
		}
		return err
	})
	return data, err
}

// WriteFile makes or replaces a file by sftp, and the directories above it.
func (s *Provider) WriteFile(ctx context.Context, id, name string, data []byte) error {
	return s.files(ctx, id, func(c *sftp.Client, at func(string) string) error {
		if err := c.MkdirAll(path.Dir(at(name))); err != nil {
			return err
		}
		f, err := c.OpenFile(at(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	})
}

// kinds are the first letters of modes as ls writes them.
var kinds = map[fs.FileMode]string{fs.ModeDir: "d", fs.ModeSymlink: "l", fs.ModeNamedPipe: "p", fs.ModeSocket: "s",
	fs.ModeDevice | fs.ModeCharDevice: "c", fs.ModeDevice: "b"}

// modeText is a mode as ls writes it.
func modeText(m fs.FileMode) string { return cmp.Or(kinds[m.Type()], "-") + m.Perm().String()[1:] }

// ListDir lists a directory by sftp.
func (s *Provider) ListDir(ctx context.Context, id, name string) (list []provider.File, err error) {
	err = s.files(ctx, id, func(c *sftp.Client, at func(string) string) error {
		infos, err := c.ReadDirContext(ctx, at(name))
		if err != nil {
			return err
		}
		dir := at(name)
		if !path.IsAbs(dir) {
			if dir, err = c.RealPath(dir); err != nil {
				return err
			}
		}
		list = make([]provider.File, 0, len(infos))
		for _, info := range infos {
			if !strings.ContainsRune(info.Name(), '/') { // a server's word is not trusted with paths
				list = append(list, provider.File{Name: info.Name(), Path: path.Join(dir, info.Name()),
					Dir: info.IsDir(), Size: info.Size(), Mode: modeText(info.Mode()),
					MTime: info.ModTime().UTC()})
			}
		}
		return nil
	})
	return list, err
}
