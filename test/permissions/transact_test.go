package permissions

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Calls of transact. Their steps are first made one by one, as calls of their own, which are judged as any call is. Then the
// rows are put back, and the steps are made together: they must be answered, or refused, as they were one by one, and leave
// the same rows. So no step, reference or expectation shows or changes what a call of its own would not.

// stepped counts calls of transact that were kept, undone as a dry run, ended at a step, or refused before any step was
// run; the references that carried a value, and the references that named none; and expectations that held, and that
// did not.
var stepped together

type together struct{ calls, steps, onlyRead, kept, tried, ended, refused, carried, missed, forbidden, held, unmet, confirmed int }

func (n *together) told() string {
	return fmt.Sprintf("%d calls of transact with %d steps did as these do one by one: %d were kept (%d of them once confirmed), %d were dry runs, %d ended at a step, and %d were refused before any; %d more only read, and were refused; "+
		"%d references carried a value, %d named none; %d expectations held, %d did not; %d of both were about what is hidden or masked",
		n.calls, n.steps, n.kept, n.confirmed, n.tried, n.ended, n.refused, n.onlyRead, n.carried, n.missed, n.held, n.unmet, n.forbidden)
}

// enough reports whether so much happened that the test means something.
func (n *together) enough() bool {
	return n.kept > n.calls/10 && n.tried > 0 && n.ended > 0 && n.refused > 0 && n.carried > n.calls/20 && n.missed > 0 && n.forbidden > n.calls/20 && n.held > 0 && n.unmet > 0 &&
		(n.confirmed > 0 || !harness.Whole()) // one call in some thousand
}

// outcome is the result of steps.
type outcome struct {
	answers []any
	// failed is the error at which they ended; nil if they did not. Without a member error it is the test's own verdict, and says
	// is a piece of what the server must say then.
	failed map[string]any
	// shown are the texts that the token could be shown at some moment.
	shown map[string]bool
}

// transact makes up steps, and makes them one by one and together.
func (g *game) transact(by int) {
	g.Helper()
	steps := g.newSteps(by)
	if !slices.ContainsFunc(steps, func(s oneCall) bool { return s.writes() }) {
		g.onlyReads(by, steps)
		return
	}
	before := g.now
	apart := g.oneByOne(by, steps)
	after := g.now
	if !reflect.DeepEqual(before, after) {
		g.store.replace(g.T, before)
		if g.now = g.store.read(g.T); !reflect.DeepEqual(before, g.now) {
			g.Fatalf("%s: the rows are not as before:\n%v\n%v", g.where, before, g.now)
		}
		g.remember()
	}
	stepped.calls++
	stepped.steps += len(steps)
	dry := chance(g.random, 25)
	answer, isError, texts := g.together(by, steps, dry)
	g.now = g.store.read(g.T)
	wrong := func(format string, args ...any) {
		g.Helper()
		sent, _ := json.Marshal(sentSteps(steps)) // what was sent before
		g.Errorf("%s: token %+v\nmodels %+v\nsteps %s\none by one %v, failed %v\ntogether %v\n%s", g.where, g.tokens[by], g.models, sent, apart.answers, apart.failed, answer, fmt.Sprintf(format, args...))
	}
	wanted := before
	switch {
	case isError:
		g.compareFailure(by, steps, &apart, answer, wrong)
	case apart.failed != nil:
		wrong("the steps go together, and not one by one")
	default:
		for i, one := range apart.answers {
			if each, _ := at(answer, fmt.Sprint("results.", i)); !reflect.DeepEqual(settled(each), settled(one)) {
				wrong("the answers of step %d differ", i)
			}
		}
		if dry {
			stepped.tried++
		} else {
			stepped.kept++
			wanted = after
		}
	}
	if !reflect.DeepEqual(g.now, wanted) {
		wrong("the rows are not as they must be:\n%v\n%v", g.now, wanted)
	}
	for _, text := range texts {
		for _, found := range canaryText.FindAllString(text, -1) {
			if may, stands := apart.shown[found]; stands && !may && !strings.Contains(g.body("transact", g.asked.arguments), found) {
				wrong("it shows %s, which it must not", found)
			}
		}
	}
	g.remember()
}

// onlyReads makes sure that steps are refused if none of them writes: nothing holds a transaction, and locks in it,
// just to read.
func (g *game) onlyReads(by int, steps []oneCall) {
	g.Helper()
	answer, isError, _ := g.together(by, steps, false)
	told := fmt.Sprint(answer["error"])
	if _, named := answer["step"]; !isError || !named && !strings.Contains(told, "none of the steps changes anything") {
		g.Errorf("%s: %s: steps that only read are answered with %v", g.where, g.body("transact", g.asked.arguments), answer)
	}
	stepped.onlyRead++
}

// oneByOne makes the calls of steps, until one fails.
func (g *game) oneByOne(by int, steps []oneCall) outcome {
	g.Helper()
	o := outcome{answers: []any{}, shown: g.canaries(g.tokens[by], "", g.now)}
	for i := range steps {
		s := &steps[i]
		resolved, ok := o.resolve(s.arguments)
		if !ok {
			o.failed = map[string]any{"code": "invalid_argument", "says": "answered"} // what a step answered has no such value, or it has not answered
			return o
		}
		answer, isError := g.alone(by, s, resolved.(map[string]any))
		for text, may := range g.canaries(g.tokens[by], "", g.now) {
			o.shown[text] = o.shown[text] || may
		}
		switch {
		case isError:
			o.failed = answer
			return o
		case !o.holds(s.expect, answer):
			o.failed = map[string]any{"code": "conflict", "says": "was expected to be"}
			return o
		}
		o.answers = append(o.answers, answer)
	}
	return o
}

// alone makes the call of a step, and confirms it if it is asked to.
func (g *game) alone(by int, s *oneCall, arguments map[string]any) (map[string]any, bool) {
	g.Helper()
	method := "read"
	if s.writes() {
		method = "write"
	}
	for {
		g.asked = offer{by: by, tool: s.tool, arguments: arguments}
		name, sent := s.named(arguments)
		text := g.perform(by, method, g.body(name, sent))
		asks := questionText.FindStringSubmatch(text)
		if asks == nil || arguments["confirmation_token"] != nil {
			answer, isError, err := payload(text)
			if err != nil {
				g.Fatal(err)
			}
			return answer, isError
		}
		arguments = maps.Clone(arguments)
		arguments["confirm"], arguments["confirmation_token"] = true, asks[1]
	}
}

// body is a call of a tool.
func (g *game) body(name string, arguments map[string]any) string {
	g.Helper()
	text, err := json.Marshal(map[string]any{"method": "tools/call", "name": name, "arguments": arguments})
	if err != nil {
		g.Fatal(err)
	}
	return string(text)
}

// sentSteps are steps as they are sent.
func sentSteps(steps []oneCall) []any {
	sent := []any{}
	for i := range steps {
		name, arguments := steps[i].named(steps[i].arguments)
		one := map[string]any{"tool": name, "arguments": arguments}
		if steps[i].expect != nil {
			one["expect"] = steps[i].expect
		}
		sent = append(sent, one)
	}
	return sent
}

// together makes the call of transact, and confirms it if it is asked to. texts are all that was answered.
func (g *game) together(by int, steps []oneCall, dry bool) (answer map[string]any, isError bool, texts []string) {
	g.Helper()
	arguments := map[string]any{"steps": sentSteps(steps)}
	if dry {
		arguments["dry_run"] = true
	}
	ask := func(i int) string {
		g.asked = offer{by: i, tool: "transact_", arguments: arguments}
		status, text := g.endpoint.PostTo(g.query(), g.shown[i], g.body("transact", arguments))
		if status != 200 || strings.Contains(text, `\"code\":\"internal\"`) {
			g.Errorf("%s: %s: %d %s", g.where, g.body("transact", arguments), status, text)
		}
		return text
	}
	text := ask(by)
	texts = append(texts, text)
	if asks := questionText.FindStringSubmatch(text); asks != nil {
		before := g.now
		arguments["confirm"], arguments["confirmation_token"] = true, asks[1]
		if other := g.random.IntN(len(g.tokens)); other != by && chance(g.random, 50) {
			if taken := ask(other); strings.Contains(taken, `\"success\":true`) && strings.Contains(taken, `\"requires_confirmation\"`) {
				g.Errorf("%s: the token of another's page: %s", g.where, taken)
			}
			if now := g.store.read(g.T); !reflect.DeepEqual(before, now) {
				g.Errorf("%s: another token's confirmation_token let %v change something", g.where, g.tokens[other])
			}
		}
		text = ask(by)
		texts = append(texts, text)
		if !strings.Contains(text, `"isError":true`) {
			stepped.confirmed++
		}
	}
	g.keep(text)
	answer, isError, err := payload(text)
	if err != nil {
		g.Fatal(err)
	}
	return answer, isError, texts
}

// compareFailure makes sure that the steps failed together where they failed one by one, or at one that is refused before any
// is run.
func (g *game) compareFailure(by int, steps []oneCall, apart *outcome, answer map[string]any, wrong func(string, ...any)) {
	g.Helper()
	at, err := strconv.Atoi(fmt.Sprint(answer["step"]))
	if err != nil || at >= len(steps) {
		wrong("it does not say which step failed")
		return
	}
	if at == len(apart.answers) && apart.failed != nil && sameFailure(apart.failed, answer) {
		stepped.ended++
		return
	}
	s := &steps[at]
	first := map[string]any{}
	if s.operation() == "action" { // which is known before any step is run, too
		first["action"], first["ids"] = s.arguments["action"], []any{99999}
	}
	if refused, isError := g.alone(by, s, first); isError && sameFailure(refused, answer) {
		stepped.refused++
		return
	}
	wrong("it failed at another step, or for another reason")
}

// sameFailure reports whether two errors are the same, but for what one says of its step.
func sameFailure(apart, together map[string]any) bool {
	if apart["error"] == nil {
		return apart["code"] == together["code"] && strings.Contains(fmt.Sprint(together["error"]), fmt.Sprint(apart["says"]))
	}
	a, b := maps.Clone(apart), maps.Clone(together)
	message := fmt.Sprint(b["error"])
	if _, behind, ok := strings.Cut(message, "): "); ok && strings.HasPrefix(message, "step ") {
		message = behind
	}
	message = strings.TrimSuffix(message, "; nothing was changed")
	b["error"] = strings.TrimSuffix(message, `; a row of an earlier step is {"_step":0,"path":"object.id"}`)
	a["error"] = strings.TrimSuffix(fmt.Sprint(a["error"]), "; nothing was changed")
	delete(b, "step")
	return reflect.DeepEqual(settled(a), settled(b))
}

// settled is an answer without what differs each time, and with rows in one order: without a key, a table's order is
// the database's own.
func settled(value any) any {
	switch value := value.(type) {
	case map[string]any:
		plain := map[string]any{}
		for name, member := range value {
			switch name {
			case "call":
			default:
				plain[name] = settled(member)
			}
		}
		return plain
	case []any:
		plain := make([]any, len(value))
		for i := range value {
			plain[i] = settled(value[i])
		}
		slices.SortStableFunc(plain, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		return plain
	case string:
		return sealedText.ReplaceAllString(value, "…")
	}
	return value
}

// sealedText is a cursor: it is another text each time.
var sealedText = regexp.MustCompile(`[\w-]{40,}`)
