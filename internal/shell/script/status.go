package script

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// afterLimit is how long the sign of PWD may come after the sign of the end: a trap may have changed PWD in between.
const afterLimit = time.Second

// End is what bash has reported of the end of the command of a directory, in the foreground or in the background.
func End(dir string) (e Ended, ok bool) {
	list, _ := os.ReadDir(dir)
	e, ok = reported(dir, list)
	if !ok && slices.ContainsFunc(list, isAborted) {
		list, _ = os.ReadDir(dir) // a sign of the end may have come between the looks at two names
		if e, ok = reported(dir, list); !ok {
			e.Code, ok = aborted(list)
		}
	}
	text, told := tailOf(list, shelldir.TextName)
	if told && ok && !slices.ContainsFunc(list, isAborted) {
		pwd := e.PWD
		e, _, _ = endedOf(text)
		e.PWD = pwd
		e.readArg(dir)
	} else if text, inverted := tailOf(list, shelldir.InvertedName); ok && inverted {
		e.Code = invertedStatus(text)
	}
	return e, ok
}

// tailOf is the rest of the name of a file that begins with a prefix.
func tailOf(list []os.DirEntry, prefix string) (tail string, ok bool) {
	for _, f := range list {
		if tail, ok := strings.CutPrefix(f.Name(), prefix); ok {
			return tail, true
		}
	}
	return "", false
}

// reported is what reportStatus or backgroundLine has told.
func reported(dir string, list []os.DirEntry) (e Ended, ok bool) {
	text, ok := tailOf(list, shelldir.EndName)
	if !ok {
		text, ok = tailOf(list, shelldir.StatusName)
		code, err := strconv.Atoi(text)
		return Ended{Code: code}, ok && (err == nil || text == "")
	}
	e, moved, ok := endedOf(text)
	if !ok || !moved {
		return e, ok
	}
	pwd, ok := tailOf(list, shelldir.AfterName)
	e.PWD = strings.ReplaceAll(pwd, slash, "/")
	if !ok {
		made, err := os.Lstat(filepath.Join(dir, shelldir.EndName+text))
		ok = err == nil && time.Since(made.ModTime()) > afterLimit
	}
	e.readArg(dir)
	return e, ok
}

// maxArg is the longest $_ that is kept, in bytes; of a longer one nothing is.
const maxArg = 4 << 10

// readArg reads $_ where it stands in a file.
func (e *Ended) readArg(dir string) {
	if e.Arg != inFile {
		return
	}
	arg, err := os.ReadFile(filepath.Join(dir, shelldir.ArgFile))
	if e.Arg = string(arg); err != nil || len(arg) > maxArg {
		e.Arg = ""
	}
}

func isAborted(f os.DirEntry) bool { return state.ValidNumber(f.Name()) }

// aborted is what reportAborted has told.
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

// invertedStatus is the status that invertedGroup has told.
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
