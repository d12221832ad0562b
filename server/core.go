package server

import (
	"cmp"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/identity"
	"github.com/mcp-admin/mcp-admin-operator/server/mcp"
	"github.com/mcp-admin/mcp-admin-operator/server/otlp"
	"github.com/mcp-admin/mcp-admin-operator/server/snapshot"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/approval"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/webhook"
)

// A core is the state of a server. It takes updates of the source and of the database one at a time; after each it
// builds a whole new snapshot and swaps it in.
type core struct {
	log     *slog.Logger
	metrics *telemetry.Metrics
	audit   *audit.Log
	kept    *call.KeptAnswers
	hooks   *webhook.Client
	tracer  *tracing.Tracer
	// sender sends audit lines to a collector.
	sender *otlp.Sender
	// environment is the server's, for OpenTelemetry's variables.
	environment func(string) string
	// version is the server's.
	version string
	// now is the clock; nil is time.Now.
	now func() time.Time

	snapshot atomic.Pointer[snapshot.Snapshot]
	// known is the newest update.
	known atomic.Pointer[source.Update]
	admin adminPort

	// verifier checks the tokens that others issue, and waiting knows the calls that wait for other people. statusChanged wakes who
	// publishes what they found out.
	verifier      *identity.Verifier
	waiting       *approval.Register
	notices       *notices
	statusChanged chan struct{}

	// certificate is nil if the endpoint's port does not speak TLS.
	certificate *certificate

	// wakes is how the schema's watch is woken.
	wakes wakes

	// mu guards what follows.
	mu        sync.Mutex
	databases databases
	// tokens are the tokens of the newest update that had a Config.
	tokens *access.Directory
	// schema is the last one seen of the open database; nil: none yet.
	schema *database.Schema
	models modelStatuses
	// databaseStatus is the database's part of the status.
	databaseStatus contract.DatabaseStatus
	// tracingProblem says why no traces are sent though they are asked for; "" if they are.
	tracingProblem string
	// auditProblem says why no audit lines are sent to a collector though they are asked for; "" if they are.
	auditProblem string
	// ready never becomes false again.
	ready bool
}

func newCore(s *Server, metrics *telemetry.Metrics) *core {
	c := &core{
		log:            s.Log,
		metrics:        metrics,
		audit:          s.Audit,
		databases:      databases{open: s.OpenDatabase, sqliteFile: s.SQLiteFile, sqliteInitDir: s.SQLiteInitDir, duckDBPath: s.DuckDBPath, countFor: s.CountFor, metrics: metrics, pod: s.environment()("POD_NAME")},
		wakes:          newWakes(),
		kept:           call.NewKeptAnswers(),
		hooks:          webhook.New(webhook.Options{Own: s.PodAddresses, AllowLoopback: s.LocalWebhooks}),
		tracer:         tracing.New(s.Log, metrics.SpansDropped),
		sender:         otlp.NewSender(s.Log, metrics.AuditLost),
		environment:    s.environment(),
		version:        s.Version,
		now:            s.Now,
		statusChanged:  make(chan struct{}, 1),
		databaseStatus: contract.DatabaseStatus{Reason: contract.ReasonConnecting},
		tokens:         access.NewDirectory(),
	}
	if c.databases.open == nil {
		c.databases.open = openEngine
	}
	c.admin = adminPort{inPod: s.InPod, status: newBoard(), look: func() { wake(c.wakes.look) }}
	if s.TLS {
		c.certificate = newCertificate(s.Log)
	}
	if c.audit != nil {
		c.audit.Lost, c.audit.Receiver = (&lostLines{log: s.Log, metrics: metrics}).tell, c.sender
		c.audit.Changed = func() { wake(c.statusChanged) }
	}
	c.notices = newNotices(s.Log, c.hooks, metrics, func() { wake(c.statusChanged) })
	c.waiting = approval.NewRegister(func() { wake(c.statusChanged) }, c.notices.send)
	c.verifier = newVerifier(s, func() { wake(c.statusChanged) })
	c.known.Store(&source.Update{})
	c.publish()
	return c
}

// apply takes an update of the source. When it returns, changes of access are in force, whatever the state of the
// database.
func (c *core) apply(update source.Update) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.known.Swap(&update)
	reopened := c.reopen(&update)
	c.databases.share(update.Config)
	changed := c.databases.changeLogin(&update)
	if reopened || changed {
		wake(c.wakes.look)
	}
	if c.certificate != nil {
		c.certificate.load(update.Certificate)
	}
	if update.Config != nil {
		c.audit.Use(auditSettings(&update.Config.Endpoint))
		c.notices.use(&update.Config.Endpoint)
	}
	c.readTokens(before, &update)
	c.configureVerifier(&update)
	c.configureTracing(&update)
	c.configureSender(&update)
	if s := c.snapshot.Load(); reopened || !sameModels(before.Config, update.Config) {
		if c.rebuild(); c.models.unread {
			wake(c.wakes.unfit)
		}
	} else if s != nil {
		c.snapshot.Store(s.With(update.Config, c.tokens))
	}
	c.becomeReady()
	if update.Config != nil {
		c.admin.statusKey.Store(&update.Config.Endpoint.StatusKey)
	}
	c.logUpdate(before, &update)
	c.publish()
}

// introspected takes the schema that was read from db, or the error. config is the Config that was known before it was
// read. refused is why no new connection could be made; nil if one was, or none was tried.
func (c *core) introspected(db *openDatabase, config *contract.Config, schema *database.Schema, err, refused error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if db != c.databases.current {
		return // Another was opened meanwhile.
	}
	status := c.databaseStatus
	if err == nil {
		status = statusOf(schema)
		if schema != c.schema && !reflect.DeepEqual(schema, c.schema) {
			c.log.Info("The database's schema was read", "engine", schema.Engine, "version", schema.Version, "tables", len(schema.Tables))
			c.schema = schema
			c.rebuild()
			c.becomeReady()
		}
		c.models.schemaReadFor(config, c.snapshot.Load())
	}
	if failed := cmp.Or(refused, err); failed != nil {
		e := database.AsError(failed)
		if e.Code == database.Busy && c.schema != nil {
			return // Busy means reachable.
		}
		status.Reason, status.Message = cmp.Or(e.Reason, contract.ReasonDatabaseError), e.Message
		if err == nil {
			status.Message += goesOn
		}
	}
	if status != c.databaseStatus {
		c.logDatabase(status, refused, err)
		c.databaseStatus = status
	}
	c.publish()
}

// sameModels reports whether two Configs differ in groups, pods and revisions at most, and let the same be exported.
func sameModels(a, b *contract.Config) bool {
	return a == b || a != nil && b != nil && reflect.DeepEqual(a.Endpoint, b.Endpoint) && reflect.DeepEqual(a.Models, b.Models) &&
		snapshot.ExportProblem(a.OfOnePod()) == snapshot.ExportProblem(b.OfOnePod())
}

// readTokens takes the tokens of an update. Parts that have not changed cost nothing. The tokens of a Config that is gone
// stay, and nobody can show them.
func (c *core) readTokens(before, now *source.Update) {
	switch {
	case now.Config == nil:
	case now.TokenParts != nil:
		c.tokens = c.tokens.With(now.TokenParts)
		c.waiting.Allowed(waitingIn(now.TokenParts))
		c.waiting.Decide(decisionsIn(now.TokenParts))
	case now.Config != before.Config:
		c.tokens = c.tokens.With(access.Whole(now.Config))
	}
}

// decisionsIn are the decisions in some parts, by the digests of what they are about.
func decisionsIn(parts []*contract.TokenPart) map[string]*contract.Decision {
	decisions := map[string]*contract.Decision{}
	for _, part := range parts {
		if part == nil {
			continue
		}
		for i := range part.Decisions {
			decisions[part.Decisions[i].Digest] = &part.Decisions[i]
		}
	}
	return decisions
}

// waitingIn says how many people have allowed the calls that still wait, by the calls' digests and by policy.
func waitingIn(parts []*contract.TokenPart) map[string]map[string]int {
	allowed := map[string]map[string]int{}
	for _, part := range parts {
		if part == nil {
			continue
		}
		for i := range part.Waiting {
			allowed[part.Waiting[i].Digest] = part.Waiting[i].Allowed
		}
	}
	return allowed
}

// becomeReady makes the server ready once it has answered with the schema, and from all parts that there are.
func (c *core) becomeReady() {
	c.ready = c.ready || c.snapshot.Load() != nil && c.schema != nil && !c.known.Load().Incomplete
}

// goesOn is said of a database that no new connection can be made to.
const goesOn = "; calls are answered over the connections from before, which still work"

// notesOf are the sentences about what is not possible on a database.
func notesOf(schema *database.Schema) []string {
	if schema.IdempotencyProblem == "" {
		return schema.AllNotes()
	}
	return append(schema.AllNotes(), "calls with an idempotency_key are refused: "+schema.IdempotencyProblem)
}

// statusOf is the status of a database that answers.
func statusOf(schema *database.Schema) contract.DatabaseStatus {
	status := contract.DatabaseStatus{
		Reason: contract.ReasonConnected, Engine: schema.Engine, Version: schema.Version, Name: schema.Database,
		AuditProblem: schema.AuditProblem, Notes: strings.Join(notesOf(schema), "; "),
	}
	if missing := schema.MissingSchemas; len(missing) > 0 {
		status.Reason = contract.ReasonSchemaNotFound
		status.Message = "no schema " + strings.Join(missing, ", ") + " that the database's user may use; correct spec.database.schemas, or grant the user its use"
	}
	return status
}

// rebuild swaps in the snapshot of what is known now; without a Config there is none, and the endpoint is closed.
func (c *core) rebuild() {
	var s *snapshot.Snapshot
	if config := c.known.Load().Config; config != nil {
		s = snapshot.Build(config, c.tokens, c.schema, c.databases.current.DB, c.audit, c.kept, c.waiting, c.hooks, c.now)
	}
	c.snapshot.Store(s)
	c.metrics.PerModel(measuredModels(s))
	c.models.judge(s)
	wake(c.wakes.questions)
}

// endpoint returns what requests are answered from; false while there is no Config.
func (c *core) endpoint() (mcp.Endpoint, bool) {
	s := c.snapshot.Load()
	return s, s != nil
}

// publish updates the status that /status shows.
func (c *core) publish() {
	known := c.known.Load()
	status := contract.Status{
		Version: contract.Version, Refused: known.Refused, Ready: c.ready, Database: c.databaseStatus, Issuers: c.verifier.Status(),
		ApprovalsSerial: c.waiting.Serial(), AuditLinesProblem: c.audit.Problem(), TracingProblem: c.tracingProblem, AuditCollectorProblem: c.auditProblem,
	}
	if problem := c.databases.replicasProblem; problem != "" {
		status.Database.Notes = strings.TrimPrefix(status.Database.Notes+"; "+problem, "; ")
	}
	if c.certificate != nil {
		status.Certificate = c.certificate.status()
		status.Ready = c.ready && status.Certificate.InUse
	}
	if s := c.snapshot.Load(); s != nil {
		status.ApprovalProblems, status.NotifyProblem = s.ApprovalProblems(), c.notices.problem()
		status.Revision, status.Models, status.TokenParts = s.Config().Revision, c.models.all, c.tokens.Revisions()
	}
	c.metrics.Config(status.Revision, status.Refused != nil)
	c.metrics.Database(status.Database.Reason == contract.ReasonConnected || status.Database.Reason == contract.ReasonSchemaNotFound)
	c.admin.status.set(status)
}

func (c *core) logUpdate(before, now *source.Update) {
	switch {
	case now.Config != nil && now.Config != before.Config:
		c.log.Info("A Config was applied", "revision", now.Config.Revision, "models", len(now.Config.Models), "tokens", c.tokens.Len(),
			"missingParts", c.tokens.Missing())
	case now.Config == nil && before.Config != nil:
		c.log.Warn("There is no Config any more; the endpoint is closed")
	case now.Config != nil && !slices.Equal(now.TokenParts, before.TokenParts):
		c.log.Info("Tokens were applied", "revision", slices.Max(c.tokens.Revisions()), "tokens", c.tokens.Len(), "missingParts", c.tokens.Missing())
	}
	if r := now.Refused; r != nil && !reflect.DeepEqual(r, before.Refused) {
		c.log.Error("A part of the Config was refused; the one before stays, if it is not closed", "secret", r.Secret,
			"revision", r.Revision, "closed", r.Closed, "message", r.Message)
	}
}

func (c *core) logDatabase(now contract.DatabaseStatus, refused, err error) {
	switch {
	case err != nil:
		c.log.Warn("The database does not answer; calls that need it are unavailable", "reason", now.Reason, "error", cmp.Or(refused, err))
	case refused != nil:
		c.log.Warn("The database takes no new connection; those from before still work", "reason", now.Reason, "error", refused)
	default:
		c.log.Info("The database answers", "engine", now.Engine, "version", now.Version, "database", now.Name)
		if now.AuditProblem != "" {
			c.log.Warn("The audit table cannot be used; nothing is written meanwhile", "problem", now.AuditProblem)
		}
	}
}

// lookAgain is called when a call found the database away or its schema changed. It does not block.
func (c *core) lookAgain() { wake(c.wakes.trouble) }

// wake leaves a token in a channel that holds one.
func wake(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}

// close ends all databases.
func (c *core) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.databases.close()
}
