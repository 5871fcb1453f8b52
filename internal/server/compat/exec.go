package compat

import (
	"fmt"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/jsonstring"
	"github.com/evertty/evertty/internal/server/exec"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/wire"
)

// executeRequest is the body of POST /api/execute, /api/execute/stream and /api/process/start.
type executeRequest struct {
	Command    *string     `json:"command"`
	SessionID  string      `json:"sessionId"`
	Cwd        string      `json:"cwd"`
	Env        exec.EnvMap `json:"env"`
	TimeoutMS  int64       `json:"timeoutMs"`
	Timeout    int64       `json:"timeout"` // the same, in the words of its client library
	Background bool        `json:"background"`
	Stdin      *string     `json:"stdin"`
	Origin     string      `json:"origin"` // user or internal: for its logs
}

// own is the request in our words.
func (r *executeRequest) own() exec.Request {
	timeout := r.TimeoutMS
	if timeout == 0 {
		timeout = r.Timeout
	}
	return exec.Request{Command: r.Command, Cwd: r.Cwd, Env: r.Env, TimeoutMS: timeout, Stdin: r.Stdin,
		Background: r.Background}
}

// submit reads the request and gives its command to the shell it means.
func (s *Service) submit(c echo.Context, background bool) (*registry.Shell, *shell.Exec, executeRequest, error) {
	var req executeRequest
	if err := exec.Bind(c, &req, false); err != nil {
		return nil, nil, req, err
	}
	req.Background = req.Background || background
	own := req.own()
	cmd, err := own.ShellCommand(true)
	if err != nil {
		return nil, nil, req, err
	}
	sh, err := s.shellOf(c, req.SessionID, func(session string) (err error) {
		cmd.Within, err = s.CheckExec(c, session, own.Action())
		return err
	})
	if err != nil {
		return nil, nil, req, err
	}
	e, err := sh.Submit(cmd)
	if err != nil {
		err = errorOf(c, sh, err)
	}
	return sh, e, req, err
}

// executeReply is the reply of POST /api/execute without its outputs.
type executeReply struct {
	stamp
	ExitCode  int    `json:"exitCode"`
	Command   string `json:"command"`
	Duration  int64  `json:"duration"`
	SessionID string `json:"sessionId"`
	Truncated bool   `json:"truncated,omitempty"`
	ProcessID string `json:"processId,omitempty"`
	PID       int    `json:"pid,omitempty"`
}

func executeReplyOf(sh *registry.Shell, i shell.Info, r shell.Result) executeReply {
	return executeReply{stamp: stamp{r.ExitCode == 0, i.FinishedAt.UTC()}, ExitCode: r.ExitCode, Command: i.Command,
		Duration: exec.DurationOf(i), SessionID: sh.Session, Truncated: r.Truncated}
}

func (s *Service) execute(c echo.Context) error {
	sh, e, req, err := s.submit(c, false)
	if err != nil {
		return err
	}
	if req.Background {
		if err := s.Started(c, e); err != nil {
			return errorOf(c, sh, err)
		}
		i := e.Info()
		return exec.SendLogs(c, e, executeReply{stamp: stampNow(), Command: i.Command, SessionID: sh.Session,
			ProcessID: i.ID, PID: i.PID}, 0, 0)
	}
	r, err := s.Await(c, e, false)
	if err != nil {
		return errorOf(c, sh, err)
	}
	reply, sizes := executeReplyOf(sh, e.Info(), r), [2]int64{e.Size(shell.Stdout), e.Size(shell.Stderr)}
	limit := exec.ReplyLimit(e)
	reply.Truncated = reply.Truncated || max(sizes[0], sizes[1]) > limit
	return exec.SendLogs(c, e, reply, exec.WholeEnd(e, shell.Stdout, limit), exec.WholeEnd(e, shell.Stderr, limit))
}

func (s *Service) executeStream(c echo.Context) error {
	sh, e, _, err := s.submit(c, false)
	if err != nil {
		return err
	}
	s.Follow(c, e, events{sh.Session}, exec.Following{End: exec.StreamLimit(e)})
	return nil
}

// events are the events of the compatible streams: `data:` alone, with the kind as its type.
type events struct{ session string }

func (o events) Started(b []byte, i shell.Info) []byte {
	return appendData(b, wire.CompatEvent{Type: "start", Timestamp: i.StartedAt.UTC(), Command: i.Command,
		SessionID: o.session, ProcessID: i.ID, PID: i.PID})
}

// output says bytes that are not UTF-8 as U+FFFD: clients of these streams know nothing else. data_b64 has them too.
func (o events) Output(b []byte, out shell.Stream, p []byte) []byte {
	name := "stdout"
	if out == shell.Stderr {
		name = "stderr"
	}
	b = fmt.Appendf(b, `data: {"type":"%s","timestamp":"%s","data":"`, name, time.Now().UTC().Format(time.RFC3339Nano))
	b, text := jsonstring.Append(b, p)
	if !text {
		b = httpapi.AppendBase64(append(b, `","data_b64":"`...), p)
	}
	return append(b, "\"}\n\n"...)
}

func (o events) Completed(b []byte, i shell.Info, r shell.Result) []byte {
	return appendData(b, wire.CompatEvent{Type: "complete", Timestamp: i.FinishedAt.UTC(), ExitCode: &r.ExitCode,
		SessionID: o.session, ProcessID: i.ID,
		Result: &wire.CompatEventResult{Success: r.ExitCode == 0, ExitCode: r.ExitCode, Command: i.Command,
			Duration: exec.DurationOf(i), SessionID: o.session}})
}

func (o events) Failed(b []byte, e *httpapi.Error) []byte {
	return appendData(b, wire.CompatEvent{Type: "error", Timestamp: time.Now().UTC(), Error: e.Message, Code: e.Code,
		SessionID: o.session})
}

func appendData(b []byte, e wire.CompatEvent) []byte {
	data, err := httpapi.Encode(e)
	if err != nil {
		panic(err.Error()) // a type of ours
	}
	return fmt.Appendf(b, "data: %s\n\n", data)
}

func processReplyOf(session string, i shell.Info) wire.CompatProcess {
	p := wire.CompatProcess{Success: true, ID: i.ID, ProcessID: i.ID, PID: i.PID, Command: i.Command,
		Status: processStatus(i), StartTime: i.CreatedAt.UTC(),
		EndTime: utc(i.FinishedAt), SessionID: session, Timestamp: time.Now().UTC()}
	if !i.StartedAt.IsZero() {
		p.StartTime = i.StartedAt.UTC()
	}
	if i.Result != nil {
		p.ExitCode = &i.Result.ExitCode
	}
	return p
}

// utc is a time in UTC; the zero time stays zero, so that the reply leaves it out.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}

// processStatus is a command's status in these routes' words.
func processStatus(i shell.Info) string {
	switch i.Status {
	case shell.Queued:
		return "starting"
	case shell.Running:
		return "running"
	case shell.Cancelled:
		return "killed"
	case shell.Done:
		if i.Result != nil && i.Result.ExitCode == 0 {
			return "completed"
		}
		return "failed"
	}
	return "error"
}
