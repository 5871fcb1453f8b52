package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/server"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/internal/thread/sqlite"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/pty/keeper/holder"
	"github.com/evertty/evertty/vt"
)

// serveFlags are the settings of a server.
type serveFlags struct {
	config        string
	listen        string
	auth          string
	insecure      bool
	allowedHosts  []string
	engine        string
	unicode       string
	interval      time.Duration
	verify        bool
	takeover      bool
	keeperIdle    time.Duration
	sync          string
	recordInput   bool
	clean         terminal.CleanPolicy
	shellIdle     time.Duration
	execLogQuota  int64
	memory        int64 // bytes, of one terminal
	sessionIdle   time.Duration
	sessionMax    time.Duration
	recordRotate  int64
	sessionChosen bool // somebody set one of the two
	oldest        string
	metricsPublic bool
	webhookSecret string // a file
	rules         string // a file
	providers     string // a directory; "" is DIR/providers, which need not be there
	logLevel      string
	tls           tlsFlags
}

func (a *app) newServe() *cobra.Command {
	f := serveFlags{listen: "127.0.0.1:3000", auth: auth.ModeToken, engine: defaultEngine,
		unicode: string(vt.Unicode11), logLevel: "info",
		sync: string(journal.SyncInterval), oldest: policyRefuse}
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
			if err := applyConfig(c, f.config); err != nil {
				return err
			}
			f.sessionChosen = c.Flags().Changed("session-idle") || c.Flags().Changed("session-max")
			return a.serve(c.Context(), f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.config, "config", "", "read settings from this TOML `file`")
	flags.StringVar(&f.listen, "listen", f.listen,
		"`address` to listen on: HOST:PORT (port 0 takes a free one; a name is all its addresses) or unix:///path "+
			"(what is there stays, unless it is a dead server's socket)")
	flags.Var(newEnum(&f.auth, auth.ModeToken, auth.ModeNone), "auth",
		"who may connect: token, or none for everybody on this machine")
	flags.BoolVar(&f.insecure, "insecure", false, "allow --auth none on an address that others can reach")
	flags.StringSliceVar(&f.allowedHosts, "allowed-host", nil,
		"another `name` this server is reached by, as behind a proxy (repeatable)")
	f.tls.add(flags)
	flags.Var(newEnum(&f.engine, engineNames()...), "engine", "terminal engine")
	flags.Var(newEnum(&f.unicode, string(vt.Unicode11), string(vt.Unicode15Graphemes)), "unicode",
		"`table` of character widths, which viewers load too: 11 or 15-graphemes")
	flags.Var(newDuration(&f.interval, terminal.DefaultInterval), "snapshot-interval",
		"time between two snapshots on disk of a terminal that changed")
	flags.BoolVar(&f.verify, "verify", false,
		"for debugging: check every snapshot for viewers against a fresh engine and log a difference")
	f.durabilityFlags(flags)
	f.cleaningFlags(flags)
	flags.Var(newDuration(&f.sessionIdle, thread.DefaultIdle), "session-idle",
		"how long the session of a thread may be without activity; set, it also ends programs on terminals")
	flags.Var(newDuration(&f.sessionMax, thread.DefaultMax), "session-max",
		"how long the session of a thread may last in all")
	flags.Var(newSize(&f.recordRotate, store.DefaultRotateBytes), "record-rotate",
		"size at which the file of a thread's record is rotated")
	flags.StringVar(&f.webhookSecret, "webhook-secret-file", "",
		"`file` with what providers must send as X-Webhook-Secret to tell what happened to their sandboxes; they "+
			"need no token then")
	flags.StringVar(&f.rules, "permission-rules", "",
		"`file` with what commands, input and the like of all threads are denied, asked about or allowed (see "+
			"docs/guide/permissions.md)")
	flags.StringVar(&f.providers, "providers", "",
		"`directory` with a NAME.json for each provider that threads may run at (default: providers in the data "+
			"directory; see docs/guide/providers.md)")
	flags.BoolVar(&f.metricsPublic, "metrics-public", false, "let /metrics answer without credentials")
	flags.Var(newEnum(&f.logLevel, "debug", "info", "warn", "error"), "log-level", "what to write to the log on stderr")
	return c
}

// The policies of --max-ptys-policy.
const (
	policyRefuse = "refuse"
	policyOldest = "oldest"
)

// takeoverTime is how long a server that is asked to leave may take: it has
// 5 s for its end. Then it is killed: it hangs.
const takeoverTime = 10 * time.Second

func (f *serveFlags) durabilityFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&f.takeover, "takeover", false,
		"ask the server that has the data directory to leave, end it if it does not within 10 s, and go on in its "+
			"place")
	flags.Var(newEnum(&f.sync, string(journal.SyncNone), string(journal.SyncInterval), string(journal.SyncAlways)),
		"sync",
		"when output is forced to the disk, for a crash of the machine: none, interval (once a second) or always")
	flags.BoolVar(&f.recordInput, "record-input", false, "write what is typed to recordings too, passwords included")
	flags.Var(newDuration(&f.keeperIdle, holder.DefaultIdle), "keeper-idle",
		"how long a keeper that this server starts waits for a server when it holds no program")
}

func (f *serveFlags) cleaningFlags(flags *pflag.FlagSet) {
	c := &f.clean
	flags.Var(newDuration(&c.Idle, 0), "pty-idle",
		"end a terminal that nobody watched, typed into and that printed nothing for so long; 0 is never")
	flags.Var(newDuration(&c.Unattached, 0), "pty-unattached",
		"end a terminal that nobody has ever watched or typed into, so long after its start; 0 is never")
	flags.Var(newDuration(&f.shellIdle, registry.DefaultIdle), "shell-idle",
		"end the process of an exec shell that runs nothing and got no command for so long; it comes back with its "+
			"next command; 0 is never")
	flags.Var(newInt(&c.MaxPerSession, 0, 0, terminal.MaxTerminals), "max-ptys-per-session",
		"how many terminals of a session may run; 0 is any number")
	flags.Var(newEnum(&f.oldest, policyRefuse, policyOldest), "max-ptys-policy",
		"what happens to one more: refuse it, or end the oldest")
	flags.Var(newSizeOf(&f.memory, vt.DefaultMemory, vt.MinMemory, vt.MaxMemory), "terminal-memory",
		"how much memory the screens, history, styles and links of one terminal may take")
	flags.Var(newSize(&c.TerminalQuota, terminal.DefaultTerminalQuota), "journal-terminal-quota",
		"how much output of one terminal is kept")
	flags.Var(newSize(&c.JournalQuota, terminal.DefaultJournalQuota), "journal-quota",
		"how much output of all terminals is kept")
	flags.Var(newSize(&c.SnapshotQuota, terminal.DefaultSnapshotQuota), "snapshot-quota",
		"how much all snapshots may take")
	flags.Var(newSize(&f.execLogQuota, supervisor.DefaultExecLogQuota), "exec-log-quota",
		"how much output of all commands in exec shells is kept; the oldest goes first")
}

// serve runs a server until SIGTERM or SIGINT.
func (a *app) serve(ctx context.Context, f serveFlags) error {
	// Keys of providers come in variables; programs in terminals are this server's descendants.
	if err := proc.Private(); err != nil {
		fmt.Fprintln(a.stderr, "evertty: programs may be able to read the variables of the server:", err)
	}
	if err := auth.CheckListen(f.auth, f.listen, f.insecure); err != nil {
		return usage(err)
	}
	if f.interval <= 0 {
		return usage(fmt.Errorf("snapshot_interval: got %v, allowed is more than 0", f.interval))
	}
	if err := (thread.Policy{Idle: f.sessionIdle, Max: f.sessionMax}).Check(); err != nil {
		return usage(err)
	}
	f.clean.EndOldest = f.oldest == policyOldest
	for _, quota := range []*int64{&f.clean.TerminalQuota, &f.clean.JournalQuota, &f.clean.SnapshotQuota,
		&f.execLogQuota} {
		*quota = max(*quota, 1) // 0 is what is needed and no more; mux takes it for the default
	}
	rules, err := readRules(f.rules)
	if err != nil {
		return usage(err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	dir, err := a.dir()
	if err != nil {
		return err
	}
	unlock, err := a.lock(ctx, dir, f.takeover)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := a.dir(); err != nil { // another user may have made what was not there
		return err
	}
	s, err := a.newServer(f, dir, rules)
	if errors.Is(err, auth.ErrSetting) {
		return usage(err)
	}
	if err != nil {
		return err
	}
	return s.run(ctx)
}

// lock makes the data directory this server's.
func (a *app) lock(ctx context.Context, dir string, takeover bool) (release func(), err error) {
	if !takeover {
		return datadir.LockAfter(dir)
	}
	ctx, cancel := context.WithTimeout(ctx, takeoverTime)
	defer cancel()
	release, killed, err := datadir.TakeLock(ctx, dir)
	if killed != 0 {
		fmt.Fprintf(a.stderr, "evertty: the server before, process %d, did not leave within %v and was killed; its "+
			"terminals go on here\n", killed, takeoverTime)
	}
	return release, err
}

// daemon is a server on its way up: what run starts and ends.
type daemon struct {
	*app
	dir    string
	at     string // how it is reached: http://HOST:PORT or unix:///path
	all    []net.Listener
	store  *datadir.Store
	db     *sqlite.Store // nil when it could not be opened
	record store.Config  // its Store is of db
	parts  *supervisor.Supervisor
	auth   *auth.Auth
	tls    *tls.Config // nil without TLS
	api    *server.Server
}

// newServer opens the port first, so that a busy one is known before anything
// else happens; requests wait until the terminals are back.
func (a *app) newServer(f serveFlags, dir string, rules permission.Rules) (*daemon, error) {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(f.logLevel)) // the flag takes level names only
	log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level}))
	slog.SetDefault(log)
	secure, err := f.tls.config()
	if err != nil {
		return nil, err
	}
	all, at, err := listen(f.listen, dir)
	if err != nil {
		return nil, err
	}
	if secure != nil {
		at = strings.Replace(at, "http://", "https://", 1)
	}
	s := &daemon{app: a, dir: dir, all: all, at: at, tls: secure}
	s.record.Enforcer = permission.NewEnforcer(rules).WithCopy(filepath.Join(dir, "permissions.json"))
	if err := s.build(f, log); err != nil {
		closeAll(all)
		return nil, err
	}
	return s, nil
}

func (s *daemon) build(f serveFlags, log *slog.Logger) (err error) {
	secret, err := readSecret(f.webhookSecret)
	if err != nil {
		return usage(err)
	}
	remotes, err := remoteProviders(cmp.Or(f.providers, filepath.Join(s.dir, "providers")), f.providers != "")
	if err != nil {
		return usage(err)
	}
	if s.store, err = datadir.Open(s.dir); err != nil {
		return err
	}
	identity, err := datadir.Identify(s.dir)
	if err != nil {
		return err
	}
	if identity.Copied {
		log.Warn("the data directory is a copy: its terminals and shells have no processes here, and those of the "+
			"first directory are left alone", "directory", s.dir)
	}
	held, err := s.keeper(f, log)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		_ = held.Close()
		return err
	}
	records, noRecords := s.records(f.recordRotate, log)
	metrics := metrics.New()
	s.parts, err = supervisor.Start(supervisor.Config{
		Terminals: terminal.Config{Engine: engines[f.engine], Unicode: vt.Unicode(f.unicode), Memory: int(f.memory),
			Store: s.store, Identity: identity.ID, Keeper: held, SpliceErr: pty.ProbeSplice(s.dir), Address: s.at,
			Sync: journal.SyncMode(f.sync), RecordInput: f.recordInput, Clean: f.clean, Interval: f.interval,
			Verify: f.verify},
		Shells: registry.Config{Idle: f.shellIdle, LogQuota: f.execLogQuota},
		Threads: service.Config{Store: records, NoStore: noRecords, Copied: identity.Copied, Conversations: s.record,
			Policy: &thread.Policy{Idle: f.sessionIdle, Max: f.sessionMax}, PolicyChosen: f.sessionChosen,
			Providers: remotes, ProviderSetup: providerSetup(),
			Relay: service.Relay{Program: []string{self, "relay"}, Dir: filepath.Join(s.dir, "relay")}},
		Log: log, Metrics: metrics})
	if err != nil {
		_ = held.Close()
		return err
	}
	if err := identity.Settle(s.dir); err != nil {
		log.Warn("the next server takes the data directory for a copy again", "error", err)
	}
	metrics.Registry.MustRegister(s.parts)
	audit := auth.OpenAuditLog(s.dir, log)
	s.auth, err = auth.New(auth.Config{Audit: audit, WebhookSecret: secret, Mode: f.auth, DataDir: s.dir,
		Listen: f.listen, AllowedHosts: f.allowedHosts,
		PublicURL: f.tls.publicURL, TLS: s.tls != nil, OpenMetrics: f.metricsPublic, Log: log, Terminal: s.terminalID})
	if err != nil {
		s.parts.Close()
		return err
	}
	s.api = server.New(server.Config{Supervisor: s.parts, Metrics: metrics, Auth: s.auth, Version: programVersion(),
		Log: log, Audit: audit, TLS: s.tls})
	return nil
}

// records opens the database of threads. A server without it has terminals and shells, and says so in /healthz: the
// error is why. It closes with the server.
func (s *daemon) records(rotate int64, log *slog.Logger) (service.Store, error) {
	db, err := sqlite.Open(filepath.Join(s.dir, "evertty.db"))
	if err != nil {
		log.Error("the database of threads cannot be used", "error", err)
		return nil, err
	}
	s.db = db
	s.record.Store = db.Conversations()
	if s.record.Files, err = store.OpenFiles(filepath.Join(s.dir, "threads"), rotate); err != nil {
		log.Error("records are kept without files", "error", err)
		s.record.NoFiles = err
	}
	return db, nil
}

// keeper finds the process that holds the programs, or starts one.
func (s *daemon) keeper(f serveFlags, log *slog.Logger) (*keeper.Client, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return keeper.Connect(context.Background(), keeper.Config{Dir: s.dir, Release: keeperRelease(), Log: log,
		Command: []string{self, "keeper", "--data-dir", s.dir, "--idle", f.keeperIdle.String()}})
}

func (s *daemon) terminalID(session, ref string) (string, error) {
	t, err := s.parts.Terminals.Find(session, ref)
	if err == nil && t.Deleted() {
		err = fmt.Errorf("%w: %s was deleted", terminal.ErrNotFound, t.ID)
	}
	if err != nil {
		return "", err
	}
	return t.ID, nil
}

// run says that the server is ready and answers requests until ctx ends. Then
// viewers are sent away and screens written, in this order. Programs go on.
func (s *daemon) run(ctx context.Context) error {
	defer s.store.Close()
	defer s.closeRecords()
	if err := s.announce(); err != nil {
		closeAll(s.all)
		s.parts.Close()
		return err
	}
	defer os.Remove(s.placeFile())
	served := make(chan error, len(s.all))
	for _, l := range s.all {
		go func() { served <- s.api.Serve(l) }()
	}
	var err error
	left := len(s.all)
	select {
	case <-ctx.Done():
	case err = <-served:
		left--
	}
	s.api.Close()
	for range left {
		err = cmp.Or(err, <-served)
	}
	s.parts.Close()
	return err
}

func (s *daemon) closeRecords() {
	if s.db == nil {
		return
	}
	if err := s.db.Close(); err != nil {
		slog.Warn("closing the database of threads", "error", err)
	}
}

// announce writes DIR/server.json, by which the command line finds the server,
// and prints the one line that says that it is ready. Only a terminal is shown a login ticket.
func (s *daemon) announce() error {
	if err := s.writePlace(); errors.Is(err, syscall.ENOSPC) {
		slog.Warn("the command line will not find this server by itself", "error", err) // terminals come first
	} else if err != nil {
		return err
	}
	at := s.at
	switch {
	case !strings.HasPrefix(at, "http") || s.auth.TokenFile() == "":
	case !isTTY(s.stdout, s.stdout): // a log keeps what it is told
		slog.Info("evertty url logs a browser in")
	default:
		var err error
		if at, err = s.auth.LoginURL(s.at); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(s.stdout, "listening on %s\n", at)
	return err
}

func (s *daemon) placeFile() string { return filepath.Join(s.dir, "server.json") }
