package tests

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestContexts: login keeps a server for the verbs after it, in files that nobody else may read, and the token goes to no
// other server.
func TestContexts(t *testing.T) {
	t.Parallel()
	far, near := start(t, launch{auth: "token"}), start(t, launch{auth: "token"})
	id, here := far.create("cat").ID, near.create("cat").ID
	config := t.TempDir()
	env := []string{"XDG_CONFIG_HOME=" + config, "XDG_STATE_HOME=" + t.TempDir()}
	evertty := func(args ...string) ended { return run(t, call(t, env, args...)) }
	token := filepath.Join(t.TempDir(), "token")
	must := func(e ended, words ...string) {
		t.Helper()
		if e.code != 0 || e.stderr != "" {
			t.Errorf("exit code %d, %s", e.code, e.stderr)
		}
		for _, w := range words {
			if !strings.Contains(e.stdout, w) {
				t.Errorf("%q does not have %q", e.stdout, w)
			}
		}
	}
	far.must(os.WriteFile(token, []byte("wrong\n"), 0o600))
	evertty("login", far.url, "--context", "far", "--token-file", token).refuses(t, 1, "does not take this token")
	must(evertty("context", "ls", "--json"), "[]")
	far.must(os.WriteFile(token, []byte(far.token()+"\n"), 0o600))
	must(evertty("login", far.printed, "--context", "far", "--token-file", token), "far", far.url)
	piped := call(t, env, "login", near.url)
	piped.Stdin = strings.NewReader(near.token() + "\n")
	must(run(t, piped), "127.0.0.1 is the current context")

	must(evertty("ls"), here)
	must(evertty("ls", "--context", "far"), id)
	must(run(t, call(t, append(env, "EVERTTY_CONTEXT=far"), "ls")), id)
	must(run(t, call(t, append(env, "EVERTTY_DATA_DIR="+near.how.dir), "ls", "--context", "far")), id)
	must(run(t, call(t, append(env, "EVERTTY_DATA_DIR="+far.how.dir), "ls")), id)
	must(evertty("context", "use", "far"))
	must(evertty("ls"), id)
	must(evertty("context", "ls"), "far", "127.0.0.1", "*")
	evertty("ls", "--context", "nowhere").refuses(t, 2, "nowhere", "127.0.0.1, far, local")
	evertty("ls", "--context", "../far").refuses(t, 2, "../far")
	evertty("context", "use", "nowhere").refuses(t, 2, "nowhere")
	evertty("login", far.url, "--context", "local", "--token-file", token).refuses(t, 2, "local")
	evertty("login", far.url, "--token-file", token).refuses(t, 2, "another server", "--context")
	evertty("ls", "--context", "far", "--server", near.url).refuses(t, 2, "--server", "--context")
	evertty("ls", "--context", "local", "--no-start").refuses(t, 3, "no server")

	file := filepath.Join(config, "evertty", "contexts", "far.toml")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	far.must(os.Chmod(file, 0o644))
	evertty("ls").refuses(t, 2, "chmod")
	far.must(os.Chmod(file, 0o600))
	must(evertty("context", "rm", "far"))
	evertty("ls", "--no-start").refuses(t, 3, "no server")
	must(evertty("ls", "--context", "127.0.0.1"), here)
	filesHave(t, config, far.token())
}

// filesHave fails the test when a file below dir has the text.
func filesHave(t *testing.T, dir, text string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), text) {
			t.Errorf("%s has it still", path)
		}
		return nil
	})
}

// TestATokenFollowsNoRedirect: a server that leads elsewhere does not get the token sent there.
func TestATokenFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got <- fmt.Sprint(r.URL, r.Header)
	}))
	defer thief.Close()
	door := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer door.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"XDG_CONFIG_HOME=" + t.TempDir()}
	if e := run(t, call(t, env, "login", door.URL, "--token-file", token)); e.code == 0 {
		t.Errorf("login says %s", e.stdout)
	}
	select {
	case r := <-got:
		t.Errorf("a request was sent on: %s", r)
	default:
	}
}
