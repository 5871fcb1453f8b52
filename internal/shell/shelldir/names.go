// Package shelldir is the directory of an exec shell: the names in it, FIFOs, markers (empty files
// whose names carry the information), watches, and how its files are written.
package shelldir

// Names in the directory of a command. The FIFOs are gone once the command has them open or has
// ended.
const (
	TextFile     = "cmd"     // the command's text
	EvalFile     = "command" // is sourced: it has eval run the text
	RecordFile   = "record.json"
	BeforeFile   = "before"    // is sourced before a text in the control line
	CodeFile     = "code"      // is sourced for its status alone
	RunFile      = "run"       // what sources that or EvalFile with a directory or variables of its own
	InputFile    = "input"     // Stdin
	InFIFO       = "in"        // with StdinOpen
	InOpened     = "in.opened" // the command has InFIFO open
	OutFIFO      = "out"
	ErrFIFO      = "err"
	StdoutFile   = "stdout"
	StderrFile   = "stderr"
	PwdFile      = "pwd"    // what PWD, OLDPWD and the variables of this command were
	BackFile     = "back"   // what goes back to there
	StatusName   = "rc."    // followed by the status; a number alone is the status of an aborted command
	EndName      = "rs."    // followed by the status and more, see package script
	DoneName     = "rd."    // followed by the status of a sourced text; has PIPESTATUS, PWD and $_
	TextName     = "rt."    // the same of a text in an eval, whose own status EndName has
	AfterName    = "after." // followed by PWD
	InvertedName = "st."    // followed by whether the command failed, a dash and its status
	PidName      = "pid."   // followed by the process id of a background command
	ReachedName  = "told"   // the shell has come to a command in the background, whose own marker may come later
	FinishedName = "came"   // a command in the background has come to the end of its text
	// in MarkersDir, by the launcher: followed by the number of a process of the shell, a dot, its
	// session
	SessionName = "sid."
)

// Names in the directory of a shell, besides OutFIFO, ErrFIFO, EvalFile and CodeFile: those files
// of its last command in the foreground, for the next one.
const (
	ControlFIFO   = "ctl"
	TagFile       = "tag" // what the process tag is made of; without it the path of the directory is
	MarkersDir    = "s"   // files whose coming into being tells something
	LauncherFile  = "launch"
	LauncherLog   = "launch.log"
	SetupFile     = "setup" // what a new bash reads first
	CommandsDir   = "c"
	InternalDir   = "e"      // the directories of commands of ours
	RemoteFile    = "remote" // the state of a shell whose commands run elsewhere
	ShellFile     = "shell.json"
	BarrierName   = "b."
	AgainName     = "w." // of a barrier that uses its marker again, see [MarkUnused]
	UpName        = "up."
	InterruptFile = "frozen"
	JobsFile      = "jobs" // what jobs -l printed, for the capture; empty while this bash has had none
)

// serverFiles are the names in the directory of a command that the server makes, with their modes.
var serverFiles = []string{TextFile, EvalFile, RunFile, InputFile, InFIFO, OutFIFO, ErrFIFO, StdoutFile, StderrFile,
	BackFile, BeforeFile, CodeFile, PwdFile, RecordFile}
