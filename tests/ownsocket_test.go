package tests

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// recordPort listens at addresses where a server was and keeps what comes.
func recordPort(t *testing.T, addresses ...string) *output {
	t.Helper()
	got := &output{}
	for _, address := range addresses {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(got, "a connection: ")
				go func() {
					defer c.Close()
					_, _ = io.Copy(got, c)
				}()
			}
		}()
	}
	return got
}

// verbArguments are what each verb that talks to a server is called with; attach needs a terminal.
var verbArguments = []string{
	"commands", "commands x", "exec true", "kill x", "lease ls", "lease pause x", "lease resume x", "lease rm x",
	"logout --all", "logs x", "logs x --follow", "ls", "new -d -- cat", "record x", "restart x", "send x y",
	"shells", "top", "snapshot x", "thread approvals x", "thread approve x y", "thread compact x --summary y",
	"thread deny x y", "thread export x", "thread ls", "thread new", "thread pause x",
	"thread permissions x", "thread policy x", "thread resume x", "thread rm x", "thread show x", "thread steer x y",
	"url", "share x", "share ls", "share rm x", "wait x", "doctor", "status", "stop", "backup -", "park x", "viewers x",
	"labels x", "rename x y",
	"resize x 80x24", "__complete attach ", "__complete ls --session ",
}

// talkingVerbs are the verbs that --help says may be told a server.
func talkingVerbs(t *testing.T, path ...string) (list []string) {
	t.Helper()
	help := run(t, call(t, nil, append(path, "--help")...)).stdout
	_, commands, nested := strings.Cut(help, " [command]\n")
	if !nested {
		if strings.Contains(help, "--server") {
			list = append(list, strings.Join(path, " "))
		}
		return list
	}
	commands, _, _ = strings.Cut(commands, "\nFlags:\n")
	for group := range strings.SplitSeq(strings.TrimSpace(commands), "\n\n") {
		title, lines, _ := strings.Cut(group, "\n")
		if title == "Examples:" {
			continue
		}
		for line := range strings.Lines(lines) {
			if verb := strings.Fields(line)[0]; verb != "completion" && verb != "help" {
				list = append(list, talkingVerbs(t, append(slices.Clone(path), verb)...)...)
			}
		}
	}
	return list
}

func TestEveryTalkingVerbIsTried(t *testing.T) {
	t.Parallel()
	verbs := talkingVerbs(t)
	if len(verbs) < 20 {
		t.Errorf("there are %q", verbs)
	}
	for _, verb := range verbs {
		if verb == "attach" || verb == "thread import" { // one runs in a terminal, the other reads a file first
			continue
		}
		tries := func(args string) bool { return strings.HasPrefix(args+" ", verb+" ") }
		if !slices.ContainsFunc(verbArguments, tries) {
			t.Errorf("%s is not tried by TestNothingGoesToATakenPort", verb)
		}
	}
}

// verbTime is how long a verb may go on that waits for its server.
const verbTime = 2 * time.Second

// TestNothingGoesToATakenPort: security rows D1, D3. After kill -9 of a server somebody else has its port. No verb
// sends anything there, nor does an attach that was running and comes back with the next server.
func TestNothingGoesToATakenPort(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			_, port, _ := net.SplitHostPort(freePort(t))
			s, outer := start(t, launch{auth: "token", listen: host + ":" + port}), start(t, launch{})
			id := s.create("cat").ID
			me := outer.createWith(wire.CreateTerminal{Cmd: []string{binary, "attach", "--nested", id},
				Env: map[string]string{"EVERTTY_DATA_DIR": s.how.dir}}).ID
			s.input(id, "shown\r")
			outer.await(me, "^shown$")
			s.kill()
			addresses := []string{"127.0.0.1:" + port}
			if host == "localhost" && hasIPv6() {
				addresses = append(addresses, "[::1]:"+port)
			}
			got := recordPort(t, addresses...)
			for _, args := range verbArguments {
				s.tryVerb(args)
				s.tryVerb(args, "EVERTTY_SERVER=http://"+host+":"+port)
			}
			s.how.listen = "127.0.0.1:0"
			s.launch()
			s.input(id, "again\r")
			outer.await(me, "^again$")
			s.kill()
			run(t, s.cli("kill", "--all")) // ends what the keeper holds
			if said := got.String(); said != "" {
				t.Errorf("somebody else got %q", said)
			}
		})
	}
}

// tryVerb calls a verb without a server, and ends it when it waits for one.
func (s *server) tryVerb(args string, env ...string) {
	s.t.Helper()
	words := strings.Split(args, " ")
	if words[0] != "__complete" && words[0] != "doctor" {
		at := 1
		if words[0] == "thread" || words[0] == "lease" {
			at = 2
		}
		words = slices.Insert(words, at, "--no-start")
	}
	ctx, cancel := context.WithTimeout(s.ctx(), verbTime)
	defer cancel()
	c := exec.CommandContext(ctx, quick, words...)
	c.Env = append(append(cleanEnv(s.t), "EVERTTY_DATA_DIR="+s.how.dir), env...)
	out, err := c.CombinedOutput()
	if strings.HasPrefix(args, "__complete") || words[0] == "doctor" || words[0] == "backup" && len(env) == 0 {
		return // backup reads the directory itself where no server is
	}
	if code := c.ProcessState.ExitCode(); err == nil || code != 3 && ctx.Err() == nil {
		s.t.Errorf("evertty %s: %v %s", args, err, out)
	}
}

func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	if err == nil {
		_ = l.Close()
	}
	return err == nil
}

// place is what server.json says.
func (s *server) place() (p client.Place) {
	s.t.Helper()
	b, err := os.ReadFile(s.file("server.json"))
	s.must(err)
	s.must(json.Unmarshal(b, &p))
	return p
}

// TestLocalhostIsAllOfIt: security row D4. A server of localhost has both loopback addresses, tells of an address
// and not of the name, and answers for the name.
func TestLocalhostIsAllOfIt(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token", listen: "localhost:0"})
	if want := "http://127.0.0.1:" + s.port(); s.url != want || s.place().URL != want {
		t.Errorf("it is at %s and says %+v, want %s", s.url, s.place(), want)
	}
	hosts := []string{"127.0.0.1"}
	if hasIPv6() {
		hosts = append(hosts, "[::1]")
	}
	for _, host := range hosts {
		for _, name := range []string{host, "localhost"} {
			r, err := http.NewRequestWithContext(s.ctx(), http.MethodGet, "http://"+host+":"+s.port()+"/version", nil)
			s.must(err)
			r.Host = name + ":" + s.port()
			r.Header.Set("Authorization", "Bearer "+s.token())
			resp, err := http.DefaultClient.Do(r)
			s.must(err)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("at %s as %s: %s", host, name, resp.Status)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "data")
	for _, host := range hosts { // one of the two is enough for a refusal
		l, err := net.Listen("tcp", host+":0")
		s.must(err)
		_, port, _ := net.SplitHostPort(l.Addr().String())
		run(t, call(t, nil, "serve", "--listen", "localhost:"+port, "--data-dir", dir)).refuses(t, 1,
			l.Addr().String(), "another program")
		_ = l.Close()
	}
}

// withHosts is a shell's beginning that gives the program another /etc/hosts, or "" where that is not allowed.
func withHosts(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("unshare", "-m", "mount", "--bind", file, "/etc/hosts").Run(); err != nil {
		t.Skip("may not mount another /etc/hosts:", err)
	}
	return `exec unshare -m sh -c 'mount --bind ` + file + ` /etc/hosts && exec "$0" "$@"' "$0" "$@"`
}

// TestEveryAddressOfAName: security rows D4, D5. A server listens on all, on one port, and answers for each and for
// the name.
func TestEveryAddressOfAName(t *testing.T) {
	t.Parallel()
	shell := withHosts(t, "127.0.0.7 many.test\n127.0.0.8 many.test\n127.0.0.7 many.test\n192.0.2.1 far.test\n"+
		"127.0.0.9 far.test\n")
	s := start(t, launch{listen: "many.test:0", shell: shell, flags: []string{"--insecure"}})
	if !regexp.MustCompile(`^http://127\.0\.0\.[78]:\d+$`).MatchString(s.place().URL) {
		t.Errorf("server.json says %+v", s.place())
	}
	for _, address := range []string{"127.0.0.7", "127.0.0.8"} {
		for name, status := range map[string]int{address: 200, "many.test": 200, "other.test": 403} {
			at := "http://" + address + ":" + s.port() + "/version"
			r, err := http.NewRequestWithContext(s.ctx(), http.MethodGet, at, nil)
			s.must(err)
			r.Host = name + ":" + s.port()
			resp, err := http.DefaultClient.Do(r)
			s.must(err)
			_ = resp.Body.Close()
			if resp.StatusCode != status {
				t.Errorf("at %s as %s: %s", address, name, resp.Status)
			}
		}
	}
	for _, listen := range []string{"far.test:0", "absent.test:0"} {
		c := (&server{t: t, how: launch{shell: shell}}).command("serve", "--listen", listen, "--data-dir",
			filepath.Join(t.TempDir(), "data"))
		run(t, c).refuses(t, 2, strings.TrimSuffix(listen, ":0"))
	}
}

// TestTheSocketOfTheDirectory: security row D1. Every server has one, of any length; a client needs nothing else.
func TestTheSocketOfTheDirectory(t *testing.T) {
	t.Parallel()
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 25), "data")
	at := filepath.Join(t.TempDir(), "data")
	for name, how := range map[string]launch{
		"beside a port": {auth: "token"}, "with a long name": {auth: "token", dir: long},
		"beside another":      {auth: "token", listen: "unix://" + filepath.Join(t.TempDir(), "s")},
		"and no other":        {auth: "token", dir: at, listen: "unix://" + at + "/server.sock"},
		"in its own spelling": {auth: "token", dir: at + "2", listen: "unix://" + at + "2/../data2/server.sock"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, how)
			for range 2 { // after a kill its place is taken
				info, err := os.Lstat(s.file("server.sock"))
				s.must(err)
				if info.Mode().Type() != os.ModeSocket || info.Mode().Perm() != 0o600 {
					t.Errorf("it has mode %v", info.Mode())
				}
				if p := s.place(); p.TokenFile != s.file("token") || p.URL != s.url {
					t.Errorf("server.json says %+v", p)
				}
				s.says("ls")
				c, err := client.Discover(s.how.dir)
				s.must(err)
				_, err = c.List(s.ctx(), "")
				s.must(err)
				c.Close()
				s.kill()
				s.launch()
			}
			s.stop()
			if _, err := os.Lstat(s.file("server.sock")); !os.IsNotExist(err) {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

// TestAServerWithoutASocket: one of an older release, or of a directory that was swept, is not asked over TCP, and what
// to do is said.
func TestAServerWithoutASocket(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	s.must(os.Remove(s.file("server.sock")))
	run(t, s.cli("ls", "--no-start")).refuses(t, 3, s.file("server.sock"), "serve --takeover")
	run(t, s.cli("ls")).refuses(t, 3, s.file("server.sock"), "serve --takeover") // nor is another one started
}

// TestATokenFileElsewhere: a server.json that leads out of the directory is not followed.
func TestATokenFileElsewhere(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	apart := filepath.Join(t.TempDir(), "key")
	s.must(os.WriteFile(apart, []byte(strings.Repeat("k", 40)), 0o600))
	p := s.place()
	for _, name := range []string{apart, "../data/token", "..", "sub/token", "link"} {
		why := "is no file in the directory"
		if name == "link" {
			why = "path escapes"
			s.must(os.Symlink(apart, s.file("link")))
		}
		p.TokenFile = name
		b, err := json.Marshal(p)
		s.must(err)
		s.must(os.WriteFile(s.file("server.json"), b, 0o600))
		run(t, s.cli("ls")).refuses(t, 1, why)
	}
	p.TokenFile = "token"
	b, err := json.Marshal(p)
	s.must(err)
	s.must(os.WriteFile(s.file("server.json"), b, 0o600))
	s.says("ls")
}

// TestALoginTicketIsForATerminal: security row D19. Where the line of a server goes to a log, it has no secret, and
// the log says what to do.
func TestALoginTicketIsForATerminal(t *testing.T) {
	t.Parallel()
	outer := start(t, launch{})
	dir := filepath.Join(t.TempDir(), "data")
	id := outer.createWith(wire.CreateTerminal{Cmd: []string{binary, "serve", "--listen", "127.0.0.1:0", "--data-dir",
		dir, "--keeper-idle", "1s"}, Cols: new(200), Rows: new(24)}).ID
	text := outer.await(id, `^listening on http://127\.0\.0\.1:\d+/\?ticket=[\w-]{22,}$`)
	_, link, _ := strings.Cut(text, "listening on ")
	stay := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := stay.Get(strings.TrimSpace(link))
	outer.must(err)
	_ = r.Body.Close()
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Set-Cookie") == "" {
		t.Errorf("the printed link: %s %v", r.Status, r.Header)
	}
	outer.must(outer.Signal(outer.ctx(), id, "TERM"))
	outer.exit(id)

	s := start(t, launch{auth: "token"})
	eventually(t, "the log says what to do", func() bool {
		return strings.Contains(s.stderr.String(), "evertty url logs a browser in")
	})
	none := start(t, launch{})
	s.stop() // all is said
	none.stop()
	if s.printed != s.url || strings.Contains(s.stdout.String()+s.stderr.String(), "ticket=") {
		t.Errorf("it printed %q and said %s", s.stdout, s.stderr)
	}
	if none.printed != none.url || strings.Contains(none.stderr.String(), "evertty url") {
		t.Errorf("without credentials it printed %q and said %s", none.stdout, none.stderr)
	}
}

// TestSettingFilesOfOthers: what another user could write says nothing to a server.
func TestSettingFilesOfOthers(t *testing.T) {
	t.Parallel()
	for flag, name := range map[string]string{"--config": "c.toml", "--permission-rules": "rules.json",
		"--webhook-secret-file": "secret", "--providers": "providers/docker.json", "": "data/providers/docker.json"} {
		for _, mode := range map[string]struct {
			dir, file os.FileMode
			says      string
		}{"the file": {0o700, 0o602, "mode 0602"}, "the directory": {0o707, 0o600, "mode 0707"}} {
			top := t.TempDir()
			file := filepath.Join(top, name)
			args := []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(top, "data")}
			switch flag {
			case "":
			case "--providers":
				args = append(args, flag, filepath.Dir(file))
			default:
				args = append(args, flag, file)
			}
			for _, err := range []error{os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600),
				os.Chmod(file, mode.file), os.Chmod(filepath.Dir(file), mode.dir)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			run(t, call(t, nil, args...)).refuses(t, 2, "another user could change it", mode.says, "others can write")
		}
	}
}

// TestADirectoryThatOthersCouldReplace: security row D7. One below a directory that everybody may write to is of no
// use to anybody.
func TestADirectoryThatOthersCouldReplace(t *testing.T) {
	t.Parallel()
	top := filepath.Join(t.TempDir(), "open")
	dir := filepath.Join(top, "data")
	s := start(t, launch{auth: "token", dir: dir})
	s.must(os.Chmod(top, 0o777))
	for _, args := range verbArguments {
		if strings.HasPrefix(args, "__complete") {
			continue
		}
		run(t, s.cli(strings.Fields(args)...)).refuses(t, 2, top, "mode 0777", "chmod go-w "+top)
	}
	run(t, s.cli("serve", "--listen", "127.0.0.1:0")).refuses(t, 2, top, "mode 0777")
	if _, err := client.Discover(dir); err == nil || !strings.Contains(err.Error(), top) {
		t.Errorf("the Go client: %v", err)
	}
	s.must(os.Chmod(top, 0o777|os.ModeSticky))
	s.says("ls")
	s.must(os.Chmod(top, 0o700))
}
