package claims_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract/claims"
)

// decoded are claims as they come out of a token.
func decoded(t testing.TB, text string) map[string]any {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

const person = `{
	"sub": "u-1", "email": "ann@example.com", "admin": true, "level": 42, "ratio": 0.5, "id": 12345678901234567890, "none": null,
	"groups": ["staff", "db-editors", "db-admins"], "mixed": ["a", 7, false, null, ["nested"]],
	"realm_access": {"roles": ["clerk"]}, "https://example.com/role": "boss", "": "empty", "a/b": "slash", "m~n": "tilde", "~1": "odd",
	"deep": [{"name": "first"}, {"name": "second"}]
}`

func TestMatch(t *testing.T) {
	for name, test := range map[string]struct {
		claim, text string
		matches     bool
	}{
		"a text":                                {"email", "ann@example.com", true},
		"another text":                          {"email", "bob@example.com", false},
		"the beginning of a text":               {"email", "ann", false},
		"letters in another case":               {"email", "Ann@example.com", false},
		"a name in another case":                {"Email", "ann@example.com", false},
		"a list that has it":                    {"groups", "db-editors", true},
		"a list that lacks it":                  {"groups", "editors", false},
		"a boolean":                             {"admin", "true", true},
		"a boolean in another case":             {"admin", "True", false},
		"a number":                              {"level", "42", true},
		"a number written otherwise":            {"level", "42.0", false},
		"a fraction":                            {"ratio", "0.5", true},
		"a number that is not read exactly":     {"id", "12345678901234567000", false},
		"a number that is not read exactly (2)": {"id", "12345678901234567890", false},
		"null":                                  {"none", "null", false},
		"null and the empty text":               {"none", "", false},
		"a number in a list":                    {"mixed", "7", true},
		"a boolean in a list":                   {"mixed", "false", true},
		"null in a list":                        {"mixed", "null", false},
		"a list in a list":                      {"mixed", "nested", false},
		"an object":                             {"realm_access", "clerk", false},
		"no such claim":                         {"phone", "", false},
		"a name like a URL":                     {"https://example.com/role", "boss", true},
		"a pointer":                             {"/realm_access/roles", "clerk", true},
		"a pointer to an element":               {"/groups/0", "staff", true},
		"a pointer past the end":                {"/groups/3", "staff", false},
		"a pointer to what comes next":          {"/groups/-", "staff", false},
		"an index with a leading zero":          {"/groups/00", "staff", false},
		"an index with a sign":                  {"/groups/+0", "staff", false},
		"a huge index":                          {"/groups/99999999999999999999", "staff", false},
		"through an element":                    {"/deep/1/name", "second", true},
		"through a text":                        {"/email/0", "a", false},
		"a pointer to the empty name":           {"/", "empty", true},
		"a name with a slash":                   {"/a~1b", "slash", true},
		"a name with a slash, no pointer":       {"a/b", "slash", true},
		"a name with a tilde":                   {"/m~0n", "tilde", true},
		"~01 is ~1":                             {"/~01", "odd", true},
		"a wrong escape":                        {"/m~2n", "tilde", false},
		"an escape that ends too soon":          {"/m~", "tilde", false},
		"a pointer to nothing":                  {"/realm_access/groups", "clerk", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := claims.Match(decoded(t, person), map[string]string{test.claim: test.text}); got != test.matches {
				t.Errorf("Match(%s: %q) = %v", test.claim, test.text, got)
			}
		})
	}
}

func TestMatchWantsAll(t *testing.T) {
	all := decoded(t, person)
	if !claims.Match(all, map[string]string{"admin": "true", "/realm_access/roles": "clerk", "groups": "staff"}) {
		t.Error("claims that say all that is wanted do not match")
	}
	if claims.Match(all, map[string]string{"admin": "true", "groups": "others"}) {
		t.Error("one of two is enough")
	}
	if claims.Match(nil, map[string]string{"admin": "true"}) {
		t.Error("no claims match")
	}
}

func TestText(t *testing.T) {
	for expression, want := range map[string]string{
		`claims.email`: "ann@example.com",
		`subject`:      "u-1",
		`claims.email.substring(0, claims.email.indexOf("@"))`:  "ann",
		`"staff" in claims.groups ? "inside" : "outside"`:       "inside",
		`has(claims.phone) ? claims.phone : "none"`:             "none",
		`claims["https://example.com/role"]`:                    "boss",
		`string(claims.level)`:                                  "42",
		`claims.realm_access.roles[0] + "/" + subject`:          "clerk/u-1",
		`claims.email.split("@")[1]`:                            "example.com",
		`claims.groups.exists(g, g == "db-admins") ? "a" : "b"`: "a",
		`"ANN".lowerAscii()`:                                    "ann",
		`claims.phone`:                                          "", // no such claim
		`claims.level`:                                          "", // a number
		`claims.admin`:                                          "", // a boolean
		`claims.groups`:                                         "", // a list
		`claims.none`:                                           "", // null
		`1 / 0 == 1 ? "a" : "b"`:                                "",
		`claims.groups[9]`:                                      "",
	} {
		program, err := claims.Compile(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		got, ok := program.Text(decoded(t, person), "u-1")
		if got != want || ok != (want != "") {
			t.Errorf("%s gives %q, %v", expression, got, ok)
		}
	}
}

func TestList(t *testing.T) {
	for expression, want := range map[string][]string{
		`claims.groups`: {"staff", "db-editors", "db-admins"},
		`claims.groups.filter(g, g.startsWith("db-")).map(g, g.substring(3))`: {"editors", "admins"},
		`claims.email`:        {"ann@example.com"},
		`["a", subject]`:      {"a", "u-1"},
		`[]`:                  {},
		`claims.mixed`:        nil, // not all are texts
		`claims.realm_access`: nil,
		`claims.phone`:        nil,
		`claims.level`:        nil,
	} {
		program, err := claims.Compile(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		got, ok := program.List(decoded(t, person), "u-1")
		if !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%s gives %q, %v", expression, got, ok)
		}
	}
}

func TestWithoutClaims(t *testing.T) {
	program, err := claims.Compile(`has(claims.email) ? claims.email : subject`)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := program.Text(nil, "u-1"); !ok || got != "u-1" {
		t.Errorf("%q, %v", got, ok)
	}
}

func TestMayBe(t *testing.T) {
	for expression, want := range map[string][2]bool{
		`claims.email`:           {true, true},
		`subject`:                {true, true},
		`claims.groups.map(g,g)`: {false, true},
		`["a"]`:                  {false, true},
		`[]`:                     {false, true},
		`[1]`:                    {false, false},
		`true`:                   {false, false},
		`1 + 2`:                  {false, false},
		`claims`:                 {false, false},
	} {
		program, err := claims.Compile(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if got := [2]bool{program.MayBeText(), program.MayBeList()}; got != want {
			t.Errorf("%s: %v", expression, got)
		}
	}
}

func TestCompileSaysWhatIsWrong(t *testing.T) {
	for expression, want := range map[string]string{
		`claim.groups`: `column 1: undeclared reference to 'claim'`,
		`claims.groups.filter(g, g.startswith())`: `column 37: undeclared reference to 'startswith'`,
		`claims.`:                                `column 8: Syntax error: no viable alternative at input '.'`,
		"claims.a +\n  user":                     `line 2, column 3: undeclared reference to 'user'`,
		`subject + 1`:                            `column 9: found no matching overload for '_+_' applied to '(string, int)'`,
		`subject.matches("a+")`:                  `column 16: matches is not available; compare with startsWith, endsWith and contains`,
		`subject.replace("a", "b")`:              `column 16: replace is not available; cut with substring`,
		`claims.groups.join(",")`:                `column 19: join is not available; put texts together with +`,
		`"%s".format([subject])`:                 `column 12: format is not available; put texts together with +`,
		`claims.a.map(x, x).map(x, x).map(x, x)`: `column 13: at most 2 of all, exists, filter and map may follow or contain each other`,
		``:                                       `Syntax error: mismatched input '<EOF>'`,
	} {
		_, err := claims.Compile(expression)
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", expression, err, want)
		}
	}
}

// hostile are expressions of at most 1024 characters that are meant to cost much.
func hostile() map[string]string {
	fill := func(head, unit, tail string) string {
		return head + strings.Repeat(unit, (1024-len(head)-len(tail))/len(unit)) + tail
	}
	nest := func(open, inner, end string) string {
		n := (1024 - len(inner)) / (len(open) + len(end))
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	return map[string]string{
		"parentheses":        nest("(", "1", ")"),
		"open parentheses":   strings.Repeat("(", 1024),
		"lists":              nest("[", "1", "]"),
		"open lists":         strings.Repeat("[", 1024),
		"maps":               nest("{1:", "1", "}"),
		"not":                fill("", "!", "true"),
		"minus":              fill("", "-", "1"),
		"ternaries":          fill("", "true?1:", "1"),
		"nested ternaries":   nest("true?", "1", ":1"),
		"sums":               fill("subject", "+subject", ""),
		"members":            fill("claims", ".a", ""),
		"indices":            fill("claims", "[0]", ""),
		"has in has":         nest("has(", "claims.a", ")"),
		"macros in macros":   nest("[1].all(x,", "true", ")"),
		"macros after each":  fill("[subject]", ".map(x,[x,x])", ""),
		"shared values":      "[subject].map(x,[x,x,x,x,x,x,x,x]).map(x,[x,x,x,x,x,x,x,x]) == [[subject]]",
		"one sum in another": "claims.long.map(x, claims.long.map(y, x + y)).size() > 0",
		"splits":             `claims.long.map(x, (subject + subject).split("").size())`,
		"growing text":       "[" + strings.TrimSuffix(strings.Repeat("subject+", 60), "+") + "].map(x, " + strings.TrimSuffix(strings.Repeat("x+", 200), "+") + ")",
		"commas":             strings.Repeat(",", 1024),
		"quotes":             strings.Repeat(`"`, 1024),
		"raw quotes":         strings.Repeat(`r"""`, 256),
		"errors":             fill("", "a b ", ""),
		"unknown names":      fill("x", "+x", ""),
		"operators":          fill("1", "<1", ""),
		"questions":          strings.Repeat("?", 1024),
		"wide characters":    strings.Repeat("𝄞", 1024),
	}
}

// A hostile expression costs neither the manager, which compiles it, nor the server, which evaluates it, more than a moment.
func TestHostileExpressions(t *testing.T) {
	long := make([]any, 4000)
	for i := range long {
		long[i] = "group"
	}
	all := map[string]any{"long": long, "a": strings.Repeat("a", 8000)}
	subject := strings.Repeat("s", 4096)
	if _, err := claims.Compile(`subject`); err != nil { // the environment is made once
		t.Fatal(err)
	}
	const most = time.Minute // ends a hang; the log has the times
	for name, expression := range hostile() {
		began := time.Now()
		program, err := claims.Compile(expression)
		compiled := time.Since(began)
		began = time.Now()
		if err == nil {
			program.List(all, subject)
		}
		evaluated := time.Since(began)
		t.Logf("%-20s %8v %8v %v", name, compiled.Round(time.Microsecond), evaluated.Round(time.Microsecond), err)
		if compiled > most || evaluated > most {
			t.Errorf("%s: compiled in %v, evaluated in %v", name, compiled, evaluated)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
	if _, err := claims.Compile(strings.Repeat("1", 1025)); err == nil || !strings.Contains(err.Error(), "1025 characters") {
		t.Errorf("too long an expression: %v", err)
	}
}

// People with a thousand groups are within the limit of cost.
func TestManyGroups(t *testing.T) {
	all := map[string]any{}
	var groups []any
	for range 1000 {
		groups = append(groups, "db-editors-of-the-bookshop")
	}
	all["groups"] = groups
	program, err := claims.Compile(`claims.groups.filter(g, g.startsWith("db-")).map(g, g.substring(3).lowerAscii())`)
	if err != nil {
		t.Fatal(err)
	}
	if list, ok := program.List(all, ""); !ok || len(list) != 1000 || list[999] != "editors-of-the-bookshop" {
		t.Errorf("%d, %v", len(list), ok)
	}
}

func TestResultsAreBounded(t *testing.T) {
	all := map[string]any{"long": strings.Repeat("a", 1025), "longest": strings.Repeat("a", 1024)}
	program, err := claims.Compile(`claims.long`)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := program.Text(all, ""); ok {
		t.Error("a text of 1025 bytes is given")
	}
	if program, err = claims.Compile(`claims.longest`); err != nil {
		t.Fatal(err)
	}
	if _, ok := program.Text(all, ""); !ok {
		t.Error("a text of 1024 bytes is not given")
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{"/", "/groups/0", "/a~1b", "/~01", "/deep/1/name", "email", "/~", "//", "/groups/-"} {
		f.Add(seed)
	}
	all := decoded(f, person)
	f.Fuzz(func(t *testing.T, name string) {
		claim, found := claims.Find(all, name)
		if !found && claim != nil {
			t.Errorf("%q is not found, and is %v", name, claim)
		}
		if !strings.HasPrefix(name, "/") && found {
			if again, ok := claims.Find(all, "/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name)); !ok || !equal(claim, again) {
				t.Errorf("%q is found as it is, but not by a pointer", name)
			}
		}
		claims.Match(all, map[string]string{name: "x"})
	})
}

func equal(a, b any) bool {
	first, _ := json.Marshal(a)
	second, _ := json.Marshal(b)
	return string(first) == string(second)
}

func FuzzText(f *testing.F) {
	for _, seed := range hostile() {
		f.Add(seed)
	}
	f.Add(`claims.groups.filter(g, g.startsWith("db-")).map(g, g.substring(3))`)
	f.Add(`has(claims.phone) ? claims.phone : subject`)
	all := decoded(f, person)
	f.Fuzz(func(t *testing.T, expression string) {
		program, err := claims.Compile(expression)
		if err != nil {
			return
		}
		text, ok := program.Text(all, "u-1")
		list, isList := program.List(all, "u-1")
		if ok && (!isList || len(list) != 1 || list[0] != text) {
			t.Errorf("%q gives the text %q and the list %q", expression, text, list)
		}
		if ok && !program.MayBeText() || isList && !program.MayBeList() {
			t.Errorf("%q gives what it was said that it cannot", expression)
		}
	})
}
