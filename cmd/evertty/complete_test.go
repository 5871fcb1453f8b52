//go:build linux

package main

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/evertty/evertty/pty"
)

// walk calls do for a verb and all below it.
func walk(c *cobra.Command, do func(path []string, c *cobra.Command)) {
	do(strings.Fields(c.CommandPath())[1:], c)
	for _, sub := range c.Commands() {
		walk(sub, do)
	}
}

// offered are the words that a press of Tab offers.
func offered(t *testing.T, args ...string) (words []string) {
	t.Helper()
	o := evertty(t, "", append([]string{"__complete"}, args...)...)
	for line := range strings.Lines(o.stdout) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		words = append(words, word)
	}
	return words
}

// TestEveryEnumIsCompleted: each flag of a few words offers all of them.
func TestEveryEnumIsCompleted(t *testing.T) {
	t.Setenv(envDataDir, t.TempDir())
	tried := 0
	walk((&app{}).newRoot(""), func(path []string, c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			v, ok := f.Value.(*value)
			if !ok || v.words == nil || f.Hidden || c.Hidden {
				return
			}
			tried++
			got := strings.Join(offered(t, append(path, "--"+f.Name, "")...), " ")
			if want := strings.Join(v.words, " ") + " :4"; got != want {
				t.Errorf("evertty %s --%s: offered %q, want %q", strings.Join(path, " "), f.Name, got, want)
			}
		})
	})
	if tried < 10 {
		t.Errorf("%d flags have words", tried)
	}
	if got := strings.Join(offered(t, "new", "--restore", ""), " "); got != "none command :4" {
		t.Errorf("new --restore: offered %q", got)
	}
}

// TestEveryIDIsCompleted: each argument and flag that names something of the server offers what the server has, within
// a second when there is none, and then starts none.
func TestEveryIDIsCompleted(t *testing.T) {
	want := map[string]string{"ID": "build", "THREAD": "t1", "LEASE": "l1", "--session": "work", "--label": "team=web"}
	answers := map[string][]string{
		"GET /pty": {`200 {"items":[{"id":"id1","name":"build","session":"work","cmd":["x"],` +
			`"labels":{"team":"web"}}]}`},
		"GET /session/main/commands": {`200 {"commands":[{"command_id":"build","text":"x"}]}`},
		"GET /shares":                {`200 {"shares":[{"id":"build","pty":"id1"}]}`},
		"GET /api/threads":           {`200 {"items":[{"thread_id":"t1"}],"threads":[{"thread_id":"t1"}]}`},
		"GET /api/leases":            {`200 {"items":[{"lease_id":"l1"}],"leases":[{"lease_id":"l1"}]}`},
	}
	s := httptest.NewServer(&recorder{answers: answers})
	defer s.Close()
	dir := t.TempDir()
	t.Setenv(envDataDir, dir)
	tried := 0
	try := func(what string, args ...string) {
		tried++
		t.Setenv(envServer, s.URL)
		if got := " " + strings.Join(offered(t, args...), " ") + " "; !strings.Contains(got, " "+want[what]+" ") {
			t.Errorf("evertty %s: offered %q, want %s", strings.Join(args, " "), got, want[what])
		}
		t.Setenv(envServer, "")
		begun := time.Now()
		offered(t, args...)
		if took := time.Since(begun); took > time.Second {
			t.Errorf("evertty %s took %v without a server", strings.Join(args, " "), took)
		}
	}
	walk((&app{}).newRoot(""), func(path []string, c *cobra.Command) {
		if c.Hidden {
			return
		}
		if words := strings.Fields(c.Use); len(words) > 1 {
			for _, what := range []string{"ID", "THREAD", "LEASE"} {
				if strings.HasPrefix(strings.Trim(words[1], "["), what) && strings.Join(path, " ") != "thread new" {
					try(what, append(path, "")...)
				}
			}
		}
		for _, name := range []string{"session", "label"} {
			if f := c.Flags().Lookup(name); f != nil {
				try("--"+name, append(path, "--"+name, "")...)
			}
		}
	})
	if tried < 20 {
		t.Errorf("%d were tried", tried)
	}
}

// TestSentSignals: what Tab offers is what the server sends.
func TestSentSignals(t *testing.T) {
	_, err := pty.ParseSignal("none")
	if all := strings.Join(sentSignals, " "); err == nil || !strings.HasSuffix(err.Error(), "allowed are "+all) {
		t.Errorf("%v; offered are %s", err, all)
	}
}
