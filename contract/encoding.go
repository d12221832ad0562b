package contract

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
)

// The keys of a part: a Secret's data, or a folder's files.
const (
	PartKeyRevision = "revision"
	PartKeyIndex    = "part"
	PartKeyConfig   = "config.json.gz"
)

// mainIndex is the PartKeyIndex of the main part. A token part's is its index.
const mainIndex = "main"

// MaxPartBytes bounds the gzipped content of one part, so that its Secret stays under Kubernetes' 1 MiB.
const MaxPartBytes = 1<<20 - 8<<10

// maxConfigBytes bounds a part once it is unpacked: a broken or hostile part must not take the server's memory.
const maxConfigBytes = 64 << 20

// ErrTooLarge is returned for a part that does not fit into a Secret.
var ErrTooLarge = errors.New("the Config is too large")

// Part is one piece of an encoded Config, as the data of a Secret.
type Part map[string][]byte

// Revision is the revision that a part says it has; 0 if it says none. It can be trusted only once the part is verified.
func (p Part) Revision() int64 {
	revision, _ := strconv.ParseInt(string(p[PartKeyRevision]), 10, 64)
	return revision
}

// TokenPart holds some of an endpoint's tokens.
type TokenPart struct {
	// Version is the form of this part.
	Version int `json:"version"`
	// Revision is the value of the endpoint's counter at the last change of this part.
	Revision int64 `json:"revision"`
	Index    int   `json:"index"`
	// Tokens are sorted by namespace and name. A reader passes over tokens that its layout puts elsewhere.
	Tokens []Token `json:"tokens"`
	// Decisions are about calls of these tokens, sorted by name.
	Decisions []Decision `json:"decisions,omitempty"`
	// Waiting are calls that some people have allowed, and more must. They are no decisions, and stand apart: a server that does not know
	// them passes over them.
	Waiting []Decision `json:"waiting,omitempty"`
}

// Decide gives the part decisions, and what is told of calls that still wait, in their order.
func (t *TokenPart) Decide(all []Decision) {
	t.Decisions, t.Waiting = nil, nil
	for i := range all {
		if all[i].State == ApprovalWaiting {
			t.Waiting = append(t.Waiting, all[i])
		} else {
			t.Decisions = append(t.Decisions, all[i])
		}
	}
}

// Decided are the part's decisions and what it tells of calls that still wait, sorted by name.
func (t *TokenPart) Decided() []Decision {
	all := slices.Concat(t.Decisions, t.Waiting)
	slices.SortFunc(all, func(a, b Decision) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// EncodeMain returns the main part of a Config: all but its tokens.
func EncodeMain(c *Config) (Part, error) {
	main := *c
	main.Tokens = nil
	return encode(&main, c.Revision, mainIndex)
}

// EncodeTokens returns a token part's text.
func EncodeTokens(t *TokenPart) (Part, error) {
	return encode(t, t.Revision, strconv.Itoa(t.Index))
}

func encode(content any, revision int64, index string) (Part, error) {
	packed, err := pack(content)
	if err != nil {
		return nil, err
	}
	return Part{PartKeyRevision: strconv.AppendInt(nil, revision, 10), PartKeyIndex: []byte(index), PartKeyConfig: packed}, nil
}

// zippers are writers that nobody uses: one has 800 KB.
var zippers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

// pack returns content as gzipped JSON.
func pack(content any) ([]byte, error) {
	var packed bytes.Buffer
	zip := zippers.Get().(*gzip.Writer)
	defer zippers.Put(zip)
	zip.Reset(&packed)
	if err := json.NewEncoder(zip).Encode(content); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	if packed.Len() > MaxPartBytes {
		return nil, fmt.Errorf("%w: %d bytes packed, of at most %d", ErrTooLarge, packed.Len(), MaxPartBytes)
	}
	return packed.Bytes(), nil
}

// DecodeMain reads a main part and validates it. A part that others could have written is given to Verify first.
func DecodeMain(p Part) (*Config, error) {
	var c Config
	if err := decode(p, mainIndex, &c); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if p.Revision() != c.Revision {
		return nil, fmt.Errorf("the part says revision %q, the Config in it %d", p[PartKeyRevision], c.Revision)
	}
	return &c, nil
}

// DecodeTokens reads the token part of that index and validates it.
func DecodeTokens(p Part, index int) (*TokenPart, error) {
	var t TokenPart
	if err := decode(p, strconv.Itoa(index), &t); err != nil {
		return nil, err
	}
	if err := t.validate(); err != nil {
		return nil, err
	}
	if p.Revision() != t.Revision || t.Index != index {
		return nil, fmt.Errorf("the part says revision %q and index %q, the tokens in it %d and %d", p[PartKeyRevision], p[PartKeyIndex], t.Revision, t.Index)
	}
	return &t, nil
}

// decode unpacks a part of that index. Unknown members are let through: what a reader must understand, Requires names.
func decode(p Part, index string, into any) error {
	if got := string(p[PartKeyIndex]); got != index {
		return fmt.Errorf("part %q of the Config says it is part %q", index, got)
	}
	return unpack(p[PartKeyConfig], into)
}

// unpack reads what pack wrote.
func unpack(packed []byte, into any) error {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("the Config cannot be unpacked: %w", err)
	}
	if err := json.NewDecoder(&boundedReader{zip, maxConfigBytes}).Decode(into); err != nil {
		return fmt.Errorf("the Config cannot be read: %w", err)
	}
	return nil
}

// boundedReader fails once more than left bytes were read.
type boundedReader struct {
	from io.Reader
	left int
}

func (r *boundedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if r.left -= n; r.left < 0 {
		return 0, fmt.Errorf("%w: more than %d bytes unpacked", ErrTooLarge, maxConfigBytes)
	}
	return n, err
}
