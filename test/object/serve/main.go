// Command serve runs a real S3 server, versitygw, on this machine until its standard input ends:
// for tests that are not written in Go.
//
// It prints one line, a JSON object with the endpoint, the bucket and the variables of the
// environment that hold the key. Then each line that it reads is a command, and is answered by one
// line, ok or what went wrong:
//
//	put KEY PATH    store a file as an object, by a client of S3, as users' programs do
//	delete KEY
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/minio/minio-go/v7"

	"github.com/idxport/idxport/test/object/gateway"
)

func main() {
	server := flag.String("versitygw", "", "the server; empty: install it")
	flag.Parse()
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *server)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, server string) (err error) {
	work, err := os.MkdirTemp("", "idxport-serve-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	s, err := gateway.Start(ctx, server, work)
	if err != nil {
		return err
	}
	defer s.Stop()
	about := map[string]any{"endpoint": s.Endpoint, "bucket": gateway.Bucket, "environment": gateway.Environment()}
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
func carryOut(ctx context.Context, s *gateway.Server, line string) error {
	command, rest, _ := strings.Cut(line, " ")
	name, path, _ := strings.Cut(rest, " ")
	switch command {
	case "put":
		_, err := s.Client.FPutObject(ctx, gateway.Bucket, name, path, minio.PutObjectOptions{})
		return err
	case "delete":
		return s.Client.RemoveObject(ctx, gateway.Bucket, name, minio.RemoveObjectOptions{})
	}
	return fmt.Errorf("%s: expected put or delete", command)
}
