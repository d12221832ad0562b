package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// noticedCalls are calls whose answers say what is not whole, or what else to do: the operation, what is after the model in its
// arguments, and a part of the answer.
var noticedCalls = []struct{ token, operation, model, arguments, says string }{
	{"root", "list", "letter", `"fields":["id","body"]`, "are shortened"},
	{"root", "list", "bare", ``, "are shortened"},
	{"root", "get", "letter", `"id":1`, "in pieces"},
	{"root", "get", "page", `"id":1`, "shows it in pieces"},
	{"root", "get", "person", `"id":1,"include_related":true`, "goes on with the rows of a relation"},
	{"root", "get", "person", `"id":1,"include_related":true`, "in related rows are cut"},
	{"root", "aggregate", "letter", `"group_by":["body"],"limit":1`, "are shortened"},
	{"root", "related", "person", `"id":1,"relation":"letter_by_person","limit":1`, "are shortened"},
	{"root", "list", "letter", `"filters":{"id":{"_measure":{"ratio":["a","b"]}}}`, "each with filters of its own"},
	{"root", "create", "refused", `"data":{"body":"x"}`, "look for it with"},
	{"adder", "create", "refused", `"data":{"body":"x"}`, "its id is not known"},
}

// Notices and errors name the tools that their caller has.
func TestNoticesNameToolsOfTheCallersList(t *testing.T) {
	var script strings.Builder
	script.WriteString(`create table person (id integer primary key, name text);
		create table letter (id integer primary key, person_id integer references person (id), body text);
		create table bare (body text); create table refused (id integer primary key, body text);
		create trigger refusal before insert on refused begin select raise(ignore); end;
		insert into person values (1, 'Ann');
		insert into bare values (printf('%.30000c', 'x'));
`)
	for id := 1; id <= 12; id++ {
		fmt.Fprintf(&script, "insert into letter values (%d, 1, printf('%%.300000c', 'x'));\n", id)
	}
	var columns, values strings.Builder
	for i := range 8 {
		fmt.Fprintf(&columns, ", part%d text", i)
		values.WriteString(", printf('%.200000c', 'x')")
	}
	fmt.Fprintf(&script, "create table page (id integer primary key%s);\ninsert into page values (1%s);\n", columns.String(), values.String())
	engine := onSQLite(t)
	database, plain := engine.Open(t, script.String())
	var served []contract.Model
	for _, name := range []string{"person", "letter", "bare", "refused", "page"} {
		served = append(served, contract.Model{Name: name, Table: name, Expose: true})
	}
	adder := tokens()[0]
	adder.Name, adder.Hashes, adder.Rules = "adder", []string{contract.HashToken(secret("adder"))}, []contract.Rule{{Models: []string{"*"}, Verbs: []string{"add"}}}
	s := &suite{engine, harness.Serve(t, database, served, []contract.Token{tokens()[0], adder}), plain}
	for _, call := range noticedCalls {
		for query, own := range map[string]string{"?tools=per-model": "_" + call.model, "?tools=generic": ""} {
			s.check(t, call.token+" at "+query+" by "+call.operation+" "+call.model+" "+call.says, func(t *testing.T) {
				r := callerTexts{suite: s, token: call.token, query: query}
				r.takeList(t)
				arguments := "{" + call.arguments + "}"
				if own == "" {
					arguments = strings.TrimSuffix(fmt.Sprintf(`{"model":%q,%s`, call.model, call.arguments), ",") + "}"
				}
				answer, _ := s.endpoint.Call(secret(call.token), call.operation+own, arguments)
				if !strings.Contains(answer, call.says) {
					t.Fatalf("%s%s %s does not say %q: %s … %s", call.operation, own, arguments, call.says, answer[:min(len(answer), 500)], answer[max(0, len(answer)-500):])
				}
				r.told = map[string]string{"the answer": strings.ReplaceAll(answer, `\"`, `"`)}
				r.namedToolsAreListed(t)
			})
		}
	}
}
