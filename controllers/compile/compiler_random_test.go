package compile_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// TestAnIncrementalCompilerEndsWhereAFreshOneDoes makes random changes, and compares with a Compiler that sees the result
// alone.
func TestAnIncrementalCompilerEndsWhereAFreshOneDoes(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		in := large(4, 40)
		c, objects := compiler(in)
		texts := make([]compile.Credential, 8) // few texts, so that tokens fight for them
		for i := range texts {
			texts[i] = compile.TextCredential(contract.NewToken())
		}
		given := map[types.UID]*compile.Credential{}
		objects.Credential = func(t *v1alpha1.MCPToken) *compile.Credential { return given[t.UID] }
		if seed%4 == 0 { // there is nothing to serve before its first edit
			objects.Endpoint = objects.Endpoint.DeepCopy()
			objects.Endpoint.Spec.Catalogue.Style = "unknown"
		}
		var told []*v1alpha1.MCPToken // the tokens of the update before
		for step := range 60 {
			switch at := random.IntN(len(objects.Tokens)); random.IntN(10) {
			case 0:
				objects.Tokens[at] = edited(objects.Tokens[at], func(s *v1alpha1.MCPTokenSpec) { s.Active = new(random.IntN(2) == 0) })
			case 1:
				objects.Tokens = slices.Delete(slices.Clone(objects.Tokens), at, at+1)
			case 2:
				added := token(fmt.Sprint("t", step), time.Duration(random.IntN(100))*time.Second, func(s *v1alpha1.MCPTokenSpec) { s.Groups = []string{"group-1"} })
				added.UID = randomUID()
				objects.Tokens = append(slices.Clone(objects.Tokens), &added)
			case 3, 4:
				given[objects.Tokens[at].UID] = &texts[random.IntN(len(texts))]
				told = slices.DeleteFunc(slices.Clone(told), func(t *v1alpha1.MCPToken) bool { return t == objects.Tokens[at] })
			case 5:
				objects.Tokens[at] = edited(objects.Tokens[at], func(s *v1alpha1.MCPTokenSpec) { s.Groups = []string{fmt.Sprint("group-", random.IntN(110))} })
			case 6:
				e := objects.Endpoint.DeepCopy()
				e.Generation++
				e.Spec.Catalogue.Style = ""
				e.Spec.Groups[random.IntN(5)].Permissions = nil
				e.Spec.Groups = slices.DeleteFunc(e.Spec.Groups, func(g v1alpha1.Group) bool { return slices.Contains(objects.Tokens[at].Spec.Groups, g.Name) })
				objects.Endpoint = e
			case 7:
				expiry := metav1.NewTime(objects.Now.Add(time.Duration(random.IntN(5)) * time.Minute))
				objects.Tokens[at] = edited(objects.Tokens[at], func(s *v1alpha1.MCPTokenSpec) { s.Expiry = &expiry })
			case 8:
				objects.Tokens[at] = edited(objects.Tokens[at], forAccount(fmt.Sprint("account-", random.IntN(6)))) // few, as with the texts
			default:
				objects.Now = objects.Now.Add(time.Minute)
			}
			if seed%2 == 0 {
				c.Update(changesSince(told, objects, random))
			} else {
				c.Update(objects)
			}
			told = slices.Clone(objects.Tokens)
			if random.IntN(2) == 0 {
				nothing := objects
				nothing.Tokens, nothing.Changed = nil, []types.NamespacedName{}
				store(t, c, nothing)
			}
			if c.Main() == nil {
				continue
			}
			switch random.IntN(20) {
			case 0:
				c.TooLarge(0) // the layout grows
			case 1:
				c.Settle()
			}
			expectParts(t, c)
		}
		fresh, _ := compiler(in)
		fresh.Update(objects)
		if got, want := withoutRevisions(c.Whole()), withoutRevisions(fresh.Whole()); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d:\n%+v\n%+v", seed, got.Tokens, want.Tokens)
		}
		for _, object := range objects.Tokens {
			key := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
			got, _, _, _ := c.Token(key)
			want, _, _, _ := fresh.Token(key)
			if got.Revision, want.Revision = 0, 0; !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %s: %+v, want %+v", seed, key, got, want)
			}
		}
	}
}

// expectParts expects each token in the parts of the layout that hold it, and in no other. What came after a growth had begun lies
// in its own part alone.
func expectParts(t *testing.T, c *compile.Compiler) {
	t.Helper()
	published, parts := c.Layout()
	wanted := contract.Layout{Parts: parts, Before: published.Before}
	if parts != published.Parts { // it grows
		wanted.Before = published.Parts
	}
	whole := c.Whole()
	for i := range parts {
		want := slices.DeleteFunc(slices.Clone(whole.Tokens), func(entry contract.Token) bool {
			alone := c.NeedsLayout(types.NamespacedName{Namespace: entry.Namespace, Name: entry.Name}) > 0
			own := contract.PartOf(entry.Namespace, entry.Name, wanted.Parts) == i
			return alone && !own || !wanted.Holds(i, contract.NameHash(entry.Namespace, entry.Name))
		})
		if got := c.TokenPart(i).Tokens; !reflect.DeepEqual(got, append([]contract.Token{}, want...)) {
			t.Fatalf("part %d of %+v has\n%+v, want\n%+v", i, wanted, got, want)
		}
	}
}

// changesSince are objects with the tokens alone that are others than before, and some that are not.
func changesSince(before []*v1alpha1.MCPToken, objects compile.Objects, random *rand.Rand) compile.Objects {
	changed := objects
	changed.Tokens, changed.Changed = nil, []types.NamespacedName{}
	tell := func(t *v1alpha1.MCPToken) {
		if key := (types.NamespacedName{Namespace: t.Namespace, Name: t.Name}); !slices.Contains(changed.Changed, key) {
			changed.Changed = append(changed.Changed, key)
		}
	}
	for _, t := range before {
		if !slices.Contains(objects.Tokens, t) {
			tell(t)
		}
	}
	for _, t := range objects.Tokens {
		if !slices.Contains(before, t) || random.IntN(40) == 0 {
			tell(t)
			changed.Tokens = append(changed.Tokens, t)
		}
	}
	return changed
}

func withoutRevisions(c *contract.Config) *contract.Config {
	c.Revision, c.Endpoint.Revision, c.Endpoint.StatusKey, c.Endpoint.SealKey = 0, 0, "", ""
	c.Layout = contract.Layout{}
	c.Models = slices.Clone(c.Models)
	for i := range c.Models {
		c.Models[i].Revision = 0
	}
	tokens := []contract.Token{}
	for _, entry := range c.Tokens {
		if entry.Revision = 0; entry.InForce() { // that a token was in force once, only one of the two can know
			tokens = append(tokens, entry)
		}
	}
	c.Tokens = tokens
	return c
}
