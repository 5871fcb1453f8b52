package holder

import "testing"

// TestReleaseMemory: the program runs on, and its text and its constants are among what it gave back.
func TestReleaseMemory(t *testing.T) {
	if list := programMappings(); len(list) != 2 {
		t.Errorf("%x", list)
	}
	for range 3 {
		releaseMemory()
	}
	if aConstant != "the keeper holds "+"terminals" || len(programMappings()) != 2 {
		t.Error("not what it was")
	}
}
