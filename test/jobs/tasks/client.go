package main

import (
	"bytes"
	"encoding/json"
	"errors"
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
	// failing is a step that always fails.
	failing step
}

// object is a JSON object.
type object = map[string]any

// refusal is the server's answer to a call that it does not take.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"error"`
	// Step is the step of a transaction that failed.
	Step *int `json:"step"`
}

func (r *refusal) Error() string { return r.Code + ": " + r.Message }

// call makes one request, and reads the tool's answer.
func (c *client) call(tool string, arguments object) (any, error) {
	answer, length, err := c.send(tool, arguments)
	c.calls, c.bytes = c.calls+1, c.bytes+length
	if err != nil {
		return nil, err
	}
	return readJSON([]byte(answer))
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
	var told refusal
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		return "", length, err
	}
	return "", length, &told
}

// step is a step of a transaction.
type step struct {
	Tool      string `json:"tool"`
	Arguments object `json:"arguments"`
	Expect    object `json:"expect,omitempty"`
}

// transact does all steps or none. Before, it tries the same with a last step that fails, which does not count: if that kept
// anything, the end state shows it.
func (c *client) transact(steps []step) error {
	_, _, tried := c.send("transact", object{"steps": append(steps[:len(steps):len(steps)], c.failing)})
	c.changes++
	_, err := c.call("transact", object{"steps": steps})
	var failed *refusal
	if err == nil && (!errors.As(tried, &failed) || failed.Code != "conflict" || failed.Step == nil || *failed.Step != len(steps)) {
		return fmt.Errorf("a transaction that should fail at its last step, step %d, answered: %s", len(steps), fmt.Sprint(tried))
	}
	return err
}
