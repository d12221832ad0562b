package access

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// TestATokenSeesTheRowsOfItsPoliciesAndNoOthers compares the condition of a Source with an oracle that reads
// docs/design/rights.md, "Row policies" word by word, over random policies, tokens and rows.
func TestATokenSeesTheRowsOfItsPoliciesAndNoOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	some, all, none := 0, 0, 0
	for i := range 3000 {
		w := newWorld(r)
		policies := randomPolicies(r)
		config := &contract.Config{Tokens: []contract.Token{randomToken(r, "s"), randomToken(r, "t")}, Models: []contract.Model{
			{Name: "item", Exposure: "item", Table: "item", RowPolicies: policies, Exclude: []string{"level"}}, {Name: "person", Exposure: "person", Table: "person"}}}
		models := catalog.Build(config, w.schema)
		item := models.Model("item")
		if !item.Served() {
			t.Fatalf("case %d: %s", i, item.Status.Message)
		}
		compiled := TokensOf(config, models)
		seen, fingerprints := make([][]int, 2), make([]string, 2)
		for j := range config.Tokens {
			entry := &config.Tokens[j]
			scope, _ := compiled.Authenticate("Bearer "+text+entry.Name, time.Now()).Scope(item)
			source := scope.Source()
			if source.Table() != w.item || scope.Limited() != (source.Policy() != nil) || scope.Limited() == (scope.Fingerprint() == "") {
				t.Fatalf("case %d: limited is %v, the fingerprint %q, the policy %#v", i, scope.Limited(), scope.Fingerprint(), source.Policy())
			}
			everything := slices.ContainsFunc(policies, func(p contract.RowPolicy) bool {
				return p.AllRows && (p.Everyone || slices.ContainsFunc(p.Groups, func(g string) bool { return slices.Contains(entry.Groups, g) }))
			})
			if scope.Limited() == (everything || len(policies) == 0) {
				t.Fatalf("case %d: a token of groups %q is limited: %v, by %+v", i, entry.Groups, scope.Limited(), policies)
			}
			for id, candidate := range w.rows[w.item] {
				want := w.visible(policies, entry, candidate)
				if got := w.meets(source.Policy(), candidate); got != want {
					t.Fatalf("case %d: a token of groups %q and attributes %q sees %v: %v, want %v, by %+v", i, entry.Groups, entry.Attributes, candidate, got, want, policies)
				}
				if !want {
					continue
				}
				seen[j] = append(seen[j], id)
				for _, a := range scope.Fixed() {
					if a.How != database.AssignValue || candidate[a.Column.Name] != a.Value {
						t.Fatalf("case %d: %s is fixed to %v, and a visible row has %v", i, a.Column.Name, a.Value, candidate[a.Column.Name])
					}
				}
			}
			fingerprints[j] = scope.Fingerprint()
			switch {
			case len(seen[j]) == len(w.rows[w.item]):
				all++
			case len(seen[j]) > 0:
				some++
			default:
				none++
			}
		}
		if fingerprints[0] == fingerprints[1] && !slices.Equal(seen[0], seen[1]) {
			t.Fatalf("case %d: tokens of one fingerprint see %v and %v", i, seen[0], seen[1])
		}
	}
	if some < 500 || all < 100 || none < 100 {
		t.Errorf("the cases are too poor: %d see some rows, %d all, %d none", some, all, none)
	}
}

// Every text begins with the empty one: what an administrator left empty must not open every row.
func TestAnEmptyAttributeIsAPieceOfNoValue(t *testing.T) {
	for _, tc := range []struct {
		lookup, attribute string
		want              bool
	}{
		{"startswith", "", false}, {"istartswith", "", false}, {"contains", "", false}, {"icontains", "", false}, {"endswith", "", false}, {"iendswith", "", false},
		{"startswith", "a", true}, {"exact", "", true},
	} {
		config := &contract.Config{
			Models: []contract.Model{{Name: "item", Exposure: "item", Table: "item", RowPolicies: []contract.RowPolicy{
				{Name: "p", Everyone: true, Filters: []contract.Filter{{Field: "region", Lookup: tc.lookup, TokenAttribute: "region"}}}}}},
			Tokens: []contract.Token{{Hashes: []string{contract.HashToken(text)}, Attributes: map[string]string{"region": tc.attribute}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}},
		}
		models := catalog.Build(config, newWorld(rand.New(rand.NewPCG(1, 1))).schema)
		scope, _ := TokensOf(config, models).Authenticate("Bearer "+text, time.Now()).Scope(models.Model("item"))
		never := reflect.DeepEqual(scope.Source().Policy(), database.Or{database.And{database.Or{}}})
		if never == tc.want {
			t.Errorf("%s with the attribute %q: the policy is %#v", tc.lookup, tc.attribute, scope.Source().Policy())
		}
	}
}

func TestAPolicyFixesWhatItComparesForEquality(t *testing.T) {
	equal := func(field, value string) contract.Filter { return contract.Filter{Field: field, Value: value} }
	own := contract.Filter{Field: "region", TokenAttribute: "region"}
	of := func(filters ...contract.Filter) contract.RowPolicy {
		return contract.RowPolicy{Name: "p", Everyone: true, Filters: filters}
	}
	for _, tc := range []struct {
		name       string
		policies   []contract.RowPolicy
		attributes map[string]string
		want       map[string]database.Value
	}{
		{"no policy", nil, nil, nil},
		{"constants", []contract.RowPolicy{of(equal("region", "a"), equal("level", "2"))}, nil, map[string]database.Value{"region": "a", "level": int64(2)}},
		{"an attribute", []contract.RowPolicy{of(own)}, map[string]string{"region": "b"}, map[string]database.Value{"region": "b"}},
		{"an attribute that is missing", []contract.RowPolicy{of(own)}, nil, nil},
		{"an attribute that is no value", []contract.RowPolicy{of(contract.Filter{Field: "level", TokenAttribute: "region"})}, map[string]string{"region": "b"}, nil},
		{"another comparison", []contract.RowPolicy{of(contract.Filter{Field: "level", Lookup: "gte", Value: "2"})}, nil, nil},
		{"through a relation", []contract.RowPolicy{of(equal("owner__team", "a"))}, nil, nil},
		{"through two relations", []contract.RowPolicy{of(equal("owner__boss__team", "a"))}, nil, nil},
		{"one of several", []contract.RowPolicy{of(contract.Filter{Any: []contract.Filter{equal("region", "a")}}, equal("level", "2"))}, nil, map[string]database.Value{"level": int64(2)}},
		{"several that match", []contract.RowPolicy{of(equal("region", "a")), {Name: "q", Groups: []string{"g"}, Filters: []contract.Filter{equal("region", "b")}}}, nil, nil},
		{"one that matches", []contract.RowPolicy{of(equal("region", "a")), {Name: "q", Groups: []string{"other"}, AllRows: true}}, nil, map[string]database.Value{"region": "a"}},
		{"all rows", []contract.RowPolicy{of(equal("region", "a")), {Name: "q", Groups: []string{"g"}, AllRows: true}}, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config := &contract.Config{Models: []contract.Model{{Name: "item", Exposure: "item", Table: "item", RowPolicies: tc.policies}}, Tokens: []contract.Token{{
				Hashes: []string{contract.HashToken(text)}, Groups: []string{"g"}, Attributes: tc.attributes, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}}}
			models := catalog.Build(config, newWorld(rand.New(rand.NewPCG(1, 1))).schema)
			scope, ok := TokensOf(config, models).Authenticate("Bearer "+text, time.Now()).Scope(models.Model("item"))
			if !ok {
				t.Fatal(models.Model("item").Status.Message)
			}
			var got map[string]database.Value
			for _, a := range scope.Fixed() {
				if got == nil {
					got = map[string]database.Value{}
				}
				got[a.Column.Name] = a.Value
			}
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("fixed are %v, want %v", got, tc.want)
			}
		})
	}
}

// A relation shows what a token may see at its other end, and no more.
func TestARelationLeadsToVisibleRowsOnly(t *testing.T) {
	w := newWorld(rand.New(rand.NewPCG(5, 6)))
	config := &contract.Config{
		Models: []contract.Model{
			{Name: "item", Exposure: "item", Table: "item", SearchFields: []string{"region", "owner__team"}},
			{Name: "person", Exposure: "person", Table: "person", RowPolicies: []contract.RowPolicy{{Name: "p", Everyone: true, Filters: []contract.Filter{{Field: "team", Value: "a"}}}}}},
		Tokens: []contract.Token{
			{Name: "both", Hashes: []string{contract.HashToken(text)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}},
			{Name: "items", Hashes: []string{contract.HashToken(text + "1")}, Rules: []contract.Rule{{Models: []string{"item"}, Verbs: []string{"view"}}}}},
	}
	models := catalog.Build(config, w.schema)
	all := TokensOf(config, models)
	scope, _ := all.Authenticate("Bearer "+text, time.Now()).Scope(models.Model("item"))
	owner, _, ok := scope.Follow("owner")
	if !ok || len(scope.Relations()) != 1 || len(scope.SearchFields()) != 2 {
		t.Fatalf("the relation is %v, of %v", ok, scope.Relations())
	}
	visible := 0
	for _, candidate := range w.rows[w.item] {
		want := slices.ContainsFunc(w.rows[w.person], func(p row) bool { return candidate["owner_id"] == p["id"] && p["team"] == "a" })
		if got := w.meets(scope.Related(owner, nil), candidate); got != want {
			t.Errorf("%v is related: %v, want %v", candidate, got, want)
		}
		if want {
			visible++
		}
	}
	if visible == 0 {
		t.Error("no item is of team a: the rows are too poor")
	}
	blind, _ := all.Authenticate("Bearer "+text+"1", time.Now()).Scope(models.Model("item"))
	if _, _, ok := blind.Follow("owner"); ok || len(blind.Relations()) != 0 || len(blind.SearchFields()) != 1 {
		t.Error("a relation leads to a model that the token may not view")
	}
	if w.meets(blind.Related(owner, nil), w.rows[w.item][0]) {
		t.Error("a row is related to one that the token may not view")
	}
}

// A filter whose attribute the token lacks is met by no row; beside others in any it must not make up for them.
func TestAMissingAttributeInAnyIsMetByNoRow(t *testing.T) {
	of := func(filters ...contract.Filter) []contract.RowPolicy {
		return []contract.RowPolicy{{Name: "p", Everyone: true, Filters: []contract.Filter{{Any: filters}}}}
	}
	missing := contract.Filter{Field: "region", Lookup: "ne", TokenAttribute: "none"}
	w := newWorld(rand.New(rand.NewPCG(5, 6)))
	for _, tc := range []struct {
		name     string
		policies []contract.RowPolicy
		seen     func(row) bool
	}{
		{"alone", of(missing), func(row) bool { return false }},
		{"beside one that rows meet", of(missing, contract.Filter{Field: "level", Value: "1"}), func(r row) bool { return r["level"] == int64(1) }},
		{"beside a filter that rows meet", []contract.RowPolicy{{Name: "p", Everyone: true, Filters: []contract.Filter{{Any: []contract.Filter{missing}}, {Field: "level", Value: "1"}}}}, func(row) bool { return false }},
	} {
		config := &contract.Config{Models: []contract.Model{{Name: "item", Exposure: "item", Table: "item", RowPolicies: tc.policies}},
			Tokens: []contract.Token{{Hashes: []string{contract.HashToken(text)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}}}
		models := catalog.Build(config, w.schema)
		scope, _ := TokensOf(config, models).Authenticate("Bearer "+text, time.Now()).Scope(models.Model("item"))
		for _, candidate := range w.rows[w.item] {
			if got := w.meets(scope.Source().Policy(), candidate); got != tc.seen(candidate) {
				t.Errorf("%s: %v is seen: %v", tc.name, candidate, got)
			}
		}
	}
}

// Tokens whose attributes differ inside any have different fingerprints.
func TestFingerprintsTellAttributesInAnyApart(t *testing.T) {
	w := newWorld(rand.New(rand.NewPCG(5, 6)))
	entry := func(n int, region string) contract.Token {
		return contract.Token{Name: fmt.Sprint(n), Hashes: []string{contract.HashToken(fmt.Sprint(text, n))}, Attributes: map[string]string{"region": region},
			Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}
	}
	config := &contract.Config{Tokens: []contract.Token{entry(0, "a"), entry(1, "b"), entry(2, "a")}, Models: []contract.Model{{Name: "item", Exposure: "item", Table: "item",
		RowPolicies: []contract.RowPolicy{{Name: "p", Everyone: true, Filters: []contract.Filter{{Any: []contract.Filter{{Field: "region", TokenAttribute: "region"}, {Field: "level", Value: "1"}}}}}}}}}
	models := catalog.Build(config, w.schema)
	all := TokensOf(config, models)
	of := func(n int) string {
		scope, _ := all.Authenticate(fmt.Sprint("Bearer ", text, n), time.Now()).Scope(models.Model("item"))
		return scope.Fingerprint()
	}
	if of(0) == of(1) || of(0) != of(2) {
		t.Errorf("the fingerprints are %s, %s and %s", of(0), of(1), of(2))
	}
}
