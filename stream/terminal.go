package stream

import "context"

// Terminal is what a viewer's connection needs of a live terminal. Methods are
// safe for concurrent use; errors are sentences for the viewer.
type Terminal interface {
	Hub() *Hub
	// Input writes to the program, completely and in order, and waits for it.
	Input(ctx context.Context, p []byte) error
	// Keys are named keys, Paste is text in the way of the program's modes.
	Keys(ctx context.Context, names []string) error
	Paste(ctx context.Context, text string) error
	// Wish notes the size a viewer would like (0: none, it was only active) and
	// resizes the terminal when the policy says so.
	Wish(sub *Subscription, cols, rows int) error
	// Hide notes whether nobody looks at what the viewer shows; the size may change.
	Hide(sub *Subscription, hidden bool)
	// Leave ends a viewer; the size may change for those that remain.
	Leave(sub *Subscription)
}

// Directory is how a page finds terminals.
type Directory interface {
	// Find returns the terminal with that id; its error is a sentence.
	Find(id string) (Terminal, error)
	// List is the JSON array of what there is.
	List() []byte
	// Watch gets a value when List may have changed, until stop is called.
	Watch() (changed <-chan struct{}, stop func())
}
