package tools

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/seal"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/action"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// statePurpose is the purpose for which the key of states is derived.
const statePurpose = "request state"

// state is what a client is given with a question and brings back with the answer, sealed: nothing is kept meanwhile.
type state struct {
	Caller  string `json:"c"`
	Request string `json:"r"`
	// Expires is in seconds since 1970.
	Expires int64  `json:"e"`
	Carried string `json:"k"`
}

// SealState makes the requestState of a question that a call asked. It is good for the same caller, tool and arguments, for as long as a
// confirmation is.
func (set *Set) SealState(token access.Token, tool string, arguments []byte, carried string) (string, error) {
	request, err := requestOf(tool, arguments)
	if err != nil {
		return "", err
	}
	s := state{Caller: token.Caller(), Request: request, Expires: set.settings.Now().Add(action.ConfirmationLife).Unix(), Carried: carried}
	plain, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	return seal.New(set.settings.SealKey, statePurpose).Seal(plain, []byte(set.settings.Endpoint)), nil
}

// The errors about a requestState. Each says what to do.
var (
	errStateForeign = errors.New("requestState is not one that this endpoint gave you for this call: send it back unchanged, with the same tool and arguments, or make the call again without requestState and inputResponses")
	errStateOld     = errors.New("requestState is older than 10 minutes: make the call again without requestState and inputResponses, and you are asked anew")
)

// OpenState returns what the requestState of a call carries. An error says why it is refused; the caller may read it.
func (set *Set) OpenState(token access.Token, tool string, arguments []byte, text string) (carried string, err error) {
	plain, ok := seal.New(set.settings.SealKey, statePurpose).Open(text, []byte(set.settings.Endpoint))
	var s state
	if !ok || json.Unmarshal(plain, &s) != nil || s.Caller != token.Caller() {
		return "", errStateForeign
	}
	if request, err := requestOf(tool, arguments); err != nil || s.Request != request {
		return "", errStateForeign
	}
	if !set.settings.Now().Before(time.Unix(s.Expires, 0)) {
		return "", errStateOld
	}
	return s.Carried, nil
}

// requestOf stands for a tool and its arguments, however they are written.
func requestOf(tool string, arguments []byte) (string, error) {
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = []byte("{}")
	}
	canonical, err := call.Canonical(arguments)
	if err != nil {
		return "", err
	}
	return call.HashOf(tool, string(canonical)), nil
}
