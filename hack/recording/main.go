// Command recording draws pictures of what the program mcp-admin prints, in docs/pictures: terminal.svg, in which the
// commands run that a new user runs first, and rights.svg, the matrix of rights of config/samples. "make recording" runs it.
//
//	go run ./hack/recording [-check]     in the project's folder
//
// With -check it writes nothing, and fails if a picture is not what the commands print today.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// limit ends a run that hangs.
const limit = 5 * time.Minute

func main() {
	check := flag.Bool("check", false, "fail if a picture is not what the commands print, and write nothing")
	flag.Parse()
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	if err := run(ctx, ".", *check); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

// run draws what the program that the checkout has prints.
func run(ctx context.Context, checkout string, check bool) error {
	folder, err := os.MkdirTemp("", "recording-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "mcp-admin")
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, "./cmd/mcp-admin")
	build.Dir = checkout
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	steps, err := record(ctx, program, folder)
	if err != nil {
		return err
	}
	rights, err := readMatrix(ctx, program, checkout)
	if err != nil {
		return err
	}
	do := write
	if check {
		do = compare
	}
	pictures := filepath.Join(checkout, "docs", "pictures")
	return errors.Join(do(filepath.Join(pictures, "terminal.svg"), draw(steps)), do(filepath.Join(pictures, "rights.svg"), drawRights(rights)))
}

func write(file, picture string) error { return os.WriteFile(file, []byte(picture), 0o644) }

// compare fails if a file is not the picture.
func compare(file, picture string) error {
	there, err := os.ReadFile(file)
	if err == nil && string(there) != picture {
		err = errors.New(file + ` is not what the commands print; run "make recording", and look at the picture`)
	}
	return err
}
