package call

import "slices"

// KeyName is the argument of calls that are to happen once, however often they are sent (docs/design/transact.md, "Once").
const KeyName = "idempotency_key"

// MaxKey is the most characters of a key.
const MaxKey = 128

// KeyArgument is the argument of the operations that can happen once. The call takes it before the operation reads its
// arguments.
func KeyArgument[A any]() Argument[A] {
	return Argument[A]{Name: KeyName, Into: func(*A) any { return new(string) }}
}

// KeyHelp describes the argument, once in a list.
const KeyHelp = "a text of your choice: if an answer is lost, the same call with the same key happens once and answers the same"

// Replayed is the answer if there is none to show: it was not kept, or the endpoint's key or the token's rights changed since.
type Replayed struct {
	Success  bool   `json:"success"`
	Replayed bool   `json:"replayed"`
	Call     string `json:"call"`
	Notice   string `json:"notice"`
}

// orReplayed is the schema of an answer that may come again, as it was or without what it showed.
func orReplayed(answer Schema) Schema {
	forms := answer.AnyOf
	if len(answer.Properties) > 0 {
		forms = []Schema{answer}
	}
	for _, form := range forms {
		form.Properties["replayed"] = Schema{Type: Types{"boolean"}}
	}
	return OneOf(append(slices.Clone(forms), PayloadSchema[Replayed]())...)
}
