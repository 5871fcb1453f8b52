package provider

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// AgentBay's defaults and bounds.
const (
	agentBayEndpoint = "https://wuyingai.cn-shanghai.aliyuncs.com"
	agentBayVersion  = "2025-05-06"
	agentBayImage    = "linux_latest"
	agentBayCwd      = "/home/wuying"
	agentBayStart    = 2 * time.Minute  // until a session runs, also after a pause
	agentBayStop     = 2 * time.Minute  // until it is paused or deleted
	agentBayPoll     = 2 * time.Second  // between two looks at the most
	agentBayWait     = 10 * time.Second // one call waits for output; the service's own end is 50 s
	agentBayShell    = 50 * time.Second // the most that a call of the shell is given
	agentBayPiece    = 64 << 10         // bytes of a stream in one answer
)

// AgentBayConfig has the settings of AgentBay; the tags are the keys of its section in a file.
type AgentBayConfig struct {
	APIKey    string `json:"api_key"`    // AGENTBAY_API_KEY
	Endpoint  string `json:"endpoint"`   // AGENTBAY_ENDPOINT; https://wuyingai.cn-shanghai.aliyuncs.com
	Image     string `json:"image_id"`   // AGENTBAY_IMAGE_ID; linux_latest
	ContextID string `json:"context_id"` // AGENTBAY_CONTEXT_ID; what is kept between sessions, none
	Cwd       string `json:"cwd"`        // /home/wuying
}

// AgentBay rents sessions from AgentBay. It has no terminals: commands are calls of a tool, see wrapped.
//
// Files go through the shell too, in base64: the service's own tools for files carry text, in which a byte that is not UTF-8 is lost.
type AgentBay struct {
	c       AgentBayConfig
	service *service
	wrapped wrapped
}

// NewAgentBay checks the settings and makes no call.
func NewAgentBay(c AgentBayConfig) (*AgentBay, error) {
	if c.APIKey == "" {
		return nil, fmt.Errorf("agentbay: %w: no API key: set AGENTBAY_API_KEY", ErrRefused)
	}
	c.Endpoint, c.Image, c.Cwd = or(c.Endpoint, agentBayEndpoint), or(c.Image, agentBayImage), or(c.Cwd, agentBayCwd)
	if !strings.Contains(c.Endpoint, "://") {
		c.Endpoint = "https://" + c.Endpoint // the service's own clients take a host alone
	}
	var err error
	if c.Endpoint, err = baseURL("AGENTBAY_ENDPOINT", c.Endpoint); err != nil {
		return nil, err
	}
	a := &AgentBay{c: c, service: newService("agentbay", c.APIKey)}
	a.wrapped = wrapped{name: "agentbay", run: a.run, wait: agentBayWait, piece: agentBayPiece, before: "if [ -f ~/" + envFile + " ]; then . ~/" + envFile + "; fi\n"}
	return a, nil
}

// Name is "agentbay".
func (a *AgentBay) Name() string { return "agentbay" }

// Close closes connections that are not in use.
func (a *AgentBay) Close() error { return a.service.Close() }

// Capabilities says what AgentBay can do.
func (a *AgentBay) Capabilities() Capabilities {
	return Capabilities{Pause: true, Resume: true, Destroy: true, Webhook: true, Status: true, Files: true, Metrics: true, MemoryKept: true, Runtime: "remote_wrapped"}
}

// action makes one call. Every one is a form with the key in it; its name is in two places, because the service's clients differ in where they put it.
// A reply says twice how it went: with its status, and inside.
func (a *AgentBay) action(ctx context.Context, name string, twice bool, timeout time.Duration, form url.Values, out any) error {
	if form == nil {
		form = url.Values{}
	}
	form.Set("Authorization", "Bearer "+a.c.APIKey)
	body := []byte(form.Encode())
	sum := sha256.Sum256(body)
	h := http.Header{}
	h.Set("Accept", "application/json")
	for k, v := range map[string]string{
		"x-acs-action": name, "x-acs-version": agentBayVersion, "x-acs-date": time.Now().UTC().Format(time.RFC3339),
		"x-acs-signature-nonce": rand.Text(), "x-acs-content-sha256": hex.EncodeToString(sum[:]),
	} {
		h.Set(k, v)
	}
	q := url.Values{"Action": {name}, "Version": {agentBayVersion}, "Format": {"json"}}
	var said struct {
		Code, Message string
		Status        int `json:"HttpStatusCode"`
		Success       *bool
		Data          json.RawMessage
	}
	c := call{method: http.MethodPost, url: a.c.Endpoint + "/?" + q.Encode(), header: h, body: body, kind: "application/x-www-form-urlencoded", twice: twice, timeout: timeout}
	r, err := a.service.do(ctx, c)
	if err != nil {
		return bySaid(err)
	}
	if json.Unmarshal(r.body, &said) != nil {
		return fmt.Errorf("agentbay: %w: the reply is not what was agreed", ErrProvider)
	}
	if said.Success != nil && !*said.Success {
		status := said.Status
		if status < 300 {
			status = http.StatusInternalServerError
		}
		err := bySaid(&statusError{service: "agentbay", status: status, code: said.Code, text: a.service.clean(strings.TrimSpace(said.Code + " " + said.Message))})
		if r.first && nothingDone(err) {
			err = fmt.Errorf("%w: %w", ErrNotStarted, err)
		}
		return err
	}
	if out == nil || len(said.Data) == 0 {
		return nil
	}
	if json.Unmarshal(said.Data, out) != nil {
		return fmt.Errorf("agentbay: %w: the data of the reply are not what was agreed", ErrProvider)
	}
	return nil
}

// bySaid corrects the status by the code, which tells more: the service says 400 of nearly everything.
func bySaid(err error) error {
	var st *statusError
	if !errors.As(err, &st) {
		return err
	}
	for part, status := range map[string]int{
		"NotFound": http.StatusNotFound, "Unauthorized": http.StatusUnauthorized, "InvalidAuthorization": http.StatusUnauthorized, "InvalidApiKey": http.StatusUnauthorized,
		"Forbidden": http.StatusForbidden, "Throttling": http.StatusTooManyRequests, "StatusNotAllowed": http.StatusConflict, "IncorrectStatus": http.StatusConflict,
	} {
		if strings.Contains(st.code, part) {
			st.status = status
		}
	}
	return err
}

// agentBaySession is what is read of a session.
type agentBaySession struct {
	ID     string `json:"SessionId"`
	Status string
}

func (s agentBaySession) state() State {
	switch s.Status {
	case "RUNNING":
		return Running
	case "PAUSED":
		return Paused
	case "DELETING", "DELETED", "FINISH":
		return Dead
	}
	return Unknown // PAUSING, RESUMING too
}

// Create rents a session and waits until it runs. The variables of r are set before every command, for the service has no place for them: see Exec.
func (a *AgentBay) Create(ctx context.Context, r CreateRequest) (Instance, error) {
	mark := rand.Text()
	labels, err := json.Marshal(map[string]string{"evertty": r.Name, "evertty-create": mark})
	if err != nil {
		return Instance{}, fmt.Errorf("agentbay: %w", err)
	}
	form := url.Values{"ImageId": {a.c.Image}, "Labels": {string(labels)}}
	if a.c.ContextID != "" {
		form.Set("ContextId", a.c.ContextID)
	}
	if r.Timeout > 0 {
		form.Set("Timeout", fmt.Sprint(int((r.Timeout+time.Second-1)/time.Second)))
	}
	var s agentBaySession
	err = a.action(ctx, "CreateMcpSession", false, 0, form, &s)
	if err == nil && s.ID == "" {
		err = fmt.Errorf("agentbay: %w: a session without an id", ErrProvider)
	}
	if err != nil {
		a.sweep(ctx, string(labels), err)
		return Instance{}, err
	}
	created := time.Now().UTC()
	err = a.reach(ctx, s.ID, Running, agentBayStart)
	if err == nil && len(r.Env) > 0 {
		err = a.keepEnv(ctx, s.ID, r.Env)
	}
	if err != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
		defer cancel()
		_ = a.on(late, "DeleteSessionAsync", s.ID, true, nil)
		return Instance{}, err
	}
	return Instance{ID: s.ID, State: Running, CreatedAt: created, Cwd: a.c.Cwd}, nil
}

// envFile holds the variables of an instance, relative to its user's home.
const envFile = ".evertty-env"

// keepEnv writes the variables of an instance to where every command finds them.
func (a *AgentBay) keepEnv(ctx context.Context, id string, env map[string]string) error {
	text, err := exports(env)
	if err != nil {
		return err
	}
	_, err = a.files().sh(ctx, id, envFile, "umask 077; cat >~/"+envFile, []byte(text), 1)
	return err
}

// sweep finds and deletes a session whose creation may have succeeded though its reply did not arrive. The list does not tell labels, and one creation makes one session: more
// are a service that does not select by labels, and somebody's.
func (a *AgentBay) sweep(ctx context.Context, labels string, err error) {
	if errors.Is(err, ErrNotStarted) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	var list []agentBaySession
	if a.action(ctx, "ListSession", true, 0, url.Values{"Labels": {labels}, "MaxResults": {"10"}}, &list) != nil {
		return
	}
	if len(list) == 1 {
		_ = a.on(ctx, "DeleteSessionAsync", list[0].ID, true, nil)
	}
}

// on is an action about one session.
func (a *AgentBay) on(ctx context.Context, name, id string, twice bool, out any) error {
	return a.action(ctx, name, twice, 0, url.Values{"SessionId": {id}}, out)
}

// look asks for a session; one that is gone is deleted.
func (a *AgentBay) look(ctx context.Context, id string) (agentBaySession, error) {
	var s agentBaySession
	err := a.on(ctx, "GetSessionDetail", id, true, &s)
	if errors.Is(err, ErrNotFound) {
		return agentBaySession{ID: id, Status: "DELETED"}, nil
	}
	return s, err
}

func (a *AgentBay) reach(ctx context.Context, id string, want State, within time.Duration) error {
	return until(ctx, fmt.Sprintf("agentbay: session %s: %s", id, want), within, agentBayPoll, func(ctx context.Context) (bool, error) {
		s, err := a.look(ctx, id)
		if err == nil && s.state() == Dead && want != Dead {
			err = fmt.Errorf("agentbay: %w: %s", ErrNotFound, id)
		}
		return err == nil && s.state() == want, err
	})
}

// Destroy deletes a session and waits until that has begun.
func (a *AgentBay) Destroy(ctx context.Context, id string) error {
	err := a.on(ctx, "DeleteSessionAsync", id, true, nil)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return a.reach(ctx, id, Dead, agentBayStop)
}

// Pause puts a session to sleep.
func (a *AgentBay) Pause(ctx context.Context, id string) error {
	return a.change(ctx, id, "PauseSessionAsync", Running, Paused, agentBayStop)
}

// Resume wakes a session.
func (a *AgentBay) Resume(ctx context.Context, id string) error {
	return a.change(ctx, id, "ResumeSessionAsync", Paused, Running, agentBayStart)
}

// change asks for another state and waits for it. One that is on its way is only waited for.
func (a *AgentBay) change(ctx context.Context, id, name string, from, to State, within time.Duration) error {
	s, err := a.look(ctx, id)
	if err != nil {
		return err
	}
	err = sight{"agentbay", id, s.Status, s.state()}.ask(from, to, func() error { return a.on(ctx, name, id, false, nil) })
	if err != nil {
		return err
	}
	return a.reach(ctx, id, to, within)
}

// Status is what the service says of a session now.
func (a *AgentBay) Status(ctx context.Context, id string) (State, error) {
	s, err := a.look(ctx, id)
	if err != nil {
		return Unknown, err
	}
	return s.state(), nil
}

// tool calls a tool of a session and returns its text. Its failure (isError) is ErrProvider, with the text beside it.
func (a *AgentBay) tool(ctx context.Context, id, name string, timeout time.Duration, args any) (string, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return "", fmt.Errorf("agentbay: %w", err)
	}
	var data json.RawMessage
	form := url.Values{"SessionId": {id}, "Name": {name}, "Args": {string(text)}, "AutoGenSession": {"false"}}
	if err := a.action(ctx, "CallMcpTool", true, timeout, form, &data); err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", stillThere(explain(ctx, a, id, err))
	}
	out, failed, err := toolText(data)
	if err == nil && failed {
		err = fmt.Errorf("agentbay: %w: %s: %s", ErrProvider, name, a.service.clean(out))
	}
	return out, err
}

// toolText reads a tool's result, which is an object, or a text that holds one.
func toolText(data json.RawMessage) (text string, failed bool, err error) {
	var inner string
	if json.Unmarshal(data, &inner) == nil {
		data = json.RawMessage(inner)
	}
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if json.Unmarshal(data, &r) != nil {
		return "", false, fmt.Errorf("agentbay: %w: a tool's result is not what was agreed", ErrProvider)
	}
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.Text)
	}
	return b.String(), r.IsError, nil
}

// run is one call of the shell. Its answer is JSON with the output in it, or from some images the output alone. A failure that the tool tells of is an answer too,
// which perhaps lacks the mark; then the call is made again.
func (a *AgentBay) run(ctx context.Context, id, script string, timeout time.Duration) (string, error) {
	args := map[string]any{"command": line(script), "timeout_ms": min(timeout, agentBayShell).Milliseconds()}
	text, err := a.tool(ctx, id, "shell", timeout+callSlack, args)
	if err != nil && text == "" {
		return "", err
	}
	var r struct {
		Stdout *string
	}
	if json.Unmarshal([]byte(text), &r) == nil && r.Stdout != nil {
		return *r.Stdout, nil
	}
	return text, nil
}

// Exec runs a command; see wrapped.
func (a *AgentBay) Exec(ctx context.Context, id string, r ExecRequest, stdout, stderr io.Writer) (ExecResult, error) {
	r.Cwd = or(r.Cwd, a.c.Cwd)
	return a.wrapped.exec(ctx, id, r, stdout, stderr)
}

// OpenPTY is nothing that AgentBay can.
func (a *AgentBay) OpenPTY(context.Context, string, PTYRequest) (PTY, error) {
	return nil, fmt.Errorf("agentbay: %w: it has no terminals", ErrCannot)
}

// Metrics is what the session's own tool says.
func (a *AgentBay) Metrics(ctx context.Context, id string) (Metrics, error) {
	text, err := a.tool(ctx, id, "get_metrics", 0, struct{}{})
	if err != nil {
		return Metrics{}, err
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
		return Metrics{}, fmt.Errorf("agentbay: %w: the metrics are not what was agreed", ErrProvider)
	}
	return Metrics{
		CPUPercent: m.CPU, MemoryUsedMB: per(m.Mem, 1<<20), MemoryTotalMB: per(m.MemAll, 1<<20), DiskUsedGB: per(m.Disk, 1<<30), DiskTotalGB: per(m.DiskAll, 1<<30),
		RxKbps: per(m.Rx, 1.0/8), TxKbps: per(m.Tx, 1.0/8),
	}, nil
}

func (a *AgentBay) files() shellFiles { return shellFiles{p: a, cwd: a.c.Cwd} }

// ReadFile reads a whole file.
func (a *AgentBay) ReadFile(ctx context.Context, id, name string, most int64) ([]byte, error) {
	return a.files().read(ctx, id, name, most)
}

// WriteFile makes or replaces a file, and the directories that it needs.
func (a *AgentBay) WriteFile(ctx context.Context, id, name string, data []byte) error {
	return a.files().write(ctx, id, name, data)
}

// ListDir lists a directory.
func (a *AgentBay) ListDir(ctx context.Context, id, name string) ([]File, error) {
	return a.files().list(ctx, id, name)
}
