package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/status"
)

// The states of a link.
const (
	good    = "good"
	broken  = "broken"
	waiting = "waiting"
	unknown = "unknown"
)

// link is one link of the chain from the objects to the calls.
type link struct {
	Name, State string
	// Lines say what there is; Why and Do what is wrong and the command that helps, if something is.
	Lines   []string
	Why, Do string
}

// Word is the state in words.
func (l *link) Word() string {
	return map[string]string{good: "in order", broken: "broken", waiting: "waits for another", unknown: "not looked at"}[l.State]
}

// Sign is the state as one character, beside its colour.
func (l *link) Sign() string {
	return map[string]string{good: "✓", broken: "✗", waiting: "…", unknown: "?"}[l.State]
}

// chainOf is the chain of an endpoint. What breaks is what doctor takes for a cause; what follows from it waits.
func chainOf(s *status.Status) []link {
	c := &chain{s, doctor.Causes(s.Conditions)}
	return []link{c.objects(), c.config(), c.pods(), c.database(), c.calls()}
}

type chain struct {
	*status.Status
	causes []metav1.Condition
}

// judge sets the state of a link by conditions of the endpoint.
func (c *chain) judge(l *link, types ...string) {
	for _, name := range types {
		condition := meta.FindStatusCondition(c.Conditions, name)
		if condition == nil {
			continue
		}
		isCause := slices.ContainsFunc(c.causes, func(cause metav1.Condition) bool { return cause.Type == name })
		switch {
		case condition.Status == metav1.ConditionTrue:
			if l.State == "" {
				l.State = good
			}
		case isCause:
			l.State, l.Why = broken, cmp.Or(condition.Message, condition.Reason)
			l.Do = c.help(condition.Reason)
			return
		case l.State != broken:
			l.State, l.Why = waiting, cmp.Or(condition.Message, condition.Reason)
		}
	}
}

// help is the command of the problem with that reason.
func (c *chain) help(reason string) string {
	for i := range c.Problems {
		if c.Problems[i].Reason == reason {
			return c.Problems[i].Command
		}
	}
	return ""
}

func (c *chain) objects() link {
	l := link{Name: "Objects", State: good, Lines: []string{output.Numbered(c.Models.Served+c.Models.Waiting+len(c.Models.Withheld), "model"), output.Numbered(c.Tokens.All, "token")}}
	ready := meta.FindStatusCondition(c.Conditions, v1alpha1.ConditionReady)
	switch withheld, tokens := len(c.Models.Withheld), len(c.Tokens.NotReady); {
	case ready == nil:
		l.State, l.Why = broken, "the manager has not looked at the endpoint yet"
		if len(c.Problems) > 0 {
			l.Do = c.Problems[0].Command
		}
	case ready.Reason == v1alpha1.ReasonInvalid:
		l.State, l.Why, l.Do = broken, cmp.Or(ready.Message, ready.Reason), c.help(ready.Reason)
	case c.Ready && withheld+tokens > 0:
		l.State, l.Why, l.Do = broken, lacking(c.Status), c.helpOf("MCPModelExposure ", "MCPToken ")
	}
	return l
}

// lacking says what an endpoint that is Ready does not serve; "" if that is nothing.
func lacking(s *status.Status) string {
	var parts []string
	for _, of := range []struct {
		n         int
		one, many string
	}{{len(s.Models.Withheld), "1 model is not served", "%d models are not served"}, {len(s.Tokens.NotReady), "1 token is not ready", "%d tokens are not ready"}} {
		switch {
		case of.n == 1:
			parts = append(parts, of.one)
		case of.n > 1:
			parts = append(parts, fmt.Sprintf(of.many, of.n))
		}
	}
	return strings.Join(parts, ", ")
}

// helpOf is the command of the first problem of an object of these kinds.
func (c *chain) helpOf(kinds ...string) string {
	for i := range c.Problems {
		if slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(c.Problems[i].Object, kind) }) {
			return c.Problems[i].Command
		}
	}
	return ""
}

func (c *chain) config() link {
	l := link{Name: "Config", Lines: []string{"no revision yet"}}
	if c.Revision > 0 {
		l.Lines = []string{fmt.Sprintf("revision %d", c.Revision), "signed"}
	}
	c.judge(&l, v1alpha1.ConditionProgrammed)
	if l.State == "" {
		l.State = waiting
		if c.Revision > 0 {
			l.State = unknown
		}
	}
	return l
}

// podLines is how many pods the picture names.
const podLines = 3

func (c *chain) pods() link {
	l := link{Name: "Pods"}
	ready := 0
	for i := range c.Pods {
		if c.Pods[i].Ready {
			ready++
		}
	}
	l.Lines = []string{fmt.Sprintf("%d of %d Ready", ready, len(c.Pods))}
	for i := range c.Pods[:min(len(c.Pods), podLines)] {
		revision := "?"
		if r := c.Pods[i].Revision; r != nil {
			revision = strconv.FormatInt(*r, 10)
		}
		l.Lines = append(l.Lines, tail(c.Pods[i].Name)+": rev. "+revision)
	}
	if n := len(c.Pods) - podLines; n > 0 {
		l.Lines = append(l.Lines, fmt.Sprintf("and %d more", n))
	}
	c.judge(&l, v1alpha1.ConditionWorkloadAvailable)
	for i := range c.Problems {
		if p := &c.Problems[i]; strings.HasPrefix(p.Object, "Pod ") && l.State != broken {
			l.State, l.Why, l.Do = broken, p.Object+": "+p.Message, p.Command
		}
	}
	if len(c.Pods) == 0 && slices.ContainsFunc(c.Unseen, func(text string) bool { return strings.HasPrefix(text, "pods:") }) {
		l.Lines = []string{"not looked at"}
		if l.State == "" || l.State == good {
			l.State = unknown
		}
	}
	l.State = cmp.Or(l.State, waiting)
	return l
}

// nameChars is how much of a pod's name the picture has room for.
const nameChars = 13

// tail is the end of a long name, which tells pods apart.
func tail(name string) string {
	runes := []rune(name)
	if len(runes) <= nameChars {
		return name
	}
	return "…" + string(runes[len(runes)-nameChars+1:])
}

func (c *chain) database() link {
	l := link{Name: "Database", Lines: []string{cmp.Or(strings.TrimSpace(c.Database.Engine+" "+c.Database.Version), "not seen yet")}}
	c.judge(&l, v1alpha1.ConditionDatabaseReady)
	if l.State == good {
		l.Lines = append(l.Lines, "reached")
		if c.Counted != nil {
			l.Lines = slices.Concat(l.Lines, c.Counted.Database.Told(), c.Counted.Replicas.Told())
		}
	}
	l.State = cmp.Or(l.State, waiting)
	return l
}

// calls is what the pods have counted. Callers that cannot reach the endpoint, or whose tokens cannot be checked, break it.
func (c *chain) calls() link {
	l := link{Name: "Calls", Lines: []string{"not counted"}}
	if c.Counted != nil {
		l.State, l.Lines = good, c.counted()
	}
	c.judge(&l, v1alpha1.ConditionRouted, v1alpha1.ConditionAuthenticationReady)
	if c.Counted == nil && l.State != broken {
		l.State, l.Why = unknown, ""
	}
	return l
}

func (c *chain) counted() []string {
	all := 0.0
	for _, n := range c.Counted.Calls {
		all += n
	}
	if all == 0 {
		return []string{"none yet"}
	}
	lines := []string{fmt.Sprintf("%.0f ok", c.Counted.Calls["ok"])}
	more := 0
	for _, outcome := range slices.Sorted(maps.Keys(c.Counted.Calls)) {
		switch {
		case outcome == "ok":
		case len(lines) < 1+podLines:
			lines = append(lines, fmt.Sprintf("%.0f %s", c.Counted.Calls[outcome], outcome))
		default:
			more++
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more results", more))
	}
	return lines
}

// picture is the chain as a drawing: boxes with texts, and arrows. Lengths are those of its own coordinates.
type picture struct {
	Class, Label  string
	Width, Height int
	Boxes         []box
	Arrows        []arrow
}

type box struct {
	State, Sign      string
	X, Y, Wide, High int
	Title            string
	Lines            []textLine
}

type textLine struct {
	X, Y int
	Text string
}

// arrow leads from one point to another; its tip is drawn at the end.
type arrow struct {
	X1, Y1, X2, Y2 int
	Down, Broken   bool
}

const (
	boxWide, boxHead  = 200, 36
	arrowLong         = 26
	lineHigh          = 18
	narrowWide, inset = 300, 12
	// most characters of a line in a box
	lineChars = 22
)

// pictures draws the chain from left to right, and for narrow screens from top to bottom.
func pictures(links []link) []picture {
	said := make([]string, len(links))
	for i := range links {
		said[i] = links[i].Name + " " + links[i].Word()
	}
	label := strings.Join(said, ", then ")
	lines := 2
	for i := range links {
		lines = max(lines, len(links[i].Lines))
	}
	boxHigh := boxHead + lineHigh*lines
	wide := picture{Class: "wide", Label: label, Height: boxHigh + 4, Width: len(links)*(boxWide+arrowLong) - arrowLong + 4}
	narrow := picture{Class: "narrow", Label: label, Width: narrowWide + 4, Height: 2}
	for i := range links {
		x := 2 + i*(boxWide+arrowLong)
		wide.Boxes = append(wide.Boxes, boxOf(&links[i], x, 2, boxWide, boxHigh, lineChars))
		high := boxHead + lineHigh*len(links[i].Lines)
		narrow.Boxes = append(narrow.Boxes, boxOf(&links[i], 2, narrow.Height, narrowWide, high, 2*lineChars))
		if i > 0 {
			bad := links[i-1].State != good || links[i].State == broken
			wide.Arrows = append(wide.Arrows, arrow{x - arrowLong + 3, 2 + boxHigh/2, x - 4, 2 + boxHigh/2, false, bad})
			narrow.Arrows = append(narrow.Arrows, arrow{2 + narrowWide/2, narrow.Height - arrowLong + 3, 2 + narrowWide/2, narrow.Height - 4, true, bad})
		}
		narrow.Height += high + arrowLong
	}
	narrow.Height -= arrowLong - 2
	return []picture{wide, narrow}
}

func boxOf(l *link, x, y, wide, high, chars int) box {
	b := box{State: l.State, Sign: l.Sign(), X: x, Y: y, Wide: wide, High: high, Title: l.Name}
	for i, text := range l.Lines {
		b.Lines = append(b.Lines, textLine{x + inset, y + 44 + i*lineHigh, bounded(text, chars)})
	}
	return b
}

// TitleX and TitleY are where the title stands, SignX where the state's sign does.
func (b box) TitleX() int { return b.X + inset }
func (b box) TitleY() int { return b.Y + 24 }
func (b box) SignX() int  { return b.X + b.Wide - inset }

// Tip is the arrow's tip, as a path.
func (a arrow) Tip() string {
	if a.Down {
		return fmt.Sprintf("M%d %dl4 -7h-8z", a.X2, a.Y2)
	}
	return fmt.Sprintf("M%d %dl-7 4v-8z", a.X2, a.Y2)
}
