package stream

import "context"

// Terminal is what a viewer's connection needs of a live terminal. Methods are safe for concurrent
// use; errors are sentences for the viewer.
type Terminal interface {
	Hub() *Hub
	// Input writes to the program, completely and in order, and waits for it. by is who types, here and below; nil is a
	// caller that is no viewer. Errors: also those of Hub.MayType.
	Input(ctx context.Context, by *Subscription, p []byte) error
	// TryInput is Input by the caller's goroutine where that takes no time; ok is false, and nothing is typed, where
	// Input would wait or fail. What the program does not take at once is written behind, before whatever is typed
	// later; failed is called if the program does not take it, and must return at once. p is the terminal's.
	TryInput(by *Subscription, p []byte, failed func(error)) (ok bool)
	// Keys presses named keys.
	Keys(ctx context.Context, by *Subscription, names []string) error
	// Paste inserts text as the program's modes want it, bracketed or not.
	Paste(ctx context.Context, by *Subscription, text string) error
	// RequestSize notes the size that a viewer requests (0: none, it was only active) and resizes
	// the terminal if its policy says so.
	RequestSize(sub *Subscription, cols, rows int) error
	// Hide is Subscription.Hide; the size may change.
	Hide(sub *Subscription, hidden bool)
	// Detach closes sub; the size may change for the remaining viewers, or back when there are none.
	Detach(sub *Subscription)
}

// Directory is how a page finds terminals.
type Directory interface {
	// Find returns the terminal with that id; its error is a sentence.
	Find(id string) (Terminal, error)
	// List is the JSON array of all terminals.
	List() []byte
	// Watch gets a value when List may have changed, until stop is called.
	Watch() (changed <-chan struct{}, stop func())
}
