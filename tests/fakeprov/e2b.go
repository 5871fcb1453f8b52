package fakeprov

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// E2BURL is what E2B_API_URL is to be.
func (s *Server) E2BURL() string { return s.URL + "/e2b/api" }

// E2BSandboxURL is what E2B_SANDBOX_URL is to be: which sandbox is meant is said by a header.
func (s *Server) E2BSandboxURL() string { return s.URL + "/e2b/box" }

func (s *Server) e2b(mux *http.ServeMux) {
	control := func(pattern, op string, h func(http.ResponseWriter, *http.Request, *instance)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /e2b/api"+path,
			s.route("e2b."+op, s.e2bKey(func(w http.ResponseWriter, r *http.Request) {
				i := s.find(r.PathValue("id"))
				if i == nil || i.service != "e2b" || i.now() == dead {
					e2bError(w, http.StatusNotFound, "sandbox not found")
					return
				}
				h(w, r, i)
			})))
	}
	mux.HandleFunc("POST /e2b/api/sandboxes", s.route("e2b.create", s.e2bKey(s.e2bCreate)))
	mux.HandleFunc("GET /e2b/api/v2/sandboxes", s.route("e2b.list", s.e2bKey(s.e2bList)))
	control("GET /sandboxes/{id}", "get", func(w http.ResponseWriter, _ *http.Request, i *instance) {
		reply(w, http.StatusOK, e2bJSON(i))
	})
	control("POST /sandboxes/{id}/pause", "pause", e2bPause)
	control("POST /sandboxes/{id}/connect", "resume", e2bResume)
	control("POST /sandboxes/{id}/timeout", "timeout", func(w http.ResponseWriter, _ *http.Request, _ *instance) {
		w.WriteHeader(http.StatusNoContent)
	})
	control("DELETE /sandboxes/{id}", "destroy", func(w http.ResponseWriter, _ *http.Request, i *instance) {
		i.change(dead, dead, 0)
		i.end()
		w.WriteHeader(http.StatusNoContent)
	})
	control("GET /sandboxes/{id}/metrics", "metrics", func(w http.ResponseWriter, _ *http.Request, _ *instance) {
		old := map[string]any{"timestampUnix": 1, "memTotal": 1, "memUsed": 1}
		reply(w, http.StatusOK, []any{old, map[string]any{
			"timestampUnix": time.Now().Unix(), "cpuCount": 2, "cpuUsedPct": 12.5, "memUsed": 200 << 20,
			"memTotal": 512 << 20, "diskUsed": 1 << 30, "diskTotal": 10 << 30,
		}})
	})
	box := func(pattern, op string, h func(http.ResponseWriter, *http.Request, *instance)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /e2b/box"+path, s.envd("e2b."+op, h))
	}
	box("POST /process.Process/Start", "start", envdStart)
	box("POST /process.Process/Connect", "connect", envdConnect)
	box("POST /process.Process/SendInput", "input", envdInput)
	box("POST /process.Process/CloseStdin", "close-stdin", envdCloseStdin)
	box("POST /process.Process/SendSignal", "signal", envdSignal)
	box("POST /process.Process/Update", "update", envdUpdate)
	box("GET /files", "read", envdRead)
	box("POST /files", "write", envdWrite)
	box("POST /filesystem.Filesystem/ListDir", "listdir", envdList)
}

func e2bError(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]any{"code": status, "message": message})
}

func (s *Server) e2bKey(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-API-Key") != Key {
			e2bError(w, http.StatusUnauthorized, "Invalid API key")
			return
		}
		h(w, r)
	}
}

func e2bJSON(i *instance) map[string]any {
	return map[string]any{
		"sandboxID": i.id, "templateID": "base", "clientID": "fake", "envdVersion": "0.4.2", "envdAccessToken": i.token,
		"state":     i.now(),
		"startedAt": i.created.Format(time.RFC3339Nano), "metadata": i.labels, "cpuCount": 2, "memoryMB": 512,
		"diskSizeMB": 10240,
	}
}

func (s *Server) e2bCreate(w http.ResponseWriter, r *http.Request) {
	var in struct {
		TemplateID string
		Timeout    int
		Metadata   map[string]string
		EnvVars    map[string]string
	}
	if !read(w, r, &in) {
		return
	}
	if in.TemplateID == "" || in.Timeout <= 0 {
		e2bError(w, http.StatusBadRequest, "templateID and timeout are required")
		return
	}
	i, err := s.create("e2b", in.EnvVars, in.Metadata)
	if err != nil {
		e2bError(w, http.StatusInternalServerError, err.Error())
		return
	}
	reply(w, http.StatusCreated, e2bJSON(i))
}

func (s *Server) e2bList(w http.ResponseWriter, r *http.Request) {
	metadata, err := url.ParseQuery(r.URL.Query().Get("metadata"))
	if err != nil {
		e2bError(w, http.StatusBadRequest, "metadata")
		return
	}
	want := map[string]string{}
	for k := range metadata {
		want[k] = metadata.Get(k)
	}
	list := []any{}
	for _, i := range s.of("e2b") {
		if i.now() != dead && labelled(i.labels, want) {
			list = append(list, e2bJSON(i))
		}
	}
	reply(w, http.StatusOK, list)
}

func e2bPause(w http.ResponseWriter, _ *http.Request, i *instance) {
	if i.now() != running {
		e2bError(w, http.StatusConflict, "sandbox is paused already")
		return
	}
	i.change(running, paused, Slow)
	i.signal(syscall.SIGSTOP)
	w.WriteHeader(http.StatusNoContent)
}

func e2bResume(w http.ResponseWriter, r *http.Request, i *instance) {
	var in struct{ Timeout int }
	if !read(w, r, &in) {
		return
	}
	status := http.StatusOK
	if i.now() == paused {
		status = http.StatusCreated
		i.signal(syscall.SIGCONT)
		i.change(running, running, 0)
	}
	reply(w, status, e2bJSON(i))
}

// envd is the daemon in a sandbox, behind a gateway that answers 502 for sandboxes that do not run.
func (s *Server) envd(op string, h func(http.ResponseWriter, *http.Request, *instance)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("E2b-Sandbox-Id")
		s.note(op, id)
		s.faulty(op, w, r, func(w http.ResponseWriter, r *http.Request) {
			i := s.find(id)
			switch {
			case i == nil || i.service != "e2b" || i.now() != running || r.Header.Get("E2b-Sandbox-Port") != "49983":
				reply(w, http.StatusBadGateway,
					map[string]any{"sandboxId": id, "message": "The sandbox was not found", "code": 502})
			case r.Header.Get("X-Access-Token") != i.tokenNow():
				e2bError(w, http.StatusUnauthorized, "unauthenticated")
			default:
				h(w, r, i)
			}
		})
	}
}

// NewToken changes what the daemon in a sandbox takes, as a resume elsewhere may.
func (s *Server) NewToken(id string) {
	if i := s.find(id); i != nil {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.token += "-renewed"
	}
}

func (i *instance) tokenNow() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.token
}

func envdRead(w http.ResponseWriter, r *http.Request, i *instance) {
	path := i.path(r.URL.Query().Get("path"))
	info, err := os.Stat(path)
	switch {
	case err != nil:
		e2bError(w, http.StatusNotFound, "path does not exist")
	case info.IsDir():
		e2bError(w, http.StatusBadRequest, "path is a directory")
	default:
		http.ServeFile(w, r, path)
	}
}

func envdWrite(w http.ResponseWriter, r *http.Request, i *instance) {
	path := i.path(r.URL.Query().Get("path"))
	parts, err := r.MultipartReader()
	if err != nil {
		e2bError(w, http.StatusBadRequest, err.Error())
		return
	}
	part, err := parts.NextPart()
	if err != nil || part.FormName() != "file" {
		e2bError(w, http.StatusBadRequest, "no file")
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		e2bError(w, http.StatusBadRequest, err.Error())
		return
	}
	f, err := os.Create(path)
	if err == nil {
		_, err = f.ReadFrom(part)
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		e2bError(w, http.StatusInternalServerError, err.Error())
		return
	}
	reply(w, http.StatusOK, []any{map[string]string{"name": filepath.Base(path), "type": "file", "path": path}})
}

func envdList(w http.ResponseWriter, r *http.Request, i *instance) {
	var in struct {
		Path  string
		Depth int
	}
	if !read(w, r, &in) {
		return
	}
	dir := i.path(in.Path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		rpcFail(w, "not_found", err.Error())
		return
	}
	list := []any{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		kind := "FILE_TYPE_FILE"
		if e.IsDir() {
			kind = "FILE_TYPE_DIRECTORY"
		}
		list = append(list, map[string]any{
			"name": e.Name(), "type": kind, "path": filepath.Join(dir, e.Name()),
			"size": strconv.FormatInt(info.Size(), 10), "mode": info.Mode().Perm(),
			"permissions": info.Mode().String(), "modifiedTime": info.ModTime().UTC().Format(time.RFC3339Nano),
		})
	}
	out := map[string]any{}
	if len(list) > 0 { // protobuf's JSON leaves empty lists out
		out["entries"] = list
	}
	reply(w, http.StatusOK, out)
}
