package client

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzDecodeOutput: text and bytes come back as they were written.
func FuzzDecodeOutput(f *testing.F) {
	for _, s := range []string{
		`{"data":"a\n\u0000\u001b\"\\\/\b\f\r\té\u00e9"}`, `{"data":"\ud83d\ude00"}`, `{"data":"\ud83d"}`,
		`{"data":"a"b"}`, `{"data":"\"}`, `{"data":"\u12"}`,
		`{"data":"` + "\t" + `"}`, `{"data":"x","data_b64":"/w=="}`, `{"data_b64":"/w=="}`, `{"data_b64":"/w="}`,
		`{"data_b64":"","data":"x"}`, `{}`, `{"data":"`, `{"data":"\u+123"}`,
		`{"data":"` + "\xff" + `"}`, `{"data_b64":"\u002fw=="}`, `{"data_b64":"YQ` + "\n" + `=="}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		got, err := decodeOutput(p)
		var o struct {
			Data string `json:"data"`
			B64  []byte `json:"data_b64"`
		}
		failed := json.Unmarshal(p, &o)
		want := []byte(o.Data)
		if o.B64 != nil {
			want = o.B64
		}
		if (err == nil) != (failed == nil) || err == nil && !bytes.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q, %v", p, got, err, want, failed)
		}
	})
}
