// Package fakeprov is three sandbox services on the loopback interface, for tests: what E2B, Daytona and AgentBay
// promise to their clients, with instances that are directories of this machine and real bash in them.
//
// It is written from the services' documents, apart from the adapters that it tests, and checks what the services check
// (keys, tokens, states). What it can do on top is fail on purpose: see [Fault], [Server.Kill] and [Server.Force].
// Everything that was asked is counted and kept in order.
package fakeprov

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Key is the key that all three services take.
const Key = "fake-key-6f1d9a27c4"

// Slow is how long changes of state take that take time at the services.
const Slow = 200 * time.Millisecond

// maxBody bounds a request, in bytes.
const maxBody = 64 << 20

// Server is the three services. Its methods may be called at the same time.
type Server struct {
	URL string // without a slash at the end

	dir  string // of all instances
	http *http.Server
	quit chan struct{} // closed by Close; what waits on purpose ends then

	mu        sync.Mutex
	instances map[string]*instance
	faults    []*Fault
	log       []string
	cuts      []string
	plainText bool
	sockets   map[*websocket.Conn]struct{}
}

// Start serves until Close. Instances live in directories below dir, which must exist.
func Start(dir string) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fakeprov: %w", err)
	}
	s := &Server{quit: make(chan struct{}), URL: "http://" + l.Addr().String(), dir: dir,
		instances: map[string]*instance{}, sockets: map[*websocket.Conn]struct{}{}}
	mux := http.NewServeMux()
	s.e2b(mux)
	s.daytona(mux)
	s.agentbay(mux)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// Close ends every process of every instance and all connections. It is called once.
func (s *Server) Close() error {
	close(s.quit)
	s.mu.Lock()
	all := make([]*instance, 0, len(s.instances))
	for _, i := range s.instances {
		all = append(all, i)
	}
	s.mu.Unlock()
	for _, i := range all {
		i.end()
	}
	return s.http.Close()
}

// DaytonaURL is what DAYTONA_API_URL is to be.
func (s *Server) DaytonaURL() string { return s.URL + "/daytona/api" }

// Where a connection is cut. A positive number is how many bytes of the reply arrive before.
const (
	CutBefore = -1 // nothing was done
	CutReply  = -2 // all was done, and nobody is told
)

// Fault is what goes wrong with the next calls of one operation.
type Fault struct {
	Op    string // service.operation, as in the log; "service.*" is any of it
	Times int    // 0 is once
	Delay time.Duration
	Until <-chan struct{} // nil does not wait; else the call waits until it is closed
	// Nil does not wait; else the call waits as with Until, and is done then though its caller may be gone.
	Late       <-chan struct{}
	Over       chan<- struct{} // with Late: closed when it is done
	Status     int             // instead of doing it
	Body       string
	RetryAfter int // seconds, with Status
	Cut        int
}

// Fault arranges one; several for the same operation happen one after the other.
func (s *Server) Fault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = max(f.Times, 1)
	s.faults = append(s.faults, &f)
}

// NoFaults takes back what has not happened yet.
func (s *Server) NoFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// take finds the fault that this call has.
func (s *Server) take(op string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	service, _, _ := strings.Cut(op, ".")
	for i, f := range s.faults {
		if f.Op == op || f.Op == service+".*" {
			if f.Times--; f.Times == 0 {
				s.faults = slices.Delete(s.faults, i, i+1)
			}
			return *f
		}
	}
	return Fault{}
}

// PlainText makes AgentBay's shell answer as its older images do: with the output alone.
func (s *Server) PlainText(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plainText = on
}

// note keeps that an operation was asked for.
func (s *Server) note(op, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, strings.TrimSpace(op+" "+id))
}

// Log is what was asked for, in order: "daytona.create", "daytona.stop INSTANCE".
func (s *Server) Log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Calls is how often an operation was asked for, of any instance.
func (s *Server) Calls(op string) int {
	n := 0
	for _, line := range s.Log() {
		if name, _, _ := strings.Cut(line, " "); name == op {
			n++
		}
	}
	return n
}

// Cuts lists the operations whose connection was broken, in order. A fault that has not happened, or whose reply was
// too short to be cut, is not there.
func (s *Server) Cuts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.cuts)
}

// cut breaks the connection of an operation.
func (s *Server) cut(op string) {
	s.mu.Lock()
	s.cuts = append(s.cuts, op)
	s.mu.Unlock()
	panic(http.ErrAbortHandler)
}

// Alive lists the instances that are not destroyed.
func (s *Server) Alive() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for id, i := range s.instances {
		if i.now() != dead {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Dir is where an instance's files are, "" if there is none.
func (s *Server) Dir(id string) string {
	if i := s.find(id); i != nil {
		return i.dir
	}
	return ""
}

// Kill is a machine that fails: the instance and all in it is gone without a word.
func (s *Server) Kill(id string) {
	if i := s.find(id); i != nil {
		i.change(dead, dead, 0)
		i.end()
	}
}

// Force sets what the service says of an instance, in its own words.
func (s *Server) Force(id, state string) {
	if i := s.find(id); i != nil {
		i.change(state, state, 0)
	}
}

// CutTerminals breaks the connections of all viewers of Daytona's terminals, as a network does.
func (s *Server) CutTerminals() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.sockets {
		_ = c.NetConn().Close()
	}
}

func (s *Server) find(id string) *instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instances[id]
}

// serial makes ids that no other server has: an instance's processes are known by its id.
var serial atomic.Int64

// create makes an instance.
func (s *Server) create(service string, env map[string]string, labels map[string]string) (*instance, error) {
	id := fmt.Sprintf("%s-%d-%d", service, os.Getpid(), serial.Add(1))
	i, err := newInstance(s.dir, id, service, env, labels)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instances[id] = i
	return i, nil
}

// of lists the instances of a service, oldest first.
func (s *Server) of(service string) []*instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*instance
	for _, i := range s.instances {
		if i.service == service {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b *instance) int { return cmp.Compare(a.id, b.id) })
	return list
}

// route serves an operation: it is noted, may go wrong, and else is done.
func (s *Server) route(op string, do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.note(op, r.PathValue("id"))
		s.faulty(op, w, r, do)
	}
}

func (s *Server) faulty(op string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
	f := s.take(op)
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if f.Delay > 0 {
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
			return
		case <-s.quit:
			return
		}
	}
	if f.Until != nil {
		select {
		case <-f.Until:
		case <-r.Context().Done():
			return
		case <-s.quit:
			return
		}
	}
	if f.Late != nil {
		s.late(f, w, r, do)
		return
	}
	switch {
	case f.Status != 0:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
		}
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte(f.Body))
	case f.Cut == CutBefore:
		s.cut(op)
	case f.Cut == CutReply:
		do(&cutter{ResponseWriter: w}, r)
		s.cut(op)
	case f.Cut > 0:
		do(&cutter{ResponseWriter: w, left: f.Cut, hard: func() { s.cut(op) }}, r)
	default:
		do(w, r)
	}
}

// late does a call as a gateway does that has taken it and passes it on when it can.
func (s *Server) late(f Fault, w http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
	defer close(f.Over)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	select {
	case <-f.Late:
	case <-s.quit:
		return
	}
	r = r.WithContext(context.WithoutCancel(r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	do(w, r)
}

// cutter passes on the first bytes of a reply. hard, if there is one, ends the connection then, as a network does, and
// does not return.
type cutter struct {
	http.ResponseWriter
	left int
	hard func()
}

func (c *cutter) WriteHeader(status int) {
	if c.left > 0 {
		c.ResponseWriter.WriteHeader(status)
	}
}

func (c *cutter) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	if n > 0 {
		if _, err := c.ResponseWriter.Write(p[:n]); err != nil {
			return 0, err
		}
	}
	if c.hard != nil && c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		c.hard()
	}
	return len(p), nil
}

func (c *cutter) Flush() {
	if c.left > 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
	}
}

// reply writes JSON.
func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if v != nil {
		_ = json.NewEncoder(w).Encode(v)
	}
}

// read reads JSON; false when it is none, after saying so.
func read(w http.ResponseWriter, r *http.Request, v any) bool {
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		reply(w, http.StatusBadRequest, map[string]any{"statusCode": 400, "code": 400, "message": "malformed body"})
		return false
	}
	return true
}

// exitCode is the code of a process that was waited for.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var e interface{ ExitCode() int }
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	return -1
}
