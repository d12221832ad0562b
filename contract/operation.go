package contract

import "slices"

// Operation is one thing that agents do with models. Its tool is <name>_<model>, or <name> with the model as an argument.
// The table below is the only list of operations. The server adds to each entry what runs (server/tools); what a token's
// list has, and which rights have an effect, the compiler works out from the same entries.
type Operation struct {
	Name string
	// Global is set for an operation of no single model: its tool has its name alone.
	Global bool
	// Effect says what it does to rows.
	Effect Effect
	// Verbs are the verbs that allow it: a token needs one of them on the model. Rows that an answer shows need VerbView as
	// well.
	Verbs []string
	// Needs says what else the operation needs.
	Needs Need
	// Exports is set if a call can ask for a file of the rows that its answer has; that needs VerbExport as well.
	Exports bool
	// OneRow is set if a call's answer is about one row.
	OneRow bool
}

// Effect says what an operation does to rows.
type Effect int

// The effects.
const (
	// Shows is for operations that show rows, or what rows have.
	Shows Effect = iota
	// Tells is for operations that tell what can be done, and show no row.
	Tells
	// Withdraws is for operations that may take back what the caller asked for, and change no row.
	Withdraws
	// Adds is for operations that only add rows.
	Adds
	// Changes is for operations that change rows, and do the same if they are called twice.
	Changes
	// Destroys is for operations that may delete rows, or do more if they are called twice.
	Destroys
)

// Need is a need of an operation beyond a verb. Whether a table allows a change only its database knows; all else the
// objects say.
type Need int

// The needs.
const (
	NeedsNothing Need = iota
	// NeedsKey: the table has a key, so that one row can be named.
	NeedsKey
	// NeedsRelations: the model has a relation to another that the token may view.
	NeedsRelations
	// NeedsAddable, NeedsChangeable and NeedsDeletable: rows of the table can be added, changed and deleted.
	NeedsAddable
	NeedsChangeable
	NeedsDeletable
	// NeedsWritable: the model offers create, update or delete.
	NeedsWritable
	// NeedsActions: the model has an action that the token may run. NeedsReports: a report. NeedsActionsOrReports: the model
	// has any of the two, whoever may run them.
	NeedsActions
	NeedsReports
	NeedsActionsOrReports
	// NeedsAudit: there is an audit table, in which the changes of the model's rows are recorded.
	NeedsAudit
	// NeedsWrites: the token may use an operation that changes rows of an advertised model. NeedsJournal: the token may also
	// view that model, and there is an audit table.
	NeedsWrites
	NeedsJournal
	// NeedsApprovals: the endpoint has calls wait until other people allow them, and the token may make some that change rows.
	NeedsApprovals
)

var (
	toView  = []string{VerbView}
	toWrite = []string{VerbAdd, VerbChange, VerbDelete}
)

// operations are in the order in which tools/list has them, once for all models and then once for each.
var operations = []Operation{
	{Name: "find_models", Global: true, Effect: Tells},
	{Name: "transact", Global: true, Effect: Destroys, Verbs: toWrite, Needs: NeedsWrites},
	{Name: "undo", Global: true, Effect: Destroys, Verbs: toWrite, Needs: NeedsJournal},
	{Name: "approvals", Global: true, Effect: Withdraws, Needs: NeedsApprovals},

	{Name: "list", Effect: Shows, Verbs: toView, Exports: true},
	{Name: "get", Effect: Shows, Verbs: toView, Needs: NeedsKey, OneRow: true},
	{Name: "create", Effect: Adds, Verbs: []string{VerbAdd}, Needs: NeedsAddable, OneRow: true},
	{Name: "update", Effect: Changes, Verbs: []string{VerbChange}, Needs: NeedsChangeable, OneRow: true},
	{Name: "delete", Effect: Destroys, Verbs: []string{VerbDelete}, Needs: NeedsDeletable, OneRow: true},
	{Name: "describe", Effect: Shows, Verbs: toView},
	{Name: "actions", Effect: Tells, Verbs: toView, Needs: NeedsActionsOrReports},
	{Name: "action", Effect: Destroys, Verbs: toView, Needs: NeedsActions},
	{Name: "bulk", Effect: Destroys, Verbs: toWrite, Needs: NeedsWritable},
	{Name: "related", Effect: Shows, Verbs: toView, Exports: true, Needs: NeedsRelations},
	{Name: "history", Effect: Shows, Verbs: toView, Needs: NeedsAudit},
	{Name: "autocomplete", Effect: Shows, Verbs: toView, Needs: NeedsKey},
	{Name: "aggregate", Effect: Shows, Verbs: toView, Exports: true},
	{Name: "report", Effect: Shows, Verbs: toView, Exports: true, Needs: NeedsReports},
}

var globalOperations, modelOperations = split(operations)

func split(all []Operation) (global, ofModels []*Operation) {
	for i := range all {
		if o := &all[i]; o.Global {
			global = append(global, o)
		} else {
			ofModels = append(ofModels, o)
		}
	}
	return global, ofModels
}

// GlobalOperations are the operations of no single model. They must not be changed.
func GlobalOperations() []*Operation { return globalOperations }

// ModelOperations are the operations that a model may offer. They must not be changed.
func ModelOperations() []*Operation { return modelOperations }

// FindOperation returns the operation of that name, or nil. It must not be changed.
func FindOperation(name string) *Operation {
	for i := range operations {
		if operations[i].Name == name {
			return &operations[i]
		}
	}
	return nil
}

// OperationNames are the names of the operations that a model may offer.
func OperationNames() []string {
	var names []string
	for _, o := range modelOperations {
		names = append(names, o.Name)
	}
	return names
}

// ShowingOperations are the names of the operations of models that show rows, and neither change them nor tell what could.
func ShowingOperations() []string {
	var names []string
	for _, o := range modelOperations {
		if o.Effect == Shows {
			names = append(names, o.Name)
		}
	}
	return names
}

// Writes reports whether the operation changes rows.
func (o *Operation) Writes() bool { return o.Effect >= Adds }

// OfferedBy reports whether the exposure of a model offers the operation: it lists it, or lists none.
func (o *Operation) OfferedBy(m *Model) bool {
	return len(m.Operations) == 0 || slices.Contains(m.Operations, o.Name)
}

// ShowsRows reports whether rows of the model are to be seen: its exposure offers list or get. Else no other model shows
// them either, and nothing asks about them by way of another model: conditions tell values too.
func (m *Model) ShowsRows() bool {
	return listOperation.OfferedBy(m) || getOperation.OfferedBy(m)
}

// The operations that show rows; every relation that a call follows asks for them.
var listOperation, getOperation = FindOperation("list"), FindOperation("get")

// DeleteSelected is the name of an action that each model has if its rows can be deleted.
const DeleteSelected = "delete_selected"
