"""The closed unions of relations and of what reads are of, for type checkers and for who looks at all of them."""

from substrait_dsl.algebra.relations.exchange import Exchange, MergingCapture, SimpleCapture
from substrait_dsl.algebra.relations.extensions import ExtensionLeaf, ExtensionMulti, ExtensionSingle, ExtensionTable
from substrait_dsl.algebra.relations.files import IcebergTable, LocalFiles
from substrait_dsl.algebra.relations.filtering import Fetch, Filter
from substrait_dsl.algebra.relations.groups import Aggregate
from substrait_dsl.algebra.relations.joins import Cross, Join, LateralJoin
from substrait_dsl.algebra.relations.physical_joins import HashJoin, MergeJoin, NestedLoopJoin
from substrait_dsl.algebra.relations.projection import Emit, Project
from substrait_dsl.algebra.relations.read import NamedTable, Read, VirtualTable
from substrait_dsl.algebra.relations.sets import Set
from substrait_dsl.algebra.relations.sorting import Sort, TopN
from substrait_dsl.algebra.relations.unnest import Unnest
from substrait_dsl.algebra.relations.windows import Expand, Window
from substrait_dsl.algebra.relations.writes import Ddl, Update, Write

AnyRelation = (
    Read
    | Filter
    | Sort
    | Project
    | Emit
    | Fetch
    | Aggregate
    | Set
    | Join
    | Cross
    | LateralJoin
    | HashJoin
    | MergeJoin
    | NestedLoopJoin
    | Exchange
    | MergingCapture
    | SimpleCapture
    | TopN
    | Window
    | Expand
    | Unnest
    | Write
    | Update
    | Ddl
    | ExtensionLeaf
    | ExtensionSingle
    | ExtensionMulti
)
"""The closed union of relations: a `match` over it that forgets one is an error of the type checker."""

ReadDefinition = NamedTable | VirtualTable | LocalFiles | IcebergTable | ExtensionTable
"""The closed union of what reads are of."""
