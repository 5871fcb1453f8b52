// Package store keeps the conversations of threads, their permissions and approvals.
//
// The database (Database, Tx) is the truth. The files are a copy that other programs read, with
// the keys of a Loader record, version 11, and that survives the loss of the database.
// Conversations has both and is safe for concurrent use.
package store
