package fakeprov

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
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
)

// Engine speaks as much of the Engine API of Docker as a provider needs, on a unix socket, with bash of this machine
// for containers. It has no image until one is pulled. Its fields are for who holds its lock.
type Engine struct {
	sync.Mutex
	Image     string          // that was pulled
	BadPull   bool            // pulling fails, as engines tell it: with 200 and an error in the progress
	CutOutput string          // that a command's output begins with; its connection is cut after that
	LoseMade  bool            // the next container is made, and nobody is told
	Host      json.RawMessage // HostConfig of the newest container
	Next      int             // how many containers and commands were made
	Socket    string

	containers map[string]*engineContainer
	execs      map[string]*engineExec
	server     *http.Server
	done       chan struct{}
}

// Containers is how many there are, for who holds the lock.
func (e *Engine) Containers() int { return len(e.containers) }

// Close ends the engine, and not its containers.
func (e *Engine) Close() {
	_ = e.server.Close()
	<-e.done
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

// StartEngine starts an engine with its socket in a directory. Errors: those of net.Listen.
func StartEngine(dir string) (*Engine, error) {
	e := &Engine{containers: map[string]*engineContainer{}, execs: map[string]*engineExec{},
		Socket: filepath.Join(dir, "docker.sock"), done: make(chan struct{})}
	l, err := net.Listen("unix", e.Socket)
	if err != nil {
		return nil, err
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
	e.server = &http.Server{Handler: m}
	go func() { defer close(e.done); _ = e.server.Serve(l) }()
	return e, nil
}

func engineReply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if v != nil {
		_ = json.NewEncoder(w).Encode(v)
	}
}

func engineRefuse(w http.ResponseWriter, status int, text string) {
	engineReply(w, status, map[string]string{"message": text})
}

func (e *Engine) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Image, WorkingDir string
		Env               []string
		HostConfig        json.RawMessage
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	e.Lock()
	defer e.Unlock()
	if body.Image != e.Image {
		engineRefuse(w, http.StatusNotFound, "No such image: "+body.Image)
		return
	}
	e.Next++
	e.Host = body.HostConfig
	id := fmt.Sprintf("c%d", e.Next)
	e.containers[id] = &engineContainer{name: r.FormValue("name"), env: body.Env, dir: body.WorkingDir}
	if e.LoseMade {
		e.LoseMade = false
		panic(http.ErrAbortHandler)
	}
	engineReply(w, http.StatusCreated, map[string]string{"Id": id})
}

func (e *Engine) pull(w http.ResponseWriter, r *http.Request) {
	e.Lock()
	defer e.Unlock()
	if e.BadPull {
		_, _ = io.WriteString(w, `{"status":"Pulling"}`+"\r\n"+
			`{"errorDetail":{"message":"no space left on device"},"error":"no space left on device"}`+"\r\n")
		return
	}
	e.Image = strings.TrimPrefix(r.FormValue("fromImage"), "docker.io/library/") + ":" + r.FormValue("tag")
	_, _ = io.WriteString(w, `{"status":"Pulling"}`+"\r\n"+`{"status":"done"}`+"\r\n")
}

// on is a handler that changes a container.
func (e *Engine) on(change func(*engineContainer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		e.Lock()
		defer e.Unlock()
		c := e.containers[r.PathValue("id")]
		if c == nil {
			engineRefuse(w, http.StatusNotFound, "No such container")
			return
		}
		change(c)
		engineReply(w, http.StatusNoContent, nil)
	}
}

func (e *Engine) remove(w http.ResponseWriter, r *http.Request) {
	e.Lock()
	id := r.PathValue("id")
	for other, c := range e.containers {
		if c.name == id {
			id = other
		}
	}
	c := e.containers[id]
	delete(e.containers, id)
	e.Unlock()
	if c == nil {
		engineRefuse(w, http.StatusNotFound, "No such container")
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	_ = proc.KillTrees(ctx, c.trees)
	engineReply(w, http.StatusNoContent, nil)
}

func (e *Engine) inspect(w http.ResponseWriter, r *http.Request) {
	e.Lock()
	defer e.Unlock()
	c := e.containers[r.PathValue("id")]
	if c == nil {
		engineRefuse(w, http.StatusNotFound, "No such container")
		return
	}
	state := map[bool]string{false: "running", true: "paused"}[c.paused]
	engineReply(w, http.StatusOK, map[string]any{"State": map[string]string{"Status": state}})
}

func (e *Engine) stats(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, `{"cpu_stats":{"cpu_usage":{"total_usage":300},"system_cpu_usage":2000,"online_cpus":2},
"precpu_stats":{"cpu_usage":{"total_usage":200},"system_cpu_usage":1000},
"memory_stats":{"usage":52428800,"limit":1073741824,"stats":{"inactive_file":10485760}}}`)
}

func (e *Engine) exec(w http.ResponseWriter, r *http.Request) {
	x := &engineExec{}
	_ = json.NewDecoder(r.Body).Decode(&x.body)
	e.Lock()
	defer e.Unlock()
	x.c = e.containers[r.PathValue("id")]
	if x.c == nil {
		engineRefuse(w, http.StatusNotFound, "No such container")
		return
	}
	e.Next++
	id := fmt.Sprintf("x%d", e.Next)
	e.execs[id] = x
	engineReply(w, http.StatusCreated, map[string]string{"Id": id})
}

func (e *Engine) find(r *http.Request) *engineExec {
	e.Lock()
	defer e.Unlock()
	return e.execs[r.PathValue("id")]
}

func (e *Engine) execInspect(w http.ResponseWriter, r *http.Request) {
	x := e.find(r)
	e.Lock()
	defer e.Unlock()
	engineReply(w, http.StatusOK, map[string]any{"Running": x.running, "ExitCode": x.code})
}

func (e *Engine) resize(w http.ResponseWriter, r *http.Request) {
	cols, _ := strconv.Atoi(r.FormValue("w"))
	rows, _ := strconv.Atoi(r.FormValue("h"))
	x := e.find(r)
	e.Lock()
	proc := x.proc
	e.Unlock()
	if proc == nil {
		engineRefuse(w, http.StatusInternalServerError, "no terminal")
		return
	}
	if err := proc.Resize(cols, rows); err != nil {
		engineRefuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	engineReply(w, http.StatusOK, nil)
}

// start runs an exec and hands the connection over.
func (e *Engine) start(w http.ResponseWriter, r *http.Request) {
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
	e.Lock()
	cut := e.CutOutput
	e.CutOutput = ""
	e.Unlock()
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

func (e *Engine) terminal(w http.ResponseWriter, x *engineExec, dir string, env []string, begin func(net.Conn)) {
	vars := map[string]string{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	p, err := pty.Start(pty.Spec{Argv: x.body.Cmd, Dir: dir, Env: vars, Cols: 80, Rows: 24})
	if err != nil {
		engineRefuse(w, http.StatusBadRequest, err.Error())
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

func (e *Engine) began(x *engineExec, pid int, p *pty.Process) {
	tree, _ := proc.TreeOf(pid)
	e.Lock()
	defer e.Unlock()
	x.running, x.proc = true, p
	x.c.trees = append(x.c.trees, tree)
}

func (e *Engine) ended(x *engineExec, code int) {
	e.Lock()
	defer e.Unlock()
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
