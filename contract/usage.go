package contract

import "time"

// MaxUsedTokens is the most tokens of one Usage, and MaxRefusedUses the most that are told as refused; MaxUsageBytes bounds it as JSON.
const (
	MaxUsedTokens  = 5000
	MaxRefusedUses = 1000
	MaxUsageBytes  = 2 << 20
)

// Usage is the answer of a server's pod at /usage on its admin port, to whoever shows the StatusKey: which tokens were
// used.
//
// GET /usage?after=CURSOR has the tokens that were first used in their hour since the answer with that cursor, at most
// MaxUsedTokens of them. The next answer has the others. A cursor of another process is as good as none.
type Usage struct {
	Cursor int64 `json:"cursor"`
	// Tokens are the hours in which tokens were used last, by namespace/name.
	Tokens map[string]time.Time `json:"tokens,omitempty"`
	// Refused are the tokens that were shown within a day though they have expired or are not active, by namespace/name, whatever the
	// cursor: the newest MaxRefusedUses.
	Refused map[string]RefusedUse `json:"refused,omitempty"`
}

// RefusedUse tells how a token was shown that is not in force.
type RefusedUse struct {
	// Reason is why it was refused, as a condition's reason.
	Reason string `json:"reason"`
	// Count is how often that happened since the process began to count.
	Count int64     `json:"count"`
	Last  time.Time `json:"last"`
	// From is the IP address of the last connection: a proxy's if there is one before the server.
	From string `json:"from,omitempty"`
}
