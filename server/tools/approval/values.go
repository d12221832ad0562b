package approval

import (
	"encoding/json"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// maxAllValues is how many bytes of values of calls that wait a process keeps.
const maxAllValues = 16 << 20

// keptValues are the values of a call's changes, to be kept as long as it waits; nil if there is no room for them. The caller holds the lock.
func (r *Register) keptValues(digest string, met []*policy, changes *call.Changes) []byte {
	kept := contract.ApprovalValues{Digest: digest}
	kept.Changes, kept.Notice = shownAs(contract.ShowValues, met, changes)
	text, err := json.Marshal(&kept)
	if err != nil || len(text) > contract.MaxApprovalValuesBytes {
		return nil
	}
	all := len(text)
	for _, e := range r.entries {
		all += len(e.values)
	}
	if all > maxAllValues {
		return nil
	}
	return text
}

// Values are the values of a call that waits here, as JSON of contract.ApprovalValues; nil if none waits by that name.
func (r *Register) Values(name string, now time.Time) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		switch {
		case e.Name != name || e.State != contract.ApprovalWaiting || !now.Before(e.waitsUntil):
		case e.values != nil:
			return e.values
		default:
			return answerOf(contract.ApprovalValues{Digest: e.Digest, Changes: e.Changes,
				Notice: "the values are not kept: there are too many of them, or of other calls that wait"})
		}
	}
	return nil
}
