package steps

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// literalMember is the member that makes an object in a step's arguments a literal: {"_literal": value} is the value as it
// stands, whatever it looks like.
const literalMember = "_literal"

// referenceForm is an example of a reference, for messages.
const referenceForm = `{"_step":0,"path":"object.id"}`

// foreignForms are references to answers of steps as other languages write them. Nobody but a caller who means such a
// reference writes them; stored as a text, they would be wrong data that nobody notices.
var foreignForms = []*regexp.Regexp{
	regexp.MustCompile(`^\{\{.+\}\}$`), // {{steps[0].id}}, {{id}}
	regexp.MustCompile(`^\$\{.+\}$`),   // ${steps[0].id}
	regexp.MustCompile(`(?i)\{\{?\s*\$?(steps?|results?|outputs?|prev(ious)?|response)\b[^}]*\}`),       // … {{ steps.0.id }} …
	regexp.MustCompile(`(?i)\$\{\s*(steps?|results?|outputs?|prev(ious)?|response)[^}]*\}`),             // … ${step_0.id} …
	regexp.MustCompile(`(?i)^[$@#]\d+(\.[a-z_]|\[)\S*$`),                                                // $0.id, $0[id]
	regexp.MustCompile(`(?i)^[$@]\.?(steps?|results?|outputs?|prev(ious)?|response)[\d_]*([.\[]\S*)?$`), // $steps[0].id, $prev.id
	regexp.MustCompile(`(?i)^(steps?|results?|outputs?)[_.]?(\[\d+\]|\d+)(\.[a-z_][\w.\[\]]*|\[\S*)$`),  // steps[0].object.id, step0.id
	regexp.MustCompile(`(?i)^[<\[({]+[^<>\[\](){}]*\bstep[ _#-]?\[?\d+[^<>(){}]*[>\])}]+$`),             // <id of step 0>
}

// maxForeignForm is how many bytes of a text are looked at for the form of a reference.
const maxForeignForm = 4 << 10

// refuseForeignForms refuses a text in a step's arguments that is a reference in the form of another language. It does not look
// into references and literals.
func refuseForeignForms(raw json.RawMessage) error {
	var open []int // where the objects and arrays begin that are still open
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			open = append(open, i)
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			end := jsontext.End(raw, i)
			behind := jsontext.SkipSpace(raw, end)
			named := behind < len(raw) && raw[behind] == ':'
			switch text := raw[i:end]; {
			case named && (string(text) == `"`+stepMember+`"` || string(text) == `"`+literalMember+`"`):
				end = jsontext.End(raw, open[len(open)-1])
				open = open[:len(open)-1]
			case !named && isForeignForm(text) && !namesStep(raw[open[len(open)-1]:]):
				return call.Invalid(`%s would be stored as a text: a value of an earlier step is named by %s, without quotes around it; if the text itself is meant, send {"%s": %[1]s}`,
					lookup.Excerpt(text), referenceForm, literalMember)
			}
			i = end - 1
		}
	}
	return nil
}

// namesStep reports whether an object is a reference.
func namesStep(object []byte) bool {
	_, refers := jsontext.Member(object, stepMember)
	return refers
}

// isForeignForm reports whether a JSON string looks like a reference of another language.
func isForeignForm(quoted []byte) bool {
	if len(quoted) > maxForeignForm || !bytes.ContainsAny(quoted, "$@#{[<(.0123456789") {
		return false
	}
	text := strings.TrimSpace(call.PlainText(quoted))
	for _, form := range foreignForms {
		if form.MatchString(text) {
			return true
		}
	}
	return false
}
