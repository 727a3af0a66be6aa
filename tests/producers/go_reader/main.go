// Read plans with substrait-go: print, as JSON, what it makes of each file of a folder.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/substrait-io/substrait-go/v8/extensions"
	"github.com/substrait-io/substrait-go/v8/plan"
	substrait "github.com/substrait-io/substrait-protobuf/go/substraitpb"
	"google.golang.org/protobuf/proto"
)

// Reading is what it makes of a plan: the types of each root's columns and the plan as it writes it back, or its error.
type Reading struct {
	Types   [][]string `json:"types"`
	Written []byte     `json:"written"`
	Error   string     `json:"error"`
}

func read(data []byte) (reading Reading) {
	defer func() {
		if problem := recover(); problem != nil {
			reading = Reading{Error: fmt.Sprintf("panic: %v", problem)}
		}
	}()
	var message substrait.Plan
	if err := proto.Unmarshal(data, &message); err != nil {
		return Reading{Error: err.Error()}
	}
	read, err := plan.FromProto(&message, extensions.GetDefaultCollectionWithNoError())
	if err != nil {
		return Reading{Error: err.Error()}
	}
	for _, root := range read.GetRoots() {
		types := []string{}
		record := root.Input().RecordType()
		for _, each := range record.Types() {
			types = append(types, each.String())
		}
		reading.Types = append(reading.Types, types)
	}
	again, err := read.ToProto()
	if err != nil {
		return Reading{Error: err.Error()}
	}
	if reading.Written, err = proto.Marshal(again); err != nil {
		return Reading{Error: err.Error()}
	}
	return reading
}

func main() {
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*.plan"))
	if err != nil {
		panic(err)
	}
	readings := map[string]Reading{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		readings[strings.TrimSuffix(filepath.Base(file), ".plan")] = read(data)
	}
	if err := json.NewEncoder(os.Stdout).Encode(readings); err != nil {
		panic(err)
	}
}
