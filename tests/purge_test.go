package tests

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestPurgeTakesTheDeleted: to purge a session, or to delete its thread, removes the terminals too that were deleted
// before.
func TestPurgeTakesTheDeleted(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"/session/s/pty?purge=1", "/api/threads/s"} {
		s := start(t, launch{})
		made := func() string {
			var info struct{ ID string }
			s.post("/session/s/pty", `{"cmd":["cat"]}`).wants(201).into(&info)
			return info.ID
		}
		gone, here := made(), made()
		other := s.create("cat")
		s.call(http.MethodDelete, "/pty/"+gone, "").wants(200)
		s.get("/pty/" + gone).wants(200)
		s.call(http.MethodDelete, way, "").wants(200)
		for _, id := range []string{gone, here} {
			s.get("/pty/"+id).refused(404, "NOT_FOUND")
		}
		list, err := os.ReadDir(filepath.Join(s.how.dir, "terminals"))
		if err != nil || len(list) != 1 || list[0].Name() != other.ID {
			t.Errorf("%s: files of %v are left, %v", way, list, err)
		}
	}
}
