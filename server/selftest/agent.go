package selftest

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/snapshot"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// agent makes calls as an agent would that may do everything with the tables of the test.
type agent struct {
	snapshot *snapshot.Snapshot
	token    access.Token
}

// tokenText is the agent's token, which leaves the process as little as the endpoint.
const tokenText = "mcp_selftestselftest.0000000000000000000000000000000000000000000"

// newAgent serves the tables of the test as models whose names are the ends of the tables' names.
func newAgent(r *run, e contract.Endpoint, schema *database.Schema) *agent {
	e.Namespace, e.Name, e.SealKey = "selftest", "selftest", contract.NewSealKey()
	e.Limits = contract.Limits{MaxBodyBytes: 1 << 20, MaxConcurrentRequests: 10, MaxResultBytes: 1 << 20, MaxExportRows: 1000}
	config := &contract.Config{Version: contract.Version, Revision: 1, Endpoint: e, Tokens: []contract.Token{{
		Namespace: "selftest", Name: "agent", Hashes: []string{contract.HashToken(tokenText)},
		Rules: []contract.Rule{{Models: []string{contract.Wildcard}, Verbs: []string{contract.Wildcard}}},
	}}}
	for _, table := range r.SQL.Names[:r.tables.own()] {
		name := modelName(table)
		m := contract.Model{Name: name, Exposure: name, Table: table, Schema: r.Schema, VerboseName: name, VerboseNamePlural: name + "s", DefaultPageSize: 100, MaxPageSize: 100, MaxBulkItems: 100}
		if name == "item" {
			m.VersionField = "version"
		}
		if parent := parents[name]; parent != "" && !r.tables.keys {
			m.Relations = []contract.Relation{{Name: parent, Columns: []string{parent + "_id"}, Model: parent}}
		}
		config.Models = append(config.Models, m)
	}
	s := snapshot.Build(config, access.DirectoryOf(config), schema, r.base, nil, nil, nil, nil, nil)
	return &agent{s, s.Authenticate(access.ReadBearer("Bearer "+tokenText), time.Now())}
}

// parents are the models to which others lead, as far as the engine takes foreign keys by those.
var parents = map[string]string{"item": "kind", "part": "item"}

// modelName is the model of a table.
func modelName(table string) string { return table[strings.LastIndexByte(table, '_')+1:] }

// refusal is the error of a tool.
type refusal struct {
	tool    string
	code    call.Code
	message string
	// answer is what the tool answered, cause the database's error if there was one.
	answer string
	cause  error
}

func (e *refusal) Error() string { return e.tool + ": " + string(e.code) + ": " + e.message }

// call calls a tool.
func (a *agent) call(ctx context.Context, tool, arguments string) (string, error) {
	answer := a.snapshot.Call(ctx, a.token, tool, []byte(arguments))
	text := string(answer.Text)
	answer.Release()
	if answer.IsError {
		return text, &refusal{tool, answer.Code, answer.Message, text, answer.Cause}
	}
	return text, nil
}

// ask calls a tool and decodes what it answers.
func (a *agent) ask(ctx context.Context, tool, arguments string) (answer answer, err error) {
	text, err := a.call(ctx, tool, arguments)
	if err == nil {
		err = json.Unmarshal([]byte(text), &answer)
	}
	return answer, err
}

// answer has the members that the checks look at, of all tools' answers.
type answer struct {
	Call   string
	Object struct {
		ID      json.Number
		Price   string
		Version int
	}
	Count        int
	TotalCount   *int `json:"total_count"`
	SuccessCount int  `json:"success_count"`
	ErrorCount   int  `json:"error_count"`
	Replayed     bool
	Results      json.RawMessage
}
