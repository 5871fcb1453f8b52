package wire

// ThreadRef is the thread that a path names.
type ThreadRef struct {
	// The thread: the same name as {sid} in /session/{sid}.
	Thread string `json:"-" path:"id" param:"thread" minLength:"1" example:"main" owned:"thread"`
}

// ThreadTerminalRef is the terminal of a thread that a path names.
type ThreadTerminalRef struct {
	ThreadRef
	// The terminal's id.
	Terminal string `json:"-" path:"tid" minLength:"1" example:"term-8b1d4c3a2f10"`
}

// ApprovalRef is the approval that a path names.
type ApprovalRef struct {
	ThreadRef
	// Approval.
	Approval string `json:"-" path:"aid" minLength:"1" example:"apr_6f1c9a0b7d5e4f3a2b1c0d9e"`
}

// LeaseRef is the lease that a path names.
type LeaseRef struct {
	// The lease's id.
	Lease string `json:"-" path:"id" param:"lease" minLength:"1" example:"lease-8b1d4c3a2f10" owned:"lease"`
}

// ListThreads asks for the threads.
type ListThreads struct {
	// Begin behind this id: `next` of the part before.
	After string `json:"-" query:"after" param:"threadsAfter" owned:"thread"`
	// How many at most.
	Limit int `json:"-" query:"limit" param:"threadsLimit" minimum:"1" maximum:"1000" default:"100"`
}

// GetThreadTerminal asks for the active terminal of a thread.
type GetThreadTerminal struct {
	ThreadRef
	ShowSecrets
}

// ListThreadTerminals asks for the terminals of a thread.
type ListThreadTerminals struct {
	ThreadRef
	ShowSecrets
	Page
}

// ListThreadCommands asks for the commands of a thread.
type ListThreadCommands struct {
	ThreadRef
	// Only those of this terminal.
	Terminal string `json:"-" query:"terminal" param:"ofTerminal"`
	NewestCommands
}

// GetThreadEvents asks for what happens to a thread.
type GetThreadEvents struct {
	ThreadRef
	// The number of the last event that the client has, or `latest` for nothing of before. A number that the thread has
	// not reached brings all. The header Last-Event-ID, which a browser sends when it reconnects, counts too when it is
	// higher.
	//schema:oneOf [{"type": "integer", "minimum": 0, "maximum": 9007199254740992}, {"const": "latest"}]
	//schema:default 0
	Since string `json:"-" query:"since" param:"eventsSince"`
	// `json` is a list at once, `sse` a stream. Without it the header Accept decides: a list for application/json.
	Format string `json:"-" query:"format" param:"eventsFormat" enum:"json,sse"`
	// Of a list: how many at most, the oldest first.
	Limit int `json:"-" query:"limit" param:"eventsLimit" minimum:"1" maximum:"1000" default:"1000"`
}

// GetTerminalHistory asks for the versions of the state of a terminal.
type GetTerminalHistory struct {
	ThreadTerminalRef
	ShowSecrets
}

// ListLeases asks for the leases.
type ListLeases struct {
	// Only those of this provider.
	Provider string `json:"-" query:"provider" param:"ofProvider"`
	// Those behind the lease of this id: the `next` of the part before.
	After string `json:"-" query:"after" param:"leasesAfter" owned:"lease"`
	// How many.
	Limit int `json:"-" query:"limit" param:"leasesLimit" minimum:"1" maximum:"1000" default:"100"`
}

// GetLeaseEvents asks for the book of a lease.
type GetLeaseEvents struct {
	LeaseRef
	// The number of the last entry that the client has.
	After int64 `json:"-" query:"after" param:"bookAfter" minimum:"0" maximum:"9007199254740992" default:"0"`
	// Of a list: how many at most, the oldest first.
	Limit int `json:"-" query:"limit" param:"eventsLimit" minimum:"1" maximum:"1000" default:"1000"`
}

// ProviderRef is the provider that a path names.
type ProviderRef struct {
	// The provider's name.
	Provider string `json:"-" path:"provider" pattern:"^[A-Za-z0-9._-]{1,64}$" example:"e2b"`
}

// ListWebhooks asks for what providers told.
type ListWebhooks struct {
	// How many at most.
	Limit int `json:"-" query:"limit" param:"hooksLimit" minimum:"1" maximum:"1000" default:"100"`
}

// ListApprovals asks for approvals.
type ListApprovals struct {
	ThreadRef
	ShowSecrets
	// Only those with this status.
	Status string `json:"-" query:"status" param:"approvalsStatus" enum:"pending,approved,denied,used,expired"`
	// How many at most.
	Limit int `json:"-" query:"limit" param:"approvalsLimit" minimum:"1" maximum:"1000" default:"1000"`
}

// GetApproval asks for one approval.
type GetApproval struct {
	ApprovalRef
	ShowSecrets
	// 1 shows the `hidden` values too, to whoever may approve; after it the call can be approved. Each such request is
	// in the server's audit log.
	Reveal bool `json:"-" query:"reveal"`
}

// RecordRef is the record of a thread that a query names.
type RecordRef struct {
	ThreadRef
	// A record of the thread that is not the current one.
	Record string `json:"-" query:"record"`
}

// Part is the part of a list of a record that is asked for.
type Part struct {
	// Those with higher numbers.
	After *int64 `json:"-" query:"after" param:"afterSeq" format:"int64" minimum:"0" maximum:"9007199254740992"`
	// How many at most.
	//schema:default 1000
	Limit *int `json:"-" query:"limit" param:"pageLimit" minimum:"1" maximum:"1000"`
	// The newest of them instead of the first.
	Newest bool `json:"-" query:"newest"`
}

// ListMessages asks for the messages of a record.
type ListMessages struct {
	RecordRef
	Part
	// All that were ever appended, and no summary.
	Archived bool `json:"-" query:"archived"`
}

// ListOfRecord asks for a part of a list of a record.
type ListOfRecord struct {
	RecordRef
	Part
}

// RecordFormat is the form of a record.
type RecordFormat struct {
	// `loader` is the file alone.
	Format string `json:"-" query:"format" param:"recordFormat" enum:"json,loader"`
}

// GetRecord asks for a whole record.
type GetRecord struct {
	RecordRef
	RecordFormat
}

// GetOneRecord asks for one of the records of a thread.
type GetOneRecord struct {
	ThreadRef
	// A record's id.
	ID string `json:"-" path:"rid"`
	RecordFormat
}

// SetThreadPolicy changes the policy of a thread.
type SetThreadPolicy struct {
	ThreadRef
	SetPolicy
}

// AddTrace appends a step of the completion trace.
type AddTrace struct {
	ThreadRef
	TraceEntry
}

// PutLedger replaces the ledger.
type PutLedger struct {
	ThreadRef
	Ledger
}

// AddPrompt appends a prompt.
type AddPrompt struct {
	ThreadRef
	Prompt
}

// AddTurn appends a turn.
type AddTurn struct {
	ThreadRef
	AppendTurn
}
