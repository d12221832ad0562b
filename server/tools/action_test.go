package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/action"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// withActions declares the library's actions. The publisher may run what its rules name; rows of authors are their
// branch's.
func withActions(c *contract.Config) {
	where := []contract.Filter{{Field: "state", Value: "draft"}}
	amount := contract.Parameter{Name: "amount", Type: contract.TypeDecimal, Required: true, Description: "added to the price"}
	kind := contract.Parameter{Name: "kind", Type: contract.TypeString, Choices: []contract.Choice{{Value: "soft", Label: "paperback"}, {Value: "hard"}}}
	modelNamed(c, "book").Actions = []contract.Action{
		{Name: "publish", Description: "Publish drafts.", Requires: []string{contract.VerbChange}, Parameters: []contract.Parameter{{Name: "on", Type: contract.TypeDate}},
			Update: &contract.UpdateAction{Where: where, Set: []contract.ActionAssignment{
				{Field: "state", Source: contract.SourceValue, Value: "out"}, {Field: "printed", Source: contract.SourceParameter, Parameter: "on"}}}},
		{Name: "move", Requires: []string{contract.VerbChange}, Parameters: []contract.Parameter{{Name: "author", Type: contract.TypeInteger}, {Name: "title", Type: contract.TypeString}},
			Update: &contract.UpdateAction{Set: []contract.ActionAssignment{
				{Field: "author_id", Source: contract.SourceParameter, Parameter: "author"}, {Field: "title", Source: contract.SourceParameter, Parameter: "title"}}}},
		{Name: "raise", Description: "Raise prices.", Parameters: []contract.Parameter{amount, kind},
			Confirm: &contract.Confirmation{Message: "Raise {{.count}} by {{.parameters.amount}}?", TokenRequired: true},
			SQL:     &contract.SQLAction{Statement: "UPDATE book SET price = COALESCE(price, 0) + :amount WHERE id IN (:ids)"}},
		{Name: "breaks", SQL: &contract.SQLAction{Statement: "UPDATE book SET price = -1 WHERE id IN (:ids)"}},
	}
	author := modelNamed(c, "author")
	author.Actions = []contract.Action{{Name: "transfer", Requires: []string{contract.VerbChange}, Update: &contract.UpdateAction{
		Set: []contract.ActionAssignment{{Field: "branch", Source: contract.SourceValue, Value: "west"}}}}}
	author.RowPolicies = []contract.RowPolicy{
		{Name: "branch", Everyone: true, Filters: []contract.Filter{{Field: "branch", TokenAttribute: "branch"}}},
		{Name: "owners", Groups: []string{"owners"}, AllRows: true},
	}
	modelNamed(c, "tag").Actions = []contract.Action{
		{Name: "weigh", Requires: []string{contract.VerbChange}, Update: &contract.UpdateAction{
			Set: []contract.ActionAssignment{{Field: "weight", Source: contract.SourceValue, Value: "9"}}}},
	}
	for i := range c.Tokens {
		switch t := &c.Tokens[i]; t.Name {
		case "owner":
			t.Rules[0].Actions = []string{contract.Wildcard}
			t.Groups = []string{"owners"}
		case "reader":
			t.Rules = append(t.Rules, contract.Rule{Models: []string{"book"}, Actions: []string{"publish"}})
		}
	}
}

func modelNamed(c *contract.Config, name string) *contract.Model {
	i := slices.IndexFunc(c.Models, func(m contract.Model) bool { return m.Name == name })
	return &c.Models[i]
}

// actionNamesOf are the names that actions_ lists.
func actionNamesOf(t *testing.T, payload map[string]any) string {
	t.Helper()
	var names []string
	for _, a := range payload["actions"].([]any) {
		names = append(names, a.(map[string]any)["name"].(string))
	}
	if int(payload["count"].(float64)) != len(names) {
		t.Errorf("count is %v of %d", payload["count"], len(names))
	}
	return strings.Join(names, " ")
}

func TestActionsAreThoseThatTheTokenMayRun(t *testing.T) {
	l := newLibrary(t, withActions)
	for _, c := range []struct{ name, token, model, want string }{
		{"every right, and every action", ownerText, "book", "delete_selected publish move raise breaks"},
		{"every right, and no action by name", clerkText, "book", "delete_selected publish move"},
		{"one action by name", readerText, "book", "publish"},
		{"a model without declared actions", ownerText, "chapter", "delete_selected"},
		{"a key of several columns", ownerText, "tag", "delete_selected weigh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := actionNamesOf(t, l.must(c.token, "actions_"+c.model, `{}`)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	for tool, code := range map[string]call.Code{"action_chapter": call.CodePermissionDenied, "actions_book": ""} {
		if r := l.call(readerText, tool, `{}`); r.Code != code {
			t.Errorf("%s by one who may only look: %s", tool, r.Text)
		}
	}
	if r := l.call(adderText, "actions_book", `{}`); r.Code != call.CodePermissionDenied {
		t.Errorf("by one who may not look: %s", r.Text)
	}
}

func TestActionsTellWhatTheyWant(t *testing.T) {
	l := newLibrary(t, withActions)
	r := l.call(ownerText, "actions_book", `{}`)
	var list action.ActionList
	if err := json.Unmarshal(r.Text, &list); err != nil || len(list.Actions) != 5 {
		t.Fatalf("%s", r.Text)
	}
	for i, want := range map[int]string{
		0: `{"name":"delete_selected","description":"Delete the selected rows, and what goes with them.","requires_confirmation":true,"parameters":[]}`,
		3: `{"name":"raise","description":"Raise prices.","requires_confirmation":true,"parameters":[{"name":"amount","type":"decimal","required":true,"description":"added to the price"},` +
			`{"name":"kind","type":"string","required":false,"choices":[{"value":"soft","label":"paperback"},{"value":"hard","label":"hard"}]}]}`,
	} {
		if got, _ := json.Marshal(list.Actions[i]); string(got) != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestArgumentsOfAnAction(t *testing.T) {
	l := newLibrary(t, withActions)
	for _, c := range []struct {
		name, token, tool, arguments string
		code                         call.Code
		message                      string
	}{
		{"no action", ownerText, "action_book", `{"ids":[1]}`, call.CodeInvalidArgument, "action parameter is required; you may run delete_selected, publish, move, raise, breaks"},
		{"an action that is no text", ownerText, "action_book", `{"action":1,"ids":[1]}`, call.CodeInvalidArgument, "action must be a string"},
		{"an unknown action", clerkText, "action_book", `{"action":"burn","ids":[1]}`, call.CodeInvalidArgument, `no action "burn"; you may run delete_selected, publish, move`},
		{"an action of others", clerkText, "action_book", `{"action":"raise","ids":[1]}`, call.CodePermissionDenied, "cannot run raise on book"},
		{"delete_selected without the right", readerText, "action_book", `{"action":"delete_selected","ids":[1]}`, call.CodePermissionDenied, "cannot run delete_selected on book; you may run publish"},
		{"no ids", ownerText, "action_book", `{"action":"publish"}`, call.CodeInvalidArgument, "ids parameter is required"},
		{"ids that are no array", ownerText, "action_book", `{"action":"publish","ids":1}`, call.CodeInvalidArgument, "ids must be an array"},
		{"empty ids", ownerText, "action_book", `{"action":"publish","ids":[]}`, call.CodeInvalidArgument, "at least one"},
		{"null among them", ownerText, "action_book", `{"action":"publish","ids":[null]}`, call.CodeInvalidArgument, "ids[0]"},
		{"an id of another type", ownerText, "action_book", `{"action":"publish","ids":[1,"x"]}`, call.CodeInvalidArgument, "ids[1]: must be an integer"},
		{"an id twice", ownerText, "action_book", `{"action":"publish","ids":[1,2,1]}`, call.CodeInvalidArgument, "ids[2]: 1 is at ids[0] already"},
		{"an id twice, written otherwise", ownerText, "action_book", `{"action":"publish","ids":[1,"1"]}`, call.CodeInvalidArgument, "ids[1]"},
		{"too many", ownerText, "action_book", `{"action":"publish","ids":[1,2,3,4,5,6]}`, call.CodeInvalidArgument, "at most 5 in one call, not 6"},
		{"confirm that is no boolean", ownerText, "action_book", `{"action":"publish","ids":[1],"confirm":"yes"}`, call.CodeInvalidArgument, "confirm"},
		{"confirmation_data that is no object", ownerText, "action_book", `{"action":"publish","ids":[1],"confirmation_data":[1]}`, call.CodeInvalidArgument, "confirmation_data must be an object"},
		{"an unknown argument", ownerText, "action_book", `{"action":"publish","ids":[1],"force":true}`, call.CodeInvalidArgument, `"force"`},
		{"an unknown parameter", ownerText, "action_book", `{"action":"publish","ids":[1],"confirmation_data":{"when":1}}`, call.CodeValidation, "when: publish has no such parameter; its parameters are on"},
		{"a parameter where there are none", ownerText, "action_book", `{"action":"delete_selected","ids":[1],"confirmation_data":{"when":1}}`, call.CodeValidation, "it takes none"},
		{"a missing parameter", ownerText, "action_book", `{"action":"raise","ids":[1]}`, call.CodeValidation, "amount: is required, in confirmation_data: a value of type decimal"},
		{"a parameter that is null", ownerText, "action_book", `{"action":"raise","ids":[1],"confirmation_data":{"amount":null}}`, call.CodeValidation, "amount: is required"},
		{"a parameter of another type", ownerText, "action_book", `{"action":"raise","ids":[1],"confirmation_data":{"amount":"much"}}`, call.CodeValidation, "amount: must be a decimal"},
		{"none of the choices", ownerText, "action_book", `{"action":"raise","ids":[1],"confirmation_data":{"amount":1,"kind":"odd"}}`, call.CodeValidation, "kind: must be one of soft, hard"},
		{"nothing to set", ownerText, "action_book", `{"action":"move","ids":[1]}`, call.CodeInvalidArgument, "at least one parameter"},
		{"a value that does not fit its column", ownerText, "action_book", `{"action":"move","ids":[1],"confirmation_data":{"title":"` + strings.Repeat("x", 41) + `"}}`, call.CodeValidation, "title"},
		{"a row that is not there", ownerText, "action_book", `{"action":"move","ids":[1],"confirmation_data":{"author":99}}`, call.CodeValidation, "author_id: no such author"},
		{"a row that is out of sight", clerkText, "action_book", `{"action":"move","ids":[1],"confirmation_data":{"author":1}}`, call.CodeValidation, "author_id: no such author"},
		{"a constraint", ownerText, "action_book", `{"action":"breaks","ids":[1]}`, call.CodeValidation, "rule of the database"},
		{"nobody there", ownerText, "action_book", `{"action":"publish","ids":[8,9]}`, call.CodeNotFound, "book not found"},
		{"nobody there to delete", ownerText, "action_book", `{"action":"delete_selected","ids":[8]}`, call.CodeNotFound, "book not found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := l.call(c.token, c.tool, c.arguments)
			if r.Code != c.code || !strings.Contains(r.Message, c.message) {
				t.Errorf("%s: %s (%v)\nwant %s: %s", r.Code, r.Text, r.Cause, c.code, c.message)
			}
		})
	}
	if got := l.one("SELECT group_concat(title || state || version) FROM book"); got != "Dunedraft1,Emmadraft7" {
		t.Errorf("something was changed: %s", got)
	}
}

func TestAnUpdateActionSetsWhatItsWhereAllows(t *testing.T) {
	l := newLibrary(t, withActions)
	if _, err := l.plain.Exec("UPDATE book SET state = 'out' WHERE id = 2"); err != nil {
		t.Fatal(err)
	}
	r := l.call(ownerText, "action_book", `{"action":"publish","ids":["1",2,7],"confirmation_data":{"on":"2026-02-03","post":"no","ids":[2]}}`)
	want := `{"success":true,"action":"publish","affected_count":1,"message":"publish was run on 1 book","result":null,"missing_ids":[7],"skipped_ids":[2]}`
	if got := withoutCall(string(r.Text)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := l.one("SELECT group_concat(state || ' ' || ifnull(printed, '-') || ' ' || version, ', ') FROM book"); got != "out 2026-02-03 2, out - 7" {
		t.Errorf("the books are %s", got)
	}
	r = l.call(ownerText, "action_book", `{"action":"publish","ids":[1,2]}`)
	if r.Code != call.CodeNotFound || !strings.Contains(r.Message, "its condition excludes 1, 2") {
		t.Errorf("where all are refused: %s", r.Text)
	}
	history := l.must(ownerText, "history_book", `{"id":1}`)["history"].([]any)
	entry := history[0].(map[string]any)
	if len(history) != 1 || entry["action"] != "action:publish" || !strings.Contains(fmt.Sprint(entry["changes"]), "2026-02-03") {
		t.Errorf("the history is %v", history)
	}
	if line := l.log.String(); !strings.Contains(line, `"operation":"action:publish","ids":["1","2","7"],"fields":["state","printed"],"changed":1,"dry_run":false,"outcome":"ok"`) {
		t.Errorf("the audit says %s", line)
	}
}

func TestAParameterThatIsLeftOutLeavesItsFieldAsItIs(t *testing.T) {
	l := newLibrary(t, withActions)
	l.must(ownerText, "action_book", `{"action":"move","ids":[1],"confirmation_data":{"title":"Dune II"}}`)
	if got := l.one("SELECT title || author_id FROM book WHERE id = 1"); got != "Dune II1" {
		t.Errorf("the book is %s", got)
	}
}

func TestAnActionMayMoveRowsOutOfSight(t *testing.T) {
	l := newLibrary(t, withActions)
	got := l.must(clerkText, "action_author", `{"action":"transfer","ids":[1,2]}`)
	if got["affected_count"] != 1.0 || fmt.Sprint(got["missing_ids"]) != "[1]" {
		t.Errorf("%v", got)
	}
	if r := l.call(clerkText, "get_author", `{"id":2}`); r.Code != call.CodeNotFound {
		t.Errorf("it is still in sight: %s", r.Text)
	}
	if got := l.one("SELECT group_concat(branch) FROM author"); got != "north,west" {
		t.Errorf("the branches are %s", got)
	}
	if r := l.call(clerkText, "action_author", `{"action":"transfer","ids":[2]}`); r.Code != call.CodeNotFound {
		t.Errorf("what is out of sight is not acted on: %s", r.Text)
	}
}

// An action may set what the caller does not see, but to no row that is out of sight.
func TestAHiddenForeignKeyNamesARowInSight(t *testing.T) {
	l := newLibrary(t, withActions, func(c *contract.Config) { modelNamed(c, "book").Exclude = []string{"author_id"} })
	r := l.call(clerkText, "action_book", `{"action":"move","ids":[2],"confirmation_data":{"author":1}}`)
	if r.Code != call.CodeValidation || r.Message != "the data is not valid: names a row that does not exist" {
		t.Errorf("%s", r.Text)
	}
	l.must(clerkText, "action_book", `{"action":"move","ids":[1],"confirmation_data":{"author":2}}`)
	if got := l.one("SELECT group_concat(author_id) FROM book"); got != "2,2" {
		t.Errorf("the books' authors are %s", got)
	}
}

func TestKeysOfSeveralColumns(t *testing.T) {
	l := newLibrary(t, withActions)
	got := l.must(ownerText, "action_tag", `{"action":"weigh","ids":["1,sand","1,none"]}`)
	if got["affected_count"] != 1.0 || fmt.Sprint(got["missing_ids"]) != "[1,none]" || l.one("SELECT weight FROM tag") != "9" {
		t.Errorf("%v", got)
	}
}

func TestASQLActionBindsTheIDsThatAreVisible(t *testing.T) {
	l := newLibrary(t, withActions)
	asked := l.must(ownerText, "action_book", `{"action":"raise","ids":[2,1,7],"confirmation_data":{"amount":"1.50"}}`)
	if asked["success"] != false || asked["requires_confirmation"] != true || asked["affected_count"] != 2.0 || !strings.HasPrefix(asked["message"].(string), "Raise 2 by 1.50?") {
		t.Fatalf("%v", asked)
	}
	if got := l.one("SELECT count(*) FROM book WHERE price IS NOT NULL"); got != "0" {
		t.Error("the first call changed something")
	}
	arguments := fmt.Sprintf(`{"action":"raise","ids":[2,1,7],"confirm":true,"confirmation_data":{"amount":"1.50"},"confirmation_token":%q}`, asked["confirmation_token"])
	got := l.must(ownerText, "action_book", arguments)
	if got["success"] != true || got["affected_count"] != 2.0 || fmt.Sprint(got["missing_ids"]) != "[7]" {
		t.Errorf("%v", got)
	}
	if got := l.one("SELECT group_concat(price) FROM book"); got != "1.5,1.5" {
		t.Errorf("the prices are %s", got)
	}
	history := l.must(ownerText, "history_book", `{"id":2}`)["history"].([]any)
	if text := fmt.Sprint(history); len(history) != 1 || !strings.Contains(text, "ran raise, which changed price") || !strings.Contains(text, "after:1.50") {
		t.Errorf("the history is %s", text)
	}
}
