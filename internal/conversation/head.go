package conversation

// Head is a conversation without what it consists of. Numbers count from 1; the number of the
// newest of a list is how many there are.
type Head struct {
	ID          string `json:"session_id"`
	Thread      string `json:"thread_id"`
	Current     bool   `json:"current"`
	CreatedAt   string `json:"created_at"`
	UpdatedAt   string `json:"updated_at"` // grows with every change
	Messages    int64  `json:"messages"`   // archived ones too, summaries not
	Archived    int64  `json:"archived"`   // the messages up to this number are behind a summary
	Bytes       int64  `json:"bytes"`      // about what those that are not archived have in the file
	Users       int64  `json:"-"`          // messages of role user
	Timeline    int64  `json:"timeline"`
	Traces      int64  `json:"-"` // given ones
	Prompts     int64  `json:"prompts"`
	Turns       int64  `json:"turns"`
	Inbox       int64  `json:"-"`       // ever put into the inbox
	Waiting     int64  `json:"waiting"` // of these, not drained
	Compactions int64  `json:"compactions"`
	Usage       Usage  `json:"usage"` // of all turns
}
