package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/wire"
)

// reply is a response read to its end.
type reply struct {
	status int
	header http.Header
	body   string
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

// failing serves one GET (and HEAD) route that ends in err.
func failing(t *testing.T, handler echo.HandlerFunc) (get func(method, path string) reply, log *logBuffer) {
	t.Helper()
	log = &logBuffer{}
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	e := echo.New()
	e.HTTPErrorHandler = HandleError
	e.Use(SecurityHeaders())
	e.GET("/x", handler)
	e.HEAD("/x", handler)
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return func(method, path string) reply {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply{response.StatusCode, response.Header, string(body)}
	}, log
}

// wantCode fails unless the reply is our JSON refusal with status and code.
func wantCode(t testing.TB, r reply, status int, code string) {
	t.Helper()
	if r.status != status || !strings.Contains(r.body, `"code":"`+code+`"`) ||
		!strings.Contains(r.body, `"details":{`) {
		t.Errorf("got %d %s, want %d %s", r.status, r.body, status, code)
	}
}

func TestErrorsBecomeStatuses(t *testing.T) {
	own := NewError(409, "EXITED", "the program %q has ended", "vi")
	for _, test := range []struct {
		err     error
		status  int
		code    string
		message string
	}{
		{own, 409, "EXITED", `the program "vi" has ended`},
		{fmt.Errorf("deeper: %w", own), 409, "EXITED", `the program "vi" has ended`},
		{own.Because(errors.New("secret cause")), 409, "EXITED", `the program "vi" has ended`},
		{fmt.Errorf("%w: role read", ErrReadOnly), 403, "READ_ONLY", ErrReadOnly.Error() + ": role read"},
		{fmt.Errorf("mux: terminal alpha: %w", ErrWrongTerminal), 404, "NOT_FOUND", ErrWrongTerminal.Error()},
		{context.Canceled, 503, "CANCELED", "given up"},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), 503, "DEADLINE", "longer"},
		{fmt.Errorf("x: %w", &http.MaxBytesError{Limit: 7}), 413, "TOO_LARGE", "7 bytes"},
		{echo.ErrUnsupportedMediaType, 415, "UNSUPPORTED_MEDIA_TYPE", "application/json"},
		{echo.ErrStatusRequestEntityTooLarge, 413, "TOO_LARGE", "1048576"},
		{echo.NewHTTPError(400, "bad day"), 400, "VALIDATION", "bad day"},
		{echo.NewHTTPError(410, "gone"), 410, "GONE", "gone"},
		{echo.NewHTTPError(500, "secret"), 500, "INTERNAL", "its log"},
		{errors.New("secret"), 500, "INTERNAL", "its log"},
	} {
		get, _ := failing(t, func(echo.Context) error { return test.err })
		r := get("GET", "/x")
		wantCode(t, r, test.status, test.code)
		var body wire.Error
		if err := json.Unmarshal([]byte(r.body), &body); err != nil || !strings.Contains(body.Error, test.message) {
			t.Errorf("%v: body %s, want message with %q (%v)", test.err, r.body, test.message, err)
		}
		if strings.Contains(r.body, "secret") {
			t.Errorf("%v: the cause was sent: %s", test.err, r.body)
		}
	}
}

func TestFailureIsLoggedOnceWithRequestID(t *testing.T) {
	get, log := failing(t, func(echo.Context) error { return errors.New("the disk sang") })
	r := get("GET", "/x?ticket=hush")
	id := r.header.Get("X-Request-Id")
	if id == "" || strings.Count(log.String(), "the disk sang") != 1 ||
		!strings.Contains(log.String(), "request_id="+id) ||
		!strings.Contains(r.body, id) {
		t.Errorf("id %q, reply %s, log %s", id, r.body, log)
	}
	if strings.Contains(log.String(), "hush") {
		t.Errorf("a ticket is in the log: %s", log)
	}
}

func TestRefusalsAreNotLoggedAsFailures(t *testing.T) {
	get, log := failing(t, func(echo.Context) error { return BadRequest("no") })
	if get("GET", "/x"); log.String() != "" {
		t.Errorf("log: %s", log)
	}
}

func TestErrorAfterTheResponseBegan(t *testing.T) {
	get, log := failing(t, func(c echo.Context) error {
		if err := c.String(http.StatusOK, "half"); err != nil {
			return err
		}
		return errors.New("late")
	})
	if r := get("GET", "/x"); r.status != 200 || r.body != "half" || strings.Count(log.String(), "late") != 1 {
		t.Errorf("got %d %q, log %s", r.status, r.body, log)
	}
}

func TestErrorOfHeadHasNoBody(t *testing.T) {
	r := httptest.NewRecorder() // net/http would hide a body
	HandleError(BadRequest("no"), echo.New().NewContext(httptest.NewRequest("HEAD", "/x", nil), r))
	if r.Code != 400 || r.Body.Len() != 0 {
		t.Errorf("got %d %q", r.Code, r.Body)
	}
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	for _, test := range []struct {
		status int
		after  time.Duration
		want   string
	}{{429, 1200 * time.Millisecond, "2"}, {429, 0, "1"}, {503, time.Minute, "60"}, {503, 0, ""}} {
		get, _ := failing(t, func(echo.Context) error {
			limited := NewError(test.status, "LIMIT", "slow down")
			limited.RetryAfter = test.after
			return limited
		})
		if r := get("GET", "/x"); r.header.Get("Retry-After") != test.want {
			t.Errorf("%+v: Retry-After %q", test, r.header.Get("Retry-After"))
		}
	}
}

func TestUnknownRoutesAndMethods(t *testing.T) {
	get, _ := failing(t, func(echo.Context) error { return nil })
	r := get("GET", "/nope/"+strings.Repeat("a", 5000))
	wantCode(t, r, 404, "NOT_FOUND")
	if !strings.Contains(r.body, "GET / lists them") || len(r.body) > 2*ClipLength+200 {
		t.Errorf("body of %d bytes: %s", len(r.body), r.body)
	}
	r = get("PUT", "/x")
	wantCode(t, r, 405, "METHOD_NOT_ALLOWED")
	if !strings.Contains(r.header.Get("Allow"), "GET") || !strings.Contains(r.body, `"GET"`) {
		t.Errorf("Allow %q, body %s", r.header.Get("Allow"), r.body)
	}
}

func TestDetailsOfAnErrorAreNotShared(t *testing.T) {
	shared := &Error{Status: 500, Code: "INTERNAL", Message: "m", Details: wire.ErrorDetails{Limit: 1}}
	get, _ := failing(t, func(echo.Context) error { return shared })
	if get("GET", "/x"); !reflect.DeepEqual(shared.Details, wire.ErrorDetails{Limit: 1}) {
		t.Errorf("writing the response changed the error: %v", shared.Details)
	}
}
