package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// profiles writes a profile of the server at each operation, with a list of its functions and a flame graph.
func (b *bench) profiles(ctx context.Context, ops []operation) error {
	if err := os.MkdirAll(b.profile, 0o700); err != nil {
		return err
	}
	for _, op := range ops {
		server := b.of(op)[0]
		name := filepath.Join(b.profile, strings.ToLower(b.engine.name)+"-"+strings.ReplaceAll(op.name, "/", "-"))
		warming := b.load(op, server)
		warming.duration = warm
		if r := warming.run(); len(r.failures) > 0 {
			return r.failures[0]
		}
		pages := strings.TrimSuffix(server.metrics, "metrics") + "debug/pprof/"
		for _, kind := range []struct{ page, suffix, sample, unit string }{
			{fmt.Sprintf("profile?seconds=%d", max(1, int(b.seconds))), "-cpu", "cpu", "ms"},
			{fmt.Sprintf("allocs?seconds=%d", max(1, int(b.seconds))), "-allocs", "alloc_space", "B"},
		} {
			l := b.load(op, server)
			l.duration = b.duration() + warm
			ended := make(chan loaded)
			go func() { ended <- l.run() }()
			profile, err := fetch(pages + kind.page)
			if r := <-ended; len(r.failures) > 0 {
				return r.failures[0]
			}
			if err != nil {
				return err
			}
			if err := drawn(ctx, name+kind.suffix, profile, kind.sample, kind.unit); err != nil {
				return err
			}
		}
		fmt.Printf("%s-*: .pprof for go tool pprof -http=:, .txt the functions, .svg the flame graph\n", name)
	}
	return nil
}

// drawn writes a profile in three forms.
func drawn(ctx context.Context, name, profile, sample, unit string) error {
	if err := os.WriteFile(name+".pprof", []byte(profile), 0o600); err != nil {
		return err
	}
	read := func(form ...string) ([]byte, error) {
		c := exec.CommandContext(ctx, "go", append(append([]string{"tool", "pprof", "-sample_index=" + sample}, form...), name+".pprof")...)
		c.Stderr = os.Stderr
		return c.Output()
	}
	functions, err := read("-top", "-nodecount=80")
	if err != nil {
		return err
	}
	traces, err := read("-traces", "-unit="+unit)
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".txt", functions, 0o600); err != nil {
		return err
	}
	return os.WriteFile(name+".svg", []byte(flameGraph(filepath.Base(name), readTraces(string(traces)))), 0o600)
}
