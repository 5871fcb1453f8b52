package docker_test

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/docker"
	"github.com/evertty/evertty/tests/fakeprov"
	"github.com/evertty/evertty/tests/providertest"
)

func TestMain(m *testing.M) { providertest.Main(m, nil) }

func startEngine(t *testing.T) *fakeprov.Engine {
	t.Helper()
	e, err := fakeprov.StartEngine(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// open is a provider on such an engine.
func open(t *testing.T) provider.Provider {
	return providertest.Opened[*docker.Provider](t)(docker.New(docker.Config{Host: "unix://" + startEngine(t).Socket,
		Mount: t.TempDir()}))
}

// realDocker skips where there is no engine.
func real(t *testing.T) provider.Provider {
	const socket = "/var/run/docker.sock"
	c, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		t.Skip("no Docker engine answers on " + socket)
	}
	c.Close()
	return providertest.Opened[*docker.Provider](t)(docker.New(docker.Config{}))
}

func TestSuite(t *testing.T) { providertest.Suite(t, open) }

func TestSuiteOfAnEngine(t *testing.T) { providertest.Suite(t, real) }

func TestPull(t *testing.T) {
	e := startEngine(t)
	p := providertest.Opened[*docker.Provider](t)(docker.New(docker.Config{Host: "unix://" + e.Socket,
		Image: "registry:5000/a/b", Mount: t.TempDir()}))
	e.BadPull = true
	if _, err := p.Create(providertest.Within(t), provider.CreateRequest{}); !errors.Is(err, provider.ErrProvider) ||
		!strings.Contains(err.Error(), "no space left") {
		t.Error(err)
	}
	e.Lock()
	e.BadPull, e.Image = false, ""
	e.Unlock()
	_, err := p.Create(providertest.Within(t), provider.CreateRequest{})
	e.Lock()
	defer e.Unlock()
	if e.Image != "registry:5000/a/b:latest" {
		t.Errorf("pulled %q, %v", e.Image, err)
	}
}

// A container that was made though nobody was told is removed.
func TestMadeIsLost(t *testing.T) {
	e := startEngine(t)
	p := providertest.Opened[*docker.Provider](t)(docker.New(docker.Config{Host: "unix://" + e.Socket, Image: "a:b",
		Mount: t.TempDir()}))
	e.Lock()
	e.Image, e.LoseMade = "a:b", true
	e.Unlock()
	if _, err := p.Create(providertest.Within(t), provider.CreateRequest{}); !errors.Is(err, provider.ErrUnreachable) {
		t.Error(err)
	}
	e.Lock()
	defer e.Unlock()
	if e.Next != 1 || e.Containers() != 0 {
		t.Errorf("%d made, %d left", e.Next, e.Containers())
	}
}

// Output that is cut within a piece, or is none, is not told as that of a command which has ended.
func TestOutputIsCut(t *testing.T) {
	e := startEngine(t)
	p := providertest.Create(t, providertest.Opened[*docker.Provider](t)(docker.New(docker.Config{Host: "unix://" +
		e.Socket, Mount: t.TempDir()})))
	for name, cut := range map[string]string{"half a head": "\x01\x00",
		"half a piece": "\x01\x00\x00\x00\x00\x00\x00\x09half", "no piece": "an error"} {
		e.Lock()
		e.CutOutput = cut
		e.Unlock()
		_, err := p.Exec(providertest.Within(t), p.ID, provider.ExecRequest{Command: "echo whole"}, io.Discard,
			io.Discard)
		if !errors.Is(err, provider.ErrUnreachable) || errors.Is(err, provider.ErrNotStarted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.Check(t, "echo whole", "whole\n", 0)
}

func TestWithoutEngine(t *testing.T) {
	p := providertest.Opened[*docker.Provider](t)(docker.New(docker.Config{Host: "unix://" + t.TempDir() + "/none"}))
	if _, err := p.Create(providertest.Within(t), provider.CreateRequest{}); !errors.Is(err, provider.ErrUnreachable) {
		t.Error(err)
	}
	if _, err := docker.New(docker.Config{Host: "tcp://example.org:2375"}); err == nil {
		t.Error("a host that is no socket was taken")
	}
}

// An instance is confined: few capabilities, no new privileges, and bounds of processes, memory and
// processor time, which a file may set.
func TestInstancesAreConfined(t *testing.T) {
	e := startEngine(t)
	for name, test := range map[string]struct {
		config        docker.Config
		pids          int64
		memory, quota int64
	}{
		"defaults": {docker.Config{}, 512, 4096 << 20, 200_000},
		"a file's": {docker.Config{PIDs: 64, MemoryMB: 256, CPUs: 0.5}, 64, 256 << 20, 50_000},
	} {
		test.config.Host, test.config.Mount = "unix://"+e.Socket, t.TempDir()
		providertest.Create(t, providertest.Opened[*docker.Provider](t)(docker.New(test.config)))
		e.Lock()
		var h container.HostConfig
		err := json.Unmarshal(e.Host, &h)
		e.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(h.CapDrop, []string{"ALL"}) || !slices.Equal(h.SecurityOpt, []string{"no-new-privileges"}) ||
			h.Privileged || slices.Contains(h.CapAdd, "CAP_SYS_ADMIN") {
			t.Errorf("%s: %+v", name, h)
		}
		for _, c := range h.CapAdd {
			if !slices.Contains([]string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL", "CAP_SETGID",
				"CAP_SETUID"}, "CAP_"+strings.TrimPrefix(c, "CAP_")) {
				t.Errorf("%s: an instance keeps %s", name, c)
			}
		}
		if h.PidsLimit == nil || *h.PidsLimit != test.pids || h.Memory != test.memory || h.MemorySwap != test.memory ||
			h.CPUQuota != test.quota || h.CPUPeriod != 100_000 {
			t.Errorf("%s: bounds %+v", name, h.Resources)
		}
	}
	for _, bad := range []docker.Config{{PIDs: -1}, {MemoryMB: 1}, {MemoryMB: -1}, {MemoryMB: 1 << 60}, {CPUs: -1},
		{CPUs: 0.001}, {CPUs: math.Inf(1)}, {CPUs: math.NaN()}} {
		if _, err := docker.New(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}
