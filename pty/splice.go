package pty

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// spliceShort is how much a splice of a flooded terminal moves at least, in bytes: after less nothing is left, as a rule,
// and what is left wakes the poller.
const spliceShort = splicePage / 4

// spliceIn moves up to n bytes from the terminal fd into the pipe w until little is left or the pipe is full. The
// error says why it stopped when it moved nothing: unix.EAGAIN for a terminal without output, unix.EIO for a far end
// that nobody holds open, ErrPipeFull. With empty the pipe has room.
func spliceIn(fd, w, n int, empty bool) (moved int, err error) {
	for moved < n {
		// One page at a time: the kernel gives no more, and would set aside pages for all that was asked for.
		var got int
		got, err = proc.SpliceNow(fd, w, min(n-moved, splicePage))
		if got <= 0 {
			break
		}
		if moved += got; got < spliceShort {
			break
		}
	}
	switch {
	case moved > 0:
		return moved, nil
	case err == nil:
		return 0, unix.EIO
	case err == unix.EAGAIN && !empty && !proc.Ready(w, unix.POLLOUT): // no room in the pipe
		return 0, ErrPipeFull
	}
	return 0, err
}

// spliceOut moves n bytes from the pipe r into the file fd at off.
func spliceOut(r, fd int, off int64, n int) (int, error) {
	moved, err := repeat(n, func(done int) (int, error) {
		got, err := unix.Splice(r, nil, fd, &off, n-done, unix.SPLICE_F_NONBLOCK) // it moves off itself
		return int(got), err
	})
	if err == unix.EAGAIN || err == nil && moved < n {
		err = io.ErrUnexpectedEOF
	}
	return moved, err
}

// probeText is what ProbeSplice sends: nothing that a terminal's output processing would change.
const probeText = "splice"

// ProbeSplice reports whether output can go from a terminal through a pipe into a file of directory dir without passing
// through this process's memory. The error is the reason why not: an old kernel (terminals need Linux 5.11), a file
// system without splice, a directory that cannot be written.
func ProbeSplice(dir string) error {
	file, err := os.CreateTemp(dir, ".splice-*")
	if outOfSpace(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pty: probe splice: %w", err)
	}
	defer file.Close()
	if err := os.Remove(file.Name()); err != nil {
		return fmt.Errorf("pty: probe splice: %w", err)
	}
	if err := probe(file); err != nil && !outOfSpace(err) {
		return fmt.Errorf("pty: probe splice to %q: %w", dir, err)
	}
	return nil
}

// outOfSpace reports whether a probe failed for want of space, which says nothing about splice: what writes to a full
// disk tells of that itself.
func outOfSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// probe sends a word through a terminal and a pipe of its own into file.
func probe(file *os.File) error {
	master, tty, err := OpenPair(MaxSize, MaxSize)
	if err != nil {
		return err
	}
	defer master.Close()
	defer tty.Close()
	pipe, err := NewPipe()
	if err != nil {
		return err
	}
	defer pipe.Close()
	if _, err := tty.WriteString(probeText); err != nil {
		return err
	}
	late := time.AfterFunc(probeLimit, func() { _ = master.Close() })
	defer late.Stop()
	for at := 0; at < len(probeText); {
		n, err := master.Fill(pipe, len(probeText)-at)
		if err != nil {
			return err
		}
		if _, err := pipe.MoveTo(file, int64(at), n); err != nil {
			return err
		}
		at += n
	}
	got := make([]byte, len(probeText))
	if _, err := file.ReadAt(got, 0); err != nil {
		return err
	}
	if !bytes.Equal(got, []byte(probeText)) {
		return fmt.Errorf("%q arrived as %q", probeText, got)
	}
	return nil
}
