// Package confirmtext reads and renders the text of an action's question. The text is a small part of Go's templates: it
// can show what the action is about and choose between words, but it has no loops, definitions or functions that make
// text longer, so its cost is bounded by its own length.
//
// The API checks texts with it, and the server renders them.
package confirmtext

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
	"text/template/parse"
)

// The bounds of a text and of what is rendered from it, in bytes.
const (
	MaxText     = 4 << 10
	MaxRendered = 64 << 10
)

// allowed are the functions that a text may call.
var allowed = map[string]bool{
	"and": true, "or": true, "not": true, "eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true, "len": true, "index": true,
}

// A Text is one that was checked. It is safe for concurrent use.
type Text struct{ template *template.Template }

// Parse checks a text and makes it ready to be rendered. The error says what is wrong with it.
func Parse(text string) (*Text, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("the text has %d bytes; at most %d are allowed", len(text), MaxText)
	}
	t, err := template.New("message").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the text is not a valid template: %s", strings.TrimPrefix(err.Error(), "template: message:"))
	}
	if len(t.Templates()) > 1 {
		return nil, errors.New("the text must not use define or block")
	}
	if t.Tree == nil || t.Root == nil {
		return &Text{t}, nil
	}
	if err := checkNode(t.Root); err != nil {
		return nil, err
	}
	return &Text{t}, nil
}

// Check says what is wrong with a text; nil if it can be used.
func Check(text string) error {
	_, err := Parse(text)
	return err
}

// Render returns the text with the data in it. It is cut at MaxRendered bytes.
func (t *Text) Render(data any) (string, error) {
	var out capped
	if err := t.template.Execute(&out, data); err != nil && !errors.Is(err, errFull) {
		return "", err
	}
	return strings.ToValidUTF8(out.String(), ""), nil
}

// checkNode refuses what is not on the list of nodes that a text may have.
func checkNode(node parse.Node) error {
	switch n := node.(type) {
	case *parse.ListNode:
		return checkList(n)
	case *parse.TextNode, *parse.CommentNode, *parse.DotNode, *parse.FieldNode, *parse.NilNode, *parse.BoolNode, *parse.NumberNode, *parse.StringNode:
		return nil
	case *parse.ActionNode:
		return checkNode(n.Pipe)
	case *parse.IfNode:
		return checkBranch(&n.BranchNode)
	case *parse.WithNode:
		return checkBranch(&n.BranchNode)
	case *parse.ChainNode:
		return checkNode(n.Node)
	case *parse.IdentifierNode:
		if !allowed[n.Ident] {
			return fmt.Errorf("the text must not use %s", n.Ident)
		}
		return nil
	case *parse.PipeNode:
		return checkPipe(n)
	case *parse.RangeNode:
		return errors.New("the text must not use range")
	case *parse.TemplateNode:
		return errors.New("the text must not use template")
	}
	return errors.New("the text may use only values, if and with")
}

func checkList(list *parse.ListNode) error {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		if err := checkNode(node); err != nil {
			return err
		}
	}
	return nil
}

func checkBranch(n *parse.BranchNode) error {
	if err := checkPipe(n.Pipe); err != nil {
		return err
	}
	if err := checkList(n.List); err != nil {
		return err
	}
	return checkList(n.ElseList)
}

func checkPipe(pipe *parse.PipeNode) error {
	if pipe == nil {
		return nil
	}
	if len(pipe.Decl) > 0 {
		return errors.New("the text must not use variables")
	}
	for _, command := range pipe.Cmds {
		for _, argument := range command.Args {
			if err := checkNode(argument); err != nil {
				return err
			}
		}
	}
	return nil
}

// errFull ends a rendering that has written all that it may.
var errFull = errors.New("the text is at its maximum length")

// capped keeps the first MaxRendered bytes.
type capped struct{ strings.Builder }

// Write implements io.Writer.
func (c *capped) Write(p []byte) (int, error) {
	if room := MaxRendered - c.Len(); len(p) > room {
		c.Builder.Write(p[:room])
		return room, errFull
	}
	return c.Builder.Write(p)
}
