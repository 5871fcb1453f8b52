// Package protocol is what a keeper and a server say to each other.
//
// One JSON object per packet of a SOCK_SEQPACKET socket, DIR/keeper.sock, with descriptors as SCM_RIGHTS (unix(7)).
// Packets are, as bytes, in testdata. Both sides check that the other one is a process of the same user. What a server
// says wrong ends its connection and nothing else. Requests are carried out in the order in which they were sent, but a
// start only begins then: a program on a dead file system delays further starts and nothing else.
package protocol
