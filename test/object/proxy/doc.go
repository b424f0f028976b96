// Package proxy is a proxy between a client and a storage server that fails as networks and servers
// do: it answers with errors, breaks connections, stalls, cuts bodies short, and loses the answers
// to requests that were carried out.
package proxy
