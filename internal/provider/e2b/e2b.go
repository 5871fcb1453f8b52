// Package e2b is sandboxes of the service E2B. A paused one keeps its memory: its processes go on
// when it is resumed.
//
// Commands and terminals are streams of the daemon in a sandbox, and are not repeated calls as at
// the other services (bash.Polled): the stream brings output as it is printed and costs a command
// that waits nothing.
package e2b

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/service"
	"github.com/evertty/evertty/internal/provider/wait"
)

// Defaults.
const (
	defaultDomain   = "e2b.app"
	defaultTemplate = "base"
	defaultCwd      = "/home/user"
	defaultUser     = "user"
	defaultTimeout  = 300              // seconds; a sandbox in use is kept awake, see extend
	leaseLabel      = "evertty"        // in the metadata: the lease's name
	tagLabel        = "evertty-create" // in the metadata: the creation that made it
)

// Config has the settings of E2B; the tags are the keys of its section in a file.
type Config struct {
	APIKey     string `json:"api_key"`     // E2B_API_KEY
	Domain     string `json:"domain"`      // E2B_DOMAIN; e2b.app
	APIURL     string `json:"api_url"`     // E2B_API_URL; https://api.DOMAIN
	SandboxURL string `json:"sandbox_url"` // E2B_SANDBOX_URL; one address for all sandboxes instead of one each
	Template   string `json:"template"`    // E2B_TEMPLATE; base
	User       string `json:"user"`        // user
	Cwd        string `json:"cwd"`         // /home/user
	Timeout    int    `json:"timeout"`     // seconds without use after which the service pauses a sandbox; 300
}

// Provider makes sandboxes.
type Provider struct {
	service.Sandboxes
	c        Config
	daemons  service.Cache[*daemon]
	killWait time.Duration // after which a command that kill does not end is left
}

// New checks the settings and makes no call.
func New(c Config) (*Provider, error) {
	if c.APIKey == "" {
		return nil, fmt.Errorf("e2b: %w: no API key: set E2B_API_KEY", provider.ErrRefused)
	}
	c.Domain, c.Template = cmp.Or(c.Domain, defaultDomain), cmp.Or(c.Template, defaultTemplate)
	c.User, c.Cwd = cmp.Or(c.User, defaultUser), cmp.Or(c.Cwd, defaultCwd)
	c.APIURL = cmp.Or(c.APIURL, "https://api."+c.Domain)
	if c.Timeout < 0 {
		return nil, fmt.Errorf("e2b: timeout is %d, but may not be negative", c.Timeout)
	}
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	var err error
	if c.APIURL, err = service.BaseURL("E2B_API_URL", c.APIURL); err != nil {
		return nil, err
	}
	if c.SandboxURL != "" {
		if c.SandboxURL, err = service.BaseURL("E2B_SANDBOX_URL", c.SandboxURL); err != nil {
			return nil, err
		}
	}
	e := &Provider{c: c, killWait: wait.CleanupTimeout}
	e.Sandboxes = service.Sandboxes{Client: service.NewClient("e2b", c.APIKey), Find: e.find,
		Observe: func(ctx context.Context, id string) (service.Observed, error) {
			s, err := e.look(ctx, id)
			return service.Observed{Word: s.State, State: s.state()}, err
		},
		Delete: func(ctx context.Context, id string) error {
			e.daemons.Delete(id)
			return e.control(ctx, http.MethodDelete, at(id), true, nil, nil)
		}}
	return e, nil
}

// Capabilities says what E2B can do.
func (e *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Pause: true, Resume: true, Destroy: true, Webhook: true, Status: true, PTY: true,
		Files: true, Metrics: true, MemoryKept: true, Runtime: "remote_pty"}
}

// sandbox is a sandbox in replies.
type sandbox struct {
	ID        string            `json:"sandboxID"`
	State     string            `json:"state"`
	Token     string            `json:"envdAccessToken"`
	Domain    string            `json:"domain"`
	StartedAt time.Time         `json:"startedAt"`
	Metadata  map[string]string `json:"metadata"`
}

// states are the service's states.
var states = map[string]provider.State{"running": provider.Running, "paused": provider.Paused, "killed": provider.Dead}

func (s sandbox) state() provider.State { return cmp.Or(states[s.State], provider.Unknown) }

// control makes a call about sandboxes.
func (e *Provider) control(ctx context.Context, method, at string, idempotent bool, in, out any) error {
	h := http.Header{}
	h.Set("X-API-Key", e.c.APIKey)
	c := service.Call{Method: method, URL: e.c.APIURL + at, Header: h, Idempotent: idempotent}
	return e.Client.DoJSON(ctx, c, in, out)
}

// sandboxID is an id that may stand in the name of a host.
var sandboxID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9-]{1,63}$`) })

func at(id string) string { return "/sandboxes/" + url.PathEscape(id) }

// Create makes a sandbox. Without use it is paused and not ended.
func (e *Provider) Create(ctx context.Context, r provider.CreateRequest) (provider.Instance, error) {
	in := struct {
		Template  string            `json:"templateID"`
		Timeout   int               `json:"timeout"`
		AutoPause bool              `json:"autoPause"`
		Secure    bool              `json:"secure"`
		Metadata  map[string]string `json:"metadata"`
		Env       map[string]string `json:"envVars,omitempty"`
	}{e.c.Template, e.c.Timeout, true, true, map[string]string{leaseLabel: r.Name}, r.Env}
	if r.Timeout > 0 {
		in.Timeout = service.Units(r.Timeout, time.Second)
	}
	s := sandbox{StartedAt: time.Now().UTC()}
	_, err := e.Sandboxes.Create(ctx, func(tag string) (string, error) {
		in.Metadata[tagLabel] = tag
		err := e.control(ctx, http.MethodPost, "/sandboxes", false, in, &s)
		if err == nil && !sandboxID().MatchString(s.ID) {
			err = fmt.Errorf("e2b: %w: a sandbox without a usable id", provider.ErrProvider)
		}
		if err == nil {
			e.remember(s)
		}
		return s.ID, err
	}, nil)
	if err != nil {
		return provider.Instance{}, err
	}
	return provider.Instance{ID: s.ID, State: provider.Running, CreatedAt: s.StartedAt, Cwd: e.c.Cwd}, nil
}

// find returns the sandboxes with a tag.
func (e *Provider) find(ctx context.Context, tag string) (ids []string, err error) {
	q := url.Values{"metadata": {url.Values{tagLabel: {tag}}.Encode()}, "limit": {"10"}}
	var list []sandbox
	err = e.control(ctx, http.MethodGet, "/v2/sandboxes?"+q.Encode(), true, nil, &list)
	for _, s := range list {
		if s.Metadata[tagLabel] == tag {
			ids = append(ids, s.ID)
		}
	}
	return ids, err
}

// look gets a sandbox; one that does not exist is killed.
func (e *Provider) look(ctx context.Context, id string) (s sandbox, err error) {
	err = e.control(ctx, http.MethodGet, at(id), true, nil, &s)
	if errors.Is(err, provider.ErrNotFound) {
		e.daemons.Delete(id)
		return sandbox{ID: id, State: "killed"}, nil
	}
	return s, err
}

// Pause writes a sandbox's memory to a disk and stops it.
func (e *Provider) Pause(ctx context.Context, id string) error {
	return e.Sandboxes.Change(ctx, id, provider.Running, provider.Paused,
		func() error { return e.control(ctx, http.MethodPost, at(id)+"/pause", false, struct{}{}, nil) })
}

// Resume continues a paused sandbox. Its call is idempotent: for a running sandbox it only sets the
// time of its end.
func (e *Provider) Resume(ctx context.Context, id string) error {
	return e.Sandboxes.Change(ctx, id, provider.Paused, provider.Running, func() error {
		var s sandbox
		err := e.control(ctx, http.MethodPost, at(id)+"/connect", true, map[string]int{"timeout": e.c.Timeout}, &s)
		if err == nil && s.ID != "" {
			e.remember(s)
		}
		return err
	})
}

// Metrics is the newest that the service has measured.
func (e *Provider) Metrics(ctx context.Context, id string) (provider.Metrics, error) {
	type measured struct {
		CPU      *float64 `json:"cpuUsedPct"`
		Mem      *float64 `json:"memUsed"`
		MemAll   *float64 `json:"memTotal"`
		Disk     *float64 `json:"diskUsed"`
		DiskAll  *float64 `json:"diskTotal"`
		UnixTime int64    `json:"timestampUnix"`
	}
	var list []measured
	if err := e.control(ctx, http.MethodGet, at(id)+"/metrics", true, nil, &list); err != nil {
		return provider.Metrics{}, err
	}
	if len(list) == 0 {
		return provider.Metrics{}, nil
	}
	m := slices.MaxFunc(list, func(a, b measured) int { return cmp.Compare(a.UnixTime, b.UnixTime) })
	return provider.Metrics{
		CPUPercent: m.CPU, MemoryUsedMB: service.Scaled(m.Mem, 1<<20), MemoryTotalMB: service.Scaled(m.MemAll, 1<<20),
		DiskUsedGB: service.Scaled(m.Disk, 1<<30), DiskTotalGB: service.Scaled(m.DiskAll, 1<<30),
	}, nil
}
