package ssh

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/internal/provider/wait"
	"github.com/evertty/evertty/pty"
)

// command is one script on a host.
type command struct {
	host           *host
	mark, tag      string // the mark of its first line; the value of TagVariable, "" when nothing of it has to be ended
	script         string
	stdin          []byte
	stdout, stderr io.Writer

	pid atomic.Int64 // of its bash; 0 until that has said so
}

func (c *command) began() bool { return c.pid.Load() != 0 }

// bootLine is the command line for any login shell: a bash, with a tag in the environment that
// /proc shows, that reads so many bytes of script from its input and leaves the rest. The script is
// one of bash.AllOrNothing, for the connection may end within it.
func bootLine(n int, tag string) channelRequest {
	return channelRequest{name: "exec",
		text: fmt.Sprintf(`exec env %s=%s bash -c 'eval "$(head -c %d)"'`, bash.TagVariable, tag, n)}
}

// run runs the script and returns its exit code. Errors: ErrNotFound and ErrNotStarted when the
// instance is gone, ErrUnreachable, ctx.Err().
func (c *command) run(ctx context.Context) (int, error) {
	script := bash.AllOrNothing(c.script)
	ch, err := c.host.session(ctx, bootLine(len(script), c.tag))
	if err != nil {
		return 0, err
	}
	defer ch.release()
	out, errs := bash.NewActivityWriter(c.stdout), bash.NewActivityWriter(c.stderr)
	head := &headReader{mark: []byte(c.mark + " "), to: out, begin: func(pid int64) { c.pid.Store(pid) }}
	var copying, writing sync.WaitGroup
	copying.Go(func() { _, _ = io.Copy(head, ch) })
	copying.Go(func() { _, _ = io.Copy(errs, ch.Stderr()) })
	writing.Go(func() {
		_, _ = io.WriteString(ch, script)
		_, _ = ch.Write(c.stdin)
		_ = ch.CloseWrite()
	})
	exit := make(chan exitStatus, 1)
	writing.Go(func() { exit <- waitExit(ch.requests) })
	copied := make(chan struct{})
	go func() { copying.Wait(); close(copied) }()
	x := c.wait(ctx, ch.conn, exit, copied, func() time.Time { return bash.Later(out.Last(), errs.Last()) })
	_ = ch.Close()
	// The server answers a close at once, or it is gone.
	silent := time.AfterFunc(silenceLimit, func() { _ = ch.conn.client.Close() })
	<-copied
	writing.Wait()
	silent.Stop()
	return c.result(ctx, x, head)
}

// wait waits for the exit and then for the output, or ends the command when ctx does.
func (c *command) wait(ctx context.Context, conn *connection, exit <-chan exitStatus, copied <-chan struct{},
	last func() time.Time) exitStatus {
	var x exitStatus
	select {
	case x = <-exit:
	case <-ctx.Done():
		c.end(conn)
		return exitStatus{}
	}
	for end := time.Now().Add(drainLimit); time.Now().Before(end); {
		select {
		case <-copied:
			return x
		case <-ctx.Done():
			c.end(conn)
			return x
		case <-time.After(quietLimit / 5):
		}
		heard := bash.Later(last(), x.at)
		if !x.known || time.Since(heard) <= quietLimit {
			continue
		}
		select { // that nothing comes may be the network's doing
		case <-conn.echo():
		case <-copied:
		case <-ctx.Done():
		case <-time.After(time.Until(end)):
		}
		if ctx.Err() == nil && bash.Later(last(), x.at).Equal(heard) {
			return x
		}
	}
	return x
}

// echo is closed when all that the server has sent until now has come: it answers in order. It is
// closed also when the connection ends.
func (c *connection) echo() <-chan struct{} {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _, _ = c.client.SendRequest("keepalive@openssh.com", true, nil)
	}()
	return answered
}

// end ends what the command has started, over a channel of its own on the same connection. It waits
// while others do that, and while the server refuses the channel: it allows few.
func (c *command) end(conn *connection) {
	if c.tag == "" {
		return
	}
	select {
	case conn.ends <- struct{}{}:
		defer func() { <-conn.ends }()
	case <-conn.dead:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), bash.KillTimeout)
	defer cancel()
	group := ""
	if pid := c.pid.Load(); pid > 1 {
		group = strconv.FormatInt(pid, 10)
	}
	text := bash.AllOrNothing(bash.KillScript("^"+bash.TagVariable+"="+c.tag+"$", group))
	ch, err := conn.session(ctx, bootLine(len(text), ""))
	for refused(err) && wait.Sleep(ctx, refusedPause) {
		ch, err = conn.session(ctx, bootLine(len(text), ""))
	}
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.client.Close() })
	defer stop()
	_, _ = io.WriteString(ch, text)
	_ = ch.CloseWrite()
	go func() { _, _ = io.Copy(io.Discard, ch.Stderr()) }()
	_, _ = io.Copy(io.Discard, ch)
	_ = waitExit(ch.requests)
	_ = ch.Close()
}

// result is what an exit means.
func (c *command) result(ctx context.Context, x exitStatus, head *headReader) (int, error) {
	switch {
	case head.gone:
		return 0, fmt.Errorf("%w: %w: its directory is not there", provider.ErrNotStarted, provider.ErrNotFound)
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case x.known && !c.began():
		return 0, fmt.Errorf("%w: %w: the host has no bash, or its shell does not run it (exit %d)",
			provider.ErrNotStarted, provider.ErrProvider, x.code)
	case x.known:
		return x.code, nil
	}
	return 0, fmt.Errorf("%w: the connection was lost", provider.ErrUnreachable)
}

// exitStatus is how a command ended, as the server has reported.
type exitStatus struct {
	code  int
	known bool
	at    time.Time
}

// waitExit reads requests until the exit, and discards the rest. ssh.Session does not say when the
// exit came, and its Start does not distinguish a request that was not made from one that failed:
// see connection.session.
func waitExit(requests <-chan *ssh.Request) exitStatus {
	for r := range requests {
		if r.WantReply {
			_ = r.Reply(false, nil)
		}
		x := exitStatus{at: time.Now(), known: true}
		switch r.Type {
		case "exit-status":
			var status struct{ Code uint32 }
			if ssh.Unmarshal(r.Payload, &status) != nil {
				continue
			}
			x.code = int(status.Code)
		case "exit-signal":
			var by struct {
				Name       string
				Core       bool
				Text, Lang string
			}
			x.code = bash.SignalBase
			if ssh.Unmarshal(r.Payload, &by) == nil {
				if sig, err := pty.ParseSignal(by.Name); err == nil {
					x.code += int(sig)
				}
			}
		default:
			continue
		}
		go ssh.DiscardRequests(requests) // ends with the channel
		return x
	}
	return exitStatus{}
}

// headReader takes the first line that begins with a mark out of the output, with what the login
// shell may have said before it.
type headReader struct {
	mark  []byte
	to    io.Writer
	begin func(pid int64)
	seen  []byte
	past  bool
	gone  bool
}

// maxHead is how much a login shell may say, in bytes.
const maxHead = 64 << 10

func (h *headReader) Write(p []byte) (int, error) {
	if h.past {
		return h.to.Write(p)
	}
	h.seen = append(h.seen, p...)
	from := bytes.Index(h.seen, h.mark)
	if from < 0 {
		if len(h.seen) > maxHead {
			h.seen = h.seen[len(h.seen)-len(h.mark):]
		}
		return len(p), nil
	}
	word, rest, whole := bytes.Cut(h.seen[from+len(h.mark):], []byte("\n"))
	if !whole {
		return len(p), nil
	}
	h.past, h.seen = true, nil
	if pid, err := strconv.ParseInt(string(bytes.TrimSpace(word)), 10, 64); err == nil {
		h.begin(pid)
	} else {
		h.gone = true
	}
	if len(rest) > 0 {
		_, _ = h.to.Write(rest)
	}
	return len(p), nil
}
