// Package docker is containers of an engine on this machine.
package docker

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/internal/provider/wait"
)

// Defaults and bounds.
const (
	defaultHost  = "unix:///var/run/docker.sock"
	defaultImage = "python:3.12-slim"
	defaultMount = "/workspace"
	leaseLabel   = "evertty.lease"  // by which orphans can be found
	pullTimeout  = 15 * time.Minute // for an image
	replyTimeout = time.Minute      // until the engine begins to answer
	idleTimeout  = 30 * time.Second // after which an unused connection is closed
	maxDiskUsage = 300              // bytes of the answer of df

	defaultPIDs     = 512     // processes: a build of a large project, and no fork bomb
	defaultMemoryMB = 4096    // MiB: builds and tests, on machines of 8 GiB and more
	defaultCPUs     = 2.0     // processors: the machine stays usable beside one instance
	minMemoryMB     = 6       // MiB: what engines take at least
	maxMemoryMB     = 1 << 30 // MiB: more has no machine, and its bytes are a number
	minCPUs         = 0.01    // what the kernel takes at least
	maxCPUs         = 8192    // more has no kernel
	cpuPeriod       = 100_000 // µs in which a quota of processor time is counted: the kernel's default
	mebi            = 1 << 20
)

// capabilities are those that root keeps in an instance: to install packages and to end processes
// of other users. no-new-privileges holds also for set-user-ID programs.
var capabilities = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID"}

// Config says where the engine is and what instances are made of.
type Config struct {
	Host  string `json:"host"`  // unix:///path of the engine's socket; "" is /var/run/docker.sock
	Image string `json:"image"` // with bash and coreutils, pulled when absent; "" is python:3.12-slim
	Mount string `json:"mount"` // the directory where an instance begins, a volume of its own; "" is /workspace

	// Bounds of an instance; 0 is the default: 512 processes, 4096 MiB, 2 processors.
	PIDs     int64   `json:"pids_limit"`
	MemoryMB int64   `json:"memory_mb"` // swap is not added to it
	CPUs     float64 `json:"cpus"`      // processors, also a part of one
}

// check sets the defaults of a Config and refuses what no engine takes.
func (c *Config) check() error {
	c.Host, c.Image = cmp.Or(c.Host, defaultHost), cmp.Or(c.Image, defaultImage)
	c.Mount, c.PIDs = cmp.Or(c.Mount, defaultMount), cmp.Or(c.PIDs, defaultPIDs)
	c.MemoryMB, c.CPUs = cmp.Or(c.MemoryMB, defaultMemoryMB), cmp.Or(c.CPUs, defaultCPUs)
	switch {
	case !strings.HasPrefix(c.Host, "unix://"):
		return fmt.Errorf("docker: host must be unix:///path of a socket, not %q", c.Host)
	case c.PIDs < 1:
		return fmt.Errorf("docker: pids_limit is %d: a number from 1 is needed", c.PIDs)
	case c.MemoryMB < minMemoryMB || c.MemoryMB > maxMemoryMB:
		return fmt.Errorf("docker: memory_mb is %d: %d to %d are allowed", c.MemoryMB, minMemoryMB, maxMemoryMB)
	case !(c.CPUs >= minCPUs && c.CPUs <= maxCPUs):
		return fmt.Errorf("docker: cpus is %v: %v to %v are allowed", c.CPUs, minCPUs, maxCPUs)
	}
	return nil
}

// hostConfig confines an instance. The quota of processor time stands in place of a number of
// processors, which engines refuse on a machine that has fewer.
func (c *Config) hostConfig() *container.HostConfig {
	return &container.HostConfig{
		Init:    new(true), // which reaps what commands leave behind
		CapDrop: []string{"ALL"}, CapAdd: capabilities, SecurityOpt: []string{"no-new-privileges"},
		Resources: container.Resources{PidsLimit: &c.PIDs, Memory: c.MemoryMB * mebi, MemorySwap: c.MemoryMB * mebi,
			CPUPeriod: cpuPeriod, CPUQuota: int64(c.CPUs * cpuPeriod)},
	}
}

// Provider makes containers. An instance is a container that sleeps, by its id; commands and
// terminals are its execs. Pause freezes it with its memory, Destroy removes it with its volume.
//
// Files are read and written by commands: the engine's own calls for them move directories as
// archives.
type Provider struct {
	bash.Files
	cfg    Config
	engine *client.Client
}

// New makes a Provider. It makes no connection.
func New(c Config) (*Provider, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	t := &http.Transport{ResponseHeaderTimeout: replyTimeout, IdleConnTimeout: idleTimeout,
		// No HTTP/2: its settings are a TLS configuration, by which the client would take the
		// engine for one with TLS.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	e, err := client.New(client.WithHTTPClient(&http.Client{Transport: t}), client.WithHost(c.Host),
		client.WithUserAgent("evertty"))
	if err != nil {
		return nil, fmt.Errorf("docker: %w", err)
	}
	d := &Provider{cfg: c, engine: e}
	d.Files = bash.Files{Provider: "docker", Bash: d.Exec, Cwd: c.Mount}
	return d, nil
}

// Close closes connections that are not in use.
func (d *Provider) Close() error { return d.engine.Close() }

// Name is docker.
func (d *Provider) Name() string { return "docker" }

// Capabilities are all but webhooks.
func (d *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Pause: true, Resume: true, Destroy: true, Status: true, PTY: true, Files: true,
		Metrics: true, MemoryKept: true, Runtime: "remote_wrapped"}
}

// wrap adds a sentinel to an error of the client: ErrUnreachable when it is no reply of the engine.
func wrap(ctx context.Context, err error) error {
	kind := provider.ErrProvider
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("docker: %w", context.Cause(ctx))
	case errdefs.IsNotFound(err):
		kind = provider.ErrNotFound
	case errdefs.IsConflict(err):
		kind = provider.ErrState
	case errdefs.IsUnauthorized(err), errdefs.IsPermissionDenied(err):
		kind = provider.ErrRefused
	case client.IsErrConnectionFailed(err):
		kind = provider.ErrUnreachable
	}
	return fmt.Errorf("docker: %w: %w", kind, err)
}

// Create makes and starts a container, and pulls its image when the engine has none. It removes one
// that does not start, or whose creation had no reply.
func (d *Provider) Create(ctx context.Context, r provider.CreateRequest) (provider.Instance, error) {
	name := "evertty-" + rand.Text()
	o := client.ContainerCreateOptions{
		Name: name,
		Config: &container.Config{Image: d.cfg.Image, Env: environ(r.Env), WorkingDir: d.cfg.Mount,
			Labels: map[string]string{leaseLabel: r.Name}, Entrypoint: []string{"sleep"}, Cmd: []string{"infinity"},
			Volumes: map[string]struct{}{d.cfg.Mount: {}}},
		HostConfig: d.cfg.hostConfig(),
	}
	made, err := d.engine.ContainerCreate(ctx, o)
	if errdefs.IsNotFound(err) {
		if err := d.pull(ctx); err != nil {
			return provider.Instance{}, err
		}
		made, err = d.engine.ContainerCreate(ctx, o)
	}
	if err == nil {
		_, err = d.engine.ContainerStart(ctx, made.ID, client.ContainerStartOptions{})
	}
	if err != nil {
		late, cancel := wait.CleanupContext(ctx)
		defer cancel()
		_ = d.Destroy(late, name)
		return provider.Instance{}, wrap(ctx, err)
	}
	return provider.Instance{ID: made.ID, State: provider.Running, CreatedAt: time.Now().UTC(), Cwd: d.cfg.Mount}, nil
}

func environ(env map[string]string) (list []string) {
	for _, k := range slices.Sorted(maps.Keys(env)) {
		list = append(list, k+"="+env[k])
	}
	return list
}

// pull fetches the image. The engine reports a failure in the stream of progress.
func (d *Provider) pull(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	progress, err := d.engine.ImagePull(ctx, d.cfg.Image, client.ImagePullOptions{})
	if err != nil {
		return wrap(ctx, err)
	}
	defer progress.Close()
	if err := progress.Wait(ctx); err != nil {
		return fmt.Errorf("docker: pull %s: %w: %w", d.cfg.Image, provider.ErrProvider, err)
	}
	return nil
}

// Destroy removes the container and its volume, whatever runs in it.
func (d *Provider) Destroy(ctx context.Context, id string) error {
	_, err := d.engine.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if errdefs.IsNotFound(err) {
		return nil
	}
	return wrap(ctx, err)
}

// Pause freezes all processes.
func (d *Provider) Pause(ctx context.Context, id string) error {
	err := d.expect(ctx, id, provider.Running, provider.ErrState)
	if err == nil {
		_, err = d.engine.ContainerPause(ctx, id, client.ContainerPauseOptions{})
		err = wrap(ctx, err)
	}
	return err
}

// Resume continues them. A container that was stopped from outside is not started.
func (d *Provider) Resume(ctx context.Context, id string) error {
	err := d.expect(ctx, id, provider.Paused, provider.ErrState)
	if err == nil {
		_, err = d.engine.ContainerUnpause(ctx, id, client.ContainerUnpauseOptions{})
		err = wrap(ctx, err)
	}
	return err
}

// containerID is what engines take for an id or a name.
var containerID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`) })

// states are the engine's states. One that is not among them is Unknown.
var states = map[container.ContainerState]provider.State{container.StateRunning: provider.Running,
	container.StatePaused: provider.Paused, container.StateExited: provider.Dead, container.StateDead: provider.Dead,
	container.StateRemoving: provider.Dead}

// Status gets the state from the engine. A stopped container is Dead: its processes have ended.
func (d *Provider) Status(ctx context.Context, id string) (provider.State, error) {
	if !containerID().MatchString(id) {
		return provider.Dead, nil
	}
	c, err := d.engine.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	switch {
	case errdefs.IsNotFound(err):
		return provider.Dead, nil
	case err != nil:
		return provider.Unknown, wrap(ctx, err)
	case c.Container.State == nil:
		return provider.Unknown, nil
	}
	return cmp.Or(states[c.Container.State.Status], provider.Unknown), nil
}

// expect checks the state before a call that needs it, because engines differ in how they refuse.
// Errors: ErrNotFound, as Status, otherwise for another state.
func (d *Provider) expect(ctx context.Context, id string, want provider.State, otherwise error) error {
	switch st, err := d.Status(ctx, id); {
	case err != nil:
		return err
	case st == provider.Dead:
		return fmt.Errorf("docker: %w: %.80s", provider.ErrNotFound, id)
	case st != want:
		return fmt.Errorf("docker: %w: %.80s is %s", otherwise, id, st)
	}
	return nil
}

// Metrics is the engine's measurement over a second: percent of one processor; memory without the
// file pages that can be dropped; the disk of the mount by df.
func (d *Provider) Metrics(ctx context.Context, id string) (provider.Metrics, error) {
	reply, err := d.engine.ContainerStats(ctx, id, client.ContainerStatsOptions{IncludePreviousSample: true})
	if err != nil {
		return provider.Metrics{}, wrap(ctx, err)
	}
	defer reply.Body.Close()
	var s container.StatsResponse
	if err := json.NewDecoder(reply.Body).Decode(&s); err != nil {
		return provider.Metrics{}, fmt.Errorf("docker: %w: metrics: %w", provider.ErrProvider, err)
	}
	percent, now, before := 0.0, s.CPUStats, s.PreCPUStats
	if span := float64(now.SystemUsage) - float64(before.SystemUsage); span > 0 {
		used := float64(now.CPUUsage.TotalUsage) - float64(before.CPUUsage.TotalUsage)
		percent = max(0, used) / span * max(1, float64(now.OnlineCPUs)) * 100
	}
	used := max(0, float64(s.MemoryStats.Usage)-float64(s.MemoryStats.Stats["inactive_file"])) / mebi
	m := provider.Metrics{CPUPercent: &percent, MemoryUsedMB: &used,
		MemoryTotalMB: new(float64(s.MemoryStats.Limit) / mebi)}
	m.DiskUsedGB, m.DiskTotalGB = d.disk(ctx, id)
	return m, nil
}

// disk is the used and the total space of the mount's file system, in GiB; nil without df.
func (d *Provider) disk(ctx context.Context, id string) (used, total *float64) {
	out := bash.Buffer{Max: maxDiskUsage}
	r, err := d.Exec(ctx, id, provider.ExecRequest{Cwd: d.cfg.Mount,
		Command: "df -Pk . | { read -r _; read -r _ t u _; echo $t $u; }"}, &out, io.Discard)
	var all, held float64
	if _, e := fmt.Sscan(out.String(), &all, &held); errors.Join(err, e) != nil || r.ExitCode != 0 {
		return nil, nil
	}
	const kibiInGibi = 1 << 20
	return new(held / kibiInGibi), new(all / kibiInGibi)
}
