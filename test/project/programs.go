package project

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
)

// Build builds a package of the project, such as ./cmd/server, as a program of that path: without C, as all of the project's programs.
func Build(ctx context.Context, pkg, path string) error {
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path, pkg)
	build.Dir, build.Env = Root(), append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s cannot be built: %w\n%s", pkg, err, text)
	}
	return nil
}

// FreeAddress is an address of localhost on which nobody listened a moment ago.
func FreeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
