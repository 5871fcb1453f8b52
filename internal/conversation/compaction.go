package conversation

// Compaction tells of the newest one of a conversation. Count is how many there have been.
type Compaction struct {
	Count                 int64  `json:"count"`
	RemovedMessageCount   int64  `json:"removed_message_count"`
	Summary               string `json:"summary"`
	OriginalInputTokens   int64  `json:"original_input_tokens"`
	CompressedInputTokens int64  `json:"compressed_input_tokens"`
}

// decodeCompaction is nil for an object without fields, as for none.
func decodeCompaction(f fields) *Compaction {
	if len(f) == 0 {
		return nil
	}
	c := Compaction{Summary: f.content("summary")}
	c.Count, _ = f.count("count")
	c.RemovedMessageCount, _ = f.count("removed_message_count")
	c.OriginalInputTokens, _ = f.count("original_input_tokens")
	c.CompressedInputTokens, _ = f.count("compressed_input_tokens")
	return &c
}
