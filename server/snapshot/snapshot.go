// Package snapshot joins a Config with the database's schema into everything that is needed to answer a request:
// tokens and their rights, models, tools. A request loads one snapshot and asks nothing else; a new one is built beside
// the old and swapped in whole.
//
// Package server imports it, and its self-test, and nothing else of the product does. Begin with Build.
package snapshot

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
	"github.com/mcp-admin/mcp-admin-operator/server/tools"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/approval"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
	"github.com/mcp-admin/mcp-admin-operator/server/webhook"
)

// Snapshot is immutable and safe for concurrent use.
type Snapshot struct {
	// Set answers agents.
	*tools.Set
	config *contract.Config
	// settings are the endpoint's, with this pod's share of what is for all pods.
	settings *contract.Endpoint
	catalog  *catalog.Catalog
	tokens   *access.Tokens
	models   []contract.ModelStatus
	// approvalProblems say which approval policies cannot be judged.
	approvalProblems []string
}

// Build joins a Config and its tokens with a schema that the database gave. schema may be nil, if none has been seen yet: tokens
// are in force then all the same, and calls that need a model answer `unavailable`.
//
// log gets changes and refusals; it may be nil. kept counts what is kept for callers' keys, and waiting knows the calls that wait for
// other people; nil is one of its own. hooks calls webhooks; nil is a client that refuses the machine's own addresses. now is the
// clock; nil is time.Now.
func Build(config *contract.Config, tokens *access.Directory, schema *database.Schema, db database.DB, log *audit.Log, kept *call.KeptAnswers, waiting *approval.Register, hooks *webhook.Client, now func() time.Time) *Snapshot {
	models := catalog.Build(config, schema)
	inForce := access.NewTokens(config, tokens, models)
	inspector := inForce.Inspector()
	gate := approval.New(config, models, inspector, waiting)
	onePod := config.OfOnePod()
	settings := call.Settings{
		Endpoint:         config.Endpoint.Namespace + "/" + config.Endpoint.Name,
		Now:              now,
		SealKey:          sealKey(config),
		StatementTimeout: time.Duration(config.Endpoint.Database.StatementTimeout),
		MaxResultBytes:   config.Endpoint.Limits.MaxResultBytes,
		Catalogue:        config.Endpoint.Catalogue,
		MaxExportRows:    config.Endpoint.Limits.MaxExportRows,
		ExportsURL:       strings.TrimSuffix(config.Endpoint.URL, "/") + "/exports/",
		ExportProblem:    ExportProblem(onePod),
		SessionSettings:  config.Endpoint.Database.SessionSettings,
		Audit:            log,
		AuditReads:       config.Endpoint.AuditLines.Reads,
		AuditRequired:    config.Endpoint.AuditLines.Required,
		Kept:             kept,
		Webhook:          hooks,
	}
	if gate != nil {
		settings.Gate = gate
	}
	s := &Snapshot{
		config: config, settings: onePod, catalog: models,
		tokens: inForce,
		Set:    tools.New(models, db, settings),
		models: make([]contract.ModelStatus, len(models.Models())),
	}
	if schema != nil { // else nothing is known of fields
		s.approvalProblems = gate.Problems()
	}
	for i, m := range models.Models() {
		s.models[i] = m.Status
		if m.Served() {
			s.models[i].Tools = call.Names(models, m)
			s.models[i].Notes = append(slices.Clip(m.Status.Notes), missing(m, s.models[i].Tools)...)
			s.models[i].Notes = append(s.models[i].Notes, read.WrongDeclarations(inspector.Reach(m))...)
			s.models[i].Notes = append(s.models[i].Notes, s.WrongQuestions(inspector.Reach(m))...)
			s.models[i].Notes = append(s.models[i].Notes, gate.WrongPolicies(m)...)
		}
	}
	s.models = shorten(s.models)
	return s
}

// ExportProblem says why nothing can be exported; "" if it can.
func ExportProblem(e *contract.Endpoint) string {
	switch {
	case e.URL == "":
		return "the endpoint does not know its own URL"
	case e.Limits.MaxExportRows < 1:
		return "the endpoint's limits allow no rows"
	case e.Database.MaxConnections < 2:
		return "each of the endpoint's pods has one database connection, which an export would take from all other calls (spec.database.pool.maxConnections)"
	}
	return ""
}

// sealKey is the Config's; Validate saw that it is base64.
func sealKey(config *contract.Config) []byte {
	key, _ := base64.StdEncoding.DecodeString(config.Endpoint.SealKey)
	return key
}

// Config is the source of the snapshot.
func (s *Snapshot) Config() *contract.Config { return s.config }

// Settings are the endpoint's own, with this pod's share of what is for all pods.
func (s *Snapshot) Settings() *contract.Endpoint { return s.settings }

// TokenRate is this pod's share of each token's rate, and among how many pods it is shared; 0 requests a second are no limit.
func (s *Snapshot) TokenRate() (perSecond float64, pods int) { return s.config.TokenRate() }

// Models reports for each model of the Config, in its order, whether it is served and as what.
func (s *Snapshot) Models() []contract.ModelStatus { return s.models }

// ApprovalProblems say of approval policies, "name: why", that they cannot be judged by the database as it is.
func (s *Snapshot) ApprovalProblems() []string { return s.approvalProblems }

// Ask makes the call of a question of the i-th model with a token that sees all rows; false if the model's notes say already why it
// cannot be made.
func (s *Snapshot) Ask(ctx context.Context, i int, q *contract.Question) (call.Result, bool) {
	return s.AskQuestion(ctx, s.tokens.Inspector().Reach(s.catalog.Models()[i]), q)
}

// TryReports has the database say of each report of the i-th model whether it takes its query. untaken is told of those that it does not
// take, or fails at; an error ends this, and says that the database cannot be asked now.
func (s *Snapshot) TryReports(ctx context.Context, i int, untaken func(report, why string)) error {
	m := s.catalog.Models()[i]
	scope := s.tokens.Inspector().Reach(m)
	for _, r := range m.Reports {
		err := s.TryReport(ctx, scope, r)
		if err == nil {
			continue
		}
		switch failure := database.AsError(err); failure.Code {
		case database.Unready, database.Invalid, database.Refused, database.Failed:
			untaken(r.Name, failure.Message)
		default:
			return err
		}
	}
	return nil
}

// With returns the same models with the tokens of a directory, and with a Config that differs in groups, pods and revisions at
// most: what takes rights away must not wait until all models were looked at again.
func (s *Snapshot) With(config *contract.Config, d *access.Directory) *Snapshot {
	with := *s
	if with.tokens = s.tokens.With(d); config != s.config {
		with.config, with.settings, with.tokens = config, config.OfOnePod(), access.NewTokens(config, d, s.catalog)
	}
	return &with
}

// TokensIncomplete reports whether a part of the tokens is missing.
func (s *Snapshot) TokensIncomplete() bool { return s.tokens.Incomplete() }

// Authenticate returns the token whose text is shown, or nobody; the same work is done for every refusal.
func (s *Snapshot) Authenticate(shown access.Bearer, now time.Time) access.Token {
	return s.tokens.Holder(shown, now)
}

// Recognise returns the token in force whose text has the hash of a credential, or nobody.
func (s *Snapshot) Recognise(c access.Credential, now time.Time) access.Token {
	return s.tokens.Recognise(c, now)
}

// WhyRefused says why a text, or a caller if one is given, lets nobody in, for the operator alone.
func (s *Snapshot) WhyRefused(shown access.Bearer, caller *identity.Caller, now time.Time) access.Cause {
	return s.tokens.WhyRefused(shown, caller, now)
}

// HasIdentities reports whether a token is for callers who show what somebody else issued.
func (s *Snapshot) HasIdentities() bool { return s.tokens.HasIdentities() }

// Identify returns the token that is for a caller, or nobody and why.
func (s *Snapshot) Identify(caller *identity.Caller, now time.Time) (access.Token, access.Refused) {
	return s.tokens.Identify(caller, now)
}

// Instructions tell an agent in a few lines how this endpoint works.
func (s *Snapshot) Instructions(token access.Token, view tools.View) string {
	return s.Set.Instructions(s.config.Endpoint.Name, token, view)
}
