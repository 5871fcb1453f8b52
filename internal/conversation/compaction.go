package conversation

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
