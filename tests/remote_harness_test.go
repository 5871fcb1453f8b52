package tests

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/evertty/evertty/tests/fakeprov"
)

// site is a server whose threads can run at one kind of place.
type site struct {
	*server
	name string           // of the provider
	fake *fakeprov.Server // nil for one that is none
	pty  bool
	keep bool // a paused instance keeps its processes
}

// sites is every kind of place. What cannot be tried here skips and says why.
var sites = []struct {
	name string
	open func(t *testing.T) *site
}{
	{"local", func(t *testing.T) *site {
		return &site{server: start(t, launch{}), name: "local", pty: true, keep: true}
	}},
	{"ssh", sshSite},
	{"e2b", func(t *testing.T) *site { return fakeSite(t, "e2b", launch{}) }},
	{"daytona", func(t *testing.T) *site { return fakeSite(t, "daytona", launch{}) }},
	{"agentbay", func(t *testing.T) *site { return fakeSite(t, "agentbay", launch{}) }},
	{"e2b-real", realSite("e2b", "E2B_API_KEY")},
	{"daytona-real", realSite("daytona", "DAYTONA_API_KEY")},
	{"agentbay-real", realSite("agentbay", "AGENTBAY_API_KEY")},
}

// everywhere runs a test at all sites, side by side: most of it is waiting.
func everywhere(t *testing.T, do func(t *testing.T, at *site)) {
	for _, one := range sites {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			do(t, one.open(t))
		})
	}
}

// fakeSite is a server that knows one of the three services, served here.
func fakeSite(t *testing.T, name string, how launch) *site {
	t.Helper()
	dir := t.TempDir()
	fake, err := fakeprov.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fake.Close(); err != nil {
			t.Error(err)
		}
	})
	sections := map[string]body{
		"e2b": {"api_key": fakeprov.Key, "api_url": fake.E2BURL(), "sandbox_url": fake.E2BSandboxURL(),
			"cwd": dir},
		"daytona":  {"api_key": fakeprov.Key, "api_url": fake.DaytonaURL(), "cwd": dir},
		"agentbay": {"api_key": fakeprov.Key, "endpoint": fake.AgentBayURL(), "cwd": dir},
	}
	s := start(t, withProvider(t, how, name, sections[name]))
	return &site{server: s, name: name, fake: fake, pty: name != "agentbay", keep: name == "e2b"}
}

// withProvider is a server with a file of settings.
func withProvider(t *testing.T, how launch, name string, section body) launch {
	t.Helper()
	if how.dir == "" {
		how.dir = filepath.Join(t.TempDir(), "data")
	}
	place(t, filepath.Join(how.dir, "providers", name+".json"), asJSON(body{"provider": name, name: section}))
	return how
}

// place writes a file with its directories.
func place(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// realSite is the service itself, with the settings of the environment.
func realSite(name, key string) func(*testing.T) *site {
	return func(t *testing.T) *site {
		if os.Getenv(key) == "" {
			t.Skip(key + " is not set")
		}
		var env []string
		for _, pair := range os.Environ() {
			if strings.HasPrefix(pair, strings.ToUpper(name)+"_") {
				env = append(env, pair)
			}
		}
		return &site{server: start(t, launch{env: env}), name: name, pty: name != "agentbay", keep: name == "e2b"}
	}
}

// sshSite is a server that knows a machine with a real OpenSSH server: this one.
func sshSite(t *testing.T) *site {
	t.Helper()
	program := os.Getenv("SSHD")
	for _, p := range []string{"/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if _, err := os.Stat(p); program == "" && err == nil {
			program = p
		}
	}
	if program == "" {
		t.Skip("no OpenSSH server (sshd): scripts/sshd.sh installs it")
	}
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	address := freePort(t)
	dir := t.TempDir()
	host := newKey(t, dir+"/host")
	place(t, dir+"/authorized", string(ssh.MarshalAuthorizedKey(newKey(t, dir+"/user"))))
	place(t, dir+"/known", knownhosts.Line([]string{address}, host)+"\n")
	_, port, _ := net.SplitHostPort(address)
	place(t, dir+"/config", fmt.Sprintf("ListenAddress 127.0.0.1:%s\nHostKey %[2]s/host\nAuthorizedKeysFile "+
		"%[2]s/authorized\nPidFile none\nUsePAM no\n"+
		"StrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication "+
		"no\nPrintMotd no\nPrintLastLog no\n"+
		"Subsystem sftp internal-sftp\nMaxStartups 100\nSetEnv HOME=%[2]s\n", port, dir))
	// Not the user's own home: bash would read its .bashrc for every command.
	daemon := exec.Command(program, "-D", "-e", "-f", dir+"/config")
	said := &output{}
	daemon.Stderr = said
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	})
	eventually(t, "sshd answers", func() bool {
		c, err := net.DialTimeout("tcp", address, patience)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	home := t.TempDir()
	s := start(t, withProvider(t, launch{}, "ssh",
		body{"hosts": []string{u.Username + "@" + address}, "known_hosts": []string{dir + "/known"},
			"keys": []string{dir + "/user"}, "dir": home}))
	return &site{server: s, name: "ssh", pty: true, keep: true}
}

func newKey(t *testing.T, path string) ssh.PublicKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	place(t, path, string(pem.EncodeToMemory(block)))
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// rent makes a thread that runs at the site; it is deleted at the end of the test.
func (at *site) rent(id string, more body) *owner {
	at.t.Helper()
	b := body{"id": id, "sandbox": at.name}
	maps.Copy(b, more)
	at.post("/api/threads", asJSON(b)).wants(201)
	at.t.Cleanup(func() {
		if at.running() {
			at.call("DELETE", "/api/threads/"+id, "").wants(200)
		}
	})
	return &owner{at.in(id), "/api/threads/" + id}
}
