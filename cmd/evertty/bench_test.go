//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// workload is a file that scrolls a little, with colours and a split character.
func workload(t *testing.T) (name string, size int) {
	t.Helper()
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "\x1b[3%dm%04d é\x1b[m %s\r\n", i%8, i, strings.Repeat("x", i%50))
	}
	name = filepath.Join(t.TempDir(), "work.bin")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name, b.Len()
}

// measured runs the verb and reads its line.
func measured(t *testing.T, result any, args ...string) {
	t.Helper()
	o := evertty(t, "", append([]string{"bench"}, args...)...)
	if o.code != 0 || o.stderr != "" || strings.Count(o.stdout, "\n") != 1 {
		t.Fatalf("%v: %+v", args, o)
	}
	d := json.NewDecoder(strings.NewReader(o.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(result); err != nil {
		t.Fatalf("%v: %v in %s", args, err, o.stdout)
	}
}

func TestBenchIngest(t *testing.T) {
	work, size := workload(t)
	chunks := filepath.Join(t.TempDir(), "chunks")
	if err := os.WriteFile(chunks, []byte("1\n7\n4000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pieces := range []string{"-", chunks} {
		var r struct {
			Secs, CPU []float64
			Bytes     int
		}
		measured(t, &r, "ingest", "evertty", "80", "24", work, pieces, "3")
		if len(r.Secs) != 3 || len(r.CPU) != 3 || r.Bytes != size || r.Secs[0] <= 0 || r.CPU[0] < 0 {
			t.Errorf("%s: %+v", pieces, r)
		}
	}
}

func TestBenchPieces(t *testing.T) {
	sizes := filepath.Join(t.TempDir(), "sizes")
	for _, tc := range []struct {
		sizes string
		data  int
		want  string
	}{
		{"2 3\n1", 6, "[2 3 1]"},
		{"2", 6, "[2 4]"},
		{"5 5 5", 6, "[5 1]"},
		{"", 6, "[6]"},
		{"6 6", 6, "[6]"},
	} {
		if err := os.WriteFile(sizes, []byte(tc.sizes), 0o600); err != nil {
			t.Fatal(err)
		}
		b := engineBench{data: make([]byte, tc.data), arg: sizes}
		pieces, err := b.pieces()
		var got []int
		for _, p := range pieces {
			got = append(got, len(p))
		}
		if err != nil || fmt.Sprint(got) != tc.want {
			t.Errorf("%q: %v, %v, want %s", tc.sizes, got, err, tc.want)
		}
	}
	b := engineBench{data: make([]byte, 2*benchPiece+1), arg: "-"}
	if pieces, err := b.pieces(); err != nil || len(pieces) != 3 || len(pieces[0]) != 4096 || len(pieces[2]) != 1 {
		t.Errorf("%d pieces, %v", len(pieces), err)
	}
}

func TestBenchMem(t *testing.T) {
	work, _ := workload(t)
	var r struct{ Idle, Full int }
	measured(t, &r, "mem", "evertty", "80", "24", work, "3", "--engine", defaultEngine)
	if r.Idle < 80*24 || r.Idle > 16<<20 || r.Full <= r.Idle {
		t.Errorf("%+v", r)
	}
}

func TestBenchSer(t *testing.T) {
	work, _ := workload(t)
	var r struct {
		MS, Wall []float64
		Bytes    int
		Kind     string
	}
	measured(t, &r, "ser", "evertty", "80", "24", work, "4")
	whole := evertty(t, "", "render", "--format", "ansi", work)
	if len(r.MS) != 4 || len(r.Wall) != 4 || r.Wall[0] <= 0 || r.MS[0] < 0 || r.Bytes != len(whole.stdout) ||
		r.Bytes < 2000*4 {
		t.Errorf("%+v, rendered %d bytes", r, len(whole.stdout))
	}
}

func TestBenchDump(t *testing.T) {
	name := filepath.Join(t.TempDir(), "work.bin")
	if err := os.WriteFile(name, []byte("1  \r\n22\r\n333"), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[string]string{"1": "1\n\n", "11": "22\n33\n", "99": "22\n333\n"} {
		if o := evertty(t, "", "bench", "dump", "evertty", "20", "2", name, most); o.code != 0 || o.stdout != want {
			t.Errorf("%s: %+v, want %q", most, o, want)
		}
	}
}

func TestBenchErrors(t *testing.T) {
	work, _ := workload(t)
	for args, want := range map[string]string{
		"ingest evertty 80 24 " + work:                       "2 ",
		"speed evertty 80 24 " + work + " 1":                 `2 "speed", allowed is ingest`,
		"ingest evertty 0 24 " + work + " - 1":               "2 COLS",
		"ingest evertty 80 1001 " + work + " - 1":            "2 ROWS",
		"ingest evertty 80 24 " + work + " - 0":              "2 REPS",
		"ingest evertty 80 24 " + work + " /nonexistent 1":   "1 /nonexistent",
		"ingest evertty 80 24 " + work + " " + work + " 1":   "2 allowed is 1 to",
		"mem evertty 80 24 " + work + " many":                "2 N",
		"ser evertty 80 24 " + work + " 0":                   "2 REPS",
		"dump evertty 80 24 " + work + " x":                  "2 MAXBYTES",
		"dump evertty 80 24 /nonexistent 1":                  "1 /nonexistent",
		"mem evertty 80 24 " + work + " 1 --engine nonesuch": "2 --engine",
	} {
		code, text, _ := strings.Cut(want, " ")
		o := evertty(t, "", append([]string{"bench"}, strings.Fields(args)...)...)
		if code != fmt.Sprint(o.code) || !strings.Contains(o.stderr, text) || o.stdout != "" {
			t.Errorf("%s: %+v, want %s", args, o, want)
		}
	}
	if o := evertty(t, "", "bench", "--help"); o.code != 0 || !strings.Contains(o.stdout, "CPU time") {
		t.Errorf("%+v", o)
	}
}
