package contract

import (
	"fmt"
	"slices"
	"text/template"
	"text/template/parse"
)

// messageFunctions are the functions that a confirmation's message may call. None of them makes a text longer.
var messageFunctions = []string{"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "len", "index"}

// ParseMessage reads a Confirmation's message. It may have text, values, if and with, so that what it writes is bounded
// by its own length and the values; it may not repeat, call or format anything.
func ParseMessage(text string) (*template.Template, error) {
	t, err := template.New("message").Parse(text)
	if err != nil {
		return nil, err
	}
	if len(t.Templates()) > 1 {
		return nil, fmt.Errorf("define and block may not be used")
	}
	if t.Tree == nil {
		return t, nil
	}
	return t, checkMessage(t.Root)
}

// checkMessage returns what a piece of a message may not have.
func checkMessage(node parse.Node) error {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		return checkMessages(n.Nodes)
	case *parse.TextNode, *parse.CommentNode:
		return nil
	case *parse.ActionNode:
		return checkPipe(n.Pipe)
	case *parse.IfNode:
		return checkBranch(&n.BranchNode)
	case *parse.WithNode:
		return checkBranch(&n.BranchNode)
	}
	return fmt.Errorf("%s may not be used; use text, {{.field}}, {{if}} and {{with}}", node)
}

func checkMessages(nodes []parse.Node) error {
	for _, n := range nodes {
		if err := checkMessage(n); err != nil {
			return err
		}
	}
	return nil
}

func checkBranch(b *parse.BranchNode) error {
	for _, err := range []error{checkPipe(b.Pipe), checkMessage(b.List), checkMessage(b.ElseList)} {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkPipe allows values and messageFunctions.
func checkPipe(pipe *parse.PipeNode) error {
	for _, command := range pipe.Cmds {
		for _, argument := range command.Args {
			switch n := argument.(type) {
			case *parse.PipeNode:
				if err := checkPipe(n); err != nil {
					return err
				}
			case *parse.ChainNode:
				return fmt.Errorf("%s may not be used", n)
			case *parse.IdentifierNode:
				if !slices.Contains(messageFunctions, n.Ident) {
					return fmt.Errorf("the function %s may not be used", n.Ident)
				}
			}
		}
	}
	return nil
}
