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
	"strconv"
	"strings"
	"sync"
)

// A jsonSchema is a document of JSON Schema, draft 2020-12, as encoding/json reads it. It knows the
// keywords that docs/report.schema.json uses.
type jsonSchema struct {
	root map[string]any
}

// reportSchema reads the schema of what --json prints.
var reportSchema = sync.OnceValue(func() (s jsonSchema) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "report.schema.json"))
	if err != nil {
		panic(err)
	}
	return parseSchema(data)
})

func parseSchema(data []byte) (s jsonSchema) {
	if err := json.Unmarshal(data, &s.root); err != nil {
		panic(err)
	}
	return s
}

// validate returns what is wrong with v, decoded by encoding/json.
func (s jsonSchema) validate(v any) []string { return s.check(s.root, v, "$") }

// check is validate for a part of the schema and of the value.
func (s jsonSchema) check(schema, v any, at string) (wrong []string) {
	if all, ok := schema.(bool); ok {
		return unless(all, at, v, "nothing")
	}
	object := schema.(map[string]any)
	list, _ := v.([]any)
	fields, isObject := v.(map[string]any)
	for _, word := range slices.Sorted(maps.Keys(object)) {
		switch want := object[word]; word {
		case "$schema", "$id", "$defs", "title", "description": // restrict no values
		case "then", "else", "additionalProperties": // belong to "if" and to "properties"
		case "$ref":
			wrong = append(wrong, s.check(s.definition(want.(string)), v, at)...)
		case "properties":
			wrong = append(wrong, s.checkFields(want.(map[string]any), fields, object["additionalProperties"], at)...)
		case "required":
			for _, name := range want.([]any) {
				if _, there := fields[name.(string)]; isObject && !there {
					wrong = append(wrong, fmt.Sprintf("%s.%s is missing", at, name))
				}
			}
		case "items":
			for i, item := range list {
				wrong = append(wrong, s.check(want, item, fmt.Sprintf("%s[%d]", at, i))...)
			}
		case "anyOf":
			fits := func(one any) bool { return len(s.check(one, v, at)) == 0 }
			wrong = append(wrong, unless(slices.ContainsFunc(want.([]any), fits), at, v, "one of", want)...)
		case "if":
			branch := "then"
			if len(s.check(want, v, at)) > 0 {
				branch = "else"
			}
			wrong = append(wrong, s.check(object[branch], v, at)...)
		default:
			wrong = append(wrong, unless(fits(word, want, v), at, v, word, want)...)
		}
	}
	return wrong
}

// definition finds what a reference such as #/$defs/input refers to.
func (s jsonSchema) definition(reference string) any {
	return valueAt(s.root, strings.TrimPrefix(reference, "#/"))
}

func (s jsonSchema) checkFields(properties, fields map[string]any, others any, at string) (wrong []string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if property, known := properties[name]; known {
			wrong = append(wrong, s.check(property, fields[name], at+"."+name)...)
		} else if others == false {
			wrong = append(wrong, at+"."+name+": a field that the schema does not have")
		}
	}
	return wrong
}

// fits reports whether v obeys a keyword that needs nothing else of its schema. No value does for a
// keyword that is not known.
func fits(word string, want, v any) bool {
	same := func(allowed any) bool { return reflect.DeepEqual(allowed, v) }
	number, isNumber := v.(float64)
	text, isText := v.(string)
	list, isList := v.([]any)
	switch word {
	case "type":
		if types, several := want.([]any); several {
			return slices.ContainsFunc(types, func(one any) bool { return fits(word, one, v) })
		}
		kinds := map[string]reflect.Kind{"null": reflect.Invalid, "boolean": reflect.Bool, "number": reflect.Float64,
			"integer": reflect.Float64, "string": reflect.String, "array": reflect.Slice, "object": reflect.Map}
		kind, known := kinds[want.(string)]
		return known && kind == reflect.ValueOf(v).Kind() && (want != "integer" || number == math.Trunc(number))
	case "const":
		return same(want)
	case "enum":
		return slices.ContainsFunc(want.([]any), same)
	case "minimum":
		return !isNumber || number >= want.(float64)
	case "minLength":
		return !isText || len([]rune(text)) >= int(want.(float64))
	case "minItems":
		return !isList || len(list) >= int(want.(float64))
	case "pattern":
		pattern := regexp.MustCompile(`\\u([0-9a-f]{4})`).ReplaceAllString(want.(string), `\x{$1}`) // from ECMA 262
		return !isText || regexp.MustCompile(pattern).MatchString(text)
	}
	return false
}

// unless returns nothing if all is well.
func unless(well bool, at string, v any, expected ...any) []string {
	if well {
		return nil
	}
	return []string{fmt.Sprintf("%s: found %v, expected %v", at, v, expected)}
}

// valueAt returns the value at a path such as files/0/shape in an object, or nil. The name # is the
// length of a list.
func valueAt(v any, path string) any {
	for name := range strings.SplitSeq(path, "/") {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[name]
		case []any:
			if i, err := strconv.Atoi(name); err == nil && i < len(parent) {
				v = parent[i]
			} else if v = nil; name == "#" {
				v = len(parent)
			}
		}
	}
	return v
}
