package page

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/status"
)

// perPage is how many rows a table has at most.
const perPage = 50

// overview is the list of endpoints, those first that are not Ready.
type overview struct {
	Rows []endpointRow
	// All is how many there are, NotReady how many of them are not Ready, Found how many the filter finds.
	All, NotReady, Found int
	Filter               string
	Pages                pages
}

type endpointRow struct {
	Namespace, Name              string
	Ready, Paused                bool
	Reason, Message              string
	Revision                     int64
	Pods, Tokens, Models, Engine string
}

func (q *request) overview() (any, error) {
	q.Title = "Endpoints"
	listed, err := q.source().Endpoints(q.Context())
	if err != nil {
		return nil, err
	}
	q.Unseen = listed.Unseen
	q.command("endpoints")
	o := &overview{All: len(listed.Items), Filter: q.FormValue("q")}
	var rows []endpointRow
	for i := range listed.Items {
		row := rowOf(&listed.Items[i])
		if !row.Ready {
			o.NotReady++
		}
		if contains(row.Namespace+"/"+row.Name+" "+row.Reason, o.Filter) {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b endpointRow) int {
		return cmp.Or(rank(a.Ready)-rank(b.Ready), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	o.Found = len(rows)
	o.Pages = q.pages(len(rows), "endpoints")
	o.Rows = rows[o.Pages.first:o.Pages.last]
	return o, nil
}

func rank(ready bool) int {
	if ready {
		return 1
	}
	return 0
}

// contains reports whether a text has what a filter looks for, in upper or lower case.
func contains(text, filter string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(strings.TrimSpace(filter)))
}

func rowOf(e *v1alpha1.MCPEndpoint) endpointRow {
	row := endpointRow{Namespace: e.Namespace, Name: e.Name, Revision: e.Status.Revision, Paused: v1alpha1.IsPaused(e),
		Pods: cmp.Or(e.Status.ReadyDisplay, "–"), Tokens: count(e.Status.TokenCount), Models: count(e.Status.ModelCount),
		Engine: strings.TrimSpace(e.Status.Database.Engine + " " + e.Status.Database.Version)}
	row.Ready, row.Reason, row.Message = status.ReadyOf(e)
	row.Message = bounded(row.Message, mostAbout)
	return row
}

func count(n *int32) string {
	if n == nil {
		return "–"
	}
	return strconv.Itoa(int(*n))
}

// pages are the pages of a long table.
type pages struct {
	// Of is what the rows are, in the plural.
	Of          string
	Page, Last  int
	first, last int
	// Before and After are the queries of the pages beside this one; "" is none.
	Before, After string
}

// From and To are the first and the last row of this page, counted from 1.
func (p pages) From() int { return min(p.first+1, p.last) }
func (p pages) To() int   { return p.last }

// pages says which of the rows are on the page that the query names.
func (q *request) pages(rows int, of string) pages { return q.pagesOf(rows, perPage, "page", of) }

// pagesOf are pages with another number of rows, and another parameter.
func (q *request) pagesOf(rows, length int, parameter, of string) pages {
	n, _ := strconv.Atoi(q.FormValue(parameter))
	p := pages{Of: of, Last: max(1, (rows+length-1)/length)}
	p.Page = min(max(n, 1), p.Last)
	p.first = min((p.Page-1)*length, rows)
	p.last = min(p.first+length, rows)
	at := func(page int) string {
		values := q.URL.Query()
		values.Set(parameter, strconv.Itoa(page))
		return "?" + values.Encode()
	}
	if p.Page > 1 {
		p.Before = at(p.Page - 1)
	}
	if p.Page < p.Last {
		p.After = at(p.Page + 1)
	}
	return p
}

// problems is what is wrong with all endpoints, by cause.
func (q *request) problems() (any, error) {
	q.Title = "What is wrong"
	found, err := q.source().Diagnose(q.Context())
	if err != nil {
		return nil, err
	}
	q.command("doctor")
	q.Unseen = found.Unseen
	return byCause(found.Problems, found.Notes), nil
}

// causes are problems, those with the same cause together.
type causes struct {
	Problems, Notes []cause
	// More is how many problems are not shown.
	More int
}

// cause is what one or more objects have.
type cause struct {
	doctor.Problem
	Others []string
	// More is how many objects have it beside those that are named.
	More int
}

// named is how many objects of a cause are named, mostCauses how many causes are shown.
const (
	named      = 5
	mostCauses = 50
)

func byCause(problems, notes []doctor.Problem) *causes {
	found := &causes{Problems: together(problems), Notes: together(notes)}
	if n := len(found.Problems); n > mostCauses {
		found.Problems, found.More = found.Problems[:mostCauses], n-mostCauses
	}
	found.Notes = found.Notes[:min(len(found.Notes), mostCauses)]
	return found
}

// together puts problems with the same reason and message together.
func together(problems []doctor.Problem) []cause {
	var all []cause
	at := map[string]int{}
	for _, p := range problems {
		kind, _, _ := strings.Cut(p.Object, " ")
		same := kind + "\x00" + p.Reason + "\x00" + p.Message
		i, known := at[same]
		switch {
		case !known:
			at[same] = len(all)
			all = append(all, cause{Problem: p})
		case len(all[i].Others) < named:
			all[i].Others = append(all[i].Others, p.Object)
		default:
			all[i].More++
		}
	}
	return all
}
