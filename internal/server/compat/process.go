package compat

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/exec"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/wire"
)

// killPatience is how long the reply of a kill waits for the end: SIGTERM, five seconds,
// SIGKILL, and some for a loaded machine.
const killPatience = 8 * time.Second

// maxProcesses bounds the commands of a shell that are looked at for those in the background: more than it keeps.
const maxProcesses = 1 << 16

func (s *Service) startProcess(ctx context.Context, in wire.CompatExecute) (wire.CompatProcess, error) {
	in.Background = true
	sh, e, err := s.submit(ctx, in)
	if err != nil {
		return wire.CompatProcess{}, err
	}
	if err := s.Started(ctx, e); err != nil {
		return wire.CompatProcess{}, errorOf(ctx, sh, err)
	}
	return processReplyOf(sh.Session, e.Info()), nil
}

// processes are the commands in the background, oldest first, of every session that the request sees: processes
// are not a session's own.
func (s *Service) processes(ctx context.Context) wire.CompatProcesses {
	list := wire.CompatProcesses{}
	for _, sh := range s.Shells.List(httpapi.SpaceOf(ctx)) {
		for _, i := range sh.Commands(maxProcesses, "") {
			if i.Background {
				list = append(list, processReplyOf(sh.Session, i))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b wire.CompatProcess) int { return a.StartTime.Compare(b.StartTime) })
	return list
}

func (s *Service) listProcesses(ctx context.Context, _ wire.Nothing) (wire.CompatProcesses, error) {
	return s.processes(ctx), nil
}

// process is the one a path names.
func (s *Service) process(ctx context.Context, in wire.ProcessRef) (session string, e *shell.Exec, err error) {
	for _, sh := range s.Shells.List(httpapi.SpaceOf(ctx)) {
		if e, err = sh.Command(in.Process); err == nil && e.Info().Background {
			return sh.Session, e, nil
		}
	}
	return "", nil, httpapi.NewError(http.StatusNotFound, "PROCESS_NOT_FOUND", "there is no process %q",
		httpapi.Clip(in.Process))
}

func (s *Service) getProcess(ctx context.Context, in wire.ProcessRef) (wire.CompatProcess, error) {
	session, e, err := s.process(ctx, in)
	if err != nil {
		return wire.CompatProcess{}, err
	}
	return processReplyOf(session, e.Info()), nil
}

func (s *Service) killProcess(ctx context.Context, in wire.ProcessRef) (wire.CompatProcess, error) {
	session, e, err := s.process(ctx, in)
	if err != nil {
		return wire.CompatProcess{}, err
	}
	if err := s.Check(ctx, session, permission.ToolCancel, permission.CommandArgs{Command: e.ID()}); err != nil {
		return wire.CompatProcess{}, err
	}
	e.Cancel()
	s.awaitAll([]*shell.Exec{e})
	return processReplyOf(session, e.Info()), nil
}

// awaitAll waits for the end of commands, for killPatience.
func (s *Service) awaitAll(list []*shell.Exec) {
	patience := time.NewTimer(killPatience)
	defer patience.Stop()
	for _, e := range list {
		select {
		case <-e.Done():
		case <-patience.C:
			return
		case <-s.Closing:
			return
		}
	}
}

// sessionsOf are the sessions of processes, each once.
func sessionsOf(list []wire.CompatProcess) (sessions []string) {
	for _, p := range list {
		sessions = append(sessions, p.SessionID)
	}
	slices.Sort(sessions)
	return slices.Compact(sessions)
}

func (s *Service) killAll(ctx context.Context, _ wire.Nothing) (wire.CompatKilled, error) {
	running := slices.DeleteFunc(s.processes(ctx), func(p wire.CompatProcess) bool { return !p.EndTime.IsZero() })
	for _, thread := range sessionsOf(running) {
		if err := s.Check(ctx, thread, permission.ToolKill, permission.NoArgs{}); err != nil {
			return wire.CompatKilled{}, err
		}
	}
	var ending []*shell.Exec
	for _, p := range running {
		if e, err := s.Shells.Command(p.SessionID, p.ID); err == nil { // else it went meanwhile
			e.Cancel()
			ending = append(ending, e)
		}
	}
	s.awaitAll(ending)
	return wire.CompatKilled{Success: true, Timestamp: now(), CleanedCount: len(ending)}, nil
}

func (s *Service) getLogs(c echo.Context, in wire.ProcessRef) error {
	_, e, err := s.process(c.Request().Context(), in)
	if err != nil {
		return err
	}
	logs := wire.CompatLogs{Success: true, Timestamp: now(), ProcessID: e.ID()}
	return exec.SendLogs(c, e, logs, e.Size(shell.Stdout), e.Size(shell.Stderr))
}

func (s *Service) streamProcess(c echo.Context, in wire.ProcessRef) error {
	session, e, err := s.process(c.Request().Context(), in)
	if err != nil {
		return err
	}
	if httpapi.IsHead(c) {
		return httpapi.HeadOfEvents(c)
	}
	s.Follow(c, e, events{httpapi.NameFor(c, session)}, exec.Following{End: -1})
	return nil
}
