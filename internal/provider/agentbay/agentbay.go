// Package agentbay is sessions of the service AgentBay. It has no terminals: commands are calls of
// a tool, see bash.Polled. Files go through the shell too, in base64: the service's own tools for
// files carry text, in which a byte that is not UTF-8 is lost.
package agentbay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/internal/provider/service"
)

// Defaults and bounds.
const (
	defaultEndpoint = "https://wuyingai.cn-shanghai.aliyuncs.com"
	defaultImage    = "linux_latest"
	defaultCwd      = "/home/wuying"
	outputWait      = 10 * time.Second // that one call waits for output; the service's own limit is 50 s
	maxShellTime    = 50 * time.Second // that a call of the shell is given
	maxPiece        = 64 << 10         // bytes of a stream in one reply
)

// Config has the settings of AgentBay; the tags are the keys of its section in a file.
type Config struct {
	APIKey    string `json:"api_key"`    // AGENTBAY_API_KEY
	Endpoint  string `json:"endpoint"`   // AGENTBAY_ENDPOINT; https://wuyingai.cn-shanghai.aliyuncs.com
	Image     string `json:"image_id"`   // AGENTBAY_IMAGE_ID; linux_latest
	ContextID string `json:"context_id"` // AGENTBAY_CONTEXT_ID; files kept between sessions, none
	Cwd       string `json:"cwd"`        // /home/wuying
}

// Provider makes sessions.
type Provider struct {
	service.Sandboxes
	bash.Polled
	bash.Files
	c Config
}

// New checks the settings and makes no call.
func New(c Config) (*Provider, error) {
	if c.APIKey == "" {
		return nil, fmt.Errorf("agentbay: %w: no API key: set AGENTBAY_API_KEY", provider.ErrRefused)
	}
	c.Endpoint, c.Image = cmp.Or(c.Endpoint, defaultEndpoint), cmp.Or(c.Image, defaultImage)
	c.Cwd = cmp.Or(c.Cwd, defaultCwd)
	if !strings.Contains(c.Endpoint, "://") {
		c.Endpoint = "https://" + c.Endpoint // the service's own clients take a host alone
	}
	var err error
	if c.Endpoint, err = service.BaseURL("AGENTBAY_ENDPOINT", c.Endpoint); err != nil {
		return nil, err
	}
	a := &Provider{c: c}
	a.Sandboxes = service.Sandboxes{Client: service.NewClient("agentbay", c.APIKey), Observe: a.look, Find: a.find,
		Delete: func(ctx context.Context, id string) error { return a.on(ctx, "DeleteSessionAsync", id, true, nil) }}
	a.Polled = bash.Polled{Provider: "agentbay", Run: a.run, Wait: outputWait, Piece: maxPiece, Cwd: c.Cwd,
		Prologue: "if [ -f ~/" + envFile + " ]; then . ~/" + envFile + "; fi\n"}
	a.Files = bash.Files{Provider: "agentbay", Bash: a.Exec, Cwd: c.Cwd}
	return a, nil
}

// Capabilities says what AgentBay can do.
func (a *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Pause: true, Resume: true, Destroy: true, Webhook: true, Status: true, Files: true,
		Metrics: true, MemoryKept: true, Runtime: "remote_wrapped"}
}

// session is a session in replies.
type session struct {
	ID     string `json:"SessionId"`
	Status string
}

// states are the service's states. One that is not among them, as PAUSING and RESUMING, is Unknown.
var states = map[string]provider.State{"RUNNING": provider.Running, "PAUSED": provider.Paused,
	"DELETING": provider.Dead, "DELETED": provider.Dead, "FINISH": provider.Dead}

// tagLabel is the label of a session with the tag of its creation.
const tagLabel = "evertty-create"

// Create makes a session and waits until it runs. The service has no variables: they are in a file
// that every command reads first.
func (a *Provider) Create(ctx context.Context, r provider.CreateRequest) (provider.Instance, error) {
	created := time.Now().UTC()
	id, err := a.Sandboxes.Create(ctx, func(tag string) (string, error) {
		labels, err := json.Marshal(map[string]string{"evertty": r.Name, tagLabel: tag})
		if err != nil {
			return "", fmt.Errorf("agentbay: %w", err)
		}
		form := url.Values{"ImageId": {a.c.Image}, "Labels": {string(labels)}}
		if a.c.ContextID != "" {
			form.Set("ContextId", a.c.ContextID)
		}
		if r.Timeout > 0 {
			form.Set("Timeout", fmt.Sprint(service.Units(r.Timeout, time.Second)))
		}
		var s session
		err = a.action(ctx, "CreateMcpSession", false, 0, form, &s)
		if err == nil && s.ID == "" {
			err = fmt.Errorf("agentbay: %w: a session without an id", provider.ErrProvider)
		}
		return s.ID, err
	}, func(id string) error { return a.keepEnv(ctx, id, r.Env) })
	if err != nil {
		return provider.Instance{}, err
	}
	return provider.Instance{ID: id, State: provider.Running, CreatedAt: created, Cwd: a.c.Cwd}, nil
}

// envFile holds the variables of an instance, relative to its user's home.
const envFile = ".evertty-env"

// keepEnv writes the variables of an instance to the file for commands.
func (a *Provider) keepEnv(ctx context.Context, id string, env map[string]string) error {
	text, err := bash.Exports(env)
	if err == nil && len(env) > 0 {
		_, err = a.Files.Run(ctx, id, envFile, "umask 077; cat >~/"+envFile, []byte(text), 1)
	}
	return err
}

// find returns the session with a tag. Lists have no labels, and one creation makes one session:
// more than one are of a service that does not select by labels, and belong to others.
func (a *Provider) find(ctx context.Context, tag string) ([]string, error) {
	labels, err := json.Marshal(map[string]string{tagLabel: tag})
	var list []session
	if err == nil {
		err = a.action(ctx, "ListSession", true, 0, url.Values{"Labels": {string(labels)}, "MaxResults": {"10"}}, &list)
	}
	if err != nil || len(list) != 1 {
		return nil, err
	}
	return []string{list[0].ID}, nil
}

// on is an action about one session.
func (a *Provider) on(ctx context.Context, name, id string, idempotent bool, out any) error {
	return a.action(ctx, name, idempotent, 0, url.Values{"SessionId": {id}}, out)
}

func (a *Provider) look(ctx context.Context, id string) (service.Observed, error) {
	var s session
	err := a.on(ctx, "GetSessionDetail", id, true, &s)
	if errors.Is(err, provider.ErrNotFound) {
		s, err = session{id, "DELETED"}, nil
	}
	return service.Observed{Word: s.Status, State: cmp.Or(states[s.Status], provider.Unknown)}, err
}

// Pause pauses a session; its processes go on after Resume.
func (a *Provider) Pause(ctx context.Context, id string) error {
	return a.Sandboxes.Change(ctx, id, provider.Running, provider.Paused,
		func() error { return a.on(ctx, "PauseSessionAsync", id, false, nil) })
}

// Resume continues a session.
func (a *Provider) Resume(ctx context.Context, id string) error {
	return a.Sandboxes.Change(ctx, id, provider.Paused, provider.Running,
		func() error { return a.on(ctx, "ResumeSessionAsync", id, false, nil) })
}

// OpenPTY is ErrUnsupported.
func (a *Provider) OpenPTY(context.Context, string, provider.PTYRequest) (provider.PTY, error) {
	return nil, fmt.Errorf("agentbay: %w: it has no terminals", provider.ErrUnsupported)
}

// Metrics is what the session's own tool measures.
func (a *Provider) Metrics(ctx context.Context, id string) (provider.Metrics, error) {
	text, err := a.tool(ctx, id, "get_metrics", 0, struct{}{})
	if err != nil {
		return provider.Metrics{}, err
	}
	var m struct {
		CPU     *float64 `json:"cpu_used_pct"`
		Mem     *float64 `json:"mem_used"`
		MemAll  *float64 `json:"mem_total"`
		Disk    *float64 `json:"disk_used"`
		DiskAll *float64 `json:"disk_total"`
		Rx      *float64 `json:"rx_rate_kbyte_per_s"`
		Tx      *float64 `json:"tx_rate_kbyte_per_s"`
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return provider.Metrics{}, fmt.Errorf("agentbay: %w: the metrics are not what was agreed", provider.ErrProvider)
	}
	return provider.Metrics{
		CPUPercent: m.CPU, MemoryUsedMB: service.Scaled(m.Mem, 1<<20), MemoryTotalMB: service.Scaled(m.MemAll, 1<<20),
		DiskUsedGB: service.Scaled(m.Disk, 1<<30), DiskTotalGB: service.Scaled(m.DiskAll, 1<<30),
		RxKbps: service.Scaled(m.Rx, 1.0/8), TxKbps: service.Scaled(m.Tx, 1.0/8),
	}, nil
}
