package harness

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// AnswerSchemas are the schemas of answers by tool, as a tools/list has them.
type AnswerSchemas map[string]json.RawMessage

// ReadAnswerSchemas reads the answer of tools/list, in its simple form.
func ReadAnswerSchemas(body string) (AnswerSchemas, error) {
	var list struct {
		Tools []struct {
			Name         string
			OutputSchema json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		return nil, fmt.Errorf("%w in %s", err, body)
	}
	schemas := AnswerSchemas{}
	for _, tool := range list.Tools {
		var schema struct{ Type string }
		if err := json.Unmarshal(tool.OutputSchema, &schema); err != nil || schema.Type != "object" {
			return nil, fmt.Errorf("%s has no outputSchema of an object", tool.Name)
		}
		schemas[tool.Name] = tool.OutputSchema
	}
	return schemas, nil
}

// resolved are schemas by their text. To read one takes longer than most calls, and many endpoints of a test list the same.
var resolved struct {
	sync.Mutex
	byText map[string]*jsonschema.Resolved
}

// mostResolved is how many schemas are kept; then it begins anew.
const mostResolved = 1000

// resolve reads a schema.
func resolve(text json.RawMessage) (*jsonschema.Resolved, error) {
	resolved.Lock()
	defer resolved.Unlock()
	if schema := resolved.byText[string(text)]; schema != nil {
		return schema, nil
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	whole, err := schema.Resolve(nil)
	if err != nil {
		return nil, err
	}
	if resolved.byText == nil || len(resolved.byText) >= mostResolved {
		resolved.byText = map[string]*jsonschema.Resolved{}
	}
	resolved.byText[string(text)] = whole
	return whole, nil
}

// Check holds the structuredContent of an answer against its text and the tool's schema. A tool that is not listed has no
// schema, and an error has no structuredContent.
func (s AnswerSchemas) Check(tool, text string, structured json.RawMessage, isError bool) error {
	switch schema := s[tool]; {
	case isError && structured != nil:
		return fmt.Errorf("an error has structuredContent: %s", structured)
	case isError:
		return nil
	case string(structured) != text:
		return fmt.Errorf("structuredContent is %s, and the text %s", structured, text)
	case schema != nil:
		resolved, err := resolve(schema)
		if err != nil {
			return fmt.Errorf("outputSchema of %s: %w", tool, err)
		}
		var instance any
		if err := json.Unmarshal(structured, &instance); err != nil {
			return err
		}
		if err := resolved.Validate(instance); err != nil {
			return fmt.Errorf("structuredContent %s is not what outputSchema says: %w", structured, err)
		}
	}
	return nil
}

// listedSchemas are the schemas that tools/list gave to each token. Safe for concurrent use.
type listedSchemas struct {
	mu      sync.Mutex
	byToken map[string]AnswerSchemas
}

// forget drops what was listed: the models may be others by now.
func (l *listedSchemas) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byToken = map[string]AnswerSchemas{}
}

// of returns the schemas that the token is given.
func (l *listedSchemas) of(e *Endpoint, token string) (AnswerSchemas, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	schemas, listed := l.byToken[token]
	if !listed {
		_, body := e.Post(token, `{"method":"tools/list"}`)
		var err error
		if schemas, err = ReadAnswerSchemas(body); err != nil {
			return nil, err
		}
		l.byToken[token] = schemas
	}
	return schemas, nil
}

// checkStructured holds an answer against the schema that its tool lists.
func (e *Endpoint) checkStructured(token, tool, text string, structured json.RawMessage, isError bool) error {
	if !e.last.Config.Endpoint.Catalogue.StructuredContent {
		if structured != nil {
			return fmt.Errorf("there is structuredContent: %s", structured)
		}
		return nil
	}
	var err error
	for range 2 { // a second time with a new list: the table may have changed since
		var schemas AnswerSchemas
		if schemas, err = e.schemas.of(e, token); err == nil {
			err = schemas.Check(tool, text, structured, isError)
		}
		if err == nil {
			return nil
		}
		e.schemas.forget()
	}
	return err
}
