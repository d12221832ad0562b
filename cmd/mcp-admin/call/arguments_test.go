package call

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var listTool = &mcp.Tool{Name: "list_order", InputSchema: json.RawMessage(`{"type":"object","properties":{
	"limit":{"type":"integer"}, "search":{"type":"string"}, "id":{"type":["string","integer"]}, "exact":{"type":"boolean"},
	"fields":{"type":"array","items":{"type":"string"}}, "ids":{"type":"array","items":{"type":"integer"}},
	"filters":{"type":"object"}, "data":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":["integer","null"]}}},
	"at":{"anyOf":[{"type":"number"},{"type":"string"}]}}}`)}

func TestValuesHaveTheTypesOfTheSchema(t *testing.T) {
	for pairs, want := range map[string]string{
		"limit=5":                          `{"limit":5}`,
		"search=5":                         `{"search":"5"}`,
		`search="a"`:                       `{"search":"\"a\""}`,
		"search=a=b":                       `{"search":"a=b"}`,
		"search=":                          `{"search":""}`,
		"id=7":                             `{"id":7}`,
		"id=7-b":                           `{"id":"7-b"}`,
		"exact=true":                       `{"exact":true}`,
		"fields=name":                      `{"fields":["name"]}`,
		"fields=a fields=b":                `{"fields":["a","b"]}`,
		`fields=["a","b"]`:                 `{"fields":["a","b"]}`,
		"ids=1 ids=2":                      `{"ids":[1,2]}`,
		`filters={"total__gte":10}`:        `{"filters":{"total__gte":10}}`,
		"filters.total__gte=10":            `{"filters":{"total__gte":10}}`,
		"filters.city=Bern filters.x=true": `{"filters":{"city":"Bern","x":true}}`,
		"data.name=7 data.age=7":           `{"data":{"age":7,"name":"7"}}`,
		"data.age=null":                    `{"data":{"age":null}}`,
		"at=1.50":                          `{"at":1.50}`,
		"at=now":                           `{"at":"now"}`,
		"limit=12345678901234567890":       `{"limit":12345678901234567890}`,
	} {
		got, err := argumentsOf(listTool, strings.Fields(pairs), "")
		encoded, _ := json.Marshal(got)
		if err != nil || string(encoded) != want {
			t.Errorf("%s: %s, %v, want %s", pairs, encoded, err, want)
		}
	}
}

// A list of tools may leave out arguments that work: the server says which it does not know.
func TestArgumentsThatTheListLeavesOutAreSent(t *testing.T) {
	for pairs, want := range map[string]string{
		"total=true":                `{"total":true}`,
		"format=columns":            `{"format":"columns"}`,
		"max_bytes=1000":            `{"max_bytes":1000}`,
		"measures.n.count=*":        `{"measures":{"n":{"count":"*"}}}`,
		`having={"n__gte":2}`:       `{"having":{"n__gte":2}}`,
		"data.nom=x data.name=Anna": `{"data":{"name":"Anna","nom":"x"}}`,
	} {
		got, err := argumentsOf(listTool, strings.Fields(pairs), "")
		encoded, _ := json.Marshal(got)
		if err != nil || string(encoded) != want {
			t.Errorf("%s: %s, %v, want %s", pairs, encoded, err, want)
		}
	}
}

func TestWrongArgumentsAreNotSent(t *testing.T) {
	for pairs, want := range map[string]string{
		"limit=five": `limit: "five" is not what the tool takes`,
		"limit":      "arguments are KEY=VALUE",
		"=5":         "arguments are KEY=VALUE",
		"exact=yes":  "exact:",
	} {
		if got, err := argumentsOf(listTool, strings.Fields(pairs), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", pairs, got, err)
		}
	}
	for _, whole := range []string{"[]", "null", "{", "{} {}"} {
		if got, err := argumentsOf(listTool, nil, whole); err == nil {
			t.Errorf("--json %s: %v", whole, got)
		}
	}
}

func TestPairsGoOverTheWholeArguments(t *testing.T) {
	got, err := argumentsOf(listTool, []string{"limit=2", "filters.a=1"}, `{"limit":1,"filters":{"b":2}}`)
	encoded, _ := json.Marshal(got)
	if want := `{"filters":{"a":1,"b":2},"limit":2}`; err != nil || string(encoded) != want {
		t.Errorf("%s, %v, want %s", encoded, err, want)
	}
}
