// Command recording runs the commands that a new user runs first, and draws what they print as a terminal: the picture of
// the README. "make recording" runs it.
//
//	go run ./hack/recording [-check] [FILE]     FILE is docs/pictures/terminal.svg if absent
//
// With -check it writes nothing, and fails if the picture in FILE is not what the commands print today.
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
	check := flag.Bool("check", false, "fail if the picture is not what the commands print, and write nothing")
	flag.Parse()
	file := "docs/pictures/terminal.svg"
	if flag.NArg() > 0 {
		file = flag.Arg(0)
	}
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	if err := run(ctx, ".", file, *check); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

// run records the program that the checkout has.
func run(ctx context.Context, checkout, file string, check bool) error {
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
	picture := draw(steps)
	if !check {
		return os.WriteFile(file, []byte(picture), 0o644)
	}
	there, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(there) != picture {
		return errors.New(file + ` is not what the commands print; run "make recording", and look at the picture`)
	}
	return nil
}
