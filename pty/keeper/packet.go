package keeper

import (
	"encoding/json"
	"fmt"

	"github.com/evertty/evertty/pty"
)

// protocolVersion changes when an old peer would misunderstand a packet. Fields that an old peer may ignore are added without a change.
// hello, welcome, busy and upgrade never change, so that any server can replace any keeper. What a keeper knows besides is a field of its welcome
// (programs): a server that misses it can still take what the keeper has before it asks it to become another.
const protocolVersion = 1

// The packets, by who sends them.
const (
	opHello   = "hello"   // server: the first packet; version, release
	opTake    = "take"    // server: tell all that is held; answered by kept packets and done
	opStart   = "start"   // server: execute a plan; files are the plan, the terminal's far end, what to hold
	opRun     = "run"     // server: execute a plan without a terminal; files are the plan, its descriptors 0, 1 and 2, what to hold
	opAdopt   = "adopt"   // server: hold files, or what another keeper has held; files are the pidfd (not of kindFiles), what to hold. Answered if it has a number
	opRelease = "release" // server: forget an id
	opUpgrade = "upgrade" // server: become the program argv

	opWelcome = "welcome" // keeper: answers hello, and after an upgrade; version, release, pid, born, programs
	opBusy    = "busy"    // keeper: instead of welcome; pid of the other server, release. The connection ends
	opKept    = "kept"    // keeper: one held thing; files are the pidfd (not of kindFiles), what is held
	opDone    = "done"    // keeper: the request n is carried out; for a start and a run pid and the file pidfd
	opFailed  = "failed"  // keeper: the request n is not
	opExited  = "exited"  // keeper: a child has ended. Told again to every new server until the id is released
)

// What is held under an id. A peer from before there were others than terminals ignores the kind and finds that it is no terminal. So that it finds
// every packet complete, files without a process have the keeper's pid.
const (
	kindTerminal = ""        // a process, a terminal's master, both ends of its pipe
	kindProgram  = "program" // a process, files
	kindFiles    = "files"   // files
)

// exit is a pty.Exit on its way through the socket.
type exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
}

// packet is everything either side says: one JSON object in one packet of a SOCK_SEQPACKET socket.
type packet struct {
	Op       string   `json:"op"`
	Version  int      `json:"version,omitempty"`
	Release  string   `json:"release,omitempty"`
	Number   uint64   `json:"n,omitempty"` // of a request that is answered, not 0; the answer repeats it
	ID       string   `json:"id,omitempty"`
	PID      int      `json:"pid,omitempty"`
	Born     int64    `json:"born,omitempty"`     // when the keeper began to hold, in nanoseconds since 1970; with pid it names the keeper
	Programs bool     `json:"programs,omitempty"` // the keeper knows run and kinds
	Kind     string   `json:"kind,omitempty"`     // of what is held
	Brand    uint64   `json:"brand,omitempty"`    // of a start and a run: proc.Plan.Brand, which the file of the plan does not have. An older keeper ignores it
	Argv     []string `json:"argv,omitempty"`
	Adopted  bool     `json:"adopted,omitempty"` // the keeper is not the parent: it cannot tell how the child ends
	Exit     *exit    `json:"exit,omitempty"`
	Failure  *failure `json:"failure,omitempty"`
	Files    int      `json:"files,omitempty"` // how many descriptors come with the packet

	files []int // the descriptors; whoever receives the packet owns them
}

// shape is what a packet must have.
type shape struct {
	fromKeeper           bool
	number, id, pid      bool
	exit, failure, words bool
	minFiles, maxFiles   int
}

// shapes are all packets of the protocol.
var shapes = map[string]shape{
	opHello:   {},
	opTake:    {number: true},
	opStart:   {number: true, id: true, minFiles: startFiles, maxFiles: maxFiles},
	opRun:     {number: true, id: true, minFiles: runFiles, maxFiles: maxFiles},
	opAdopt:   {id: true, pid: true, minFiles: 1, maxFiles: maxFiles},
	opRelease: {number: true, id: true},
	opUpgrade: {number: true, words: true},

	opWelcome: {fromKeeper: true, pid: true},
	opBusy:    {fromKeeper: true},
	opKept:    {fromKeeper: true, number: true, id: true, pid: true, minFiles: 1, maxFiles: maxFiles},
	opDone:    {fromKeeper: true, number: true, maxFiles: 1},
	opFailed:  {fromKeeper: true, number: true, failure: true},
	opExited:  {fromKeeper: true, id: true, exit: true},
}

// encode writes p as one packet. Errors: ErrNonsense when it would be too long.
func encode(p packet) ([]byte, error) {
	data, err := json.Marshal(p)
	if err == nil && len(data) > maxPacket {
		err = fmt.Errorf("%w: %s has %d bytes, at most %d are possible", ErrNonsense, p.Op, len(data), maxPacket)
	}
	return data, err
}

// decode reads one packet of the keeper or of a server and checks that it has all that its op needs. It does not retain data. Errors: ErrNonsense.
func decode(data []byte, fromKeeper bool) (packet, error) {
	var p packet
	if len(data) > maxPacket {
		return packet{}, fmt.Errorf("%w: longer than %d bytes", ErrNonsense, maxPacket)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return packet{}, fmt.Errorf("%w: %w", ErrNonsense, err)
	}
	s, known := shapes[p.Op]
	if !known || s.fromKeeper != fromKeeper {
		return packet{}, fmt.Errorf("%w: op %.20q", ErrNonsense, p.Op)
	}
	if !s.fits(p) {
		return packet{}, fmt.Errorf("%w: %s without what it needs", ErrNonsense, p.Op)
	}
	return p, nil
}

func (s shape) fits(p packet) bool {
	switch {
	case s.number && p.Number == 0, s.id && (p.ID == "" || len(p.ID) > maxID), s.pid && p.PID <= 0:
		return false
	case s.exit && p.Exit == nil, s.failure && p.Failure == nil, s.words && len(p.Argv) == 0:
		return false
	}
	return p.Files >= s.minFiles && p.Files <= s.maxFiles
}

// wireExit packs how a child ended, nil when it has not.
func wireExit(e *pty.Exit) *exit {
	if e == nil {
		return nil
	}
	return &exit{Code: e.Code, Signal: e.Signal}
}

// unwireExit is the inverse of wireExit.
func unwireExit(e *exit) *pty.Exit {
	if e == nil {
		return nil
	}
	return &pty.Exit{Code: e.Code, Signal: e.Signal}
}
