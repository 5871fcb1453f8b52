package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// settings are flags of every kind, as serve has them.
type settings struct {
	name  string
	hosts []string
	count int
	small int
	pause time.Duration
	quota int64
	auth  string
	fast  bool
}

// configured runs a verb with such flags and returns what they were.
func configured(t *testing.T, args []string, file string) (settings, error) {
	t.Helper()
	s := settings{auth: "token"}
	c := &cobra.Command{Use: "serve", RunE: func(c *cobra.Command, _ []string) error { return applyConfig(c, file) }}
	c.SilenceErrors, c.SilenceUsage = true, true
	f := c.Flags()
	f.StringVar(&s.name, "name", "preset", "")
	f.StringSliceVar(&s.hosts, "allowed-host", nil, "")
	f.IntVar(&s.count, "count", 1, "")
	f.Var(newInt(&s.small, 5, 1, 9), "small", "")
	f.Var(newDuration(&s.pause, time.Minute), "snapshot-interval", "")
	f.Var(newSize(&s.quota, 64<<20), "journal-quota", "")
	f.Var(newEnum(&s.auth, "token", "none"), "auth", "")
	f.BoolVar(&s.fast, "fast", false, "")
	f.String("config", "", "")
	c.SetFlagErrorFunc(flagError)
	c.SetArgs(args)
	return s, c.Execute()
}

func tomlFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "evertty.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestConfigPrecedence(t *testing.T) {
	file := tomlFile(t, `
name = "file"
allowed_host = ["a.example", "b.example"]
count = 30
small = 3
snapshot_interval = 90
journal_quota = "1GiB"
auth = "none"
fast = true
`)
	t.Setenv("EVERTTY_COUNT", "20")
	t.Setenv("EVERTTY_NAME", "env")
	t.Setenv("EVERTTY_SMALL", "") // as if not set
	t.Setenv("EVERTTY_AUTH", "token")
	t.Setenv("EVERTTY_UNRELATED", "x")
	s, err := configured(t, []string{"--name", "flag", "--small=4"}, file)
	if err != nil {
		t.Fatal(err)
	}
	if s.name != "flag" || s.count != 20 || s.auth != "token" || s.small != 4 || s.pause != 90*time.Second ||
		s.quota != 1<<30 || !s.fast ||
		strings.Join(s.hosts, " ") != "a.example b.example" {
		t.Errorf("%+v", s)
	}
	for _, name := range []string{"COUNT", "NAME", "AUTH"} {
		t.Setenv("EVERTTY_"+name, "")
	}
	if s, err = configured(t, nil, ""); err != nil || s.name != "preset" || s.count != 1 || s.small != 5 ||
		s.pause != time.Minute || s.quota != 64<<20 || s.auth != "token" {
		t.Errorf("%+v, %v", s, err)
	}
	t.Setenv("EVERTTY_CONFIG", file)
	if s, err = configured(t, nil, ""); err != nil || s.name != "file" {
		t.Errorf("%+v, %v", s, err)
	}
	t.Setenv("EVERTTY_ALLOWED_HOST", "c.example,d.example")
	if s, err = configured(t, nil, file); err != nil || strings.Join(s.hosts, " ") != "c.example d.example" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tc := range []struct {
		args, env, toml string
		want            []string
	}{
		{"--snapshot-interval=soon", "", "", []string{"--snapshot-interval", `"soon"`, "90s", "seconds"}},
		{"--auth=maybe", "", "", []string{"--auth", `"maybe"`, "token, none"}},
		{"--count=x", "", "", []string{"--count", `"x"`, "whole number"}},
		{"--small=10", "", "", []string{"--small", `"10"`, "1 to 9"}},
		{"--fast=perhaps", "", "", []string{"--fast", `"perhaps"`, "true or false"}},
		{"--nothing", "", "", []string{"--nothing"}},
		{"", "EVERTTY_JOURNAL_QUOTA=64MB", "", []string{"journal_quota", "EVERTTY_JOURNAL_QUOTA", `"64MB"`, "64MiB"}},
		{"", "EVERTTY_SNAPSHOT_INTERVAL=-3s", "", []string{"snapshot_interval", `"-3s"`, "seconds"}},
		{"", "", "auth = 3", []string{"auth", "evertty.toml", `"3"`, "token, none"}},
		{"", "", "snapshot_interval = [1]", []string{"snapshot_interval", "evertty.toml", `"[1]"`}},
		{"", "", "[journal]\nquota = 3", []string{"journal ", "evertty.toml", "no such key", "journal_quota"}},
		{"", "", "snapshot-interval = 3", []string{"snapshot-interval", "no such key", "snapshot_interval"}},
		{"", "", "config = \"x\"", []string{"config", "no such key"}},
		{"", "", "auth = ", []string{"evertty.toml", "line 1"}},
		{"", "", "allowed_host = [[1]]", []string{"allowed_host", "evertty.toml", "list of texts"}},
	} {
		t.Run(tc.args+tc.env+tc.toml, func(t *testing.T) {
			name, value, _ := strings.Cut(tc.env, "=")
			if name != "" {
				t.Setenv(name, value)
			}
			_, err := configured(t, strings.Fields(tc.args), tomlFile(t, tc.toml))
			if _, ok := errors.AsType[usageError](err); !ok || exitCode(err) != exitUsage {
				t.Fatalf("%v is not a usage error", err)
			}
			for _, w := range tc.want {
				if !strings.Contains(message(err), w) {
					t.Errorf("%q does not say %q", message(err), w)
				}
			}
			if strings.Contains(message(err), "\n") {
				t.Errorf("%q is more than a line", message(err))
			}
		})
	}
	if _, err := configured(t, nil, filepath.Join(t.TempDir(), "absent.toml")); exitCode(err) != exitUsage {
		t.Errorf("absent file: %v", err)
	}
	if _, err := configured(t, nil, t.TempDir()); exitCode(err) != exitUsage {
		t.Errorf("a directory: %v", err)
	}
}

func TestFlagValues(t *testing.T) {
	var d time.Duration
	var n int64
	for _, tc := range []struct {
		in    string
		want  time.Duration
		shown string
	}{{"90", 90 * time.Second, "1m30s"}, {"1.5", 1500 * time.Millisecond, "1.5s"}, {"30m", 30 * time.Minute,
		"30m"}, {"2h", 2 * time.Hour, "2h"}, {"0", 0, "0"}, {"1h0m5s", time.Hour + 5*time.Second, "1h0m5s"}} {
		v := newDuration(&d, 0)
		if err := v.Set(tc.in); err != nil || d != tc.want || v.String() != tc.shown {
			t.Errorf("%s: %v %v %v", tc.in, d, v, err)
		}
	}
	for _, bad := range []string{"", "x", "-1", "-1s", "1e30", "nan", "inf", "1 s"} {
		if newDuration(&d, 0).Set(bad) == nil {
			t.Errorf("duration %q was taken as %v", bad, d)
		}
	}
	for _, tc := range []struct {
		in    string
		want  int64
		shown string
	}{{"0", 0, "0"}, {"1000", 1000, "1000"}, {"64MiB", 64 << 20, "64MiB"}, {"2048", 2048, "2KiB"}, {"3 GiB", 3 << 30,
		"3GiB"}} {
		v := newSize(&n, 0)
		if err := v.Set(tc.in); err != nil || n != tc.want || v.String() != tc.shown {
			t.Errorf("%s: %v %v %v", tc.in, n, v, err)
		}
	}
	for _, bad := range []string{"", "x", "-1", "64MB", "64 mib", "1.5MiB", "99999999TiB", "MiB"} {
		if newSize(&n, 0).Set(bad) == nil {
			t.Errorf("size %q was taken as %v", bad, n)
		}
	}
}
