// Package supervisor starts the parts of a server in order, recovers what the previous server
// has left, reports their health, and ends them.
package supervisor

import (
	"cmp"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/lifetime"
	"github.com/evertty/evertty/internal/memory"
	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/terminal/wait"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// Config has the settings of a server by part. Start fills in what the parts share: Life, Log, Metrics,
// hooks, and for Shells the Store, Keeper, Address and SpliceErr of Terminals.
type Config struct {
	Terminals terminal.Config // Keeper is closed by Close
	Shells    registry.Config // LogQuota 0 means DefaultExecLogQuota
	Threads   service.Config
	Log       *slog.Logger  // nil is slog.Default
	Metrics   *metrics.Set  // nil: nobody reads them
	Memory    *memory.Bound // nil is none
}

// DefaultExecLogQuota bounds the logs of all commands, in bytes.
const DefaultExecLogQuota = 2 << 30

// Supervisor has the parts of a running server.
type Supervisor struct {
	Terminals *terminal.Registry
	Shells    *registry.Shells
	Threads   *service.Threads
	Waits     *wait.Service

	life   *lifetime.Lifetime
	keeper *keeper.Client
	memory *memory.Bound
	log    *slog.Logger
}

// Start starts a server and recovers the terminals and shells of its store. Those whose process
// the keeper holds go on. Other terminals have ended or are lost, with their last screen; other
// shells are started by their next command. It returns when every terminal and every shell can be
// found. Terminals whose last output takes long to apply get their screens later.
func Start(cfg Config) (*Supervisor, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = metrics.New()
	}
	s := &Supervisor{life: lifetime.New(), keeper: cfg.Terminals.Keeper, memory: cfg.Memory, log: cfg.Log, Waits: wait.New()}
	if err := s.start(cfg); err != nil {
		s.life.Shut(err)
		return nil, err
	}
	return s, nil
}

func (s *Supervisor) start(cfg Config) error {
	cfg.Threads.Life, cfg.Threads.Log = s.life, cfg.Log
	s.Threads = service.New(cfg.Threads)
	t := &cfg.Terminals
	t.Life, t.Log, t.Metrics = s.life, cfg.Log, cfg.Metrics
	t.Hooks, t.Descriptors = s.Threads.TerminalHooks(), &descriptors.Budget{Memory: cfg.Memory}
	t.AfterClean = func() { s.Shells.KeepSpace() }
	s.Terminals = terminal.New(*t)
	c := cfg.Shells
	c.Life, c.Log, c.Metrics = s.life, cfg.Log, cfg.Metrics
	c.Hooks, c.Remote, c.Descriptors = s.Threads.ShellHooks(), s.Threads.Remote(), t.Descriptors
	c.Terminals, c.OnCleanup = s.Terminals, s.Terminals.NoteCleanup
	c.Store, c.Keeper, c.Address, c.SpliceErr = t.Store, t.Keeper, t.Address, t.SpliceErr
	c.Socket = t.Socket
	c.LogQuota = cmp.Or(c.LogQuota, DefaultExecLogQuota)
	s.Shells = registry.New(c)
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
	if c.Idle > 0 {
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
	for _, text := range []string{s.Shells.Trouble(), s.Terminals.CleanProblem(), s.memory.Problem()} {
		if text != "" {
			h.Reasons = append(h.Reasons, text)
		}
	}
	return h
}

// Directory finds terminals of a session for pages, of all sessions for ""; with id that one alone. show changes what
// is shown of each.
func (s *Supervisor) Directory(session, id string, show func(wire.Terminal) wire.Terminal) stream.Directory {
	return directory{s, session, id, show}
}

type directory struct {
	s       *Supervisor
	session string
	id      string // "" is any
	show    func(wire.Terminal) wire.Terminal
}

func (d directory) Find(id string) (stream.Terminal, error) {
	t, err := d.s.Terminals.Find(d.session, id)
	if err == nil && d.id != "" && d.id != t.ID {
		err = fmt.Errorf("%w: %q", terminal.ErrNotFound, id)
	}
	if err != nil {
		return nil, err
	}
	return d.s.Threads.Checked(t), nil
}

func (d directory) List() []byte { return d.s.Terminals.ListJSON(d.session, d.id, d.show) }

func (d directory) Watch() (changed <-chan struct{}, stop func()) { return d.s.Terminals.Changed() }

var _ prometheus.Collector = (*Supervisor)(nil)

// Describe implements prometheus.Collector.
func (s *Supervisor) Describe(c chan<- *prometheus.Desc) {
	terminal.Describe(c)
	registry.Describe(c)
	service.Describe(c)
	memory.Describe(c)
	for _, d := range []*prometheus.Desc{keeperConnected, keeperLosses, keeperHolds} {
		c <- d
	}
}

var (
	keeperConnected = prometheus.NewDesc("evertty_keeper_connected",
		"Whether the process that holds the programs is in reach: 1 or 0.", nil, nil)
	keeperLosses = prometheus.NewDesc("evertty_keeper_restarts_total",
		"How often that process went away; another one takes its place.", nil, nil)
	keeperHolds = prometheus.NewDesc("evertty_keeper_programs", "Programs and files that it holds.", nil, nil)
)

// Collect implements prometheus.Collector.
func (s *Supervisor) Collect(c chan<- prometheus.Metric) {
	s.Terminals.Collect(c)
	s.Shells.Collect(c)
	s.Threads.Collect(c)
	s.memory.Collect(c)
	k := s.keeper.Stats()
	connected := 0.0
	if k.Connected {
		connected = 1
	}
	c <- prometheus.MustNewConstMetric(keeperConnected, prometheus.GaugeValue, connected)
	c <- prometheus.MustNewConstMetric(keeperLosses, prometheus.CounterValue, float64(k.Losses))
	c <- prometheus.MustNewConstMetric(keeperHolds, prometheus.GaugeValue, float64(k.Held))
}
