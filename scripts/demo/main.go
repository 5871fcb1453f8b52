// Command demo makes docs/demo.svg, the moving picture of README.md, and pictures that stand still: it types into a
// real terminal what the picture shows, keeps what the terminal printed and draws it. Nothing in the picture is written
// by hand but the keys.
//
//	go run ./scripts/demo bin/evertty docs/demo.svg
//	go run ./scripts/demo bin/evertty docs/picker.svg picker
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/evertty/evertty/pty"
)

// Size of the terminal, in cells: wide enough for every line and low enough for a page of text.
const (
	cols = 76
	rows = 18
)

const (
	// keyGap is the pause between two keys, so that a reader can follow.
	keyGap = 45 * time.Millisecond
	// patience is how long one step may take on a busy machine.
	patience = 30 * time.Second
)

// program is what runs in the terminal of the picture: a long job that prints one line after the other.
const program = `for n in $(seq 1 99); do printf '\033[32m ok \033[0m package %02d/99\n' $n; sleep 0.6; done`

// step is one thing that a person does in the picture.
type step struct {
	keys string        // the typed text; Enter follows, unless it begins with a control
	wait string        // the text after which the step is done; "" only pauses
	rest time.Duration // time for the reader before the next step
}

// prompt is what readline prints before a prompt: the shell is ready for the next line.
const prompt = "\x1b[?2004h"

// promptLine sets the prompt in a shell's startup file.
const promptLine = `PS1="\[\e[1;34m\]$\[\e[0m\] "` + "\n"

var steps = []step{
	{"# one word: a server starts by itself, and a terminal opens", prompt, 300 * time.Millisecond},
	{"evertty", prompt, 900 * time.Millisecond},
	{"./job.sh", "package 03/99", 1200 * time.Millisecond},
	{"\x1c\x1c", prompt, 900 * time.Millisecond}, // Ctrl+\ twice
	{"kill -9 $(cat ~/.local/state/evertty/lock)", prompt, 1200 * time.Millisecond},
	{"# the server is gone, the job is not", prompt, 1200 * time.Millisecond},
	{"evertty", "Enter", 2000 * time.Millisecond}, // the list of terminals
	{"\r", "package", 4000 * time.Millisecond},
}

func main() {
	if len(os.Args) < 3 || len(os.Args) > 4 || len(os.Args) == 4 && stills[os.Args[3]].steps == nil {
		fmt.Fprintln(os.Stderr, "usage: demo EVERTTY OUT.svg [picker|link]")
		os.Exit(2)
	}
	name := ""
	if len(os.Args) == 4 {
		name = os.Args[3]
	}
	if err := run(os.Args[1], os.Args[2], name); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run makes the still picture of a name, "" is the moving one.
func run(binary, out, name string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var picture []byte
	if name != "" {
		picture, err = stills[name].draw(binary, dir)
	} else {
		var recorded []chunk
		if recorded, err = record(binary, dir, still{cols: cols, rows: rows, steps: steps}); err == nil {
			picture, err = draw(binary, recorded)
		}
	}
	if err != nil {
		return err
	}
	return os.WriteFile(out, picture, 0o644)
}

// chunk is a piece of output and when it came, counted from the beginning.
type chunk struct {
	at   time.Duration
	data []byte
}

// recording gathers what a terminal prints. It is safe for concurrent use.
type recording struct {
	mu     sync.Mutex
	began  time.Time
	chunks []chunk
	text   strings.Builder
	change chan struct{}
}

func (r *recording) Write(p []byte) (int, error) {
	r.mu.Lock()
	r.chunks = append(r.chunks, chunk{time.Since(r.began), append([]byte(nil), p...)})
	r.text.Write(p)
	r.mu.Unlock()
	select {
	case r.change <- struct{}{}:
	default:
	}
	return len(p), nil
}

// length is how much was printed so far, in bytes.
func (r *recording) length() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Len()
}

// await waits until text was printed behind position from.
func (r *recording) await(text string, from int) error {
	limit := time.After(patience)
	for {
		r.mu.Lock()
		found := strings.Contains(r.text.String()[from:], text)
		r.mu.Unlock()
		if found {
			return nil
		}
		select {
		case <-r.change:
		case <-limit:
			return fmt.Errorf("no %q within %v", text, patience)
		}
	}
}

// record plays the steps in a bash on a terminal and ends everything that they started.
func record(binary, dir string, scene still) ([]chunk, error) {
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		return nil, err
	}
	if err := os.Symlink(binary, filepath.Join(bin, "evertty")); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "job.sh"), []byte("#!/bin/bash\n"+program+"\n"), 0o700); err != nil {
		return nil, err
	}
	// The shell in the picture and the one that evertty starts have the same prompt.
	for _, name := range []string{".bashrc", ".bash_profile"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(promptLine), 0o600); err != nil {
			return nil, err
		}
	}
	r := &recording{began: time.Now(), change: make(chan struct{}, 1)}
	terminal, err := pty.Start(pty.Spec{
		Argv: []string{"bash"},
		Dir:  dir,
		Env: map[string]string{
			"PATH": bin + ":" + os.Getenv("PATH"), "HOME": dir, "SHELL": "/bin/bash", "XDG_STATE_HOME": "",
			"EVERTTY_DATA_DIR": "", "EVERTTY_LISTEN": "", "EVERTTY_SERVER": scene.server,
		},
		Cols: scene.cols, Rows: scene.rows,
	})
	if err != nil {
		return nil, err
	}
	defer terminal.Close()
	defer func() {
		for _, verb := range [][]string{{"kill", "--all"}, {"stop"}} {
			_ = exec.Command(binary, append(verb, "--data-dir", filepath.Join(dir, ".local/state/evertty"))...).Run()
		}
		_ = terminal.Kill(context.Background())
	}()
	go func() { _, _ = io.Copy(r, terminal) }()
	if err := r.await(prompt, 0); err != nil {
		return nil, err
	}
	for _, s := range scene.steps {
		from := r.length()
		if err := enter(terminal, s.keys); err != nil {
			return nil, err
		}
		if err := r.await(s.wait, from); err != nil {
			return nil, fmt.Errorf("after %q: %w", s.keys, err)
		}
		<-time.After(s.rest)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.chunks, nil
}

// enter types a line, or keys that need no Enter.
func enter(terminal *pty.Process, keys string) error {
	if keys[0] >= ' ' && keys[0] != 0x7f {
		keys += "\r"
	}
	for _, key := range keys {
		if _, err := terminal.Write(context.Background(), []byte(string(key))); err != nil {
			return err
		}
		<-time.After(keyGap)
	}
	return nil
}
