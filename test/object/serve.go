//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"
)

// serve lets tests that are not written in Go use the server until standard input ends.
//
// It prints one line, a JSON object with the endpoint, the bucket and the variables of the
// environment that hold the key. Then each line that it reads is a command, and is answered by one
// line, ok or what went wrong:
//
//	put KEY PATH    store a file as an object, by a client of S3, as users' programs do
//	delete KEY
func serve(ctx context.Context, s *server) error {
	about := map[string]any{"endpoint": s.url.String(), "bucket": bucket, "environment": environment()}
	if err := json.NewEncoder(os.Stdout).Encode(about); err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer := "ok"
		if err := carryOut(ctx, s, in.Text()); err != nil {
			answer = strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Println(answer)
	}
	return in.Err()
}

// carryOut carries out one command.
func carryOut(ctx context.Context, s *server, line string) error {
	command, rest, _ := strings.Cut(line, " ")
	name, path, _ := strings.Cut(rest, " ")
	switch command {
	case "put":
		_, err := s.client.FPutObject(ctx, bucket, name, path, minio.PutObjectOptions{})
		return err
	case "delete":
		return s.client.RemoveObject(ctx, bucket, name, minio.RemoveObjectOptions{})
	}
	return fmt.Errorf("%s: expected put or delete", command)
}
