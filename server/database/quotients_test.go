package database_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// quotientText is a quotient with twelve digits, halves away from zero, as rows show it.
func quotientText(a, b *big.Rat) string {
	if b.Sign() == 0 {
		return ""
	}
	text := new(big.Rat).Quo(a, b).FloatString(database.QuotientDigits)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = fraction[:6] + strings.TrimRight(fraction[6:], "0")
	return whole + "." + fraction
}

func TestQuotients(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	var script strings.Builder
	script.WriteString("CREATE TABLE q (id INTEGER PRIMARY KEY, grp INTEGER, a NUMERIC(15,6), b NUMERIC(12,3), i BIGINT);")
	// Quotients that end exactly in the middle, or one digit beside it.
	for n, row := range []string{"0.5,1000000000000,1", "-0.5,1,-1", "0.000001,2000000,0", "-0.000001,2000000,3", "0.000001,-4000000,7",
		"-0.000001,8000000.001,9", "999999999.999999,0.001,9223372036854775807", "1,3,-9223372036854775808", "2,-3,6", "0,-7,0", "0,0,0", "NULL,1,NULL",
		"1.499999,2999998,3", "0.000003,2000000,1", "0.000003,1999999.999,1", "-0.000001,999999999.999,1"} {
		if strings.HasPrefix(row, "0.5,1000000000000") {
			row = "0.5,100000000,1"
		}
		fmt.Fprintf(&script, "INSERT INTO q VALUES (%d, %d, %s);", n, n, row)
	}
	for n := 100; n < 300; n++ {
		fmt.Fprintf(&script, "INSERT INTO q VALUES (%d, %d, %s%d.%06d, %s%d.%03d, %s%d);", n, n%23+100,
			pick("", "-"), random.Int64N(1e9), random.IntN(1e6), pick("", "-"), random.Int64N(1e9), random.IntN(1e3), pick("", "-"), random.Int64())
	}
	onAllEngines(t, same(script.String()), func(t *testing.T, f fixture) {
		table := f.table(t, "q")
		of := func(function database.MeasureFunc, column string) database.Measure {
			return database.Measure{Func: function, Ref: database.Ref{Column: table.Column(column)}}
		}
		ratio := func(a, b int) database.Measure {
			return database.Measure{Func: database.Ratio, Dividend: a, Divisor: b}
		}
		g := &database.Grouping{
			From: database.NewSource(table, nil), Keys: []database.GroupKey{{Ref: database.Ref{Column: table.Column("grp")}}},
			Measures: []database.Measure{of(database.Sum, "a"), of(database.Sum, "b"), of(database.Sum, "i"), of(database.Count, "a"), of(database.Count, "i"),
				of(database.Avg, "a"), of(database.Avg, "i"), ratio(0, 1), ratio(1, 0), ratio(2, 0), ratio(0, 2), ratio(2, 1), ratio(3, 1)},
		}
		terms := [][2]int{5: {0, 3}, 6: {2, 4}, 7: {0, 1}, 8: {1, 0}, 9: {2, 0}, 10: {0, 2}, 11: {2, 1}, 12: {3, 1}}
		source := g.Source()
		rows, _ := f.read(t, &database.Select{From: source, Output: outputs(source.Table().Columns...), Order: ascending(source.Table().Columns[0]), Limit: 1000})
		if len(rows) != 39 {
			t.Fatalf("%d groups", len(rows))
		}
		for _, row := range rows {
			var values map[string]any
			decoder := json.NewDecoder(strings.NewReader(row))
			decoder.UseNumber()
			if err := decoder.Decode(&values); err != nil {
				t.Fatal(err)
			}
			value := func(i int) (*big.Rat, bool) {
				text := fmt.Sprint(values[fmt.Sprintf("m%d", i)])
				return new(big.Rat).SetString(text)
			}
			for i := 5; i < len(terms); i++ {
				a, ok := value(terms[i][0])
				b, also := value(terms[i][1])
				var want any
				if ok && also && b.Sign() != 0 {
					want = quotientText(a, b)
				}
				if got := values[fmt.Sprintf("m%d", i)]; got != want {
					t.Errorf("m%d is %v, want %v: %s", i, got, want, row)
				}
			}
		}
	})
}
