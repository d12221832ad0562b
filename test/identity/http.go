package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func clientTransport(ca *authority) *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.pool, MinVersion: tls.VersionTLS12}}
}

// An endpoint is one of the MCPEndpoints, at the local address that leads to it.
type endpoint struct {
	name, address string
	// admin is the address of its pod's admin port.
	admin string
}

// url is called by agents, and is the audience of their tokens.
func (e endpoint) url() string { return "http://" + e.address + "/mcp/" }

var date = regexp.MustCompile(`(?m)^Date: .*$`)

// wholeAnswer is all that comes back for a token, but for the date: the bytes on the wire.
func (e endpoint) wholeAnswer(ctx context.Context, token string) (string, error) {
	connection, err := (&net.Dialer{Timeout: time.Minute}).DialContext(ctx, "tcp", e.address)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return "", err
	}
	const body = `{"method":"tools/list"}`
	request := fmt.Sprintf("POST /mcp/ HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		e.address, token, len(body), body)
	go func() {
		_, _ = io.WriteString(connection, request) // a server need not read all of what is too long
	}()
	var answer bytes.Buffer
	if _, err := io.Copy(&answer, bufio.NewReader(connection)); err != nil && answer.Len() == 0 {
		return "", err
	}
	return date.ReplaceAllString(answer.String(), "Date: -\r"), nil
}

var patient = &http.Client{Timeout: time.Minute}

// post sends a body with a token, and returns the status and body of the answer.
func (e endpoint) post(ctx context.Context, token, body string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url(), strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := patient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

// status is the HTTP status of a harmless request with the token; 0 is no answer.
func (e endpoint) status(ctx context.Context, token string) int {
	status, _, err := e.post(ctx, token, `{"method":"tools/list"}`)
	if err != nil {
		return 0
	}
	return status
}

// call calls a tool, and returns its text.
func (e endpoint) call(ctx context.Context, token, tool, arguments string) (string, error) {
	status, body, err := e.post(ctx, token, fmt.Sprintf(`{"method":"tools/call","name":%q,"arguments":%s}`, tool, arguments))
	if err != nil {
		return "", err
	}
	var answer struct{ Content []struct{ Text string } }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK || len(answer.Content) != 1 {
		return "", fmt.Errorf("%s: %d %s", tool, status, body)
	}
	return answer.Content[0].Text, nil
}

// who is the name of the MCPToken that the caller has.
func (e endpoint) who(ctx context.Context, token string) (string, error) {
	text, err := e.call(ctx, token, "list_self", `{"fields":["name"]}`)
	if err != nil {
		return "", err
	}
	var answer struct{ Results []struct{ Name string } }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Results) != 1 {
		return "", fmt.Errorf("not one row: %s", text)
	}
	return answer.Results[0].Name, nil
}

var refusal = regexp.MustCompile(`(?m)^mcp_admin_server_callers_refused_total\{reason="(\w+)"\} (\d+)$`)

// refusals are how many callers the pod has refused, by reason; only the operator learns them.
func (e endpoint) refusals(ctx context.Context) (map[string]int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.admin+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := patient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, match := range refusal.FindAllStringSubmatch(string(text), -1) {
		if counts[match[1]], err = strconv.Atoi(match[2]); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// patience ends a wait for what never comes. No verdict is about how long something took: the report has the times, and MCP_TEST_TIMING=1
// makes them count.
const patience = 10 * time.Minute

// timed reports whether times count.
func timed() bool { return os.Getenv("MCP_TEST_TIMING") != "" }

// within polls until a condition holds, and returns how long that took; false if it does not come.
func within(ctx context.Context, holds func() bool) (time.Duration, bool) {
	for began := time.Now(); ; {
		if holds() {
			return time.Since(began), true
		}
		if time.Since(began) > patience || ctx.Err() != nil {
			return time.Since(began), false
		}
		time.Sleep(5 * time.Millisecond)
	}
}
