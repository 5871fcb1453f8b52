package shell

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// outputs are the logs of a command: stdout and stderr. Each has a lock of its own.
type outputs [2]*output.Log

func (o outputs) log(which Stream) *output.Log { return o[which-Stdout] }

// ReadAt reads the log of an output, as io.ReaderAt does.
func (o outputs) ReadAt(which Stream, p []byte, at int64) (int, error) {
	return o.log(which).ReadAt(p, at)
}

// Size is the size of an output's log, in bytes.
func (o outputs) Size(which Stream) int64 { return o.log(which).Size() }

// Follow waits until one of the logs is longer than the given bytes, or complete: then more is false. Late output of
// background processes counts too. Errors: ctx.Err().
func (o outputs) Follow(ctx context.Context, stdout, stderr int64) (more bool, err error) {
	return output.Follow(ctx, o[0], o[1], stdout, stderr)
}

// Append adds to the log of an enrolled command. One caller appends at a time.
func (o outputs) Append(p []byte) { o[0].Append(p) }

// MarkIncomplete notes that the log of an enrolled command is not complete.
func (o outputs) MarkIncomplete() { o[0].Drop(errors.New("the terminal has not kept it")) }

// finish completes the logs.
func (o outputs) finish() {
	o[0].Finish()
	o[1].Finish()
}

// finished reports whether the logs are complete.
func (o outputs) finished() bool { return o[0].Finished() && o[1].Finished() }

// forget takes the logs, whose files were removed, out of the quota.
func (o outputs) forget() {
	o[0].Forget()
	o[1].Forget()
}

// cut is why the logs are not complete, "" when they are.
func (o outputs) cut() string { return cmp.Or(o[0].CutReason(), o[1].CutReason()) }

// complaint is the beginning of the standard error of a command in dir, without the name of the command's file.
func (o outputs) complaint(dir string) string {
	text := make([]byte, min(o.Size(Stderr), 500))
	n, _ := o.ReadAt(Stderr, text, 0)
	words := strings.TrimSpace(strings.ToValidUTF8(string(text[:n]), string(utf8.RuneError)))
	if _, after, ok := strings.Cut(words, filepath.Join(dir, shelldir.TextFile)+": "); ok {
		return after
	}
	return words
}

// cutReason is why the logs of a command with the result r, nil without one, are not complete; cut is what the logs
// say. The result knows more than a log that a later server has opened.
func cutReason(cut string, r *Result) string {
	switch {
	case r == nil, r.TruncatedReason == "":
	case cut == output.CutLog && r.TruncatedReason != output.CutReply,
		cut == "" && r.TruncatedReason == output.CutUnheld:
		return r.TruncatedReason
	}
	return cut
}
