// Package ssh runs processes on hosts that are reached by ssh: an instance is a directory there.
package ssh

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os/user"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
)

// Bounds of ssh.
const (
	dialTimeout     = 15 * time.Second       // to a connection, with its handshake
	keepaliveEvery  = 15 * time.Second       // between two questions whether a server still answers
	silenceLimit    = 10 * time.Second       // after which one that does not is gone
	idleLimit       = 5 * time.Minute        // after which an unused connection is closed
	maxChannels     = 8                      // at the same time on one connection: OpenSSH allows 10 (MaxSessions)
	maxEndChannels  = 2                      // the other two, for ending commands
	maxConnections  = 4                      // at the same time to one host
	quietLimit      = 250 * time.Millisecond // of silence ends the output of an ended command while a process holds it
	drainLimit      = 10 * time.Second       // ends it in any case
	refusedPause    = 50 * time.Millisecond  // until a channel for that is asked for again
	maxReply        = 64 << 10               // bytes that a script of our own may print
	maxTerminalLine = 64 << 10               // bytes of a terminal's command line with its variables
	defaultDir      = ".evertty"             // in the home directory
)

// Config says which machines there are and how they are known. Nothing of it is taken from
// ~/.ssh/config.
type Config struct {
	// Hosts are user@host:port; the user is by default the current one, the port 22. Create takes
	// the first.
	Hosts []string `json:"hosts"`
	// KnownHosts are files; none is ~/.ssh/known_hosts. A host that is in none of them is refused.
	KnownHosts []string `json:"known_hosts"`
	// Keys are files of private keys without a passphrase; none is the usual ones of ~/.ssh.
	Keys  []string `json:"keys"`
	Agent string   `json:"agent"` // the socket of an agent that has keys; "" is none
	// Dir is where the directories of instances are made; "" is .evertty. A relative one begins at
	// the home directory.
	Dir string `json:"dir"`
}

// Provider is other machines that are there already. An instance is a directory on one,
// "user@host:port/name"; Create makes it. Destroy ends its processes and removes it with its
// content. Commands and terminals run as the user there: instances are no walls between each other.
//
// Machines need an OpenSSH server and bash; to find what commands have started, /proc and grep -z
// (GNU or BusyBox). Without /proc only the command's process group is ended.
type Provider struct {
	dir   string
	hosts []*host
}

// New makes a Provider. It reads known hosts, and makes no connection. Close ends it.
func New(c Config) (*Provider, error) {
	if len(c.Hosts) == 0 {
		return nil, fmt.Errorf("ssh: no hosts are configured")
	}
	login, err := newLogin(c)
	if err != nil {
		return nil, err
	}
	s := &Provider{dir: cmp.Or(c.Dir, defaultDir)}
	for _, h := range c.Hosts {
		name, address, found := strings.Cut(h, "@")
		if !found {
			name, address = "", h
		}
		if name == "" {
			u, err := user.Current()
			if err != nil {
				return nil, fmt.Errorf("ssh: %w", err)
			}
			name = u.Username
		}
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(strings.Trim(address, "[]"), "22")
		}
		s.hosts = append(s.hosts, newHost(name, address, login))
	}
	return s, nil
}

// Close closes all connections, which ends what runs on them, and waits for that.
func (s *Provider) Close() error {
	for _, h := range s.hosts {
		h.close()
	}
	return nil
}

// Name is ssh.
func (s *Provider) Name() string { return "ssh" }

// Capabilities are all but webhooks and pause, for a machine of others is not ours to stop.
func (s *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Destroy: true, Status: true, PTY: true, Files: true, Metrics: true,
		Runtime: "remote_wrapped"}
}

// instance is a directory on a host.
type instance struct {
	*host
	name string // of the directory, also in the mark of its processes
	dir  string // text for bash: one word
	file string // for sftp: relative to the home directory, or absolute
}

// instanceName is what Create makes of names; nothing of it means anything in a regular expression
// or a path.
var instanceName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// at reads an id. Errors: ErrNotFound, also for a host that is not configured any more.
func (s *Provider) at(id string) (instance, error) {
	host, name, _ := strings.Cut(id, "/")
	for _, h := range s.hosts {
		if h.String() == host && instanceName().MatchString(name) {
			return s.of(h, name), nil
		}
	}
	return instance{}, fmt.Errorf("ssh: %w: %.200q", provider.ErrNotFound, id)
}

func (s *Provider) of(h *host, name string) instance {
	i := instance{host: h, name: name, dir: bash.Quote(s.dir + "/" + name), file: s.dir + "/" + name}
	if !strings.HasPrefix(s.dir, "/") {
		i.dir = `"$HOME"/` + i.dir
	}
	return i
}

// Create makes a directory on the first host, with the variables in a file beside it that only the
// user can read.
func (s *Provider) Create(ctx context.Context, r provider.CreateRequest) (provider.Instance, error) {
	var b [4]byte
	_, _ = rand.Read(b[:])
	label := regexp.MustCompile(`[^A-Za-z0-9_-]+`).ReplaceAllString(cmp.Or(r.Name, "instance"), "-")
	i := s.of(s.hosts[0], label[:min(len(label), 80)]+"-"+hex.EncodeToString(b[:]))
	env, err := bash.Script(provider.ExecRequest{Env: r.Env})
	if err != nil {
		return provider.Instance{}, err
	}
	out, err := i.sh(ctx, "umask 077 && mkdir -p -- "+i.dir+" && cat >"+i.dir+".env && cd -- "+i.dir+" && pwd -P",
		[]byte(env))
	if err != nil {
		return provider.Instance{}, fmt.Errorf("ssh: create at %s: %w", i.host, err)
	}
	return provider.Instance{ID: i.String() + "/" + i.name, State: provider.Running, CreatedAt: time.Now().UTC(),
		Cwd: strings.TrimSuffix(out, "\n")}, nil
}

// Destroy ends the processes of the instance and removes its directory.
func (s *Provider) Destroy(ctx context.Context, id string) error {
	i, err := s.at(id)
	if err != nil {
		return nil //nolint:nilerr // it is gone
	}
	kill := bash.KillScript("^"+bash.TagVariable+"="+i.name+`\.`, "")
	if _, err := i.sh(ctx, kill+"rm -rf -- "+i.dir+" "+i.dir+".env", nil); err != nil {
		return fmt.Errorf("ssh: destroy: %w", err)
	}
	return nil
}

// Pause is ErrUnsupported.
func (s *Provider) Pause(context.Context, string) error {
	return fmt.Errorf("ssh: pause: %w", provider.ErrUnsupported)
}

// Resume is ErrUnsupported.
func (s *Provider) Resume(context.Context, string) error {
	return fmt.Errorf("ssh: resume: %w", provider.ErrUnsupported)
}

// Status is Running while the directory is there.
func (s *Provider) Status(ctx context.Context, id string) (provider.State, error) {
	i, err := s.at(id)
	if err != nil {
		return provider.Dead, nil //nolint:nilerr // that is what Status says of one that is gone
	}
	out, err := i.sh(ctx, "if [ -d "+i.dir+" ]; then echo here; else echo gone; fi", nil)
	switch {
	case err != nil:
		return provider.Unknown, fmt.Errorf("ssh: status: %w", err)
	case out == "here\n":
		return provider.Running, nil
	}
	return provider.Dead, nil
}

// prefix is the text before every command: it says that it begins, or that the instance is gone, in
// a first line after mark.
func (i instance) prefix(mark string) string {
	return fmt.Sprintf("\\cd -- %[1]s 2>/dev/null || { printf '%[2]s gone\\n'; exit 1; }\n"+
		". %[1]s.env\nprintf '%[2]s %%s\\n' \"$$\"\n", i.dir, mark)
}

// Exec runs a command with a bash on the host. The script comes over its standard input, before the
// command's own, so it may have any length and ps does not show it. When ctx or the timeout ends,
// what it has started is ended over another channel: SIGTERM, and SIGKILL half a second later.
func (s *Provider) Exec(ctx context.Context, id string, r provider.ExecRequest, stdout,
	stderr io.Writer) (provider.ExecResult, error) {
	i, err := s.at(id)
	if err != nil {
		return provider.ExecResult{}, fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
	}
	text, err := bash.Script(r)
	if err != nil {
		return provider.ExecResult{}, err
	}
	a, end := bash.NewAttempt(ctx, r.Timeout, stdout, stderr)
	defer end()
	mark := rand.Text()
	c := command{host: i.host, tag: i.name + "." + mark, mark: mark, script: i.prefix(mark) + text,
		stdin: r.Stdin, stdout: a.Stdout, stderr: a.Stderr}
	code, err := c.run(a)
	switch {
	case ctx.Err() != nil && errors.Is(err, provider.ErrNotStarted): // that it has not said so is no proof
		return provider.ExecResult{}, fmt.Errorf("ssh: %w: %w", provider.ErrNotStarted, context.Cause(a))
	case a.Err() != nil:
		return a.Interrupted("ssh")
	case err != nil:
		return provider.ExecResult{}, fmt.Errorf("ssh: %w", err)
	}
	return provider.ExecResult{ExitCode: code}, nil
}

// sh runs a script of our own, with its input, and returns what it prints. Errors: ErrProvider when
// it fails, ErrTooLarge, and as run.
func (h *host) sh(ctx context.Context, script string, stdin []byte) (string, error) {
	out, words := bash.Buffer{Max: maxReply}, bash.Buffer{Max: maxReply}
	mark := rand.Text()
	a, end := bash.NewAttempt(ctx, 0, &out, &words)
	defer end()
	c := command{host: h, mark: mark, script: "printf '" + mark + " %s\\n' \"$$\"\n" + script, stdin: stdin,
		stdout: a.Stdout, stderr: a.Stderr}
	code, err := c.run(a)
	if err == nil && code != 0 {
		err = fmt.Errorf("%w: %.300s", provider.ErrProvider, strings.TrimSpace(words.String()))
	}
	return out.String(), err
}

// metricsText prints busy and all ticks of the processors twice, then memory and disk in KiB.
const metricsText = `for i in 1 2; do read -r _ a b c d e f g h _ </proc/stat
echo $((a+b+c+f+g+h)) $((a+b+c+d+e+f+g+h)); [ $i = 2 ] || sleep 0.2; done
while read -r k v _; do case $k in MemTotal:|MemAvailable:) echo $v;; esac; done </proc/meminfo
df -Pk . | { read -r _; read -r _ t u _; echo $t $u; }`

// Metrics are the machine's, for it is shared by its instances; percent are of all its processors
// together.
func (s *Provider) Metrics(ctx context.Context, id string) (provider.Metrics, error) {
	i, err := s.at(id)
	if err != nil {
		return provider.Metrics{}, err
	}
	out, err := i.sh(ctx, "cd -- "+i.dir+" && "+"{ "+metricsText+"\n}", nil)
	if err != nil {
		return provider.Metrics{}, fmt.Errorf("ssh: metrics: %w", err)
	}
	var busy0, all0, busy1, all1, total, free, diskAll, diskUsed float64
	if _, err := fmt.Sscan(out, &busy0, &all0, &busy1, &all1, &total, &free, &diskAll, &diskUsed); err != nil {
		return provider.Metrics{}, fmt.Errorf("ssh: metrics: %w: %.100q", provider.ErrProvider, out)
	}
	percent := 100 * max(0, busy1-busy0) / max(1, all1-all0)
	used, mib, du, dt := (total-free)/1024, total/1024, diskUsed/(1<<20), diskAll/(1<<20)
	return provider.Metrics{CPUPercent: &percent, MemoryUsedMB: &used, MemoryTotalMB: &mib, DiskUsedGB: &du,
		DiskTotalGB: &dt}, nil
}
