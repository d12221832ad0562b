package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	lines "github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
)

// activity is the calls of an endpoint.
type activity struct {
	// Token and Model are parts of names to look for, Outcome is "" for all or "refused", Since one of Periods.
	Token, Model, Outcome, Since string
	Live                         bool
	// Dry says that dry runs are shown; DryRuns is how many there are. DryToggle is the query that shows or hides them.
	Dry       bool
	DryRuns   int
	DryToggle string
	// All is how many calls are known, Found how many the filter finds, Older how many were left out; From says where they come from.
	All, Found, Older int
	From              string
	// NoReads says that calls which read have no lines.
	NoReads bool
	Rows    []callRow
	Pages   pages
	Charts  []chart
	// Day is the day of all rows; "" if the rows are of several days.
	Day string
	// Times are the periods to choose from.
	Times []period
	// Toggle is the query that begins or ends Live.
	Toggle string
	// TakeBack is the one token that is looked for, if all that it changed can be taken back.
	TakeBack string
}

// callRow is a call in a table.
type callRow struct {
	Key, At, Who, Subject, What string
	Rows, Took, Outcome         string
	OK                          bool
	// Steps is how many lines the call has beside its own, Back the call that took it back; nil if none is known.
	Steps int
	Back  *back
	// IDs are the rows, of a step.
	IDs []string
	// Only is the query that shows the calls of the same token alone; "" if the token is not known.
	Only string
}

// A period is one choice of how far back the screen looks. Query leads to the screen with that choice; Chosen is set if the screen has it now.
type period struct {
	Value, Name, Query string
	Chosen             bool
}

// periods are the choices; chosen is the value of the present one.
func (q *request) periods(chosen string) []period {
	all := []period{{Name: "all that is known"}, {Value: "15m", Name: "15 minutes"}, {Value: "1h", Name: "an hour"}, {Value: "12h", Name: "12 hours"}, {Value: "168h", Name: "a week"}}
	for i := range all {
		all[i].Query, all[i].Chosen = q.queryWith("since", all[i].Value), all[i].Value == chosen
	}
	return all
}

// queryWith is the query of the present screen, from its first page, with another value of one parameter; "" takes the parameter away.
func (q *request) queryWith(name, value string) string {
	values := q.URL.Query()
	values.Del("page")
	if values.Set(name, value); value == "" {
		values.Del(name)
	}
	return "?" + values.Encode()
}

// Filtered reports whether some calls are left out on purpose.
func (a *activity) Filtered() bool {
	return a.Token != "" || a.Model != "" || a.Outcome != "" || a.Since != ""
}

// activity shows the newest calls.
func (q *request) activity() (any, error) {
	q.Title = "Activity"
	a := &activity{Token: strings.TrimSpace(q.FormValue("token")), Model: strings.TrimSpace(q.FormValue("model")), Outcome: q.FormValue("outcome"), Since: q.FormValue("since"), Live: q.FormValue("live") != "", Dry: q.FormValue("dry") != ""}
	now := q.page.now()
	var from time.Time
	if past, err := time.ParseDuration(a.Since); err == nil && past > 0 {
		from = now.Add(-past)
	} else {
		a.Since = ""
	}
	objects, err := q.source().Objects(q.Context(), q.key())
	if err != nil {
		return nil, err
	}
	calls, err := q.source().Calls(q.Context(), q.key(), from)
	if err != nil {
		return nil, err
	}
	q.Unseen, q.Refresh = calls.Unseen, a.Live
	a.Times = q.periods(a.Since)
	all := folded(calls.Items)
	taken := takenBackCalls(all)
	all = slices.DeleteFunc(all, func(m made) bool {
		if m.DryRun {
			a.DryRuns++
		}
		return m.DryRun && !a.Dry
	})
	a.All, a.Older, a.From = len(all), calls.Older, calls.From
	a.NoReads = !hasReads(objects.Endpoint)
	found := slices.DeleteFunc(slices.Clone(all), func(m made) bool {
		return !m.any(func(c *lines.Call) bool {
			return contains(c.Token+" "+c.Subject, a.Token) && contains(c.Model+" "+c.Tool, a.Model)
		}) || a.Outcome != "" && isGood(&m.Call)
	})
	a.Found = len(found)
	drawn := make([]lines.Call, len(found))
	for i := range found {
		drawn[i] = found[i].Call
	}
	a.Charts = charts(drawn, from, now)
	a.Pages = q.pages(len(found), "calls")
	shown := found[a.Pages.first:a.Pages.last]
	if n := len(shown); n > 0 && shown[0].At.UTC().Format(time.DateOnly) == shown[n-1].At.UTC().Format(time.DateOnly) {
		a.Day = shown[0].At.UTC().Format(time.DateOnly)
	}
	for i := range shown {
		row := rowOfCall(&shown[i].Call, a.Day != "")
		row.Steps, row.Back = len(shown[i].Steps), taken[row.Key]
		if shown[i].Token != "" {
			row.Only = q.queryWith("token", shown[i].Token)
		}
		a.Rows = append(a.Rows, row)
	}
	a.Toggle = q.queryWith("live", map[bool]string{false: "on"}[a.Live])
	a.DryToggle = q.queryWith("dry", map[bool]string{false: "on"}[a.Dry])
	if token, err := tokenIn(objects.Tokens, q.key().Namespace, a.Token); err == nil && objects.Endpoint.Spec.Audit != nil {
		a.TakeBack = cluster.Key(token).String()
	}
	var args []string
	if a.Since != "" {
		args = append(args, "--since", a.Since)
	}
	if a.Token != "" {
		args = append(args, "--token", a.Token)
	}
	q.command("tail", args...)
	return a, nil
}

// hasReads reports whether calls that read have audit lines.
func hasReads(e *v1alpha1.MCPEndpoint) bool {
	reads := e.Spec.Observability.Audit.Reads
	return reads != "" && reads != v1alpha1.AuditReadsNone
}

// isGood reports whether a call was done, or is about to be.
func isGood(c *lines.Call) bool { return c.Outcome == "ok" || c.Outcome == "intent" }

// rowOfCall is a call in a table, without its day if that is told above.
func rowOfCall(c *lines.Call, oneDay bool) callRow {
	format := time.DateTime
	if oneDay {
		format = time.TimeOnly
	}
	row := callRow{Key: keyOfCall(c), At: c.At.UTC().Format(format), Who: cmp.Or(c.Token, c.TokenID), Subject: c.Subject, What: whatOf(c), Outcome: c.Outcome, OK: isGood(c), Rows: "–", Took: tookOf(c)}
	if c.Cause != "" {
		row.Outcome += ": " + c.Cause
	}
	switch {
	case c.DryRun:
		row.Rows = "dry run"
	case c.Rows != nil:
		row.Rows = thousands(*c.Rows)
	case c.Changed > 0:
		row.Rows = thousands(c.Changed) + " changed"
	}
	return row
}

// keyOfCall is what names a call in a path: when it was told of.
func keyOfCall(c *lines.Call) string { return strconv.FormatInt(c.At.UnixNano(), 10) }

// whatOf says what was called: a tool, or what was meant to be done.
func whatOf(c *lines.Call) string {
	what := c.Tool
	if what == "" {
		what = c.Operation
	}
	if action, ok := strings.CutPrefix(c.Operation, "action:"); ok {
		what += " " + action
	}
	return what
}

func tookOf(c *lines.Call) string {
	if c.Seconds == nil {
		return "–"
	}
	return milliseconds(*c.Seconds)
}

func milliseconds(seconds float64) string {
	if seconds >= 1 {
		return fmt.Sprintf("%.1f s", seconds)
	}
	return fmt.Sprintf("%.1f ms", seconds*1000)
}
