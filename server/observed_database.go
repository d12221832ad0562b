package server

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/objpool"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
	"go.opentelemetry.io/otel/attribute"
)

// An observedDatabase counts what is asked of a database, and has a span for each statement of a call that is traced. It lies below
// the shares of the tokens and above the pools, for all engines alike.
type observedDatabase struct {
	database.DB
	metrics *telemetry.Metrics
	// place says which database it is, in the spans' attributes; engine is one of contract's.
	place  []attribute.KeyValue
	engine string
}

// The operations, as the metric and the spans name them.
const (
	opSelect   = "SELECT"
	opReport   = "REPORT"
	opInsert   = "INSERT"
	opUpdate   = "UPDATE"
	opDelete   = "DELETE"
	opExecute  = "EXECUTE"
	opBatch    = "BATCH"
	opBegin    = "BEGIN"
	opCommit   = "COMMIT"
	opRollback = "ROLLBACK"
)

// systems are the engines in the conventions' words.
var systems = map[string]string{
	contract.EnginePostgreSQL: tracing.SystemPostgreSQL, contract.EngineMySQL: tracing.SystemMySQL, contract.EngineSQLite: tracing.SystemSQLite, contract.EngineDuckDB: tracing.SystemDuckDB,
}

// observe returns what counts and traces what is asked of a database of the target.
func (d *databases) observe(db database.DB, t target) database.DB {
	if d.metrics == nil {
		return db
	}
	o := &observedDatabase{DB: db, metrics: d.metrics, engine: t.engine, place: []attribute.KeyValue{tracing.DBSystem.String(systems[t.engine])}}
	if t.address.Database != "" {
		o.place = append(o.place, tracing.DBNamespace.String(t.address.Database))
	}
	if t.address.Host != "" {
		o.place = append(o.place, tracing.ServerAddress.String(t.address.Host), tracing.ServerPort.Int(t.address.Port))
	}
	return o
}

// operation is something that the database was asked.
type operation struct {
	name  string
	began time.Time
	span  tracing.Span
}

// begin begins an operation about a table, which may be nil.
func (o *observedDatabase) begin(ctx context.Context, name string, table *database.Table) (context.Context, operation) {
	op := operation{name: name, began: time.Now()}
	if tracing.Recorded(ctx) {
		ctx, op.span = o.span(ctx, name, table)
	}
	return ctx, op
}

// span begins the span of an operation.
func (o *observedDatabase) span(ctx context.Context, name string, table *database.Table) (context.Context, tracing.Span) {
	summary := name
	if table != nil && table.Name != "" {
		summary += " " + table.Name
	}
	ctx, span := tracing.Ask(ctx, summary)
	span.Set(o.place...)
	span.Set(tracing.DBOperation.String(name), tracing.DBSummary.String(summary))
	if table != nil && table.Name != "" {
		span.Set(tracing.DBCollection.String(table.Name))
	}
	return ctx, span
}

// end ends an operation.
func (o *observedDatabase) end(ctx context.Context, op *operation, err error) {
	outcome := telemetry.OutcomeOK
	if err != nil {
		outcome = classOf(err)
	}
	o.metrics.DatabaseOperation(op.name, outcome, time.Since(op.began))
	if !op.span.Recording() {
		return
	}
	if err != nil {
		op.span.Fail(outcome)
		if status := statusCode(err); status != "" {
			op.span.Set(tracing.DBStatus.String(status))
		}
		if outcome == string(database.Locked) {
			tracing.Happened(ctx, tracing.Locked)
		}
	}
	op.span.End()
}

// classOf is the class of an error. One that is not the database's came out of what a batch's answers were given to.
func classOf(err error) string {
	var e *database.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return "refused"
}

// statusCode is the code that the database gave an error: PostgreSQL's SQLSTATE, or the others' number; "" if it gave none.
func statusCode(err error) string {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	var number interface{ StatusCode() string }
	if errors.As(err, &number) {
		return number.StatusCode()
	}
	var code interface{ Code() int }
	if errors.As(err, &code) {
		return strconv.Itoa(code.Code())
	}
	return ""
}

// Select implements database.DB.
func (o *observedDatabase) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	ctx, op := o.begin(ctx, opSelect, plan.From.Base())
	extended, page, err := o.DB.Select(ctx, plan, out)
	o.end(ctx, &op, err)
	return extended, page, err
}

// Report implements database.DB.
func (o *observedDatabase) Report(ctx context.Context, report *database.Report, out []byte) ([]byte, database.Reported, error) {
	ctx, op := o.begin(ctx, opReport, nil)
	extended, reported, err := o.DB.Report(ctx, report, out)
	o.end(ctx, &op, err)
	return extended, reported, err
}

// Transact implements database.DB.
func (o *observedDatabase) Transact(ctx context.Context, do func(database.Tx) error) error {
	t := observedTxs.Get()
	if t.run == nil {
		t.run = t.do
	}
	t.db, t.ctx, t.work = o, ctx, do
	t.last = operation{name: opBegin, began: time.Now()}
	err := o.DB.Transact(ctx, t.run)
	switch {
	case t.last.name == opRollback:
		o.end(ctx, &t.last, nil) // what failed was counted where it failed
	case t.last.name == opCommit, err != nil:
		o.end(ctx, &t.last, err)
	}
	t.release()
	return err
}

// An observedTx is a transaction of an observedDatabase. Its memory is used again.
type observedTx struct {
	database.Tx
	db   *observedDatabase
	ctx  context.Context
	work func(database.Tx) error
	run  func(database.Tx) error
	// last is the operation that the end of the transaction ends: BEGIN if that failed.
	last operation
}

var observedTxs objpool.Pool[observedTx]

func (t *observedTx) release() {
	*t = observedTx{run: t.run}
	observedTxs.Put(t)
}

// do runs the transaction's work, and begins its end.
func (t *observedTx) do(tx database.Tx) error {
	t.last.span.End() // of an attempt before, whose connection was lost
	t.Tx = tx
	err := t.work(t)
	name := opCommit
	if err != nil {
		name = opRollback
	}
	_, t.last = t.db.begin(t.ctx, name, nil)
	return err
}

// Select implements database.Tx.
func (t *observedTx) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	ctx, op := t.db.begin(ctx, opSelect, plan.From.Base())
	extended, page, err := t.Tx.Select(ctx, plan, out)
	t.db.end(ctx, &op, err)
	return extended, page, err
}

// Insert implements database.Tx.
func (t *observedTx) Insert(ctx context.Context, plan *database.Insert, out []byte) ([]byte, error) {
	ctx, op := t.db.begin(ctx, opInsert, plan.Into.Base())
	extended, err := t.Tx.Insert(ctx, plan, out)
	t.db.end(ctx, &op, err)
	return extended, err
}

// InsertLater implements database.Tx. PostgreSQL gets the row with what comes next, and is asked nothing here.
func (t *observedTx) InsertLater(ctx context.Context, plan *database.Insert) error {
	if t.db.engine == contract.EnginePostgreSQL {
		return t.Tx.InsertLater(ctx, plan)
	}
	ctx, op := t.db.begin(ctx, opInsert, plan.Into.Base())
	err := t.Tx.InsertLater(ctx, plan)
	t.db.end(ctx, &op, err)
	return err
}

// Update implements database.Tx.
func (t *observedTx) Update(ctx context.Context, plan *database.Update) (int64, error) {
	ctx, op := t.db.begin(ctx, opUpdate, plan.In.Base())
	matched, err := t.Tx.Update(ctx, plan)
	t.db.end(ctx, &op, err)
	return matched, err
}

// Delete implements database.Tx.
func (t *observedTx) Delete(ctx context.Context, plan *database.Delete) (int64, error) {
	ctx, op := t.db.begin(ctx, opDelete, plan.From.Base())
	matched, err := t.Tx.Delete(ctx, plan)
	t.db.end(ctx, &op, err)
	return matched, err
}

// Execute implements database.Tx.
func (t *observedTx) Execute(ctx context.Context, statement *database.Declared) (int64, error) {
	ctx, op := t.db.begin(ctx, opExecute, nil)
	rows, err := t.Tx.Execute(ctx, statement)
	t.db.end(ctx, &op, err)
	return rows, err
}

// Run implements database.Tx.
func (t *observedTx) Run(ctx context.Context, batch *database.Batch) error {
	if len(batch.Statements) == 0 {
		return t.Tx.Run(ctx, batch)
	}
	name, table := whatOf(batch)
	ctx, op := t.db.begin(ctx, name, table)
	if len(batch.Statements) > 1 && op.span.Recording() {
		op.span.Set(tracing.DBBatchSize.Int(len(batch.Statements)))
	}
	asked := ctx
	if len(batch.Statements) > 1 && t.db.engine != contract.EnginePostgreSQL {
		asked = tracing.Alone(ctx) // the statements go one by one, and the span has one text
	}
	err := t.Tx.Run(asked, batch)
	t.db.end(ctx, &op, err)
	return err
}

// whatOf is the operation and the table of a batch: those of its one statement, or BATCH and the table of the first that writes, as those
// before it check what it refers to; else of the first.
func whatOf(batch *database.Batch) (name string, table *database.Table) {
	name, table = statementOf(&batch.Statements[0])
	if len(batch.Statements) == 1 {
		return name, table
	}
	for i := range batch.Statements {
		if op, of := statementOf(&batch.Statements[i]); op != opSelect {
			return opBatch, of
		}
	}
	return opBatch, table
}

// statementOf is the operation and the table of a statement of a batch.
func statementOf(s *database.Statement) (name string, table *database.Table) {
	switch {
	case s.Select != nil:
		return opSelect, s.Select.From.Base()
	case s.Insert != nil:
		return opInsert, s.Insert.Into.Base()
	}
	return opUpdate, s.Update.In.Base()
}
