package mysql

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// token is a piece of an expression as the servers write it: a name in backquotes, a literal, or a word or sign in
// lower case.
type token struct {
	kind tokenKind
	text string
}

type tokenKind uint8

const (
	aWord tokenKind = iota
	aName
	aString
	aNumber
)

var tokenForm = regexp.MustCompile("(?s)^(?:(`(?:[^`]|``)*`)|(?:_[a-z0-9]+)?('(?:[^'\\\\]|''|\\\\.)*')|(b'[01]*'|x'[0-9a-fA-F]*'|0x[0-9a-fA-F]*|[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|([a-zA-Z_][a-zA-Z_0-9]*|<=>|<=|>=|<>|!=|[^ ]))")

var escapes = strings.NewReplacer(`\'`, `'`, "''", "'", `\\`, `\`, `\"`, `"`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\0`, "\x00", `\Z`, "\x1a")

// tokens cuts an expression into its pieces.
func tokens(expression string) (all []token) {
	for rest := strings.TrimSpace(expression); rest != ""; rest = strings.TrimSpace(rest) {
		match := tokenForm.FindStringSubmatch(rest)
		if match == nil {
			return append(all, token{aWord, rest}) // a token that no reader knows
		}
		rest = rest[len(match[0]):]
		switch {
		case match[1] != "":
			all = append(all, token{aName, strings.ReplaceAll(match[1][1:len(match[1])-1], "``", "`")})
		case match[2] != "":
			all = append(all, token{aString, escapes.Replace(match[2][1 : len(match[2])-1])})
		case match[3] != "":
			all = append(all, token{aNumber, match[3]})
		default:
			all = append(all, token{aWord, strings.ToLower(match[4])})
		}
	}
	return all
}

var (
	wholeNumber  = regexp.MustCompile(`^-?[0-9]+$`)
	plainNumber  = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	plainDate    = regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`)
	plainTime    = regexp.MustCompile(`^-?[0-9]{2,3}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?$`)
	plainMoment  = regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?$`)
	bitLiteral   = regexp.MustCompile(`^b'([01]+)'$`)
	bytesLiteral = regexp.MustCompile(`^(?:0x|x')((?:[0-9a-fA-F]{2})*)'?$`)
)

// constant returns a literal in the text form of the column's kind; false if it is not a value of that kind.
func constant(c *database.Column, literal token) (string, bool) {
	text, isString := literal.text, literal.kind == aString
	switch c.Kind {
	case database.Boolean:
		return truth(text)
	case database.Integer:
		return text, wholeNumber.MatchString(text)
	case database.Decimal:
		return text, plainNumber.MatchString(text)
	case database.Float:
		_, err := strconv.ParseFloat(text, 64)
		return text, err == nil
	case database.Text, database.UUID:
		return text, isString
	case database.Enum:
		return text, isString && slices.Contains(c.Choices, text)
	case database.Date:
		return text, isString && plainDate.MatchString(text)
	case database.Time:
		return string(withoutZeros([]byte(text))), isString && plainTime.MatchString(text)
	case database.Timestamp, database.TimestampTZ:
		return string(appendMoment(nil, c, []byte(text))), isString && plainMoment.MatchString(text)
	case database.Bytes:
		if digits := bytesLiteral.FindStringSubmatch(text); digits != nil && !isString {
			value, err := hex.DecodeString(digits[1])
			return base64.StdEncoding.EncodeToString(value), err == nil
		}
		return base64.StdEncoding.EncodeToString([]byte(text)), isString
	case database.JSON:
		return text, isString && json.Valid([]byte(text))
	case database.Other:
		if digits := bitLiteral.FindStringSubmatch(text); digits != nil && isBits(c) {
			return strings.Repeat("0", max(c.MaxLength-len(digits[1]), 0)) + digits[1], true
		}
		return text, isString && len(c.Choices) > 0
	}
	return "", false
}

// truth returns the form of a number in a tinyint(1) or bit(1) column.
func truth(text string) (string, bool) {
	switch text {
	case "0", "b'0'":
		return "false", true
	case "1", "b'1'":
		return "true", true
	}
	return text, wholeNumber.MatchString(text)
}

// defaultValue returns the constant of a column's default; nil if the server computes it. MariaDB writes it as an
// expression; MySQL writes the value itself, except for bits and bytes.
func defaultValue(c *database.Column, text string, isExpression bool) *string {
	literal := token{aString, text}
	if isExpression || bitLiteral.MatchString(text) && isBits(c) || c.Kind == database.Bytes {
		all := tokens(text)
		if len(all) == 2 && all[0].text == "-" && all[1].kind == aNumber {
			all = []token{{aNumber, "-" + all[1].text}}
		}
		if len(all) != 1 || all[0].kind != aString && all[0].kind != aNumber {
			return nil
		}
		literal = all[0]
	}
	if value, ok := constant(c, literal); ok {
		return &value
	}
	return nil
}
