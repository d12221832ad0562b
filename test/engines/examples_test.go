package engines

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// deskShop has columns of few values and of many.
const deskShop = `
create table ticket (id int primary key, region varchar(10), topic varchar(100), stars int, day date, total decimal(8,2), mood varchar(10), secret_note varchar(10), number varchar(10), team_id int);
create table team (id int primary key, name varchar(20));
insert into team values (1, 'red'), (2, 'blue');
insert into ticket values
  (1, 'emea', 'Returns', 5, '2026-01-05', 1.50, 'good', 'x', 'n1', 1), (2, 'emea', 'returns', 4, '2026-01-05', 1.5, 'good', 'x', 'n2', 1),
  (3, 'apac', 'Price', 5, '2026-02-01', 20, 'bad', 'y', 'n3', 2), (4, 'apac', null, null, null, null, null, null, 'n4', null)`

func deskModels() []contract.Model {
	show := func(names ...string) (all []contract.FieldOverride) {
		for _, name := range names {
			all = append(all, contract.FieldOverride{Name: name, Examples: true})
		}
		return all
	}
	call := func(ask, tool, arguments string) contract.Question {
		return contract.Question{Ask: ask, Tool: tool, Arguments: json.RawMessage(arguments)}
	}
	return []contract.Model{
		{Name: "team", Table: "team", Expose: true},
		{Name: "ticket", Table: "ticket", Expose: true, Masked: []contract.MaskedField{{Name: "mood"}}, Exclude: []string{"secret_note"},
			Overrides: show("region", "topic", "stars", "day", "total", "mood", "secret_note", "number"),
			Relations: []contract.Relation{{Name: "team", Columns: []string{"team_id"}, Model: "team"}},
			RowPolicies: []contract.RowPolicy{
				{Name: "own", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: "region", TokenAttribute: "region"}}},
				{Name: "staff", Groups: []string{"staff"}, AllRows: true},
			},
			Questions: []contract.Question{
				call("Which topics come up most?", "aggregate", `{"measures":{"n":{"count":"*"}},"group_by":["topic"],"order_by":["-n"]}`),
				call("Which team has the most tickets?", "aggregate", `{"measures":{"n":{"count":"*"}},"group_by":["team__name"]}`),
				call("What is the newest ticket?", "list", `{"order_by":["-day"],"limit":1}`),
				call("Who is in a bad mood?", "list", `{"filters":{"mood":"bad"}}`),
				call("What is a ticket?", "describe", ""),
				call("What is ticket 99?", "get", `{"id":99}`),
				call("Which tickets has the first one's team?", "related", `{"id":1,"relation":"team"}`),
				call("Which are called so?", "autocomplete", `{"term":"n1"}`),
			}},
	}
}

// examplesOf are the examples of a description, by fields.
func examplesOf(t *testing.T, described object) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range described["fields"].([]any) {
		if values, ok := f.(object)["examples"].([]any); ok {
			text, _ := json.Marshal(values)
			all[f.(object)["name"].(string)] = string(text)
		}
	}
	return all
}

func TestExamples(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			var clock atomic.Int64
			clock.Store(time.Now().Unix())
			opened, plain := engine.Open(t, deskShop)
			prepare := func(s *server.Server) { s.Now = func() time.Time { return time.Unix(clock.Load(), 0) } }
			s := &suite{engine, harness.ServeAs(t, prepare, opened, deskModels(), tokens(), withAudit), plain}
			topics := `["Price","Returns","returns"]`
			s.check(t, "all values of few", func(t *testing.T) {
				got := examplesOf(t, s.ok(t, "viewer", "describe_ticket", `{}`))
				var names []string
				_ = json.Unmarshal([]byte(got["topic"]), &names)
				slices.Sort(names)
				sorted, _ := json.Marshal(names)
				if string(sorted) != topics || got["region"] != `["apac","emea"]` || got["stars"] != "[4,5]" || got["day"] != `["2026-01-05","2026-02-01"]` || got["total"] != `["1.50","20.00"]` && got["total"] != `["1.5","20"]` && got["total"] != `["1.5","20.0"]` {
					t.Errorf("got %v", got)
				}
				if len(got) != 6 {
					t.Errorf("got %v, want no examples of masked and hidden fields, and of fields that ask for none", got)
				}
			})
			s.check(t, "of rows that the token sees", func(t *testing.T) {
				if got := examplesOf(t, s.ok(t, "clerk", "describe_ticket", `{}`)); got["region"] != `["emea"]` || got["stars"] != "[4,5]" || got["number"] != `["n1","n2"]` {
					t.Errorf("a clerk of emea gets %v", got)
				}
				for _, token := range []string{"lost", "stranger"} {
					if got := examplesOf(t, s.ok(t, token, "describe_ticket", `{}`)); len(got) > 0 {
						t.Errorf("%s sees no row, and gets %v", token, got)
					}
				}
			})
			s.check(t, "kept for a while", func(t *testing.T) {
				if _, err := plain.Exec("insert into ticket (id, region, number) values (5, 'amer', 'n5')"); err != nil {
					t.Fatal(err)
				}
				if got := examplesOf(t, s.ok(t, "viewer", "describe_ticket", `{}`)); got["region"] != `["apac","emea"]` {
					t.Errorf("before ten minutes have passed, they are read again: %v", got)
				}
				clock.Add(601)
				if got := examplesOf(t, s.ok(t, "viewer", "describe_ticket", `{}`)); got["region"] != `["amer","apac","emea"]` {
					t.Errorf("after ten minutes there is %v", got)
				}
			})
			s.check(t, "none of many, and none that are long", func(t *testing.T) {
				for id := 10; id < 30; id++ {
					if _, err := plain.Exec(fmt.Sprintf("insert into ticket (id, region, topic, stars, number) values (%d, 'emea', '%s', 5, 'm%d')", id, strings.Repeat("long ", 15), id)); err != nil {
						t.Fatal(err)
					}
				}
				clock.Add(601)
				got := examplesOf(t, s.ok(t, "viewer", "describe_ticket", `{}`))
				if got["number"] != "" || got["topic"] != "" || got["stars"] != "[4,5]" {
					t.Errorf("got %v, want those of stars and no others", got)
				}
			})
			s.check(t, "none of too few rows", func(t *testing.T) {
				s.endpoint.Apply(func(c *contract.Config) { c.Models[1].MinGroupSize = 3 })
				got := examplesOf(t, s.ok(t, "viewer", "describe_ticket", `{}`))
				if got["region"] != `["emea"]` || got["stars"] != "[5]" || got["day"] != "" {
					t.Errorf("got %v, want what three rows have", got)
				}
			})
			s.check(t, "what cannot be read is said, and tried again", func(t *testing.T) {
				rename := func(from, to string) {
					if _, err := plain.Exec("alter table ticket rename column " + from + " to " + to); err != nil {
						t.Fatal(err)
					}
				}
				rename("stars", "stars_away")
				clock.Add(601)
				described := s.ok(t, "viewer", "describe_ticket", `{}`)
				rename("stars_away", "stars")
				if got := examplesOf(t, described); got["stars"] != "" || got["region"] != `["emea"]` {
					t.Errorf("got %v, want all but those of stars", got)
				}
				want(t, described, `"the examples of stars could not be read; describe again in a minute, or group by the field"`, "notice")
				if got := s.ok(t, "viewer", "describe_ticket", `{}`); got["notice"] == nil {
					t.Error("they are read again at once")
				}
				clock.Add(61)
				if got := examplesOf(t, s.ok(t, "viewer", "describe_ticket", `{}`)); got["stars"] != "[5]" {
					t.Errorf("after a minute there is %v", got)
				}
			})
		})
	}
}

// understand is the prompt about a model.
func (s *suite) understand(t *testing.T, token, model string) string {
	t.Helper()
	_, body := s.endpoint.Post(secret(token), fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"understand_model","arguments":{"model_name":%q}}}`, model))
	var answer struct {
		Result struct {
			Messages []struct{ Content struct{ Text string } }
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Result.Messages) == 0 {
		t.Fatalf("%v in %s", err, body)
	}
	return answer.Result.Messages[0].Content.Text
}

func TestQuestions(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			opened, plain := engine.Open(t, deskShop)
			all := append(tokens(), contract.Token{Namespace: "test", Name: "ticketer", Hashes: []string{contract.HashToken(secret("ticketer"))}, Groups: []string{"staff"},
				Rules: []contract.Rule{{Models: []string{"ticket"}, Verbs: []string{"view"}}}})
			s := &suite{engine, harness.Serve(t, opened, deskModels(), all, withAudit), plain}
			s.check(t, "prompts show them with their calls", func(t *testing.T) {
				prompt := s.understand(t, "viewer", "ticket")
				for _, line := range []string{
					`- Which topics come up most? aggregate_ticket {"measures":{"n":{"count":"*"}},"group_by":["topic"],"order_by":["-n"]}`,
					`- Which team has the most tickets? aggregate_ticket {"measures":{"n":{"count":"*"}},"group_by":["team__name"]}`,
					`- What is the newest ticket? list_ticket {"order_by":["-day"],"limit":1}`,
					`- What is a ticket? describe_ticket {}`,
					`- What is ticket 99? get_ticket {"id":99}`,
					`- Which tickets has the first one's team? related_ticket {"id":1,"relation":"team"}`,
					`- Which are called so? autocomplete_ticket {"term":"n1"}`,
				} {
					if !strings.Contains(prompt, line+"\n") {
						t.Errorf("the prompt lacks %q:\n%s", line, prompt)
					}
				}
				if strings.Contains(prompt, "bad mood") {
					t.Error("it asks for a masked field")
				}
			})
			s.check(t, "as far as the token may ask", func(t *testing.T) {
				prompt := s.understand(t, "ticketer", "ticket")
				if strings.Contains(prompt, "Which team") || strings.Contains(prompt, "the first one's team") || !strings.Contains(prompt, "Which topics come up most?") {
					t.Errorf("who may not view teams is shown\n%s", prompt)
				}
				want(t, s.ok(t, "ticketer", "describe_ticket", `{}`), `["Which topics come up most?","What is the newest ticket?","What is a ticket?","What is ticket 99?","Which are called so?"]`, "questions")
			})
			s.check(t, "the status says what fails", func(t *testing.T) {
				refused, failed := "spec.questions[3] is not shown, as its call of list is refused: filters: mood: mood is masked for you", "spec.questions[5] fails: ticket not found."
				notes := ""
				for deadline := time.Now().Add(10 * time.Minute); !strings.Contains(notes, failed) && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
					notes = strings.Join(s.endpoint.Status().Models[1].Notes, "\n")
				}
				if !strings.Contains(notes, refused) || !strings.Contains(notes, failed) || strings.Count(notes, "spec.questions") != 2 {
					t.Errorf("the notes are\n%s\nwant %q and %q", notes, refused, failed)
				}
			})
		})
	}
}
