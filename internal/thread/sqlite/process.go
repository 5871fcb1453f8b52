package sqlite

import (
	"math"
	"slices"

	"github.com/evertty/evertty/internal/thread"
)

const runtimeColumns = `id, terminal_id, session_id, generation, pid, pid_start_time, boot_id, state, exit_code,
		signal, started_at, ended_at`

func scanRuntime(s scanner) (p thread.Runtime, err error) {
	err = s.Scan(&p.ID, &p.Terminal, maybe{&p.Session}, &p.Generation, &p.PID, &p.PIDStart, &p.Boot, &p.State,
		&p.ExitCode, &p.Signal,
		when{&p.StartedAt}, when{&p.EndedAt})
	return p, err
}

func (r processRows) LastRuntime(terminal string) (thread.Runtime, error) {
	return one(r.table, "runtime of terminal "+terminal, scanRuntime,
		`SELECT `+runtimeColumns+` FROM runtimes WHERE terminal_id = ? ORDER BY generation DESC LIMIT 1`, terminal)
}

func (r processRows) LiveRuntimes(thread string) ([]thread.Runtime, error) {
	if thread == "" {
		return all(r.table, "runtimes", scanRuntime,
			`SELECT `+runtimeColumns+` FROM runtimes WHERE state IN ('starting', 'running', 'adopted') ORDER BY seq`)
	}
	return all(r.table, "runtimes of thread "+thread, scanRuntime,
		`SELECT `+runtimeColumns+` FROM runtimes WHERE state IN ('starting', 'running', 'adopted')
		AND terminal_id IN (SELECT id FROM terminals WHERE thread_id = ?) ORDER BY seq`, thread)
}

func (r processRows) PutRuntime(p thread.Runtime) error {
	return r.put("runtime "+p.ID, `INSERT INTO runtimes (`+runtimeColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET pid = excluded.pid, pid_start_time = excluded.pid_start_time,
			boot_id = excluded.boot_id, state = excluded.state,
		exit_code = excluded.exit_code, signal = excluded.signal, ended_at = excluded.ended_at`,
		p.ID, p.Terminal, orNull(p.Session), p.Generation, p.PID, p.PIDStart, p.Boot, p.State, p.ExitCode, p.Signal,
		at(p.StartedAt), at(p.EndedAt))
}

const commandColumns = `id, terminal_id, runtime_id, line, cwd, env_json, background, pid, status, exit_code,
		stdout_bytes, stderr_bytes, log_path, started_at, finished_at, reason`

func scanCommand(s scanner) (c thread.Command, err error) {
	err = s.Scan(&c.ID, &c.Terminal, maybe{&c.Runtime}, &c.Line, &c.Cwd, fromJSON{(*environment)(&c.Env)},
		&c.Background, &c.PID, &c.Status, &c.ExitCode,
		&c.StdoutBytes, &c.StderrBytes, &c.Log, when{&c.StartedAt}, when{&c.FinishedAt}, &c.Reason)
	return c, err
}

func (r processRows) Command(id string) (thread.Command, error) {
	return one(r.table, "command "+id, scanCommand, `SELECT `+commandColumns+` FROM commands WHERE id = ?`, id)
}

func (r processRows) Commands(q thread.CommandQuery) ([]thread.Command, error) {
	before := int64(math.MaxInt64)
	if q.Before != "" {
		n, err := one(r.table, "command "+q.Before, number, `SELECT seq FROM commands WHERE id = ?`, q.Before)
		if err != nil {
			return nil, err
		}
		before = n
	}
	var list []thread.Command
	var err error
	if q.Terminal != "" {
		list, err = all(
			r.table,
			"commands of terminal "+q.Terminal,
			scanCommand,
			`SELECT `+commandColumns+` FROM commands
			WHERE terminal_id = ? AND terminal_id IN (SELECT id FROM terminals WHERE thread_id = ?) AND seq < ?
		ORDER BY seq DESC LIMIT ?`,
			q.Terminal,
			q.Thread,
			before,
			page(q.Limit),
		)
	} else {
		list, err = all(r.table, "commands of thread "+q.Thread, scanCommand, `SELECT `+commandColumns+` FROM commands
			WHERE terminal_id IN (SELECT id FROM terminals WHERE thread_id = ?) AND seq < ? ORDER BY seq DESC
		LIMIT ?`, q.Thread, before, page(q.Limit))
	}
	slices.Reverse(list)
	return list, err
}

func (r processRows) PutCommand(c thread.Command) error {
	err := r.put("command "+c.ID, `INSERT INTO commands (`+commandColumns+
		`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET runtime_id = excluded.runtime_id, cwd = excluded.cwd,
			background = excluded.background, pid = excluded.pid,
		status = excluded.status, exit_code = excluded.exit_code, stdout_bytes = excluded.stdout_bytes,
			stderr_bytes = excluded.stderr_bytes,
		log_path = excluded.log_path, started_at = excluded.started_at, finished_at = excluded.finished_at,
			reason = excluded.reason`,
		c.ID, c.Terminal, orNull(c.Runtime), c.Line, c.Cwd, asJSON(environment(c.Env)), c.Background, c.PID, c.Status,
		c.ExitCode, c.StdoutBytes, c.StderrBytes, c.Log,
		at(c.StartedAt), at(c.FinishedAt), c.Reason)
	if err == nil && trims() {
		err = r.put("commands of terminal "+c.Terminal,
			`DELETE FROM commands WHERE terminal_id = ?1 AND status IN ('done', 'cancelled', 'failed') AND seq <=
			(SELECT seq FROM commands WHERE terminal_id = ?1 ORDER BY seq DESC
		LIMIT 1 OFFSET ?2)`, c.Terminal, maxCommands)
	}
	return err
}

func (r processRows) OpenCommands(thread string) ([]thread.Command, error) {
	if thread == "" {
		return all(r.table, "open commands", scanCommand,
			`SELECT `+commandColumns+` FROM commands WHERE status IN ('queued', 'running') ORDER BY seq`)
	}
	return all(r.table, "open commands of thread "+thread, scanCommand,
		`SELECT `+commandColumns+` FROM commands WHERE status IN ('queued', 'running')
		AND terminal_id IN (SELECT id FROM terminals WHERE thread_id = ?) ORDER BY seq`, thread)
}

func (r processRows) LeaseCommands(lease string) (int, error) {
	n, err := one(r.table, "commands of lease "+lease, number,
		`SELECT count(*) FROM commands WHERE status IN ('queued', 'running')
		AND terminal_id IN (SELECT id FROM terminals WHERE lease_id = ?)`, lease)
	return int(n), err
}

// ForgetCommand deletes a command, and its text in the events and answered approvals of its thread.
func (r processRows) ForgetCommand(id string) error {
	c, err := r.Command(id)
	if err != nil {
		return err
	}
	r.erased(eraseNow)
	const of = ` WHERE thread_id = (SELECT thread_id FROM terminals WHERE id = ?) AND `
	for _, change := range []struct {
		query string
		args  []any
	}{
		{`UPDATE events SET data_json = json_remove(data_json, '$.command')` + of +
			`(data_json ->> '$.command_id' = ? OR data_json ->> '$.command' = ?)`,
			[]any{c.Terminal, id, thread.Clip(c.Line, thread.MaxLine)}},
		{`DELETE FROM approvals` + of + `status <> 'pending' AND arguments_json ->> '$.command' = ?`,
			[]any{c.Terminal, c.Line}},
		{`DELETE FROM commands WHERE id = ?`, []any{id}},
	} {
		if err := r.put("command "+id, change.query, change.args...); err != nil {
			return err
		}
	}
	return nil
}
