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

// bucket is the only one.
const bucket = "idx"

// The key of the server, which programs find in their environment, and must not show.
const (
	accessKey = "AKIAIDXPORTTESTING00"
	secretKey = "not/a/real/secret/but/never/to/be/shown0"
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
	if server == "" {
		if server, err = gateway.Install(ctx, work); err != nil {
			return err
		}
	}
	s, err := gateway.Start(ctx, server, work, bucket, accessKey, secretKey)
	if err != nil {
		return err
	}
	defer s.Stop()
	about := map[string]any{"endpoint": s.Endpoint, "bucket": bucket, "environment": map[string]string{
		"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_REGION": gateway.Region,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull}}
	if err := json.NewEncoder(os.Stdout).Encode(about); err != nil {
		return err
	}
	return obey(ctx, s)
}

// obey carries out the commands on standard input until that ends or the context does.
func obey(ctx context.Context, s *gateway.Server) error {
	lines := make(chan string)
	ended := make(chan error, 1)
	go func() { // ends with the program, which has nothing else to do
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			lines <- in.Text()
		}
		ended <- in.Err()
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return err
		case line := <-lines:
			answer := "ok"
			if err := carryOut(ctx, s, line); err != nil {
				answer = strings.ReplaceAll(err.Error(), "\n", " ")
			}
			fmt.Println(answer)
		}
	}
}

// carryOut does what a line says.
func carryOut(ctx context.Context, s *gateway.Server, line string) error {
	command, rest, _ := strings.Cut(line, " ")
	name, path, _ := strings.Cut(rest, " ")
	switch command {
	case "put":
		_, err := s.Client.FPutObject(ctx, bucket, name, path, minio.PutObjectOptions{})
		return err
	case "delete":
		return s.Client.RemoveObject(ctx, bucket, name, minio.RemoveObjectOptions{})
	}
	return fmt.Errorf("%s: expected put or delete", command)
}
