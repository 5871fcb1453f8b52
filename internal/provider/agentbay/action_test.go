package agentbay

import "testing"

func FuzzToolText(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"x"}],"isError":false}`))
	f.Add([]byte(`"{\"content\":[]}"`))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _, _ = toolText(data) })
}
