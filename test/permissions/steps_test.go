package permissions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// What steps are made up: calls as they are made alone, in which some values are references to answers of steps before, to
// what these show and to what they must not, and some expectations of what the token sees and of what it does not.

// stepTools are the tools that can be steps.
var stepTools = []string{"list", "get", "create", "update", "delete", "bulk", "action", "related", "aggregate"}

// oneCall is one step of a call of transact.
type oneCall struct {
	// tool is the model's own, such as list_book; generic says that the call goes by the name of the generic one.
	tool      string
	generic   bool
	arguments map[string]any
	expect    map[string]any
	// tried is the call's answer when it was tried; nil if it failed, or was not tried.
	tried map[string]any
}

func (s *oneCall) operation() string {
	operation, _, _ := strings.Cut(s.tool, "_")
	return operation
}

func (s *oneCall) table() string {
	_, table, _ := strings.Cut(s.tool, "_")
	return table
}

// named is the name and the arguments with which the step is sent.
func (s *oneCall) named(arguments map[string]any) (string, map[string]any) {
	if !s.generic {
		return s.tool, arguments
	}
	arguments = maps.Clone(arguments)
	arguments["model"] = s.table()
	return s.operation(), arguments
}

// writes reports whether the step may change something.
func (s *oneCall) writes() bool {
	return slices.Contains([]string{"create", "update", "delete", "bulk", "action"}, s.operation())
}

// anyOrder reports whether the rows of the answer come in any order, as the table's without a key do.
func (s *oneCall) anyOrder() bool {
	return s.table() == "tag" || s.operation() == "related" && fmt.Sprint(s.arguments["relation"]) == "tag_by_item"
}

// newSteps are some steps of a token.
func (g *game) newSteps(by int) []oneCall {
	var steps []oneCall
	for n := range 1 + g.random.IntN(4) {
		s := g.newStep(by)
		if n > 0 && chance(g.random, 60) {
			g.addReference(&s, steps)
		}
		if chance(g.random, 30) {
			s.expect = g.newExpectation(&s)
		}
		steps = append(steps, s)
	}
	if !slices.ContainsFunc(steps, func(s oneCall) bool { return s.writes() }) && chance(g.random, 90) {
		steps = g.addWrite(by, steps)
	}
	return steps
}

// addWrite adds a write that went well when it was tried, if the token finds one soon: steps that only read are refused.
func (g *game) addWrite(by int, steps []oneCall) []oneCall {
	for range 100 {
		if s := g.newStep(by); s.writes() && s.tried != nil {
			return append(steps, s)
		}
	}
	return steps
}

// newStep is a call that can be a step, mostly one that succeeds.
func (g *game) newStep(by int) oneCall {
	for {
		g.asked = offer{}
		if chance(g.random, 20) {
			if q := g.newQuestion(by); q.by == by {
				g.asked = offer{by: by, tool: q.tool + "_" + q.table, arguments: q.arguments}
			}
		} else {
			g.request(by)
		}
		s := oneCall{tool: g.asked.tool, generic: chance(g.random, 35), arguments: plainly(g.T, g.asked.arguments)}
		if !slices.Contains(stepTools, s.operation()) || s.arguments["confirmation_token"] != nil || !g.mayStep(by, &s) && chance(g.random, 98) {
			continue
		}
		delete(s.arguments, "dry_run")
		if s.operation() == "bulk" {
			s.arguments["atomic"] = true
		}
		if s.anyOrder() {
			delete(s.arguments, "limit")
			delete(s.arguments, "offset")
		}
		if g.try(by, &s) || chance(g.random, 10) {
			return s
		}
	}
}

// try makes a step's call, if that can be done without changing anything, and reports whether it may succeed.
func (g *game) try(by int, s *oneCall) bool {
	arguments := maps.Clone(s.arguments)
	switch s.operation() {
	case "create", "update", "delete":
		arguments["dry_run"] = true
	case "bulk":
		return true
	case "action":
		if arguments["action"] != "delete_selected" && (arguments["action"] != "stamp" || !asksFirst(g.model(s.table()))) {
			return true
		}
		delete(arguments, "confirm") // so that it only asks
		if chance(g.random, 70) {
			delete(s.arguments, "confirm")
		}
	}
	_, text := g.endpoint.Post(g.shown[by], g.body(s.tool, arguments))
	answer, isError, err := payload(text)
	if err != nil {
		g.Fatal(err)
	}
	if !isError && s.operation() != "action" {
		s.tried = answer
	}
	return !isError
}

// plainly are arguments as they are read from JSON.
func plainly(t interface{ Fatal(...any) }, arguments map[string]any) map[string]any {
	text, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	plain := map[string]any{}
	if err := decoder.Decode(&plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

// mayStep reports whether a token has the right that a step needs, whatever it is about.
func (g *game) mayStep(by int, s *oneCall) bool {
	token, m := g.tokens[by], g.model(s.table())
	operation := s.operation()
	if !offers(m, operation) {
		return false
	}
	switch operation {
	case "bulk":
		operation = fmt.Sprint(s.arguments["operation"])
	case "action":
		action := fmt.Sprint(s.arguments["action"])
		return may(token, m, "view") && (action != "wipe" && may(token, m, "change") || named(token, m, action))
	}
	verb, writes := map[string]string{"create": "add", "update": "change", "delete": "delete"}[operation]
	if !writes {
		verb = "view"
	}
	return may(token, m, verb)
}

// fixed are the arguments that no reference may stand for: what a step is must be known before any is run.
var fixed = []string{"action", "atomic", "confirm"}

// places are the values of arguments that a reference can stand for, each by what puts another there.
func places(value any, put func(any), found []func(any)) []func(any) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if !slices.Contains(fixed, name) {
				found = places(value[name], func(v any) { value[name] = v }, found)
			}
		}
	case []any:
		for i := range value {
			found = places(value[i], func(v any) { value[i] = v }, found)
		}
	default:
		found = append(found, put)
	}
	return found
}

// addReference puts a reference to the answer of a step before into a step's arguments.
func (g *game) addReference(s *oneCall, before []oneCall) {
	found := places(s.arguments, nil, nil)
	n := g.random.IntN(len(before))
	if len(found) == 0 || before[n].anyOrder() {
		return
	}
	path := g.somePath(&before[n])
	if chance(g.random, 3) {
		n = len(before) + g.random.IntN(2) // a step that has not answered
	}
	pick(g.random, found...)(map[string]any{"_step": json.Number(strconv.Itoa(n)), "path": path})
}

// somePath is a place of a step's answer: mostly one where a value is, sometimes one where it would be if nothing were hidden
// or masked.
func (g *game) somePath(s *oneCall) string {
	m := g.model(s.table())
	var forbidden []string
	for _, c := range tables[s.table()] {
		if hidden(m, c.name) || masked(m, c.name) || c.unreadable {
			forbidden = append(forbidden, c.name)
		}
	}
	if len(forbidden) > 0 && chance(g.random, 30) {
		stepped.forbidden++
		return g.pathInto(s, pick(g.random, forbidden...))
	}
	for {
		path := g.pathInto(s, pick(g.random, "id", g.field(s.table()), g.field(s.table()), g.field(s.table())))
		if _, there := at(s.tried, path); there || chance(g.random, 20) {
			return path
		}
	}
}

// pathInto is where a step's answer would have a field.
func (g *game) pathInto(s *oneCall, name string) string {
	switch s.operation() {
	case "get":
		return name
	case "create", "update":
		return pick(g.random, "object."+name, "object."+name, "id")
	case "list":
		return pick(g.random, "results.0."+name, "results.0."+name, "results.1."+name, "count", "total_count") // not next_cursor, which is another text in each answer
	case "related":
		return pick(g.random, "results.0.", "result.") + g.field(pick(g.random, tableNames...))
	case "bulk":
		return pick(g.random, "results.success.0.id", "results.success.0."+name)
	case "action":
		return pick(g.random, "affected_count", "result."+name)
	case "delete":
		return pick(g.random, "message", "object."+name)
	}
	return "results.0." + pick(g.random, name, "m0")
}

// newExpectation expects something of a step's answer: what the row that it names holds, whether the token sees that or not,
// or something else.
func (g *game) newExpectation(s *oneCall) map[string]any {
	if g.random.IntN(4) == 0 || s.anyOrder() {
		return map[string]any{"count": pick[any](g.random, countIn(s.tried), countIn(s.tried), json.Number("2"))}
	}
	path := g.somePath(s)
	name := path[strings.LastIndex(path, ".")+1:]
	if value, there := at(s.tried, path); there && chance(g.random, 85) && !masked(g.model(s.table()), name) {
		return map[string]any{path: value}
	}
	r := g.now[s.table()][fmt.Sprint(s.arguments["id"])]
	if s.operation() == "list" {
		for _, id := range slices.Sorted(maps.Keys(g.now[s.table()]))[:min(1, len(g.now[s.table()]))] {
			r = g.now[s.table()][id]
		}
	}
	switch value := r[name]; {
	case r == nil || chance(g.random, 20):
		return map[string]any{path: pick[any](g.random, "north", 1, nil, "k2")}
	case value == "":
		return map[string]any{path: nil}
	default:
		return map[string]any{path: value}
	}
}
