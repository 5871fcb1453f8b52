package sqlite

import (
	"cmp"
	"fmt"

	"github.com/evertty/evertty/internal/thread"
)

const terminalColumns = `id, thread_id, lease_id, kind, name, cmd_json, cols, rows, title, cwd, env_delta_json,
		env_unset_json, state_version, state_at, created_at, updated_at`

var putTerminal = upsert("terminals", terminalColumns, "created_at")

func scanTerminal(s scanner) (t thread.Terminal, err error) {
	return t, s.Scan(&t.ID, &t.Thread, &t.Lease, &t.Kind, &t.Name, fromJSON{&t.Cmd}, &t.Cols, &t.Rows, &t.Title,
		&t.State.Cwd, fromJSON{(*environment)(&t.State.Env)}, fromJSON{&t.State.Unset}, &t.State.Version,
		when{&t.State.At}, when{&t.CreatedAt}, when{&t.UpdatedAt})
}

func (r terminalRows) Terminal(id string) (thread.Terminal, error) {
	return one(r.table, "terminal "+id, scanTerminal, `SELECT `+terminalColumns+` FROM terminals WHERE id = ?`, id)
}

// Terminals returns the terminals of a thread behind the one with the id after, from the oldest for
// "", at most limit; 0 is all.
func (r terminalRows) Terminals(threadID, after string, limit int) ([]thread.Terminal, error) {
	return all(r.table, "terminals of thread "+threadID, scanTerminal, `SELECT `+terminalColumns+` FROM terminals
		WHERE thread_id = ?1 AND (?2 = '' OR seq > (SELECT seq FROM terminals WHERE id = ?2)) ORDER BY seq LIMIT ?3`,
		threadID, after, cmp.Or(limit, noLimit))
}

// TerminalsOfKind returns the terminals of a kind in a thread, from the oldest.
func (r terminalRows) TerminalsOfKind(threadID string, kind thread.Kind) ([]thread.Terminal, error) {
	return all(r.table, "terminals of thread "+threadID, scanTerminal, `SELECT `+terminalColumns+` FROM terminals
		WHERE thread_id = ? AND kind = ? ORDER BY seq`, threadID, kind)
}

// FindTerminal returns the oldest terminal of a kind in a thread; "" is any kind.
func (r terminalRows) FindTerminal(threadID string, kind thread.Kind) (thread.Terminal, error) {
	return one(r.table, "terminal of thread "+threadID, scanTerminal, `SELECT `+terminalColumns+` FROM terminals
		WHERE thread_id = ?1 AND ?2 IN ('', kind) ORDER BY seq LIMIT 1`, threadID, kind)
}

func (r terminalRows) PutTerminal(t thread.Terminal) {
	r.put("terminal "+t.ID, putTerminal, t.ID, t.Thread, t.Lease, t.Kind, t.Name, asJSON(append([]string{}, t.Cmd...)),
		t.Cols, t.Rows, t.Title, t.State.Cwd, asJSON(environment(t.State.Env)), asJSON(t.State.Unset),
		t.State.Version, at(t.State.At), at(t.CreatedAt), at(t.UpdatedAt))
}

func (r terminalRows) DeleteTerminal(id string) {
	r.erased(eraseLater)
	r.change("terminal "+id, `DELETE FROM terminals WHERE id = ?`, id)
}

const stateColumns = `version, cwd, env_delta_json, env_unset_json, at`

func scanState(s scanner) (st thread.State, err error) {
	return st, s.Scan(&st.Version, &st.Cwd, fromJSON{(*environment)(&st.Env)}, fromJSON{&st.Unset}, when{&st.At})
}

func (r terminalRows) PutState(terminal string, s thread.State) {
	r.put(fmt.Sprintf("version %d of terminal %s", s.Version, terminal),
		`INSERT INTO terminal_states (terminal_id, `+stateColumns+`) VALUES (?, ?, ?, ?, ?, ?)`,
		terminal, s.Version, s.Cwd, asJSON(environment(s.Env)), asJSON(s.Unset), at(s.At))
}

func (r terminalRows) State(terminal string, version int64) (thread.State, error) {
	return one(r.table, fmt.Sprintf("version %d of terminal %s", version, terminal), scanState,
		`SELECT `+stateColumns+` FROM terminal_states WHERE terminal_id = ? AND version = ?`, terminal, version)
}

func (r terminalRows) LastState(terminal string) (thread.State, error) {
	return one(r.table, "versions of terminal "+terminal, scanState,
		`SELECT `+stateColumns+` FROM terminal_states WHERE terminal_id = ? ORDER BY version DESC LIMIT 1`, terminal)
}

func (r terminalRows) States(terminal string) ([]thread.State, error) {
	return all(r.table, "versions of terminal "+terminal, scanState, `SELECT `+stateColumns+` FROM terminal_states
		WHERE terminal_id = ? ORDER BY version DESC LIMIT ?`, terminal, thread.MaxPage)
}

func (r terminalRows) TrimStates(terminal string, upTo int64) {
	r.put("versions of terminal "+terminal, `DELETE FROM terminal_states WHERE terminal_id = ? AND version <= ?`,
		terminal, upTo)
}
