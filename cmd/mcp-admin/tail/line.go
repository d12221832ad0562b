package tail

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/contract/formula"
)

// line is one audit line of a pod.
type line struct {
	pod string
	// at is when the server wrote it; logged is when the container's log took it.
	at, logged time.Time
	text       []byte
	record     record
}

// record holds the fields of an audit line (server/audit).
type record struct {
	Time      time.Time `json:"time"`
	Message   string    `json:"msg"`
	Token     string    `json:"token"`
	Subject   string    `json:"subject"`
	Tool      string    `json:"tool"`
	Operation string    `json:"operation"`
	Model     string    `json:"model"`
	IDs       []string  `json:"ids"`
	Fields    []string  `json:"fields"`
	RowsOf    string    `json:"rows_of"`
	Changed   int       `json:"changed"`
	Rows      *int      `json:"rows"`
	Bytes     int       `json:"bytes"`
	DryRun    bool      `json:"dry_run"`
	Outcome   string    `json:"outcome"`
	Call      string    `json:"call"`
	Asked     string    `json:"asked"`
	Address   string    `json:"address"`
	Client    string    `json:"client"`
	Request   string    `json:"request"`
	Trace     string    `json:"trace"`
	// Seconds is how long it took; nil if the line does not tell.
	Seconds *float64 `json:"seconds"`

	// Journal is the audit table from which the line was made; "" if a server wrote it.
	Journal string `json:"journal"`

	// These are of callers that were not let in.
	Cause     string `json:"cause"`
	Condition string `json:"condition"`
	TokenID   string `json:"token_id"`
	Issuer    string `json:"issuer"`
	More      int    `json:"more_refused"`
}

// auditMessage is the message of all audit lines.
const auditMessage = "audit"

// line is the record as the server writes it in its own format; members that say nothing are left out.
func (r *record) line() []byte {
	r.Message = auditMessage
	text, err := json.Marshal(r)
	if err != nil {
		return nil
	}
	var members map[string]any
	if json.Unmarshal(text, &members) != nil {
		return nil
	}
	maps.DeleteFunc(members, func(_ string, value any) bool {
		return value == nil || value == "" || value == float64(0) || value == false
	})
	if r.Rows != nil {
		members["rows"] = *r.Rows
	}
	text, err = json.Marshal(members)
	if err != nil {
		return nil
	}
	return text
}

// The outcomes that are neither "ok" nor the code of an error.
const (
	// outcomeRefused stands in the line of a caller that was not let in.
	outcomeRefused = "refused"
	// outcomeIntent stands in a line that comes before the change itself, and in the line about the link of an export.
	outcomeIntent = "intent"
)

// parse reads a line of a log. If the log is timed, each line begins with the time at which the log took it; else the line
// has only its own. audit is false for one that is no audit line.
func parse(pod string, logged []byte, timed bool) (l line, audit bool) {
	l = line{pod: pod, text: bytes.TrimRight(logged, "\r\n")}
	if timed {
		stamp, text, found := bytes.Cut(l.text, []byte(" "))
		at, err := time.Parse(time.RFC3339Nano, string(stamp))
		if !found || err != nil {
			return line{}, false
		}
		l.logged, l.text = at, text
	}
	if json.Unmarshal(l.text, &l.record) != nil || l.record.Message != auditMessage {
		if !l.record.readEvent(l.text) {
			return l, false
		}
		l.text = l.record.line()
	}
	if l.at = l.record.Time; l.at.IsZero() {
		l.at = l.logged
	}
	if !timed {
		l.logged = l.at
	}
	return l, true
}

// printer returns what prints a line in the format.
func (o *options) printer(out io.Writer) func(line) error {
	screen := output.NewScreen(out)
	switch o.format {
	case output.CSV:
		return csvPrinter(out)
	case output.JSON:
		return func(l line) error { return printJSON(out, l) }
	case output.YAML:
		return func(l line) error {
			if _, err := fmt.Fprintln(out, "---"); err != nil {
				return err
			}
			var whole map[string]any
			if err := json.Unmarshal(l.text, &whole); err != nil {
				return err
			}
			whole["pod"] = l.pod
			return output.YAML.Print(out, whole, nil)
		}
	}
	return func(l line) error { return printText(screen, l) }
}

// printJSON prints the whole line, with the pod.
func printJSON(out io.Writer, l line) error {
	pod, err := json.Marshal(l.pod)
	if err != nil {
		return err
	}
	object := bytes.TrimSpace(l.text)
	_, err = fmt.Fprintf(out, "%s,\"pod\":%s}\n", object[:len(object)-1], pod)
	return err
}

// csvHeader names the columns of CSV, in the order of csvRow.
var csvHeader = []string{
	"time", "token", "subject", "tool", "model", "operation", "rows_of", "ids", "fields", "rows", "changed", "dry_run", "outcome", "call", "asked", "address", "client", "request", "trace", "cause", "condition", "token_id",
	"issuer", "more_refused", "journal", "pod",
}

// csvRow is a line as CSV; lists have spaces between their elements.
func csvRow(l line) []string {
	r := &l.record
	rows, more := "", ""
	if r.Rows != nil {
		rows = strconv.Itoa(*r.Rows)
	}
	if r.More > 0 {
		more = strconv.Itoa(r.More)
	}
	row := []string{
		l.at.UTC().Format(time.RFC3339Nano), r.Token, r.Subject, r.Tool, r.Model, r.Operation, r.RowsOf, strings.Join(r.IDs, " "), strings.Join(r.Fields, " "), rows,
		strconv.Itoa(r.Changed), strconv.FormatBool(r.DryRun), r.Outcome, r.Call, r.Asked, r.Address, r.Client, r.Request, r.Trace, r.Cause, r.Condition, r.TokenID,
		r.Issuer, more, r.Journal, l.pod,
	}
	for i := range row {
		row[i] = formula.Disarm(row[i]) // callers choose many of them
	}
	return row
}

// csvPrinter prints lines as CSV, with a header before the first.
func csvPrinter(out io.Writer) func(line) error {
	w := csv.NewWriter(out)
	begun := false
	return func(l line) error {
		if !begun {
			begun = true
			_ = w.Write(csvHeader) // the writer keeps its error for the next Flush
		}
		_ = w.Write(csvRow(l))
		w.Flush()
		return w.Error()
	}
}

// printText prints a line for people. Callers chose the ids and the subject: no line break in them begins a line.
func printText(screen *output.Screen, l line) error {
	r := &l.record
	who, what := cmp.Or(r.Token, r.TokenID, "unknown"), cmp.Or(r.Tool, r.Operation+" "+r.Model)
	if r.Subject != "" {
		who += " as " + r.Subject
	}
	if r.Outcome == outcomeRefused {
		what = "is refused from " + r.Address
	}
	if len(r.IDs) > 0 {
		what += " " + strings.Join(r.IDs, ",")
	}
	if len(r.Fields) > 0 {
		what += " (" + strings.Join(r.Fields, ", ") + ")"
	}
	outcome := screen.Styled(output.Good, output.Printable(r.Outcome))
	if r.Outcome != "ok" && r.Outcome != outcomeIntent {
		outcome = screen.Styled(output.Bad, output.Printable(cmp.Or(r.Cause, r.Outcome)))
	}
	if r.More > 0 {
		outcome += fmt.Sprintf(", %d more before", r.More)
	}
	if r.Changed > 0 {
		outcome += fmt.Sprintf(", %d changed", r.Changed)
	}
	if r.Rows != nil {
		outcome += ", " + output.Numbered(*r.Rows, "row")
	}
	if r.DryRun {
		outcome += ", dry run"
	}
	where := l.pod
	if r.Journal != "" {
		where = "journal"
	}
	if where != "" {
		where = "  " + screen.Styled(output.Faint, where)
	}
	_, err := fmt.Fprintf(screen, "%s  %s  %s  %s%s\n", screen.Styled(output.Faint, l.at.Local().Format("2006-01-02 15:04:05.000")), output.Printable(who), output.Printable(what), outcome, where)
	return err
}
