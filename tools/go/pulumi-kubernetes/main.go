// The provider of @pulumi/kubernetes, as its own main package is not importable. See tools/sources/go.ts.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

// The provider's schema, laid beside this file by the build alone (go build -overlay): it stands in the module itself.
//
//go:embed schema.json
var schema []byte

func main() {
	// The schema leaves its version to the release, and begins with an open brace.
	versioned := append([]byte(`{"version":"`+version.Version+`",`), schema[1:]...)
	// No mapping from Terraform's names: only a conversion of programs would ask for it.
	provider.Serve("kubernetes", version.Version, versioned, []byte("{}"))
}
