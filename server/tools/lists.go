package tools

import (
	"bytes"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/gzipped"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// A List is a JSON array that many requests share, as it is or, if the client takes that and it is worth it, compressed. Nobody
// may change it.
type List struct {
	Plain  []byte
	Packed *gzipped.Text
}

// Size implements call.Kept.
func (l List) Size() int {
	if l.Packed != nil {
		return l.Packed.Size()
	}
	return len(l.Plain)
}

// ListOf is the list of an array.
func ListOf(array []byte, packed bool) List {
	if packed && len(array) >= gzipped.Least {
		return List{Packed: gzipped.Compress(array)}
	}
	return List{Plain: bytes.Clone(array)} // without the room that the array has grown
}

// The kinds of texts on a set's shelf, beside the ones of tools.
const (
	toolsText        = "tools"
	packedToolsText  = "tools, compressed"
	resourcesText    = "resources"
	templatesText    = "templates"
	instructionsText = "instructions"
)

// Tools is the array of tools/list: what the token may use of the exposed models, as the view shows it. packed asks for its
// compressed form.
func (set *Set) Tools(token access.Token, view View, packed bool) List {
	what := toolsText
	if packed {
		what = packedToolsText
	}
	return call.Take(set.shelf, view.of(what, token), func() List { return ListOf(set.appendTools(nil, token.Anyone(), view), packed) })
}

// AppendResources appends the JSON array of resources/list: those of advertised models that the view shows and that the
// token can read.
func (set *Set) AppendResources(dst []byte, token access.Token, view View) []byte {
	list := call.Take(set.shelf, view.of(resourcesText, token), func() call.Text { return set.appendResources(nil, token.Anyone(), view) })
	return append(dst, list...)
}

// AppendResourceTemplates appends the JSON array of resources/templates/list: those that the token can read for one of the
// models that the view shows. As with calls, the model need not be advertised.
func (set *Set) AppendResourceTemplates(dst []byte, token access.Token, view View) []byte {
	list := call.Take(set.shelf, view.of(templatesText, token), func() call.Text { return set.appendTemplates(nil, token.Anyone(), view) })
	return append(dst, list...)
}

// Instructions tell an agent in a few lines how the endpoint of that name works, what of it the token may see, and how to
// use the tools that its list has.
func (set *Set) Instructions(endpoint string, token access.Token, view View) string {
	key := view.of(instructionsText, token)
	key.About += "\x00" + endpoint
	return string(call.Take(set.shelf, key, func() call.Text { return call.Text(set.instructions(endpoint, token.Anyone(), view)) }))
}

// of is the key of a text that depends on the view.
func (v View) of(what string, token access.Token) call.ShelfKey {
	return call.ShelfKey{What: what, About: v.key(), Rights: token.RightsKey()}
}
