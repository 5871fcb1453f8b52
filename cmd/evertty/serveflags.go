//go:build linux

package main

import (
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/memory"
	"github.com/evertty/evertty/internal/server"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/pty/keeper/holder"
	"github.com/evertty/evertty/vt"
)

// The forms of --log-format.
const (
	logText = "text"
	logJSON = "json"
)

// logger writes the log of a server to w.
func (f *serveFlags) logger(w io.Writer) *slog.Logger {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(f.logLevel)) // the flag takes level names only
	o := &slog.HandlerOptions{Level: level}
	if f.logFormat == logJSON {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// serveFlags are the settings of a server.
type serveFlags struct {
	terminals     terminal.Config
	shells        registry.Config
	policy        thread.Policy // of threads that say none
	auth          auth.Config
	tls           tlsFlags
	ssh           sshFlags
	passed        []net.Listener // by a service manager; they stand for auth.Listen
	insecure      bool
	takeover      bool
	background    bool   // a verb started it by itself
	before        string // address of a server that was killed, "" when it does not matter
	keeperIdle    time.Duration
	memory        int64 // bytes, of one terminal
	bound         int64 // bytes, of the server
	requestRate   int   // a second, of one address
	maxViewers    int
	recordRotate  int64
	sessionChosen bool // somebody set one of the two of policy
	engine        string
	oldest        string
	logLevel      string
	logFormat     string
	debug         bool   // serve profiles on a socket
	config        string // a file
	rules         string // a file
	webhookSecret string // a file
	users         string // a file
	providers     string // a directory; "" is DIR/providers, which need not be there
}

// maxRequestRate is more than a server answers.
const maxRequestRate = 1_000_000

// The policies of --max-ptys-policy.
const (
	policyRefuse = "refuse"
	policyOldest = "oldest"
)

func (a *app) newServe() *cobra.Command {
	f := serveFlags{engine: defaultEngine, logLevel: "info", logFormat: logText, oldest: policyRefuse,
		auth:      auth.Config{Listen: "127.0.0.1:3000", Mode: auth.ModeToken},
		terminals: terminal.Config{Unicode: vt.Unicode11, Sync: journal.SyncInterval}}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: `serve starts the server and prints one line with its address when it is ready.
Programs go on running when the server ends, is killed or is replaced by another
version: a small process of their own, evertty keeper, holds them until the next
serve on the same data directory.
Every flag can also be a variable (--pty-idle is EVERTTY_PTY_IDLE) or a key of the
file of --config (TOML; pty_idle); the flag wins, then the variable.`,
		Example: `  evertty serve
  evertty serve --listen 127.0.0.1:0 --data-dir /var/lib/evertty`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.background {
				f.auth.Listen = freePort
			}
			if err := applyConfig(c, f.config); err != nil {
				return err
			}
			f.sessionChosen = c.Flags().Changed("session-idle") || c.Flags().Changed("session-max")
			return a.serve(c.Context(), f)
		},
	}
	c.Flags().BoolVar(&f.background, backgroundFlag, false, "a verb started this server: another default of --listen")
	_ = c.Flags().MarkHidden(backgroundFlag)
	f.access(c)
	f.durability(c)
	f.limits(c)
	return c
}

// access says how the server is reached, and what it reads and writes besides.
func (f *serveFlags) access(c *cobra.Command) {
	addFlags(c,
		flag{"config", "", &f.config, "read settings from this TOML `file`"},
		flag{"listen", "", &f.auth.Listen,
			"`address` to listen on: HOST:PORT (port 0 takes a free one; a name is all its addresses) or " +
				"unix:///path (what is there stays, unless it is a dead server's socket)"},
		flag{"auth", "", newEnum(&f.auth.Mode, auth.ModeToken, auth.ModeNone),
			"who may connect: token, or none for everybody on this machine"},
		flag{"insecure", "", &f.insecure, "allow --auth none on an address that others can reach"},
		flag{"base-path", "", &f.auth.BasePath, "`/PATH` that everything is below, for a proxy that passes it on"},
		flag{"public-url", "", &f.auth.PublicURL,
			"`https://HOST[:PORT][/PATH]` by which a proxy with TLS offers this server: its name is answered for, " +
				"browsers use it by TLS only, and evertty url prints it"},
		flag{"engine", "", newEnum(&f.engine, engineNames()...), "terminal engine"},
		flag{"unicode", "", newEnum((*string)(&f.terminals.Unicode), string(vt.Unicode11),
			string(vt.Unicode15Graphemes)),
			"`table` of character widths, which viewers load too: 11 or 15-graphemes"},
		flag{"verify", "", &f.terminals.Verify,
			"for debugging: check every snapshot for viewers against a fresh engine and log a difference"},
		flag{"webhook-secret-file", "", &f.webhookSecret,
			"`file` with what providers must send as X-Webhook-Secret to tell what happened to their sandboxes; they " +
				"need no token then"},
		flag{"users", "", &f.users,
			"`file` with users (TOML), each with a token of their own, who see only what is theirs; SIGHUP reads it " +
				"again (see docs/operate/users.md)"},
		flag{"permission-rules", "", &f.rules,
			"`file` with what commands, input and the like of all threads are denied, asked about or allowed (see " +
				"docs/guide/permissions.md)"},
		flag{"providers", "", &f.providers,
			"`directory` with a NAME.json for each provider that threads may run at (default: providers in the data " +
				"directory; see docs/guide/providers.md)"},
		flag{"metrics-public", "", &f.auth.OpenMetrics, "let /metrics answer without credentials"},
		flag{"log-format", "", newEnum(&f.logFormat, logText, logJSON),
			"form of the log on stderr: key=value text, or a JSON object a line (see docs/operate/monitoring.md)"},
		flag{"debug", "", &f.debug,
			"serve profiles of the server on DIR/debug.sock, to this user alone (see docs/operate/monitoring.md)"},
		flag{"log-level", "", newEnum(&f.logLevel, "debug", "info", "warn", "error"),
			"what to write to the log on stderr"},
	)
	c.Flags().StringSliceVar(&f.auth.AllowedHosts, "allowed-host", nil,
		"another `name` this server is reached by, as behind a proxy (repeatable)")
	c.Flags().StringSliceVar(&f.auth.TrustedProxies, "trusted-proxy", nil,
		"`network` or address of a proxy whose X-Forwarded-For, -Proto and -Host count, or unix for the socket of "+
			"--listen (repeatable)")
	f.tls.add(c)
	f.ssh.add(c)
}

// durability says what is kept for the next server.
func (f *serveFlags) durability(c *cobra.Command) {
	addFlags(c,
		flag{"snapshot-interval", "", newDuration(&f.terminals.Interval, terminal.DefaultInterval),
			"time between two snapshots on disk of a terminal that changed"},
		flag{"takeover", "", &f.takeover,
			"ask the server that has the data directory to leave, end it if it does not within 10 s, and go on in " +
				"its place"},
		flag{"sync", "", newEnum((*string)(&f.terminals.Sync), string(journal.SyncNone), string(journal.SyncInterval),
			string(journal.SyncAlways)),
			"when output is forced to the disk, for a crash of the machine: none, interval (once a second) or always"},
		flag{"record-input", "", &f.terminals.RecordInput,
			"write what is typed to recordings too, passwords included"},
		flag{"keeper-idle", "", newDuration(&f.keeperIdle, holder.DefaultIdle),
			"how long a keeper that this server starts waits for a server when it holds no program"},
		flag{"record-rotate", "", newSize(&f.recordRotate, store.DefaultRotateBytes),
			"size at which the file of a thread's record is rotated"},
	)
}

// newBound is the size of --memory: 0 is none.
func newBound(p *int64) *value {
	v := newSize(p, 0)
	size := v.set
	v.allowed = "0 or at least 64MiB, in bytes or as 512MiB or 1GiB"
	v.set = func(s string) bool { return size(s) && (*p == 0 || *p >= memory.MinLimit) }
	return v
}

// limits says when something ends, and how much is kept.
func (f *serveFlags) limits(c *cobra.Command) {
	clean := &f.terminals.Clean
	addFlags(c,
		flag{"pty-idle", "", newDuration(&clean.Idle, 0),
			"end a terminal that nobody watched, typed into and that printed nothing for so long; 0 is never"},
		flag{"pty-unattached", "", newDuration(&clean.Unattached, 0),
			"end a terminal that nobody has ever watched or typed into, so long after its start; 0 is never"},
		flag{"park-after", "", newDuration(&f.terminals.ParkAfter, 0),
			"move the screens of a terminal to the disk that nobody watched, typed into and that printed nothing for so " +
				"long; its program runs on, and a look or a byte brings them back; 0 is never"},
		flag{"shell-idle", "", newDuration(&f.shells.Idle, registry.DefaultIdle),
			"end the process of an exec shell that runs nothing and got no command for so long; it comes back with " +
				"its next command; 0 is never"},
		flag{"session-idle", "", newDuration(&f.policy.Idle, thread.DefaultIdle),
			"how long the session of a thread may be without activity; set, it also ends programs on terminals"},
		flag{"session-max", "", newDuration(&f.policy.Max, thread.DefaultMax),
			"how long the session of a thread may last in all"},
		flag{"max-ptys", "", newInt(&f.terminals.Max, 0, 0, terminal.MaxTerminals),
			"how many terminals may run; one more is refused; 0 is the most that a server holds"},
		flag{"max-shells", "", newInt(&f.shells.Max, 0, 0, registry.Max),
			"how many exec shells there may be; one more is refused; 0 is the most that a server holds"},
		flag{"max-viewers", "", newInt(&f.maxViewers, 0, 0, server.MaxViewers),
			"how many streams, WebSockets and waits may be connected; one more is refused; 0 is as many as there are " +
				"file descriptors"},
		flag{"max-ptys-per-session", "", newInt(&clean.MaxPerSession, 0, 0, terminal.MaxTerminals),
			"how many terminals of a session may run; 0 is any number"},
		flag{"request-rate", "", newInt(&f.requestRate, 0, 0, maxRequestRate),
			"how many requests a second each address may send, and five times as many at once; 0 is any number"},
		flag{"max-ptys-policy", "", newEnum(&f.oldest, policyRefuse, policyOldest),
			"what happens to one more: refuse it, or end the oldest"},
		flag{"terminal-memory", "", newSizeOf(&f.memory, vt.DefaultMemory, vt.MinMemory, vt.MaxMemory),
			"how much memory the screens, history, styles and links of one terminal may take"},
		flag{"memory", "", newBound(&f.bound),
			"how much memory the server may take: at 90 % of it new terminals, shells and viewers are refused, what " +
				"runs goes on; 0 is no bound"},
		flag{"journal-terminal-quota", "", newSize(&clean.TerminalQuota, terminal.DefaultTerminalQuota),
			"how much output of one terminal is kept"},
		flag{"journal-quota", "", newSize(&clean.JournalQuota, terminal.DefaultJournalQuota),
			"how much output of all terminals is kept"},
		flag{"snapshot-quota", "", newSize(&clean.SnapshotQuota, terminal.DefaultSnapshotQuota),
			"how much all snapshots may take"},
		flag{"exec-log-quota", "", newSize(&f.shells.LogQuota, supervisor.DefaultExecLogQuota),
			"how much output of all commands in exec shells is kept; the oldest goes first"},
	)
}
