package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/sqlite"
	"github.com/mcp-admin/mcp-admin-operator/server/snapshot"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/approval"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The suite's tasks take some seconds. Here they are calls of the product that other people must allow, and people do so after as many
// seconds; a job of denied seconds they deny.
const (
	greet         = "greet"
	slowCompute   = "slow_compute"
	failingJob    = "failing_job"
	confirmDelete = "confirm_delete"
	taskAfterAsk  = "test_tool_with_task"

	denied = -1
)

const jobTools = `{"name":"` + greet + `","description":"Greets.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}}},
	{"name":"` + slowCompute + `","description":"Adds a job, which people allow after some seconds.","inputSchema":{"type":"object","properties":{"seconds":{"type":"integer"},"label":{"type":"string"}}}},
	{"name":"` + failingJob + `","description":"Adds a job, which people deny.","inputSchema":{"type":"object"}},
	{"name":"` + confirmDelete + `","description":"Deletes a job, and asks before.","inputSchema":{"type":"object","properties":{"filename":{"type":"string"}}}},
	{"name":"` + taskAfterAsk + `","description":"Asks for a name, and adds a job for it.","inputSchema":{"type":"object"}}`

// jobs are the calls that wait.
type jobs struct {
	mu sync.Mutex
	// added is how many jobs were asked for: no two are the same call.
	added int
	// made are the calls of the product, by the approvals that they wait for.
	made map[string]call.TaskCall
}

// job runs a tool that adds or deletes a job, by the product's own tool; false if it is none.
func (f *fixture) job(ctx context.Context, token access.Token, tool string, arguments []byte, elicited *call.Elicited) (call.Result, bool) {
	var given struct {
		Name, Label string
		Seconds     int
	}
	if err := json.Unmarshal(arguments, &given); len(arguments) > 0 && err != nil {
		return call.Result{}, false
	}
	switch tool {
	case greet:
		return said("Hello, " + given.Name + "!"), true
	case confirmDelete:
		return f.Endpoint.CallElicited(ctx, token, "action_job", []byte(`{"action":"delete_selected","ids":[1]}`), elicited), true
	case slowCompute:
		return f.add(ctx, token, given.Label, given.Seconds), true
	case failingJob:
		return f.add(ctx, token, "failing", denied), true
	case taskAfterAsk:
		name, ok := givenName(elicited)
		if !ok {
			return question("user_name", "What is your name?", "name", "string", "asked"), true
		}
		return f.add(ctx, token, name, 0), true
	}
	return call.Result{}, false
}

func givenName(elicited *call.Elicited) (string, bool) { return given(elicited, "user_name", "name") }

// add adds a job by the product's create tool.
func (f *fixture) add(ctx context.Context, token access.Token, label string, seconds int) call.Result {
	f.jobs.mu.Lock()
	defer f.jobs.mu.Unlock()
	f.jobs.added++
	made := call.TaskCall{Tool: "create_job", Arguments: encode(map[string]any{"data": map[string]any{"name": fmt.Sprintf("%s %d", label, f.jobs.added), "seconds": seconds}})}
	result := f.Endpoint.Call(ctx, token, made.Tool, made.Arguments)
	if result.Waits != "" {
		f.jobs.made[result.Waits] = made
	}
	return result
}

// HoldTask implements mcp.Endpoint: the task is the product's call.
func (f *fixture) HoldTask(token access.Token, waitsFor string, _ call.TaskCall) (call.Task, bool) {
	f.jobs.mu.Lock()
	defer f.jobs.mu.Unlock()
	return f.Endpoint.HoldTask(token, waitsFor, f.jobs.made[waitsFor])
}

const jobTable = `
CREATE TABLE job (id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL, seconds INTEGER NOT NULL);
INSERT INTO job VALUES (1, 'the first', 0);
`

// newFixture makes the fixture over a table of jobs, with people who decide until ctx ends.
func newFixture(ctx context.Context, config *contract.Config, folder string) (*fixture, error) {
	config.Models = []contract.Model{{Exposure: "job", Name: "job", Table: "job", Expose: true, VerboseName: "job", VerboseNamePlural: "jobs",
		DefaultPageSize: 100, MaxPageSize: 1000, MaxBulkItems: 1000}}
	config.Endpoint.Idempotency = &contract.AuditTable{Name: "mcp_admin_answers"}
	config.Endpoint.Approvals = []contract.ApprovalPolicy{{Name: "jobs", Sum: "1", Models: []string{"job"}, Operations: []string{contract.ApproveCreate},
		MinApprovals: 1, ExpiresAfter: contract.Duration(time.Hour), Show: contract.ShowValues}}
	sql := filepath.Join(folder, "sql")
	if err := os.Mkdir(sql, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(sql, "tables.sql"), []byte(jobTable), 0o600); err != nil {
		return nil, err
	}
	db := sqlite.Open(database.Settings{Database: config.Endpoint.Database, Idempotency: config.Endpoint.Idempotency,
		SQLitePath: filepath.Join(folder, "database"), SQLiteInitDir: sql})
	schema, err := db.Introspect(ctx)
	if err != nil {
		return nil, err
	}
	news := make(chan struct{}, 1)
	register := approval.NewRegister(func() {
		select {
		case news <- struct{}{}:
		default: // they look anyway
		}
	}, nil)
	go people(ctx, register, news)
	go func() {
		<-ctx.Done()
		db.Close()
	}()
	inside := snapshot.Build(config, access.DirectoryOf(config), schema, db, nil, nil, register, nil, nil)
	return &fixture{Endpoint: inside, jobs: jobs{made: map[string]call.TaskCall{}}}, nil
}

// people decide about each job after as many seconds as it says.
func people(ctx context.Context, register *approval.Register, news chan struct{}) {
	var mu sync.Mutex
	decisions := map[string]*contract.Decision{}
	cursor := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-news:
		}
		page := register.Page(cursor)
		cursor = page.Cursor
		for _, a := range page.Approvals {
			if a.State != contract.ApprovalWaiting || len(a.Changes) == 0 {
				continue
			}
			d := &contract.Decision{Name: a.Name, Digest: a.Digest, Caller: a.Caller, Tool: a.Tool, State: contract.ApprovalApproved, By: []string{"ana"}, Expires: time.Now().Add(time.Hour)}
			seconds, _ := strconv.Atoi(call.PlainText(a.Changes[0].After["seconds"])) // it is a number
			if seconds == denied {
				d.State, seconds = contract.ApprovalDenied, 0
			}
			time.AfterFunc(time.Duration(seconds)*time.Second, func() {
				mu.Lock()
				defer mu.Unlock()
				decisions[d.Digest] = d
				register.Decide(maps.Clone(decisions))
			})
		}
	}
}
