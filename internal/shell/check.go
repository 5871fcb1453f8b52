package shell

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/shell/script"
)

// checkLimit bounds the time that a bash takes to read a text without running it.
const checkLimit = 2 * time.Second

// returning matches the words of a text that a control line cannot have outside of braces: return has no file there.
var returning = regexp.MustCompile(`\breturn\b`)

// returns reports whether a text may return, and not only a function in it.
func returns(text string) bool {
	for _, at := range returning.FindAllStringIndex(text, -1) {
		if strings.Count(text[:at[0]], "{") <= strings.Count(text[:at[0]], "}") {
			return true
		}
	}
	return false
}

// isWhole reports whether a text may stand in a control line: see script.Command. A plain one is known by its look. A
// bash is asked to read others, which takes some milliseconds, where somebody could see how a text is run: anyway, or
// because the shell is in the state for it.
func (s *Shell) isWhole(b script.Bash, text string, anyway bool) bool {
	if b.IsPlain(text) {
		return true
	}
	if !anyway && !b.Observed() || len(text) > script.MaxDirect || strings.Contains(text, "alias") || returns(text) {
		return false // what stands behind an alias would be read without it
	}
	ctx, cancel := context.WithTimeout(s.life, checkLimit)
	defer cancel()
	arguments := []string{"--noprofile", "--norc", "-n"}
	if b.Snapshot.HasShopt("extglob") {
		arguments = append(arguments, "-O", "extglob")
	}
	cmd := exec.CommandContext(ctx, "bash", arguments...)
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	// A text that leaves the one cannot leave the other, and one that goes on takes its end along.
	cmd.Stdin = strings.NewReader("{ " + text + "\n}\n( " + text + "\n)\n")
	complaints, err := cmd.CombinedOutput()
	return err == nil && len(complaints) == 0
}
