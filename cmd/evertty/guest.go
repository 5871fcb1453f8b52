package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// guest is the user of a session of SSH, whose command line runs beside the server, see serve --ssh. It has the rights
// of the user's key and nothing else of the server's account: its verbs read and write no file, and no flag or variable
// names another server.
type guest struct {
	dir, token string // the server's data directory, and what opens it
	readOnly   bool
	inside     string // id of the terminal that the user's ssh runs in, "" when it is not known
	raw        string // the command line
	at         []int  // where its words begin
}

// sshSession has this program run the command line of a guest: serve --ssh starts it so. It is no verb of anybody.
const sshSession = "ssh-session"

// guestVerbs are those that ask the server and do nothing else.
var guestVerbs = []string{"new", "attach", "ls", "top", "send", "wait", "snapshot", "logs", "kill", "restart", "rename",
	"resize", "labels", "park", "viewers", "exec", "shells", "commands", "version"}

// offers reports whether a verb is there.
func (a *app) offers(v verb) bool { return a.guest == nil || slices.Contains(guestVerbs, v.name) }

// asGuest says of the whole command line what is different for a guest.
func (a *app) asGuest(root *cobra.Command) {
	if a.guest == nil {
		return
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.Long = `These are the verbs of a server that is reached by SSH. Without a verb the name of the
user is the terminal to show: ssh build@HOST shows the one that is called build.`
	root.Example = `  ssh HOST ls                    list the terminals
  ssh -t HOST new --name build   a new shell in this window; C-\ C-\ detaches
  ssh build@HOST                 look again, from anywhere
  ssh HOST exec 'make test'      run a command; its output and exit code come back`
}

// tail is the text of the last n words of the command line as the user has given it, which is for a shell.
func (g *guest) tail(n int) string { return g.raw[g.at[len(g.at)-n]:] }
