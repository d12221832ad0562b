package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileOfActionsThatIsWrongIsRefused(t *testing.T) {
	for _, c := range []struct{ part, want string }{
		{"{call: list_x, argument: {}}", `unknown field "argument"`},
		{"{call: list_x, require: 'true'}", "it has 2 of call, value, require and transact"},
		{"{as: x}", "it has 0 of call"},
		{"{call: update_x, arguments: {id: 1}}", "update_x is no tool that reads"},
		{"{value: '1'}", "a value needs as"},
		{"{require: 'true', as: x}", "require and transact cannot have it"},
		{"{require: 'true', if: 'true'}", "belong to a call"},
		{"{require: unknown.results.size() > 0}", "undeclared reference to 'unknown'"},
		{"{call: list_x, arguments: {filters: {a: =b}}}", "filters: a: ERROR"},
		{"{require: (}", "Syntax error"},
		{"{transact: [{tool: update_x, each: '[1]'}]}", "step 0: it must have tool"},
		{"{transact: [{each: '[1]', as: i}, {tool: update_x, arguments: {id: =i}}]}", "step 1: id: ERROR"},
		{"{transact: [{tool: update_x}]}, {require: 'true'}", "transact must come last"},
	} {
		_, err := compileActions([]byte("actions: {act: [" + c.part + "]}"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.part, err, c.want)
		}
	}
}

func TestTheExampleOfTheReadmeIsGood(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	if all, err := compileActions([]byte(example)); err != nil || len(all["cancel_booking"]) != 5 {
		t.Errorf("%v, %d actions", err, len(all))
	}
}

func TestAFolderThatDoesNotFitItsActionsIsRefused(t *testing.T) {
	for _, c := range []struct{ tasks, want string }{
		{`[{"id": "t", "actions": [{"name": "sing", "kind": "read"}, {"name": "book", "kind": "write"}, {"name": "dance", "kind": "write"}]}]`, "does not say what these actions mean: dance, sing"},
		{`[{"id": "t", "actions": [{"name": "book"}]}]`, `t: book is of the kind ""`},
		{`{"id": "t"}`, "tasks.json"},
	} {
		path := t.TempDir()
		for name, text := range map[string]string{"schema.sql": "", "data.sql": "", "tasks.json": c.tasks} {
			if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := readFolder(path, filepath.Join(ferry, "actions.yaml"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.tasks, err, c.want)
		}
	}
}

func TestExpressions(t *testing.T) {
	env, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	given, err := readJSON([]byte(`{"n": 9007199254740993, "half": 0.5, "price": "12.50", "all": [{"a": 1}, {"a": null}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		expression string
		want       any
	}{
		{`arguments.n + 1`, int64(9007199254740994)},
		{`arguments.half * 2.0`, 1.0},
		{`money(cents(arguments.price) * 3)`, "37.50"},
		{`money(cents("-0.05"))`, "-0.05"},
		{`cents("12.5") + cents("7")`, int64(1950)},
		{`sum([])`, int64(0)},
		{`sum([1, 2].map(n, n * 10))`, int64(30)},
		{`arguments.all[1].a == null`, true},
		{`arguments.all[0].a`, int64(1)},
		{`null`, nil},
	} {
		program, err := compile(env, c.expression)
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		if got, err := evaluate(program, values{givenName: given}); got != c.want || err != nil {
			t.Errorf("%s: %v, %v, want %v", c.expression, got, err, c.want)
		}
	}
	for expression, want := range map[string]string{
		`cents("1.234")`:                    "no amount of money",
		`sum([9223372036854775807, 1])`:     "overflow",
		`sum(arguments.all)`:                "no such overload",
		`sum([1, dyn("2")])`:                "adds integers only",
		`timestamp("2026-01-01T00:00:00Z")`: "make a text of it",
		`{1: 2}`:                            "no name of a member",
	} {
		program, err := compile(env, expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if got, err := evaluate(program, values{givenName: given}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", expression, got, err, want)
		}
	}
}
