// Package proxy stands between a client and a storage server and does to requests what networks and
// servers do: it answers with errors, breaks connections, goes silent, cuts bodies short, and loses
// answers of requests that were carried out.
package proxy
