package compat

import (
	"cmp"
	"context"
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

// submit reads a request and submits its command to the shell of its session.
func (s *Service) submit(ctx context.Context, req wire.CompatExecute) (*registry.Shell, *shell.Exec, error) {
	own := wire.Exec{Command: req.Command, Cwd: req.Cwd, Env: req.Env, TimeoutMS: cmp.Or(req.TimeoutMS, req.Timeout),
		Stdin: req.Stdin, Background: req.Background}
	cmd, err := exec.ShellCommand(&own)
	if err != nil {
		return nil, nil, err
	}
	sh, err := s.shellOf(ctx, req.Session, req.SessionID, func(session string) (err error) {
		cmd.Within, err = s.CheckExec(ctx, session, exec.Action(&own))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	e, err := sh.Submit(cmd)
	if err != nil {
		err = errorOf(ctx, sh, err)
	}
	return sh, e, err
}

func (s *Service) execute(c echo.Context, in wire.CompatExecute) error {
	ctx := c.Request().Context()
	sh, e, err := s.submit(ctx, in)
	if err != nil {
		return err
	}
	if e.Info().Background {
		if err := s.Started(ctx, e); err != nil {
			return errorOf(ctx, sh, err)
		}
		i := e.Info()
		return exec.SendLogs(c, e, wire.CompatResult{Success: true, Timestamp: now(), Command: i.Command,
			SessionID: sh.Session, ProcessID: i.ID, PID: i.PID}, 0, 0)
	}
	if err := s.Await(ctx, e, false); err != nil {
		return errorOf(ctx, sh, err)
	}
	i, limit := e.Info(), exec.ReplyLimit(e)
	code := i.Result.ExitCode
	return exec.SendLogs(c, e, wire.CompatResult{Success: code == 0, Timestamp: i.FinishedAt.UTC(), ExitCode: code,
		Command: i.Command, Duration: i.DurationMS(), SessionID: sh.Session,
		Truncated: i.Result.Truncated || max(e.Size(shell.Stdout), e.Size(shell.Stderr)) > limit},
		exec.WholeEnd(e, shell.Stdout, limit), exec.WholeEnd(e, shell.Stderr, limit))
}

func (s *Service) executeStream(c echo.Context, in wire.CompatExecute) error {
	sh, e, err := s.submit(c.Request().Context(), in)
	if err != nil {
		return err
	}
	s.Follow(c, e, events{httpapi.NameFor(c, sh.Session)}, exec.Following{End: exec.StreamLimit(e)})
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

func (o events) Completed(b []byte, i shell.Info) []byte {
	code := i.Result.ExitCode
	return appendData(b, wire.CompatEvent{Type: "complete", Timestamp: i.FinishedAt.UTC(), ExitCode: &code,
		SessionID: o.session, ProcessID: i.ID,
		Result: &wire.CompatEventResult{Success: code == 0, ExitCode: code, Command: i.Command,
			Duration: i.DurationMS(), SessionID: o.session}})
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
