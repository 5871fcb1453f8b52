package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/pty"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/internal/provider/wait"
)

// sshConn is one connection. open and used are guarded by sshHost.mu.
type sshConn struct {
	client *ssh.Client
	socket *sshSocket
	open   int // channels
	used   time.Time
	dead   chan struct{} // closed when the connection has ended
	ends   chan struct{} // one value per channel that ends a command
}

// watch takes a connection out when it has ended.
func (h *sshHost) watch(c *sshConn) {
	_ = c.client.Wait()
	close(c.dead)
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.conns {
		if h.conns[i] == c {
			h.conns = append(h.conns[:i:i], h.conns[i+1:]...)
			return
		}
	}
}

// keep asks the server now and then whether it is there, and closes the connection when it is not, or nobody has used
// it for long.
func (c *sshConn) keep(h *sshHost) {
	tick := time.NewTicker(sshKeepalive)
	defer tick.Stop()
	for {
		select {
		case <-c.dead:
			return
		case <-tick.C:
		}
		h.mu.Lock()
		idle := c.open == 0 && time.Since(c.used) > sshIdle
		if idle {
			c.open = sshChannels // nobody takes it any more
		}
		h.mu.Unlock()
		if idle {
			_ = c.client.Close()
			return
		}
		silent := time.AfterFunc(sshSilence, func() { _ = c.client.Close() })
		_, _, _ = c.client.SendRequest("keepalive@openssh.com", true, nil)
		silent.Stop()
	}
}

// sshWant is what a channel is asked for (RFC 4254 section 6.5): "exec" with a command line, "subsystem" with a name.
type sshWant struct{ request, text string }

// session is sshConn.session on a connection with room. One from before may have ended without anybody having noticed
// yet: then the server has certainly not begun, and the call goes to another. The one that this call made itself is the
// last, for what fails at once would do so again. A connection's age does not tell these apart: a young one breaks like
// any other.
func (h *sshHost) session(ctx context.Context, want sshWant,
	prepare func(ssh.Channel) error) (*sshConn, func(), ssh.Channel, <-chan *ssh.Request, error) {
	for {
		conn, fresh, release, err := h.acquire(ctx)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		ch, requests, err := conn.session(ctx, want, prepare)
		if err == nil {
			return conn, release, ch, requests, nil
		}
		release()
		if ctx.Err() != nil || !lost(err) {
			return nil, nil, nil, nil, err
		}
		h.discard(conn)
		if fresh {
			return nil, nil, nil, nil, err
		}
	}
}

// lost tells that a connection ended before the server was asked for a command. A server that refuses a channel is
// there, and others' commands may run on that connection.
func lost(err error) bool {
	return errors.Is(err, provider.ErrNotStarted) && errors.Is(err, provider.ErrUnreachable) && !refused(err)
}

// refused tells that a server opens no more channels on a connection now: it allows fewer, or has not noticed yet that
// others have ended.
func refused(err error) bool {
	_, is := errors.AsType[*ssh.OpenChannelError](err)
	return is
}

// discard takes out a connection that has ended, so that nobody gets it again.
func (h *sshHost) discard(c *sshConn) {
	_ = c.client.Close()
	<-c.dead
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns = slices.DeleteFunc(h.conns, func(o *sshConn) bool { return o == c })
}

// session opens a channel and asks for what is wanted, after what prepare asks for. When ctx ends before it is there,
// it is closed as soon as it is. Errors: ErrUnreachable, the reason of ctx; with ErrNotStarted when the server has
// certainly not begun.
func (c *sshConn) session(ctx context.Context, want sshWant,
	prepare func(ssh.Channel) error) (ssh.Channel, <-chan *ssh.Request, error) {
	type opened struct {
		ch       ssh.Channel
		requests <-chan *ssh.Request
		err      error
	}
	if c.socket.gone.Load() {
		return nil, nil, errSSHLost
	}
	done := make(chan opened, 1)
	// decided by who is first: the request is made, or it is given up because the connection or ctx has ended.
	var decided atomic.Bool
	go func() {
		ch, requests, err := c.client.OpenChannel("session", nil)
		if err != nil {
			done <- opened{err: fmt.Errorf("%w: %w: %w", provider.ErrNotStarted, provider.ErrUnreachable, err)}
			return
		}
		if err = prepare(ch); err != nil {
			err = fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
		} else if !decided.CompareAndSwap(false, true) {
			err = errSSHLost
		} else {
			err = ask(ch, want.request, struct{ Text string }{want.text})
		}
		if err != nil || ctx.Err() != nil {
			_ = ch.Close()
			go ssh.DiscardRequests(requests)
			err = errors.Join(err, context.Cause(ctx))
		}
		done <- opened{ch, requests, err}
	}()
	// A channel that is opened in the moment in which its connection ends may get no answer, not even an error; a
	// request always gets one.
	for dead := c.dead; ; dead = nil {
		select {
		case o := <-done:
			return o.ch, o.requests, o.err
		case <-ctx.Done():
			go func() { // it may be there in the same moment
				if o := <-done; o.err == nil {
					_ = o.ch.Close()
					ssh.DiscardRequests(o.requests)
				}
			}()
			if decided.CompareAndSwap(false, true) {
				return nil, nil, fmt.Errorf("%w: %w", provider.ErrNotStarted, context.Cause(ctx))
			}
			return nil, nil, context.Cause(ctx)
		case <-dead:
			if decided.CompareAndSwap(false, true) {
				return nil, nil, errSSHLost
			}
		}
	}
}

// errSSHLost is of a connection that ended before it was asked for a command.
var errSSHLost = fmt.Errorf("%w: %w: the connection was lost", provider.ErrNotStarted, provider.ErrUnreachable)

// ask makes a request of a channel and waits for the answer.
func ask(ch ssh.Channel, name string, payload any) error {
	ok, err := ch.SendRequest(name, true, ssh.Marshal(payload))
	if err != nil {
		return fmt.Errorf("%w: %w", provider.ErrUnreachable, err)
	}
	if !ok {
		return fmt.Errorf("%w: %w: the server refuses %s", provider.ErrNotStarted, provider.ErrProvider, name)
	}
	return nil
}

// sshCommand is one script on a host.
type sshCommand struct {
	host           *sshHost
	mark, tag      string // the mark of its first line; the value of TagVariable, "" when nothing of it has to be ended
	script         string
	stdin          []byte
	stdout, stderr io.Writer

	pid atomic.Int64 // of its bash; 0 until that has said so
}

func (c *sshCommand) began() bool { return c.pid.Load() != 0 }

// bootLine is what sshd gives the login shell, whichever that is: a bash, with a tag in the environment that /proc
// shows of it, that reads so many bytes of script from its input, and nothing of what follows. The script is one that
// whole has made, for the connection may end within it.
func bootLine(n int, tag string) sshWant {
	return sshWant{"exec", fmt.Sprintf(`exec env %s=%s bash -c 'eval "$(head -c %d)"'`, bash.TagVariable, tag, n)}
}

// run runs the script and returns its exit code. Errors: ErrNotFound and ErrNotStarted when the instance is gone,
// ErrUnreachable, the reason of ctx.
func (c *sshCommand) run(ctx context.Context) (int, error) {
	script := bash.AllOrNothing(c.script)
	conn, release, ch, requests, err := c.host.session(ctx, bootLine(len(script), c.tag), func(ssh.Channel) error {
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer release()
	out, errs := bash.NewActivityWriter(c.stdout), bash.NewActivityWriter(c.stderr)
	head := &sshHead{mark: []byte(c.mark + " "), to: out, begin: func(pid int64) { c.pid.Store(pid) }}
	var copying, writing sync.WaitGroup
	copying.Go(func() { _, _ = io.Copy(head, ch) })
	copying.Go(func() { _, _ = io.Copy(errs, ch.Stderr()) })
	writing.Go(func() {
		_, _ = io.WriteString(ch, script)
		_, _ = ch.Write(c.stdin)
		_ = ch.CloseWrite()
	})
	exit := make(chan sshExit, 1)
	writing.Go(func() { exit <- waitExit(requests) })
	copied := make(chan struct{})
	go func() { copying.Wait(); close(copied) }()
	x := c.wait(ctx, conn, exit, copied, func() time.Time { return bash.Later(out.Last(), errs.Last()) })
	_ = ch.Close()
	// The server answers a close at once, or it is gone.
	silent := time.AfterFunc(sshSilence, func() { _ = conn.client.Close() })
	<-copied
	writing.Wait()
	silent.Stop()
	return c.result(ctx, x, head)
}

// wait waits for the exit and then for the output, or ends the command when ctx does.
func (c *sshCommand) wait(ctx context.Context, conn *sshConn, exit <-chan sshExit, copied <-chan struct{},
	last func() time.Time) sshExit {
	var x sshExit
	select {
	case x = <-exit:
	case <-ctx.Done():
		c.end(conn)
		return sshExit{}
	}
	for end := time.Now().Add(sshDrain); time.Now().Before(end); {
		select {
		case <-copied:
			return x
		case <-ctx.Done():
			c.end(conn)
			return x
		case <-time.After(sshQuiet / 5):
		}
		heard := bash.Later(last(), x.at)
		if !x.known || time.Since(heard) <= sshQuiet {
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

// echo is closed when all that the server has sent until now has come: it answers in order. It is closed also when the
// connection ends.
func (c *sshConn) echo() <-chan struct{} {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _, _ = c.client.SendRequest("keepalive@openssh.com", true, nil)
	}()
	return answered
}

// end ends what the command has started, over a channel of its own on the same connection. It waits while others do
// that, and while the server refuses the channel: it allows few.
func (c *sshCommand) end(conn *sshConn) {
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
	open := func() (ssh.Channel, <-chan *ssh.Request, error) {
		return conn.session(ctx, bootLine(len(text), ""), func(ssh.Channel) error { return nil })
	}
	ch, requests, err := open()
	for refused(err) && wait.Sleep(ctx, sshRefused) {
		ch, requests, err = open()
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
	_ = waitExit(requests)
	_ = ch.Close()
}

// result is what an exit means.
func (c *sshCommand) result(ctx context.Context, x sshExit, head *sshHead) (int, error) {
	switch {
	case head.gone:
		return 0, fmt.Errorf("%w: %w: its directory is not there", provider.ErrNotStarted, provider.ErrNotFound)
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case x.known && !c.began():
		return 0, fmt.Errorf("%w: %w: the host has no bash, or its shell does not run it (exit %d)",
			provider.ErrNotStarted,
			provider.ErrProvider, x.code)
	case x.known:
		return x.code, nil
	}
	return 0, fmt.Errorf("%w: the connection was lost", provider.ErrUnreachable)
}

// sshExit is how a command ended, as the server told.
type sshExit struct {
	code  int
	known bool
	at    time.Time
}

// waitExit reads requests until the exit, and lets others read the rest.
func waitExit(requests <-chan *ssh.Request) sshExit {
	for r := range requests {
		if r.WantReply {
			_ = r.Reply(false, nil)
		}
		x := sshExit{at: time.Now(), known: true}
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
	return sshExit{}
}

// sshHead takes the first line that begins with a mark out of the output, with what the login shell may have said
// before it.
type sshHead struct {
	mark  []byte
	to    io.Writer
	begin func(pid int64)
	seen  []byte
	past  bool
	gone  bool
}

// maxHead is how much a login shell may say, in bytes.
const maxHead = 64 << 10

func (h *sshHead) Write(p []byte) (int, error) {
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
