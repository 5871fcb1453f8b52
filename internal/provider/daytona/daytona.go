// Package daytona is sandboxes of the service Daytona. A paused one is stopped: its files stay, its
// processes end.
package daytona

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/internal/provider/service"
)

// Defaults and bounds.
const (
	defaultAPI  = "https://app.daytona.io/api"
	defaultCwd  = "/home/daytona"
	leaseLabel  = "evertty"
	tagLabel    = "evertty-create" // the creation that made a sandbox
	outputWait  = 10 * time.Second // that one call waits for output
	maxPiece    = 256 << 10        // bytes of a stream in one reply
	sdkVersion  = "0.167.0"        // of the client whose formats are spoken
	sandboxPath = "/sandbox"
)

// Config has the settings of Daytona; the tags are the keys of its section in a file.
type Config struct {
	APIKey       string `json:"api_key"`         // DAYTONA_API_KEY
	APIURL       string `json:"api_url"`         // DAYTONA_API_URL; https://app.daytona.io/api
	Organization string `json:"organization_id"` // DAYTONA_ORGANIZATION_ID; only with keys that belong to several
	Target       string `json:"target"`          // DAYTONA_TARGET; the organisation's region
	Snapshot     string `json:"snapshot"`        // what a sandbox is made of; the service's default
	User         string `json:"user"`
	Cwd          string `json:"cwd"`       // /home/daytona
	AutoStop     *int   `json:"auto_stop"` // minutes of idleness, then the service stops it; 0 never
}

// Provider makes sandboxes.
type Provider struct {
	bash.Polled
	service.Sandboxes
	c       Config
	proxies service.Cache[string] // where the toolbox of a sandbox is
}

// New checks the settings and makes no call.
func New(c Config) (*Provider, error) {
	if c.APIKey == "" {
		return nil, fmt.Errorf("daytona: %w: no API key: set DAYTONA_API_KEY", provider.ErrRefused)
	}
	c.APIURL, c.Cwd = cmp.Or(c.APIURL, defaultAPI), cmp.Or(c.Cwd, defaultCwd)
	var err error
	if c.APIURL, err = service.BaseURL("DAYTONA_API_URL", c.APIURL); err != nil {
		return nil, err
	}
	d := &Provider{c: c}
	d.Sandboxes = service.Sandboxes{Client: service.NewClient("daytona", c.APIKey), Find: d.find,
		Observe: func(ctx context.Context, id string) (service.Observed, error) {
			s, err := d.look(ctx, id)
			return s.observed(d.Client), err
		},
		Delete: func(ctx context.Context, id string) error {
			d.proxies.Delete(id)
			return d.control(ctx, http.MethodDelete, at(id), true, nil, nil)
		}}
	d.Polled = bash.Polled{Provider: "daytona", Run: d.run, Wait: outputWait, Piece: maxPiece, Cwd: c.Cwd}
	return d, nil
}

// Capabilities says what Daytona can do.
func (d *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Pause: true, Resume: true, Destroy: true, Webhook: true, Status: true, PTY: true,
		Files: true, Metrics: true, Runtime: "remote_pty"}
}

// sandbox is a sandbox in replies.
type sandbox struct {
	ID        string            `json:"id"`
	State     string            `json:"state"`
	Reason    string            `json:"errorReason"`
	Proxy     string            `json:"toolboxProxyUrl"`
	CreatedAt time.Time         `json:"createdAt"`
	Labels    map[string]string `json:"labels"`
}

// states are the service's states. One that is not among them is Unknown.
var states = map[string]provider.State{
	"started": provider.Running, "stopped": provider.Paused, "paused": provider.Paused, "archived": provider.Paused,
	"destroyed": provider.Dead, "destroying": provider.Dead,
}

func (s sandbox) observed(c *service.Client) service.Observed {
	o := service.Observed{Word: s.State, State: cmp.Or(states[s.State], provider.Unknown)}
	if o.Failed = s.State == "error" || s.State == "build_failed"; o.Failed {
		o.Reason = c.Redact(s.Reason)
	}
	return o
}

func (d *Provider) header() http.Header {
	h := http.Header{}
	h.Set("Authorization", "Bearer "+d.c.APIKey)
	h.Set("X-Daytona-Source", "evertty")
	h.Set("X-Daytona-SDK-Version", sdkVersion)
	if d.c.Organization != "" {
		h.Set("X-Daytona-Organization-ID", d.c.Organization)
	}
	return h
}

// control makes a call about sandboxes.
func (d *Provider) control(ctx context.Context, method, at string, idempotent bool, in, out any) error {
	c := service.Call{Method: method, URL: d.c.APIURL + at, Header: d.header(), Idempotent: idempotent}
	return d.Client.DoJSON(ctx, c, in, out)
}

func at(id string) string { return sandboxPath + "/" + url.PathEscape(id) }

// Create makes a sandbox and waits until it runs.
func (d *Provider) Create(ctx context.Context, r provider.CreateRequest) (provider.Instance, error) {
	in := struct {
		Snapshot string            `json:"snapshot,omitempty"`
		User     string            `json:"user,omitempty"`
		Target   string            `json:"target,omitempty"`
		Env      map[string]string `json:"env,omitempty"`
		Labels   map[string]string `json:"labels"`
		AutoStop *int              `json:"autoStopInterval,omitempty"`
	}{d.c.Snapshot, d.c.User, d.c.Target, r.Env, map[string]string{leaseLabel: r.Name}, d.c.AutoStop}
	if r.Timeout > 0 {
		in.AutoStop = new(service.Units(r.Timeout, time.Minute))
	}
	var s sandbox
	_, err := d.Sandboxes.Create(ctx, func(tag string) (string, error) {
		in.Labels[tagLabel] = tag
		err := d.control(ctx, http.MethodPost, sandboxPath, false, in, &s)
		if err == nil && s.ID == "" {
			err = fmt.Errorf("daytona: %w: a sandbox without an id", provider.ErrProvider)
		}
		return s.ID, err
	}, nil)
	if err != nil {
		return provider.Instance{}, err
	}
	return provider.Instance{ID: s.ID, State: provider.Running, CreatedAt: s.CreatedAt, Cwd: d.c.Cwd}, nil
}

// find returns the sandboxes with a tag.
func (d *Provider) find(ctx context.Context, tag string) (ids []string, err error) {
	var list struct {
		Items []sandbox `json:"items"`
	}
	labels, _ := json.Marshal(map[string]string{tagLabel: tag}) // texts always can be
	q := url.Values{"labels": {string(labels)}}
	err = d.control(ctx, http.MethodGet, sandboxPath+"?"+q.Encode(), true, nil, &list)
	for _, s := range list.Items {
		if s.Labels[tagLabel] == tag {
			ids = append(ids, s.ID)
		}
	}
	return ids, err
}

// look gets a sandbox; one that does not exist is destroyed.
func (d *Provider) look(ctx context.Context, id string) (s sandbox, err error) {
	err = d.control(ctx, http.MethodGet, at(id), true, nil, &s)
	switch {
	case errors.Is(err, provider.ErrNotFound):
		return sandbox{ID: id, State: "destroyed"}, nil
	case err == nil && s.Proxy != "":
		d.proxies.Put(s.ID, s.Proxy)
	}
	return s, err
}

// Pause stops a sandbox: its disk stays, its processes end.
func (d *Provider) Pause(ctx context.Context, id string) error {
	return d.change(ctx, id, "/stop", provider.Running, provider.Paused)
}

// Resume starts a stopped sandbox.
func (d *Provider) Resume(ctx context.Context, id string) error {
	return d.change(ctx, id, "/start", provider.Paused, provider.Running)
}

func (d *Provider) change(ctx context.Context, id, verb string, from, to provider.State) error {
	return d.Sandboxes.Change(ctx, id, from, to,
		func() error { return d.control(ctx, http.MethodPost, at(id)+verb, false, nil, nil) })
}

// toolbox is the address of a path inside a sandbox.
func (d *Provider) toolbox(ctx context.Context, id, at string) (string, error) {
	base, ok := d.proxies.Get(id)
	if !ok {
		s, err := d.look(ctx, id)
		if err == nil && s.State == "destroyed" {
			err = fmt.Errorf("daytona: %w: %s", provider.ErrNotFound, id)
		}
		if err != nil {
			return "", fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
		}
		if base = s.Proxy; base == "" {
			if base, err = d.askProxy(ctx, id); err != nil {
				return "", err
			}
		}
	}
	base, err := service.BaseURL("toolboxProxyUrl", base)
	if err != nil {
		return "", err
	}
	return base + "/" + url.PathEscape(id) + at, nil
}

// askProxy gets the address of the toolbox of a sandbox without one in its reply.
func (d *Provider) askProxy(ctx context.Context, id string) (string, error) {
	var u struct {
		URL string `json:"url"`
	}
	err := d.control(ctx, http.MethodGet, at(id)+"/toolbox-proxy-url", true, nil, &u)
	if err == nil {
		d.proxies.Put(id, u.URL)
	}
	return u.URL, err
}

// inside makes a call in a sandbox. After a failure it asks the service for the sandbox's state:
// the proxy replies with many kinds of errors for a sandbox that it cannot reach.
func (d *Provider) inside(ctx context.Context, id, at string, c service.Call) (service.Reply, error) {
	u, err := d.toolbox(ctx, id, at)
	if err != nil {
		return service.Reply{}, err
	}
	c.URL, c.Header = u, d.header()
	r, err := d.Client.Do(ctx, c)
	if err == nil || ctx.Err() != nil {
		return r, err
	}
	return service.Reply{}, service.Explain(ctx, d, id, err)
}

// post makes a call in a sandbox with a JSON body, and reads the reply into out, if that is not
// nil.
func (d *Provider) post(ctx context.Context, id, at string, c service.Call, in, out any) error {
	c.Method = http.MethodPost
	return service.InstanceExists(d.Client.JSON(c, in, out, func(c service.Call) (service.Reply, error) {
		return d.inside(ctx, id, at, c)
	}))
}

// run is one call of a command that is over soon.
func (d *Provider) run(ctx context.Context, id, script string, timeout time.Duration) (string, error) {
	in := struct {
		Command string `json:"command"`
		Timeout int    `json:"timeout"` // seconds
	}{bash.CommandLine(script), int(timeout / time.Second)}
	var out struct {
		Result string `json:"result"`
	}
	err := d.post(ctx, id, "/process/execute", service.Call{Idempotent: true, Timeout: timeout + bash.CallSlack}, in,
		&out)
	return out.Result, err
}

// Metrics asks the sandbox itself, for the service has no such call.
func (d *Provider) Metrics(ctx context.Context, id string) (provider.Metrics, error) {
	return bash.Measure(ctx, d, id)
}
