package controllers_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/cel-go/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"
)

// judge tells what kstatus makes of an object, and fails if Argo CD or Flux, with what config/gitops gives them, make
// something else of it.
type judge struct {
	health *lua.FunctionProto
	checks map[string]fluxCheck // by kind
}

// fluxCheck are the expressions of a kind, in the order in which Flux asks them.
type fluxCheck []struct {
	verdict status.Status
	program cel.Program
}

func newJudge() (*judge, error) {
	j := &judge{}
	script, err := os.ReadFile(filepath.Join("..", "config", "gitops", "argocd", "health.lua"))
	if err != nil {
		return nil, err
	}
	state := lua.NewState()
	defer state.Close()
	function, err := state.LoadString(string(script))
	if err != nil {
		return nil, err
	}
	j.health = function.Proto
	j.checks, err = fluxChecks(filepath.Join("..", "config", "gitops", "flux", "health_checks.yaml"))
	return j, err
}

// verdict is the state that kstatus, Argo CD and Flux agree on.
func (j *judge) verdict(o *unstructured.Unstructured) (status.Status, error) {
	result, err := status.Compute(o)
	if err != nil || result.Status == status.TerminatingStatus { // Argo CD and Flux look at a deletion before they ask
		return status.TerminatingStatus, err
	}
	argo, err := j.argo(o)
	if err != nil {
		return result.Status, err
	}
	flux, err := j.flux(o)
	if err != nil {
		return result.Status, err
	}
	if argo != result.Status || flux != result.Status {
		return result.Status, fmt.Errorf("kstatus says %s, Argo CD %s, Flux %s", result.Status, argo, flux)
	}
	return result.Status, nil
}

// argo runs the health check as Argo CD does: with the global obj, and no library but the base.
func (j *judge) argo(o *unstructured.Unstructured) (status.Status, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	if err := state.CallByParam(lua.P{Fn: state.NewFunction(lua.OpenBase), Protect: true}, lua.LString(lua.BaseLibName)); err != nil {
		return "", err
	}
	state.SetGlobal("obj", luaValue(state, o.Object))
	if err := state.CallByParam(lua.P{Fn: state.NewFunctionFromProto(j.health), NRet: 1, Protect: true}); err != nil {
		return "", err
	}
	health, ok := state.Get(-1).(*lua.LTable)
	if !ok || health.RawGetString("message").String() == "" {
		return "", fmt.Errorf("health.lua answers %v", state.Get(-1))
	}
	verdict, known := map[string]status.Status{
		"Healthy": status.CurrentStatus, "Degraded": status.FailedStatus, "Progressing": status.InProgressStatus, "Suspended": status.InProgressStatus,
	}[health.RawGetString("status").String()]
	if !known {
		return "", fmt.Errorf("health.lua says %v", health.RawGetString("status"))
	}
	return verdict, nil
}

func luaValue(state *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, item := range v {
			table.RawSetString(key, luaValue(state, item))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, item := range v {
			table.Append(luaValue(state, item))
		}
		return table
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	}
	return lua.LNil
}

// flux asks the expressions in Flux's order. A generation that was not observed is in progress before any is asked.
func (j *judge) flux(o *unstructured.Unstructured) (status.Status, error) {
	observed, found, err := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	if err != nil || found && observed != o.GetGeneration() {
		return status.InProgressStatus, err
	}
	for _, check := range j.checks[o.GetKind()] {
		answer, _, err := check.program.Eval(o.Object)
		if err != nil {
			return "", err
		}
		if answer.Value() == true {
			return check.verdict, nil
		}
	}
	return status.InProgressStatus, nil
}

func fluxChecks(path string) (map[string]fluxCheck, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var kustomization struct {
		Spec struct {
			HealthCheckExprs []struct{ Kind, InProgress, Failed, Current string }
		}
	}
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		return nil, err
	}
	env, err := cel.NewEnv()
	if err != nil {
		return nil, err
	}
	checks := map[string]fluxCheck{}
	for _, given := range kustomization.Spec.HealthCheckExprs {
		var check fluxCheck
		for _, e := range []struct {
			verdict    status.Status
			expression string
		}{{status.InProgressStatus, given.InProgress}, {status.FailedStatus, given.Failed}, {status.CurrentStatus, given.Current}} {
			parsed, issues := env.Parse(e.expression)
			if issues.Err() != nil {
				return nil, issues.Err()
			}
			program, err := env.Program(parsed)
			if err != nil {
				return nil, err
			}
			check = append(check, struct {
				verdict status.Status
				program cel.Program
			}{e.verdict, program})
		}
		checks[given.Kind] = check
	}
	return checks, nil
}
