package source

import (
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// version2 is the Secret in which managers of the last release write the whole Config. If such a manager wrote it last, it
// counts, and the parts, which nobody updates then, do not. A manager of this release marks what it writes there.
type version2 struct {
	part[whole]
	// governs reports whether the Secret counts. If it is deleted then, the endpoint is closed: the parts may let somebody in
	// who was revoked since.
	governs bool
	// marked reports whether the Secret had the mark when it was last heard of, and since is when it lost it: a rollback.
	marked bool
	since  time.Time
}

// rollbackTime is how long the parts still count after a rollback. The first Config that a manager of the last release writes
// lacks the tokens that it has not looked up yet.
const rollbackTime = 5 * time.Second

// whole is a Config of version 2.
type whole struct {
	*contract.Config
	besideParts bool
}

func newVersion2(base string, patience time.Duration, verify func(string, contract.Part) error) *version2 {
	return &version2{part: part[whole]{secret: base, verify: verify, decode: decodeWhole, patience: patience}}
}

// decodeWhole reads a Config of version 2, and makes one part of version 3 of it. One that does not count is not looked at.
func decodeWhole(p contract.Part) (*whole, error) {
	config, besideParts, err := contract.DecodeVersion2(p)
	if err != nil {
		return nil, err
	}
	if besideParts {
		return &whole{besideParts: true}, nil
	}
	config.Version, config.Layout = contract.Version, contract.Layout{Parts: 1}
	return &whole{Config: config}, config.Validate()
}

// hear notes what the Secret holds; nil means that it does not exist.
func (w *version2) hear(data Secret, now time.Time) {
	w.part.hear(data, now)
	switch {
	case w.refused != nil:
		if w.refused.Revision == 0 && !w.governs {
			w.refused = nil // it is somebody else's, and says nothing
		}
	case w.good == nil:
	case w.good.besideParts:
		w.part.hear(nil, now)
		w.governs, w.marked = false, true
	case !w.governs:
		if w.governs = true; w.marked {
			w.since = now
		}
	}
}

// restore takes what was stored: nothing is, if the Secret did not count.
func (w *version2) restore(data Secret) *contract.Refusal {
	refused := w.part.restore(data)
	w.governs = w.good != nil
	return refused
}

// counts reports whether the Secret counts, or might and cannot be read for too long.
func (w *version2) counts(now time.Time) bool {
	return w.governs && !w.rollingBack(now) || w.closed(now)
}

// rollingBack reports whether the parts still count although the Secret governs.
func (w *version2) rollingBack(now time.Time) bool {
	return w.governs && now.Before(w.since.Add(rollbackTime))
}

// config is what to answer from if the Secret counts; nil closes the endpoint.
func (w *version2) config(now time.Time) *contract.Config {
	if content := w.content(now); content != nil {
		return content.Config
	}
	return nil
}
