package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// request is what a caller asks for, whatever the rows are.
type request struct {
	// sum stands for the caller, the operation and its arguments.
	sum [sha256.Size]byte
	// arguments are the call's in one form, without those that are not part of what is asked for.
	arguments json.RawMessage
	caller    string
	reason    string
}

// notAsked are arguments that say nothing of what is asked for: the answer to a question is another one each time.
var notAsked = []string{call.ReasonName, "confirm", "confirmation_token"}

// takeReason takes the caller's reason out of the arguments.
func takeReason(c *call.Call) (string, error) {
	raw, sent := c.Given.Find(call.ReasonName)
	if !sent {
		return "", nil
	}
	var reason string
	if err := call.Decode(call.ReasonName, raw, &reason); err != nil {
		return "", err
	}
	if utf8.RuneCountInString(reason) > contract.MaxApprovalReason {
		return "", call.Invalid("%s must have at most %d characters", call.ReasonName, contract.MaxApprovalReason)
	}
	c.Given.Members = c.Given.Without(call.ReasonName)
	return call.OneLine(reason, contract.MaxApprovalReason), nil
}

// requestOf is what a call asks for.
func requestOf(c *call.Call, reason string) (request, error) {
	given, err := json.Marshal(c.Given.Without(notAsked...))
	if err != nil {
		return request{}, err
	}
	if given, err = call.Canonical(given); err != nil {
		return request{}, err
	}
	r := request{arguments: given, caller: c.Token.Caller(), reason: reason}
	whole, err := json.Marshal([]any{r.caller, c.Op.Name, c.Model, r.arguments})
	if err != nil {
		return request{}, err
	}
	r.sum = sha256.Sum256(whole)
	return r, nil
}

// digest stands for who would do what, by which policies, with which consequences.
func (h *held) digest(met []*policy, changes *call.Changes) (string, error) {
	c := h.call
	sums := make([]string, len(met))
	for i, p := range met {
		sums[i] = p.Sum
	}
	whole, err := json.Marshal([]any{
		c.Settings.Endpoint, c.Token.Name(), c.Token.UID(), h.request.caller, c.Op.Name, c.Model, h.request.arguments,
		sums, consequences(changes.List()), changes.Unnamed(), statementsOf(c),
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(whole)
	return hex.EncodeToString(sum[:]), nil
}

// statementsOf are the declarations of the actions that a call names: an action that says something else by now is another one.
func statementsOf(c *call.Call) []any {
	var all []any
	for _, m := range c.Catalog.Models() {
		for _, a := range m.Actions {
			if c.Record.Operation == call.ActionPrefix+a.Name && m == c.Scope.Model() || len(c.Steps) > 0 && namesAction(c.Steps, m.Name, a.Name) {
				all = append(all, a.Action)
			}
		}
	}
	return all
}

// namesAction reports whether one of the steps may run an action of a model.
func namesAction(steps []call.Step, model, action string) bool {
	for _, s := range steps {
		if s.Op.Name == contract.ApproveAction && (s.Model == model || s.Model == "") && strings.Contains(string(s.Arguments), action) {
			return true
		}
	}
	return false
}
