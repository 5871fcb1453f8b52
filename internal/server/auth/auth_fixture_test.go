package auth

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// handClock is a clock that only moves by hand.
type handClock struct {
	mu  sync.Mutex
	now time.Time
}

func newHandClock() *handClock { return &handClock{now: time.Now()} }

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// logBuffer collects a log from many goroutines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// gate is a real echo server behind the real middleware, with routes that tell
// what they were granted. Its terminals are "alpha-000001" (named "web") and
// "beta-0000002" (named "web" in the session "other").
type gate struct {
	*httptest.Server
	auth  *Auth
	clock *handClock
	log   *logBuffer
	token string
	dir   string
}

func gateTerminal(session, idOrName string) (string, error) {
	switch {
	case idOrName == "beta-0000002", session == "other" && idOrName == "web":
		return "beta-0000002", nil
	case session == "other":
	case idOrName == "alpha-000001", idOrName == "web":
		return "alpha-000001", nil
	}
	return "", httpapi.ErrWrongTerminal
}

func newGate(t testing.TB, config Config) *gate {
	t.Helper()
	g := &gate{clock: newHandClock(), log: &logBuffer{}, dir: config.DataDir}
	if g.dir == "" {
		g.dir = t.TempDir()
	}
	if config.Mode == "" {
		config.Mode = ModeToken
	}
	if config.Listen == "" {
		config.Listen = "127.0.0.1:0"
	}
	config.DataDir, config.Terminal, config.Now = g.dir, gateTerminal, g.clock.Now
	config.Log = slog.New(slog.NewTextHandler(g.log, nil))
	var err error
	if g.auth, err = New(config); err != nil {
		t.Fatal(err)
	}
	if token, err := os.ReadFile(filepath.Join(g.dir, tokenFile)); err == nil {
		g.token = strings.TrimSpace(string(token))
	}
	g.Server = httptest.NewServer(gateRoutes(g.auth))
	t.Cleanup(g.Close)
	return g
}

func gateRoutes(auth *Auth) *echo.Echo {
	e := echo.New()
	e.HTTPErrorHandler = httpapi.HandleError
	e.Pre(auth.Front)
	e.Use(httpapi.SecurityHeaders(), auth.Middleware())
	tell := func(c echo.Context) error {
		return c.String(
			http.StatusOK,
			string(GrantOf(c.Request().Context()).Role)+" "+GrantOf(c.Request().Context()).PTY,
		)
	}
	for _, path := range []string{"/", "/pty", "/metrics", "/openapi.json", "/assets/*", "/healthz", "/readyz"} {
		e.GET(path, tell)
	}
	for _, prefix := range []string{"", "/session/:sid"} {
		for _, verb := range []string{"stream", "ws", "snapshot", "recording"} {
			e.GET(prefix+"/pty/:id/"+verb, tell)
		}
		e.POST(prefix+"/pty/:id/input", func(c echo.Context) error {
			if err := RequireWrite(c.Request().Context()); err != nil {
				return err
			}
			var in struct {
				Data string `json:"data"`
			}
			if err := httpapi.Bind(c, &in); err != nil {
				return err
			}
			return c.String(http.StatusOK, in.Data)
		})
	}
	e.DELETE("/pty/:id", tell)
	for _, r := range auth.Routes() {
		e.Add(r.Method, r.Path, r.Handler())
		if r.Method == http.MethodGet {
			e.HEAD(r.Path, r.Handler())
		}
	}
	return e
}

// reply is a response read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request; headers are "Name: value" and "Host" sets the host. It
// follows no redirect.
func (g *gate) do(t testing.TB, client *http.Client, method, path, body string, headers ...string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, g.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if request.Header.Add(name, value); name == "Host" {
			request.Host = value
		}
	}
	if client == nil {
		client = &http.Client{}
	}
	stay := *client
	stay.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := stay.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(content)}
}

func (g *gate) bearer() string { return "Authorization: Bearer " + g.token }

// browser is a client with a cookie jar.
func (g *gate) browser(t testing.TB) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// logIn uses a new login ticket in client. It returns the header with the page's half of the login.
func (g *gate) logIn(t testing.TB, client *http.Client) string {
	t.Helper()
	link, err := g.auth.LoginURL(g.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := g.do(t, client, "GET", strings.TrimPrefix(link, g.URL), "")
	page, ok := strings.CutPrefix(r.header.Get("Location"), "/"+pageFragment)
	if r.status != http.StatusSeeOther || !ok || len(page) != 43 {
		t.Fatalf("login: %d to %q %s", r.status, r.header.Get("Location"), r.body)
	}
	return pageHeader + ": " + page
}

// wantCode fails unless the reply is our JSON refusal with status and code.
func wantCode(t testing.TB, r reply, status int, code string) {
	t.Helper()
	if r.status != status || !strings.Contains(r.body, `"code":"`+code+`"`) ||
		!strings.Contains(r.body, `"details":{`) {
		t.Errorf("got %d %s, want %d %s", r.status, r.body, status, code)
	}
}

const jsonType = "Content-Type: application/json"
