package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// client calls the tools of a server, and counts.
type client struct {
	*harness.Endpoint
	token string
	// calls is the number of requests, bytes the length of their bodies and of the answers'; changes are the calls among
	// them that changed something.
	calls, bytes, changes int
}

// object is a JSON object.
type object = map[string]any

// refusal is the server's answer to a call that it does not take.
type refusal struct{ Code, Message string }

func (r *refusal) Error() string { return r.Code + ": " + r.Message }

// call makes one request, and reads the tool's answer.
func (c *client) call(tool string, arguments object, into any) error {
	answer, length, err := c.send(tool, arguments)
	c.calls, c.bytes = c.calls+1, c.bytes+length
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal([]byte(answer), into)
}

// send makes one request, and returns the tool's answer, and how long request and answer were.
func (c *client) send(tool string, arguments object) (text string, length int, err error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object{"method": "tools/call", "name": tool, "arguments": arguments}); err != nil {
		return "", 0, err
	}
	request := bytes.TrimSpace(body.Bytes())
	status, reply := c.Post(c.token, string(request))
	length = len(request) + len(reply)
	var outer struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal([]byte(reply), &outer); err != nil || status != http.StatusOK || len(outer.Content) != 1 {
		return "", length, fmt.Errorf("%s: %d %.300s", tool, status, reply)
	}
	text = outer.Content[0].Text
	if !outer.IsError {
		return text, length, nil
	}
	var told struct{ Error, Code string }
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		return "", length, err
	}
	return "", length, &refusal{told.Code, told.Error}
}

// list reads rows of a model that meet filters.
func (c *client) list(model string, filters object, order string, into any, fields ...string) error {
	arguments := object{"filters": filters, "fields": fields, "total": "none"}
	if order != "" {
		arguments["order_by"] = []string{order}
	}
	return c.call("list_"+model, arguments, &struct{ Results any }{into})
}

// step is a step of a transaction.
type step struct {
	Tool      string `json:"tool"`
	Arguments object `json:"arguments"`
	Expect    object `json:"expect,omitempty"`
}

// of is a value of an earlier step's answer.
func of(step int, path string) object { return object{"_step": step, "path": path} }

// failing is a step that no shop can do: what came before it must not be kept.
var failing = step{Tool: "get_orders", Arguments: object{"id": "no such order"}}

// transact does all steps or none. Before, it tries the same with a last step that fails, which does not count: if that kept
// anything, the end state shows it.
func (c *client) transact(steps ...step) error {
	if _, _, err := c.send("transact", object{"steps": append(steps[:len(steps):len(steps)], failing)}); err == nil {
		return fmt.Errorf("a transaction whose last step fails was kept")
	}
	c.changes++
	return c.call("transact", object{"steps": steps}, nil)
}
