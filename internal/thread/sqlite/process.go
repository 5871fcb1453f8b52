package sqlite

import (
	"math"
	"slices"

	"github.com/evertty/evertty/internal/thread"
)

const runtimeColumns = `id, terminal_id, session_id, generation, pid, pid_start_time, boot_id, state, exit_code,
		signal, started_at, ended_at`

var putRuntime = upsert("runtimes", runtimeColumns, "terminal_id", "session_id", "generation", "started_at")

func scanRuntime(s scanner) (p thread.Runtime, err error) {
	return p, s.Scan(&p.ID, &p.Terminal, maybe{&p.Session}, &p.Generation, &p.PID, &p.PIDStart, &p.Boot, &p.State,
		&p.ExitCode, &p.Signal, when{&p.StartedAt}, when{&p.EndedAt})
}

func (r processRows) LastRuntime(terminal string) (thread.Runtime, error) {
	return one(r.table, "runtime of terminal "+terminal, scanRuntime, `SELECT `+runtimeColumns+` FROM runtimes
		WHERE terminal_id = ? ORDER BY generation DESC LIMIT 1`, terminal)
}

// ofThread limits rows of terminals to a thread; "" is all threads.
func ofThread(thread string) (condition string, args []any) {
	if thread == "" {
		return "", nil
	}
	return ` AND terminal_id IN (SELECT id FROM terminals WHERE thread_id = ?)`, []any{thread}
}

func (r processRows) LiveRuntimes(thread string) ([]thread.Runtime, error) {
	condition, args := ofThread(thread)
	return all(r.table, "live runtimes "+thread, scanRuntime, `SELECT `+runtimeColumns+` FROM runtimes
		WHERE state IN ('starting', 'running', 'adopted')`+condition+` ORDER BY seq`, args...)
}

func (r processRows) PutRuntime(p thread.Runtime) {
	r.put("runtime "+p.ID, putRuntime, p.ID, p.Terminal, orNull(p.Session), p.Generation, p.PID, p.PIDStart, p.Boot,
		p.State, p.ExitCode, p.Signal, at(p.StartedAt), at(p.EndedAt))
}

const commandColumns = `id, terminal_id, runtime_id, line, cwd, env_json, background, pid, status, exit_code,
		stdout_bytes, stderr_bytes, log_path, started_at, finished_at, reason`

var putCommand = upsert("commands", commandColumns, "terminal_id", "line", "env_json")

func scanCommand(s scanner) (c thread.Command, err error) {
	return c, s.Scan(&c.ID, &c.Terminal, maybe{&c.Runtime}, &c.Line, &c.Cwd, fromJSON{(*environment)(&c.Env)},
		&c.Background, &c.PID, &c.Status, &c.ExitCode, &c.StdoutBytes, &c.StderrBytes, &c.Log, when{&c.StartedAt},
		when{&c.FinishedAt}, &c.Reason)
}

func (r processRows) Command(id string) (thread.Command, error) {
	return one(r.table, "command "+id, scanCommand, `SELECT `+commandColumns+` FROM commands WHERE id = ?`, id)
}

func (r processRows) Commands(q thread.CommandQuery) (list []thread.Command, err error) {
	before := int64(math.MaxInt64)
	condition, args := ofThread(q.Thread)
	if q.Before != "" {
		before, err = one(r.table, "command "+q.Before, number, `SELECT seq FROM commands WHERE true`+condition+
			` AND id = ?`, append(slices.Clone(args), q.Before)...)
		if err != nil {
			return nil, err
		}
	}
	if q.Terminal != "" {
		condition, args = condition+` AND terminal_id = ?`, append(args, q.Terminal)
	}
	list, err = all(r.table, "commands of thread "+q.Thread, scanCommand, `SELECT `+commandColumns+` FROM commands
		WHERE true`+condition+` AND seq < ? ORDER BY seq DESC LIMIT ?`, append(args, before, page(q.Limit))...)
	slices.Reverse(list)
	return list, err
}

func (r processRows) PutCommand(c thread.Command) {
	r.put("command "+c.ID, putCommand, c.ID, c.Terminal, orNull(c.Runtime), c.Line, c.Cwd, asJSON(environment(c.Env)),
		c.Background, c.PID, c.Status, c.ExitCode, c.StdoutBytes, c.StderrBytes, c.Log, at(c.StartedAt),
		at(c.FinishedAt), c.Reason)
	if trims() {
		r.put("commands of terminal "+c.Terminal,
			`DELETE FROM commands WHERE terminal_id = ?1 AND status IN ('done', 'cancelled', 'failed') AND seq <=
			(SELECT seq FROM commands WHERE terminal_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
			c.Terminal, maxCommands)
	}
}

func (r processRows) OpenCommands(thread string) ([]thread.Command, error) {
	condition, args := ofThread(thread)
	return all(r.table, "open commands "+thread, scanCommand, `SELECT `+commandColumns+` FROM commands
		WHERE status IN ('queued', 'running')`+condition+` ORDER BY seq`, args...)
}

// LeaseCommands counts the open commands of a lease.
func (r processRows) LeaseCommands(lease string) (int64, error) {
	return one(r.table, "commands of lease "+lease, number, `SELECT count(*) FROM commands
		WHERE status IN ('queued', 'running') AND terminal_id IN (SELECT id FROM terminals WHERE lease_id = ?)`, lease)
}

// ForgetCommand deletes a command, and its text in the events and answered approvals of its thread.
func (r processRows) ForgetCommand(id string) error {
	c, err := r.Command(id)
	if err != nil {
		return err
	}
	r.erased(eraseNow)
	const of = ` WHERE thread_id = (SELECT thread_id FROM terminals WHERE id = ?) AND `
	r.put("command "+id, `UPDATE events SET data_json = json_remove(data_json, '$.command')`+of+
		`(data_json ->> '$.command_id' = ? OR data_json ->> '$.command' = ?)`,
		c.Terminal, id, thread.Clip(c.Line, thread.MaxLine))
	r.put("command "+id, `DELETE FROM approvals`+of+`status <> 'pending' AND arguments_json ->> '$.command' = ?`,
		c.Terminal, c.Line)
	r.put("command "+id, `DELETE FROM commands WHERE id = ?`, id)
	return r.failed
}
