package call

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The bounds of examples.
const (
	// mostExamples is how many values a column may have, and mostExampleLength how many characters each, to be shown.
	mostExamples      = 20
	mostExampleLength = 60
	// examplesTimeout is how long all columns of one model may take to be read.
	examplesTimeout = 2 * time.Second
	// examplesFor is how long they are kept, and examplesAgain after how long they are tried again that could not be read.
	examplesFor   = 10 * time.Minute
	examplesAgain = time.Minute
	// mostKept is of how many models and kinds of callers they are kept.
	mostKept = 512
)

// exampleKey says whose rows examples are of, and which fields: rows of a model that a token with such row policies, attributes and session sees.
type exampleKey [sha256.Size]byte

// ExampleValues are the values of a model's columns, by the names of the fields.
type ExampleValues struct {
	Values map[string][]json.RawMessage
	// Unread are the fields whose values could not be read.
	Unread []string
	until  time.Time
	// read is closed when the above are known.
	read chan struct{}
}

// Examples keeps the values that describe_ shows of columns whose exposure says so, for a while: descriptions do not read whole tables
// each time. They are read through the caller's scope, so that each is of a row that the token may see. Safe for concurrent use.
type Examples struct {
	mu   sync.Mutex
	kept map[exampleKey]*ExampleValues
}

// NewExamples returns an empty cache.
func NewExamples() *Examples {
	return &Examples{kept: map[exampleKey]*ExampleValues{}}
}

// Of returns the examples of the call's model. If several calls ask at once, one of them reads.
func (k *Examples) Of(c *Call, fields []*catalog.Field) *ExampleValues {
	key := exampleKeyOf(c, fields)
	k.mu.Lock()
	known := k.kept[key]
	if known == nil || !known.isReading() && !c.Now.Before(known.until) {
		known = &ExampleValues{read: make(chan struct{})}
		k.makeRoom(c.Now)
		k.kept[key] = known
		k.mu.Unlock()
		known.fill(c, fields)
		return known
	}
	k.mu.Unlock()
	select {
	case <-known.read:
		return known
	case <-c.Ctx.Done():
		return &ExampleValues{Unread: namesOfFields(fields)}
	}
}

// makeRoom forgets what is too old, and if there is still too much, something else. It is called with the lock held.
func (k *Examples) makeRoom(now time.Time) {
	if len(k.kept) < mostKept {
		return
	}
	for key, v := range k.kept {
		if !v.isReading() && !now.Before(v.until) {
			delete(k.kept, key)
		}
	}
	for key := range k.kept {
		if len(k.kept) < mostKept {
			return
		}
		delete(k.kept, key)
	}
}

func (v *ExampleValues) isReading() bool {
	select {
	case <-v.read:
		return false
	default:
		return true
	}
}

// exampleKeyOf is the key of the rows that a call sees, and of the fields: a field that is masked from now on has no examples.
func exampleKeyOf(c *Call, fields []*catalog.Field) exampleKey {
	var text []byte
	add := func(part string) { text = append(binary.AppendUvarint(text, uint64(len(part))), part...) }
	add(c.Scope.Model().Name)
	add(c.Scope.Fingerprint())
	for _, f := range fields {
		add(f.Name)
		add(f.Column.Name)
	}
	for _, s := range database.Session(c.Ctx) {
		add(s.Name)
		add(s.Value)
	}
	return sha256.Sum256(text)
}

// fill reads the values of each field. It goes on if the caller goes away, as others may wait for it.
func (v *ExampleValues) fill(c *Call, fields []*catalog.Field) {
	defer close(v.read)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Ctx), examplesTimeout)
	defer cancel()
	v.Values = map[string][]json.RawMessage{}
	for _, f := range fields {
		values, err := readExamples(ctx, c, f)
		if err != nil {
			v.Unread = append(v.Unread, f.Name)
		} else if len(values) > 0 {
			v.Values[f.Name] = values
		}
	}
	v.until = c.Now.Add(examplesFor)
	if len(v.Unread) > 0 {
		v.until = c.Now.Add(examplesAgain)
	}
}

// readExamples are the values that a field has in rows of the caller's, in their order; none if there are too many, or long ones.
func readExamples(ctx context.Context, c *Call, f *catalog.Field) ([]json.RawMessage, error) {
	groups := (&database.Grouping{
		From: c.Scope.Source(), Where: database.Not{Condition: database.IsNull{Column: f.Column}}, Keys: []database.GroupKey{{Ref: database.Ref{Column: f.Column}}},
		MinRows: c.Scope.Model().Declared.MinGroupSize,
	}).Source()
	value := groups.Table().Columns[0]
	output := database.Output{Name: f.Name, Columns: []*database.Column{value}}
	if value.Kind == database.Text {
		output.Slice = &database.Slice{Length: mostExampleLength + 1}
	}
	plan := &database.Select{From: groups, Limit: mostExamples + 1, Form: database.RowArrays, Output: []database.Output{output}}
	if value.Ordered() {
		plan.Order = []database.Order{{Column: value}}
	}
	rows, _, err := ReadAll[[1]json.RawMessage](ctx, c.DB, plan)
	if err != nil || len(rows) > mostExamples {
		return nil, err
	}
	values := make([]json.RawMessage, len(rows))
	for i, row := range rows {
		if values[i] = row[0]; utf8.RuneCount(row[0]) > mostExampleLength+len(`""`) {
			return nil, nil
		}
	}
	return values, nil
}

func namesOfFields(fields []*catalog.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
