package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/plan"
)

// fashion are small files of Fashion-MNIST, by whose names they are found.
var fashion = filepath.Join("..", "..", "testdata", "fashion-mnist")

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestPlansMayNotSayMore: a plan with the right hash, but of somebody else, makes nothing but its
// parts.
func TestPlansMayNotSayMore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	image := filepath.Join(fashion, "train-images-idx3-ubyte.gz")
	path, victim := filepath.Join(dir, "plan.json"), filepath.Join(dir, "victim.csv")
	if code, said := runProgram("plan", image, "-o", filepath.Join(dir, "out.csv"), "--plan", path); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(p *plan.Plan){
		"another output":    func(p *plan.Plan) { p.Options = json.RawMessage(`{"overwrite":true,"outputs":["csv=` + victim + `"]}`) },
		"another input":     func(p *plan.Plan) { p.Options = json.RawMessage(`{"inputs":["` + victim + `"]}`) },
		"an unknown option": func(p *plan.Plan) { p.Options = json.RawMessage(`{"help":true}`) },
		"no targets":        func(p *plan.Plan) { p.Targets = nil },
		"no parts":          func(p *plan.Plan) { p.Targets[0].Parts, p.Targets[0].Rows = nil, 0 },
		"a way out":         func(p *plan.Plan) { p.Targets[0].Extension = "/../../victim.csv" },
		"a target twice":    func(p *plan.Plan) { p.Targets = append(p.Targets, p.Targets[0]) },
		"behind the input":  func(p *plan.Plan) { p.Targets[0].Parts[0].Pieces[0].To++ },
		"before the input":  func(p *plan.Plan) { p.Targets[0].Parts[0].Pieces[0].From = -1 },
		"a file with a tag": func(p *plan.Plan) { p.Targets[0].Inputs[0].ETag = "x" },
	} {
		p, err := plan.Read(t.Context(), new(object.Store), path)
		if err != nil {
			t.Fatal(err)
		}
		change(p)
		p.Complete(time.Unix(0, 0))
		forged := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".json")
		if err := p.Write(t.Context(), forged, false); err != nil {
			t.Fatal(err)
		}
		if code, said := runProgram("convert", "--plan", forged, "--part", "0"); code != 65 {
			t.Errorf("%s: exit %d, expected 65: %s", name, code, said)
		}
		if found := read(t, victim); string(found) != "mine" {
			t.Errorf("%s: found %q", name, found)
		}
	}
	if code, said := runProgram("convert", "--plan", path, "--part", "0"); code != 0 {
		t.Errorf("the plan itself: exit %d: %s", code, said)
	}
}
