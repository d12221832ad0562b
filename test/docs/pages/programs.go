package pages

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build builds programs of the project into a folder.
func Build(ctx context.Context, checkout, folder string, packages ...string) error {
	command := exec.CommandContext(ctx, "go", append([]string{"build", "-buildvcs=false", "-o", folder}, packages...)...)
	command.Dir = checkout
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}

// NewSession is a session in a folder, whose commands find the programs of another one, and kubectl of the project's
// control plane if it is there.
func NewSession(folder, checkout, programs string) *Session {
	path := []string{programs, filepath.Join(checkout, "bin"), os.Getenv("KUBEBUILDER_ASSETS"), os.Getenv("PATH")}
	environment := append(os.Environ(),
		"PATH="+strings.Join(path, string(os.PathListSeparator)), "GOBIN="+programs, "HOME="+folder, "NO_COLOR=1")
	// Caches and settings stay where they are: only what a reader would write goes into the folder.
	if output, err := exec.Command("go", "env", "GOPATH", "GOCACHE", "GOMODCACHE").Output(); err == nil {
		for i, value := range strings.Fields(string(output)) {
			environment = append(environment, []string{"GOPATH", "GOCACHE", "GOMODCACHE"}[i]+"="+value)
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		environment = append(environment, "npm_config_userconfig="+filepath.Join(home, ".npmrc")) // where packages come from
	}
	return &Session{Folder: folder, Checkout: checkout, Environment: environment}
}

// Taken is the first address used by the documents on which another program listens; "" if there is none.
func Taken() string {
	for _, address := range []string{"127.0.0.1:8080", "127.0.0.1:8081"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return address
		}
		_ = listener.Close() // nothing was sent
	}
	return ""
}
