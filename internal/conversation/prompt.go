package conversation

import (
	"reflect"
	"slices"

	"github.com/evertty/evertty/internal/permission"
)

// Prompt is the system prompt that a turn was begun with. One that equals the newest in all but its
// time is not kept again; one without content is never kept.
type Prompt struct {
	Timestamp      string   `json:"timestamp"`
	WorkflowMode   string   `json:"workflow_mode"`
	PermissionMode string   `json:"permission_mode"`
	CurrentTask    *string  `json:"current_task"`
	PromptFormat   *string  `json:"prompt_format"`
	PromptSections []string `json:"prompt_sections"`
	Content        string   `json:"content"`
}

// Normal is the prompt with defaults for modes that are blank, null for other blank texts, and an
// empty list instead of none. ok is false when it has no content, and then it is not kept.
func (p Prompt) Normal() (q Prompt, ok bool) {
	if blank(p.WorkflowMode) {
		p.WorkflowMode = DefaultWorkflowMode
	}
	if blank(p.PermissionMode) {
		p.PermissionMode = permission.DefaultMode
	}
	p.CurrentTask, p.PromptFormat = unblank(p.CurrentTask), unblank(p.PromptFormat)
	p.PromptSections = unblanks(p.PromptSections)
	return p, p.Content != ""
}

// Repeats reports whether p, both being Normal, is latest in all but its time; then it is not kept
// again.
func (p Prompt) Repeats(latest Prompt) bool {
	p.Timestamp = latest.Timestamp
	return reflect.DeepEqual(p, latest)
}

func decodePrompts(f fields) []Prompt {
	list := listOf(f, "prompt_history", func(o fields) Prompt {
		p, _ := Prompt{
			Timestamp: o.text("timestamp", ""), WorkflowMode: o.content("workflow_mode"),
			PermissionMode: o.content("permission_mode"),
			CurrentTask:    o.maybe("current_task"), PromptFormat: o.maybe("prompt_format"),
			PromptSections: o.texts("prompt_sections"),
			Content:        o.content("content"),
		}.Normal()
		return p
	})
	return slices.DeleteFunc(list, func(p Prompt) bool { return p.Content == "" })
}
