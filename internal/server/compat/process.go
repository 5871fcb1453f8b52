package compat

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
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

func (s *Service) startProcess(c echo.Context) error {
	sh, e, err := s.submit(c, true)
	if err != nil {
		return err
	}
	if err := s.Started(c, e); err != nil {
		return errorOf(c, sh, err)
	}
	return c.JSON(http.StatusOK, processReplyOf(sh.Session, e.Info()))
}

// processes are the commands in the background, oldest first, of every session: processes are not a session's own.
func (s *Service) processes() []wire.CompatProcess {
	list := []wire.CompatProcess{}
	for _, sh := range s.Shells.List("") {
		for _, i := range sh.Commands(maxProcesses, "") {
			if i.Background {
				list = append(list, processReplyOf(sh.Session, i))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b wire.CompatProcess) int { return a.StartTime.Compare(b.StartTime) })
	return list
}

func (s *Service) listProcesses(c echo.Context) error {
	if auth.GrantOf(c.Request().Context()).PTY != "" {
		return httpapi.ErrWrongTerminal
	}
	return httpapi.WriteJSON(c, http.StatusOK, s.processes())
}

// process is the one a path names.
func (s *Service) process(c echo.Context) (session string, e *shell.Exec, err error) {
	if auth.GrantOf(c.Request().Context()).PTY != "" {
		return "", nil, httpapi.ErrWrongTerminal
	}
	for _, sh := range s.Shells.List("") {
		if e, err = sh.Command(c.Param("id")); err == nil && e.Info().Background {
			return sh.Session, e, nil
		}
	}
	return "", nil, httpapi.NewError(http.StatusNotFound, "PROCESS_NOT_FOUND", "there is no process %q",
		httpapi.Clip(c.Param("id")))
}

func (s *Service) getProcess(c echo.Context) error {
	session, e, err := s.process(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, processReplyOf(session, e.Info()))
}

func (s *Service) killProcess(c echo.Context) error {
	session, e, err := s.process(c)
	if err != nil {
		return err
	}
	if err := s.Check(c.Request().Context(), session, permission.ToolCancel, permission.CommandArgs{Command: e.ID()}); err != nil {
		return err
	}
	e.Cancel()
	s.awaitAll([]*shell.Exec{e})
	return c.JSON(http.StatusOK, processReplyOf(session, e.Info()))
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

func (s *Service) killAll(c echo.Context) error {
	if auth.GrantOf(c.Request().Context()).PTY != "" {
		return httpapi.ErrWrongTerminal
	}
	running := slices.DeleteFunc(s.processes(), func(p wire.CompatProcess) bool { return !p.EndTime.IsZero() })
	for _, thread := range sessionsOf(running) {
		if err := s.Check(c.Request().Context(), thread, permission.ToolKill, permission.NoArgs{}); err != nil {
			return err
		}
	}
	var ending []*shell.Exec
	for _, p := range running {
		if e, err := s.Shells.Command("", p.ID); err == nil { // else it went meanwhile
			e.Cancel()
			ending = append(ending, e)
		}
	}
	s.awaitAll(ending)
	return c.JSON(http.StatusOK, wire.CompatKilled{Success: true, Timestamp: now(), CleanedCount: len(ending)})
}

func (s *Service) getLogs(c echo.Context) error {
	_, e, err := s.process(c)
	if err != nil {
		return err
	}
	logs := wire.CompatLogs{Success: true, Timestamp: now(), ProcessID: e.ID()}
	return exec.SendLogs(c, e, logs, e.Size(shell.Stdout), e.Size(shell.Stderr))
}

func (s *Service) streamProcess(c echo.Context) error {
	session, e, err := s.process(c)
	if err != nil {
		return err
	}
	if httpapi.IsHead(c) {
		return httpapi.HeadOfEvents(c)
	}
	s.Follow(c, e, events{session}, exec.Following{End: -1})
	return nil
}
