package conversation

import (
	"reflect"
	"slices"

	"github.com/evertty/evertty/internal/permission"
)

// NormalPrompt is the prompt with defaults for modes that are blank, null for other blank texts,
// and an empty list instead of none. ok is false when it has no content, and then it is not kept.
func NormalPrompt(p Prompt) (q Prompt, ok bool) {
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

// Repeats reports whether a normal prompt is the latest in all but its time; then it is not kept
// again.
func Repeats(p, latest Prompt) bool {
	p.Timestamp = latest.Timestamp
	return reflect.DeepEqual(p, latest)
}

func decodePrompts(f fields) []Prompt {
	list := listOf(f, "prompt_history", func(o fields) Prompt {
		p, _ := NormalPrompt(Prompt{
			Timestamp: o.text("timestamp", ""), WorkflowMode: o.content("workflow_mode"),
			PermissionMode: o.content("permission_mode"),
			CurrentTask:    o.maybe("current_task"), PromptFormat: o.maybe("prompt_format"),
			PromptSections: o.texts("prompt_sections"),
			Content:        o.content("content"),
		})
		return p
	})
	return slices.DeleteFunc(list, func(p Prompt) bool { return p.Content == "" })
}
