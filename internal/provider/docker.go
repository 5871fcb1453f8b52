package provider

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Bounds and defaults of docker.
const (
	dockerHost  = "unix:///var/run/docker.sock"
	dockerImage = "python:3.12-slim"
	dockerMount = "/workspace"
	dockerAPI   = "/v1.41" // of Docker 20.10; newer engines still speak it
	dockerPull  = 15 * time.Minute
	dockerLabel = "evertty.lease" // by which orphans can be found
)

// DockerConfig says where the engine is and what instances are made of.
type DockerConfig struct {
	Host  string `json:"host"`  // unix:///path of the engine's socket; "" is /var/run/docker.sock
	Image string `json:"image"` // with bash and coreutils; "" is python:3.12-slim. It is pulled when the engine lacks it
	Mount string `json:"mount"` // the directory where an instance begins, a volume of its own; "" is /workspace
}

// Docker is containers of an engine on this machine. An instance is a container that sleeps, by its id; commands and terminals are its execs. Pause freezes it with its memory,
// Destroy removes it with its volume.
type Docker struct {
	*service
	cfg    DockerConfig
	socket string
}

// NewDocker makes a Docker. It makes no connection.
func NewDocker(c DockerConfig) (*Docker, error) {
	c.Host, c.Image, c.Mount = or(c.Host, dockerHost), or(c.Image, dockerImage), or(c.Mount, dockerMount)
	socket, ok := strings.CutPrefix(c.Host, "unix://")
	if !ok {
		return nil, fmt.Errorf("docker: host must be unix:///path of a socket, not %q", c.Host)
	}
	d := &Docker{service: newService("docker"), cfg: c, socket: socket}
	d.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return d.dial(ctx) },
		MaxIdleConnsPerHost: idleConnections, IdleConnTimeout: idleTimeout}
	return d, nil
}

func (d *Docker) dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{Timeout: connectTimeout}).DialContext(ctx, "unix", d.socket)
}

// Name is docker.
func (d *Docker) Name() string { return "docker" }

// Capabilities are all but webhooks.
func (d *Docker) Capabilities() Capabilities {
	return Capabilities{Pause: true, Resume: true, Destroy: true, Status: true, PTY: true, Files: true, Metrics: true, MemoryKept: true, Runtime: "remote_wrapped"}
}

// do makes a call below a container, or a whole path that begins with a slash. Errors: of service.do; a conflict is ErrState.
func (d *Docker) ask(ctx context.Context, method, path string, in, out any, twice bool) error {
	err := d.doJSON(ctx, call{method: method, url: "http://docker" + dockerAPI + path, twice: twice}, in, out)
	if err != nil {
		return fmt.Errorf("docker: %w", err)
	}
	return nil
}

func container(id, rest string) string { return "/containers/" + url.PathEscape(id) + rest }

// Create makes and starts a container, after pulling its image when the engine has none. One that does not start, or whose making was not answered, is removed.
func (d *Docker) Create(ctx context.Context, r CreateRequest) (Instance, error) {
	var env []string
	for _, k := range slices.Sorted(maps.Keys(r.Env)) {
		env = append(env, k+"="+r.Env[k])
	}
	body := map[string]any{
		"Image": d.cfg.Image, "Env": env, "WorkingDir": d.cfg.Mount, "Labels": map[string]string{dockerLabel: r.Name},
		"Entrypoint": []string{"sleep"}, "Cmd": []string{"infinity"}, "Volumes": map[string]any{d.cfg.Mount: struct{}{}},
		"HostConfig": map[string]any{"Init": true}, // which reaps what commands leave behind
	}
	var made struct{ ID string }
	name := "evertty-" + rand.Text()
	err := d.ask(ctx, http.MethodPost, "/containers/create?name="+name, body, &made, false)
	if errors.Is(err, ErrNotFound) {
		if err = d.pull(ctx); err == nil {
			err = d.ask(ctx, http.MethodPost, "/containers/create?name="+name, body, &made, false)
		}
	}
	if err == nil {
		err = d.ask(ctx, http.MethodPost, container(made.ID, "/start"), nil, nil, true)
	}
	if err != nil {
		if made.ID != "" || !errors.Is(err, ErrNotStarted) {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
			defer cancel()
			_ = d.Destroy(late, name)
		}
		return Instance{}, err
	}
	return Instance{ID: made.ID, State: Running, CreatedAt: time.Now().UTC(), Cwd: d.cfg.Mount}, nil
}

// pull fetches the image. The engine tells of its progress in JSON, and of a failure only there.
func (d *Docker) pull(ctx context.Context) error {
	name, tag := d.cfg.Image, "latest"
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name, tag = name[:i], name[i+1:]
	}
	q := url.Values{"fromImage": {name}, "tag": {tag}}
	a, err := d.do(ctx, call{method: http.MethodPost, url: "http://docker" + dockerAPI + "/images/create?" + q.Encode(), twice: true, timeout: dockerPull})
	if err != nil {
		return fmt.Errorf("docker: pull %s: %w", d.cfg.Image, err)
	}
	for dec := json.NewDecoder(bytes.NewReader(a.body)); ; {
		var line struct {
			Error string `json:"error"`
		}
		if err := dec.Decode(&line); err == io.EOF {
			return nil
		} else if err != nil || line.Error != "" {
			return fmt.Errorf("docker: pull %s: %w: %s", d.cfg.Image, ErrProvider, d.clean(line.Error))
		}
	}
}

// Destroy removes the container and its volume, whatever runs in it.
func (d *Docker) Destroy(ctx context.Context, id string) error {
	err := d.ask(ctx, http.MethodDelete, container(id, "?force=1&v=1"), nil, nil, true)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Pause freezes all processes.
func (d *Docker) Pause(ctx context.Context, id string) error {
	return d.change(ctx, id, "/pause", Running)
}

// Resume lets them go on.
func (d *Docker) Resume(ctx context.Context, id string) error {
	return d.change(ctx, id, "/unpause", Paused)
}

// change asks first what the state is, for engines differ in how they refuse. A container that was stopped by others is not ours to start.
func (d *Docker) change(ctx context.Context, id, what string, from State) error {
	st, err := d.Status(ctx, id)
	switch {
	case err != nil:
		return err
	case st == Dead:
		return fmt.Errorf("docker: %w: %.80s", ErrNotFound, id)
	case st != from:
		return fmt.Errorf("docker: %w: %.80s is %s", ErrState, id, st)
	}
	return d.ask(ctx, http.MethodPost, container(id, what), nil, nil, false)
}

// Status asks the engine. A container that has stopped is Dead: its processes are gone, and its sleep ends by nobody's wish.
func (d *Docker) Status(ctx context.Context, id string) (State, error) {
	var c struct {
		State struct{ Status string }
	}
	err := d.ask(ctx, http.MethodGet, container(id, "/json"), nil, &c, true)
	switch {
	case errors.Is(err, ErrNotFound):
		return Dead, nil
	case err != nil:
		return Unknown, err
	}
	switch c.State.Status {
	case "running":
		return Running, nil
	case "paused":
		return Paused, nil
	case "exited", "dead", "removing":
		return Dead, nil
	}
	return Unknown, nil
}

// ready is nil for one that runs. Errors: ErrNotFound, ErrNotRunning, those of Status.
func (d *Docker) ready(ctx context.Context, id string) error {
	switch st, err := d.Status(ctx, id); {
	case err != nil:
		return err
	case st == Dead:
		return fmt.Errorf("docker: %w: %.80s", ErrNotFound, id)
	case st != Running:
		return fmt.Errorf("docker: %w: %.80s is %s", ErrNotRunning, id, st)
	}
	return nil
}

// files are made by commands: the engine's own calls for them move whole directories as archives.
func (d *Docker) files() shellFiles { return shellFiles{p: d, cwd: d.cfg.Mount} }

// ReadFile reads a file by a command.
func (d *Docker) ReadFile(ctx context.Context, id, path string, most int64) ([]byte, error) {
	return d.files().read(ctx, id, path, most)
}

// WriteFile writes a file by a command, and makes the directories above it.
func (d *Docker) WriteFile(ctx context.Context, id, path string, data []byte) error {
	return d.files().write(ctx, id, path, data)
}

// ListDir lists a directory by a command.
func (d *Docker) ListDir(ctx context.Context, id, path string) ([]File, error) {
	return d.files().list(ctx, id, path)
}

// dockerStats is what of the engine's measurement is used.
type dockerStats struct {
	CPU    dockerCPU `json:"cpu_stats"`
	Before dockerCPU `json:"precpu_stats"`
	Memory struct {
		Usage float64            `json:"usage"`
		Limit float64            `json:"limit"`
		Stats map[string]float64 `json:"stats"`
	} `json:"memory_stats"`
}

type dockerCPU struct {
	Usage struct {
		Total float64 `json:"total_usage"`
	} `json:"cpu_usage"`
	System float64 `json:"system_cpu_usage"`
	Online float64 `json:"online_cpus"`
}

// Metrics is what the engine measures over a second: percent of one processor; memory without the pages of files that can go; the disk of the mount by df.
func (d *Docker) Metrics(ctx context.Context, id string) (Metrics, error) {
	var s dockerStats
	if err := d.ask(ctx, http.MethodGet, container(id, "/stats?stream=false"), nil, &s, true); err != nil {
		return Metrics{}, err
	}
	percent := 0.0
	if span := s.CPU.System - s.Before.System; span > 0 {
		percent = max(0, s.CPU.Usage.Total-s.Before.Usage.Total) / span * max(1, s.CPU.Online) * 100
	}
	used, total := max(0, s.Memory.Usage-s.Memory.Stats["inactive_file"])/mebi, s.Memory.Limit/mebi
	m := Metrics{CPUPercent: &percent, MemoryUsedMB: &used, MemoryTotalMB: &total}
	out := capped{most: maxErrorText}
	r, err := d.Exec(ctx, id, ExecRequest{Command: "df -Pk . | { read -r _; read -r _ t u _; echo $t $u; }", Cwd: d.cfg.Mount}, &out, io.Discard)
	var all, held float64
	if _, scanErr := fmt.Sscan(out.String(), &all, &held); err == nil && r.ExitCode == 0 && scanErr == nil {
		all, held = all/mebi, held/mebi
		m.DiskTotalGB, m.DiskUsedGB = &all, &held
	}
	return m, nil
}
