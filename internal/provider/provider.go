// Package provider is where processes run: this machine, another one, a container, or a sandbox of
// a service, behind one interface.
//
// A provider knows its instances (a machine, a container, a sandbox) by their ids. It keeps no
// state that matters: the lease (package thread) has it, so any server can go on with an instance
// that another has created.
//
// Every call takes a context and ends with it. The error of a call says whether anything may have
// happened: callers repeat an Exec only after ErrNotStarted.
package provider

import (
	"context"
	"errors"
	"io"
	"time"
)

// Sentinels of the package. Other failures are the provider's own text, wrapped in ErrProvider.
var (
	ErrNotFound    = errors.New("no such instance")                     // it is gone for good
	ErrNotRunning  = errors.New("the instance does not run")            // paused or stopped
	ErrUnsupported = errors.New("the provider cannot do this")          // see Capabilities
	ErrState       = errors.New("the instance is in another state")     // pause of a paused one
	ErrRefused     = errors.New("the provider refused the credentials") // key absent or wrong
	ErrUnreachable = errors.New("the provider cannot be reached")       // network, or it does not answer in time
	ErrNotStarted  = errors.New("the command was not started")          // certainly: it may be tried again
	ErrNoFile      = errors.New("no such file or directory")            // of ReadFile and ListDir
	ErrTooLarge    = errors.New("the file or output is larger than allowed")
	ErrProvider    = errors.New("the provider failed")
)

// State is the state of an instance, as its provider reports it.
type State string

// The states. A provider's state that is none of the others is Unknown.
const (
	Running State = "running"
	Paused  State = "paused" // stopped with its files, and its memory where the provider keeps that
	Dead    State = "dead"   // destroyed, or never there
	Unknown State = "unknown"
)

// Capabilities is what a provider can do. The tags are the JSON of GET /api/sandbox/types.
type Capabilities struct {
	Pause   bool `json:"can_pause"`
	Resume  bool `json:"can_resume"`
	Destroy bool `json:"can_destroy"`
	Webhook bool `json:"supports_webhook"`
	Status  bool `json:"supports_status_probe"`
	PTY     bool `json:"pty"`
	Files   bool `json:"files"`
	Metrics bool `json:"metrics"`
	// MemoryKept: the processes of a paused instance continue when it is resumed.
	MemoryKept bool   `json:"memory_kept"`
	Runtime    string `json:"runtime_kind"` // local, remote_wrapped, remote_pty
}

// Instance is one machine, container or sandbox.
type Instance struct {
	ID        string
	State     State
	CreatedAt time.Time
	Cwd       string // where its user begins
}

// CreateRequest describes a new instance.
type CreateRequest struct {
	Name    string // of the lease; a label at the provider, by which orphans are found
	Env     map[string]string
	Timeout time.Duration // after which the provider itself may end it; 0 is the provider's default
}

// ExecRequest is one command for a shell of the instance.
type ExecRequest struct {
	Command string            // text for bash
	Cwd     string            // "" is the instance's
	Env     map[string]string // exported before
	Stdin   []byte
	Timeout time.Duration // 0 is none
}

// ExecResult is how a command ended.
type ExecResult struct {
	ExitCode int
	TimedOut bool
}

// PTYRequest is a terminal on the instance.
type PTYRequest struct {
	Argv       []string // none: the user's login shell
	Cwd        string
	Env        map[string]string
	Cols, Rows int
}

// PTY is a terminal on an instance. Read ends with io.EOF after the program's exit, and Exit has
// the code from then on. Methods may be called at the same time.
type PTY interface {
	io.ReadWriteCloser // Close hangs up: the program gets SIGHUP
	Resize(ctx context.Context, cols, rows int) error
	Exit() (code int, known bool)
}

// File is an entry of a directory.
type File struct {
	Name  string    `json:"name"`
	Path  string    `json:"path"`
	Dir   bool      `json:"is_dir"`
	Size  int64     `json:"size"`
	Mode  string    `json:"mode,omitempty"` // -rw-r--r--
	MTime time.Time `json:"modified_at,omitzero"`
}

// Metrics is what an instance uses; nil is unknown.
type Metrics struct {
	CPUPercent    *float64 `json:"cpu_percent"`
	MemoryUsedMB  *float64 `json:"memory_used_mb"`
	MemoryTotalMB *float64 `json:"memory_total_mb"`
	DiskUsedGB    *float64 `json:"disk_used_gb"`
	DiskTotalGB   *float64 `json:"disk_total_gb"`
	RxKbps        *float64 `json:"network_rx_kbps"`
	TxKbps        *float64 `json:"network_tx_kbps"`
}

// Lifecycle makes, changes and ends instances. All methods may be called at the same time. What
// Capabilities denies returns ErrUnsupported.
type Lifecycle interface {
	Name() string // local, ssh, docker, e2b, daytona, agentbay
	Capabilities() Capabilities
	// Create returns when the instance runs. A Create that fails leaves nothing, as far as the
	// provider lets it.
	Create(ctx context.Context, r CreateRequest) (Instance, error)
	// Destroy of an instance that does not exist is nil.
	Destroy(ctx context.Context, id string) error
	Pause(ctx context.Context, id string) error
	Resume(ctx context.Context, id string) error
	// Status of an instance that does not exist is Dead without an error.
	Status(ctx context.Context, id string) (State, error)
	Metrics(ctx context.Context, id string) (Metrics, error)
}

// Access runs programs and moves files on instances. The server does these itself on this machine.
type Access interface {
	// Exec writes output as it comes, in the calling goroutine or in one that has ended when Exec
	// returns. When ctx ends, the command is killed as well as the provider can.
	Exec(ctx context.Context, id string, r ExecRequest, stdout, stderr io.Writer) (ExecResult, error)
	ReadFile(ctx context.Context, id, path string, max int64) ([]byte, error)
	WriteFile(ctx context.Context, id, path string, data []byte) error
	ListDir(ctx context.Context, id, path string) ([]File, error)
	OpenPTY(ctx context.Context, id string, r PTYRequest) (PTY, error)
}

// Provider is a remote provider: one that has both.
type Provider interface {
	Lifecycle
	Access
}
