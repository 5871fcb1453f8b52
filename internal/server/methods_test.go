package server

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// TestEveryPathHasItsMethods: HEAD wherever GET is, OPTIONS everywhere, and the list of OPTIONS is
// that of 405.
func TestEveryPathHasItsMethods(t *testing.T) {
	s := &Server{}
	e := echo.New()
	e.HTTPErrorHandler = httpapi.HandleError
	s.addRoutes(e)
	offered := map[string][]string{}
	for _, r := range routes() {
		offered[r.Path] = append(offered[r.Path], r.Method)
	}
	fill := strings.NewReplacer(":sid", "s", ":id", "i", ":shid", "h", ":cid", "c", "*", "x")
	for path, want := range offered {
		path = fill.Replace(path)
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodOptions, path, nil))
		got := strings.Split(w.Header().Get("Allow"), ", ")
		if w.Code != http.StatusNoContent || w.Body.Len() != 0 {
			t.Errorf("OPTIONS %s: %d %s", path, w.Code, w.Body)
		}
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("OPTIONS %s: header %s", path, name)
			}
		}
		want = append(want, http.MethodOptions)
		if slices.Contains(want, http.MethodGet) {
			want = append(want, http.MethodHead)
		}
		for _, method := range want {
			if !slices.Contains(got, method) {
				t.Errorf("OPTIONS %s: %v lacks %s", path, got, method)
			}
		}
		w = httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodTrace, path, nil))
		refused := strings.Split(w.Header().Get("Allow"), ", ")
		slices.Sort(refused)
		if w.Code != http.StatusMethodNotAllowed || !slices.Equal(slices.Compact(refused), got) {
			t.Errorf("TRACE %s: %d, allowed %v, OPTIONS says %v", path, w.Code, refused, got)
		}
	}
}

// routes is everything that a server offers.
func routes() []httpapi.Route { return Routes() }
