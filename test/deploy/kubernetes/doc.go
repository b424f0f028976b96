// Package kubernetes checks the manifests of deploy/ against Kubernetes: they are decoded strictly
// into the published types, given the defaults, and validated by the code that the API server runs
// when a Job is created. No cluster is needed. It is a module of its own, as Kubernetes is no
// dependency of the program.
package kubernetes
