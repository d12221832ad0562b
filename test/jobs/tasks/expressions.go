package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
)

// values can be named by expressions.
type values map[string]any

// givenName is the name of an action's arguments.
const givenName = "arguments"

// environment has all that the expressions of a file may use: the Common Expression Language with more for lists and
// texts, and money, which the tasks have as texts.
func environment() (*cel.Env, error) {
	return cel.NewEnv(
		ext.Lists(), ext.Strings(), ext.TwoVarComprehensions(),
		cel.Variable(givenName, cel.MapType(cel.StringType, cel.DynType)),
		cel.Function("cents", cel.Overload("cents_text", []*cel.Type{cel.StringType}, cel.IntType, cel.UnaryBinding(centsOf))),
		cel.Function("money", cel.Overload("money_int", []*cel.Type{cel.IntType}, cel.StringType, cel.UnaryBinding(moneyOf))),
		cel.Function("sum", cel.Overload("sum_ints", []*cel.Type{cel.ListType(cel.IntType)}, cel.IntType, cel.UnaryBinding(sumOf))),
	)
}

// compile compiles an expression over the names that are known where it stands.
func compile(env *cel.Env, expression string) (cel.Program, error) {
	tree, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	return env.Program(tree)
}

// evaluate gives an expression's value.
func evaluate(program cel.Program, names values) (any, error) {
	found, _, err := program.Eval(map[string]any(names))
	if err != nil {
		return nil, err
	}
	return plain(found)
}

// plain is a value as JSON has it, without the types of CEL.
func plain(value ref.Val) (any, error) {
	switch v := value.(type) {
	case types.Null:
		return nil, nil
	case types.Int, types.String, types.Bool, types.Double:
		return v.Value(), nil
	case traits.Mapper:
		all := object{}
		for each := v.Iterator(); each.HasNext() == types.True; {
			key := each.Next()
			name, ok := key.(types.String)
			if !ok {
				return nil, fmt.Errorf("%v is no name of a member", key)
			}
			member, err := plain(v.Get(key))
			if err != nil {
				return nil, err
			}
			all[string(name)] = member
		}
		return all, nil
	case traits.Lister:
		all := []any{}
		for each := v.Iterator(); each.HasNext() == types.True; {
			item, err := plain(each.Next())
			if err != nil {
				return nil, err
			}
			all = append(all, item)
		}
		return all, nil
	}
	return nil, fmt.Errorf("JSON has no %s; make a text of it with string()", value.Type().TypeName())
}

// readJSON reads a document for expressions: whole numbers are integers.
func readJSON(text []byte) (any, error) {
	var value any
	if err := decode(text, &value); err != nil {
		return nil, err
	}
	return withIntegers(value)
}

func withIntegers(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64()
	case map[string]any:
		for name := range v {
			if v[name], err = withIntegers(v[name]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = withIntegers(v[i]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// centsOf reads an amount as the server shows it: a decimal of at most two places.
func centsOf(text ref.Val) ref.Val {
	n, err := readMoney(string(text.(types.String)))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Int(n)
}

func moneyOf(cents ref.Val) ref.Val { return types.String(writeMoney(int64(cents.(types.Int)))) }

// sumOf adds integers, and fails if the sum is too large.
func sumOf(list ref.Val) ref.Val {
	var sum ref.Val = types.Int(0)
	for each := list.(traits.Lister).Iterator(); each.HasNext() == types.True; {
		n, ok := each.Next().(types.Int)
		if !ok {
			return types.WrapErr(errors.New("sum adds integers only"))
		}
		if sum = n.Add(sum); types.IsError(sum) {
			return sum
		}
	}
	return sum
}

func readMoney(text string) (int64, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if err != nil || len(fraction) > 2 {
		return 0, fmt.Errorf("%q is no amount of money", text)
	}
	return n, nil
}

func writeMoney(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}
