package permissions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Times of twins: a policy that goes through a relation hides rows, and many costly conditions ask of what they hold. If the
// conditions ran before the policy, the time of the answer would tell whether the hidden rows meet the first of them.
//
// How long something takes is the machine's affair, so the figures are only told, and the test fails by them alone with
// MCP_TEST_TIMING=1 (make test-timing).

const (
	timedPairs = 120
	// A difference is one that nobody can call chance, and that an attacker sees in few calls.
	chanceOfError = 1e-6
	tellsApart    = 0.75
)

// timedScript makes 20 persons of firms in the north, and 1,500 of firms in the south, whose texts are long.
func timedScript(engine string) string {
	long := strings.Repeat("abcdefghij", 60)
	var b strings.Builder
	b.WriteString("create table firm (id int primary key, region varchar(20));\ninsert into firm values (1, 'north'), (2, 'south');\n")
	kind := "text"
	if engine == contract.EngineMySQL {
		kind = "longtext"
	}
	fmt.Fprintf(&b, "create table person (id int primary key, firm_id int not null, code varchar(40), note %s, foreign key (firm_id) references firm (id));\n", kind)
	var rows []string
	for i := 1; i <= 1520; i++ {
		firm, code := 2, "hidden"
		if i <= 20 {
			firm, code = 1, "seen"
		}
		rows = append(rows, fmt.Sprintf("(%d, %d, '%s', '%s')", i, firm, code, long))
	}
	b.WriteString("insert into person values " + strings.Join(rows, ",\n") + ";\n")
	return b.String()
}

// timedCall asks for rows whose code begins so, by many conditions on their notes.
func timedCall(code string) string {
	var conditions []string
	for i := range 40 {
		conditions = append(conditions, fmt.Sprintf(`{"note__icontains":"jihgf%d"}`, i))
	}
	return `{"filters":{"code__startswith":"` + code + `","_any":[` + strings.Join(conditions, ",") + `]},"total":"exact"}`
}

func TestTimesTellNothingOfHiddenRows(t *testing.T) {
	strict := os.Getenv("MCP_TEST_TIMING") != ""
	const text = "mcp_timedtimedtimedt.0000000000000000000000000000000000000000000"
	for _, engine := range harness.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			database, _ := engine.Open(t, timedScript(engine.Name))
			models := []contract.Model{{Name: "firm", Table: "firm", Expose: true}, {Name: "person", Table: "person", Expose: true, RowPolicies: []contract.RowPolicy{
				{Name: "north", Everyone: true, Filters: []contract.Filter{{Field: "firm__region", Value: "north"}}}}}}
			token := contract.Token{Namespace: "test", Name: "timed", Hashes: []string{contract.HashToken(text)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}
			endpoint := harness.Serve(t, database, models, []contract.Token{token}, func(c *contract.Config) { c.Endpoint.Catalogue.StructuredContent = false })
			var right, wrong []time.Duration
			for i := range timedPairs + 10 {
				// In another order each time, so that what else the machine does concerns both alike.
				order := rand.Perm(2)
				for _, which := range order {
					began := time.Now()
					answer, isError := endpoint.Call(text, "list_person", timedCall([]string{"hid", "hxd"}[which]))
					took := time.Since(began)
					if isError || !strings.Contains(answer, `"count":0`) {
						t.Fatalf("%s", answer)
					}
					if i < 10 { // plans and caches are warm then
						continue
					}
					if which == 0 {
						right = append(right, took)
					} else {
						wrong = append(wrong, took)
					}
				}
			}
			share, p := rankTest(right, wrong)
			told := fmt.Sprintf("%s, a guess of what hidden rows hold takes %s if it is right and %s if it is wrong (medians of %d each); it is the slower one in %.0f%% of pairs (p = %.1g)",
				engine.Title, median(right), median(wrong), timedPairs, 100*share, p)
			fmt.Println("times: " + told)
			if strict && p < chanceOfError && math.Abs(share-0.5) > tellsApart-0.5 {
				t.Error(told)
			}
		})
	}
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2].Round(time.Microsecond)
}

// rankTest is the test of Mann and Whitney: the share of pairs in which a is greater, and how likely a share so far from a half
// is if a and b are alike (by the normal approximation, for samples of more than 20).
func rankTest(a, b []time.Duration) (share, p float64) {
	greater := 0.0
	for _, x := range a {
		for _, y := range b {
			switch {
			case x > y:
				greater++
			case x == y:
				greater += 0.5
			}
		}
	}
	n, m := float64(len(a)), float64(len(b))
	z := (greater - n*m/2) / math.Sqrt(n*m*(n+m+1)/12)
	return greater / (n * m), math.Erfc(math.Abs(z) / math.Sqrt2)
}

func TestRanksAreCompared(t *testing.T) {
	var low, high, mixed []time.Duration
	for i := range 60 {
		low, high, mixed = append(low, time.Duration(i)), append(high, time.Duration(i+60)), append(mixed, time.Duration(2*(i%30)))
	}
	if share, p := rankTest(high, low); share != 1 || p > chanceOfError {
		t.Errorf("all are greater: share %v, p %v", share, p)
	}
	if share, p := rankTest(low, low); share != 0.5 || p < 0.9 {
		t.Errorf("the same: share %v, p %v", share, p)
	}
	if share, p := rankTest(low, mixed); math.Abs(share-0.5) > 0.1 || p < 0.05 {
		t.Errorf("alike: share %v, p %v", share, p)
	}
}
