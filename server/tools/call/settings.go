package call

import (
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/webhook"
)

// Settings are the operations' needs besides models and rows.
type Settings struct {
	// Endpoint is the endpoint's namespace and name, for webhooks.
	Endpoint string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// SealKey is the key of cursors, confirmation tokens and links.
	SealKey []byte
	// StatementTimeout is the time after which a transaction is not run again; 0 is no limit.
	StatementTimeout time.Duration
	// MaxResultBytes is the most bytes of rows that a call may ask for.
	MaxResultBytes int
	// MaxExportRows is the most rows of an export, ExportsURL the URL before a link's own text, and ExportProblem why nothing can be
	// exported; "" if it can.
	MaxExportRows             int
	ExportsURL, ExportProblem string
	// Catalogue says what tools/list shows.
	Catalogue contract.Catalogue
	// SessionSettings describe the caller to the database in each transaction.
	SessionSettings []contract.SessionSetting
	// Audit is called with every change and refusal; it may be nil.
	Audit *audit.Log
	// AuditReads is contract.AuditSummary or AuditRows if Audit is called with every call that reads, too.
	AuditReads string
	// AuditRequired has a call fail if its line cannot be written.
	AuditRequired bool
	// Kept counts what is kept for the keys of callers; nil is one of its own. It outlives a Set.
	Kept *KeptAnswers
	// Gate holds calls back that other people must allow; nil: nobody must.
	Gate Gate
	// Webhook calls the webhooks of actions; nil is the client that refuses the machine's own addresses.
	Webhook *webhook.Client
}

// Wanted is the caller's error about a line of the audit that could not be written; nil if the endpoint does without it.
func (s *Settings) Wanted(err error) error {
	if err == nil || !s.AuditRequired {
		return nil
	}
	return errAuditLine
}

// errAuditLine says nothing of the cause, which is the operator's: the log has it.
var errAuditLine = Failf(CodeUnavailable, "the audit line about this call cannot be written, and this endpoint answers no call without one; try again later, or tell whoever runs it")
