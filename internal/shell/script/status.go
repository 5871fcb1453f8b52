package script

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// afterLimit is how long the marker of PWD may come after the marker of the end: a trap may have
// changed PWD in between.
const afterLimit = time.Second

// End returns what bash has reported of the end of the command of a directory; ok is false before
// it.
func End(dir string) (e Ended, ok bool) {
	list, _ := os.ReadDir(dir)
	e, ok = reported(dir, list)
	if !ok && slices.ContainsFunc(list, isAborted) {
		list, _ = os.ReadDir(dir) // a marker of the end may have come between the looks at two names
		if e, ok = reported(dir, list); !ok {
			e.Code, ok = aborted(list)
			return e, ok
		}
	}
	if code, told := codeOf(list, shelldir.TextName); ok && told {
		e.Code, e.text = code, filepath.Join(dir, shelldir.TextName+strconv.Itoa(code))
	} else if text, inverted := shelldir.TailIn(list, shelldir.InvertedName); ok && inverted {
		e.Code = invertedStatus(text)
	}
	return e, ok
}

// codeOf is the status in the name of a file that begins with a prefix.
func codeOf(list []os.DirEntry, prefix string) (code int, ok bool) {
	text, ok := shelldir.TailIn(list, prefix)
	code, err := strconv.Atoi(text)
	return code, ok && err == nil
}

// reported returns the report of sourcedLines, reportStatus or backgroundLine.
func reported(dir string, list []os.DirEntry) (e Ended, ok bool) {
	if code, done := codeOf(list, shelldir.DoneName); done {
		return Ended{Code: code, text: filepath.Join(dir, shelldir.DoneName+strconv.Itoa(code))}, true
	}
	text, ok := shelldir.TailIn(list, shelldir.EndName)
	if !ok {
		text, ok = shelldir.TailIn(list, shelldir.StatusName)
		code, err := strconv.Atoi(text)
		return Ended{Code: code}, ok && (err == nil || text == "")
	}
	e, moved, ok := endedOf(text)
	if !ok || !moved {
		return e, ok
	}
	pwd, ok := shelldir.TailIn(list, shelldir.AfterName)
	e.PWD = strings.ReplaceAll(pwd, slash, "/")
	if !ok {
		made, err := os.Lstat(filepath.Join(dir, shelldir.EndName+text))
		ok = err == nil && time.Since(made.ModTime()) > afterLimit
	}
	return e, ok
}

// bash writes the report of reportText within microseconds, and later when it waits for a
// processor. Told reads the file again after reportPause while bash has it open, for reportLimit.
const (
	reportPause = 200 * time.Microsecond
	reportLimit = 5 * time.Second
)

// Told is End with the whole report of reportText.
func Told(dir string) (e Ended) {
	e, _ = End(dir)
	if _, err := os.Lstat(filepath.Join(dir, shelldir.EvalFile)); err == nil {
		e.Sourced = true // until more is read, $_ is one of ours
	}
	if e.text == "" || e.read() {
		return e
	}
	for limit := time.Now().Add(reportLimit); time.Now().Before(limit); <-time.After(reportPause) {
		written := shelldir.IsWritten(e.text) // before the last look at the file
		if e.read() || !written {
			break
		}
	}
	return e
}

// read reads the report of reportText, and reports whether it is complete.
func (e *Ended) read() bool {
	content, err := os.ReadFile(e.text)
	fields := strings.Split(string(content), "\x00")
	n := len(fields) - 2 // each field has its end, and the last one is empty
	if err != nil || n < 2 || fields[n] != "" {
		return err != nil
	}
	e.PWD, e.Arg, e.Sourced, e.Pipe = fields[0], fields[1], true, statusesOf(fields[2:n])
	if utf8.RuneCountInString(e.Arg) > maxArg {
		e.Arg = ""
	}
	return true
}

func isAborted(f os.DirEntry) bool { return state.ValidNumber(f.Name()) }

// aborted returns the status that reportAborted has reported.
func aborted(list []os.DirEntry) (code int, ok bool) {
	at := slices.IndexFunc(list, isAborted)
	if at < 0 {
		return 0, false
	}
	code, err := strconv.Atoi(list[at].Name())
	return code, err == nil
}

// maxStatus is the largest status of a command.
const maxStatus = 255

// invertedStatus returns the status in the report of invertedGroup.
func invertedStatus(text string) int {
	succeeded, inner, _ := strings.Cut(text, "-")
	if succeeded == "1" {
		return 0
	}
	if code, err := strconv.Atoi(inner); err == nil && code > 0 && code <= maxStatus {
		return code
	}
	return 1
}
