// Package wire has the requests, replies and events of evertty's HTTP API: the JSON of a body, of
// an event of a stream and of a message on a WebSocket. The server's OpenAPI document is generated
// from this package, so comments are its descriptions and the tags of fields its limits (minimum,
// maxLength, pattern, enum, …, in the words of JSON Schema). What a tag cannot say is a line of a
// comment that begins with //schema: and a keyword.
//
// A field that a reply may leave out, or a request need not have, has omitempty. One that is always
// there and may be null is a pointer without it. Numbers of events and positions in the output of a
// terminal, in bytes from 0, are uint64; times are in UTC.
package wire
