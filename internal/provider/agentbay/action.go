package agentbay

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/internal/provider/service"
)

// apiVersion is the version of every action.
const apiVersion = "2025-05-06"

// action makes one call. It is a form with the key in it; its name is in two places, because the
// service's clients differ in that. A reply has two results: its status, and one inside.
func (a *Provider) action(ctx context.Context, name string, idempotent bool, timeout time.Duration, form url.Values,
	out any) error {
	form.Set("Authorization", "Bearer "+a.c.APIKey)
	body := []byte(form.Encode())
	sum := sha256.Sum256(body)
	h := http.Header{}
	for k, v := range map[string]string{
		"Accept": "application/json", "x-acs-action": name, "x-acs-version": apiVersion,
		"x-acs-date": time.Now().UTC().Format(time.RFC3339), "x-acs-signature-nonce": rand.Text(),
		"x-acs-content-sha256": hex.EncodeToString(sum[:]),
	} {
		h.Set(k, v)
	}
	q := url.Values{"Action": {name}, "Version": {apiVersion}, "Format": {"json"}}
	r, err := a.Client.Do(ctx, service.Call{Method: http.MethodPost, URL: a.c.Endpoint + "/?" + q.Encode(), Header: h,
		Body: body, ContentType: "application/x-www-form-urlencoded", Idempotent: idempotent, Timeout: timeout})
	if err != nil {
		return correctStatus(err)
	}
	var reply struct {
		Code, Message string
		Status        int `json:"HttpStatusCode"`
		Success       *bool
		Data          json.RawMessage
	}
	if json.Unmarshal(r.Body, &reply) != nil {
		return fmt.Errorf("agentbay: %w: the reply is not what was agreed", provider.ErrProvider)
	}
	if reply.Success != nil && !*reply.Success {
		if reply.Status < http.StatusMultipleChoices {
			reply.Status = http.StatusInternalServerError
		}
		text := a.Client.Redact(strings.TrimSpace(reply.Code + " " + reply.Message))
		err := correctStatus(&service.StatusError{Service: "agentbay", Status: reply.Status, Code: reply.Code,
			Text: text})
		if r.NoEarlierEffect && service.NothingDone(err) {
			err = fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
		}
		return err
	}
	if out != nil && len(reply.Data) > 0 && json.Unmarshal(reply.Data, out) != nil {
		return fmt.Errorf("agentbay: %w: the data of the reply are not what was agreed", provider.ErrProvider)
	}
	return nil
}

// correctStatus sets the status from the code: the service replies nearly everything with 400.
func correctStatus(err error) error {
	var st *service.StatusError
	if !errors.As(err, &st) {
		return err
	}
	for part, status := range map[string]int{
		"NotFound": http.StatusNotFound, "Forbidden": http.StatusForbidden, "Throttling": http.StatusTooManyRequests,
		"Unauthorized": http.StatusUnauthorized, "InvalidAuthorization": http.StatusUnauthorized,
		"InvalidApiKey": http.StatusUnauthorized, "StatusNotAllowed": http.StatusConflict,
		"IncorrectStatus": http.StatusConflict,
	} {
		if strings.Contains(st.Code, part) {
			st.Status = status
		}
	}
	return err
}

// tool calls a tool of a session and returns its text. Its failure (isError) is ErrProvider, with
// the text beside it.
func (a *Provider) tool(ctx context.Context, id, name string, timeout time.Duration, args any) (string, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return "", fmt.Errorf("agentbay: %w", err)
	}
	var data json.RawMessage
	form := url.Values{"SessionId": {id}, "Name": {name}, "Args": {string(text)}, "AutoGenSession": {"false"}}
	if err := a.action(ctx, "CallMcpTool", true, timeout, form, &data); err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", service.InstanceExists(service.Explain(ctx, a, id, err))
	}
	out, failed, err := toolText(data)
	if err == nil && failed {
		err = fmt.Errorf("agentbay: %w: %s: %s", provider.ErrProvider, name, a.Client.Redact(out))
	}
	return out, err
}

// toolText reads a tool's result, which is an object, or a text that holds one.
func toolText(data json.RawMessage) (text string, failed bool, err error) {
	var inner string
	if json.Unmarshal(data, &inner) == nil {
		data = json.RawMessage(inner)
	}
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if json.Unmarshal(data, &r) != nil {
		return "", false, fmt.Errorf("agentbay: %w: a tool's result is not what was agreed", provider.ErrProvider)
	}
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.Text)
	}
	return b.String(), r.IsError, nil
}

// run is one call of the shell. Its reply is JSON with the output, or from some images the output
// alone. A failure that the tool reports is a reply too, perhaps without the mark of bash.Polled;
// then the call is repeated.
func (a *Provider) run(ctx context.Context, id, script string, timeout time.Duration) (string, error) {
	args := map[string]any{"command": bash.CommandLine(script), "timeout_ms": min(timeout, maxShellTime).Milliseconds()}
	text, err := a.tool(ctx, id, "shell", timeout+bash.CallSlack, args)
	if err != nil && text == "" {
		return "", err
	}
	var r struct {
		Stdout *string
	}
	if json.Unmarshal([]byte(text), &r) == nil && r.Stdout != nil {
		return *r.Stdout, nil
	}
	return text, nil
}
