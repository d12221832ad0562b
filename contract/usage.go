package contract

import "time"

// MaxUsedTokens is the most tokens of one Usage; MaxUsageBytes bounds it as JSON.
const (
	MaxUsedTokens = 5000
	MaxUsageBytes = 2 << 20
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
}
