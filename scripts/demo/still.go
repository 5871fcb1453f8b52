package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// still is a picture that does not move: the end of its steps. It has no times, random names or secrets, so that it is
// the same each time.
type still struct {
	title      string
	cols, rows int
	terminals  []string // that are there before, as arguments of new
	steps      []step
	server     string // URL of the server that the command line talks to; "" is its own
	link       string // what that server gives for a link; "" is no such server
}

// settle is how long a program may go on to draw after the text that a step waits for.
const settle = 500 * time.Millisecond

// An id must not match the filter of the picker: short words do by chance.
var stills = map[string]still{
	"picker": {
		title: "evertty shows the terminals to choose from; typed text is the filter.", cols: 80, rows: 9,
		terminals: []string{
			"--session app --name build -- bash --norc", "--session app --name logs -- tail -f app.log",
			"--session app --name database -- cat", "--name notes -- bash --norc", "--name deploy -- bash --norc"},
		steps: []step{{"evertty", "5 of 5", settle}, {"\x7fbash", "3 of 5", settle}},
	},
	"link": {
		title: "evertty url prints a link that works once, and a QR code of it.", cols: 76, rows: 25,
		steps: []step{{"evertty url", prompt, settle}},
		link:  "https://term.example.com/?ticket=AN-EXAMPLE-THAT-OPENS-NOTHING",
	},
}

// draw plays the steps and draws the screen behind them.
func (s still) draw(binary, dir string) ([]byte, error) {
	if err := os.WriteFile(filepath.Join(dir, "app.log"), nil, 0o600); err != nil {
		return nil, err
	}
	for _, one := range s.terminals {
		c := exec.Command(binary, append([]string{"new", "-d"}, strings.Fields(one)...)...)
		c.Dir, c.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		if out, err := c.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("new %s: %w: %s", one, err, out)
		}
	}
	if s.link != "" {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"ticket":"","expires_at":"2026-01-01T00:00:00Z","url":"`+s.link+`"}`)
		}))
		defer server.Close()
		s.server = server.URL
	}
	recorded, err := record(binary, dir, s)
	if err != nil {
		return nil, err
	}
	var output bytes.Buffer
	for _, c := range recorded {
		output.Write(c.data)
	}
	screen, err := render(binary, output.Bytes(), s.cols, s.rows)
	if err != nil {
		return nil, err
	}
	var rows strings.Builder
	for y := range s.rows {
		if row := screen.row(y); row != "" {
			rows.WriteString("\n" + row)
		}
	}
	return window(s.cols, s.rows, s.title, "", rows.String()+screen.cursor()), nil
}
