package npy

import (
	"math"
	"strconv"
	"strings"

	"github.com/idxport/idxport/fault"
)

// A description is what the header's text says.
type description struct {
	descr   string
	fortran bool
	shape   []int64
}

// A parser reads a dictionary as Python spells it: strings, tuples of integers, True and False, and no more than NumPy writes of the rest.
type parser struct {
	text string
	at   int
	base int64 // offset of the text within the file
}

// parseText reads the header's text, which stands at base.
func parseText(text string, base int64) (d description, err error) {
	p := &parser{text: text, base: base}
	met := map[string]bool{}
	if err := p.expect('{'); err != nil {
		return d, err
	}
	for p.peek() != '}' {
		start := p.at
		key, err := p.string()
		if err != nil {
			return d, err
		}
		if met[key] {
			p.at = start
			return d, p.fail("found %q again", key)
		}
		met[key] = true
		if err := p.expect(':'); err != nil {
			return d, err
		}
		switch key {
		case "descr":
			d.descr, err = p.descr()
		case "fortran_order":
			d.fortran, err = p.truth()
		case "shape":
			d.shape, err = p.shape()
		default:
			p.at = start
			err = p.fail("found the key %q, expected descr, fortran_order and shape", key)
		}
		if err != nil {
			return d, err
		}
		if p.peek() != ',' {
			break
		}
		p.at++
	}
	if err := p.expect('}'); err != nil {
		return d, err
	}
	if p.peek(); p.at < len(p.text) {
		return d, p.fail("found %q behind the dictionary, expected spaces and a newline", p.rest())
	}
	if len(met) < 3 {
		return d, p.fail("found %d of the keys descr, fortran_order and shape", len(met))
	}
	return d, nil
}

// fail is an error about what stands at the parser's place.
func (p *parser) fail(message string, values ...any) error {
	return fault.New(fault.Malformed, "the header cannot be read: "+message, values...).At(p.base + int64(p.at)).WithHint(adviceDamaged)
}

// rest is the start of what was not read yet.
func (p *parser) rest() string { return p.text[p.at:min(len(p.text), p.at+16)] }

// peek passes over white space, and is the byte behind it, or 0 at the end.
func (p *parser) peek() byte {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) expect(c byte) error {
	if p.peek() != c {
		return p.fail("found %q, expected %q", p.rest(), c)
	}
	p.at++
	return nil
}

// string is a string without escapes, which neither keys nor types of numbers have.
func (p *parser) string() (string, error) {
	quote := p.peek()
	if quote != '\'' && quote != '"' {
		return "", p.fail("found %q, expected a string", p.rest())
	}
	end := strings.IndexByte(p.text[p.at+1:], quote)
	if end < 0 {
		return "", p.fail("found %q, a string without an end", p.rest())
	}
	s := p.text[p.at+1 : p.at+1+end]
	if strings.ContainsAny(s, "\\\n") {
		return "", p.fail("found %q, expected a string without escapes", p.rest())
	}
	p.at += end + 2
	return s, nil
}

// descr is the type of the elements; a list is one of several fields.
func (p *parser) descr() (string, error) {
	if c := p.peek(); c == '[' || c == '(' {
		return "", fault.New(fault.Unsupported, "found records of several fields, expected an array of numbers").At(p.base + int64(p.at)).
			WithHint("save each field as an array of its own: numpy.save(path, a[\"field\"])")
	}
	return p.string()
}

func (p *parser) truth() (bool, error) {
	p.peek()
	for word, value := range map[string]bool{"True": true, "False": false} {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return value, nil
		}
	}
	return false, p.fail("found %q, expected True or False", p.rest())
}

// shape is a tuple of integers. Python 2 put an L behind large ones.
func (p *parser) shape() ([]int64, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	var shape []int64
	for p.peek() != ')' {
		end := p.at
		for end < len(p.text) && p.text[end] >= '0' && p.text[end] <= '9' {
			end++
		}
		n, err := strconv.ParseInt(p.text[p.at:end], 10, 64)
		if err != nil || n > math.MaxUint32 {
			return nil, p.fail("found %q, expected a dimension of up to %d", p.rest(), uint32(math.MaxUint32))
		}
		if end < len(p.text) && p.text[end] == 'L' {
			end++
		}
		p.at = end
		shape = append(shape, n)
		if p.peek() != ',' {
			if len(shape) == 1 {
				return nil, p.fail("found %q, expected a comma: a tuple", p.rest())
			}
			break
		}
		p.at++
	}
	return shape, p.expect(')')
}
