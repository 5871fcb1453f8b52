package provider

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"sync"
	"time"
)

// E2B's defaults and bounds.
const (
	e2bDomain    = "e2b.app"
	e2bTemplate  = "base"
	e2bCwd       = "/home/user"
	e2bUser      = "user"
	e2bTimeout   = 300              // seconds; kept away while something runs, see extend
	e2bPort      = "49983"          // where the daemon of a sandbox listens
	e2bStart     = 2 * time.Minute  // until a sandbox runs
	e2bPause     = 2 * time.Minute  // until it is paused: its memory is written
	e2bPoll      = 2 * time.Second  // between two looks at the most
	e2bKnown     = 10_000           // sandboxes whose tokens are remembered
	e2bMaxUpload = 256 << 20        // bytes of a file that is written
	e2bTransfer  = 10 * time.Minute // for one file
	e2bExtend    = 10 * time.Second // for keeping a sandbox awake: output waits meanwhile, and a stream that is not read counts as silent
	e2bLabel     = "evertty"        // in the metadata: the lease's name
	e2bCreation  = "evertty-create" // in the metadata: which call of Create it comes from
)

// E2BConfig has the settings of E2B; the tags are the keys of its section in a file.
type E2BConfig struct {
	APIKey     string `json:"api_key"`     // E2B_API_KEY
	Domain     string `json:"domain"`      // E2B_DOMAIN; e2b.app
	APIURL     string `json:"api_url"`     // E2B_API_URL; https://api.DOMAIN
	SandboxURL string `json:"sandbox_url"` // E2B_SANDBOX_URL; one address for all sandboxes instead of one each
	Template   string `json:"template"`    // E2B_TEMPLATE; base
	User       string `json:"user"`        // user
	Cwd        string `json:"cwd"`         // /home/user
	Timeout    int    `json:"timeout"`     // seconds without use after which the service pauses a sandbox; 300
}

// E2B rents sandboxes from E2B. A paused one keeps its memory: its processes go on when it is resumed.
type E2B struct {
	c       E2BConfig
	service *service

	mu    sync.Mutex
	known map[string]*e2bKnow
}

// e2bKnow is what has to be known to talk to the daemon in a sandbox.
type e2bKnow struct {
	token, domain string
	extended      time.Time
}

// NewE2B checks the settings and makes no call.
func NewE2B(c E2BConfig) (*E2B, error) {
	if c.APIKey == "" {
		return nil, fmt.Errorf("e2b: %w: no API key: set E2B_API_KEY", ErrRefused)
	}
	c.Domain, c.Template = or(c.Domain, e2bDomain), or(c.Template, e2bTemplate)
	c.User, c.Cwd = or(c.User, e2bUser), or(c.Cwd, e2bCwd)
	c.APIURL = or(c.APIURL, "https://api."+c.Domain)
	if c.Timeout < 0 {
		return nil, fmt.Errorf("e2b: timeout is %d, but may not be negative", c.Timeout)
	}
	if c.Timeout == 0 {
		c.Timeout = e2bTimeout
	}
	var err error
	if c.APIURL, err = baseURL("E2B_API_URL", c.APIURL); err != nil {
		return nil, err
	}
	if c.SandboxURL != "" {
		if c.SandboxURL, err = baseURL("E2B_SANDBOX_URL", c.SandboxURL); err != nil {
			return nil, err
		}
	}
	return &E2B{c: c, service: newService("e2b", c.APIKey), known: map[string]*e2bKnow{}}, nil
}

// Name is "e2b".
func (e *E2B) Name() string { return "e2b" }

// Close closes connections that are not in use.
func (e *E2B) Close() error { return e.service.Close() }

// Capabilities says what E2B can do.
func (e *E2B) Capabilities() Capabilities {
	return Capabilities{
		Pause: true, Resume: true, Destroy: true, Webhook: true, Status: true, PTY: true, Files: true, Metrics: true, MemoryKept: true, Runtime: "remote_pty",
	}
}

// e2bSandbox is what is read of a sandbox.
type e2bSandbox struct {
	ID        string            `json:"sandboxID"`
	State     string            `json:"state"`
	Token     string            `json:"envdAccessToken"`
	Domain    string            `json:"domain"`
	StartedAt time.Time         `json:"startedAt"`
	Metadata  map[string]string `json:"metadata"`
}

func (s e2bSandbox) state() State {
	switch s.State {
	case "running":
		return Running
	case "paused":
		return Paused
	case "killed":
		return Dead
	}
	return Unknown
}

// control makes a call about sandboxes.
func (e *E2B) control(ctx context.Context, method, at string, twice bool, in, out any) error {
	h := http.Header{}
	h.Set("X-API-Key", e.c.APIKey)
	return e.service.doJSON(ctx, call{method: method, url: e.c.APIURL + at, header: h, twice: twice}, in, out)
}

// e2bID is a sandbox id that may stand in the name of a host.
var e2bID = regexp.MustCompile(`^[A-Za-z0-9-]{1,63}$`)

func e2bAt(id string) string { return "/sandboxes/" + url.PathEscape(id) }

// Create rents a sandbox, which runs when the call returns. It is paused and not ended when nobody uses it.
func (e *E2B) Create(ctx context.Context, r CreateRequest) (Instance, error) {
	mark := rand.Text()
	timeout := e.c.Timeout
	if r.Timeout > 0 {
		timeout = int((r.Timeout + time.Second - 1) / time.Second)
	}
	in := struct {
		Template  string            `json:"templateID"`
		Timeout   int               `json:"timeout"`
		AutoPause bool              `json:"autoPause"`
		Secure    bool              `json:"secure"`
		Metadata  map[string]string `json:"metadata"`
		Env       map[string]string `json:"envVars,omitempty"`
	}{e.c.Template, timeout, true, true, map[string]string{e2bLabel: r.Name, e2bCreation: mark}, r.Env}
	var s e2bSandbox
	err := e.control(ctx, http.MethodPost, "/sandboxes", false, in, &s)
	if err == nil && !e2bID.MatchString(s.ID) {
		err = fmt.Errorf("e2b: %w: a sandbox without a usable id", ErrProvider)
	}
	if err != nil {
		e.sweep(ctx, mark, err)
		return Instance{}, err
	}
	e.remember(s)
	if err := e.reach(ctx, s.ID, Running, e2bStart); err != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
		defer cancel()
		_ = e.control(late, http.MethodDelete, e2bAt(s.ID), true, nil, nil)
		return Instance{}, err
	}
	if s.StartedAt.IsZero() {
		s.StartedAt = time.Now().UTC()
	}
	return Instance{ID: s.ID, State: Running, CreatedAt: s.StartedAt, Cwd: e.c.Cwd}, nil
}

// sweep finds and destroys a sandbox whose creation may have succeeded though its reply did not arrive.
func (e *E2B) sweep(ctx context.Context, mark string, err error) {
	if errors.Is(err, ErrNotStarted) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	q := url.Values{"metadata": {url.Values{e2bCreation: {mark}}.Encode()}, "limit": {"10"}}
	var list []e2bSandbox
	if e.control(ctx, http.MethodGet, "/v2/sandboxes?"+q.Encode(), true, nil, &list) != nil {
		return
	}
	for _, s := range list {
		if s.Metadata[e2bCreation] == mark {
			_ = e.control(ctx, http.MethodDelete, e2bAt(s.ID), true, nil, nil)
		}
	}
}

// look asks for a sandbox; one that is gone is killed.
func (e *E2B) look(ctx context.Context, id string) (e2bSandbox, error) {
	var s e2bSandbox
	err := e.control(ctx, http.MethodGet, e2bAt(id), true, nil, &s)
	if errors.Is(err, ErrNotFound) {
		e.forget(id)
		return e2bSandbox{ID: id, State: "killed"}, nil
	}
	return s, err
}

func (e *E2B) reach(ctx context.Context, id string, want State, within time.Duration) error {
	return until(ctx, fmt.Sprintf("e2b: sandbox %s: %s", id, want), within, e2bPoll, func(ctx context.Context) (bool, error) {
		s, err := e.look(ctx, id)
		if err == nil && s.state() == Dead && want != Dead {
			err = fmt.Errorf("e2b: %w: %s", ErrNotFound, id)
		}
		return err == nil && s.state() == want, err
	})
}

// Destroy ends a sandbox.
func (e *E2B) Destroy(ctx context.Context, id string) error {
	err := e.control(ctx, http.MethodDelete, e2bAt(id), true, nil, nil)
	e.forget(id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Pause writes a sandbox's memory to a disk and stops it.
func (e *E2B) Pause(ctx context.Context, id string) error {
	err := e.control(ctx, http.MethodPost, e2bAt(id)+"/pause", false, struct{}{}, nil)
	if err != nil && (!errors.Is(err, ErrUnreachable) || errors.Is(err, ErrNotStarted)) {
		return err
	}
	// A reply that was lost is no failure: what it would have said is seen.
	return e.reach(ctx, id, Paused, e2bPause)
}

// Resume brings a paused sandbox back.
func (e *E2B) Resume(ctx context.Context, id string) error {
	s, err := e.look(ctx, id)
	switch {
	case err != nil:
		return err
	case s.state() == Dead:
		return fmt.Errorf("e2b: %w: %s", ErrNotFound, id)
	case s.state() == Running:
		return fmt.Errorf("e2b: %w: %s runs", ErrState, id)
	}
	var again e2bSandbox
	// The call is idempotent: of a running one it only sets when it ends.
	if err := e.control(ctx, http.MethodPost, e2bAt(id)+"/connect", true, map[string]int{"timeout": e.c.Timeout}, &again); err != nil {
		return err
	}
	e.remember(again)
	return e.reach(ctx, id, Running, e2bStart)
}

// Status is what the service says of a sandbox now.
func (e *E2B) Status(ctx context.Context, id string) (State, error) {
	s, err := e.look(ctx, id)
	if err != nil {
		return Unknown, err
	}
	return s.state(), nil
}

// remember keeps how to talk to a sandbox's daemon.
func (e *E2B) remember(s e2bSandbox) {
	if s.ID == "" {
		return
	}
	e.keep(s.ID, &e2bKnow{token: s.Token, domain: s.Domain, extended: time.Now()})
}

func (e *E2B) keep(id string, k *e2bKnow) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.known) >= e2bKnown {
		clear(e.known)
	}
	e.known[id] = k
}

func (e *E2B) forget(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.known, id)
}

// daemon is the address of a sandbox's daemon, and the header of a call to it. ErrNotStarted is part of every error: nothing was asked of the sandbox yet.
func (e *E2B) daemon(ctx context.Context, id string) (string, http.Header, error) {
	e.mu.Lock()
	k, ok := e.known[id]
	e.mu.Unlock()
	if !ok {
		s, err := e.look(ctx, id)
		if err == nil && s.state() != Running {
			err = fmt.Errorf("e2b: %w: %s is %s", map[bool]error{true: ErrNotFound, false: ErrNotRunning}[s.state() == Dead], id, s.State)
		}
		if err == nil && !e2bID.MatchString(id) {
			err = fmt.Errorf("e2b: %w: %q is no id", ErrNotFound, id)
		}
		if err != nil {
			return "", nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
		}
		k = &e2bKnow{token: s.Token, domain: s.Domain} // extended is not known
		e.keep(id, k)
	}
	base := e.c.SandboxURL
	if base == "" {
		var err error
		if base, err = baseURL("domain", "https://"+e2bPort+"-"+id+"."+or(k.domain, e.c.Domain)); err != nil {
			return "", nil, err
		}
	}
	h := http.Header{}
	h.Set("E2b-Sandbox-Id", id)
	h.Set("E2b-Sandbox-Port", e2bPort)
	h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(e.c.User+":")))
	if k.token != "" {
		h.Set("X-Access-Token", k.token)
	}
	return base, h, nil
}

// extend keeps the service from pausing a sandbox that is in use. It is asked at every use and every sign of life of a long one, and acts once in a third of the time.
func (e *E2B) extend(ctx context.Context, id string) {
	e.mu.Lock()
	k, ok := e.known[id]
	due := ok && time.Since(k.extended) > time.Duration(e.c.Timeout)*time.Second/3
	if due {
		k.extended = time.Now()
	}
	e.mu.Unlock()
	if due {
		ctx, cancel := context.WithTimeout(ctx, e2bExtend)
		defer cancel()
		_ = e.control(ctx, http.MethodPost, e2bAt(id)+"/timeout", true, map[string]int{"timeout": e.c.Timeout}, nil)
	}
}

// inside makes a call to the daemon in a sandbox. When that fails, the service is asked whether there still is one. A token that is refused is asked for once more: a sandbox
// that was resumed elsewhere may have another.
func (e *E2B) inside(ctx context.Context, id, at string, c call) (answer, error) {
	for fresh := false; ; fresh = true {
		base, h, err := e.daemon(ctx, id)
		if err != nil {
			return answer{}, err
		}
		c.url, c.header = base+at, h
		a, err := e.service.do(ctx, c)
		if errors.Is(err, ErrRefused) && !fresh {
			e.forget(id)
			continue
		}
		if err == nil || ctx.Err() != nil {
			return a, err
		}
		return answer{}, explain(ctx, e, id, err)
	}
}

// in is a path in the instance; a relative one is of its directory.
func (e *E2B) in(p string) string {
	if path.IsAbs(p) {
		return p
	}
	return path.Join(e.c.Cwd, p)
}

// Metrics is the newest that the service has measured.
func (e *E2B) Metrics(ctx context.Context, id string) (Metrics, error) {
	var list []struct {
		CPU      *float64 `json:"cpuUsedPct"`
		Mem      *float64 `json:"memUsed"`
		MemAll   *float64 `json:"memTotal"`
		Disk     *float64 `json:"diskUsed"`
		DiskAll  *float64 `json:"diskTotal"`
		UnixTime int64    `json:"timestampUnix"`
	}
	if err := e.control(ctx, http.MethodGet, e2bAt(id)+"/metrics", true, nil, &list); err != nil {
		return Metrics{}, err
	}
	if len(list) == 0 {
		return Metrics{}, nil
	}
	m := list[0]
	for _, other := range list[1:] {
		if other.UnixTime > m.UnixTime {
			m = other
		}
	}
	return Metrics{
		CPUPercent: m.CPU, MemoryUsedMB: per(m.Mem, 1<<20), MemoryTotalMB: per(m.MemAll, 1<<20), DiskUsedGB: per(m.Disk, 1<<30), DiskTotalGB: per(m.DiskAll, 1<<30),
	}, nil
}
