package shell

// Names in the directory of a command. The FIFOs are gone once the command has them open or has ended.
const (
	textFile    = "cmd"     // the command's text
	evalFile    = "command" // is sourced: it has eval run the text
	recordFile  = "record.json"
	runFile     = "run"       // what sources that or evalFile with a directory or variables of its own
	inputFile   = "input"     // Stdin
	inFIFO      = "in"        // with StdinOpen
	inOpened    = "in.opened" // the command has inFIFO open
	outFIFO     = "out"
	errFIFO     = "err"
	stdoutFile  = "stdout"
	stderrFile  = "stderr"
	pwdFile     = "pwd"  // what PWD and OLDPWD were
	backFile    = "back" // what goes back to there
	statusName  = "rc."  // followed by the status; a name that is only a number is that of a command that was aborted
	innerName   = "st."  // followed by whether the command failed, a dash and its status, see guarded
	pidName     = "pid." // followed by the process id of a background command
	toldName    = "told" // the shell has come to a command in the background, whose own sign may come later
	cameName    = "came" // a command in the background has come to the end of its text
	sessionName = "sid." // in signsDir, by the launcher: followed by the number of an incarnation, a dot, its session
)

// Names in the directory of a shell.
const (
	controlFIFO  = "ctl"
	signsDir     = "s" // files whose coming into being tells something
	launcherFile = "launch"
	launcherLog  = "launch.log"
	setupFile    = "setup" // what a new incarnation reads first
	commandsDir  = "c"
	hiddenDir    = "e" // the directories of commands of ours
	shellFile    = "shell.json"
	barrierName  = "b."
	upName       = "up."
	frozenFile   = "frozen"
	jobsFile     = "jobs" // what jobs -l printed, for the capture; empty while this incarnation has had none
)

// ours are the names in the directory of a command that the server makes, with their modes.
var ours = []string{textFile, evalFile, runFile, inputFile, inFIFO, outFIFO, errFIFO, stdoutFile, stderrFile, backFile,
	pwdFile, recordFile}
