package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
)

// withDuckDB is the server that reads with DuckDB. It needs C, so it is built for this machine's processor alone, and is no part of
// a release. It is static all the same: its image holds nothing but the program, as the others do.
var withDuckDB = program{
	name: "mcp-admin-server", image: "server-duckdb", folder: "duckdb/mcp-admin-server",
	description: "The MCP server of one endpoint of mcp-admin-operator, with DuckDB",
}

func (r *release) writeDuckDBOnly(ctx context.Context, work string) (string, error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("the image with DuckDB is built on Linux alone, as it needs C; build it with the Dockerfile")
	}
	here := target{runtime.GOOS, runtime.GOARCH}
	r.platforms, r.withC = []target{here}, true
	files := executables{withDuckDB.name: {here: filepath.Join(work, withDuckDB.name)}}
	if err := r.buildWithDuckDB(ctx, files[withDuckDB.name][here]); err != nil {
		return "", err
	}
	if err := r.askVersions(ctx, []program{withDuckDB}, files); err != nil {
		return "", err
	}
	_, err := r.writeImages([]program{withDuckDB}, files)
	return fmt.Sprintf("image with DuckDB: %s, for %s", r.version, here), err
}

// buildWithDuckDB builds in the module that has DuckDB, of which the other programs know nothing.
func (r *release) buildWithDuckDB(ctx context.Context, file string) error {
	fmt.Printf("building %s with DuckDB (minutes, the first time) …\n", withDuckDB.name)
	// A static program cannot load what C looks hosts and users up with, so that must be Go's own.
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs="+strconv.FormatBool(r.clean()), "-tags", "netgo,osusergo", "-o", file,
		"-ldflags", `-s -w -linkmode external -extldflags "-static" -X `+module+"/contract/version.version="+r.version, "./"+filepath.Base(withDuckDB.folder))
	command.Dir = filepath.Join(r.source, "cmd", filepath.Dir(withDuckDB.folder))
	command.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	if problem, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building with DuckDB, which needs a compiler for C++: %w\n%s", err, problem)
	}
	return nil
}
