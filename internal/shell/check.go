package shell

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/shell/script"
)

// checkLimit bounds the time that a bash takes to read a text without running it: some milliseconds, and seconds on a
// machine with fifty others waiting. A trace of a text that was not read in time has more levels.
const checkLimit = 10 * time.Second

// look looks at the text of a command. One that may stand in a control line is read by a bash too, which takes some
// milliseconds, and is not whole for it otherwise.
func look(ctx context.Context, c *script.Command) script.Text {
	look := script.ParseText(c.Text)
	if look.Whole && (c.Background || c.Observed() || look.Shows) {
		// return has no file there, and all lines are read at once.
		look.Whole = !look.Returns && !(look.Several && look.Reads) && reads(ctx, c)
	}
	return look
}

// reads reports whether bash finds a text whole. One that leaves { } cannot leave ( ), and one that goes on takes its
// end along.
func reads(ctx context.Context, c *script.Command) bool {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	arguments := []string{"--noprofile", "--norc", "-n"}
	if c.Snapshot.HasShopt("extglob") {
		arguments = append(arguments, "-O", "extglob")
	}
	cmd := exec.CommandContext(ctx, "bash", arguments...)
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	cmd.Stdin = strings.NewReader("{ " + c.Text + "\n}\n( " + c.Text + "\n)\n")
	complaints, err := cmd.CombinedOutput()
	return err == nil && len(complaints) == 0
}
