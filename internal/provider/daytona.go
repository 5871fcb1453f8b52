package provider

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"sync"
	"time"
)

// Daytona's defaults and bounds.
const (
	daytonaAPI       = "https://app.daytona.io/api"
	daytonaCwd       = "/home/daytona"
	daytonaLabel     = "evertty"        // holds the lease's name
	daytonaStart     = 5 * time.Minute  // until a sandbox runs: an image may have to be fetched
	daytonaStop      = 2 * time.Minute  // until it has stopped or is destroyed
	daytonaPoll      = 2 * time.Second  // between two looks at the most
	daytonaWait      = 10 * time.Second // one call waits for output
	daytonaPiece     = 256 << 10        // bytes of a stream in one answer
	daytonaProxies   = 10_000           // addresses that are remembered
	daytonaMaxUpload = 256 << 20        // bytes of a file that is written
	daytonaTransfer  = 10 * time.Minute // for one file
	daytonaVersion   = "0.167.0"        // of the client whose formats are spoken (X-Daytona-SDK-Version)
)

// DaytonaConfig has the settings of Daytona; the tags are the keys of its section in a file.
type DaytonaConfig struct {
	APIKey       string `json:"api_key"`         // DAYTONA_API_KEY
	APIURL       string `json:"api_url"`         // DAYTONA_API_URL; https://app.daytona.io/api
	Organization string `json:"organization_id"` // DAYTONA_ORGANIZATION_ID; only with keys that belong to several
	Target       string `json:"target"`          // DAYTONA_TARGET; the organisation's region
	Snapshot     string `json:"snapshot"`        // what a sandbox is made of; the service's default
	User         string `json:"user"`
	Cwd          string `json:"cwd"`       // /home/daytona
	AutoStop     *int   `json:"auto_stop"` // minutes without use after which the service stops it; 0 never, absent its default
}

// Daytona rents sandboxes from Daytona. A paused one is stopped: its files stay, its processes end.
type Daytona struct {
	c       DaytonaConfig
	service *service
	wrapped wrapped

	mu      sync.Mutex
	proxies map[string]string // sandbox: where its toolbox is
}

// NewDaytona checks the settings and makes no call.
func NewDaytona(c DaytonaConfig) (*Daytona, error) {
	if c.APIKey == "" {
		return nil, fmt.Errorf("daytona: %w: no API key: set DAYTONA_API_KEY", ErrRefused)
	}
	c.APIURL, c.Cwd = or(c.APIURL, daytonaAPI), or(c.Cwd, daytonaCwd)
	var err error
	if c.APIURL, err = baseURL("DAYTONA_API_URL", c.APIURL); err != nil {
		return nil, err
	}
	d := &Daytona{c: c, service: newService("daytona", c.APIKey), proxies: map[string]string{}}
	d.wrapped = wrapped{name: "daytona", run: d.run, wait: daytonaWait, piece: daytonaPiece}
	return d, nil
}

// or is v, or another when v is none.
func or(v, other string) string {
	if v == "" {
		return other
	}
	return v
}

// Name is "daytona".
func (d *Daytona) Name() string { return "daytona" }

// Close closes connections that are not in use.
func (d *Daytona) Close() error { return d.service.Close() }

// Capabilities says what Daytona can do.
func (d *Daytona) Capabilities() Capabilities {
	return Capabilities{Pause: true, Resume: true, Destroy: true, Webhook: true, Status: true, PTY: true, Files: true, Metrics: true, Runtime: "remote_pty"}
}

// daytonaSandbox is what is read of a sandbox.
type daytonaSandbox struct {
	ID        string            `json:"id"`
	State     string            `json:"state"`
	Reason    string            `json:"errorReason"`
	Proxy     string            `json:"toolboxProxyUrl"`
	CreatedAt time.Time         `json:"createdAt"`
	Labels    map[string]string `json:"labels"`
}

// state maps the words of the service (upstream facts 3.6.2).
func (s daytonaSandbox) state() State {
	switch s.State {
	case "started":
		return Running
	case "stopped", "paused", "archived":
		return Paused
	case "destroyed", "destroying":
		return Dead
	}
	return Unknown
}

func (d *Daytona) header() http.Header {
	h := http.Header{}
	h.Set("Authorization", "Bearer "+d.c.APIKey)
	h.Set("X-Daytona-Source", "evertty")
	h.Set("X-Daytona-SDK-Version", daytonaVersion)
	if d.c.Organization != "" {
		h.Set("X-Daytona-Organization-ID", d.c.Organization)
	}
	return h
}

// control makes a call about sandboxes.
func (d *Daytona) control(ctx context.Context, method, at string, twice bool, in, out any) error {
	return d.service.doJSON(ctx, call{method: method, url: d.c.APIURL + at, header: d.header(), twice: twice}, in, out)
}

func at(id string) string { return "/sandbox/" + url.PathEscape(id) }

// Create rents a sandbox and waits until it runs.
func (d *Daytona) Create(ctx context.Context, r CreateRequest) (Instance, error) {
	mark := rand.Text()
	in := struct {
		Snapshot string            `json:"snapshot,omitempty"`
		User     string            `json:"user,omitempty"`
		Target   string            `json:"target,omitempty"`
		Env      map[string]string `json:"env,omitempty"`
		Labels   map[string]string `json:"labels"`
		AutoStop *int              `json:"autoStopInterval,omitempty"`
	}{d.c.Snapshot, d.c.User, d.c.Target, r.Env, map[string]string{daytonaLabel: r.Name, daytonaLabel + "-create": mark}, d.c.AutoStop}
	if r.Timeout > 0 {
		minutes := int((r.Timeout + time.Minute - 1) / time.Minute)
		in.AutoStop = &minutes
	}
	var s daytonaSandbox
	err := d.control(ctx, http.MethodPost, "/sandbox", false, in, &s)
	if err == nil && s.ID == "" {
		err = fmt.Errorf("daytona: %w: a sandbox without an id", ErrProvider)
	}
	if err != nil {
		d.sweep(ctx, mark, err)
		return Instance{}, err
	}
	d.remember(s)
	if err := d.reach(ctx, s.ID, Running, daytonaStart); err != nil {
		d.discard(ctx, s.ID)
		return Instance{}, err
	}
	return Instance{ID: s.ID, State: Running, CreatedAt: s.CreatedAt, Cwd: d.c.Cwd}, nil
}

// discard destroys what a Create that failed has left.
func (d *Daytona) discard(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	_ = d.control(ctx, http.MethodDelete, at(id), true, nil, nil)
}

// sweep finds and destroys a sandbox whose creation may have succeeded though its reply did not arrive.
func (d *Daytona) sweep(ctx context.Context, mark string, err error) {
	if errors.Is(err, ErrNotStarted) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	var list struct {
		Items []daytonaSandbox `json:"items"`
	}
	q := url.Values{"labels": {fmt.Sprintf(`{"%s-create":%q}`, daytonaLabel, mark)}}
	if d.control(ctx, http.MethodGet, "/sandbox?"+q.Encode(), true, nil, &list) != nil {
		return
	}
	for _, s := range list.Items {
		if s.Labels[daytonaLabel+"-create"] == mark {
			_ = d.control(ctx, http.MethodDelete, at(s.ID), true, nil, nil)
		}
	}
}

// look asks for a sandbox; one that is gone is destroyed.
func (d *Daytona) look(ctx context.Context, id string) (daytonaSandbox, error) {
	var s daytonaSandbox
	err := d.control(ctx, http.MethodGet, at(id), true, nil, &s)
	if errors.Is(err, ErrNotFound) {
		return daytonaSandbox{ID: id, State: "destroyed"}, nil
	}
	if err == nil {
		d.remember(s)
	}
	return s, err
}

// reach waits until a sandbox is in a state, or in one from which it will not get there.
func (d *Daytona) reach(ctx context.Context, id string, want State, within time.Duration) error {
	return until(ctx, fmt.Sprintf("daytona: sandbox %s: %s", id, want), within, daytonaPoll, func(ctx context.Context) (bool, error) {
		s, err := d.look(ctx, id)
		switch {
		case err != nil:
			return false, err
		case s.state() == want:
			return true, nil
		case s.state() == Dead:
			return false, fmt.Errorf("daytona: %w: %s", ErrNotFound, id)
		case s.State == "error" || s.State == "build_failed":
			return false, fmt.Errorf("daytona: %w: the sandbox is in state %s: %s", ErrProvider, s.State, d.service.clean(s.Reason))
		}
		return false, nil
	})
}

// Destroy ends a sandbox and waits until that is certain.
func (d *Daytona) Destroy(ctx context.Context, id string) error {
	err := d.control(ctx, http.MethodDelete, at(id), true, nil, nil)
	absent := errors.Is(err, ErrNotFound)
	if err != nil && !absent {
		return err
	}
	d.forget(id)
	if absent {
		return nil
	}
	return d.reach(ctx, id, Dead, daytonaStop)
}

// Pause stops a sandbox: its disk stays, its processes end.
func (d *Daytona) Pause(ctx context.Context, id string) error {
	return d.change(ctx, id, "/stop", Running, Paused, daytonaStop)
}

// Resume starts a stopped sandbox.
func (d *Daytona) Resume(ctx context.Context, id string) error {
	return d.change(ctx, id, "/start", Paused, Running, daytonaStart)
}

// change asks for another state and waits for it. The service takes "stop" of a stopped one without a word, so the state is looked at before; a second call of a
// verb that has worked is a conflict, so it is made once.
func (d *Daytona) change(ctx context.Context, id, verb string, from, to State, within time.Duration) error {
	s, err := d.look(ctx, id)
	switch {
	case err != nil:
		return err
	case s.state() == Unknown && (s.State == "error" || s.State == "build_failed"):
		return fmt.Errorf("daytona: %w: %s is in state %s", ErrState, id, s.State)
	}
	err = sight{"daytona", id, s.State, s.state()}.ask(from, to, func() error {
		return d.control(ctx, http.MethodPost, at(id)+verb, false, nil, nil)
	})
	if err != nil {
		return err
	}
	return d.reach(ctx, id, to, within)
}

// Status is what the service says of a sandbox now.
func (d *Daytona) Status(ctx context.Context, id string) (State, error) {
	s, err := d.look(ctx, id)
	if err != nil {
		return Unknown, err
	}
	return s.state(), nil
}

// remember keeps where a sandbox's toolbox is.
func (d *Daytona) remember(s daytonaSandbox) {
	if s.Proxy == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.proxies) >= daytonaProxies {
		clear(d.proxies)
	}
	d.proxies[s.ID] = s.Proxy
}

func (d *Daytona) forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.proxies, id)
}

// toolbox is the address of a path inside a sandbox.
func (d *Daytona) toolbox(ctx context.Context, id, at string) (string, error) {
	d.mu.Lock()
	base, ok := d.proxies[id]
	d.mu.Unlock()
	if !ok {
		s, err := d.look(ctx, id)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrNotStarted, err)
		}
		if s.state() == Dead {
			return "", fmt.Errorf("%w: daytona: %w: %s", ErrNotStarted, ErrNotFound, id)
		}
		if base = s.Proxy; base == "" {
			var u struct {
				URL string `json:"url"`
			}
			if err := d.control(ctx, http.MethodGet, "/sandbox/"+url.PathEscape(id)+"/toolbox-proxy-url", true, nil, &u); err != nil {
				return "", err
			}
			base = u.URL
			d.remember(daytonaSandbox{ID: id, Proxy: base})
		}
	}
	base, err := baseURL("toolboxProxyUrl", base)
	if err != nil {
		return "", err
	}
	return base + "/" + url.PathEscape(id) + at, nil
}

// inside makes a call in a sandbox. When that fails, the service is asked whether there still is one: its proxy answers for what it cannot reach with errors of many kinds.
func (d *Daytona) inside(ctx context.Context, id, at string, c call) (answer, error) {
	u, err := d.toolbox(ctx, id, at)
	if err != nil {
		return answer{}, err
	}
	c.url, c.header = u, d.header()
	a, err := d.service.do(ctx, c)
	if err == nil || ctx.Err() != nil {
		return a, err
	}
	return answer{}, explain(ctx, d, id, err)
}

// Exec runs a command; see wrapped.
func (d *Daytona) Exec(ctx context.Context, id string, r ExecRequest, stdout, stderr io.Writer) (ExecResult, error) {
	r.Cwd = or(r.Cwd, d.c.Cwd)
	return d.wrapped.exec(ctx, id, r, stdout, stderr)
}

// run is one call of a command that is over soon.
func (d *Daytona) run(ctx context.Context, id, script string, timeout time.Duration) (string, error) {
	in := struct {
		Command string `json:"command"`
		Timeout int    `json:"timeout"` // seconds
	}{line(script), int(timeout / time.Second)}
	body, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	a, err := d.inside(ctx, id, "/process/execute", call{method: http.MethodPost, body: body, kind: "application/json", twice: true, timeout: timeout + callSlack})
	if err != nil {
		return "", stillThere(err)
	}
	var out struct {
		Result string `json:"result"`
	}
	if err := json.Unmarshal(a.body, &out); err != nil {
		return "", fmt.Errorf("daytona: %w: the reply is not what was agreed", ErrProvider)
	}
	return out.Result, nil
}

// in is a path in the instance; a relative one is of its directory.
func (d *Daytona) in(p string) string {
	if path.IsAbs(p) {
		return p
	}
	return path.Join(d.c.Cwd, p)
}

// Metrics asks the sandbox itself, for the service has no such call.
func (d *Daytona) Metrics(ctx context.Context, id string) (Metrics, error) {
	return probe(ctx, d, id)
}
