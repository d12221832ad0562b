package database

import "context"

// Batch is statements of one transaction, in their order, none of which needs the answer of another. An engine that can
// sends them in one round trip. So it may have run all of them by the time that the first is judged: whoever gets an error
// must undo the transaction, or the savepoint.
type Batch struct {
	Statements []Statement
}

// Statement is one statement of a Batch: one of the plans, and what takes its answer, before the answer of the next. If Take
// returns an error, the batch ends with it. Take must not use the transaction.
type Statement struct {
	Select *Select
	Insert *Insert
	Update *Update
	Take   func(Answer) error
}

// Answer has the answer of a statement: the rows as Tx has them, the page of a Select, or how many rows an Update matched.
type Answer struct {
	Text    []byte
	Page    Page
	Matched int64
}

// Select adds a read.
func (b *Batch) Select(plan *Select, take func(Answer) error) {
	b.Statements = append(b.Statements, Statement{Select: plan, Take: take})
}

// Insert adds an insertion.
func (b *Batch) Insert(plan *Insert, take func(Answer) error) {
	b.Statements = append(b.Statements, Statement{Insert: plan, Take: take})
}

// Update adds an update.
func (b *Batch) Update(plan *Update, take func(Answer) error) {
	b.Statements = append(b.Statements, Statement{Update: plan, Take: take})
}

// RunEach runs the statements of a batch one by one, for an engine that cannot send several at once: what the answer of one
// decides is known before the next is run. update is the engine's own way to run an Update with what it returns.
func RunEach(ctx context.Context, tx Tx, b *Batch, update func(context.Context, *Update) ([]byte, int64, error)) error {
	for _, s := range b.Statements {
		var answer Answer
		var err error
		switch {
		case s.Select != nil:
			answer.Text, answer.Page, err = tx.Select(ctx, s.Select, nil)
		case s.Insert != nil:
			answer.Text, err = tx.Insert(ctx, s.Insert, nil)
		default:
			answer.Text, answer.Matched, err = update(ctx, s.Update)
		}
		if err == nil {
			err = s.Take(answer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
