package compile

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// tokensInParts are the tokens by the part of the wanted layout in which they lie, so that a part is written without a look at
// all tokens. It is empty while there is no main part.
type tokensInParts [][]*tokenState

// put adds a token.
func (in *tokensInParts) put(state *tokenState, parts int) {
	if *in == nil {
		*in = make(tokensInParts, parts)
	}
	at := partOf(state.hash, len(*in))
	(*in)[at] = append((*in)[at], state)
}

// remove takes a token away.
func (in tokensInParts) remove(state *tokenState) {
	if len(in) == 0 {
		return
	}
	at := partOf(state.hash, len(in))
	if i := slices.Index(in[at], state); i >= 0 {
		last := len(in[at]) - 1
		in[at][i], in[at][last] = in[at][last], nil
		in[at] = in[at][:last]
	}
}

// of yields the tokens that lie in the part of that index, now or in the layout before.
func (in tokensInParts) of(index int, layout contract.Layout) iter.Seq[*tokenState] {
	return func(yield func(*tokenState) bool) {
		step := len(in)
		if index < layout.Before {
			step = layout.Before
		}
		for i := index; i < len(in); i += step {
			for _, state := range in[i] {
				if !yield(state) {
					return
				}
			}
		}
	}
}

// layOut puts the tokens into so many parts.
func (in *tokensInParts) layOut(tokens map[types.NamespacedName]*tokenState, parts int) {
	*in = nil
	for _, state := range tokens {
		in.put(state, parts)
	}
}
