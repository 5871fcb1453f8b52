package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// recordVersion is that of record.json and shell.json. A reader takes this one only.
const recordVersion = 1

// inlineText is how long a command may be to stand in its record, in bytes. A record is written at the start and at the
// end of its command, the text of a long one only once.
const inlineText = 4 << 10

// castagnoli is the polynomial of the sums, the one that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumMark is between a line's JSON, which has no tab, and its sum, eight hexadecimal digits.
const sumMark = "\tcrc32c "

// recordJSON is record.json.
type recordJSON struct {
	Version     int           `json:"version"`
	ID          string        `json:"id"`
	Shell       string        `json:"shell"`
	Command     shelldir.Text `json:"command"`
	Long        bool          `json:"long,omitempty"` // the command is in TextFile
	Cwd         shelldir.Text `json:"cwd"`
	Status      Status        `json:"status"`
	PID         int           `json:"pid,omitempty"`
	Background  bool          `json:"background,omitempty"`
	Isolated    bool          `json:"isolated,omitempty"`
	PTY         string        `json:"pty,omitempty"`
	CreatedAt   time.Time     `json:"created_at"`
	StartedAt   time.Time     `json:"started_at,omitzero"`
	FinishedAt  time.Time     `json:"finished_at,omitzero"`
	StdoutBytes int64         `json:"stdout_bytes"`
	StderrBytes int64         `json:"stderr_bytes"`
	Error       shelldir.Text `json:"error,omitempty"`
	Result      *resultJSON   `json:"result,omitempty"`
	Spec        commandJSON   `json:"spec"`
	Incarnation int           `json:"incarnation,omitempty"`
	Deadline    time.Time     `json:"deadline,omitzero"`
	Rested      time.Time     `json:"rested,omitzero"`
	Note        shelldir.Text `json:"note,omitempty"`
}

// resultJSON is a Result in record.json.
type resultJSON struct {
	ExitCode    int             `json:"exit_code"`
	TimedOut    bool            `json:"timed_out,omitempty"`
	Cancelled   bool            `json:"cancelled,omitempty"`
	Background  bool            `json:"background,omitempty"`
	Truncated   bool            `json:"truncated,omitempty"`
	Reason      string          `json:"truncated_reason,omitempty"`
	Recreated   bool            `json:"recreated,omitempty"`
	Lost        []shelldir.Text `json:"lost,omitempty"`
	ShellEnded  bool            `json:"shell_ended,omitempty"`
	Cwd         shelldir.Text   `json:"cwd"`
	CwdFallback shelldir.Text   `json:"cwd_fallback,omitempty"`
	Ended       string          `json:"ended_because,omitempty"`
}

// commandJSON is a Command in record.json.
type commandJSON struct {
	Isolated     bool               `json:"isolated,omitempty"`
	Argv         []shelldir.Text    `json:"argv,omitempty"`
	Cwd          shelldir.Text      `json:"cwd,omitempty"`
	Env          [][2]shelldir.Text `json:"env,omitempty"`
	Timeout      time.Duration      `json:"timeout_ns,omitempty"`
	QueueTimeout time.Duration      `json:"queue_timeout_ns,omitempty"`
	StdinOpen    bool               `json:"stdin_open,omitempty"`
	TTY          bool               `json:"tty,omitempty"`
	Background   bool               `json:"background,omitempty"`
	MaxReply     int64              `json:"max_reply,omitempty"`
	MaxOutput    int64              `json:"max_output,omitempty"`
}

// encodeRecord is a record as a line. text is the command's when that is too long for the record.
func encodeRecord(r *Entry) (content []byte, text string, err error) {
	i, c := &r.Info, &r.Spec
	j := recordJSON{
		Version: recordVersion, ID: i.ID, Shell: i.Shell, Command: shelldir.Text(i.Command),
		Cwd: shelldir.Text(i.Cwd), Status: i.Status, PID: i.PID,
		Background: i.Background, Isolated: i.Isolated, PTY: i.PTY, CreatedAt: i.CreatedAt,
		StartedAt: i.StartedAt, FinishedAt: i.FinishedAt,
		StdoutBytes: i.StdoutBytes, StderrBytes: i.StderrBytes, Error: shelldir.Text(i.Error),
		Spec: commandJSON{Isolated: c.Isolated, Argv: shelldir.Texts(c.Argv), Cwd: shelldir.Text(c.Cwd),
			Env: shelldir.Pairs(c.Env), Timeout: c.Timeout, QueueTimeout: c.QueueTimeout,
			StdinOpen: c.StdinOpen, TTY: c.TTY, Background: c.Background, MaxOutput: c.MaxOutput, MaxReply: c.MaxReply},
		Incarnation: r.Process, Deadline: r.Deadline, Rested: r.PauseCounted, Note: shelldir.Text(r.Processes),
	}
	if len(i.Command) > inlineText {
		j.Command, j.Long, text = "", true, i.Command
	}
	if e := i.Result; e != nil {
		j.Result = &resultJSON{ExitCode: e.ExitCode, TimedOut: e.TimedOut, Cancelled: e.Cancelled,
			Background: e.Background, Truncated: e.Truncated, Reason: e.TruncatedReason,
			Recreated: e.Recreated, Lost: shelldir.Texts(e.Lost), ShellEnded: e.ShellEnded, Cwd: shelldir.Text(e.Cwd),
			CwdFallback: shelldir.Text(e.CwdFallback), Ended: e.Reason}
	}
	content, err = summed(j)
	return content, text, err
}

// decodeRecord reads a line of record.json. long tells that the command is in TextFile. Errors: ErrDamaged.
func decodeRecord(content []byte) (r *Entry, long bool, err error) {
	var j recordJSON
	if err := checked(content, &j); err != nil {
		return nil, false, err
	}
	if err := checkVersion(j.Version); err != nil {
		return nil, false, err
	}
	if !j.Status.known() {
		return nil, false, fmt.Errorf("%w: status %q", shelldir.ErrDamaged, j.Status)
	}
	c := j.Spec
	r = &Entry{
		Info: Info{ID: j.ID, Shell: j.Shell, Command: string(j.Command), Cwd: string(j.Cwd), Status: j.Status,
			PID:        j.PID,
			Background: j.Background, Isolated: j.Isolated, PTY: j.PTY, CreatedAt: j.CreatedAt,
			StartedAt: j.StartedAt, FinishedAt: j.FinishedAt,
			StdoutBytes: j.StdoutBytes, StderrBytes: j.StderrBytes, Error: string(j.Error)},
		Spec: Command{Isolated: c.Isolated, Argv: shelldir.Strings(c.Argv), Cwd: string(c.Cwd),
			Env: shelldir.PairsMap(c.Env), Timeout: c.Timeout, QueueTimeout: c.QueueTimeout,
			StdinOpen: c.StdinOpen, TTY: c.TTY, Background: c.Background, MaxOutput: c.MaxOutput, MaxReply: c.MaxReply},
		Process: j.Incarnation, Deadline: j.Deadline, PauseCounted: j.Rested, Processes: string(j.Note),
	}
	if e := j.Result; e != nil {
		r.Info.Result = &Result{ExitCode: e.ExitCode, TimedOut: e.TimedOut, Cancelled: e.Cancelled,
			Background: e.Background, Truncated: e.Truncated, TruncatedReason: e.Reason,
			Recreated: e.Recreated, Lost: shelldir.Strings(e.Lost), ShellEnded: e.ShellEnded, Cwd: string(e.Cwd),
			CwdFallback: string(e.CwdFallback), Reason: e.Ended}
	}
	return r, j.Long, nil
}

// known tells whether a status is one.
func (s Status) known() bool {
	switch s {
	case Queued, Running, Done, Cancelled, Failed:
		return true
	}
	return false
}

// shellJSON is shell.json.
type shellJSON struct {
	Version     int                `json:"version"`
	ID          string             `json:"id"`
	Name        shelldir.Text      `json:"name,omitempty"`
	Cwd         shelldir.Text      `json:"cwd,omitempty"`
	Env         [][2]shelldir.Text `json:"env,omitempty"`
	Login       bool               `json:"login,omitempty"`
	Place       string             `json:"place,omitempty"`
	Timeout     time.Duration      `json:"timeout_ns,omitempty"`
	MaxReply    int64              `json:"max_reply,omitempty"`
	MaxOutput   int64              `json:"max_output,omitempty"`
	CreatedAt   time.Time          `json:"created_at"`
	Incarnation int                `json:"incarnation"`
	First       []shelldir.Text    `json:"first"`
}

// encodeShell is a shell's record as a file.
func encodeShell(r *Shell) ([]byte, error) {
	s := &r.Spec
	return summed(shellJSON{Version: recordVersion, ID: s.ID, Name: shelldir.Text(s.Name), Cwd: shelldir.Text(s.Cwd),
		Env: shelldir.Pairs(s.Env), Login: s.Login, Timeout: s.Timeout,
		MaxOutput: s.MaxOutput, MaxReply: s.MaxReply, Place: s.Provider, CreatedAt: r.CreatedAt,
		Incarnation: r.Process, First: shelldir.Texts(r.FirstEnv)})
}

// decodeShell reads shell.json. Errors: ErrDamaged.
func decodeShell(content []byte) (*Shell, error) {
	var j shellJSON
	if err := checked(content, &j); err != nil {
		return nil, err
	}
	if err := checkVersion(j.Version); err != nil {
		return nil, err
	}
	return &Shell{
		Spec: Spec{ID: j.ID, Name: string(j.Name), Cwd: string(j.Cwd), Env: shelldir.PairsMap(j.Env),
			Login: j.Login, Timeout: j.Timeout, MaxOutput: j.MaxOutput, MaxReply: j.MaxReply, Provider: j.Place},
		CreatedAt: j.CreatedAt, Process: j.Incarnation, FirstEnv: shelldir.Strings(j.First),
	}, nil
}

// checkVersion refuses what another version has written.
func checkVersion(version int) error {
	if version != recordVersion {
		return fmt.Errorf("%w: version %d", shelldir.ErrDamaged, version)
	}
	return nil
}

// summed is a value as a line of JSON with a sum behind it: a file that was cut, or whose blocks never came to the
// disk, is recognised.
func summed(value any) ([]byte, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(content, "%s%08x\n", sumMark, sumOf(content)), nil
}

// sumOf is the sum of a text.
func sumOf(text []byte) uint32 { return crc32.Checksum(text, castagnoli) }

// checked reads what summed wrote. Errors: ErrDamaged.
func checked(content []byte, into any) error {
	at := bytes.LastIndex(content, []byte(sumMark))
	if at < 0 {
		return fmt.Errorf("%w: no sum", shelldir.ErrDamaged)
	}
	text, digits := content[:at], bytes.TrimSuffix(content[at+len(sumMark):], []byte("\n"))
	sum, err := strconv.ParseUint(string(digits), 16, 32)
	if err != nil || uint32(sum) != sumOf(text) {
		return fmt.Errorf("%w: wrong sum", shelldir.ErrDamaged)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%w: %w", shelldir.ErrDamaged, err)
	}
	return nil
}
