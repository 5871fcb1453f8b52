package providertest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// Files checks that files are written and read byte for byte.
func Files(t *testing.T, s Instance) {
	data := make([]byte, 300_001)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	for name, content := range map[string][]byte{
		"/bin": data, "/empty": {}, "/new/dir/text": []byte("größe\r\nno newline"),
		"/name 'with' \"much\" $HOME ü": []byte("x"), "/-dash": []byte("\x00"),
	} {
		path := s.Dir + name
		for range 2 { // the second time it is replaced
			if err := s.WriteFile(Within(t), s.ID, path, content); err != nil {
				t.Fatalf("write %s: %v", name, err)
			}
		}
		got, err := s.ReadFile(Within(t), s.ID, path, int64(len(content))+1)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(content), err)
		}
	}
	if err := s.WriteFile(Within(t), s.ID, s.Dir+"/bin", []byte("short")); err != nil {
		t.Fatal(err)
	}
	s.Check(t, "cat "+s.Dir+"/bin", "short", 0)
	s.Check(t, "printf 'made inside' >"+s.Dir+"/inside", "", 0)
	if got, err := s.ReadFile(Within(t), s.ID, s.Dir+"/inside", 100); string(got) != "made inside" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func fileErrors(t *testing.T, s Instance) {
	if _, err := s.ReadFile(Within(t), s.ID, s.Dir+"/absent", 100); !errors.Is(err, provider.ErrNoFile) ||
		errors.Is(err, provider.ErrNotFound) {
		t.Errorf("read of none: %v", err)
	}
	if _, err := s.ListDir(Within(t), s.ID, s.Dir+"/absent"); !errors.Is(err, provider.ErrNoFile) ||
		errors.Is(err, provider.ErrNotFound) {
		t.Errorf("list of none: %v", err)
	}
	if err := s.WriteFile(Within(t), s.ID, s.Dir+"/ten", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadFile(Within(t), s.ID, s.Dir+"/ten", 9); !errors.Is(err, provider.ErrTooLarge) {
		t.Errorf("more than allowed: %v", err)
	}
	if got, err := s.ReadFile(Within(t), s.ID, s.Dir+"/ten", 10); err != nil || string(got) != "0123456789" {
		t.Errorf("just what is allowed: %q %v", got, err)
	}
	if err := s.WriteFile(Within(t), s.ID, s.Dir+"/ten/below", nil); err == nil {
		t.Error("written below a file")
	}
	if _, err := s.ReadFile(Within(t), s.ID, s.Dir, 1<<20); err == nil {
		t.Error("a directory was read")
	}
}

// List checks the entries of directories.
func List(t *testing.T, s Instance) {
	s.Check(t, "mkdir -p "+s.Dir+"/l/sub && printf 12345 >"+s.Dir+"/l/five && printf x >'"+s.Dir+"/l/a b ü' && : >"+
		s.Dir+
		"/l/.hidden && printf x >"+s.Dir+"/l/sub/below", "", 0)
	got, err := s.ListDir(Within(t), s.ID, s.Dir+"/l")
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]provider.File{}
	for _, f := range got {
		by[f.Name] = f
		if f.Path != s.Dir+"/l/"+f.Name {
			t.Errorf("the path of %s is %s", f.Name, f.Path)
		}
		if f.MTime.IsZero() || time.Since(f.MTime).Abs() > time.Hour {
			t.Errorf("%s changed at %v", f.Name, f.MTime)
		}
	}
	if len(got) != 4 || !by["sub"].Dir || by["five"].Dir || by["five"].Size != 5 || by["a b ü"].Size != 1 ||
		by[".hidden"].Name == "" {
		t.Errorf("%+v", got)
	}
	s.Check(t, "mkdir -p "+s.Dir+"/nothing", "", 0)
	if got, err := s.ListDir(Within(t), s.ID, s.Dir+"/nothing"); err != nil || len(got) != 0 {
		t.Errorf("of an empty one: %v, %v", got, err)
	}
}

// Metrics checks that an instance reports plausible metrics.
func Metrics(t *testing.T, s Instance) {
	m, err := s.Metrics(Within(t), s.ID)
	if !s.Capabilities().Metrics {
		if !errors.Is(err, provider.ErrUnsupported) {
			t.Errorf("%v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if m.MemoryTotalMB == nil || *m.MemoryTotalMB < 16 || m.MemoryUsedMB == nil || *m.MemoryUsedMB < 0 ||
		*m.MemoryUsedMB > *m.MemoryTotalMB {
		t.Errorf("memory %v of %v", m.MemoryUsedMB, m.MemoryTotalMB)
	}
	if m.CPUPercent == nil || *m.CPUPercent < 0 || *m.CPUPercent > 6400 {
		t.Errorf("processor %v", m.CPUPercent)
	}
	if m.DiskTotalGB == nil || *m.DiskTotalGB <= 0 || m.DiskUsedGB == nil || *m.DiskUsedGB > *m.DiskTotalGB {
		t.Errorf("disk %v of %v", m.DiskUsedGB, m.DiskTotalGB)
	}
}
