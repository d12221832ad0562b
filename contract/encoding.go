package contract

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The keys of a part: a Secret's data, or a folder's files.
const (
	PartKeyRevision = "revision"
	PartKeyIndex    = "part"
	PartKeyCount    = "parts"
	PartKeyConfig   = "config.json.gz"
)

// MaxPartBytes bounds the gzipped piece of one part, so that its Secret stays under Kubernetes' 1 MiB.
const MaxPartBytes = 1<<20 - 8<<10

// maxConfigBytes bounds a Config once it is unpacked: a broken or hostile part must not take the server's memory.
const maxConfigBytes = 64 << 20

// ErrTooLarge is returned by Encode for a Config that needs more parts than it may have.
var ErrTooLarge = errors.New("the Config is too large")

// Part is one piece of an encoded Config, as the data of a Secret.
type Part map[string][]byte

// Encode lays a Config out in at most maxParts parts.
func Encode(c *Config, maxParts int) ([]Part, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed) // at its fastest it would pack a tenth fewer tokens
	if err := json.NewEncoder(zip).Encode(c); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	count := (packed.Len() + MaxPartBytes - 1) / MaxPartBytes
	if count > maxParts {
		return nil, fmt.Errorf("%w: %d bytes packed, of at most %d", ErrTooLarge, packed.Len(), maxParts*MaxPartBytes)
	}
	parts := make([]Part, count)
	for i := range parts {
		parts[i] = Part{
			PartKeyRevision: strconv.AppendInt(nil, c.Revision, 10),
			PartKeyIndex:    strconv.AppendInt(nil, int64(i), 10),
			PartKeyCount:    strconv.AppendInt(nil, int64(count), 10),
			PartKeyConfig:   packed.Next(MaxPartBytes),
		}
	}
	return parts, nil
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

// Decode puts the parts of one Config together again and validates it. The parts must be all there, in order, and of
// one revision; an error says which rule is broken. Parts that others could have written are given to Verify first.
func Decode(parts []Part) (*Config, error) {
	var packed bytes.Buffer
	for i, part := range parts {
		if got, want := string(part[PartKeyIndex]), strconv.Itoa(i); got != want {
			return nil, fmt.Errorf("part %d of the Config says it is part %q", i, got)
		}
		if got, want := string(part[PartKeyCount]), strconv.Itoa(len(parts)); got != want {
			return nil, fmt.Errorf("the Config has %q parts, %s were read", got, want)
		}
		if !bytes.Equal(part[PartKeyRevision], parts[0][PartKeyRevision]) {
			return nil, fmt.Errorf("the parts of the Config are of revisions %q and %q", parts[0][PartKeyRevision], part[PartKeyRevision])
		}
		packed.Write(part[PartKeyConfig])
	}
	zip, err := gzip.NewReader(&packed)
	if err != nil {
		return nil, fmt.Errorf("the Config cannot be unpacked: %w", err)
	}
	// Unknown members are let through: what an older reader need not know, MinReader allows it to pass over.
	var c Config
	if err := json.NewDecoder(&boundedReader{zip, maxConfigBytes}).Decode(&c); err != nil {
		return nil, fmt.Errorf("the Config cannot be read: %w", err)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if got := string(parts[0][PartKeyRevision]); got != strconv.FormatInt(c.Revision, 10) {
		return nil, fmt.Errorf("the Config's parts say revision %q, the Config itself %d", got, c.Revision)
	}
	return &c, nil
}
