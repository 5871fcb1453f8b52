// Command evertty is the server and the command line of evertty: terminals that
// outlive their viewers.
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func main() {
	// Inherited files must not reach the programs that this process starts.
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "evertty:", err)
	}
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	if len(os.Args) == 2 && os.Args[1] == sshSession {
		os.Exit(a.serveSSH())
	}
	os.Exit(a.run(os.Args[1:]))
}

// app is one call of the program: its standard streams and the flags of every verb.
type app struct {
	stdin   *os.File
	stdout  *os.File
	stderr  io.Writer
	dataDir string // --data-dir, "" when not given
	server  string // --server, "" when not given
	context string // --context, "" when not given
	noStart bool   // --no-start
	ran     bool   // the arguments were right and a verb was started
	guest   *guest // who runs it by SSH; nil for everybody else
}

// run carries out the command line and returns the exit code. An error is one
// line on stderr.
func (a *app) run(args []string) int {
	if len(args) > 0 && (args[0] == "--version" || args[0] == "-v") {
		args = args[:1] // whatever comes behind it
	}
	root := a.newRoot(aloneVerb(args))
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.Execute()
	if err != nil && !a.ran {
		err = usage(err)
	}
	if line := message(err); line != "" {
		fmt.Fprintln(a.stderr, "evertty: "+line)
	}
	return exitCode(err)
}

// newRoot is the whole command line, or what of it the verb only needs when that is not "".
func (a *app) newRoot(only string) *cobra.Command {
	root := &cobra.Command{
		Use:   "evertty",
		Short: "Terminals that outlive their viewers",
		Long: `evertty keeps terminals alive and exact: programs go on running when nobody
looks, and whoever connects, from a terminal, a browser or a program, sees the
true screen at once.`,
		Example: `  evertty                        choose a terminal, or begin with the first one
  evertty serve                  start the server, print its address
  evertty new --name build       a new shell in this window; C-\ C-\ detaches
  evertty attach build           look again, from anywhere`,
		Args:          unknownVerb,
		RunE:          func(c *cobra.Command, _ []string) error { return a.pick(c) },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	if a.guest == nil {
		root.PersistentFlags().StringVar(&a.dataDir, "data-dir", "",
			"`directory` of the server's state (default $EVERTTY_DATA_DIR, else $XDG_STATE_HOME/evertty, else "+
				"~/.local/state/evertty)")
	}
	a.talks(root)
	versionFlag(a, root)
	root.CompletionOptions.DisableDefaultCmd = only != ""
	a.asGuest(root)
	a.addVerbs(root, only)
	checkHelpTopics(root)
	root.SetFlagErrorFunc(flagError)
	a.watch(root)
	return root
}

// verb makes a verb of the command line that is called so.
type verb struct {
	name string
	make func(*app) *cobra.Command
}

// verbGroup has verbs of one use, under a title of the help.
type verbGroup struct {
	title string
	verbs []verb
}

// verbGroups are all verbs: those that the help lists, and the hidden ones last.
var verbGroups = []verbGroup{
	{"Terminals:", []verb{{"new", newNew}, {"attach", newAttach}, {"ls", newLs}, {"top", newTop}, {"send", newSend},
		{"wait", newWait}, {"snapshot", newSnapshot}, {"logs", newLogs}, {"kill", newKill}, {"restart", newRestart},
		{"rename", newRename}, {"resize", newResize}, {"labels", newLabels}, {"park", newPark}, {"viewers", newViewers},
		{"notify", newNotify}}},
	{"Exec:", []verb{{"exec", newExec}, {"shells", newShells}, {"commands", newCommands}}},
	{"Sharing:", []verb{{"url", newURL}, {"share", newShare}, {"login", newLogin}, {"context", newContext},
		{"logout", newLogout}}},
	{"Recording:", []verb{{"record", newRecord}, {"play", newPlay}, {"render", (*app).newRender}}},
	{"Threads:", []verb{{"thread", newThread}, {"lease", newLease}}},
	{"Server:", []verb{{"serve", (*app).newServe}, {"status", newStatus}, {"stop", newStop}, {"user", newUser},
		{"doctor", newDoctor}, {"backup", newBackup}, {"restore", newRestore}, {"bench", newBench},
		{"version", newVersion}}},
	{"", []verb{{"keeper", newKeeper}, {"relay", newRelay}, {"man", newMan}}},
}

// addVerbs adds all verbs, or only the one that is called so: making the others takes a third of a megabyte.
func (a *app) addVerbs(root *cobra.Command, only string) {
	cobra.EnableCommandSorting = false // the order above is by use
	for _, g := range verbGroups {
		if g.title != "" && slices.ContainsFunc(g.verbs, a.offers) {
			root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		}
		for _, v := range g.verbs {
			if (only == "" || only == v.name) && a.offers(v) {
				c := v.make(a)
				c.GroupID = g.title
				root.AddCommand(c)
			}
		}
	}
}

// aloneVerb is the verb that args begin with, when it needs no other one; else "".
func aloneVerb(args []string) string {
	for _, g := range verbGroups {
		for _, v := range g.verbs {
			if len(args) > 0 && args[0] == v.name && v.name != "man" {
				return v.name
			}
		}
	}
	return ""
}

// group is a verb that has verbs of its own.
func group(use, short string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  unknownVerb,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(verbs...)
	return c
}

// checkHelpTopics has the verb help refuse what is no verb, as the program itself does.
func checkHelpTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Args = func(_ *cobra.Command, args []string) error {
				if verb, rest, _ := root.Find(args); verb.HasSubCommands() {
					return unknownVerb(verb, rest)
				}
				return nil
			}
		}
	}
}

// watch notes when a verb starts: an error before that is wrong usage, whoever
// found it.
func (a *app) watch(c *cobra.Command) {
	if do := c.RunE; do != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			a.ran = true
			if what, wrong := emptyName(c.Use, args); wrong {
				return usage(fmt.Errorf("%s: %s is empty", strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "),
					what))
			}
			return do(c, args)
		}
	}
	if check := c.Args; check != nil && c.HasParent() && !c.HasSubCommands() {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err != nil && (strings.Contains(err.Error(), "arg(s)") ||
				strings.HasPrefix(err.Error(), "unknown command")) {
				return wrongArguments(c, args) // cobra's own words tell no use
			}
			return err
		}
	}
	a.completeFlags(c)
	for _, sub := range c.Commands() {
		a.watch(sub)
	}
}

// wrongArguments says how many there are and what the verb takes.
func wrongArguments(c *cobra.Command, args []string) error {
	got := "no argument"
	switch len(args) {
	case 0:
	case 1:
		got = fmt.Sprintf("%.80q", args[0])
	default:
		got = fmt.Sprintf("%d arguments", len(args))
	}
	verb := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
	return fmt.Errorf("%s: got %s, the use is: %s %s", verb, got, c.Parent().CommandPath(), c.Use)
}

// emptyName reports whether the first argument, which is a name by the verb's use, is
// empty: as a part of a path it would be something else.
func emptyName(use string, args []string) (what string, wrong bool) {
	if len(args) == 0 || args[0] != "" {
		return "", false
	}
	for _, what := range []string{"ID", "THREAD", "LEASE", "FILE", "URL", "NAME"} {
		if words := strings.Fields(use); len(words) > 1 && strings.HasPrefix(strings.Trim(words[1], "["), what) {
			return what, true
		}
	}
	return "", false
}

// unknownVerb refuses arguments of the program itself and offers what was meant.
func unknownVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "evertty --help lists the verbs"
	var verbs []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			verbs = append(verbs, sub.Name())
		}
	}
	if near := nearest(args[0], verbs); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Errorf("unknown verb %q; %s", args[0], hint)
}
