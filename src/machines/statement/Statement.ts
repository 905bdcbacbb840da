/**
 * A statement. Its content is in its model, which is stored apart. The row names the client, the period and the version, and
 * the hash and renderer that reproduce its bytes (doc 2, Statements; D20, A2-66, STS-16, STS-18, STS-20, STS-21, STS-33,
 * STS-29).
 */
import { Schema } from "effect"
import { Id } from "../shared/Ids.ts"
import { type StatementKind, statementKinds } from "./statementTokens.ts"

export const statementStates = ["GENERATED", "SUPERSEDED"] as const

/** The renderer of new statements. A change of the rendered bytes needs a new number, and the old renderer stays. */
export const currentRenderer = 3
/** All renderers that ever existed: statements of each can be rendered again. */
export const renderers = [1, 2, currentRenderer] as const

/** The name and version of the model's schema for each kind, as the model itself states it. */
export const schemaOf: { readonly [K in StatementKind]: string } = {
  ACCOUNT: "account/1",
  COSTS: "costs/1",
  TRANSACTIONS: "transactions/1",
  TAX: "tax/1",
  CLIENT_ASSETS: "client-assets/1"
}

/** The facts besides the model that determine the bytes of a version's files. */
export interface StatementVersion {
  readonly statementId: number
  readonly version: number
  /** The version that this one replaces; null for the first of its period. */
  readonly supersedes: { readonly statementId: number; readonly version: number; readonly sha256: string } | null
}

export interface StatementInput {
  readonly statementId: number
  readonly clientId: number
  /** The client's uid, which the names of the downloaded files contain. */
  readonly clientUid: string
  readonly kind: StatementKind
  /** Unix ms, inclusive. */
  readonly periodFrom: number
  /** Unix ms, exclusive. */
  readonly periodTo: number
  readonly currency: string
  readonly version: number
  readonly supersedes: StatementVersion["supersedes"]
  /** SHA-256 of the model's canonical text, hex. */
  readonly sha256: string
  /** The number of rows in all sections. */
  readonly rows: number
  readonly renderer: number
  readonly correctionReason: string | null
  /** A short text of the model's input. While it is unchanged, the model is unchanged too. */
  readonly facts: string
}

export interface StatementContext extends StatementInput {
  readonly generatedAt: number
  readonly generatedBy: string
  readonly supersededBy: number | null
}

export type StatementEvent =
  | { readonly type: "GENERATE"; readonly at: number; readonly by: string }
  /** A later version of the same period with other content replaces this one. */
  | { readonly type: "SUPERSEDE"; readonly supersededBy: number; readonly reason: string | null }

const millis = (description: string) => Schema.Int.annotate({ description })

/** One statement in the answer to GET .../statements. */
export const StatementRow = Schema.Struct({
  statementId: Id,
  clientId: Id,
  kind: Schema.Literals(statementKinds),
  periodFrom: millis("Unix ms, inclusive."),
  periodTo: millis("Unix ms, exclusive."),
  currency: Schema.String.annotate({ description: "What its money is in where a row names no currency of its own." }),
  version: Schema.Int.annotate({ description: "1 for the first statement of its period." }),
  supersedes: Schema.NullOr(Id).annotate({ description: "The statement that this version stands in place of." }),
  sha256: Schema.String.annotate({ description: "SHA-256 of the model's canonical text (RFC 8785), lower-case hex." }),
  generatedAt: millis("Unix ms."),
  generatedBy: Schema.String.annotate({ description: "The role that asked for it; SYSTEM for the service's own." }),
  state: Schema.Literals(statementStates),
  supersededBy: Schema.NullOr(Id).annotate({ description: "The statement that stands in place of this one." }),
  correctionReason: Schema.NullOr(Schema.String).annotate({ description: "Why staff had it made anew; usually null." }),
  rows: Schema.Int.annotate({ description: "Rows of all its sections." }),
  renderer: Schema.Int.annotate({ description: "Which layout its PDF and CSV are made with, the same for ever." })
}).annotate({ identifier: "StatementRow" })
export type StatementRow = typeof StatementRow.Type

/** The row of a statement for partners and operators, from its state and context. */
export const statementRowOf = (state: StatementRow["state"], context: StatementContext): StatementRow => ({
  statementId: context.statementId,
  clientId: context.clientId,
  kind: context.kind,
  periodFrom: context.periodFrom,
  periodTo: context.periodTo,
  currency: context.currency,
  version: context.version,
  supersedes: context.supersedes?.statementId ?? null,
  sha256: context.sha256,
  generatedAt: context.generatedAt,
  generatedBy: context.generatedBy,
  state,
  supersededBy: context.supersededBy,
  correctionReason: context.correctionReason,
  rows: context.rows,
  renderer: context.renderer
})

/** The name of the claim on a version of a period. Only one commit can take a claim, so no version is built twice. */
export const versionClaim = ({
  kind,
  clientId,
  periodFrom,
  periodTo,
  version
}: Pick<StatementInput, "kind" | "clientId" | "periodFrom" | "periodTo" | "version">): string =>
  `statement:${kind}:${clientId}:${periodFrom}:${periodTo}:${version}`
