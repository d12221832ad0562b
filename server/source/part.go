package source

import (
	"bytes"
	"fmt"
	"maps"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// usualPatience is how long a part may be refused before what it governs is closed. A revoked token is let in for 10 s at
// most, and nothing else is known of a part that cannot be read than that it may revoke one.
const usualPatience = 10 * time.Second

// A part holds the known facts about one part of the Config, whose content is a C.
type part[C any] struct {
	secret string
	// verify refuses what the manager did not write for that Secret, and decode reads what it wrote.
	verify   func(secret string, p contract.Part) error
	decode   func(contract.Part) (*C, error)
	patience time.Duration

	// heard reports whether the API has ever said what the Secret holds, or that it does not exist.
	heard bool
	// raw is the last good content as it came; nil if there is none. good is the same, decoded.
	raw  Secret
	good *C
	// highest is the highest revision of a good content. What is older may let somebody in who was revoked since.
	highest int64
	// startsAnew reports whether the part may have any revision after it was deleted.
	startsAnew bool
	// unsaved reports whether raw differs from the stored one.
	unsaved bool
	// refused is why the Secret's present content is refused; nil if it is not. since is when its contents began to be.
	refused *contract.Refusal
	since   time.Time
}

// hear notes what the Secret holds; nil means that it does not exist.
func (p *part[C]) hear(data Secret, now time.Time) {
	p.heard = true
	if data == nil {
		p.unsaved = p.unsaved || p.raw != nil
		p.raw, p.good, p.refused = nil, nil, nil
		if p.startsAnew {
			p.highest = 0
		}
		return
	}
	if p.good != nil && data.equal(p.raw) {
		p.refused = nil
		return
	}
	good, err := p.read(data)
	if revision := contract.Part(data).Revision(); err == nil && revision < p.highest {
		err = &contract.Refusal{
			Secret: p.secret, Revision: revision, Highest: p.highest,
			Message: fmt.Sprintf("revision %d is older than revision %d, which was here before", revision, p.highest),
		}
	}
	if err != nil {
		if p.refused == nil {
			p.since = now
		}
		p.refused = err
		return
	}
	p.raw, p.good, p.refused, p.unsaved = data, good, nil, true
	p.highest = contract.Part(data).Revision()
}

// look notes what a folder holds. A good content of an older revision comes late, and is passed over.
func (p *part[C]) look(data Secret, now time.Time) {
	if !p.late(data) {
		p.hear(data, now)
	}
}

// late reports whether a content was written before the good one.
func (p *part[C]) late(data Secret) bool {
	if data == nil || p.good == nil || contract.Part(data).Revision() >= contract.Part(p.raw).Revision() {
		return false
	}
	_, refused := p.read(data)
	return refused == nil
}

// restore takes what was stored, until it is said what the Secret holds.
func (p *part[C]) restore(data Secret) *contract.Refusal {
	good, err := p.read(data)
	if err == nil {
		p.raw, p.good, p.highest = data, good, contract.Part(data).Revision()
	}
	return err
}

// known reports whether anything is known about the Secret, or that it does not exist.
func (p *part[C]) known() bool { return p.heard || p.good != nil }

// read returns the content of a part, or why it is refused. The revision of a part that the manager did not sign cannot
// be trusted, and is not told.
func (p *part[C]) read(data Secret) (*C, *contract.Refusal) {
	raw := contract.Part(data)
	if err := p.verify(p.secret, raw); err != nil {
		return nil, &contract.Refusal{Secret: p.secret, Message: err.Error()}
	}
	content, err := p.decode(raw)
	if err != nil {
		return nil, &contract.Refusal{Secret: p.secret, Revision: raw.Revision(), Message: err.Error()}
	}
	return content, nil
}

// renew decodes the good content once more, for whoever has dropped a piece of it.
func (p *part[C]) renew() {
	if content, err := p.decode(contract.Part(p.raw)); err == nil {
		p.good = content
	}
}

// content is the content to answer from; nil if there is none, or if the part is closed.
func (p *part[C]) content(now time.Time) *C {
	if p.closed(now) {
		return nil
	}
	return p.good
}

// closed reports whether the Secret's contents were refused for too long.
func (p *part[C]) closed(now time.Time) bool {
	return p.refused != nil && !now.Before(p.closing())
}

// closing is when a refused part is closed.
func (p *part[C]) closing() time.Time { return p.since.Add(p.patience) }

// refusal is why the present content is refused; nil if it is not.
func (p *part[C]) refusal(now time.Time) *contract.Refusal {
	if p.refused == nil {
		return nil
	}
	r := *p.refused
	r.Closed = p.closed(now)
	return &r
}

func (s Secret) equal(other Secret) bool {
	return (s == nil) == (other == nil) && maps.EqualFunc(s, other, bytes.Equal)
}
