package exec

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/jsonstring"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/httpapi"
)

func FuzzAppendText(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c\n\r\t\x00\x1f\x7f", "äöü €\U0001f600", "\u2028\u2029\u2027",
		"\xff\xe2\x80a\xed\xa0\x80\xf4\x90", "half \xe2\x82"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		quoted, valid := jsonstring.Append([]byte(`x"`), p)
		if valid != utf8.Valid(p) {
			t.Errorf("%q is UTF-8: %v", p, valid)
		}
		var got string
		if err := json.Unmarshal(append(quoted[1:], '"'), &got); err != nil {
			t.Fatalf("%q became %q: %v", p, quoted, err)
		}
		if want := string([]rune(string(p))); got != want {
			t.Errorf("%q became %q, want %q", p, got, want)
		}
		if bytes.ContainsAny(quoted, "\n\r\u2028\u2029") || !utf8.Valid(quoted) {
			t.Errorf("%q became %q, which is more than one line to some readers", p, quoted)
		}
		n := httpapi.WholeRunes(p)
		if n < len(p)-3 || n < len(p) && utf8.FullRune(p[n:]) || utf8.Valid(p) && n != len(p) {
			t.Errorf("of %q, %d bytes are whole", p, n)
		}
	})
}

// TestPieces: what the events of an output say is exactly the output, text as text.
func TestPieces(t *testing.T) {
	for name, p := range map[string][]byte{
		"text":             []byte("äöü\n"),
		"one bad byte":     []byte("before\xffafter"),
		"binary":           bytes.Repeat([]byte{0xff, 0, 0xfe}, logPage/3),
		"bad, then long":   append([]byte{0xff}, strings.Repeat("é", 3*httpapi.BinaryPiece)...),
		"continuation":     bytes.Repeat([]byte{0x80}, 2*httpapi.BinaryPiece+1),
		"half a character": []byte("a\xe2\x82"),
	} {
		var all []byte
		for rest := p; len(rest) > 0; {
			piece, text, next := httpapi.NextPiece(rest)
			if len(piece) == 0 || len(piece)+len(next) != len(rest) || text != utf8.Valid(piece) && text {
				t.Fatalf("%s: a piece of %d bytes, text %v, of %d", name, len(piece), text, len(rest))
			}
			all, rest = append(all, piece...), next
		}
		if !bytes.Equal(all, p) {
			t.Errorf("%s: the pieces are not the whole", name)
		}
		var events []byte
		for _, line := range bytes.Split(ownEvents{}.Output(nil, 1, p), []byte("\n")) {
			data, ok := bytes.CutPrefix(line, []byte("data: "))
			if !ok {
				continue
			}
			var e struct {
				Data *string
				B64  *[]byte `json:"data_b64"`
			}
			if err := json.Unmarshal(data, &e); err != nil {
				t.Fatal(err)
			}
			switch {
			case e.Data != nil && e.B64 == nil:
				events = append(events, *e.Data...)
			case e.B64 != nil && e.Data == nil:
				events = append(events, *e.B64...)
			default:
				t.Fatalf("%s: the event %.100s", name, data)
			}
		}
		if !bytes.Equal(events, p) {
			t.Errorf("%s: the events are not the whole", name)
		}
	}
}

func TestShellWords(t *testing.T) {
	for _, test := range []struct {
		argv []string
		want string
	}{
		{[]string{"ls", "-l", "/a/b.c"}, "ls -l /a/b.c"},
		{[]string{"echo", "", "it's", "a b", "$x", "\n", "*", "~"},
			`echo '' 'it'\''s' 'a b' '$x' '` + "\n" + `' '*' '~'`},
		{[]string{"if", "if"}, "'if' if"},
		{[]string{"A=b", "c"}, "'A=b' c"},
		{[]string{"{", "}"}, "'{' '}'"},
	} {
		if got := permission.ShellWords(test.argv); got != test.want {
			t.Errorf("%q became %s, want %s", test.argv, got, test.want)
		}
	}
}

// BenchmarkAppendText is the speed of text as a program prints it.
func BenchmarkAppendText(b *testing.B) {
	for name, line := range map[string]string{"lines": "the quick brown fox jumps over the lazy dog \"quoted\"\n",
		"y": "y\n", "accents": "où est l'été ?\n",
		"base64": base64.StdEncoding.EncodeToString(make([]byte, 57)) + "\n"} {
		page := []byte(strings.Repeat(line, logPage/len(line)))
		out := make([]byte, 0, maxKept)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				out = ownEvents{}.Output(out[:0], 1, page)
			}
		})
	}
}
