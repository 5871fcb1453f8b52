package protocol

import (
	"encoding/json"
	"fmt"
)

// Version changes when an old peer would misunderstand a packet. Fields that an old peer may ignore are added without a
// change. hello, welcome, busy and upgrade never change, so that any server can replace any keeper. What a keeper knows
// besides is a field of its welcome (programs): a server that misses it can still take what the keeper has before it
// asks it to become another.
const Version = 1

// The packets, by who sends them.
const (
	OpHello = "hello" // server: the first packet; version, release
	OpTake  = "take"  // server: tell all that is held; answered by kept packets and done
	OpStart = "start" // server: execute a plan; files are the plan, the terminal's far end, what to hold
	// OpRun (server) executes a plan without a terminal; files are the plan, its descriptors 0, 1 and 2, what to hold.
	OpRun = "run"
	// OpAdopt (server) holds files, or what another keeper has held; files are the pidfd (not of KindFiles), what to
	// hold. It is answered if it has a number.
	OpAdopt   = "adopt"
	OpRelease = "release" // server: forget an id
	OpUpgrade = "upgrade" // server: become the program argv

	OpWelcome = "welcome" // keeper: answers hello, and after an upgrade; version, release, pid, born, programs
	OpBusy    = "busy"    // keeper: instead of welcome; pid of the other server, release. The connection ends
	OpKept    = "kept"    // keeper: one held thing; files are the pidfd (not of KindFiles), what is held
	OpDone    = "done"    // keeper: the request n is carried out; for a start and a run pid and the file pidfd
	OpFailed  = "failed"  // keeper: the request n is not
	OpExited  = "exited"  // keeper: a child has ended. Told again to every new server until the id is released
)

// What is held under an id. A peer from before there were others than terminals ignores the kind and finds that it is
// no terminal. So that it finds every packet complete, files without a process have the keeper's pid.
const (
	KindTerminal = ""        // a process, a terminal's master, both ends of its pipe
	KindProgram  = "program" // a process, files
	KindFiles    = "files"   // files
)

// Exit is a pty.Exit on its way through the socket.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
}

// Packet is everything either side says: one JSON object in one packet of a SOCK_SEQPACKET socket.
type Packet struct {
	Op       string `json:"op"`
	Version  int    `json:"version,omitempty"`
	Release  string `json:"release,omitempty"`
	Number   uint64 `json:"n,omitempty"` // of a request that is answered, not 0; the answer repeats it
	ID       string `json:"id,omitempty"`
	PID      int    `json:"pid,omitempty"`
	Born     int64  `json:"born,omitempty"`     // when the keeper began to hold, ns since 1970; names it with pid
	Programs bool   `json:"programs,omitempty"` // the keeper knows run and kinds
	Reports  bool   `json:"reports,omitempty"`  // proc.Plan.Reports of a start and a run; in a welcome: known
	Kind     string `json:"kind,omitempty"`     // of what is held
	// Tag of a start and a run is proc.Plan.Tag, which the file of the plan does not have. An older keeper ignores it.
	Tag     uint64   `json:"brand,omitempty"`
	Argv    []string `json:"argv,omitempty"`
	Adopted bool     `json:"adopted,omitempty"` // the keeper is not the parent: it cannot tell how the child ends
	Exit    *Exit    `json:"exit,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	Files   int      `json:"files,omitempty"` // how many descriptors come with the packet

	FDs []int `json:"-"` // the descriptors; whoever receives the packet owns them
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
	OpHello:   {},
	OpTake:    {number: true},
	OpStart:   {number: true, id: true, minFiles: StartFiles, maxFiles: maxFiles},
	OpRun:     {number: true, id: true, minFiles: RunFiles, maxFiles: maxFiles},
	OpAdopt:   {id: true, pid: true, minFiles: 1, maxFiles: maxFiles},
	OpRelease: {number: true, id: true},
	OpUpgrade: {number: true, words: true},

	OpWelcome: {fromKeeper: true, pid: true},
	OpBusy:    {fromKeeper: true},
	OpKept:    {fromKeeper: true, number: true, id: true, pid: true, minFiles: 1, maxFiles: maxFiles},
	OpDone:    {fromKeeper: true, number: true, maxFiles: 1},
	OpFailed:  {fromKeeper: true, number: true, failure: true},
	OpExited:  {fromKeeper: true, id: true, exit: true},
}

// encode writes p as one packet. Errors: ErrNonsense when it would be too long.
func encode(p Packet) ([]byte, error) {
	data, err := json.Marshal(p)
	if err == nil && len(data) > maxPacket {
		err = fmt.Errorf("%w: %s has %d bytes, at most %d are possible", ErrNonsense, p.Op, len(data), maxPacket)
	}
	return data, err
}

// decode reads one packet of the keeper or of a server and checks that it has all that its op needs. It does not retain
// data. Errors: ErrNonsense.
func decode(data []byte, fromKeeper bool) (Packet, error) {
	var p Packet
	if len(data) > maxPacket {
		return Packet{}, fmt.Errorf("%w: longer than %d bytes", ErrNonsense, maxPacket)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return Packet{}, fmt.Errorf("%w: %w", ErrNonsense, err)
	}
	s, known := shapes[p.Op]
	if !known || s.fromKeeper != fromKeeper {
		return Packet{}, fmt.Errorf("%w: op %.20q", ErrNonsense, p.Op)
	}
	if !s.fits(p) {
		return Packet{}, fmt.Errorf("%w: %s without what it needs", ErrNonsense, p.Op)
	}
	return p, nil
}

func (s shape) fits(p Packet) bool {
	switch {
	case s.number && p.Number == 0, s.id && (p.ID == "" || len(p.ID) > MaxID), s.pid && p.PID <= 0:
		return false
	case s.exit && p.Exit == nil, s.failure && p.Failure == nil, s.words && len(p.Argv) == 0:
		return false
	}
	return p.Files >= s.minFiles && p.Files <= s.maxFiles
}
