package fakeprov

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// AgentBayURL is what AGENTBAY_ENDPOINT is to be.
func (s *Server) AgentBayURL() string { return s.URL + "/agentbay" }

// shellMost is the most that AgentBay's shell waits for a command.
const shellMost = 50 * time.Second

// agentBayOps are the operations, by their actions.
var agentBayOps = map[string]string{
	"CreateMcpSession": "create", "GetSession": "get", "GetSessionDetail": "get", "ListSession": "list",
	"PauseSessionAsync":  "pause",
	"ResumeSessionAsync": "resume", "DeleteSessionAsync": "destroy", "CallMcpTool": "tool",
}

// agentbay has one address; what is meant says a header, or the query.
func (s *Server) agentbay(mux *http.ServeMux) {
	mux.HandleFunc("POST /agentbay/", func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		action := r.Header.Get("X-Acs-Action")
		if action == "" {
			action = r.URL.Query().Get("Action")
		}
		name, known := agentBayOps[action]
		if r.ParseForm() != nil || !known || r.Header.Get("X-Acs-Version") != "2025-05-06" &&
			r.URL.Query().Get("Version") != "2025-05-06" {
			agentBayFail(w, http.StatusBadRequest, "InvalidAction", "no such action or version")
			return
		}
		if tool := r.PostForm.Get("Name"); action == "CallMcpTool" {
			name = tool
		}
		id := r.PostForm.Get("SessionId")
		s.note("agentbay."+name, id)
		s.faulty("agentbay."+name, w, r,
			func(w http.ResponseWriter, r *http.Request) { s.agentBayAct(w, r, action, id) })
	})
}

func agentBayReply(w http.ResponseWriter, data any) {
	reply(w, http.StatusOK, map[string]any{"Code": "Success", "HttpStatusCode": 200, "Message": "", "RequestId": "fake",
		"Success": true, "Data": data})
}

// agentBayFail is a reply that says no: 200 for what the service itself refuses.
func agentBayFail(w http.ResponseWriter, status int, code, message string) {
	reply(w, http.StatusOK, map[string]any{"Code": code, "HttpStatusCode": status, "Message": message,
		"RequestId": "fake", "Success": false})
}

func (s *Server) agentBayAct(w http.ResponseWriter, r *http.Request, action, id string) {
	form := r.PostForm
	if form.Get("Authorization") != "Bearer "+Key {
		agentBayFail(w, http.StatusUnauthorized, "InvalidAuthorization", "the key is not valid")
		return
	}
	switch action {
	case "CreateMcpSession":
		s.agentBayCreate(w, form.Get("Labels"), form.Get("ImageId"))
		return
	case "ListSession":
		s.agentBayList(w, form.Get("Labels"))
		return
	}
	i := s.find(id)
	if i == nil || i.service != "agentbay" || i.now() == dead {
		agentBayFail(w, http.StatusBadRequest, "InvalidMcpSession.NotFound", "session not found")
		return
	}
	switch action {
	case "GetSession", "GetSessionDetail":
		agentBayReply(w, map[string]any{"SessionId": i.id, "Status": strings.ToUpper(i.now())})
	case "PauseSessionAsync":
		if i.now() != running {
			agentBayFail(w, http.StatusConflict, "IncorrectStatus", "the session does not run")
			return
		}
		i.signal(syscall.SIGSTOP)
		i.change("pausing", paused, Slow)
		agentBayReply(w, nil)
	case "ResumeSessionAsync":
		if i.now() != paused {
			agentBayFail(w, http.StatusConflict, "IncorrectStatus", "the session is not paused")
			return
		}
		i.signal(syscall.SIGCONT)
		i.change("resuming", running, Slow)
		agentBayReply(w, nil)
	case "DeleteSessionAsync":
		i.change("deleting", dead, Slow)
		i.end()
		agentBayReply(w, nil)
	case "CallMcpTool":
		if i.now() != running {
			agentBayFail(w, http.StatusConflict, "IncorrectStatus", "the session does not run")
			return
		}
		s.agentBayTool(w, i, form.Get("Name"), form.Get("Args"))
	}
}

func (s *Server) agentBayCreate(w http.ResponseWriter, labels, image string) {
	var l map[string]string
	if json.Unmarshal([]byte(labels), &l) != nil || image == "" {
		agentBayFail(w, http.StatusBadRequest, "InvalidParameter", "Labels or ImageId")
		return
	}
	i, err := s.create("agentbay", nil, l)
	if err != nil {
		agentBayFail(w, http.StatusInternalServerError, "InternalError", err.Error())
		return
	}
	agentBayReply(w, map[string]any{"SessionId": i.id, "ResourceUrl": "", "Success": true})
}

func (s *Server) agentBayList(w http.ResponseWriter, labels string) {
	var want map[string]string
	_ = json.Unmarshal([]byte(labels), &want)
	list := []any{}
	for _, i := range s.of("agentbay") {
		if i.now() != dead && labelled(i.labels, want) {
			list = append(list, map[string]any{"SessionId": i.id})
		}
	}
	agentBayReply(w, list)
}

func (s *Server) agentBayTool(w http.ResponseWriter, i *instance, name, args string) {
	switch name {
	case "shell":
		s.agentBayShell(w, i, args)
	case "get_metrics":
		text, _ := json.Marshal(map[string]any{
			"cpu_count": 2, "cpu_used_pct": 3.5, "mem_total": 4 << 30, "mem_used": 1 << 30, "disk_total": 40 << 30,
			"disk_used":           5 << 30,
			"rx_rate_kbyte_per_s": 1.5, "tx_rate_kbyte_per_s": 0.5, "timestamp": time.Now().Format(time.RFC3339),
		})
		s.toolReply(w, string(text), false)
	default:
		s.toolReply(w, "no tool "+name, true)
	}
}

// toolReply is a tool's result: an object, or from the older images a text with one in it.
func (s *Server) toolReply(w http.ResponseWriter, text string, failed bool) {
	result := map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": failed}
	s.mu.Lock()
	old := s.plainText
	s.mu.Unlock()
	if old {
		inner, _ := json.Marshal(result)
		agentBayReply(w, string(inner))
		return
	}
	agentBayReply(w, result)
}

// agentBayShell is the tool. Its newer form answers in JSON with isError for an exit code other than 0, its older one
// with the output alone.
func (s *Server) agentBayShell(w http.ResponseWriter, i *instance, args string) {
	var in struct {
		Command   string
		TimeoutMS int `json:"timeout_ms"`
		Cwd       string
		Envs      map[string]string
	}
	if json.Unmarshal([]byte(args), &in) != nil || in.Command == "" {
		s.toolReply(w, `{"errorCode":"InvalidArgument","message":"command"}`, true)
		return
	}
	limit := time.Duration(in.TimeoutMS) * time.Millisecond
	if limit <= 0 || limit > shellMost {
		limit = shellMost
	}
	var out, words bytes.Buffer
	c := i.command(in.Cwd, in.Envs, "sh", "-c", in.Command)
	c.Stdout, c.Stderr = &out, &words
	code, late := ended(c, limit)
	s.mu.Lock()
	old := s.plainText
	s.mu.Unlock()
	switch {
	case late:
		s.toolReply(w, `{"errorCode":"Timeout","message":"the command took too long"}`, true)
	case old && code != 0:
		s.toolReply(w, out.String()+words.String(), true)
	case old:
		s.toolReply(w, out.String(), false)
	default:
		text, _ := json.Marshal(map[string]any{"stdout": out.String(), "stderr": words.String(), "exit_code": code,
			"traceId": "fake"})
		s.toolReply(w, string(text), code != 0)
	}
}
