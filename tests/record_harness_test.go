package tests

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// notebook is the record of a thread as programs see it.
type notebook struct {
	*server
	path string
}

func (s *server) notebook(thread string) *notebook { return &notebook{s, "/api/threads/" + thread} }

// object is any JSON object, with numbers as they are written.
type object = map[string]any

// read is the reply of a GET.
func (n *notebook) read(path string) object {
	n.t.Helper()
	var v object
	n.get(n.path + path).wants(http.StatusOK).into(&v)
	return v
}

// list is a list in the reply of a GET, under its name.
func (n *notebook) list(path, name string) []object {
	n.t.Helper()
	var list []object
	for _, v := range n.read(path)[name].([]any) {
		list = append(list, v.(object))
	}
	return list
}

// send makes a request with a JSON body, and returns the reply's.
func (n *notebook) send(method, path string, body any, status int) object {
	n.t.Helper()
	var v object
	n.call(method, n.path+path, asJSON(body)).wants(status).into(&v)
	return v
}

func (n *notebook) say(role, content string) object {
	n.t.Helper()
	return n.send(http.MethodPost, "/messages", object{"role": role, "content": content}, http.StatusCreated)
}

func (n *notebook) patch(fields object) object {
	n.t.Helper()
	return n.send(http.MethodPatch, "/state", fields, http.StatusOK)
}

// said is what the messages of the record say.
func (n *notebook) said(path string) (list []string) {
	n.t.Helper()
	for _, m := range n.list(path, "messages") {
		list = append(list, m["content"].(string))
	}
	return list
}

// file is where the record's file is; the suffix is "" or ".1" to ".3".
func (n *notebook) file(id, suffix string) string {
	return filepath.Join(n.how.dir, "threads", id+suffix+".json")
}

// holds checks that the fields of got are as in want, those that want has.
func holds(t testing.TB, what string, got, want object) {
	t.Helper()
	for key, v := range want {
		if w := plainly(t, v); !reflect.DeepEqual(got[key], w) {
			t.Errorf("%s: %s is %s, want %s", what, key, asJSON(got[key]), asJSON(w))
		}
	}
}

// plainly is v as JSON makes it.
func plainly(t testing.TB, v any) (out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(asJSON(v)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// parsed is the JSON of a file.
func parsed(t testing.TB, file string) (v object) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}
