package tests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// ticketFor is a ticket's secret.
func (s *server) ticketFor(id, role string, seconds int) string {
	s.t.Helper()
	k, err := s.Ticket(s.ctx(), wire.TicketRequest{PTY: id, Role: role, TTLS: &seconds, Uses: new(1000)})
	s.must(err)
	return k.Ticket
}

// closes waits for the end of a socket and returns its code.
func closes(conn *websocket.Conn) (code int) {
	for {
		if text, code := first(conn); text == "" {
			return code
		}
	}
}

// streamBy opens an event stream; the channel has all of it at its end.
func (s *server) streamBy(path string, pairs ...string) <-chan string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.ctx(), http.MethodGet, s.url+path, nil)
	s.must(err)
	for i := 0; i < len(pairs); i += 2 {
		r.Header.Set(pairs[i], pairs[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	s.must(err)
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s", path, resp.Status)
	}
	all := make(chan string, 1)
	go func() {
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		all <- string(b)
	}()
	return all
}

func expired(stream string) bool {
	_, last, _ := strings.Cut(stream, "event: expired\ndata: {\"error\":")
	return strings.Count(last, "\n") == 2 && strings.HasSuffix(last, "\"}\n\n")
}

// TestViewersEndWithTheirTicket: security row D15. A socket closes with 4401 and types no more, a stream ends with
// "expired", also of a viewer that reads nothing while the program floods; viewers by token go on.
func TestViewersEndWithTheirTicket(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.create("cat").ID
	lasting := s.watch(wsBinary, id)
	defer lasting.close()
	ticket := s.ticketFor(id, "write", 2)
	by := "?ticket=" + ticket
	conn := s.socketBy(halves{}, "/pty/"+id+"/ws"+by)
	stream := s.streamBy("/pty/" + id + "/stream" + by)
	s.must(conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"input","data":"in time\n"}`)))
	s.await(id, "^in time$")
	if code := closes(conn); code != wire.CloseUnauthorized {
		t.Errorf("the socket closes with %d", code)
	}
	if all := <-stream; !expired(all) {
		t.Errorf("the stream ends with %q", all[max(0, len(all)-200):])
	}
	for _, method := range []string{"GET", "HEAD"} {
		for _, path := range []string{"/snapshot", "/stream", "/ws"} {
			if r := s.with(method, "/pty/"+id+path+by, ""); r.status != 401 {
				t.Errorf("%s %s: %d", method, path, r.status)
			}
		}
	}
	_, err := s.Attach(s.ctx(), id, client.AttachOptions{Ticket: ticket})
	if !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("attach: %v", err)
	}
	s.input(id, "later\n")
	lasting.sees("later")

	flood := s.create("sh", "-c", "yes 0123456789012345678901234567890123456789")
	silent := s.socketBy(halves{}, "/pty/"+flood.ID+"/ws?ticket="+s.ticketFor(flood.ID, "write", 2))
	defer silent.Close()
	unread := s.silentStream("/pty/" + flood.ID + "/stream?ticket=" + s.ticketFor(flood.ID, "read", 2))
	defer unread.Close()
	eventually(t, "the silent viewers are there", func() bool { return s.info(flood.ID).Viewers == 2 })
	began := time.Now()
	eventually(t, "the silent viewers are gone", func() bool { return s.info(flood.ID).Viewers == 0 })
	if took := time.Since(began); took > httpapi.WriteTimeout/2 {
		t.Errorf("the silent viewers were gone after %v", took)
	}
}

// silentStream opens an event stream of which nobody reads anything.
func (s *server) silentStream(path string) net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path)
	s.must(err)
	return conn
}

// TestAttachmentEndsWithItsTicket: the client says so, and does not try again.
func TestAttachmentEndsWithItsTicket(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.create("cat").ID
	a, err := s.Attach(s.ctx(), id, client.AttachOptions{Ticket: s.ticketFor(id, "write", 60)})
	s.must(err)
	defer a.Close()
	_, err = a.Next()
	s.must(err)
	s.with("DELETE", "/tickets?pty="+id, "", "Authorization", s.bearer()).wants(200)
	for err == nil {
		_, err = a.Next()
	}
	if !errors.Is(err, client.ErrUnauthorized) || client.Temporary(err) || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("it ends with %v", err)
	}
}

// TestEndedTicketsCloseWhatTheyOpened: security rows D16, D22. Those of one terminal, all, and of a terminal that is
// deleted.
func TestEndedTicketsCloseWhatTheyOpened(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	one, two := s.create("cat").ID, s.create("cat").ID
	var sockets []*websocket.Conn
	for _, id := range []string{one, two} {
		sockets = append(sockets, s.socketBy(halves{}, "/pty/"+id+"/ws?ticket="+s.ticketFor(id, "write", 3600)))
	}
	l := s.logIn()
	s.by(l, "DELETE", "/tickets?pty="+one, "").wants(200)
	if code := closes(sockets[0]); code != wire.CloseUnauthorized {
		t.Errorf("the first closes with %d", code)
	}
	s.must(sockets[1].WriteMessage(websocket.TextMessage, []byte(`{"type":"input","data":"still here\n"}`)))
	s.await(two, "^still here$")
	s.by(l, "DELETE", "/tickets?all=1", "").wants(200)
	if code := closes(sockets[1]); code != wire.CloseUnauthorized {
		t.Errorf("the second closes with %d", code)
	}
	s.by(l, "GET", "/pty/"+one, "").wants(200)

	ticket := s.ticketFor(one, "read", 3600)
	s.with("GET", "/pty/"+one+"/snapshot?ticket="+ticket, "").wants(200)
	s.by(l, "DELETE", "/pty/"+one, "").wants(200)
	s.with("GET", "/pty/"+one+"/snapshot?ticket="+ticket, "").refused(401, "UNAUTHORIZED")
	s.by(l, "GET", "/pty/"+one+"/snapshot", "").wants(200)
	s.by(l, "POST", "/tickets", `{"pty":"`+one+`"}`).refused(404, "NOT_FOUND")
	s.kill()
	s.again()
	s.with("GET", "/pty/"+one+"/snapshot?ticket="+ticket, "").refused(401, "UNAUTHORIZED")
}

// TestLogout: security rows D17, D18. Of one login and of all, at once and for the next server, also when this one
// is killed.
func TestLogout(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.create("cat").ID
	one, two := s.logIn(), s.logIn()
	open := func(l halves) *websocket.Conn {
		conn := s.socketBy(l, "/ws")
		s.must(conn.WriteMessage(websocket.TextMessage, []byte(authOf(l.page))))
		if text, code := first(conn); !strings.Contains(text, `"list"`) {
			t.Fatalf("%q, %d", text, code)
		}
		return conn
	}
	first, second := open(one), open(two)
	stream := s.streamBy("/pty/"+id+"/stream", "Cookie", one.cookie, "Evertty-Page", one.page)
	events := s.streamBy("/api/threads/test/events?since=latest", "Cookie", one.cookie, "Evertty-Page", one.page)
	lasting := s.watch(sse, id)
	defer lasting.close()
	out := s.by(one, "POST", "/logout", "").wants(200)
	if set := out.header.Get("Set-Cookie"); !strings.Contains(set, "Max-Age=0") {
		t.Errorf("the cookie stays: %q", set)
	}
	if code := closes(first); code != wire.CloseUnauthorized {
		t.Errorf("the page's socket closes with %d", code)
	}
	if all := <-stream; !expired(all) {
		t.Errorf("the stream ends with %q", all)
	}
	<-events
	s.kill()
	s.again()
	s.by(one, "GET", "/pty", "").refused(401, "UNAUTHORIZED")
	s.by(two, "GET", "/pty", "").wants(200)
	_ = second.Close()
	second = open(two)
	ticket := s.ticketFor(id, "read", 3600)
	if e := run(t, s.cli("logout")); e.code != 0 || !strings.Contains(e.stdout, "evertty logout --all") {
		t.Errorf("logout: %d %s%s", e.code, e.stdout, e.stderr)
	}
	s.by(two, "GET", "/pty", "").wants(200)
	s.says("logout", "--all")
	if code := closes(second); code != wire.CloseUnauthorized {
		t.Errorf("another page's socket closes with %d", code)
	}
	for range 2 {
		s.by(two, "GET", "/pty", "").refused(401, "UNAUTHORIZED")
		s.with("GET", "/pty/"+id+"/snapshot?ticket="+ticket, "").refused(401, "UNAUTHORIZED")
		s.kill()
		s.again()
	}
	s.by(s.logIn(), "GET", "/pty", "").wants(200)
	var lines []string
	for _, e := range s.audited("audit.log") {
		if e.What == "logout" {
			lines = append(lines, e.Who+" "+e.Target+" "+e.Result)
		}
	}
	if want := []string{"cookie  ok", "token all ok"}; !slices.Equal(lines, want) {
		t.Errorf("the audit log has %q, want %q", lines, want)
	}
}

// TestManyTicketsKeepNobodyOut: security rows D20, D21. With all tickets waiting a server starts, and browsers log
// in.
func TestManyTicketsKeepNobodyOut(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.create("cat").ID
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	hour, issued := 3600, 0
	var err error
	for ; err == nil; issued++ {
		_, err = s.Ticket(ctx, wire.TicketRequest{PTY: id, TTLS: &hour})
	}
	if full, ok := errors.AsType[*client.Error](err); !ok || full.Status != 429 || full.Code != "LIMIT" {
		t.Fatalf("after %d tickets: %v", issued, err)
	}
	for range 2 {
		s.by(s.logIn(), "GET", "/pty", "").wants(200)
		s.kill()
		s.again()
	}
	const most, reserve = 4096, 16
	if issued-1 != most {
		t.Errorf("%d tickets waited", issued-1)
	}
	for range reserve {
		s.post("/tickets", `{"login":true}`).wants(201)
	}
	s.post("/tickets", `{"login":true}`).refused(429, "LIMIT")
	s.with("DELETE", "/pty/"+id, "", "Authorization", s.bearer()).wants(200)
	other := s.create("cat").ID
	s.with("POST", "/tickets", `{"pty":"`+other+`"}`, "Authorization", s.bearer()).wants(201)
}
