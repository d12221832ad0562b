package main

import (
	"bufio"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	_ "modernc.org/sqlite" // the database that is served
)

// shop is the database that is served.
//
//go:embed shop.sql
var shop string

// step is a command and what it printed.
type step struct {
	command string
	lines   []string
}

// served is the command that serves; its list of models is shown, and the output ends there with the line shownInstead: what
// follows are the tokens, with a text that lets its holder in.
const (
	served       = "mcp-admin dev --sqlite shop.sqlite"
	endOfModels  = "TOKENS"
	shownInstead = "… and a line to paste for Claude Code, Codex, Cursor, VS Code and others"
)

// calls are asked of it, in another terminal.
var calls = []string{
	"mcp-admin call shop-reader list_customers",
	"mcp-admin call shop-reader aggregate_orders group_by=customer__full_name measures.spent.sum=total",
	"mcp-admin call shop-reader update_orders id=2 data.state=paid",
}

// state is one more argument of the calls: where dev keeps its token.
const state = ".mcp-admin-dev"

// record runs the commands in a folder. The servers listen on free ports, and the picture has the ordinary one.
func record(ctx context.Context, program, folder string) ([]step, error) {
	if err := fill(ctx, filepath.Join(folder, "shop.sqlite")); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	server := exec.CommandContext(ctx, program, append(arguments(served), "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")...)
	server.Dir, server.Env = folder, plainEnvironment(folder)
	defer func() {
		stop()
		_ = server.Wait() // it was killed
	}()
	models, err := untilModels(server)
	if err != nil {
		return nil, err
	}
	steps := []step{{served, models}}
	for _, command := range calls {
		c := exec.CommandContext(ctx, program, append(arguments(command), "--state", state)...)
		c.Dir, c.Env = folder, plainEnvironment(folder)
		output, err := c.Output()
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			return nil, fmt.Errorf("%s: %w", command, err)
		}
		if len(output) == 0 {
			return nil, fmt.Errorf("%s prints nothing: %s", command, ended.Stderr)
		}
		steps = append(steps, step{command + " --state " + state, strings.Split(strings.TrimSpace(string(output)), "\n")})
	}
	return steps, nil
}

func fill(ctx context.Context, file string) error {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, shop)
	return errors.Join(err, db.Close())
}

// arguments returns the arguments of a command line without quotes.
func arguments(command string) []string { return strings.Fields(command)[1:] }

// plainEnvironment lets nothing of this machine into what is printed.
func plainEnvironment(home string) []string { return []string{"HOME=" + home, "NO_COLOR=1", "TZ=UTC"} }

// anyPort is the address of a server of the recording.
var anyPort = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// anyKey is the key of the page's link, which is another one each time.
var anyKey = regexp.MustCompile(`/open/[A-Z2-7]{26}`)

// untilModels starts the server, and returns its lines up to the tokens. The rest of its output is read and thrown away.
func untilModels(server *exec.Cmd) ([]string, error) {
	output, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var said strings.Builder
	server.Stderr = &said
	if err := server.Start(); err != nil {
		return nil, err
	}
	var lines []string
	scanner := bufio.NewScanner(output)
	for scanner.Scan() {
		if scanner.Text() != endOfModels {
			line := anyPort.ReplaceAllString(scanner.Text(), net.JoinHostPort("127.0.0.1", "8080"))
			lines = append(lines, anyKey.ReplaceAllString(line, "/open/…"))
			continue
		}
		go func() {
			for scanner.Scan() { // so that the server never waits for a reader
			}
		}()
		return append(lines, shownInstead), nil
	}
	return nil, errors.Join(fmt.Errorf("%s ended without %q: %s", served, endOfModels, said.String()), scanner.Err())
}
