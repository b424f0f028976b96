//go:build linux

package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azb "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"

	"github.com/idxport/idxport/test/object/proxy"
)

// azurite is the folder whose package-lock.json pins the server for Azure Blob Storage.
const azurite = "test/object/azurite"

// account is the name of the account that the server has.
const account = "idxporttest"

// accountKey must not be shown by the program.
var accountKey = base64.StdEncoding.EncodeToString([]byte("not a real secret, but never to be shown"))

// An azblobServer is looked at by the kit of Azure.
type azblobServer struct {
	*process
	client *azblob.Client
}

func startAzblob(ctx context.Context, set settings, work string) (cloud, error) {
	address, err := free()
	if err != nil {
		return nil, err
	}
	folder := set.azurite
	if folder == "" {
		if folder, err = installAzurite(ctx, work); err != nil {
			return nil, err
		}
	}
	key, err := azblob.NewSharedKeyCredential(account, accountKey)
	if err != nil {
		return nil, err
	}
	s := &azblobServer{}
	if s.client, err = azblob.NewClientWithSharedKeyCredential("http://"+address+"/"+account, key, nil); err != nil {
		return nil, err
	}
	host, port, _ := strings.Cut(address, ":")
	c := exec.CommandContext(ctx, "node", filepath.Join(folder, "node_modules/azurite/dist/src/blob/main.js"), "--silent", "--disableTelemetry",
		"--skipApiVersionCheck", "--location", filepath.Join(work, "azure"), "--blobHost", host, "--blobPort", port)
	c.Env = append(os.Environ(), "AZURITE_ACCOUNTS="+account+":"+accountKey)
	s.process, err = launch(address, work, c, func() error {
		_, err := s.client.CreateContainer(ctx, bucket, nil)
		return err
	})
	return s, err
}

// installAzurite installs the server in the working folder, with Node's package manager.
func installAzurite(ctx context.Context, work string) (string, error) {
	folder := filepath.Join(work, "azurite")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(azurite, name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return "", err
		}
	}
	c := exec.CommandContext(ctx, "npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund")
	c.Dir, c.Stderr = folder, os.Stderr
	fmt.Println("installing", azurite)
	return folder, c.Run()
}

func (s *azblobServer) at(u *url.URL) place {
	return place{"azblob", url.Values{"domain": {u.Host}, "protocol": {"http"}}, []string{"AZURE_STORAGE_ACCOUNT=" + account, "AZURE_STORAGE_KEY=" + accountKey}}
}

func (s *azblobServer) stranger() *place {
	p := s.at(s.url)
	p.environ = []string{"AZURE_STORAGE_ACCOUNT=" + account, "AZURE_STORAGE_KEY=" + base64.StdEncoding.EncodeToString([]byte("another key"))}
	return &p
}

func (s *azblobServer) put(ctx context.Context, key string, text []byte, encoding string) error {
	o := &azblob.UploadBufferOptions{}
	if encoding != "" {
		o.HTTPHeaders = &azb.HTTPHeaders{BlobContentEncoding: &encoding}
	}
	_, err := s.client.UploadBuffer(ctx, bucket, key, text, o)
	return err
}

func (s *azblobServer) get(ctx context.Context, key string) ([]byte, error) {
	answer, err := s.client.DownloadStream(ctx, bucket, key, nil)
	if bloberror.HasCode(err, bloberror.BlobNotFound) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// left is nothing: blocks that are sent and not committed cannot be removed, and are by Azure itself after a week.
func (s *azblobServer) left(context.Context, string) (int, error) { return 0, nil }

func (s *azblobServer) clean(context.Context, string) error { return nil }

func (s *azblobServer) last(r *http.Request) bool {
	return r.Method == http.MethodPut && r.URL.Query().Get("comp") != "block"
}

func (s *azblobServer) suits(f proxy.Fault, _ *http.Request) proxy.Fault { return f }
