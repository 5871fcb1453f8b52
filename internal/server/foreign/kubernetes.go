package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

// Channels of remotecommand: the first byte (k8s.io/apimachinery/pkg/util/remotecommand).
const (
	k8sStdin  = 0
	k8sStdout = "\x01"
	k8sStatus = "\x03"
	k8sResize = 4
	k8sClose  = 255 // of version 5: the channel in the next byte has ended
)

// K8sNames are the subprotocols that Kubernetes speaks, the best one first.
var K8sNames = []string{"v5.channel.k8s.io", "v4.channel.k8s.io"}

// Kubernetes is what exec and attach of Kubernetes clients speak. The terminal is the pod, whatever its name.
type Kubernetes struct {
	name          string
	stdin, stdout bool
	closed        bool // stdin has ended; belongs to Read
}

var _ viewer.Protocol = (*Kubernetes)(nil)

// NewKubernetes makes a connection with a subprotocol of K8sNames, or none, that has those two streams.
func NewKubernetes(name string, stdin, stdout bool) *Kubernetes {
	return &Kubernetes{name: name, stdin: stdin, stdout: stdout}
}

// Name implements viewer.Protocol.
func (k *Kubernetes) Name() string { return k.name }

// Text implements viewer.Protocol.
func (*Kubernetes) Text() bool { return false }

// Waits implements viewer.Protocol.
func (*Kubernetes) Waits() bool { return false }

// Send implements viewer.Protocol.
func (k *Kubernetes) Send(m *stream.Message) [][]byte {
	switch {
	case m.Kind == stream.KindExit:
		return message(status(exitStatus(exitOf(m))))
	case !k.stdout:
		return nil
	}
	return message(screen(k8sStdout, m))
}

// k8sStatusOf is metav1.Status.
type k8sStatusOf struct {
	Metadata struct{}    `json:"metadata"`
	Status   string      `json:"status"`
	Message  string      `json:"message,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Details  *k8sDetails `json:"details,omitempty"`
}

type k8sDetails struct {
	Causes []k8sCause `json:"causes"`
}

type k8sCause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// status is a message of the status channel.
func status(s k8sStatusOf) []byte {
	b, _ := json.Marshal(s) // cannot fail
	return append([]byte(k8sStatus), b...)
}

// failure is the status of a stream that did not end with its program.
func failure(text string) k8sStatusOf {
	return k8sStatusOf{Status: "Failure", Reason: "InternalError", Message: text}
}

// exitStatus is the status behind the end of the program.
func exitStatus(e wire.Exit) k8sStatusOf {
	switch {
	case e.Code == nil:
		return failure("nobody knows how the program has ended")
	case *e.Code == 0:
		return k8sStatusOf{Status: "Success"}
	}
	return k8sStatusOf{Status: "Failure", Reason: "NonZeroExitCode",
		Message: fmt.Sprintf("command terminated with exit code %d", *e.Code),
		Details: &k8sDetails{[]k8sCause{{"ExitCode", strconv.Itoa(*e.Code)}}}}
}

// Last implements viewer.Protocol. Behind the exit the status was sent.
func (k *Kubernetes) Last(code int, reason string) ([][]byte, int) {
	if code == websocket.CloseNormalClosure {
		return nil, code
	}
	return message(status(failure(reason))), code
}

// Read implements viewer.Protocol. The end of stdin ends nothing: others may type on.
func (k *Kubernetes) Read(kind int, p []byte) (a viewer.Act, bad *viewer.BadMessage) {
	switch {
	case kind != websocket.BinaryMessage:
		return a, wrongKind("the channels of Kubernetes have binary messages only")
	case len(p) == 0:
		return a, policy("a message of Kubernetes begins with its channel")
	}
	switch p[0] {
	case k8sStdin:
		if k.stdin && !k.closed {
			a.Input = bytes.Clone(p[1:])
		}
		return a, nil
	case k8sResize:
		var s size
		if bad := parse(p[1:], &s); bad != nil {
			return a, bad
		}
		a, ok := act(s.Width, s.Height)
		if !ok {
			return a, badSize()
		}
		return a, nil
	case k8sClose:
		if k.name == K8sNames[0] && len(p) == 2 {
			k.closed = k.closed || p[1] == k8sStdin
			return a, nil
		}
	}
	return a, policy("Kubernetes has the channels 0 (stdin) and 4 (resize) from a client")
}
