// Command sbom writes the bill of materials of a built idxport as CycloneDX 1.6 JSON: the modules that are in the binary, with their checksums in go.sum,
// their licenses and what needs what. It needs nothing but Go, and the same binary and sources give the same bytes.
//
//	go run ./test/sbom -binary bin/idxport -o bin/idxport.cdx.json
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	binary := flag.String("binary", "bin/idxport", "describe the program at `PATH`")
	out := flag.String("o", "", "write to `FILE`")
	flag.Parse()
	log.SetFlags(0)
	log.SetPrefix("sbom: ")
	if err := run(*binary, *out); err != nil {
		log.Fatal(err)
	}
}

// run writes the bill of the program at binary to the file out.
func run(binary, out string) error {
	if out == "" {
		return errors.New("-o is missing")
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	source, err := listModules(info)
	if err != nil {
		return err
	}
	b, err := newBill(binary, info, source)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d modules and Go's standard library\n", out, len(info.Deps))
	return os.WriteFile(out, append(text, '\n'), 0o666)
}

// A module is what the go command says of one module that the program is built of.
type module struct {
	Path, Version, Dir string
	needs              map[string]bool // paths of modules; std is the standard library
}

const standard = "std"

// listModules finds the modules of the program's packages in the sources, for the platform and the tags of info.
func listModules(info *debug.BuildInfo) (map[string]*module, error) {
	command := exec.Command("go", "list", "-trimpath", "-tags", setting(info, "-tags"), "-deps", "-json=ImportPath,Standard,Module,Imports", info.Path)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+setting(info, "GOOS"), "GOARCH="+setting(info, "GOARCH"))
	var stderr bytes.Buffer
	command.Stderr = &stderr
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &stderr)
	}
	modules, owner, imports := map[string]*module{standard: {Path: standard}}, map[string]string{"unsafe": standard, "C": standard}, map[string][]string{}
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct {
			ImportPath string
			Standard   bool
			Module     *module
			Imports    []string
		}
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if p.Standard {
			owner[p.ImportPath] = standard
			continue
		}
		owner[p.ImportPath], imports[p.ImportPath] = p.Module.Path, p.Imports
		if modules[p.Module.Path] == nil {
			p.Module.needs = map[string]bool{}
			modules[p.Module.Path] = p.Module
		}
	}
	for path, imported := range imports {
		for _, other := range imported {
			if o, known := owner[other]; known && o != owner[path] {
				modules[owner[path]].needs[o] = true
			}
		}
	}
	return modules, nil
}

// setting is a setting of the build.
func setting(info *debug.BuildInfo, key string) string {
	i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
	if i < 0 {
		return ""
	}
	return info.Settings[i].Value
}

// newBill describes the program. What the binary says of itself and what the sources say must be the same.
func newBill(binary string, info *debug.BuildInfo, modules map[string]*module) (*bill, error) {
	data, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	said, err := exec.Command(binary, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s version: %w", binary, err)
	}
	words := strings.Fields(string(said)) // idxport 0.1.0 linux/amd64 go1.26.8
	sum := sha256.Sum256(data)
	b := &bill{Format: "CycloneDX", Spec: "1.6", Version: 1}
	b.Metadata.Component = component{Type: "application", Name: "idxport", Version: words[1], PURL: purl(info.Main.Path, "v"+words[1]),
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Licenses: []license{newLicense("Apache-2.0")}}
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED", "-trimpath", "-tags"} {
		b.Metadata.Component.Properties = append(b.Metadata.Component.Properties, property{"idxport:build:" + key, setting(info, key)})
	}
	b.Metadata.Component.Ref = b.Metadata.Component.PURL
	refs := map[string]string{info.Main.Path: b.Metadata.Component.Ref}
	add := func(path, version, sum string, licenses []license) {
		c := component{Ref: purl(path, version), Type: "library", Name: path, Version: version, Scope: "required", PURL: purl(path, version), Licenses: licenses}
		if sum != "" {
			c.Properties = []property{{"idxport:go.sum", sum}}
		}
		refs[path] = c.Ref
		b.Components = append(b.Components, c)
	}
	for _, dep := range info.Deps {
		m := modules[dep.Path]
		if m == nil || m.Version != dep.Version || dep.Sum == "" || dep.Replace != nil {
			return nil, fmt.Errorf("%s %s is in the binary, the sources have %v", dep.Path, dep.Version, m)
		}
		licenses, err := licensesOf(m.Dir)
		if err != nil {
			return nil, err
		}
		add(dep.Path, dep.Version, dep.Sum, licenses)
	}
	add(standard, strings.TrimPrefix(info.GoVersion, "go"), "", []license{newLicense("BSD-3-Clause")})
	if len(refs) != len(modules) {
		return nil, fmt.Errorf("%d modules in the binary, %d in the sources", len(refs), len(modules))
	}
	for path, m := range modules {
		d := dependency{Ref: refs[path], DependsOn: []string{}}
		for other := range m.needs {
			d.DependsOn = append(d.DependsOn, refs[other])
		}
		slices.Sort(d.DependsOn)
		b.Dependencies = append(b.Dependencies, d)
	}
	slices.SortFunc(b.Dependencies, func(a, b dependency) int { return strings.Compare(a.Ref, b.Ref) })
	return b, nil
}

// purl is the package URL of a module: https://github.com/package-url/purl-spec.
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// licensesOf are the licenses whose text is in the license files of a module; one at least.
func licensesOf(dir string) (found []license, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "LICEN[CS]E*"))
	if err != nil {
		return nil, err
	}
	text := ""
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text += " " + strings.Join(strings.Fields(string(data)), " ")
	}
	for _, known := range []struct{ id, phrase string }{
		{"Apache-2.0", "Apache License"},
		{"BSD-3-Clause", "to endorse or promote products"},
		{"MIT", "Permission is hereby granted, free of charge"},
	} {
		if strings.Contains(text, known.phrase) {
			found = append(found, newLicense(known.id))
		}
	}
	if found == nil && strings.Contains(text, "Redistribution and use in source and binary forms") {
		found = append(found, newLicense("BSD-2-Clause"))
	}
	if found == nil {
		return nil, fmt.Errorf("%s: no license that is known", dir)
	}
	return found, nil
}
