package oracle

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// kind is the kind of a column's values.
type kind int

const (
	anInteger kind = iota
	aDecimal
	aFloat
	aText
	aDate
	aMoment
	aTruth
)

func (k kind) isExact() bool  { return k == anInteger || k == aDecimal }
func (k kind) isNumber() bool { return k.isExact() || k == aFloat }

// value is a value in its canonical form: a number without needless zeros, a moment in UTC.
type value struct {
	text string
	null bool
}

func (v value) String() string {
	if v.null {
		return "null"
	}
	return strconv.Quote(v.text)
}

var (
	words   = []string{"ash", "birch", "cedar", "elm", "fir", "oak", "pine", "rowan", "yew", "it's", "a_b", "50%", "a\\b", ""}
	numeric = []string{"10", "9", "007", "1e3", "-5", "0x1", "10.0", "1,5", "12345678901", "12345678902", "NaN", "٣"}
)

// random is a value for the column.
func (c *column) random(r *rand.Rand) value {
	if !c.required && chance(r, 15) {
		return value{null: true}
	}
	switch c.kind {
	case anInteger:
		switch c.of {
		case "few":
			return value{text: fmt.Sprint(r.IntN(9) - 3)}
		case "huge":
			n := math.MaxInt64 - r.Int64N(1000)
			if chance(r, 25) {
				n = math.MinInt64 + r.Int64N(1000)
			}
			return value{text: fmt.Sprint(n)}
		}
		return value{text: fmt.Sprint(r.Int64N(2_000_000) - 1_000_000)}
	case aDecimal:
		digits := 1 + r.IntN(c.digits)
		n := new(big.Int)
		for range digits {
			n.Add(n.Mul(n, big.NewInt(10)), big.NewInt(int64(r.IntN(10))))
		}
		if chance(r, 20) { // a number without a fraction
			n.Mul(big.NewInt(r.Int64N(90)+10), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.scale)), nil))
		}
		if chance(r, 30) {
			n.Neg(n)
		}
		return value{text: decimalText(n, c.scale)}
	case aFloat:
		return value{text: shortest(float64(r.IntN(2_000_000)-500_000) / 64)}
	case aText:
		if c.of == "numbers" {
			return value{text: pick(r, numeric...)}
		}
		return value{text: pick(r, words...)}
	case aDate:
		return value{text: someDay(r).Format(time.DateOnly)}
	case aMoment:
		moment := someDay(r).Add(time.Duration(r.IntN(86_400)) * time.Second)
		if chance(r, 30) && c.of != "Z" && c.of != "+00:00" { // SQLite compares texts
			moment = moment.Add(time.Duration(r.IntN(1000)) * time.Millisecond)
		}
		return value{text: moment.Format("2006-01-02 15:04:05.999999")}
	}
	return value{text: pick(r, "true", "false")}
}

func someDay(r *rand.Rand) time.Time {
	return time.Date(2024, 1, 1+r.IntN(900), 0, 0, 0, 0, time.UTC)
}

// decimalText is n divided by ten to the power of the scale, without needless zeros.
func decimalText(n *big.Int, scale int) string {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	return trimmed(new(big.Rat).SetFrac(n, ten).FloatString(scale))
}

func trimmed(number string) string {
	if strings.Contains(number, ".") {
		number = strings.TrimSuffix(strings.TrimRight(number, "0"), ".")
	}
	if number == "-0" {
		return "0"
	}
	return number
}

func shortest(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

var momentText = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d+)?(Z|[-+]\d{2}(?::?\d{2})?)?$`)

// canonical is a value of a kind from the text of an answer or of SQL.
func canonical(k kind, text string) string {
	switch k {
	case anInteger, aDecimal:
		if r, ok := new(big.Rat).SetString(text); ok {
			return trimmed(r.FloatString(40))
		}
	case aFloat:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return shortest(f)
		}
	case aMoment:
		if part := momentText.FindStringSubmatch(text); part != nil {
			layout, zone := "2006-01-02 15:04:05.999999999", part[4]
			moment, err := time.Parse(layout, part[1]+" "+part[2]+part[3])
			if zone != "" && zone != "Z" {
				hours, _ := strconv.Atoi(zone[1:3])
				if moment = moment.Add(-time.Duration(hours) * time.Hour); zone[0] == '-' {
					moment = moment.Add(2 * time.Duration(hours) * time.Hour)
				}
			}
			if err == nil {
				return moment.Format("2006-01-02 15:04:05.999999")
			}
		}
	case aTruth:
		return map[string]string{"t": "true", "1": "true", "f": "false", "0": "false"}[text] + map[string]string{"true": text, "false": text}[text]
	}
	return text
}

// answered is a value of an answer.
func answered(k kind, v any) value {
	switch v := v.(type) {
	case nil:
		return value{null: true}
	case json.Number:
		return value{text: canonical(k, v.String())}
	case string:
		return value{text: canonical(k, v)}
	}
	return value{text: canonical(k, fmt.Sprint(v))}
}

// given is a value as an argument.
func (c *column) given(v value) any {
	if v.null {
		return nil
	}
	switch c.kind {
	case anInteger:
		if n, _ := strconv.ParseInt(v.text, 10, 64); n > 1<<53 || n < -(1<<53) {
			return v.text
		}
		return json.Number(v.text)
	case aFloat:
		return json.Number(v.text)
	case aTruth:
		return v.text == "true"
	case aMoment:
		text := strings.Replace(v.text, " ", "T", 1)
		if c.of == "zone" || c.of == "Z" || c.of == "+00:00" {
			text += "Z"
		}
		return text
	}
	return v.text
}

// typeOf is the column's type in SQL.
func (w *world) typeOf(c *column) string {
	switch c.kind {
	case anInteger:
		return "bigint"
	case aDecimal:
		return fmt.Sprintf("decimal(%d, %d)", c.digits, c.scale)
	case aFloat:
		return "double precision"
	case aText:
		return "varchar(40)" + map[string]string{harness.PostgreSQL: ` collate "C"`, harness.MariaDB: " character set utf8mb4 collate utf8mb4_bin",
			harness.MySQL: " character set utf8mb4 collate utf8mb4_0900_bin"}[w.engine.Product]
	case aDate:
		return "date"
	case aMoment:
		switch {
		case w.engine.Product == harness.SQLite:
			return "timestamp"
		case w.isMySQL():
			return map[string]string{"zone": "timestamp(6)", "none": "datetime(6)"}[c.of]
		}
		return map[string]string{"zone": "timestamptz", "none": "timestamp"}[c.of]
	}
	return "boolean"
}

func (w *world) isPostgreSQL() bool { return w.engine.Product == harness.PostgreSQL }

func (w *world) isDuckDB() bool { return w.engine.Product == harness.DuckDB.Product }

func (w *world) isMySQL() bool {
	return w.engine.Product == harness.MariaDB || w.engine.Product == harness.MySQL
}

// literal is a value of the column in SQL.
func (w *world) literal(c *column, v value) string {
	switch {
	case v.null:
		return "null"
	case c.kind.isNumber(), c.kind == aTruth:
		return v.text
	case c.kind == aMoment && (w.isPostgreSQL() || w.isDuckDB()):
		return w.typeOf(c) + " '" + v.text + map[string]string{"zone": "+00"}[c.of] + "'"
	case c.kind == aMoment && w.isMySQL():
		return "timestamp'" + v.text + "'"
	case c.kind == aMoment: // in the column's own form
		if c.of == " " {
			return "'" + v.text + "'"
		}
		return "'" + strings.Replace(v.text, " ", "T", 1) + c.of + "'"
	case c.kind == aDate && w.engine.Product != harness.SQLite:
		return "date '" + v.text + "'"
	case w.isMySQL():
		return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(v.text) + "'"
	}
	return "'" + strings.ReplaceAll(v.text, "'", "''") + "'"
}

func (w *world) literals(columns []*column, row []value) []string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = w.literal(c, row[i])
	}
	return all
}
