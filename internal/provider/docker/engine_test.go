package docker_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/moby/moby/api/types/container"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
)

// engine speaks as much of the Engine API as the provider needs, on a unix socket, with bash of this machine for
// containers. It has no image until one is pulled.
type engine struct {
	mu         sync.Mutex
	image      string               // that was pulled
	badPull    bool                 // pulling fails, as engines tell it: with 200 and an error in the progress
	cutOutput  string               // that a command's output begins with; its connection is cut after that
	loseMade   bool                 // the next container is made, and nobody is told
	host       container.HostConfig // of the newest container
	containers map[string]*engineContainer
	execs      map[string]*engineExec
	next       int
	socket     string
}

type engineContainer struct {
	name   string
	env    []string
	dir    string
	paused bool
	trees  []proc.Tree
}

type engineExec struct {
	c       *engineContainer
	body    engineExecBody
	proc    *pty.Process // with a terminal
	running bool
	code    *int
}

type engineExecBody struct {
	Cmd, Env   []string
	WorkingDir string
	Tty        bool
}

func startEngine(t *testing.T) *engine {
	t.Helper()
	e := &engine{containers: map[string]*engineContainer{}, execs: map[string]*engineExec{},
		socket: t.TempDir() + "/docker.sock"}
	l, err := net.Listen("unix", e.socket)
	if err != nil {
		t.Fatal(err)
	}
	m := http.NewServeMux()
	const v = "/v1.41"
	m.HandleFunc("/_ping", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("API-Version",
			v[len("/v"):])
	})
	m.HandleFunc("POST "+v+"/containers/create", e.create)
	m.HandleFunc("POST "+v+"/images/create", e.pull)
	m.HandleFunc("POST "+v+"/containers/{id}/start", e.on(func(*engineContainer) {}))
	m.HandleFunc("POST "+v+"/containers/{id}/pause", e.on(func(c *engineContainer) { c.paused = true }))
	m.HandleFunc("POST "+v+"/containers/{id}/unpause", e.on(func(c *engineContainer) { c.paused = false }))
	m.HandleFunc("DELETE "+v+"/containers/{id}", e.remove)
	m.HandleFunc("GET "+v+"/containers/{id}/json", e.inspect)
	m.HandleFunc("GET "+v+"/containers/{id}/stats", e.stats)
	m.HandleFunc("POST "+v+"/containers/{id}/exec", e.exec)
	m.HandleFunc("POST "+v+"/exec/{id}/start", e.start)
	m.HandleFunc("GET "+v+"/exec/{id}/json", e.execInspect)
	m.HandleFunc("POST "+v+"/exec/{id}/resize", e.resize)
	s := &http.Server{Handler: m}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return e
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if v != nil {
		_ = json.NewEncoder(w).Encode(v)
	}
}

func refuse(w http.ResponseWriter, status int, text string) {
	reply(w, status, map[string]string{"message": text})
}

func (e *engine) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Image, WorkingDir string
		Env               []string
		HostConfig        container.HostConfig
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	e.mu.Lock()
	defer e.mu.Unlock()
	if body.Image != e.image {
		refuse(w, http.StatusNotFound, "No such image: "+body.Image)
		return
	}
	e.next++
	e.host = body.HostConfig
	id := fmt.Sprintf("c%d", e.next)
	e.containers[id] = &engineContainer{name: r.FormValue("name"), env: body.Env, dir: body.WorkingDir}
	if e.loseMade {
		e.loseMade = false
		panic(http.ErrAbortHandler)
	}
	reply(w, http.StatusCreated, map[string]string{"Id": id})
}

func (e *engine) pull(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.badPull {
		_, _ = io.WriteString(w, `{"status":"Pulling"}`+"\r\n"+
			`{"errorDetail":{"message":"no space left on device"},"error":"no space left on device"}`+"\r\n")
		return
	}
	e.image = strings.TrimPrefix(r.FormValue("fromImage"), "docker.io/library/") + ":" + r.FormValue("tag")
	_, _ = io.WriteString(w, `{"status":"Pulling"}`+"\r\n"+`{"status":"done"}`+"\r\n")
}

// on is a handler that changes a container.
func (e *engine) on(change func(*engineContainer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		c := e.containers[r.PathValue("id")]
		if c == nil {
			refuse(w, http.StatusNotFound, "No such container")
			return
		}
		change(c)
		reply(w, http.StatusNoContent, nil)
	}
}

func (e *engine) remove(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	id := r.PathValue("id")
	for other, c := range e.containers {
		if c.name == id {
			id = other
		}
	}
	c := e.containers[id]
	delete(e.containers, id)
	e.mu.Unlock()
	if c == nil {
		refuse(w, http.StatusNotFound, "No such container")
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	_ = proc.KillTrees(ctx, c.trees)
	reply(w, http.StatusNoContent, nil)
}

func (e *engine) inspect(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.containers[r.PathValue("id")]
	if c == nil {
		refuse(w, http.StatusNotFound, "No such container")
		return
	}
	state := map[bool]string{false: "running", true: "paused"}[c.paused]
	reply(w, http.StatusOK, map[string]any{"State": map[string]string{"Status": state}})
}

func (e *engine) stats(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, `{"cpu_stats":{"cpu_usage":{"total_usage":300},"system_cpu_usage":2000,"online_cpus":2},
"precpu_stats":{"cpu_usage":{"total_usage":200},"system_cpu_usage":1000},
"memory_stats":{"usage":52428800,"limit":1073741824,"stats":{"inactive_file":10485760}}}`)
}

func (e *engine) exec(w http.ResponseWriter, r *http.Request) {
	x := &engineExec{}
	_ = json.NewDecoder(r.Body).Decode(&x.body)
	e.mu.Lock()
	defer e.mu.Unlock()
	x.c = e.containers[r.PathValue("id")]
	if x.c == nil {
		refuse(w, http.StatusNotFound, "No such container")
		return
	}
	e.next++
	id := fmt.Sprintf("x%d", e.next)
	e.execs[id] = x
	reply(w, http.StatusCreated, map[string]string{"Id": id})
}

func (e *engine) find(r *http.Request) *engineExec {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.execs[r.PathValue("id")]
}

func (e *engine) execInspect(w http.ResponseWriter, r *http.Request) {
	x := e.find(r)
	e.mu.Lock()
	defer e.mu.Unlock()
	reply(w, http.StatusOK, map[string]any{"Running": x.running, "ExitCode": x.code})
}

func (e *engine) resize(w http.ResponseWriter, r *http.Request) {
	cols, _ := strconv.Atoi(r.FormValue("w"))
	rows, _ := strconv.Atoi(r.FormValue("h"))
	x := e.find(r)
	e.mu.Lock()
	proc := x.proc
	e.mu.Unlock()
	if proc == nil {
		refuse(w, http.StatusInternalServerError, "no terminal")
		return
	}
	if err := proc.Resize(cols, rows); err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	reply(w, http.StatusOK, nil)
}

// start runs an exec and hands the connection over.
func (e *engine) start(w http.ResponseWriter, r *http.Request) {
	x := e.find(r)
	_, _ = io.Copy(io.Discard, r.Body)
	dir := x.body.WorkingDir
	if dir == "" {
		dir = x.c.dir
	}
	env := append(append([]string{}, x.c.env...), x.body.Env...)
	begin := func(conn net.Conn) {
		_, _ = io.WriteString(conn,
			"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"+
				"Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
	}
	if x.body.Tty {
		e.terminal(w, x, dir, env, begin)
		return
	}
	conn, buf, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	cmd := exec.Command(x.body.Cmd[0], x.body.Cmd[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var one sync.Mutex
	cmd.Stdout, cmd.Stderr = framed{conn, 1, &one}, framed{conn, 2, &one}
	in, _ := cmd.StdinPipe()
	if err := cmd.Start(); err != nil {
		return
	}
	e.began(x, cmd.Process.Pid, nil)
	begin(conn)
	e.mu.Lock()
	cut := e.cutOutput
	e.cutOutput = ""
	e.mu.Unlock()
	if cut != "" {
		_, _ = io.WriteString(conn, cut)
		_ = conn.Close()
	}
	go func() { _, _ = io.Copy(in, buf.Reader); _ = in.Close() }()
	state, _ := cmd.Process.Wait()
	code := state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		code = 128 + int(ws.Signal())
	}
	e.ended(x, code)
	_ = cmd.Wait() // for the output, which something in the background may hold; the connection's end fails its writes
}

func (e *engine) terminal(w http.ResponseWriter, x *engineExec, dir string, env []string, begin func(net.Conn)) {
	vars := map[string]string{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	p, err := pty.Start(pty.Spec{Argv: x.body.Cmd, Dir: dir, Env: vars, Cols: 80, Rows: 24})
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	conn, buf, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	e.began(x, p.PID(), p)
	begin(conn)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := buf.Reader.Read(b)
			if _, werr := p.Write(context.Background(), b[:n]); err != nil || werr != nil {
				return
			}
		}
	}()
	b := make([]byte, 32<<10)
	for {
		n, err := p.Read(b)
		_, _ = conn.Write(b[:n])
		if err != nil {
			break
		}
	}
	<-p.Done()
	exit, _ := p.Wait(context.Background())
	e.ended(x, exit.Code)
	_ = p.Close()
}

func (e *engine) began(x *engineExec, pid int, p *pty.Process) {
	tree, _ := proc.TreeOf(pid)
	e.mu.Lock()
	defer e.mu.Unlock()
	x.running, x.proc = true, p
	x.c.trees = append(x.c.trees, tree)
}

func (e *engine) ended(x *engineExec, code int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	x.running, x.code = false, &code
}

// framed writes pieces with the head that says which stream they are of.
type framed struct {
	w      io.Writer
	stream byte
	one    *sync.Mutex
}

func (f framed) Write(p []byte) (int, error) {
	f.one.Lock()
	defer f.one.Unlock()
	head := [8]byte{f.stream}
	binary.BigEndian.PutUint32(head[4:], uint32(len(p)))
	if _, err := f.w.Write(append(head[:], p...)); err != nil {
		return 0, err
	}
	return len(p), nil
}
