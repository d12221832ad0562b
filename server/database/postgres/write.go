package postgres

import (
	"context"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// Select implements database.Tx.
func (t *transaction) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	answer, err := t.ask(ctx, t.queue.read(plan, out, nil))
	if err != nil {
		return out, database.Page{}, err
	}
	return answer.Text, answer.Page, nil
}

// Insert implements database.Tx.
func (t *transaction) Insert(ctx context.Context, plan *database.Insert, out []byte) ([]byte, error) {
	answer, err := t.ask(ctx, t.queue.insert(plan, out, nil))
	if err != nil {
		return out, err
	}
	return answer.Text, nil
}

// maxLater is how many rows may wait: a deletion records each row that goes along.
const maxLater = 64

// InsertLater implements database.Tx.
func (t *transaction) InsertLater(ctx context.Context, plan *database.Insert) error {
	err := t.queue.insert(plan, nil, nil)
	if err == nil && len(t.queue) >= maxLater {
		_, err = t.flush(ctx)
	}
	return err
}

// Update implements database.Tx.
func (t *transaction) Update(ctx context.Context, plan *database.Update) (int64, error) {
	answer, err := t.ask(ctx, t.queue.update(plan, nil))
	return answer.Matched, err
}

// Delete implements database.Tx.
func (t *transaction) Delete(ctx context.Context, plan *database.Delete) (int64, error) {
	answer, err := t.ask(ctx, t.queue.delete(plan))
	return answer.Matched, err
}

// Execute implements database.Tx. It ignores any rows that the statement returns.
func (t *transaction) Execute(ctx context.Context, statement *database.Declared) (int64, error) {
	answer, err := t.ask(ctx, t.queue.declared(statement))
	return answer.Matched, err
}

// ask sends a statement that was queued, if it was, and returns its answer.
func (t *transaction) ask(ctx context.Context, queued error) (database.Answer, error) {
	if queued != nil {
		return database.Answer{}, queued
	}
	t.tell(ctx)
	return t.flush(ctx)
}

// tell tells the span what is about to be sent, if it wants to know.
func (t *transaction) tell(ctx context.Context) {
	if !tracing.WantsStatements(ctx) {
		return
	}
	var all []byte
	for _, s := range t.queue {
		sql, _ := s.text()
		if len(all) > 0 {
			all = append(all, "; "...)
		}
		all = append(all, sql...)
	}
	tracing.Statement(ctx, all)
}

// Run implements database.Tx. If a statement cannot be written, the ones before it are still judged first.
func (t *transaction) Run(ctx context.Context, batch *database.Batch) error {
	if len(batch.Statements) == 0 {
		return nil
	}
	var unwritten error
	for i := range batch.Statements {
		if unwritten = t.queue.batched(&batch.Statements[i]); unwritten != nil {
			break
		}
	}
	t.tell(ctx)
	if _, err := t.flush(ctx); err != nil {
		return err
	}
	return unwritten
}
