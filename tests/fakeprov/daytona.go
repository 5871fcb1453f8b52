package fakeprov

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/pty"
)

// States of Daytona.
const (
	started  = "started"
	starting = "starting"
	stopped  = "stopped"
	stopping = "stopping"
)

// execTimeout is Daytona's for a command that has none.
const execTimeout = 360 * time.Second

func (s *Server) daytona(mux *http.ServeMux) {
	control := func(pattern, op string, h func(http.ResponseWriter, *http.Request, *instance)) {
		mux.HandleFunc(pattern, s.route("daytona."+op, s.daytonaKey(s.daytonaControl(h))))
	}
	mux.HandleFunc("POST /daytona/api/sandbox", s.route("daytona.create", s.daytonaKey(s.daytonaCreate)))
	mux.HandleFunc("GET /daytona/api/sandbox", s.route("daytona.list", s.daytonaKey(s.daytonaList)))
	control("GET /daytona/api/sandbox/{id}", "get", func(w http.ResponseWriter, _ *http.Request, i *instance) {
		reply(w, http.StatusOK, s.daytonaJSON(i))
	})
	control("POST /daytona/api/sandbox/{id}/start", "start", s.daytonaStart)
	control("POST /daytona/api/sandbox/{id}/stop", "stop", s.daytonaStop)
	control("DELETE /daytona/api/sandbox/{id}", "destroy", func(w http.ResponseWriter, _ *http.Request, i *instance) {
		i.change("destroying", dead, Slow)
		i.end()
		reply(w, http.StatusOK, s.daytonaJSON(i))
	})
	box := func(method, path, op string, h func(http.ResponseWriter, *http.Request, *instance)) {
		mux.HandleFunc(method+" /toolbox/{id}"+path, s.route("daytona."+op, s.daytonaKey(s.toolbox(h))))
	}
	box("POST", "/process/execute", "execute", toolboxExecute)
	box("POST", "/process/pty", "pty", toolboxPTY)
	box("GET", "/process/pty/{pty}/connect", "pty-connect", s.toolboxConnect)
	box("POST", "/process/pty/{pty}/resize", "pty-resize", toolboxResize)
	box("DELETE", "/process/pty/{pty}", "pty-delete", toolboxDelete)
	box("GET", "/files", "files", toolboxList)
	box("GET", "/files/download", "download", toolboxDownload)
	box("POST", "/files/upload", "upload", toolboxUpload)
	box("POST", "/files/folder", "folder", toolboxFolder)
}

// daytonaError is the error of Daytona's JSON.
func daytonaError(w http.ResponseWriter, r *http.Request, status int, message string) {
	reply(w, status, map[string]any{
		"statusCode": status, "message": message, "code": http.StatusText(status),
		"timestamp": time.Now().UTC().Format(time.RFC3339), "path": r.URL.Path, "method": r.Method,
	})
}

func (s *Server) daytonaKey(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+Key {
			daytonaError(w, r, http.StatusUnauthorized, "Invalid credentials")
			return
		}
		h(w, r)
	}
}

func (s *Server) daytonaJSON(i *instance) map[string]any {
	state := i.now()
	if state == dead {
		state = "destroyed"
	}
	return map[string]any{
		"id": i.id, "state": state, "toolboxProxyUrl": s.URL + "/toolbox",
		"createdAt": i.created.Format(time.RFC3339Nano), "labels": i.labels,
	}
}

func (s *Server) daytonaCreate(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Env    map[string]string
		Labels map[string]string
	}
	if !read(w, r, &in) {
		return
	}
	i, err := s.create("daytona", in.Env, in.Labels)
	if err != nil {
		daytonaError(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	i.change(starting, started, Slow)
	reply(w, http.StatusOK, s.daytonaJSON(i))
}

func (s *Server) daytonaList(w http.ResponseWriter, r *http.Request) {
	var want map[string]string
	if q := r.URL.Query().Get("labels"); q != "" && json.Unmarshal([]byte(q), &want) != nil {
		daytonaError(w, r, http.StatusBadRequest, "labels must be JSON")
		return
	}
	items := []any{}
	for _, i := range s.of("daytona") {
		if i.now() != dead && labelled(i.labels, want) {
			items = append(items, s.daytonaJSON(i))
		}
	}
	reply(w, http.StatusOK, map[string]any{"items": items})
}

// labelled reports whether have has everything that is wanted.
func labelled(have, want map[string]string) bool {
	for k, v := range want {
		if have[k] != v {
			return false
		}
	}
	return true
}

// daytonaControl finds the sandbox; a destroyed one is no longer known.
func (s *Server) daytonaControl(h func(http.ResponseWriter, *http.Request, *instance)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		i := s.find(r.PathValue("id"))
		if i == nil || i.service != "daytona" || i.now() == dead {
			daytonaError(w, r, http.StatusNotFound, "Sandbox not found")
			return
		}
		h(w, r, i)
	}
}

func (s *Server) daytonaStart(w http.ResponseWriter, r *http.Request, i *instance) {
	if !slices.Contains([]string{stopped, paused, "archived"}, i.now()) {
		daytonaError(w, r, http.StatusConflict, "Sandbox is not in valid state")
		return
	}
	i.change(starting, started, Slow)
	reply(w, http.StatusOK, s.daytonaJSON(i))
}

func (s *Server) daytonaStop(w http.ResponseWriter, r *http.Request, i *instance) {
	if i.now() != started {
		daytonaError(w, r, http.StatusConflict, "Sandbox is not started")
		return
	}
	i.change(stopping, stopped, Slow)
	i.end()
	reply(w, http.StatusOK, s.daytonaJSON(i))
}

// toolbox finds the sandbox for a call in it. The proxy cannot reach one that does not run.
func (s *Server) toolbox(h func(http.ResponseWriter, *http.Request, *instance)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		i := s.find(r.PathValue("id"))
		switch {
		case i == nil || i.service != "daytona" || i.now() == dead:
			daytonaError(w, r, http.StatusNotFound, "Sandbox not found")
		case i.now() != started:
			daytonaError(w, r, http.StatusBadRequest, "Sandbox is not started")
		default:
			h(w, r, i)
		}
	}
}

// toolboxExecute gives the command to a shell; stdout and stderr come as one text, in which JSON leaves no byte that is
// not UTF-8.
func toolboxExecute(w http.ResponseWriter, r *http.Request, i *instance) {
	var in struct {
		Command string
		Cwd     string
		Envs    map[string]string
		Timeout int
	}
	if !read(w, r, &in) {
		return
	}
	if in.Command == "" {
		daytonaError(w, r, http.StatusBadRequest, "command is required")
		return
	}
	limit := execTimeout
	if in.Timeout > 0 {
		limit = time.Duration(in.Timeout) * time.Second
	}
	var out bytes.Buffer
	c := i.command(in.Cwd, in.Envs, "bash")
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(in.Command), &out, &out
	code, late := ended(c, limit)
	if late {
		daytonaError(w, r, http.StatusRequestTimeout, "command execution timeout")
		return
	}
	reply(w, http.StatusOK, map[string]any{"exitCode": code, "result": out.String()})
}

func toolboxPTY(w http.ResponseWriter, r *http.Request, i *instance) {
	var in struct {
		ID         string
		Cwd        string
		Envs       map[string]string
		Cols, Rows int
		LazyStart  bool
	}
	if !read(w, r, &in) {
		return
	}
	if in.ID == "" || in.Cols > 1000 || in.Rows > 1000 || in.Cols < 1 || in.Rows < 1 {
		daytonaError(w, r, http.StatusBadRequest, "invalid id or size")
		return
	}
	t := &terminal{id: in.ID, cwd: in.Cwd, env: in.Envs, cols: in.Cols, rows: in.Rows, createdAt: time.Now()}
	i.mu.Lock()
	_, there := i.ptys[in.ID]
	if !there {
		i.ptys[in.ID] = t
	}
	i.mu.Unlock()
	if there {
		daytonaError(w, r, http.StatusConflict, "PTY session already exists")
		return
	}
	if !in.LazyStart {
		if _, err := t.start(i, "bash", "-i", "-l"); err != nil {
			i.drop(in.ID)
			daytonaError(w, r, http.StatusInternalServerError, err.Error())
			return
		}
	}
	reply(w, http.StatusCreated, map[string]any{"sessionId": in.ID})
}

// drop forgets a terminal and returns it.
func (i *instance) drop(id string) *terminal {
	i.mu.Lock()
	defer i.mu.Unlock()
	t := i.ptys[id]
	delete(i.ptys, id)
	return t
}

func (i *instance) terminal(w http.ResponseWriter, r *http.Request) *terminal {
	i.mu.Lock()
	defer i.mu.Unlock()
	t := i.ptys[r.PathValue("pty")]
	if t == nil {
		daytonaError(w, r, http.StatusNotFound, "PTY session not found")
	}
	return t
}

func toolboxResize(w http.ResponseWriter, r *http.Request, i *instance) {
	var in struct{ Cols, Rows int }
	t := i.terminal(w, r)
	if t == nil || !read(w, r, &in) {
		return
	}
	if err := t.resize(in.Cols, in.Rows); err != nil {
		daytonaError(w, r, http.StatusGone, err.Error())
		return
	}
	reply(w, http.StatusOK, map[string]any{"id": t.id, "cols": in.Cols, "rows": in.Rows})
}

func toolboxDelete(w http.ResponseWriter, r *http.Request, i *instance) {
	t := i.terminal(w, r)
	if t == nil {
		return
	}
	t.stop()
	i.drop(t.id)
	reply(w, http.StatusOK, map[string]any{"message": "PTY session deleted"})
}

// upgrader takes any origin: these clients are programs.
var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// toolboxConnect is a viewer of a terminal. What was printed before it came, it does not see.
func (s *Server) toolboxConnect(w http.ResponseWriter, r *http.Request, i *instance) {
	t := i.terminal(w, r)
	if t == nil {
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	s.mu.Lock()
	s.sockets[conn] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sockets, conn)
	}()
	p, err := t.start(i, "bash", "-i", "-l")
	if err != nil {
		_ = conn.WriteJSON(map[string]string{"type": "control", "status": "error", "error": err.Error()})
		return
	}
	_ = conn.WriteJSON(map[string]string{"type": "control", "status": "connected"})
	input := make(chan struct{})
	go func() {
		defer close(input)
		for {
			_, data, err := conn.ReadMessage()
			if err != nil {
				return
			}
			if _, err := p.Write(r.Context(), data); err != nil {
				return
			}
		}
	}()
	show(conn, p)
	i.drop(t.id)
	_ = p.Close()
	_ = conn.Close()
	<-input
}

// show sends output until there is no more, then how the program ended.
func show(conn *websocket.Conn, p *pty.Process) {
	buf := make([]byte, 1021) // a prime: characters and sequences are cut anywhere
	for {
		n, err := p.Read(buf)
		if n > 0 && conn.WriteMessage(websocket.BinaryMessage, buf[:n]) != nil {
			return
		}
		if err != nil {
			break
		}
	}
	exit, _ := p.Wait(context.Background())
	code, status := websocket.CloseNormalClosure, exit.Code
	said := map[string]any{"exitCode": status}
	if status != 0 {
		code = websocket.CloseInternalServerErr
		said["exitReason"] = "non-zero exit"
	}
	reason, _ := json.Marshal(said)
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, string(reason)),
		time.Now().Add(time.Second))
}

func toolboxList(w http.ResponseWriter, r *http.Request, i *instance) {
	dir := i.path(r.URL.Query().Get("path"))
	entries, err := os.ReadDir(dir)
	if err != nil {
		daytonaError(w, r, http.StatusNotFound, err.Error())
		return
	}
	list := []any{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		list = append(list, map[string]any{
			"name": e.Name(), "size": info.Size(), "mode": info.Mode().String(), "modTime": info.ModTime().String(),
			"modifiedAt": info.ModTime().UTC().Format(time.RFC3339Nano), "isDir": e.IsDir(), "owner": "user",
			"group": "user", "permissions": "0644",
		})
	}
	reply(w, http.StatusOK, list)
}

// path is a path inside; a relative one is of the home directory.
func (i *instance) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(i.dir, p)
}

func toolboxDownload(w http.ResponseWriter, r *http.Request, i *instance) {
	f, err := os.Open(i.path(r.URL.Query().Get("path")))
	if err != nil {
		daytonaError(w, r, http.StatusNotFound, err.Error())
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		daytonaError(w, r, http.StatusBadRequest, "path must be a file")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = io.Copy(w, f)
}

func toolboxUpload(w http.ResponseWriter, r *http.Request, i *instance) {
	f, _, err := r.FormFile("file")
	if err != nil {
		daytonaError(w, r, http.StatusBadRequest, "no file")
		return
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err == nil {
		err = os.WriteFile(i.path(r.URL.Query().Get("path")), data, 0o644)
	}
	if err != nil {
		daytonaError(w, r, http.StatusBadRequest, err.Error())
		return
	}
	reply(w, http.StatusOK, nil)
}

func toolboxFolder(w http.ResponseWriter, r *http.Request, i *instance) {
	q := r.URL.Query()
	if q.Get("mode") == "" {
		daytonaError(w, r, http.StatusBadRequest, "mode is required")
		return
	}
	if err := os.MkdirAll(i.path(q.Get("path")), 0o755); err != nil {
		daytonaError(w, r, http.StatusBadRequest, err.Error())
		return
	}
	reply(w, http.StatusCreated, nil)
}
