package script

import (
	"os"
	"strconv"
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// Status is what bash has reported of the end of the command of a directory, in the foreground or in the background.
func Status(dir string) (code int, ok bool) {
	if code, ok = reportedStatus(dir); !ok {
		if code, ok = abortedStatus(dir); !ok {
			return 0, false
		}
		// It was there before, and came between the two looks.
		if late, reported := reportedStatus(dir); reported {
			code = late
		}
	}
	if text, inverted := shelldir.FindMarker(dir, shelldir.InvertedName); inverted {
		return invertedStatus(text), true
	}
	return code, true
}

// reportedStatus is what reportStatus or backgroundLine has told.
func reportedStatus(dir string) (code int, ok bool) {
	if code, ok = shelldir.FindNumber(dir, shelldir.EarlyName); ok {
		_, ok = shelldir.FindMarker(dir, shelldir.AfterName)
		return code, ok
	}
	return shelldir.FindNumber(dir, shelldir.StatusName)
}

// abortedStatus is what reportAborted has told.
func abortedStatus(dir string) (code int, ok bool) {
	list, _ := os.ReadDir(dir)
	for _, f := range list {
		if state.ValidNumber(f.Name()) {
			code, err := strconv.Atoi(f.Name())
			return code, err == nil
		}
	}
	return 0, false
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
