package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A jsonSchema is a document of JSON Schema, draft 2020-12, as encoding/json reads it. It knows the
// keywords that docs/report.schema.json uses.
type jsonSchema struct {
	root map[string]any
}

// readSchema reads the schema of what --json prints.
func readSchema(t *testing.T) *jsonSchema {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "report.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := &jsonSchema{}
	if err := json.Unmarshal(data, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// validate tells what is wrong with v, decoded by encoding/json.
func (s *jsonSchema) validate(v any) []string { return s.check(s.root, v, "$") }

// keywords are the keywords of a schema, with the function that returns what is wrong with v at a
// place, or nil for keywords that do not restrict values.
func keywords() map[string]func(s *jsonSchema, schema map[string]any, v any, at string) []string {
	return map[string]func(*jsonSchema, map[string]any, any, string) []string{
		"$schema": nil, "$id": nil, "$defs": nil, "title": nil, "description": nil,
		"then": nil, "else": nil, "additionalProperties": nil, // looked at by "if" and by "properties"
		"$ref": func(s *jsonSchema, schema map[string]any, v any, at string) []string {
			return s.check(s.definition(schema["$ref"].(string)), v, at)
		},
		"type":       (*jsonSchema).checkType,
		"properties": (*jsonSchema).checkProperties,
		"required":   (*jsonSchema).checkRequired,
		"items": func(s *jsonSchema, schema map[string]any, v any, at string) (wrong []string) {
			list, _ := v.([]any)
			for i, item := range list {
				wrong = append(wrong, s.check(schema["items"], item, fmt.Sprintf("%s[%d]", at, i))...)
			}
			return wrong
		},
		"const": func(_ *jsonSchema, schema map[string]any, v any, at string) []string {
			return unless(reflect.DeepEqual(schema["const"], v), at, v, schema["const"])
		},
		"enum": func(_ *jsonSchema, schema map[string]any, v any, at string) []string {
			same := func(allowed any) bool { return reflect.DeepEqual(allowed, v) }
			return unless(slices.ContainsFunc(schema["enum"].([]any), same), at, v, schema["enum"])
		},
		"minimum": func(_ *jsonSchema, schema map[string]any, v any, at string) []string {
			n, number := v.(float64)
			return unless(!number || n >= schema["minimum"].(float64), at, v, "at least", schema["minimum"])
		},
		"minLength": func(_ *jsonSchema, schema map[string]any, v any, at string) []string {
			text, isText := v.(string)
			return unless(!isText || len([]rune(text)) >= int(schema["minLength"].(float64)), at, v, "a longer text")
		},
		"pattern": func(_ *jsonSchema, schema map[string]any, v any, at string) []string {
			text, isText := v.(string)
			pattern := regexp.MustCompile(`\\u([0-9a-f]{4})`).ReplaceAllString(schema["pattern"].(string), `\x{$1}`) // ECMA 262's spelling
			return unless(!isText || regexp.MustCompile(pattern).MatchString(text), at, v, pattern)
		},
		"anyOf": func(s *jsonSchema, schema map[string]any, v any, at string) []string {
			fits := func(one any) bool { return len(s.check(one, v, at)) == 0 }
			return unless(slices.ContainsFunc(schema["anyOf"].([]any), fits), at, v, "one of", schema["anyOf"])
		},
		"if": func(s *jsonSchema, schema map[string]any, v any, at string) []string {
			if len(s.check(schema["if"], v, at)) == 0 {
				return s.check(schema["then"], v, at)
			}
			return s.check(schema["else"], v, at)
		},
	}
}

// check is validate for a part of the schema and of the value.
func (s *jsonSchema) check(schema, v any, at string) (wrong []string) {
	if all, ok := schema.(bool); ok {
		return unless(all, at, v, "nothing")
	}
	object := schema.(map[string]any)
	known := keywords()
	for _, word := range slices.Sorted(maps.Keys(object)) {
		check, ok := known[word]
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s: the validator does not know the keyword %s", at, word))
		}
		if check != nil {
			wrong = append(wrong, check(s, object, v, at)...)
		}
	}
	return wrong
}

// definition finds what a reference such as #/$defs/input refers to.
func (s *jsonSchema) definition(reference string) any {
	found := any(s.root)
	for _, name := range strings.Split(strings.TrimPrefix(reference, "#/"), "/") {
		found = found.(map[string]any)[name]
	}
	return found
}

func (s *jsonSchema) checkType(schema map[string]any, v any, at string) []string {
	types, several := schema["type"].([]any)
	if !several {
		types = []any{schema["type"]}
	}
	kind := "null"
	switch v := v.(type) {
	case bool:
		kind = "boolean"
	case float64:
		if kind = "number"; v == math.Trunc(v) && slices.Contains(types, any("integer")) {
			kind = "integer"
		}
	case string:
		kind = "string"
	case []any:
		kind = "array"
	case map[string]any:
		kind = "object"
	}
	return unless(slices.Contains(types, any(kind)), at, v, types)
}

func (s *jsonSchema) checkProperties(schema map[string]any, v any, at string) (wrong []string) {
	object, _ := v.(map[string]any)
	properties := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property, known := properties[name]
		switch {
		case known:
			wrong = append(wrong, s.check(property, object[name], at+"."+name)...)
		case schema["additionalProperties"] == false:
			wrong = append(wrong, at+"."+name+": a field that the schema does not have")
		}
	}
	return wrong
}

func (s *jsonSchema) checkRequired(schema map[string]any, v any, at string) (wrong []string) {
	object, isObject := v.(map[string]any)
	for _, name := range schema["required"].([]any) {
		if _, there := object[name.(string)]; isObject && !there {
			wrong = append(wrong, fmt.Sprintf("%s.%s is missing", at, name))
		}
	}
	return wrong
}

// unless is empty if all is well.
func unless(well bool, at string, v any, expected ...any) []string {
	if well {
		return nil
	}
	return []string{fmt.Sprintf("%s: found %v, expected %v", at, v, expected)}
}
