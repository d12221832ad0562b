// Program release makes what a release consists of, in the folder dist: images as OCI archives, mcp-admin for people's
// machines, the chart, install.yaml, lists of what is in the programs, and checksums. It needs Go and git, no Docker. The
// same commit and version give the same bytes on every machine with the same Go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	version := flag.String("version", "", "what the release calls itself, such as v1.2.3")
	only := flag.String("only", "", "write one part alone: images, chart or duckdb")
	platforms := flag.String("platforms", "", "with -only images, what they are for: linux/amd64, linux/arm64, or both with a comma between (default: both)")
	dist := flag.String("dist", "dist", "the folder that is written; what was in it goes")
	flag.Parse()
	started := time.Now()
	summary, err := makeRelease(ctx, *version, *dist, part(*only), *platforms)
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	fmt.Printf("%s, in %s\n", summary, time.Since(started).Round(time.Second))
}

// makeRelease makes the release in a folder beside dist, which takes dist's place when all is there.
func makeRelease(ctx context.Context, version, dist string, only part, platforms string) (string, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return "", err
	}
	r, err := newRelease(ctx, root, version)
	if err != nil {
		return "", err
	}
	if r.platforms, err = parsePlatforms(platforms); err != nil {
		return "", err
	}
	r.dist = dist + ".new"
	if err := os.RemoveAll(r.dist); err != nil {
		return "", err
	}
	defer os.RemoveAll(r.dist)
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	summary, err := r.write(ctx, work, only)
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(dist); err != nil {
		return "", err
	}
	return summary + " in " + dist, os.Rename(r.dist, dist)
}
