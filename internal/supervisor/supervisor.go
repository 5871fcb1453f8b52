// Package supervisor starts the parts of a server in order, recovers what the previous server
// has left, reports their health, and ends them.
package supervisor

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/lifetime"
	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/terminal/wait"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// Config has the settings of a server. Fields that the configurations of the parts have too
// are described there.
type Config struct {
	Engine    vt.EngineFunc
	Unicode   vt.Unicode
	Memory    int
	Store     *datadir.Store
	Identity  string
	Copied    bool           // see service.Config
	Keeper    *keeper.Client // closed by Close
	Unspliced error
	Sync      journal.SyncMode
	Address   string
	Clean     terminal.CleanPolicy
	// ShellIdle ends the process of an exec shell that runs nothing, not even in the
	// background, and got no command for so long; 0 is never. The next command starts it
	// again.
	ShellIdle time.Duration
	// ExecLogQuota is what the logs of all commands of exec shells may take, in bytes. 0 means
	// DefaultExecLogQuota.
	ExecLogQuota  int64
	Records       thread.Store
	NoRecords     error
	Record        store.Config
	Policy        *thread.Policy
	PolicyChosen  bool
	Providers     map[string]service.RemoteProvider
	ProviderSetup map[string]string
	Relay         service.Relay
	RecordInput   bool
	Interval      time.Duration
	Verify        bool
	Log           *slog.Logger // nil is slog.Default
	Metrics       *metrics.Set // nil: nobody reads them
}

// DefaultExecLogQuota bounds the logs of all commands, in bytes.
const DefaultExecLogQuota = 2 << 30

// Supervisor has the parts of a running server.
type Supervisor struct {
	Terminals *terminal.Registry
	Shells    *registry.Registry
	Threads   *service.Service
	Waits     *wait.Service

	life   *lifetime.Lifetime
	keeper *keeper.Client
	log    *slog.Logger
}

// Start starts a server and recovers the terminals and shells of its store. Those whose process
// the keeper holds go on. Other terminals have ended or are lost, with their last screen; other
// shells are started by their next command. It returns when every terminal and every shell can be
// found. Terminals whose last output takes long to apply get their screens later.
func Start(cfg Config) (*Supervisor, error) {
	cfg.complete()
	s := &Supervisor{life: lifetime.New(), keeper: cfg.Keeper, log: cfg.Log, Waits: wait.New()}
	if err := s.start(cfg); err != nil {
		s.life.Shut(err)
		return nil, err
	}
	return s, nil
}

func (c *Config) complete() {
	c.Interval = cmp.Or(c.Interval, terminal.DefaultInterval)
	c.ExecLogQuota = cmp.Or(c.ExecLogQuota, DefaultExecLogQuota)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Metrics == nil {
		c.Metrics = metrics.New()
	}
	c.Clean.SetDefaults()
}

func (s *Supervisor) start(cfg Config) error {
	s.Threads = service.New(service.Config{Life: s.life, Log: cfg.Log,
		Store: cfg.Records, NoStore: cfg.NoRecords, Copied: cfg.Copied, Conversations: cfg.Record,
		Policy: cfg.Policy, PolicyChosen: cfg.PolicyChosen, Providers: cfg.Providers, ProviderSetup: cfg.ProviderSetup,
		Relay: cfg.Relay})
	budget := &descriptors.Budget{}
	s.Terminals = terminal.New(terminal.Config{Life: s.life, Hooks: s.Threads.TerminalHooks(),
		Engine: cfg.Engine, Unicode: cfg.Unicode, Memory: cfg.Memory, Store: cfg.Store, Identity: cfg.Identity,
		Keeper: cfg.Keeper, Descriptors: budget, Unspliced: cfg.Unspliced, Sync: cfg.Sync, Address: cfg.Address,
		Clean: cfg.Clean, RecordInput: cfg.RecordInput, Interval: cfg.Interval, Verify: cfg.Verify,
		AfterClean: func() { s.Shells.KeepSpace() }, Log: cfg.Log, Metrics: cfg.Metrics})
	s.Shells = registry.New(registry.Config{Life: s.life, Store: cfg.Store, Keeper: cfg.Keeper,
		Descriptors: budget, Terminals: s.Terminals, Hooks: s.Threads.ShellHooks(), Remote: s.Threads.Remote(),
		NoSplice: cfg.Unspliced, Address: cfg.Address, Idle: cfg.ShellIdle, LogQuota: cfg.ExecLogQuota,
		OnCleanup: s.Terminals.NoteCleanup, Log: cfg.Log, Metrics: cfg.Metrics})
	if err := s.Threads.Open(s.Terminals, s.Shells); err != nil {
		return err
	}
	s.Shells.OpenSpace()
	if err := s.Terminals.Recover(); err != nil {
		return err
	}
	if err := s.Shells.Recover(); err != nil {
		return err
	}
	s.Threads.Begin()
	s.Terminals.Run()
	if cfg.ShellIdle > 0 {
		s.life.Go(s.Shells.RetireIdle)
	}
	return nil
}

// Close writes every terminal's snapshot and ends all goroutines of the parts. Programs and
// commands go on; the keeper holds them for the next server. The caller has ended the viewers.
func (s *Supervisor) Close() {
	s.life.Shut(terminal.ErrClosing) // from here on no process is started
	s.Terminals.CloseProcesses()
	s.life.Wait()
	s.Terminals.Close()
	s.Shells.Close()
	s.Threads.Close()
	if err := s.keeper.Close(); err != nil {
		s.log.Warn("leaving the keeper", "error", err)
	}
}

// Health is the state of a server.
type Health struct {
	Lossless bool     // no output is lost when this server is killed
	Reasons  []string // why it is degraded, one sentence each; nil when it is not
	Damaged  int      // terminals with gaps or damage in their files, see wire.Terminal; no reason to be degraded
}

// Health returns the state of the server.
func (s *Supervisor) Health() Health {
	lossy, other, damaged := s.Terminals.Problems()
	h := Health{Lossless: len(lossy) == 0, Damaged: damaged}
	h.Reasons = append(h.Reasons, lossy...)
	h.Reasons = append(h.Reasons, other...)
	h.Reasons = append(h.Reasons, s.Shells.Problems()...)
	h.Reasons = append(h.Reasons, s.Threads.Problems()...)
	for _, text := range []string{s.Shells.Trouble(), s.Terminals.CleanProblem()} {
		if text != "" {
			h.Reasons = append(h.Reasons, text)
		}
	}
	return h
}

// Directory finds terminals for pages.
func (s *Supervisor) Directory() stream.Directory { return directory{s} }

type directory struct{ s *Supervisor }

func (d directory) Find(id string) (stream.Terminal, error) {
	t, err := d.s.Terminals.Find("", id)
	if err != nil {
		return nil, err
	}
	return d.s.Threads.Checked(t), nil
}

func (d directory) List() []byte { return d.s.Terminals.ListJSON() }

func (d directory) Watch() (changed <-chan struct{}, stop func()) { return d.s.Terminals.Changed() }

var _ prometheus.Collector = (*Supervisor)(nil)

// Describe implements prometheus.Collector.
func (s *Supervisor) Describe(c chan<- *prometheus.Desc) {
	terminal.Describe(c)
	registry.Describe(c)
	service.Describe(c)
}

// Collect implements prometheus.Collector.
func (s *Supervisor) Collect(c chan<- prometheus.Metric) {
	s.Terminals.Collect(c)
	s.Shells.Collect(c)
	s.Threads.Collect(c)
}
