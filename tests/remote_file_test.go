package tests

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestRemoteFiles: files are those of where the thread runs (F-096; test_*_file_operations).
func TestRemoteFiles(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, at *site) {
		w := at.rent("files", nil)
		w.run("mkdir -p work && cd work").is(0, "")
		file := func(verb string, b body) reply {
			t.Helper()
			b["sessionId"] = "files"
			return at.post("/api/file/"+verb, asJSON(b))
		}
		bytes := "\x00\xff'\n"
		file("write", body{"path": "a b", "content": base64.StdEncoding.EncodeToString([]byte(bytes)),
			"encoding": "base64"}).wants(200)
		w.run("cat 'a b'").is(0, bytes)
		var read struct{ Content, Encoding string }
		file("read", body{"path": "a b"}).wants(200).into(&read)
		if b, _ := base64.StdEncoding.DecodeString(read.Content); string(b) != bytes || read.Encoding != "base64" {
			t.Errorf("read %+v", read)
		}
		file("read", body{"path": "none"}).wants(404)
		file("mkdir", body{"path": "d"}).wants(200)
		file("mkdir", body{"path": "d"}).wants(409)
		file("mkdir", body{"path": "d/e/f", "recursive": true}).wants(200)
		file("rename", body{"oldPath": "a b", "newPath": "d/it's"}).wants(200)
		file("delete", body{"path": "d"}).wants(409)
		file("delete", body{"path": "nope"}).wants(404)
		for path, want := range map[string]bool{"d/it's": true, "a b": false} {
			var e struct{ Exists bool }
			if file("exists", body{"path": path}).wants(200).into(&e); e.Exists != want {
				t.Errorf("%q exists: %v", path, e.Exists)
			}
		}
		var list struct {
			Files []struct{ RelativePath, Type string }
		}
		file("list", body{"path": ".", "options": body{"recursive": true}}).wants(200).into(&list)
		var seen []string
		for _, f := range list.Files {
			seen = append(seen, f.Type+" "+f.RelativePath)
		}
		if got := strings.Join(seen, ","); got != "directory d,directory d/e,directory d/e/f,file d/it's" {
			t.Errorf("the list is %s", got)
		}
		file("delete", body{"path": "d/it's"}).wants(200)
		w.run("find . -type f").is(0, "")
	})
}
