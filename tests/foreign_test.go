package tests

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/tests/polling"
)

// The real clients of other products: packages of npm below tests/clients, and the page of a ttyd. See
// docs/guide/foreign-clients.md.

// clients is the folder of the packages. Without them their tests are skipped.
func clients(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("clients")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".installed")); err != nil {
		t.Skip("the packages of foreign clients are not installed: make clients (it needs npm)")
	}
	return dir
}

// pages are those of clients that have none of their own; ID and TICKET are replaced.
var pages = map[string]string{
	"attach": `<!doctype html><link rel=stylesheet href=/node_modules/@xterm/xterm/css/xterm.css><div id=t></div>
<script src=/node_modules/@xterm/xterm/lib/xterm.js></script>
<script src=/node_modules/@xterm/addon-attach/lib/addon-attach.js></script><script>
window.term = new Terminal({ cols: 100, rows: 30 });
term.open(document.getElementById("t"));
window.connect = () => {
  window.ended = 0;
  const s = window.socket = new WebSocket("ws://" + location.host + "/compat/attach/ID?cols=" + term.cols + "&rows=" + term.rows +
    "&name=page&ticket=TICKET");
  s.onopen = () => term.loadAddon(new AttachAddon.AttachAddon(s));
  s.onclose = (e) => { window.ended = e.code };
};
connect();
</script>`,
	"asciinema": `<!doctype html><link rel=stylesheet href=/node_modules/asciinema-player/dist/bundle/asciinema-player.css>
<div id=p style="width:900px"></div>
<script src=/node_modules/asciinema-player/dist/bundle/asciinema-player.min.js></script><script>
AsciinemaPlayer.create({ driver: "websocket",
  url: "ws://" + location.host + "/compat/asciinema/ID?name=page&ticket=TICKET" },
  document.getElementById("p"), { autoPlay: true });
</script>`,
}

// xtermText is what an xterm.js in window.term shows, without trailing blanks.
const xtermText = `(window.term ? Array.from({ length: term.rows }, (_, y) =>
	term.buffer.active.getLine(term.buffer.active.baseY + y).translateToString(true).trimEnd()).join("\n").trimEnd() : "")`

// playerText is what an asciinema-player shows.
const playerText = `[...document.querySelectorAll(".ap-line")].map((l) => l.textContent.trimEnd()).join("\n").trimEnd()`

// facing is a server behind a front that has the pages of clients too, and a terminal with a shell.
type facing struct {
	*server
	id    string
	front string // its URL
}

// face starts the server and its front, which passes everything but pages on as it is.
func face(t *testing.T, ttyd []byte) *facing {
	t.Helper()
	dir := clients(t)
	f := &facing{server: start(t, launch{auth: "token", flags: []string{"--snapshot-interval", "200ms"}})}
	f.id = f.create("bash", "--norc").ID
	f.await(f.id, `[$#] ?$`)
	f.input(f.id, "PS1='> '; clear; echo ready\n")
	f.await(f.id, `^ready$`)
	to, err := url.Parse(f.url)
	f.must(err)
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }}
	mux := http.NewServeMux()
	mux.Handle("/node_modules/", http.FileServer(http.Dir(dir)))
	mux.HandleFunc("/page/", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.NewReplacer("ID", f.id, "TICKET", r.URL.Query().Get("ticket")).
			Replace(pages[strings.TrimPrefix(r.URL.Path, "/page/")]))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/compat/ttyd/"+f.id+"/" {
			_, _ = w.Write(ttyd)
			return
		}
		pass.ServeHTTP(w, r)
	})
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	f.front = front.URL
	return f
}

// ticket lets clients in that often.
func (f *facing) ticket() string {
	f.t.Helper()
	var made struct{ Ticket string }
	f.post("/tickets", fmt.Sprintf(`{"pty":%q,"role":"write","ttl_s":600,"uses":100}`, f.id)).wants(201).into(&made)
	return made.Ticket
}

// screenText is what the server shows, without trailing blanks.
func (f *facing) screenText() string {
	f.t.Helper()
	shot, err := f.Snapshot(f.ctx(), f.id, client.Text, 0)
	f.must(err)
	lines := strings.Split(shot.Text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// same waits until a page shows the same as the server, and that has the text.
func (f *facing) same(b *tab, expression, text string) {
	f.t.Helper()
	b.sees("the screen with "+text, expression, func(s string) bool {
		return strings.Contains(s, text) && s == f.screenText()
	})
}

// viewers are how many watch.
func (f *facing) viewers() int {
	f.t.Helper()
	return f.info(f.id).Viewers
}

// kick sends the only viewer away.
func (f *facing) kick() {
	f.t.Helper()
	var list struct {
		Viewers []struct{ ID, Client, Name string }
	}
	f.get("/pty/" + f.id + "/viewers").wants(200).into(&list)
	if len(list.Viewers) != 1 || list.Viewers[0].Client != "compat" || list.Viewers[0].Name != "page" {
		f.t.Fatalf("the viewers are %+v", list.Viewers)
	}
	f.post("/pty/"+f.id+"/viewers/"+list.Viewers[0].ID+"/kick", "").wants(200)
}

// longOutput is a command that prints more than any buffer on the way keeps, and then a word.
const longOutput = `yes '0123456789 0123456789 0123456789' | head -c 4000000; echo the'' end` + "\n"

// busy keeps a page from reading for two seconds.
const busy = `((began) => { while (Date.now() - began < 2000); return "" })(Date.now())`

// TestAttachAddon: @xterm/addon-attach in a browser.
func TestAttachAddon(t *testing.T) {
	t.Parallel()
	f := face(t, nil)
	b := browse(t, 1200, 700)
	b.run(chromedp.Navigate(f.front + "/page/attach?ticket=" + f.ticket()))
	f.same(b, xtermText, "ready")
	if i := f.info(f.id); i.Cols != 100 || i.Rows != 30 {
		t.Errorf("the terminal is %dx%d", i.Cols, i.Rows)
	}
	b.keys("echo é $((40+2))" + enter)
	f.same(b, xtermText, "\né 42")
	// The server answers the query, once; xterm.js does not see it.
	b.keys(`printf 'a\033[6n'; read -rsd R x; read -rst 1 y; echo one=${#x} two=${#y}` + enter)
	f.same(b, xtermText, "two=0")

	f.input(f.id, longOutput)
	b.eval(busy)
	f.same(b, xtermText, "the end")

	b.eval(`(term.resize(60, 20), socket.close(), connect(), "")`) // the protocol has no other way
	b.sees("that it is connected", `socket.readyState`, func(s string) bool { return s == "1" })
	b.keys("echo resized" + enter)
	f.same(b, xtermText, "\nresized")
	if i := f.info(f.id); i.Cols != 60 || i.Rows != 20 {
		t.Errorf("the terminal is %dx%d", i.Cols, i.Rows)
	}
	f.post("/pty/"+f.id+"/resize", `{"cols":50,"rows":20}`).wants(200) // by somebody else: it has the screen again
	b.eval(`(term.resize(50, 20), "")`)
	f.same(b, xtermText, "\nresized")

	f.kill()
	b.sees("that the connection is lost", `window.ended`, func(s string) bool { return s == "1006" })
	f.again()
	b.eval(`(connect(), "")`)
	b.sees("that it is connected", `socket.readyState`, func(s string) bool { return s == "1" })
	b.keys("echo again" + enter)
	f.same(b, xtermText, "\nagain")
	b.shoot()

	f.kick()
	b.sees("that it was kicked", `window.ended`, func(s string) bool { return s == "4403" })
	b.eval(`(connect(), "")`)
	b.sees("that its ticket has ended", `window.ended`, func(s string) bool { return s == "1006" })
	b.run(chromedp.Navigate(f.front + "/page/attach?ticket=" + f.ticket()))
	f.same(b, xtermText, "again")
	b.keys("exit 3" + enter)
	b.sees("the end", `window.ended`, func(s string) bool { return s == "1000" })
}

// ttydPage is the page of the ttyd that EVERTTY_TEST_TTYD names, or of one on PATH.
func ttydPage(t *testing.T) []byte {
	t.Helper()
	name := os.Getenv("EVERTTY_TEST_TTYD")
	if name == "" {
		name = "ttyd"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip("there is no ttyd, whose page this test needs: install one, or set EVERTTY_TEST_TTYD to its path")
	}
	socket := filepath.Join(t.TempDir(), "ttyd.sock")
	c := exec.Command(path, "-i", socket, "true")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	h := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	var page []byte
	if !polling.Until(patience, func() bool {
		reply, err := h.Get("http://ttyd/")
		if err != nil {
			return false
		}
		defer reply.Body.Close()
		page, err = io.ReadAll(reply.Body)
		return err == nil
	}) {
		t.Fatal("ttyd has no page")
	}
	return page
}

// TestTTYDPage: the page of ttyd in a browser.
func TestTTYDPage(t *testing.T) {
	t.Parallel()
	f := face(t, ttydPage(t))
	b := browse(t, 1200, 700)
	open := func() {
		b.run(chromedp.Navigate(f.front + "/compat/ttyd/" + f.id + "/?name=page&rendererType=dom&ticket=" + f.ticket()))
	}
	open()
	f.same(b, xtermText, "ready")
	b.keys("echo é $((40+2))" + enter)
	f.same(b, xtermText, "\né 42")
	b.keys(`printf '\033]2;a title\007'` + enter)
	b.sees("the title", `document.title`, func(s string) bool { return strings.Contains(s, "a title") })

	was := f.info(f.id)
	b.run(chromedp.EmulateViewport(800, 500))
	eventually(t, "the window's size", func() bool { i := f.info(f.id); return i.Cols < was.Cols && i.Rows < was.Rows })
	b.keys("echo resized" + enter)
	f.same(b, xtermText, "\nresized")

	f.input(f.id, longOutput)
	b.eval(busy)
	f.same(b, xtermText, "the end")

	gone := func() {
		b.sees("that Enter connects again", `document.body.innerText`, func(s string) bool {
			return strings.Contains(s, "Press ⏎ to Reconnect")
		})
	}
	f.kill()
	gone()
	f.again()
	b.keys(enter)
	f.input(f.id, "echo back\n")
	f.same(b, xtermText, "\nback")
	b.keys("echo again" + enter)
	f.same(b, xtermText, "\nagain")
	b.shoot()

	f.kick()
	gone()
	if n := f.viewers(); n != 0 {
		t.Errorf("%d viewers behind the kick", n)
	}
	open()
	f.same(b, xtermText, "again")
	b.keys("exit 3" + enter)
	gone()
}

// TestAsciinemaPlayer: asciinema-player in a browser, live.
func TestAsciinemaPlayer(t *testing.T) {
	t.Parallel()
	f := face(t, nil)
	b := browse(t, 1200, 900)
	open := func() { b.run(chromedp.Navigate(f.front + "/page/asciinema?ticket=" + f.ticket())) }
	open()
	f.same(b, playerText, "ready")
	f.input(f.id, "printf '\\033[1;31mé\\033[m %s\\n' $((40+2))\n")
	f.same(b, playerText, "\né 42")
	f.post("/pty/"+f.id+"/resize", `{"cols":60,"rows":15}`).wants(200)
	f.input(f.id, "echo resized\n")
	f.same(b, playerText, "\nresized")

	f.input(f.id, longOutput)
	b.eval(busy)
	f.same(b, playerText, "the end")

	f.kill()
	f.again()
	f.input(f.id, "echo again\n")
	f.same(b, playerText, "\nagain") // it comes back by itself
	b.shoot()

	f.kick()
	b.sees("the end", `document.body.innerText`, func(s string) bool {
		return strings.Contains(strings.ToLower(s), "you were removed") // its style has capitals
	})
	open()
	f.same(b, playerText, "again")
	f.input(f.id, "echo last; exit 3\n")
	b.sees("the last output", playerText, func(s string) bool { return strings.Contains(s, "\nlast\nexit") })
	b.shoot()
}

// TestNodeClients: JupyterLab's terminal and a client of Kubernetes, each with a scenario of its own below
// tests/clients.
func TestNodeClients(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node, which these clients run in")
	}
	dir := clients(t)
	all := []string{"typing", "resize", "slow reader", "reconnect", "kick", "exit"}
	for _, c := range []struct {
		script []string
		more   string
	}{
		{[]string{"jupyter.mjs"}, "shutdown"},
		{[]string{"kubernetes.mjs"}, ""},
		{[]string{"kubernetes.mjs", "v4.channel.k8s.io"}, ""},
	} {
		t.Run(strings.Join(c.script, " "), func(t *testing.T) {
			s := start(t, launch{auth: "token"})
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			run := exec.CommandContext(ctx, node, c.script...)
			run.Dir = dir
			run.Env = append(cleanEnv(t), "EVERTTY_URL="+s.url, "EVERTTY_TOKEN="+s.token())
			out, err := run.CombinedOutput()
			for _, part := range all {
				if !strings.Contains(string(out), "ok "+part+"\n") {
					t.Errorf("%s is missing", part)
				}
			}
			if err != nil || !strings.Contains(string(out), c.more) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
