package catalog_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/catalog"
)

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestSettings(t *testing.T) {
	s, err := catalog.ParseSettings([]byte(`{"provider":"e2b","on_exit":"destroy",
		"init_commands":["echo $$HOME","git clone ${REPO}"],
		"e2b":{"api_key":"${MY_KEY}","template":"base","timeout":600}}`), env("REPO", "https://x", "MY_KEY", "k"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Provider != "e2b" || s.OnExit != catalog.OnExitDestroy ||
		!slices.Equal(s.InitCommands, []string{"echo $HOME", "git clone https://x"}) {
		t.Errorf("%+v", s)
	}
	p, err := s.Open()
	if err != nil || p.Name() != "e2b" {
		t.Fatal(p, err)
	}
	s, err = catalog.ParseSettings([]byte(`{"provider":"daytona"}`), env("DAYTONA_API_KEY", "k"))
	if err != nil || s.OnExit != catalog.OnExitPause || len(s.InitCommands) != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	if p, err = s.Open(); err != nil || p.Name() != "daytona" {
		t.Error(p, err)
	}
}

// TestSettingsOrder: the file's key wins over the environment's; an address tells which was taken.
func TestSettingsOrder(t *testing.T) {
	for file, want := range map[string]string{
		`{"provider":"agentbay","agentbay":{"api_key":"k"}}`:                               "",
		`{"provider":"agentbay","agentbay":{"api_key":"k","endpoint":"http://10.0.0.1"}}`:  "10.0.0.1",
		`{"provider":"agentbay","agentbay":{"api_key":"k","endpoint":"http://127.0.0.1"}}`: "",
	} {
		lookup := env("AGENTBAY_ENDPOINT", "http://192.0.2.7")
		s, err := catalog.ParseSettings([]byte(file), lookup)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Open()
		switch {
		case strings.Contains(file, "127.0.0.1"):
			if err != nil {
				t.Errorf("the file's address: %v", err)
			}
		case want == "":
			if err == nil || !strings.Contains(err.Error(), "192.0.2.7") {
				t.Errorf("the variable's address: %v", err)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	for file, says := range map[string]string{
		``:                                       "no JSON",
		`[]`:                                     "no JSON object",
		`{"provider":"e2b"`:                      "no JSON",
		`{}`:                                     `"" is no provider`,
		`{"provider":"aws"}`:                     `"aws" is no provider; there are agentbay`,
		`{"provider":"e2b","onexit":"pause"}`:    `nobody knows the key "onexit"`,
		`{"provider":"e2b","daytona":{}}`:        `nobody knows the key "daytona"`,
		`{"provider":"e2b","on_exit":"stop"}`:    `on_exit is "stop", but may be pause or destroy`,
		`{"provider":"e2b","init_commands":"x"}`: "init_commands",
		`{"provider":7}`:                         "provider",
		`{"provider":"e2b"} {}`:                  "no JSON object",
		`{"provider":"e2b","e2b":{"api_key":"${NOT_SET}"}}`:     "e2b.api_key: ${NOT_SET} is not set",
		`{"provider":"e2b","init_commands":["a","${NOT_SET}"]}`: "init_commands[1]: ${NOT_SET} is not set",
	} {
		_, err := catalog.ParseSettings([]byte(file), env())
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; want %q", file, err, says)
		}
	}
	for file, says := range map[string]string{
		`{"provider":"e2b"}`: "set E2B_API_KEY",
		`{"provider":"e2b","e2b":{"apikey":"very-secret"}}`: `nobody knows the key ` +
			`"apikey"; there are api_key, domain`,
		`{"provider":"e2b","e2b":{"api_key":"very-secret","timeout":"5"}}`:               "timeout",
		`{"provider":"e2b","e2b":{"api_key":"very-secret","timeout":-5}}`:                "negative",
		`{"provider":"e2b","e2b":{"api_key":["very-secret"]}}`:                           "api_key",
		`{"provider":"e2b","e2b":{"api_key":"very-secret","api_url":"http://a.b"}}`:      "must begin with https://",
		`{"provider":"daytona","daytona":{"api_key":"very-secret","api_url":"ftp://a"}}`: "must be an address",
	} {
		s, err := catalog.ParseSettings([]byte(file), env())
		if err != nil {
			t.Fatal(file, err)
		}
		_, err = s.Open()
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "very-secret") {
			t.Errorf("%s: %v; want %q", file, err, says)
		}
	}
}

func TestReadSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "e2b.json")
	if _, err := catalog.ReadSettings(file); err == nil {
		t.Error("a file that is not there was read")
	}
	t.Setenv("OF_THE_TEST", "value")
	if err := os.WriteFile(file, []byte(`{"provider":"e2b","init_commands":["${OF_THE_TEST}"],"oops":1}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.ReadSettings(file); err == nil || !strings.Contains(err.Error(), file) ||
		!strings.Contains(err.Error(), "oops") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(file, []byte(`{"provider":"e2b","init_commands":["${OF_THE_TEST}"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := catalog.ReadSettings(file); err != nil || !slices.Equal(s.InitCommands, []string{"value"}) {
		t.Errorf("%+v %v", s, err)
	}
	if err := os.WriteFile(file, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.ReadSettings(file); err == nil {
		t.Error("a file of 2 MiB was read")
	}
}

func FuzzParseSettings(f *testing.F) {
	f.Add([]byte(`{"provider":"e2b","on_exit":"pause","init_commands":["${A}$$"],"e2b":{"api_key":"${A}"}}`))
	f.Add([]byte(`{"provider":"daytona","daytona":{"auto_stop":5}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := catalog.ParseSettings(data, env("A", "value"))
		if err != nil {
			return
		}
		if !slices.Contains(catalog.Types(), s.Provider) || s.OnExit != catalog.OnExitPause &&
			s.OnExit != catalog.OnExitDestroy {
			t.Fatalf("%+v", s)
		}
		if p, err := s.Open(); err == nil && p.Name() != s.Provider {
			t.Fatal(p.Name())
		}
	})
}

// TestEveryNameOpens: every service is there, and does not open without a key.
func TestEveryNameOpens(t *testing.T) {
	for _, name := range []string{"agentbay", "daytona", "e2b"} {
		_, err := fromEnv(t, name, func(string) (string, bool) { return "", false })
		if err == nil {
			t.Errorf("%s opened without a key", name)
		}
		p, err := fromEnv(t, name, func(string) (string, bool) { return "https://value.example", true })
		if err != nil || p.Name() != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fromEnv opens a provider whose file names it and nothing else.
func fromEnv(t *testing.T, name string, lookup func(string) (string, bool)) (provider.Provider, error) {
	t.Helper()
	s, err := catalog.ParseSettings([]byte(`{"provider":"`+name+`"}`), lookup)
	if err != nil {
		t.Fatal(err)
	}
	return s.Open()
}
